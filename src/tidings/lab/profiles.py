"""Run a ranking over CEIs as they become known, and find the optimum of small instances (001 §4;
scheduling §2.1, §2.4).

The rankings are those of the paper, and one that counts everything a probe would serve. Each scores
the capture of an open interval of a CEI now: higher is better. Ties go to the earlier deadline,
then to the CEI that was named first: without the deadlines Proposition 2 is false (scheduling
§2.1).
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence
from typing import NamedTuple, Protocol, TypeAlias

from tidings.record import dataclass, replace


class Interval(NamedTuple):
    """An execution interval (EI): the resource is to be probed at `start`, at `end` or between."""

    resource: int
    start: int
    end: int

    @property
    def length(self) -> int:
        """Return |I| in chronons."""
        return self.end - self.start + 1


@dataclass(frozen=True, slots=True)
class Cei:
    """A complex execution interval: intervals that are needed together.

    `needed` of them (default: all) capture it, and that is worth `weight`; an `additive` one is
    worth its share for each captured interval. It is known from `revealed` on, by default from the
    start of its first interval. `rank` is the rank of its profile, by default its own.
    """

    intervals: tuple[Interval, ...]
    weight: float = 1.0
    needed: int | None = None
    additive: bool = False
    revealed: int | None = None
    rank: int | None = None

    def __post_init__(self) -> None:
        if not self.intervals or any(interval.end < interval.start for interval in self.intervals):
            message = "a CEI has intervals, and none ends before it starts"
            raise ValueError(message)
        if not 1 <= self.threshold <= len(self.intervals) or self.weight <= 0:
            message = f"a CEI of {len(self.intervals)} intervals cannot need {self.needed} at a weight of {self.weight}"
            raise ValueError(message)

    @property
    def threshold(self) -> int:
        """Return how many intervals must be captured."""
        return len(self.intervals) if self.needed is None else self.needed

    @property
    def known_from(self) -> int:
        """Return the first instant at which a policy may know of it."""
        return min(interval.start for interval in self.intervals) if self.revealed is None else self.revealed

    def worth(self, captured: int) -> float:
        """Return its worth with `captured` intervals captured."""
        if self.additive:
            return self.weight * captured / len(self.intervals)
        return self.weight if captured >= self.threshold else 0.0


def cei(*intervals: tuple[int, int, int], **more: object) -> Cei:
    """Return the CEI with these (resource, start, end)."""
    return Cei(tuple(Interval(*interval) for interval in intervals), **more)  # type: ignore[arg-type]


@dataclass(slots=True)
class Standing:
    """The state of a CEI."""

    number: int
    cei: Cei
    open: list[Interval]
    captured: int = 0

    @property
    def residual(self) -> int:
        """Return how many intervals are still to be captured."""
        return max(0, self.cei.threshold - self.captured)

    @property
    def is_served(self) -> bool:
        """Return whether nothing more can be earned here."""
        return not self.open if self.cei.additive else self.residual == 0

    def is_alive(self, now: int) -> bool:
        """Return whether it can still be captured."""
        left = sum(interval.end >= now for interval in self.open)
        return left > 0 if self.cei.additive else left >= self.residual


class Ranking(Protocol):
    """Scores the capture of one open interval now."""

    @property
    def sums(self) -> bool:
        """Return whether a resource's score is the sum over its open intervals, or the best of
        them.
        """
        ...

    def score(self, standing: Standing, interval: Interval, now: int) -> float:
        """Return the score; the highest is probed first."""
        ...


@dataclass(frozen=True, slots=True)
class SEdf:
    """The earliest deadline first: f − T + 1 chronons left (S-EDF)."""

    sums: bool = False

    def score(self, standing: Standing, interval: Interval, now: int) -> float:  # noqa: ARG002 - one interval is all it sees
        """Return the chronons left, negated."""
        return -float(interval.end - now + 1)


@dataclass(frozen=True, slots=True)
class Mrsf:
    """The least number of intervals left first (MRSF). `by_profile` uses the rank of the profile,
    as printed, for |η|: it delays small CEIs of large profiles.
    """

    by_profile: bool = False
    sums: bool = False

    def score(self, standing: Standing, interval: Interval, now: int) -> float:  # noqa: ARG002 - independent of time
        """Return the number of intervals left, negated."""
        if self.by_profile and standing.cei.rank is not None:
            return -float(standing.cei.rank - standing.captured)
        return -float(standing.residual)


@dataclass(frozen=True, slots=True)
class MEdf:
    """The least time left in all its intervals first (M-EDF): Σ f' − max(T, s') + 1, future ones
    with their full length.
    """

    sums: bool = False

    def score(self, standing: Standing, interval: Interval, now: int) -> float:  # noqa: ARG002 - it sees the whole CEI
        """Return the chronons left, of the shortest intervals that suffice, negated."""
        left = sorted(other.end - max(now, other.start) + 1 for other in standing.open if other.end >= now)
        return -float(sum(left[: max(standing.residual, 1)]))


@dataclass(frozen=True, slots=True)
class Aggregate:
    """Everything a probe would serve: Σ w / (residual² · slack^urgency) over the open intervals of
    a resource (scheduling §2.4).

    `urgency` 1 is for overload; the higher, the closer to S-EDF, which wins if nearly all can be
    served.
    """

    urgency: float = 1.0
    sums: bool = True

    def score(self, standing: Standing, interval: Interval, now: int) -> float:
        """Return the contribution of one interval."""
        slack: float = float(interval.end - now + 1) ** self.urgency
        if standing.cei.additive:
            return standing.cei.weight / len(standing.cei.intervals) / slack
        return standing.cei.weight / (standing.residual**2 * slack)


def urgency_at(load: float) -> float:
    """Return the `urgency` of `Aggregate` at a load (requested intervals per available probe):
    higher for less load.
    """
    return 1.0 if load >= 1 else min(1.0 / max(load, 0.05), 8.0)


def by_resource(
    candidates: Iterable[tuple[Standing, Interval]], ranking: Ranking, now: int
) -> list[tuple[tuple[float, int, int], int]]:
    """Return resources with their sort keys, the best first."""
    best: dict[int, tuple[float, int, int]] = {}
    for standing, interval in candidates:
        score = ranking.score(standing, interval, now)
        found = (-score, interval.end, standing.number)
        known = best.get(interval.resource)
        if known is None:
            best[interval.resource] = found
        elif ranking.sums:
            best[interval.resource] = (known[0] + found[0], *min(known[1:], found[1:]))
        else:
            best[interval.resource] = min(known, found)
    return sorted((decides, resource) for resource, decides in best.items())


Budget: TypeAlias = int | Sequence[int]
"""Probes per instant: one number, or one for each instant from 1 on (C_1 … C_K)."""


@dataclass(frozen=True, slots=True)
class ProbeOutcome:
    """The probes at instants 1 … K, the captured CEIs, and their worth."""

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
    """A policy: a ranking; with `preemptive` False already probed CEIs come first; with
    `drops_dead` False even CEIs that can no longer be captured are served, as the paper does not
    exclude it. `heeds_load` lets `Aggregate` weigh deadlines by load.
    """

    ranking: Ranking
    preemptive: bool = True
    drops_dead: bool = True
    heeds_load: bool = False

    def run(self, ceis: Sequence[Cei], instants: int, budget: Budget) -> ProbeOutcome:
        """Return the result of this policy on CEIs revealed one by one. Raise ValueError for a
        budget of another length.
        """
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
        """Return the ranking, with deadlines weighed by the ratio of requested to available
        probes.
        """
        ranking = self._policy.ranking
        if not self._policy.heeds_load or not isinstance(ranking, Aggregate) or not candidates or not capacity:
            return ranking
        asked = {(interval.resource, interval.end): interval.length for _, interval in candidates}
        load = sum(1 / length for length in asked.values()) / capacity
        return replace(ranking, urgency=urgency_at(load))

    def outcome(self, probes: tuple[tuple[int, ...], ...]) -> ProbeOutcome:
        """Return the result."""
        return ProbeOutcome(
            probes,
            tuple(standing.captured >= standing.cei.threshold for standing in self._all),
            sum(standing.captured for standing in self._all),
            sum(standing.cei.worth(standing.captured) for standing in self._all),
        )


def capture(ceis: Sequence[Cei], probes: Sequence[Sequence[int]]) -> float:
    """Return the worth of any schedule of probes at instants 1, 2, …."""
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
    """Return the worth of the optimal schedule, by exhaustive search: for small instances."""
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
    """Return the probes of each instant from 1 on. Raise ValueError for a budget of another
    length.
    """
    if isinstance(budget, int):
        return [budget] * instants
    if len(budget) != instants:
        message = f"a budget by instant needs {instants} numbers, it has {len(budget)}"
        raise ValueError(message)
    return budget
