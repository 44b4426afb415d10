"""Promise: on real pages every change of the text is reported, and nothing else.

The data set is read from where it lies (tests/data_sets.py). `bench/replay_versions.py` replays all of it; here a sample of 40 pages.
"""

from __future__ import annotations

import pytest

from tests.replay import Pair, RealPage, Result, Version, is_churn, real_pages, reason, replay
from tidings.detection.kinds.registry import KINDS
from tidings.document.parse import parse
from tidings.model.observed.change import ChangeSet, Edit, ObjectCount

SAMPLE = {"terms-html": 14, "terms-text": 12, "feed": 4, "json": 4, "docs-text": 3, "javadoc-frames": 2, "list": 1}
MOST_VERSIONS = 4
LARGEST = 200_000
JUSTIFIED = {"title", "punctuation", "spelling of characters", "white space", "another link", "order of keys"}


def sample() -> list[RealPage]:
    """Return 40 pages, spread over their families, with their first versions."""
    chosen = []
    for family, count in SAMPLE.items():
        pages = [page for page in real_pages([family]) if max(len(v.body) for v in page.versions) <= LARGEST]
        for page in pages[:: max(1, len(pages) // count)][:count]:
            chosen.append(RealPage(page.family, page.name, page.versions[:MOST_VERSIONS]))
    return chosen


@pytest.fixture(scope="module")
def result(tmp_path_factory: pytest.TempPathFactory) -> Result:
    """Replay the sample once for all tests."""
    pages = sample()
    assert 40 == len(pages)
    return replay(pages, tmp_path_factory.mktemp("replay") / "data")


def test_forty_real_pages_are_replayed_without_a_fault(result: Result):
    """No crash, lost version, failed comparison, empty diff or alert of volatile addresses; edits
    turn the old words into the new ones; all invariants hold.
    """
    assert {} == {sort: found for sort, found in result.faults().items() if found}
    assert len(result.pairs) > 100


def test_text_is_reported_and_markup_is_not(result: Result):
    """Each difference from the index has one of the explained reasons (docs/why/real-pages.md)."""
    differing = [pair for pair in result.pairs if not pair.agrees]

    assert set() == {pair.reason for pair in differing} - JUSTIFIED
    assert {"text", "markup-only"} == {pair.label for pair in result.pairs if pair.agrees}


RSS = "<rss version='2.0'><channel><title>News</title>%s<item><title>One</title>%s</item></channel></rss>"
ATOM = "<feed xmlns='http://www.w3.org/2005/Atom'><title>News</title>%s<entry><title>One</title>%s</entry></feed>"


@pytest.mark.parametrize(
    ("is_reported", "content_type", "old", "new"),
    [
        (False, "application/rss+xml", RSS % ("<lastBuildDate>10:06:29</lastBuildDate>", ""), RSS % ("", "")),
        (False, "application/atom+xml", ATOM % ("<updated>10:06:29Z</updated>", ""), ATOM % ("", "")),
        (False, "application/rss+xml", RSS % ("", "<pubDate>1 May</pubDate>"), RSS % ("", "<pubDate>2 May</pubDate>")),
        (False, "application/atom+xml", ATOM % ("", "<updated>1</updated>"), ATOM % ("", "<updated>2</updated>")),
        (False, "text/html", "<img src=/logo-a5a03e59.png>", "<img src=/logo-5326d050.png>"),
        (False, "text/html", "<img src=/logo.a5a03e59.min.js>", "<img src=/logo.5326d050.min.js>"),
        (True, "text/html", "<img src=/logo-a5a03e59.png>", "<img src=/banner-a5a03e59.png>"),
        (True, "text/html", "<img src=/a5a03e59.png>", "<img src=/5326d050.png>"),
        (True, "text/html", "<img src=/map-20260101.png>", "<img src=/map-20260102.png>"),
        (True, "text/html", "<a href=/terms-a5a03e59.pdf>", "<a href=/terms-5326d050.pdf>"),
        (False, "text/html", "<a href='/page;jsessionid=A1?x=1'>", "<a href='/page;jsessionid=B2?x=2'>"),
        (True, "text/html", "<a href='/page;part=1'>", "<a href='/page;part=2'>"),
        (False, "text/html", "<p>d&rsquo;abord&nbsp;: a&#64;b", "<p>d\u2019abord : &#x61;&#x40;b"),
        (False, "text/html", "<title>Terms - A</title><p>x", "<title>Terms | B</title><p>x"),
        (False, "text/markdown", "# Rules\n\n* one, two", "Rules\n-----\n\n- **one** two"),
        (True, "text/html", "<p>contact us", "<p>contact us \U0001f49b"),
    ],
)
def test_lessons_of_real_pages_hold(is_reported: bool, content_type: str, old: str, new: str):
    """Artificial examples of each difference of the replay.

    No change: build dates and fingerprints, sessions, spellings of a character, titles,
    punctuation, dates of entries. Changes: other files and documents, emoji.
    """
    before, after = (parse(body.encode(), content_type, url="http://a/") for body in (old, new))

    assert is_reported == bool(KINDS["any"].compare(before, after))
    assert "" == before.problem + after.problem


def pair_of(old: str, new: str, *, content_type: str = "text/html", reported: ChangeSet | None = None) -> Pair:
    """Return a step between two artificial versions."""
    versions = tuple(Version(body.encode(), content_type, "text") for body in (old, new))
    return Pair(RealPage("made-up", "p", versions), 1, "text", reported or ChangeSet())


@pytest.mark.parametrize(
    ("expected", "pair"),
    [
        ("title", pair_of("<title>a</title><p>x", "<title>b</title><p>x")),
        ("spelling of characters", pair_of("<p>a &rsquo; b", "<p>a&nbsp;&#8217; b")),
        ("punctuation", pair_of("<p>one, two", "<p>one; two!")),
        ("white space", pair_of("one two", "one\n  two", content_type="text/markdown")),
        ("", pair_of("<p>one", "<p>two")),
        ("", pair_of("<p>5", "<p>5 €")),
        ("", pair_of("one", "two", content_type="text/plain")),
        (
            "another link",
            pair_of("", "", reported=ChangeSet(kinds=("links",), objects=(ObjectCount("links", "/a", 0, 1),))),
        ),
        ("", pair_of("a", "b", reported=ChangeSet(kinds=("words",), edits=(Edit("replace", 0, 1, 0, 1),)))),
    ],
)
def test_changed_words_have_no_other_explanation(expected: str, pair: Pair):
    """A missed change of words must therefore show."""
    assert expected == reason(pair)


@pytest.mark.parametrize(
    ("expected", "old", "new"),
    [
        (True, "http://a/page;jsessionid=8F3A", "http://a/page;jsessionid=77BC"),
        (True, "http://a/app.3f9c2d71.png", "http://a/app.90aa17be.png"),
        (True, "http://a/v12/logo.png", "http://a/v13/logo.png"),
        (False, "http://a/safety/", "http://a/advice"),
    ],
)
def test_volatile_address_parts_are_ignored(expected: bool, old: str, new: str):
    """Sessions, numbers and hashes are; another path is another link."""
    rows = (ObjectCount("links", new, 0, 1), ObjectCount("links", old, 1, 0))

    assert expected == is_churn(ChangeSet(kinds=("links",), objects=rows))
