"""Running a ranking over CEIs as they become known, and the best there is on small instances (001 §4)."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import TypeAlias

from tidings.lab.profiles.cei import Cei, Interval
from tidings.lab.profiles.ranking import Aggregate, Ranking, Standing, by_resource, urgency_at
from tidings.record import dataclass, replace

Budget: TypeAlias = int | Sequence[int]
"""Probes an instant: one number, or one for each instant from 1 on (C_1 … C_K)."""


@dataclass(frozen=True, slots=True)
class ProbeOutcome:
    """What was probed at instants 1 … K, which CEIs were captured, and what that is worth."""

    probes: tuple[tuple[int, ...], ...]
    captured: tuple[bool, ...]
    intervals: int
    worth: float

    @property
    def completeness(self) -> float:
        """Return the share of CEIs that were captured (001 §2.2: gained completeness)."""
        return sum(self.captured) / len(self.captured)


@dataclass(frozen=True, slots=True)
class Online:
    """A policy: a ranking; with `preemptive` False CEIs that were probed already come before all others; with `drops_dead` False even CEIs
    that cannot be captured any more are served, as the paper never says not to. `heeds_load` lets `Aggregate` weigh deadlines by load.
    """

    ranking: Ranking
    preemptive: bool = True
    drops_dead: bool = True
    heeds_load: bool = False

    def run(self, ceis: Sequence[Cei], instants: int, budget: Budget) -> ProbeOutcome:
        """Return what this policy makes of CEIs it learns of one by one. Raises ValueError for a budget of another length."""
        run = _ProbeRun(self, ceis, by_instant(budget, instants))
        return run.outcome(tuple(run.step(now) for now in range(1, instants + 1)))


class _ProbeRun:
    def __init__(self, policy: Online, ceis: Sequence[Cei], budgets: Sequence[int]) -> None:
        self._policy = policy
        self._budgets = budgets
        self._all = [Standing(number, one, list(one.intervals)) for number, one in enumerate(ceis)]
        self._coming = sorted(self._all, key=lambda standing: standing.cei.known_from, reverse=True)
        self._live: list[Standing] = []

    def step(self, now: int) -> tuple[int, ...]:
        """Return the resources that are probed now."""
        while self._coming and self._coming[-1].cei.known_from <= now:
            self._live.append(self._coming.pop())
        self._live = [
            standing
            for standing in self._live
            if not standing.is_served
            and (standing.is_alive(now) or (not self._policy.drops_dead and _waits(standing, now)))
        ]
        candidates = [
            (standing, interval)
            for standing in self._live
            for interval in standing.open
            if interval.start <= now <= interval.end
        ]
        probed = self._choose(candidates, now)
        hit = set(probed)
        for standing, interval in candidates:
            if interval.resource in hit:
                standing.open.remove(interval)
                standing.captured += 1
        return probed

    def _choose(self, candidates: Sequence[tuple[Standing, Interval]], now: int) -> tuple[int, ...]:
        capacity = self._budgets[now - 1]
        ranking = self._ranking(candidates, capacity)
        tiers = [candidates]
        if not self._policy.preemptive:
            tiers = [[c for c in candidates if c[0].captured], [c for c in candidates if not c[0].captured]]
        chosen: list[int] = []
        for tier in tiers:
            for _, resource in by_resource(tier, ranking, now):
                if len(chosen) == capacity:
                    return tuple(chosen)
                if resource not in chosen:
                    chosen.append(resource)
        return tuple(chosen)

    def _ranking(self, candidates: Sequence[tuple[Standing, Interval]], capacity: int) -> Ranking:
        """Return the ranking, with deadlines weighed by how many probes the open intervals ask for in the time they have."""
        ranking = self._policy.ranking
        if not self._policy.heeds_load or not isinstance(ranking, Aggregate) or not candidates or not capacity:
            return ranking
        asked = {(interval.resource, interval.end): interval.length for _, interval in candidates}
        load = sum(1 / length for length in asked.values()) / capacity
        return replace(ranking, urgency=urgency_at(load))

    def outcome(self, probes: tuple[tuple[int, ...], ...]) -> ProbeOutcome:
        """Return the account."""
        return ProbeOutcome(
            probes,
            tuple(standing.captured >= standing.cei.threshold for standing in self._all),
            sum(standing.captured for standing in self._all),
            sum(standing.cei.worth(standing.captured) for standing in self._all),
        )


def capture(ceis: Sequence[Cei], probes: Sequence[Sequence[int]]) -> float:
    """Return what any schedule of probes at instants 1, 2, … is worth."""
    probed = {(resource, now) for now, resources in enumerate(probes, start=1) for resource in resources}
    total = 0.0
    for one in ceis:
        hit = sum(
            any((interval.resource, now) in probed for now in range(interval.start, interval.end + 1))
            for interval in one.intervals
        )
        total += one.worth(hit)
    return total


def best(ceis: Sequence[Cei], instants: int, budget: Budget) -> float:
    """Return the most that any schedule is worth, by trying all: for small instances."""
    budgets = by_instant(budget, instants)
    resources = [
        sorted({i.resource for one in ceis for i in one.intervals if i.start <= now <= i.end})
        for now in range(1, instants + 1)
    ]
    known: dict[tuple[int, frozenset[tuple[int, int]]], float] = {}

    def worth(hit: frozenset[tuple[int, int]]) -> float:
        return sum(
            one.worth(sum((n, place) in hit for place in range(len(one.intervals)))) for n, one in enumerate(ceis)
        )

    def go_on(now: int, hit: frozenset[tuple[int, int]]) -> float:
        if now > instants:
            return worth(hit)
        if (now, hit) not in known:
            here = resources[now - 1]
            chosen = itertools.combinations(here, min(budgets[now - 1], len(here)))
            known[now, hit] = max(go_on(now + 1, hit | _hits(ceis, now, set(probed))) for probed in chosen)
        return known[now, hit]

    return go_on(1, frozenset())


def _hits(ceis: Sequence[Cei], now: int, probed: set[int]) -> frozenset[tuple[int, int]]:
    return frozenset(
        (number, place)
        for number, one in enumerate(ceis)
        for place, i in enumerate(one.intervals)
        if i.resource in probed and i.start <= now <= i.end
    )


def _waits(standing: Standing, now: int) -> bool:
    return any(interval.end >= now for interval in standing.open)


def by_instant(budget: Budget, instants: int) -> Sequence[int]:
    """Return the probes of each instant from 1 on. Raises ValueError for a budget of another length."""
    if isinstance(budget, int):
        return [budget] * instants
    if len(budget) != instants:
        message = f"a budget by instant needs {instants} numbers, it has {len(budget)}"
        raise ValueError(message)
    return budget
