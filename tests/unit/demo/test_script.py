"""The seed decides what happens in the town."""

from __future__ import annotations

from itertools import islice, pairwise

import pytest

from tidings.demo.script import KILLS, PLACES, TROUBLES, ServerTrouble, edits, opening


def day(seed):
    return list(islice(edits(seed), 500))


def test_same_seed_gives_the_same_day():
    """Openings and edits are equal, with the same times."""
    assert opening(7) == opening(7)
    assert day(7) == day(7)


def test_another_seed_gives_another_day():
    """The seed has an effect."""
    assert day(1) != day(2)


def test_edits_are_in_order_of_time():
    """The town makes them one after the other."""
    times = [edit.at for edit in day(1)]

    assert sorted(times) == times


def test_first_change_comes_within_five_seconds():
    """A new user waits no longer for the first message."""
    first = next(edit for edit in edits(1) if edit.news)

    assert first.at <= 5


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_every_edit_changes_its_page(seed):
    """An edit without an effect could never be reported, and would count as missed."""
    shown = dict(opening(seed))
    idle = []
    for edit in day(seed):
        if edit.content == shown[edit.place]:
            idle.append(edit)
        shown[edit.place] = edit.content

    assert [] == idle


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_every_scene_is_played_within_90_seconds(seed):
    """The scenes are a price below the limit, a course, a moved paragraph, a feed, a link on the
    restless page and quiet markup.
    """
    output = [edit.text for edit in day(seed) if edit.at <= 90]

    for scene in (
        "below 30",
        "the course opens",
        "a paragraph moves",
        "the feed gets an item",
        "a link is added",
        "(markup)",
    ):
        assert any(scene in text for text in output), scene


def test_trouble_begins_and_ends_at_its_times():
    """The beginning is included, the end is not."""
    trouble = ServerTrouble("library", 9.0, 21.0, "500")

    assert [False, True, True, False] == [trouble.holds(at) for at in (8.9, 9.0, 20.9, 21.0)]


def test_scenes_use_existing_pages():
    """Each trouble names a page, names of pages are unique, and troubles and kills do not overlap."""
    names = [place.name for place in PLACES]

    assert len(set(names)) == len(names)
    assert {trouble.place for trouble in TROUBLES} <= set(names)
    assert all(begin.end <= next_.begin for begin, next_ in pairwise(TROUBLES))
    assert KILLS[1] > KILLS[0]
