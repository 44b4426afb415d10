"""Filters of urlwatch and webchanges become clauses, in order."""

from __future__ import annotations

from typing import Any

import pytest

from tidings.service.imports.draft import Draft
from tidings.service.imports.filters import apply, list_named


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


def test_job_without_a_filter_watches_any_change():
    """The difference to its program is noted."""
    draft = make_draft()

    assert ["any change"] == texts(draft)
    assert draft.parts[0].difference


def test_selector_is_a_part_of_the_page():
    """Its options become clauses of their own."""
    draft = make_draft({"css": {"selector": ".a", "exclude": ".b", "sort": True}})

    assert [".a"] == [one.text for one in draft.selects["css"]]
    assert ["any change", 'Exclude css ".b"', "Transform sort"] == texts(draft)


def test_second_selector_selects_in_the_first():
    """After a text filter, it is refused."""
    draft = make_draft({"css": ".a"}, {"css": "p"}, "html2text")

    assert [".a p"] == [one.text for one in draft.selects["css"]]
    assert ["filter: css"] == list_refused(make_draft("html2text", {"css": ".a"}))


@pytest.mark.parametrize(
    ("given", "parts"),
    [
        (["html2text", {"re.findall": "a"}], ['regex "a"']),
        (["html2text", "sha1sum"], ["all words"]),
        ([{"html2text": "lynx"}, "sort"], ["all words", "links"]),
        ([{"html2text": "lynx"}, {"grep": "a"}], ["all words"]),
        ([{"xpath": "//a/@href"}], ["all words"]),
        ([{"xpath": "//a"}], ["any change"]),
        ([{"css": "a"}, {"grep": "b"}], ["all words"]),
    ],
)
def test_last_filter_decides_what_is_compared(given: list[Any], parts: list[str]):
    """A filter that takes matches or lines of a text leaves nothing else of it."""
    assert parts == [one.text for one in make_draft(*given).parts]


@pytest.mark.parametrize(
    ("given", "clause"),
    [
        ({"grep": "a.*"}, 'Transform keep lines regex "a.*"'),
        ({"grepi": "a"}, 'Transform drop lines regex "a"'),
        ({"keep_lines_containing": "a.b"}, 'Transform keep lines regex "a\\.b"'),
        ({"re.sub": {"pattern": "a", "repl": "b"}}, 'Transform replace regex "a" with "b"'),
        ("sort", "Transform sort"),
        ("remove-duplicate-lines", "Transform unique"),
        ({"re.findall": {"pattern": "a(b)", "repl": "\\1"}}, 'regex "a(b)"'),
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
