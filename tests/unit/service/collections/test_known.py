"""Tests of what is known of a collection."""

from types import SimpleNamespace
from typing import cast

import pytest

from tidings.clock import DAY
from tidings.model.watch.collection import Scope
from tidings.model.watch.sentinel import Interest, Sentinel, Watched
from tidings.service.collections.known import KnownCollection
from tidings.service.watch.watchlist import WatchedSentinel
from tidings.storage.watches.collections import CollectedPage, FoundAddress

HOME = "https://x.example/"


def row(url: str, page_id: int | None = None, *, yielded: int = 0, read_seq: int = 0) -> CollectedPage:
    """Return an address that was found at the beginning."""
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


def known(*rows: CollectedPage) -> KnownCollection:
    """Return a collection that has these addresses."""
    sentinel = Sentinel(name="c", pages=(Watched(HOME),), monitor=Interest("any"), scope=Scope(("/*",)))
    made = KnownCollection(cast("WatchedSentinel", SimpleNamespace(sentinel=sentinel)))
    made.load(rows)
    return made


def test_what_a_list_will_name_is_guessed_by_its_length_then_by_its_history():
    """Fifty links: one a day at first; half after a day without news; two a day after twenty in
    nine days.
    """
    rows = [row(f"{HOME}p{n}", n + 10) for n in range(50)]
    quiet, busy = row(HOME, 1), row(HOME, 1, yielded=19)
    assert 1.0 == pytest.approx(known(quiet, *rows).expect_yield(quiet, 0))
    assert 0.5 == pytest.approx(known(quiet, *rows).expect_yield(quiet, DAY))
    assert 2.0 == pytest.approx(known(busy, *rows).expect_yield(busy, 9 * DAY))
    assert 0.0 == known(quiet, *rows).expect_yield(rows[0], DAY)


def test_a_page_that_names_other_pages_says_something_new():
    """Of two with the same words the one is a copy that names nothing, or only more of its form."""
    first, second = row(f"{HOME}list1", 1), row(f"{HOME}list2", 2)
    for names, expected in [((), first.url), (("list3",), first.url), (("oil",), "")]:
        made = known(first, second)
        made.note_first(first, ())
        assert expected == made.note_first(second, [FoundAddress(HOME + name, 2) for name in names])
