"""What happens in the town follows from the seed."""

from __future__ import annotations

from itertools import islice, pairwise

import pytest

from tidings.demo.script import KILLS, PLACES, TROUBLES, ServerTrouble, edits, opening


def day(seed):
    return list(islice(edits(seed), 500))


def test_the_same_seed_is_the_same_day():
    """Two runs with one seed have the same openings and the same edits at the same seconds."""
    assert opening(7) == opening(7)
    assert day(7) == day(7)


def test_another_seed_is_another_day():
    """A seed that says nothing would be no seed."""
    assert day(1) != day(2)


def test_edits_come_in_the_order_of_time():
    """The town makes them one after the other."""
    times = [edit.at for edit in day(1)]

    assert sorted(times) == times


def test_the_first_change_comes_at_once():
    """Somebody who looks for the first time waits no more than a few seconds."""
    first = next(edit for edit in edits(1) if edit.news)

    assert first.at <= 5


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_every_edit_changes_its_page(seed):
    """An edit that leaves the page as it was could never be told, and would be counted as missed."""
    shown = dict(opening(seed))
    idle = []
    for edit in day(seed):
        if edit.content == shown[edit.place]:
            idle.append(edit)
        shown[edit.place] = edit.content

    assert [] == idle


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_within_a_minute_and_a_half_every_scene_is_played(seed):
    """A price below the limit, a course, a moved paragraph, a feed, a link on the restless page, quiet markup."""
    said = [edit.said for edit in day(seed) if edit.at <= 90]

    for scene in (
        "below 30",
        "the course opens",
        "a paragraph moves",
        "the feed gets an item",
        "a link is added",
        "(markup)",
    ):
        assert any(scene in text for text in said), scene


def test_trouble_has_a_beginning_and_an_end():
    """A server is ill from the first instant on, and well at the last."""
    trouble = ServerTrouble("library", 9.0, 21.0, "500")

    assert [False, True, True, False] == [trouble.holds(at) for at in (8.9, 9.0, 20.9, 21.0)]


def test_scenes_happen_on_pages_that_there_are():
    """Each trouble names a place; each place has a name of its own; kills are apart."""
    names = [place.name for place in PLACES]

    assert len(set(names)) == len(names)
    assert {trouble.place for trouble in TROUBLES} <= set(names)
    assert all(begin.end <= next_.begin for begin, next_ in pairwise(TROUBLES))
    assert KILLS[1] > KILLS[0]
