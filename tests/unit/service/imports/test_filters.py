"""Filters of urlwatch and webchanges become clauses, in order."""

from __future__ import annotations

from typing import Any

import pytest

from tidings.service.imports.draft import Draft
from tidings.service.imports.filters import apply, jsonpath_of_jq, list_named


def make_draft(*given: Any) -> Draft:
    """Return the draft of a job with these filters."""
    draft = Draft("", "https://a.example/", "urlwatch")
    apply(draft, list(given))
    return draft


def texts(draft: Draft) -> list[str]:
    """Return the clauses of a draft."""
    return [one.text for one in (*draft.parts, *draft.clauses)]


def list_refused(draft: Draft) -> list[str]:
    """Return the fields without an equivalent."""
    return [note.field for note in draft.notes if note.grade == "refused"]


@pytest.mark.parametrize(
    ("query", "path"),
    [
        (".", "$"),
        (".a.b", "$.a.b"),
        (".a[]", "$.a[*]"),
        (".a[0].b?", "$.a[0].b"),
        ('."a b"', '$["a b"]'),
        (".[0].[1]", "$[0][1]"),
        ('.["a.[b"]."c[]?"[]', '$["a.[b"]["c[]?"][*]'),
        (".a | .b", "$.a.b"),
        (".a[1:3]", "$.a[1:3]"),
        ("", None),
        (".a |", None),
        ("map(.a)", None),
        (".a + .b", None),
    ],
)
def test_plain_jq_path_becomes_a_jsonpath(query: str, path: str | None):
    """Any other query has no equivalent."""
    assert path == jsonpath_of_jq(query)


def test_job_without_a_filter_watches_any_change():
    """The difference to its program is noted."""
    draft = make_draft()

    assert ["any change"] == texts(draft)
    assert draft.parts[0].difference


def test_selector_is_a_part_of_the_page():
    """Its options become clauses of their own."""
    draft = make_draft({"css": {"selector": ".a", "exclude": ".b", "sort": True}})

    assert [".a"] == [one.text for one in draft.selects["css"]]
    assert ["all words", 'Exclude css ".b"', "Transform sort"] == texts(draft)


def test_second_selector_is_refused():
    """It would select in what the first one left. So is one after a text filter."""
    assert ["filter: xpath"] == list_refused(make_draft({"css": ".a"}, {"xpath": "//b"}))
    assert ["filter: css"] == list_refused(make_draft("html2text", {"css": ".a"}))


@pytest.mark.parametrize(
    ("given", "clause"),
    [
        ({"grep": "a.*"}, 'Transform keep lines regex "a.*"'),
        ({"grepi": "a"}, 'Transform drop lines regex "a"'),
        ({"keep_lines_containing": "a.b"}, 'Transform keep lines regex "a\\.b"'),
        ({"re.sub": {"pattern": "a", "repl": "b"}}, 'Transform replace regex "a" with "b"'),
        ("sort", "Transform sort"),
        ("remove-duplicate-lines", "Transform unique"),
        ({"re.findall": "a(b)"}, 'regex "a(b)"'),
        ("csv2text", "table"),
    ],
)
def test_filter_of_lines_becomes_a_clause(given: Any, clause: str):
    """A plain value is the value of its main option."""
    assert clause in texts(make_draft(given))


def test_filter_without_an_equivalent_is_refused_with_its_reason():
    """Programs are not run."""
    draft = make_draft({"shellpipe": "cat"}, "my_own")

    assert ["filter: shellpipe", "filter: my_own"] == list_refused(draft)
    assert all(note.text for note in draft.notes)


def test_filter_of_the_layout_has_no_effect():
    """The layout of a text is never compared."""
    draft = make_draft("strip", "beautify")

    assert ["all words"] == texts(draft)
    assert ["translated", "translated"] == [note.grade for note in draft.notes]


def test_old_form_is_a_comma_separated_text():
    """A comma inside a value does not separate."""
    assert [("css", {"selector": ".a, div p"}), ("html2text", {})] == list(list_named("css:.a, div p,html2text"))
    assert [] == list(list_named(3))
