"""A job of another program before it becomes a sentinel."""

from __future__ import annotations

import re

import pytest

from tidings.clock import DAY, HOUR, MINUTE, SECOND
from tidings.language import parser
from tidings.model.watch.sentinel import Sentinel
from tidings.service.imports.draft import (
    MORE_CLAUSES,
    SHOWN,
    Draft,
    Judged,
    duration,
    form,
    judge,
    literal,
    name_of,
    plain_address,
    show_value,
    tag_of,
    write_text,
)


def draft(url: str = "https://a.example/x", key: str = "") -> Draft:
    """Return an empty draft."""
    return Draft("", url, "peer", key)


@pytest.mark.parametrize("text", ["", "a", 'a "b"', "a\\", "a\\\\b", '\\"', "é\t"])
def test_written_text_is_read_back(text: str):
    """The text may have quotes and backslashes."""
    read = parser.parse(f"Create Sentinel s Using https://a.example Monitor phrase {write_text(text or 'x')}")

    assert () == tuple(read.problems)
    (sentinel,) = read.statements
    assert ((text or "x").strip(),) == sentinel.monitor.terms  # type: ignore[union-attr]


@pytest.mark.parametrize(
    ("title", "url", "name"),
    [
        ("Kettle Shop", "", "Kettle-Shop"),
        ("", "https://www.a.example/b%20c", "a-example-b-c"),
        ("Fetch", "", "Fetch-page"),
        ("7 things", "", "w-7-things"),
        ("it's", "", "its"),
        ("", "", "w"),
        ("", "http://[::1/x", "http-1-x"),
    ],
)
def test_name_of_a_job_is_valid_in_the_language(title: str, url: str, name: str):
    """The title is preferred, then the address, even an invalid one."""
    made = name_of(title, url)

    assert name == made
    assert () == tuple(parser.parse(f"Create Sentinel {made} Using https://a.example Monitor links").problems)


def test_blank_tag_is_no_tag():
    """Any other text becomes a name."""
    assert ["", "two-words"] == [tag_of(text) for text in (" ", "two words")]


def test_each_secret_has_its_own_name():
    """An equal value is the same secret. Another value and another job have other names."""
    one, other = draft(key="1"), draft(key="2")
    names = [one.keep_secret("Cookie", value) for value in ("a", "a", "b")]

    assert names[0] == names[1] != names[2]
    assert names[0] != other.keep_secret("Cookie", "a")
    assert names[0] == draft(key="1").keep_secret("Cookie", "a")
    assert {"a", "b"} == set(one.secrets.values())


def test_header_that_may_be_secret_is_stored_as_a_secret():
    """Other headers are written in plain text."""
    made = draft()
    made.header("X-Api-Key", "c4nary", "headers")
    made.header("Accept", "text/html", "headers")

    assert "c4nary" not in made.clauses[0].text
    assert 'Header "Accept" "text/html"' == made.clauses[1].text


def test_user_in_an_address_becomes_a_header():
    """The password is decoded. An address without a user stays."""
    made = draft("https://ann:p%40ss@a.example:81/x")

    assert "https://a.example:81/x" == plain_address(made, made.url)
    assert ["Basic YW5uOnBAc3M="] == list(made.secrets.values())
    assert "https://a.example/" == plain_address(made, "https://a.example/")
    assert "http://[::1/" == plain_address(made, "http://[::1/")


@pytest.mark.parametrize(
    ("amount", "text"),
    [
        (7 * DAY, "1 week"),
        (8 * DAY, "8 day"),
        (90 * MINUTE, "90 min"),
        (2 * HOUR, "2 hour"),
        (1, "1 s"),
        (90 * SECOND, "90 s"),
    ],
)
def test_time_is_written_in_its_largest_whole_unit(amount: int, text: str):
    """The minimum is a second."""
    assert text == duration(amount)


def test_value_in_a_note_is_cut_and_on_one_line():
    """Values of other programs may have any length."""
    assert f"{'a' * SHOWN}…" == show_value("a" * 500)
    assert "a b" == show_value("a\nb")


def test_pattern_of_a_text_matches_only_that_text():
    """Special characters are escaped."""
    for text in ("a.b", "1+1=2", "(x)", "é.", "a b"):
        assert re.fullmatch(literal(text), text)
    assert not re.fullmatch(literal("a.b"), "axb")


def test_map_becomes_the_body_of_a_form():
    """The encoding is that of browsers, with %20 for a space."""
    assert "a=1%202&b%26=%C3%A9" == form({"a": "1 2", "b&": "é"})


def test_grade_of_a_field_depends_on_its_note():
    """A field without an equivalent is refused."""
    made = draft()
    made.translate("a")
    made.translate("b", "is rounded")
    made.refuse("c", "there is none")

    assert ["translated", "approximated", "refused"] == [note.grade for note in made.notes]


@pytest.mark.parametrize("value", [None, [], {}, float("nan"), float("inf"), 10**400, "x", [[]], {"a": {}}])
def test_field_of_an_unexpected_type_is_refused_alone(value: object):
    """The other fields of the job are still read."""
    made = draft()
    made.read("period", value, lambda: setattr(made, "every", round(int(value["a"]))))  # type: ignore[index]
    made.read("name", "x", lambda: made.translate("name"))

    assert [("refused", "period"), ("translated", "name")] == [(note.grade, note.field) for note in made.notes]


@pytest.mark.parametrize("amount", [10**400, 10**30])
def test_time_of_any_length_is_written(amount: int):
    """The language refuses a time that is too long, with its reason."""
    assert duration(amount + 1).endswith(" s")


EVIL = "http://evil.example/"


def make_draft(url: str = "https://a.example/") -> Draft:
    """Return a draft of a page."""
    return Draft("", url, "peer")


def read(judged: Judged) -> Sentinel:
    """Return the sentinel of a judged draft."""
    statements = parser.parse(judged.text).statements
    assert isinstance(statements[0], Sentinel)
    return statements[0]


def list_refused(judged: Judged) -> list[str]:
    """Return the fields that were refused."""
    return [note.field for note in judged.notes if note.grade == "refused"]


def test_valid_clauses_are_kept_and_others_noted():
    """One invalid field must not lose the job."""
    made = make_draft()
    made.monitor("all words", "kind")
    made.monitor("all wrods", "other")
    made.add("Exclude css .ad", "ad")
    made.add('Exclude css ".ad"', "ads")
    judged = judge(made, "s", learn=False)

    assert ["other", "ad"] == list_refused(judged)
    assert 'Create Sentinel s Using https://a.example/\n  Monitor all words\n  Exclude css ".ad"' == judged.text
    assert "approximated" == judged.grade


@pytest.mark.parametrize(
    "more", [f"Notify By webhook {EVIL} immediate", 'Header "X" secret "shop"', f"Proxy {EVIL}", "Tags a"]
)
def test_address_cannot_add_a_receiver_or_a_secret(more: str):
    """A foreign file only names pages: its addresses cannot add clauses."""
    judged = judge(make_draft(f"https://a.example/ {more}"), "s", learn=False)

    assert ("", ["url"]) == (judged.text, list_refused(judged))


def test_clause_cannot_add_another_clause():
    """The clauses are a part of Monitor, a condition, a step, a selector and a proxy."""
    more = f" Notify By webhook {EVIL} immediate"
    made = make_draft()
    made.monitor(f"links{more}", "part")
    made.where(f"inserted{more}", "condition")
    made.add(f"Proxy http://p.example{more}", "proxy")
    made.step(f'click css "a") {more} Exclude css ("b"', "step")
    made.select("css", f'a"{more} Exclude css "b', "select")
    judged = judge(made, "s", learn=False)

    assert "evil" not in str(read(judged).notify)
    assert {"part", "condition", "proxy", "step"} <= set(list_refused(judged))
    assert MORE_CLAUSES in "".join(note.text for note in judged.notes)


def test_clauses_of_one_field_are_kept_or_refused_together():
    """Hours and their zone are an example."""
    made = make_draft()
    made.add("During daily 08:00 to 10:00 Zone Europe/Paris", "hours", many=2)
    made.add(f"During daily 08:00 to 10:00 Zone UTC Notify By webhook {EVIL} immediate", "other", many=2)
    judged = judge(made, "s", learn=False)

    assert ("Europe/Paris", ["other"]) == (read(judged).zone, list_refused(judged))


@pytest.mark.parametrize(
    ("url", "why"),
    [
        ("http://[::1/x", "its address cannot be watched: "),
        ("https://a.example/{{ date }}", "its address is a template (Jinja), which is not run"),
        ("https://a.example/, https://b.example/", "its address is not one address"),
        ("ftp://a.example/", "its address cannot be watched: "),
    ],
)
def test_job_with_an_invalid_address_is_refused(url: str, why: str):
    """The note has the reason."""
    judged = judge(make_draft(url), "s", learn=False)

    assert ("refused", "") == (judged.grade, judged.text)
    assert judged.notes[-1].text.startswith(why)


def test_interval_is_kept_or_becomes_bounds():
    """The bounds are a quarter and four times the interval, but at least a minute."""
    texts = []
    for learn, every in ((False, HOUR), (True, HOUR), (True, MINUTE)):
        made = make_draft()
        made.every = every
        texts.append(judge(made, "s", learn=learn).text.rpartition("\n  ")[2])

    assert [
        "Fetch every 1 hour",
        "Fetch on change between 15 min and 4 hour",
        "Fetch on change between 1 min and 4 min",
    ] == texts


def test_selectors_of_one_kind_are_joined():
    """Selectors of several kinds become places of each part."""
    one, several = make_draft(), make_draft()
    one.select("css", ".a", "css")
    one.select("css", ".b", "css")
    several.select("css", ".a", "css")
    several.select("xpath", "//b", "xpath")

    assert 'Select css ".a, .b"' in judge(one, "s", learn=False).text
    assert 'Monitor all words in css ".a" OR all words in xpath "//b"' in judge(several, "s", learn=False).text


def test_only_secrets_in_the_text_are_returned():
    """A header that was refused needs no secret."""
    made = make_draft()
    made.header("Cookie", "a", "cookie")
    made.keep_secret("unused", "b")

    assert ["a"] == list(judge(made, "s", learn=False).secrets.values())


def test_disabled_job_becomes_a_disabled_sentinel():
    """The title is a comment above the statement."""
    made = Draft("My page\nDrop other", "https://a.example/", "peer")
    made.disabled = True
    text = judge(made, "s", learn=False).text

    assert text.startswith("-- My page Drop other\nCreate Sentinel s")
    assert text.endswith("\nDisable s")
