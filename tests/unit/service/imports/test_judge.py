"""Drafts become sentinels: the language decides which clauses are kept."""

from __future__ import annotations

import pytest

from tidings.clock import HOUR, MINUTE
from tidings.language import parser
from tidings.model.watch.sentinel import Sentinel
from tidings.service.imports.draft import Draft
from tidings.service.imports.judge import MORE_CLAUSES, Judged, judge

EVIL = "http://evil.example/"


def draft(url: str = "https://a.example/") -> Draft:
    """Return a draft of a page."""
    return Draft("", url, "peer")


def read(judged: Judged) -> Sentinel:
    """Return the sentinel of a judged draft."""
    statements = parser.parse(judged.text).statements
    assert isinstance(statements[0], Sentinel)
    return statements[0]


def refused(judged: Judged) -> list[str]:
    """Return the fields that were refused."""
    return [note.field for note in judged.notes if note.grade == "refused"]


def test_valid_clauses_are_kept_and_others_noted():
    """One invalid field must not lose the job."""
    made = draft()
    made.monitor("all words", "kind")
    made.monitor("all wrods", "other")
    made.add("Exclude css .ad", "ad")
    made.add('Exclude css ".ad"', "ads")
    judged = judge(made, "s", learn=False)

    assert ["other", "ad"] == refused(judged)
    assert 'Create Sentinel s Using https://a.example/\n  Monitor all words\n  Exclude css ".ad"' == judged.text
    assert "approximated" == judged.grade


@pytest.mark.parametrize(
    "more", [f"Notify By webhook {EVIL} immediate", 'Header "X" secret "shop"', f"Proxy {EVIL}", "Tags a"]
)
def test_address_cannot_add_a_receiver_or_a_secret(more: str):
    """A foreign file only names pages: its addresses cannot add clauses."""
    judged = judge(draft(f"https://a.example/ {more}"), "s", learn=False)

    assert ("", ["url"]) == (judged.text, refused(judged))


def test_clause_cannot_add_another_clause():
    """The clauses are a part of Monitor, a condition, a step, a selector and a proxy."""
    more = f" Notify By webhook {EVIL} immediate"
    made = draft()
    made.monitor(f"links{more}", "part")
    made.where(f"inserted{more}", "condition")
    made.add(f"Proxy http://p.example{more}", "proxy")
    made.step(f'click css "a") {more} Exclude css ("b"', "step")
    made.select("css", f'a"{more} Exclude css "b', "select")
    judged = judge(made, "s", learn=False)

    assert "evil" not in str(read(judged).notify)
    assert {"part", "condition", "proxy", "step"} <= set(refused(judged))
    assert MORE_CLAUSES in "".join(note.text for note in judged.notes)


def test_clauses_of_one_field_are_kept_or_refused_together():
    """Hours and their zone are an example."""
    made = draft()
    made.add("During daily 08:00 to 10:00 Zone Europe/Paris", "hours", many=2)
    made.add(f"During daily 08:00 to 10:00 Zone UTC Notify By webhook {EVIL} immediate", "other", many=2)
    judged = judge(made, "s", learn=False)

    assert ("Europe/Paris", ["other"]) == (read(judged).zone, refused(judged))


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
    judged = judge(draft(url), "s", learn=False)

    assert ("refused", "") == (judged.grade, judged.text)
    assert judged.notes[-1].text.startswith(why)


def test_interval_is_kept_or_becomes_bounds():
    """The bounds are a quarter and four times the interval, but at least a minute."""
    texts = []
    for learn, every in ((False, HOUR), (True, HOUR), (True, MINUTE)):
        made = draft()
        made.every = every
        texts.append(judge(made, "s", learn=learn).text.rpartition("\n  ")[2])

    assert [
        "Fetch every 1 hour",
        "Fetch on change between 15 min and 4 hour",
        "Fetch on change between 1 min and 4 min",
    ] == texts


def test_selectors_of_one_kind_are_joined():
    """Selectors of several kinds become places of each part."""
    one, several = draft(), draft()
    one.select("css", ".a", "css")
    one.select("css", ".b", "css")
    several.select("css", ".a", "css")
    several.select("xpath", "//b", "xpath")

    assert 'Select css ".a, .b"' in judge(one, "s", learn=False).text
    assert 'Monitor all words in css ".a" OR all words in xpath "//b"' in judge(several, "s", learn=False).text


def test_only_secrets_in_the_text_are_returned():
    """A header that was refused needs no secret."""
    made = draft()
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
