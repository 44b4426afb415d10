"""The share of a page's changes that a sentinel reports, and how long new text stays on a page."""

from __future__ import annotations

import random
from itertools import pairwise

import pytest

from tidings.estimation.worth import LEAST, Block, End, InterestShare, Survival
from tidings.model.interval import DAY, HOUR
from tidings.model.observed.change import Edit
from tidings.model.watch.sentinel import ChangeLife


def test_share_of_reported_changes_is_learned_and_has_a_lower_limit():
    """It is a half before anything is known, then what was seen. No sentinel is assumed to ignore
    the page.
    """
    keen, picky = InterestShare(), InterestShare()
    for number in range(98):
        keen, picky = keen.after(reported=True), picky.after(reported=number == 0)

    assert [0.5, 0.99, LEAST] == [InterestShare().share, keen.share, picky.share]
    assert (98, 1) == (picky.visible, picky.reported)


def make_edits(before: list[str], after: list[str]) -> list[Edit]:
    """Return the edits between two lists of distinct tokens in the same order."""
    kept = [token for token in before if token in set(after)]
    edits, old, new = [], 0, 0
    for token in [*kept, None]:
        start_old, start_new = old, new
        old = before.index(token) if token is not None else len(before)
        new = after.index(token) if token is not None else len(after)
        if old > start_old or new > start_new:
            op = "replace" if old > start_old and new > start_new else "insert" if new > start_new else "delete"
            edits.append(Edit(op, start_old, old, start_new, new))  # type: ignore[arg-type]
        old, new = old + 1, new + 1
    return edits


def follow(versions: list[list[str]], *, gap: int = HOUR) -> Survival:
    """Return what is known after all versions of a page, so long after one another."""
    known = Survival()
    for number, (before, after) in enumerate(pairwise(versions), start=1):
        known = known.after_edits(make_edits(before, after), old=number, new=number + 1, at=number * gap)
    return known


def test_text_that_each_change_replaces_is_overwritten():
    """A price is an example."""
    known = follow([["boots", "cost", f"p{number}", "now"] for number in range(16)])

    assert ChangeLife("overwrite") == known.life(16 * HOUR)


def test_text_that_stays_has_no_lifetime():
    """In a list of news that grows, nothing ever goes."""
    known = follow([[f"n{i}" for i in range(number, 0, -1)] for number in range(1, 60)])

    assert known.life(60 * HOUR) is None


def test_edited_text_stays_for_long():
    """Each change replaces another word of a hundred: a new word goes now and then, and most stay
    for long.
    """
    rng = random.Random(1)
    words = [f"w{number}" for number in range(100)]
    versions = [words]
    for number in range(60):
        words = [*words]
        words[rng.randrange(100)] = f"e{number}"
        versions.append(words)

    assert follow(versions).life(60 * HOUR) is None


def test_list_of_ten_entries_keeps_each_for_ten_changes():
    """Each new entry pushes out the oldest; the times differ, the numbers do not."""
    rng, known, at = random.Random(2), Survival(), 0
    for number in range(1, 40):
        at += round(rng.expovariate(1 / HOUR))
        before, after = ([f"n{i}" for i in range(first, first + 10)] for first in (number, number + 1))
        known = known.after_edits(make_edits(before, after), old=number, new=number + 1, at=at)

    assert ChangeLife("changes", changes=10) == known.life(at)


def test_feed_of_a_week_keeps_each_entry_for_a_week():
    """The numbers differ, the times do not; entries of the first check do not count."""
    rng, at, dated = random.Random(3), 0, {}
    known, seen = Survival(), set[int]()
    for entry in range(120):
        at += round(rng.expovariate(1 / (12 * HOUR)))
        dated[entry] = at
        here = {other for other, when in dated.items() if at - when <= 7 * DAY}
        known = known.after_entries(here, known=seen, at=at)
        seen |= here
    life = known.life(at)

    assert life is not None
    assert "window" == life.mode
    assert 6 * DAY < life.span < 9 * DAY


def test_lifetime_needs_enough_texts_that_went():
    """Nine of nine that were overwritten may be chance."""
    versions = [["boots", "cost", f"p{number}"] for number in range(11)]

    assert follow(versions[:10]).life(0) is None
    assert follow(versions).life(0) is None
    assert follow([*versions, ["boots", "cost", "q"]]).life(0) == ChangeLife("overwrite")


@pytest.mark.parametrize(
    ("edits", "key"),
    [
        ([], (10, 14)),
        ([Edit("insert", 0, 0, 0, 5)], (15, 19)),
        ([Edit("delete", 2, 5, 2, 2)], (7, 11)),
        ([Edit("insert", 12, 12, 12, 13)], (10, 14)),
        ([Edit("replace", 13, 20, 13, 14)], (10, 14)),
        ([Edit("replace", 11, 14, 11, 12)], None),
        ([Edit("delete", 8, 30, 8, 8)], None),
        ([Edit("move", 9, 20, 39, 50)], (40, 44)),
    ],
)
def test_text_is_followed_where_edits_move_it(edits, key):
    """It is gone if more than half of its words are gone; words that moved are still there."""
    known = Survival((Block((10, 14), 0),), (), 1).after_edits(edits, old=1, new=2, at=HOUR, is_news=False)

    assert ([] if key is None else [Block(key, 0, 1)]) == list(known.blocks)


def test_comparison_that_skips_versions_starts_again():
    """A comparison with the first version again and again does not show where the text of the last
    change is: it has stayed at least that long.
    """
    known = Survival((Block((2, 3), 0, 4),), (End(1, HOUR, is_gone=True),), 5)
    anew = known.after_edits([Edit("replace", 2, 3, 2, 3)], old=1, new=6, at=HOUR)

    assert (*known.ends, End(4, HOUR, is_gone=False)) == anew.ends
    assert [Block((2, 3), HOUR)] == list(anew.blocks)


def test_memory_is_bounded():
    """It is, for any number of changes of any size."""
    known = follow([[f"w{number}_{word}" for word in range(0, 60, 2)] for number in range(100)])

    assert len(known.blocks) <= 16
    assert len(known.ends) <= 32
