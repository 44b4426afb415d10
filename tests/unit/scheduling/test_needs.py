"""Needs in time: captures, ranks, and which page is first (001 §2.1, §4.2.1)."""

import itertools
import random

import numpy as np
import pytest
from numpy.random import Generator

from tidings.model.interval import ExecutionInterval
from tidings.scheduling.needs import Need, Sought, Supply, Wait, WaitGroup, load, ranks


def wait(page, start, end):
    """Return a wait."""
    return Wait(page, ExecutionInterval(start, end))


def need(*waits, least=None):
    """Return a need of one group."""
    return Need((WaitGroup(waits, len(waits) if least is None else least),))


def test_poll_captures_all_open_waits_of_its_page():
    """Both ends of an interval belong to it; other pages and other times are not captured."""
    wanted = need(wait(1, 10, 20), wait(1, 20, 30), wait(1, 21, 30), wait(2, 10, 30))

    assert [20, 20, None, None] == [w.captured_at for w in wanted.capture(1, 20).waits]


def test_second_poll_changes_no_capture():
    """A captured wait keeps its instant."""
    assert need(wait(1, 0, 9)).capture(1, 3).capture(1, 4) == need(wait(1, 0, 9)).capture(1, 3)


@pytest.mark.parametrize(
    ("polls", "verdict", "missing"),
    [((), "missed", 2), ((1,), "partial", 1), ((1, 3), "complete", 0), ((1, 2, 3), "complete", 0)],
    ids=["none", "one", "two", "three"],
)
def test_group_is_complete_with_enough_captures(polls, verdict, missing):
    """Any two of three pages are enough; its rank is two."""
    wanted = need(wait(1, 0, 9), wait(2, 0, 9), wait(3, 0, 9), least=2)
    for page in polls:
        wanted = wanted.capture(page, 5)

    assert (2, missing, verdict) == (wanted.rank, wanted.missing, wanted.verdict)


def test_need_is_over_when_it_is_complete_or_too_late():
    """The last instant of an interval still counts."""
    wanted = need(wait(1, 0, 9), wait(2, 0, 5))

    assert not wanted.is_over(9)
    assert wanted.is_over(10)
    assert wanted.capture(1, 3).capture(2, 4).is_over(4)


def serve(waits, horizon, choose):
    """Return how many waits are captured if `choose` picks a page at each instant."""
    wanted = need(*waits)
    for now in range(horizon):
        active = [w for w in wanted.open_waits(now) if w.interval.start <= now]
        if active:
            wanted = wanted.capture(choose(active, now), now)
    return sum(w.captured_at is not None for w in wanted.waits)


def earliest_deadline(active, now):
    """Return the page of the most urgent wait."""
    by_rank = ranks([Sought(w.page, w.interval.end) for w in active], now)
    return max(by_rank, key=lambda page: by_rank[page])


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
def test_earliest_deadline_first_is_optimal_for_single_pages(seed):
    """Proposition 1 of paper 001: one poll an instant, and intervals of a page do not overlap."""
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


def test_earliest_deadline_first_is_not_optimal_for_overlaps():
    """In the counterexample of scheduling §2.2 a lone early deadline comes before a poll that would
    serve two.
    """
    waits = [wait(1, 1, 2), wait(1, 1, 2), wait(2, 1, 1), wait(3, 2, 2), wait(3, 2, 2)]

    assert (3, 4) == (serve(waits, 3, earliest_deadline), best(waits, 3))


ONE = Supply(1.0, 1.0)
"""One poll at once, and one more each µs."""


@pytest.mark.parametrize(
    ("ends", "expected"),
    [([], 0.0), ([10], 1.0), ([11, 12], 2 / 3), ([10, 10], 2.0), ([10, 12, 12], 1.0), ([5, 10], 2.0), ([5], 0.0)],
    ids=["none", "at once", "in time", "both at once", "just", "after a late one", "late"],
)
def test_load_is_that_of_the_fullest_interval(ends, expected):
    """A late need takes its place, and is not missed again."""
    assert expected == pytest.approx(load([(end, 1.0) for end in ends], 10, ONE))


def test_empty_budget_is_overloaded_by_any_poll():
    """A budget without limits is never overloaded."""
    polls = [(10**12, 1.0)] * 5

    assert [np.inf, 0.0] == [load(polls, 0, supply) for supply in (Supply(0.0, 0.0), Supply(np.inf, 0.0))]


SOUGHT = (Sought(1, 2), Sought(2, 3), Sought(2, 3), Sought(3, 2, weight=4.0), Sought(4, 3, weight=4.0, left=2))
"""Pages 1 and 3 are to be polled until 2, page 2 twice and page 4 until 3."""


def order(sought: tuple[Sought, ...], **more: object) -> list[int]:
    """Return the pages, the first to be polled first."""
    by_rank = ranks(sought, 0, **more)  # type: ignore[arg-type]
    return sorted(by_rank, key=lambda page: -by_rank[page])


def test_earliest_deadline_is_first_if_all_can_be_served():
    """Nothing else counts then; ties go to the lower number."""
    assert [1, 3, 2, 4] == order(SOUGHT) == order(SOUGHT, budget=Supply(1.0, 1.0))


def test_page_that_serves_most_is_first_under_overload():
    """Weights and sums count, and how little is missing: worth 4/2, 2/2.5, 1/2 and 4/4/2.5 at half
    a poll each µs, per unit of cost.
    """
    half = Supply(1.0, 0.5)

    assert [3, 2, 1, 4] == order(SOUGHT, budget=half)
    assert [2, 1, 4, 3] == order(SOUGHT, budget=half, costs={3: 10.0})


def test_overloaded_host_comes_after_others():
    """Page 4 has a host of its own and is surely served; of the other three, the one that serves
    most comes first.
    """
    hosts = {1: "a", 2: "a", 3: "a", 4: "b"}
    slow = {"a": Supply(1.0, 0.5), "b": Supply(1.0, 0.5)}

    assert [4, 3, 2, 1] == order(SOUGHT, hosts=hosts, supplies=slow)
    assert [1, 3, 2, 4] == order(SOUGHT, hosts=hosts, supplies={"a": Supply(1.0, 2.0)})


def test_ranks_are_above_0_and_at_most_1():
    """They are added to 1 by the bidder; without needs there are no ranks."""
    assert {1: 1.0, 3: 0.75, 2: 0.5, 4: 0.25} == ranks(SOUGHT, 0)
    assert {} == ranks([], 0)


def needs_of(chance: Generator, instants: int, a_turn: float) -> list[tuple[int, Need, float]]:
    """Return needs of 1 to 5 of 60 pages, some of which are in many needs, each open for 6 to 24
    instants: since when, what, weight.
    """
    preference = 1.0 / np.arange(1, 61)
    found = []
    for now in range(instants):
        for _ in range(chance.poisson(a_turn)):
            pages = chance.choice(
                60, size=chance.integers(1, 6), replace=False, p=preference / preference.sum()
            ).tolist()
            end = now + int(chance.integers(6, 25))
            found.append((now, need(*(wait(page, now, end) for page in pages)), float(chance.choice([0.25, 0.5, 1.0]))))
    return found


def measure_complete(needs: list[tuple[int, Need, float]], instants: int, choose: object) -> float:
    """Return the share of weight that is complete with one poll an instant."""
    alive, done, coming = [], 0.0, list(reversed(needs))
    for now in range(instants + 30):
        while coming and coming[-1][0] <= now:
            alive.append(coming.pop()[1:])
        alive = [(one, weight) for one, weight in alive if not one.is_over(now)]
        sought = [
            Sought(w.page, w.interval.end, weight, one.missing) for one, weight in alive for w in one.open_waits(now)
        ]
        if sought:
            page = choose(sought, now)  # type: ignore[operator]
            alive = [(one.capture(page, now), weight) for one, weight in alive]
            done += sum(weight for one, weight in alive if not one.missing)
    return done / sum(weight for *_, weight in needs)


def first_to_end(sought: list[Sought], now: int) -> int:
    """Return the page of the earliest deadline, whatever the load."""
    return min(sought, key=lambda one: (one.end, one.page)).page


def highest(sought: list[Sought], now: int) -> int:
    """Return the page of the highest rank if one poll an instant can be made."""
    by_rank = ranks(sought, now, budget=ONE)
    return max(by_rank, key=lambda page: by_rank[page])


@pytest.mark.parametrize(("a_turn", "gain"), [(0.15, 0.0), (0.5, 0.01), (0.8, 0.05), (1.2, 0.10)])
def test_ranks_complete_more_than_deadlines_under_overload(a_turn, gain):
    """The table has the gain in weight of all needs, mean of three seeds; without overload both are
    equal.
    """
    more = []
    for seed in range(3):
        needs = needs_of(np.random.default_rng(seed), 250, a_turn)
        more.append(measure_complete(needs, 250, highest) - measure_complete(needs, 250, first_to_end))

    assert gain <= np.mean(more)
