"""Complex needs: polls of several pages that belong together, each in its time (001 §2.1;
scheduling §2.1).

A *wait* is an execution interval (EI) of a page, a *need* a complex execution interval (CEI):
groups of waits, of each of which so many must be captured. A poll of a page captures all its open
waits: one probe serves all. What is not captured when its interval ends is missed.

`ranks` decides the order. While all open waits can be served in time, the earliest deadline comes
first (S-EDF), which misses none. Otherwise a page ranks by the total value of polling it: Σ
w/(residual² · slack) over its open waits (scheduling §2.4, `lab.profiles.Aggregate`). The
demand bound decides between the two: the demand within h against the supply.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import Literal, NamedTuple

from tidings.model.interval import ExecutionInterval, Instant
from tidings.record import dataclass, replace


@dataclass(frozen=True, slots=True)
class Wait:
    """A page to be polled within an interval, both ends included; `captured_at` is when it was."""

    page: int
    interval: ExecutionInterval
    captured_at: Instant | None = None

    def capture(self, page: int, at: Instant) -> Wait:
        """Return the wait after a poll of a page."""
        is_hit = page == self.page and self.captured_at is None and self.interval.start <= at <= self.interval.end
        return replace(self, captured_at=at) if is_hit else self

    def is_open(self, now: Instant) -> bool:
        """Return whether a poll can still capture it."""
        return self.captured_at is None and now <= self.interval.end


@dataclass(frozen=True, slots=True)
class WaitGroup:
    """Waits of which `least` must be captured."""

    waits: tuple[Wait, ...]
    least: int

    @property
    def missing(self) -> int:
        """Return how many more must be captured."""
        return max(0, self.least - sum(wait.captured_at is not None for wait in self.waits))


@dataclass(frozen=True, slots=True)
class Need:
    """Waits that belong together."""

    groups: tuple[WaitGroup, ...]

    @property
    def waits(self) -> tuple[Wait, ...]:
        """Return all waits, group by group."""
        return tuple(wait for group in self.groups for wait in group.waits)

    @property
    def rank(self) -> int:
        """Return the number of captures that complete it (001 §2.1: the rank of a CEI)."""
        return sum(group.least for group in self.groups)

    @property
    def missing(self) -> int:
        """Return how many of them are still missing (MRSF's residual)."""
        return sum(group.missing for group in self.groups)

    def capture(self, page: int, at: Instant) -> Need:
        """Return the need after a poll of a page, which captures each of its open waits."""
        return Need(
            tuple(replace(group, waits=tuple(w.capture(page, at) for w in group.waits)) for group in self.groups)
        )

    def is_over(self, now: Instant) -> bool:
        """Return whether no poll at or after `now` can help it: it is complete, or the missing
        waits have expired.
        """
        return not any(True for _ in self.open_waits(now))

    def open_waits(self, now: Instant) -> Iterable[Wait]:
        """Yield the waits that may still be captured and are useful: those of incomplete groups."""
        for group in self.groups:
            if group.missing:
                yield from (wait for wait in group.waits if wait.is_open(now))

    @property
    def verdict(self) -> Literal["complete", "partial", "missed"]:
        """Return the result, once it is over."""
        if not self.missing:
            return "complete"
        return "partial" if any(wait.captured_at is not None for wait in self.waits) else "missed"


class Sought(NamedTuple):
    """A poll that is wanted now, for one wait: its deadline, the weight of its need, and how many
    captures the need still lacks (its residual).
    """

    page: int
    end: Instant
    weight: float = 1.0
    left: int = 1


class Supply(NamedTuple):
    """What can pay for polls, or what a host accepts: `saved` at once, and `rate` more per µs."""

    saved: float
    rate: float

    def by(self, time: float) -> float:
        """Return the supply within a time (µs)."""
        return self.saved + (self.rate * time if time > 0 else 0.0)


UNLIMITED = Supply(math.inf, 0.0)


def load(polls: Iterable[tuple[Instant, float]], now: Instant, supply: Supply) -> float:
    """Return the largest ratio of demand to supply of polls, as (deadline, cost), over all
    deadlines: above 1 some must be missed.

    A poll that is already late has to be served first and cannot be missed again.
    """
    most = asked = 0.0
    for end, cost in sorted(polls):
        asked += cost
        if end >= now:
            there = supply.by(end - now)
            most = max(most, asked / there if there > 0 else math.inf)
    return most


def ranks(
    sought: Iterable[Sought],
    now: Instant,
    *,
    budget: Supply = UNLIMITED,
    costs: Mapping[int, float] | None = None,
    hosts: Mapping[int, str] | None = None,
    supplies: Mapping[str, Supply] | None = None,
) -> dict[int, float]:
    """Return the rank of each wanted page, above 0 and at most 1: the highest is polled first.

    Pages that can all be served in time come before those of an overloaded host, by the
    earliest deadline. Ties go to it, then to the lower number.

    Args:
        sought: The wanted polls.
        now: The present (µs).
        budget: What all polls may cost.
        costs: The cost of a poll of each page, by default 1.
        hosts: The host of each page.
        supplies: What each host accepts.
    """
    waits: dict[int, list[Sought]] = {}
    for one in sought:
        waits.setdefault(one.page, []).append(one)
    ends = {page: min(wait.end for wait in some) for page, some in waits.items()}
    paid = {page: (costs or {}).get(page, 1.0) for page in waits}
    short = _short(ends, paid, now, budget, hosts or {}, supplies or {})

    def key(page: int) -> tuple[bool, float, Instant, int]:
        supply = short.get(page)
        worth = 0.0 if supply is None else _worth(waits[page], now, supply.rate) / paid[page]
        return supply is not None, -worth, ends[page], page

    ordered = sorted(waits, key=key)
    return {page: 1.0 - place / len(ordered) for place, page in enumerate(ordered)}


def _short(
    ends: Mapping[int, Instant],
    costs: Mapping[int, float],
    now: Instant,
    budget: Supply,
    hosts: Mapping[int, str],
    supplies: Mapping[str, Supply],
) -> dict[int, Supply]:
    """Return the overloaded supply of each page that depends on one: the budget before a host."""
    if load(((ends[page], costs[page]) for page in ends), now, budget) > 1:
        return dict.fromkeys(ends, budget)
    by_host: dict[str, list[int]] = {}
    for page in ends:
        if page in hosts and hosts[page] in supplies:
            by_host.setdefault(hosts[page], []).append(page)
    return {
        page: supplies[host]
        for host, pages in by_host.items()
        if load(((ends[page], 1.0) for page in pages), now, supplies[host]) > 1
        for page in pages
    }


def _worth(waits: Iterable[Sought], now: Instant, rate: float) -> float:
    """Return the aggregate value of a poll; slack is counted in polls that can be made until
    then.
    """
    return sum(w.weight / (max(w.left, 1) ** 2 * (1.0 + max(w.end - now, 0) * rate)) for w in waits)
