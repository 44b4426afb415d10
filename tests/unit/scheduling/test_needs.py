"""What is needed in time: captures, ranks, and who comes first (paper 001 §2.1, §4.2.1)."""

import itertools
import random

import numpy as np
import pytest

from tidings.model.interval import ExecutionInterval
from tidings.scheduling.needs import Group, Need, Wait, urgency


def wait(page, start, end):
    """Return a wait."""
    return Wait(page, ExecutionInterval(start, end))


def need(*waits, least=None):
    """Return a need of one group."""
    return Need((Group(waits, len(waits) if least is None else least),))


def test_one_look_captures_all_that_is_open_for_a_page():
    """Both ends of an interval belong to it; other pages and other times are not captured."""
    wanted = need(wait(1, 10, 20), wait(1, 20, 30), wait(1, 21, 30), wait(2, 10, 30))

    assert [20, 20, None, None] == [w.captured_at for w in wanted.captured(1, 20).waits]


def test_a_second_look_changes_nothing():
    """What was captured keeps its instant."""
    assert need(wait(1, 0, 9)).captured(1, 3).captured(1, 4) == need(wait(1, 0, 9)).captured(1, 3)


@pytest.mark.parametrize(
    ("looks", "verdict", "missing"),
    [((), "missed", 2), ((1,), "partial", 1), ((1, 3), "complete", 0), ((1, 2, 3), "complete", 0)],
    ids=["none", "one", "two", "three"],
)
def test_so_many_of_a_group_make_it_complete(looks, verdict, missing):
    """Of three pages any two are enough; its rank is two."""
    wanted = need(wait(1, 0, 9), wait(2, 0, 9), wait(3, 0, 9), least=2)
    for page in looks:
        wanted = wanted.captured(page, 5)

    assert (2, missing, verdict) == (wanted.rank, wanted.missing, wanted.verdict)


def test_a_need_is_over_when_nothing_can_bring_it_further():
    """Complete, or out of time: the last instant of an interval still counts."""
    wanted = need(wait(1, 0, 9), wait(2, 0, 5))

    assert not wanted.is_over(9)
    assert wanted.is_over(10)
    assert wanted.captured(1, 3).captured(2, 4).is_over(4)


def serve(waits, horizon, choose):
    """Return how many waits are captured when `choose` picks a page at each instant."""
    wanted = need(*waits)
    for now in range(horizon):
        active = [w for w in wanted.open_waits(now) if w.interval.start <= now]
        if active:
            wanted = wanted.captured(choose(active, now), now)
    return sum(w.captured_at is not None for w in wanted.waits)


def earliest_deadline(active, now):
    """Return the page of the most urgent wait."""
    urgent = urgency(np.array([w.interval.end for w in active], np.int64), now)
    return active[int(np.argmax(urgent))].page


def best(waits, horizon):
    """Return the most that can be captured, one page an instant, by trying everything."""
    pages = sorted({w.page for w in waits})
    return max(
        sum(
            any(w.interval.start <= now <= w.interval.end and page == w.page for now, page in enumerate(plan))
            for w in waits
        )
        for plan in itertools.product(pages, repeat=horizon)
    )


@pytest.mark.parametrize("seed", range(40))
def test_the_earliest_deadline_first_is_best_for_single_pages(seed):
    """Proposition 1 of paper 001: one look an instant, intervals of one page apart from each other: none captures more."""
    chance = random.Random(seed)
    waits: list[Wait] = []
    horizon = 6
    for page in range(3):
        at = 0
        while at < horizon and len(waits) < 6:
            start = at + chance.randrange(3)
            end = min(start + chance.randrange(3), horizon - 1)
            if start <= end:
                waits.append(wait(page, start, end))
            at = end + 1

    assert best(waits, horizon) == serve(waits, horizon, earliest_deadline)


def test_where_intervals_of_a_page_overlap_it_is_not():
    """The counterexample of scheduling.md §2.2: a lone early deadline comes before a look that would serve two."""
    waits = [wait(1, 1, 2), wait(1, 1, 2), wait(2, 1, 1), wait(3, 2, 2), wait(3, 2, 2)]

    assert (3, 4) == (serve(waits, 3, earliest_deadline), best(waits, 3))


def test_urgency_grows_towards_the_end():
    """It is above 0, and largest for what is over."""
    ends = np.array([-5, 0, 1_000_000, 60_000_000], np.int64)

    assert list(urgency(ends, 0)) == sorted(urgency(ends, 0), reverse=True)
    assert 0 < urgency(ends, 0).min() <= urgency(ends, 0).max() <= 1
