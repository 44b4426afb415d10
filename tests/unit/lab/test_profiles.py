"""The examples and propositions of the paper, compared with all schedules."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tidings.lab.profiles import (
    Aggregate,
    Cei,
    Interval,
    MEdf,
    Mrsf,
    Online,
    Ranking,
    SEdf,
    Standing,
    best,
    capture,
    cei,
    urgency_at,
)

RANKINGS: dict[str, Ranking] = {"S-EDF": SEdf(), "MRSF": Mrsf(), "M-EDF": MEdf(), "AGG": Aggregate()}


def overlaps_within_resources(ceis: Sequence[Cei]) -> bool:
    """Return whether two intervals of one resource overlap: then one probe may serve both, and
    Proposition 1 fails.
    """
    by_resource: dict[int, list[Interval]] = {}
    for complex_one in ceis:
        for interval in complex_one.intervals:
            by_resource.setdefault(interval.resource, []).append(interval)
    for intervals in by_resource.values():
        ordered = sorted(intervals, key=lambda interval: interval.start)
        if any(later.start <= earlier.end for earlier, later in itertools.pairwise(ordered)):
            return True
    return False


def instance(
    rng: np.random.Generator, *, apart: bool, most: int = 3, width: int = 3, instants: int = 6, ceis: int = 4
) -> list[Cei]:
    """Return random CEIs; with `apart`, no two intervals of one resource overlap."""
    made: list[Cei] = []
    fresh = 0
    while len(made) < ceis:
        intervals = []
        for _ in range(int(rng.integers(1, most + 1))):
            start = int(rng.integers(1, instants + 1))
            resource = int(rng.integers(0, 4))
            intervals.append(Interval(resource, start, min(start + int(rng.integers(0, width)), instants)))
        one = Cei(tuple(intervals))
        if apart and overlaps_within_resources([*made, one]):
            fresh += 1
            one = Cei(
                tuple(interval._replace(resource=100 + 10 * fresh + place) for place, interval in enumerate(intervals))
            )
        made.append(one)
    return made


def test_priorities_are_those_of_figure_4():
    """For four intervals, the first five chronons before its end, they are 5, 4 and 22."""
    one = cei((1, 1, 7), (2, 8, 13), (3, 10, 15), (4, 14, 18))
    standing = Standing(0, one, list(one.intervals))

    assert [-5, -4, -22] == [RANKINGS[name].score(standing, one.intervals[0], 3) for name in ("S-EDF", "MRSF", "M-EDF")]


def test_choices_are_those_of_figure_5():
    """S-EDF and MRSF continue with the CEI that is half captured, M-EDF leaves it."""
    first = cei((1, 1, 2), (2, 1, 2), (3, 1, 9), (4, 10, 23))
    second = cei((5, 1, 10), (6, 11, 15), (7, 16, 20))
    half = Standing(0, first, list(first.intervals[2:]), captured=2)
    whole = Standing(1, second, list(second.intervals))

    scores = {
        name: [-ranking.score(half, first.intervals[2], 5), -ranking.score(whole, second.intervals[0], 5)]
        for name, ranking in RANKINGS.items()
    }

    assert {"S-EDF": [5, 6], "MRSF": [2, 3], "M-EDF": [19, 16]} == {
        name: scores[name] for name in ("S-EDF", "MRSF", "M-EDF")
    }


def test_worked_instance_captures_two_of_four():
    """Every policy and the best capture two; they differ in the intervals that they spend on the
    others.
    """
    ceis = [cei((1, 1, 3), (2, 2, 4)), cei((2, 1, 2), (3, 3, 3), (1, 4, 5)), cei((3, 1, 1)), cei((4, 2, 3), (3, 4, 4))]
    outcomes = {name: Online(ranking).run(ceis, 5, 1) for name, ranking in RANKINGS.items()}

    assert {2} == {sum(outcome.captured) for outcome in outcomes.values()}
    assert 2 == best(ceis, 5, 1)
    assert [4, 3, 4] == [outcomes[name].intervals for name in ("S-EDF", "MRSF", "M-EDF")]


@given(st.integers(0, 2**32 - 1))
def test_proposition_1_holds_for_single_intervals(seed: int):
    """S-EDF is optimal for rank 1 without overlapping intervals of a resource."""
    ceis = instance(np.random.default_rng(seed), apart=True, most=1, ceis=5)

    assert best(ceis, 6, 1) == sum(Online(SEdf()).run(ceis, 6, 1).captured)


def test_proposition_1_fails_for_overlapping_intervals():
    """A probe that serves two intervals is worth more than the earlier deadline."""
    ceis = [cei((1, 1, 2)), cei((1, 1, 2)), cei((2, 1, 1)), cei((3, 2, 2)), cei((3, 2, 2))]

    assert overlaps_within_resources(ceis)
    assert 3 == sum(Online(SEdf()).run(ceis, 2, 1).captured)
    assert 4 == best(ceis, 2, 1)


@given(st.integers(0, 2**32 - 1))
def test_proposition_2_holds_with_the_earlier_deadline_for_ties(seed: int):
    """MRSF captures one in l of the best: l is the most chronons of the intervals of a CEI
    together.
    """
    ceis = instance(np.random.default_rng(seed), apart=True)
    longest = max(sum(interval.length for interval in one.intervals) for one in ceis)

    assert best(ceis, 6, 1) <= longest * sum(Online(Mrsf()).run(ceis, 6, 1).captured)


def test_proposition_2_fails_with_ties_by_number():
    """In this instance such ties capture nothing."""
    ceis = [cei((1, 3, 4), (0, 3, 3), (2, 4, 5)), cei((2, 2, 3), (1, 5, 6), (0, 5, 5))]

    assert 1 == best(ceis, 6, 1)
    assert 1 == sum(Online(Mrsf()).run(ceis, 6, 1).captured)


@given(st.integers(0, 2**32 - 1))
def test_proposition_3_holds_for_single_chronons(seed: int):
    """M-EDF is MRSF with the full length of future intervals, and |η| for the rank."""
    ceis = instance(np.random.default_rng(seed), apart=False, width=1)

    assert Online(Mrsf()).run(ceis, 6, 1).probes == Online(MEdf()).run(ceis, 6, 1).probes


@pytest.mark.parametrize("preemptive", [True, False], ids=["preemptive", "not preemptive"])
@pytest.mark.parametrize("name", RANKINGS)
@given(seed=st.integers(0, 2**32 - 1), budget=st.integers(0, 2))
@settings(max_examples=15)
def test_every_policy_keeps_its_budget_and_reports_its_worth(name: str, preemptive: bool, seed: int, budget: int):
    """It makes no more probes than allowed, none without use, and earns no more than the best."""
    ceis = instance(np.random.default_rng(seed), apart=False, ceis=3)
    outcome = Online(RANKINGS[name], preemptive=preemptive, heeds_load=True).run(ceis, 6, budget)

    assert all(len(probed) == len(set(probed)) <= budget for probed in outcome.probes)
    assert sum(outcome.captured) == outcome.worth <= capture(ceis, outcome.probes) <= best(ceis, 6, budget)


def test_begun_cei_comes_first_without_preemption():
    """A CEI that was probed goes on before a more urgent new one, unless the policy preempts."""
    ceis = [cei((1, 1, 1), (2, 2, 9)), cei((3, 2, 2), revealed=2)]

    assert ((1,), (3,)) == Online(SEdf()).run(ceis, 3, 1).probes[:2]
    assert ((1,), (2,)) == Online(SEdf(), preemptive=False).run(ceis, 3, 1).probes[:2]


def test_lost_cei_is_dropped():
    """It missed an interval that it needs; the paper to the letter would go on."""
    ceis = [cei((1, 1, 1), (2, 2, 2)), cei((3, 1, 1)), cei((4, 2, 3))]
    lost = Online(SEdf()).run(ceis, 2, 1)

    assert ((1,), (2,)) == lost.probes
    ceis = [cei((9, 1, 1)), cei((1, 1, 1), (2, 2, 2)), cei((4, 2, 3))]
    assert ((9,), (4,)) == Online(SEdf()).run(ceis, 2, 1).probes
    assert ((9,), (2,)) == Online(SEdf(), drops_dead=False).run(ceis, 2, 1).probes


def test_worth_of_a_cei_is_all_some_or_shares():
    """The CEI decides what it needs."""
    three = ((1, 1, 1), (2, 1, 1), (3, 2, 2))

    assert 0 == Online(Mrsf()).run([cei(*three)], 2, 1).worth
    assert 5 == Online(Mrsf()).run([cei(*three, needed=2, weight=5.0)], 2, 1).worth
    assert pytest.approx(2 / 3) == Online(Mrsf()).run([cei(*three, additive=True)], 2, 1).worth


def test_weights_decide_between_single_ceis():
    """With one probe, the heavier one is served."""
    ceis = [cei((1, 1, 1)), cei((2, 1, 1), weight=3.0)]

    assert ((2,),) == Online(Aggregate()).run(ceis, 1, 1).probes


def test_one_probe_serves_all_waiting_ceis():
    """A resource that three wait for is probed before an equally urgent one that one waits for."""
    ceis = [cei((1, 1, 2)), cei((2, 1, 2)), cei((2, 1, 2)), cei((2, 1, 2))]
    outcome = Online(Aggregate()).run(ceis, 1, 1)

    assert ((2,),) == outcome.probes
    assert 3 == outcome.worth


def test_deadlines_count_more_if_there_is_time():
    """Under full load the weight is 1."""
    assert 1 == urgency_at(3.0) == urgency_at(1.0)
    assert 2 == urgency_at(0.5)
    assert 8 == urgency_at(0.0)


@pytest.mark.parametrize(
    ("intervals", "more"),
    [((), {}), (((1, 2, 1),), {}), (((1, 1, 1),), {"needed": 2}), (((1, 1, 1),), {"weight": 0.0})],
    ids=["empty", "ends before it starts", "needs more than it has", "worth nothing"],
)
def test_invalid_cei_is_refused(intervals: tuple[tuple[int, int, int], ...], more: dict[str, float]):
    """The message says why."""
    with pytest.raises(ValueError, match="CEI"):
        cei(*intervals, **more)


def test_budget_by_instant_has_a_number_for_each():
    """They are C_1 … C_K."""
    ranking: Ranking = SEdf()

    assert ((), (1,)) == Online(ranking).run([cei((1, 1, 2))], 2, [0, 1]).probes
    with pytest.raises(ValueError, match="needs 3 numbers"):
        Online(ranking).run([cei((1, 1, 2))], 3, [0, 1])
