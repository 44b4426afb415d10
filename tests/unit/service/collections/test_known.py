"""Tests of the known addresses of a collection."""

import random
from types import SimpleNamespace
from typing import cast

import pytest

from tidings.clock import DAY, MINUTE
from tidings.fetching import address
from tidings.model.observed.page import PageState
from tidings.model.watch.sentinel import Interest, Scope, Sentinel, Watched
from tidings.record import replace
from tidings.search.sites import COMPARED
from tidings.service.collections import known
from tidings.service.collections.known import LEADS_TO, TRAPPED, CollectionReport, KnownCollection
from tidings.service.collections.read_links import ReadLinks
from tidings.service.watch.watchlist import WatchedPage, WatchedSentinel
from tidings.storage.watches.collections import CollectedPage, FoundAddress

HOME = "https://x.example/"


def row(url: str, page_id: int | None = None, *, yielded: int = 0, read_seq: int = 0) -> CollectedPage:
    """Return an address that was found at time 0."""
    return CollectedPage(
        url,
        page_id,
        1,
        "page",
        "watched",
        "",
        "",
        "",
        "ab",
        None if page_id == 1 else 1,
        0,
        False,
        False,
        read_seq,
        yielded,
    )


def make_collection(*rows: CollectedPage, home: str = HOME) -> KnownCollection:
    """Return a collection with these addresses."""
    sentinel = Sentinel(name="c", pages=(Watched(home),), monitor=Interest("any"), scope=Scope(("/*",)))
    made = KnownCollection(cast("WatchedSentinel", SimpleNamespace(sentinel=sentinel)))
    made.load(rows)
    return made


def test_expected_new_links_follow_the_length_and_history_of_a_list():
    """With fifty links it is one a day at first, half after a day without new ones, and two a day
    after twenty in nine days.
    """
    rows = [row(f"{HOME}p{n}", n + 10) for n in range(50)]
    quiet, busy = row(HOME, 1), row(HOME, 1, yielded=19)
    assert 1.0 == pytest.approx(make_collection(quiet, *rows).expect_yield(quiet, 0))
    assert 0.5 == pytest.approx(make_collection(quiet, *rows).expect_yield(quiet, DAY))
    assert 2.0 == pytest.approx(make_collection(busy, *rows).expect_yield(busy, 9 * DAY))
    assert 0.0 == make_collection(quiet, *rows).expect_yield(rows[0], DAY)


def test_page_with_links_to_other_pages_is_not_a_copy():
    """A page with the same words is a copy if it has no links, or only links of its own form."""
    first, second = row(f"{HOME}list1", 1), row(f"{HOME}list2", 2)
    for names, expected in [((), first.url), (("list3",), first.url), (("oil",), "")]:
        made = make_collection(first, second)
        made.note_first(first, ())
        assert expected == made.note_first(second, [FoundAddress(HOME + name, 2) for name in names])


def test_groups_match_the_rows_after_any_changes():
    """Addresses are found, watched, read, listed, left and gone in any order."""
    draw = random.Random(5)
    made = make_collection(*(row(f"{HOME}p{n}", n + 1) for n in range(30)))
    for _ in range(500):
        made.revise(
            f"{HOME}p{draw.randrange(30)}",
            state=draw.choice(("found", "watched", "gone", "left")),
            kind=draw.choice(("page", "map")),
            read_seq=draw.choice((-1, 0, 1)),
            tries=draw.choice((0, 0, 0, 1)),
            reason=draw.choice(("", "leads to elsewhere", TRAPPED)),
            is_news=draw.random() < 0.5,
            is_listed=draw.random() < 0.5,
        )
        if draw.random() < 0.02:
            made.note_published(news=draw.random() < 0.5, at=1)
        pages = [row for row in made.rows.values() if row.kind == "page"]
        read = [row for row in pages if row.state == "watched" and row.read_seq and not row.tries]
        here = [row for row in read if not row.is_listed]
        watched = [row for row in made.rows.values() if row.state == "watched"]
        expected = {
            "live": [row for row in made.rows.values() if row.state in {"found", "watched"}],
            "waiting": [row for row in made.rows.values() if row.state == "found"],
            "unread": [row for row in watched if not row.read_seq or row.tries],
            "doubted": [row for row in watched if row.reason],
            "trapped": [row for row in made.rows.values() if row.state == "left" and row.reason == TRAPPED],
            "maps": [row for row in made.rows.values() if row.kind == "map"],
            "followed": [row for row in pages if row.state != "left" and (not row.tries or row.read_seq)],
            "news": [row for row in here if row.is_news]
            + [row for row in pages if row.is_listed and row.state != "watched"],
            "others": [row for row in here if not row.is_news],
        }
        assert {name: {row.url for row in rows} for name, rows in expected.items()} == {
            name: set(urls) for name, urls in made.groups.items()
        }
    made.note_published(news=False, at=1)
    assert not made.groups["news"]
    assert not made.groups["others"]


def test_ranks_are_kept_for_a_minute():
    """Watched pages leave at once, and news and sitemaps are ranked at once."""
    made = make_collection(row(HOME, 1, read_seq=1))
    made.take([FoundAddress(f"{HOME}p{n}", n) for n in range(1, 9)], 0)

    def best(room: int, now: int = 0) -> list[str]:
        return [each.url.removeprefix(HOME) for _, each in made.find_best(room, {}, now)]

    assert ["p1", "p2"] == best(2)
    made.revise(f"{HOME}p1", state="watched", page_id=2)
    made.take([FoundAddress(f"{HOME}q", 1)], 0)
    assert ["p2", "p3"] == best(2)
    assert ["q", "p2"] == best(2, MINUTE)
    made.take([FoundAddress(f"{HOME}map", 5, "map"), FoundAddress(f"{HOME}new", 1, is_news=True)], 0)
    assert ["map", "new", "q"] == best(3, MINUTE)


def test_compared_texts_are_limited_after_a_restart():
    """The limit is that from before, however many pages of a form were read."""
    pages = [row(f"{HOME}p{n}", n + 1, read_seq=1) for n in range(COMPARED + 50)]
    form = make_collection(*pages).form(HOME + "p1")
    assert COMPARED + 50 == form.asked == form.new
    assert [page.url for page in pages[50:]] == list(form.sketches)


@pytest.mark.parametrize(
    ("home", "link"),
    [
        ("https://b\u00fccher.example/", "https://xn--bcher-kva.example/a"),
        ("https://b\u00fccher.example/", "https://b\u00fccher.example/a"),
        ("https://example.com:443/a/", "https://example.com/a/b"),
        ("https://example.com?lang=en", "https://example.com/a"),
        ("HTTPS://Example.COM", "https://example.com/a"),
        ("http://example.com:8080/", "http://example.com:8080/a"),
    ],
)
def test_links_of_a_first_page_are_found_whatever_form_its_address_has(home: str, link: str) -> None:
    """The address is compared in the form in which it is requested."""
    made = make_collection(row(HOME, 1), home=home)
    (found,) = made.find_new(row(HOME, 1), ReadLinks("page", "", "", ((link, ""),)), 0).new

    assert address.parse(link).origin == address.parse(found.url).origin


@pytest.mark.parametrize(
    ("home", "final", "expected"),
    [
        ("http://example.com/", "https://example.com/", True),
        ("https://example.com/", "https://www.example.com/en/", True),
        ("https://www.example.com/", "https://docs.example.com/", True),
        ("https://one.github.io/", "https://one.github.io/x", True),
        ("https://one.github.io/", "https://two.github.io/", False),
        ("https://example.com/", "https://example.org/", False),
        ("https://example.co.uk/", "https://other.co.uk/", False),
        ("https://example.com/", "https://example.com:8443/", False),
        ("http://127.0.0.1:8001/", "http://127.0.0.1:8002/", False),
    ],
)
def test_first_page_leads_only_to_its_own_site(home: str, final: str, *, expected: bool) -> None:
    """Pages there are found; another domain is not opened by a redirect."""
    made = make_collection(row(HOME, 1), home=home)
    state = PageState(page_id=1, final_url=final)
    made.note_first_page(WatchedPage(address.identify(home), state))
    found = made.find_new(row(HOME, 1), ReadLinks("page", "", "", ((f"{final}page", ""),)), 0).new

    assert expected is bool(found)


def test_waits_of_an_address_that_fails_grow():
    """Ten minutes, then four times as long; a month at most, a day for a feed that was read."""
    made = make_collection(row(HOME, 1))
    waits = []
    for kind, read_seq in [("page", 0), ("map", 1)]:
        failed = replace(row(f"{HOME}p", 2, read_seq=read_seq), kind=kind)
        for _ in range(9):
            failed = made.fail(failed, "answered 404", 0, for_good=False)
            waits.append((failed.retry_at or 0) // MINUTE)

    assert [10, 40, 160, 640, 2_560, 10_240, 40_960, 43_200, 43_200] == waits[:9]
    assert [10, 40, 160, 640, 1_440, 1_440, 1_440, 1_440, 1_440] == waits[9:]
    assert 30 * DAY == made.fail(row(f"{HOME}p", 2), "leads to x", 0, for_good=True).retry_at


def test_form_is_freed_once_its_pages_have_new_text():
    """Those that led elsewhere are pages in the end: what was left out for them comes back."""
    rows = [row(f"{HOME}p{n}", n + 2) for n in range(12)]
    waiting = [replace(row(f"{HOME}p{n}"), state="found") for n in range(20, 25)]
    made = make_collection(*rows, *waiting)
    for one in rows[:6]:
        made.note_useless(one.url)
        made.put(made.fail(one, f"{LEADS_TO} outside of the scope", 0, for_good=False))
    trapped, freed = made.judge()
    assert ({one.url for one in waiting}, []) == (set(trapped), freed)
    for url in trapped:
        made.revise(url, state="left", reason=TRAPPED)

    made.bring_back(made.list_due_again(DAY), DAY)
    for number, one in enumerate(rows[:6]):
        made.note_first(replace(one, sketch=f"{number:08x}"), ())
    assert sorted(trapped) == sorted(made.judge()[1])


def test_addresses_that_were_left_take_no_room(monkeypatch):
    """Only pages and those that wait count; sitemaps come first, and that it is full is said."""
    monkeypatch.setattr(known, "MOST_FOUND", 4)
    monkeypatch.setattr(known, "MOST_KNOWN", 10)
    left = [replace(row(f"{HOME}left{n}"), state="left") for n in range(5)]
    links = tuple((f"{HOME}p{n}", "") for n in range(9))
    made = make_collection(row(HOME, 1), *left)
    found = made.find_new(row(HOME, 1), ReadLinks("page", "", "", links, (f"{HOME}feed",)), 0).new

    assert [f"{HOME}feed", f"{HOME}p0", f"{HOME}p1"] == [one.url for one in found]
    full = [CollectionReport(Scope(("/*",)), 4, 0, 0, ()), CollectionReport(Scope(("/*",)), 1, 0, 0, (("a", 9),))]
    assert [True, True] == ["no more than 4 pages" in one.lines()[1] for one in full]
    assert not CollectionReport(Scope(("/*",)), 3, 0, 1, ()).is_full
