"""Policies on recorded changes: calibration split, runs under a budget, their worth, and the
optimum in hindsight.

A *series* is a page with the instants at which it was found changed. Its source polled it every
`step`: the true instants are up to a step earlier, so no policy may poll more often, and budgets
are shares of the sources' polls. Groups (sites, services) are split, moved in time and resampled as
wholes, because their pages change together. Instants are µs.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from tidings.model.interval import DAY, WEEK, Duration, Instant
from tidings.record import dataclass
from tidings.scheduling.ledger import Ledger, Polls, account, make_trace
from tidings.scheduling.policy import (
    NEVER,
    PRESENT,
    Column,
    Floats,
    Instants,
    Mask,
    Observation,
    Policy,
    Population,
    Prices,
    Rows,
    State,
)

REPRICED_EVERY: Final[Duration] = DAY // 2


@dataclass(frozen=True, slots=True, eq=False)
class Series:
    """A page of a group and of a kind, observed from `begin` to `end`: its changes, and its
    source's polling interval.
    """

    page: int
    group: int
    kind: str
    changes: Instants
    begin: Instant
    end: Instant
    step: Duration


def is_calibrated_on(group: int) -> bool:
    """Return whether a group belongs to the calibration half; the other half is reported. The same
    on every machine.
    """
    return bool(hashlib.blake2b(str(group).encode(), digest_size=1).digest()[0] & 1)


def windows(series: Sequence[Series], length: Duration, rng: np.random.Generator, *, least: Duration) -> list[Series]:
    """Return the groups moved onto one time line from 0 to `length`, each from a random place.

    A group is moved by whole weeks, so that hours of the week stay; one that was observed for less
    than `length` begins where it begins. Pages that are then observed for less than `least` are
    left out.

    Args:
        series: The observed pages.
        rng: The source of random numbers.
    """
    groups: dict[int, list[Series]] = {}
    for one in series:
        groups.setdefault(one.group, []).append(one)
    moved = []
    for members in groups.values():
        first, last = min(one.begin for one in members), max(one.end for one in members)
        weeks = max(0, (last - first - length) // WEEK)
        start = first // WEEK * WEEK + int(rng.integers(0, weeks + 1)) * WEEK
        moved += [part for one in members if (part := _part(one, start, length, least)) is not None]
    return moved


def _part(one: Series, start: Instant, length: Duration, least: Duration) -> Series | None:
    begin, end = max(0, one.begin - start), min(length, one.end - start)
    if end - begin < least:
        return None
    changes = one.changes - start
    return Series(one.page, one.group, one.kind, changes[(changes > begin) & (changes < end)], begin, end, one.step)


def replay(
    policy: Policy[Any],
    series: Sequence[Series],
    *,
    share: float,
    tick: Duration,
    rng: np.random.Generator,
    columns: Mapping[str, Column] | None = None,
    saves: bool = True,
    fills: bool = False,
) -> Polls:
    """Return the polls of a policy that may spend `share` of the sources' polls while their pages
    were observed.

    The first poll of each page is free. Polls cost 1 and are made at whole ticks, best bids first;
    up to a day's budget is saved, and it starts half full. A policy with a price gets the budget,
    and the savings beyond half of that, twice a day; without `saves` it does not, and the whole
    budget is spent at once on the highest bids (the papers' C polls an instant).

    Args:
        policy: The policy.
        series: The pages with their changes.
        share: The part of the sources' polls that it may spend.
        tick: The time between two choices (µs).
        rng: Its randomness.
        columns: Columns of the population, for all series.
        saves: Whether budget can be saved.
        fills: Whether savings beyond half a day are spent on the highest bids below the price.
    """
    run = _Replay(policy, series, share, rng, dict(columns or {}), saves=saves, fills=fills)
    for now in range(0, max(one.end for one in series), tick):
        run.step(now, tick)
    return run.polls()


def follow(
    policy: Policy[Any],
    series: Sequence[Series],
    *,
    shortest: Duration,
    rng: np.random.Generator,
    columns: Mapping[str, Column] | None = None,
) -> Polls:
    """Return the polls of an unlimited policy: each page is polled exactly when it is due, on its
    own clock, at its floor price.

    The first poll of each page is free. Pages are independent, so this does not suit policies that
    learn of one page from others.

    Args:
        policy: The policy.
        series: The pages with their changes.
        shortest: The least time between two polls of a page (µs).
        rng: Its randomness.
        columns: Columns of the population, for all series.
    """
    size = len(series)
    begin, end = (np.array([getattr(one, name) for one in series]) for name in ("begin", "end"))
    population = Population({"id": np.arange(size), "shortest": np.full(size, shortest), **(columns or {})})
    state: State = policy.begin(population, rng)
    state = policy.on_poll(state, np.arange(size), Observation.of(begin, np.zeros(size, dtype=np.bool_)))
    seen = np.zeros(size, dtype=np.int64)
    running = np.arange(size)
    polls: list[tuple[Instants, Rows]] = []
    while True:
        at = policy.next_due(state, running, 0, 0.0)
        running, at = running[at < end[running]], at[at < end[running]]
        if not len(running):
            break
        known = np.array(
            [series[page].changes.searchsorted(now, "right") for page, now in zip(running.tolist(), at, strict=True)]
        )
        state = policy.on_poll(state, running, Observation.of(at, known > seen[running]))
        seen[running] = known
        polls.append((at, running))
    none = np.zeros(0, dtype=np.int64)
    return Polls(
        np.concatenate([none, *(at for at, _ in polls)]),
        np.concatenate([none, *(pages for _, pages in polls)]),
        np.ones(sum(len(at) for at, _ in polls)),
    )


class _Replay:
    """The mutable state of one run. Pages are numbered by their places in the series."""

    def __init__(
        self,
        policy: Policy[Any],
        series: Sequence[Series],
        share: float,
        rng: np.random.Generator,
        columns: Mapping[str, Column],
        *,
        saves: bool,
        fills: bool,
    ) -> None:
        self._policy, self._series, self._saves, self._fills = policy, series, saves, fills
        self._begin = np.array([one.begin for one in series])
        self._end = np.array([one.end for one in series])
        step = np.array([one.step for one in series])
        self._flow = share / step
        self._columns = {"host": np.array([one.group for one in series]), "shortest": step, **columns}
        self._there = np.zeros(len(series), dtype=np.bool_)
        self._due = np.full(len(series), NEVER)
        self._next = np.array([one.changes[0] if len(one.changes) else NEVER for one in series])
        self._state: State = policy.begin(Population({"id": [], **{name: [] for name in self._columns}}), rng)
        self._rate = 0.0
        self._tokens = -1.0
        self._price, self._repriced = 0.0, 0
        self._at: list[Instants] = []
        self._page: list[Rows] = []

    def step(self, now: Instant, tick: Duration) -> None:
        """Process instant `now`."""
        self._come_and_go(now)
        burst = self._rate * DAY
        self._tokens = burst / 2 if self._tokens < 0 else min(burst, self._tokens + self._rate * tick)
        if self._saves and isinstance(self._policy, Prices) and now >= self._repriced:
            self._reprice(now)
        self._poll(now)

    def polls(self) -> Polls:
        """Return all charged polls."""
        none = np.zeros(0, dtype=np.int64)
        at, page = np.concatenate([none, *self._at]), np.concatenate([none, *self._page])
        return Polls(at, page, np.ones(len(at)))

    def _come_and_go(self, now: Instant) -> None:
        gone = np.flatnonzero(self._there & (self._end <= now))
        come = np.flatnonzero(~self._there & (self._begin <= now) & (self._end > now))
        if len(gone):
            self._state = self._policy.on_update(self._state, gone, {PRESENT: False})
            self._there[gone], self._due[gone] = False, NEVER
        if len(come):
            columns = {name: column[come] for name, column in self._columns.items()}
            self._state = self._policy.on_update(self._state, come, {**columns, "added": np.full(len(come), now)})
            self._there[come] = True
            self._record_seen(come, now)
        if len(gone) or len(come):
            self._rate = float(self._flow[self._there].sum())

    def _reprice(self, now: Instant) -> None:
        self._repriced = now + REPRICED_EVERY
        saved = self._tokens - self._rate * DAY / 2
        budget = max(self._rate + saved / DAY, self._rate / 10)
        assert isinstance(self._policy, Prices)  # noqa: S101 - only for the type checker: the caller has asked
        self._price = self._policy.market(self._state, budget).price
        here = np.flatnonzero(self._there)
        self._due[here] = self._policy.next_due(self._state, here, now, self._price)

    def _poll(self, now: Instant) -> None:
        ripe = np.flatnonzero(self._due <= now)
        if len(ripe) and self._tokens >= 1:
            bids = self._policy.bid(self._state, now, self._price, rows=self._state.population.rows(ripe))
            if len(idle := ripe[bids <= 0]):
                self._due[idle] = self._policy.next_due(self._state, idle, now, self._price)
            self._take(ripe, bids, int(self._tokens), now)
        spare = int(self._tokens - self._rate * DAY / 2)
        if self._fills and spare >= 1:
            here = np.flatnonzero(self._there)
            bids = self._policy.bid(self._state, now, 0.0, rows=self._state.population.rows(here))
            self._take(here, bids, spare, now)

    def _take(self, pages: Rows, bids: Floats, most: int, now: Instant) -> None:
        order = np.argsort(-bids, kind="stable")[:most]
        chosen = pages[order[bids[order] > 0]]
        if len(chosen):
            self._tokens -= len(chosen)
            self._at.append(np.full(len(chosen), now))
            self._page.append(chosen)
            self._record_seen(chosen, now)

    def _record_seen(self, pages: Rows, now: Instant) -> None:
        changed = self._next[pages] <= now
        self._state = self._policy.on_poll(self._state, pages, Observation.of(np.full(len(pages), now), changed))
        self._due[pages] = self._policy.next_due(self._state, pages, now, self._price)
        for page in pages[changed].tolist():
            changes = self._series[page].changes
            place = int(np.searchsorted(changes, now, side="right"))
            self._next[page] = changes[place] if place < len(changes) else NEVER


@dataclass(frozen=True, slots=True, eq=False)
class TraceOutcome:
    """What polls found: of each change its page (place in the series), its delay (µs), and whether
    a poll found it as the newest one.
    """

    page: NDArray[np.int64]
    delay: Instants
    alone: Mask
    spent: int
    counts: NDArray[np.int64]


def outcome(series: Sequence[Series], polls: Polls) -> TraceOutcome:
    """Return what polls found. A free last poll ends each series: delays are lower bounds there."""
    number = len(series)
    trace = make_trace(
        {place: one.changes for place, one in enumerate(series)}, start=0, end=max(one.end for one in series) + 1
    )
    last = np.array([one.end for one in series])
    together = Polls(
        np.concatenate([polls.at, last]),
        np.concatenate([polls.page, np.arange(number)]),
        np.ones(len(polls.at) + number),
    )
    ledger: Ledger = account(
        trace, together, known_since={place: one.begin for place, one in enumerate(series)}, gone_at={}
    )
    changes = np.concatenate([one.changes for one in series])
    found_at = changes + ledger.delay  # the ledger goes page by page, in the order of the trace
    newest = np.append((ledger.page[1:] != ledger.page[:-1]) | (found_at[1:] != found_at[:-1]), True)[: len(changes)]
    alone = newest & (found_at < last[ledger.page])
    return TraceOutcome(
        ledger.page, ledger.delay, alone, len(polls.at), np.bincount(ledger.page, minlength=number).astype(np.int64)
    )


def worth(delay: Instants, half_life: Duration) -> Floats:
    """Return the worth of changes at these delays: ½^(delay/half-life)."""
    return np.asarray(np.exp2(-delay / half_life))


def page_equal(found: TraceOutcome) -> Floats:
    """Return a weight for each change that gives all changed pages the same weight."""
    return np.asarray(1.0 / found.counts[found.page])


def quantile(values: NDArray[Any], weights: Floats, share: float) -> float:
    """Return the least value at or below which `share` of the weight lies; nan without weight."""
    order = np.argsort(values, kind="stable")
    total = np.cumsum(weights[order])
    if not len(total) or total[-1] <= 0:
        return float("nan")
    return float(values[order][np.searchsorted(total, share * total[-1] * (1 - 1e-12))])


def resamples(groups: NDArray[np.int64], times: int, rng: np.random.Generator) -> NDArray[np.int64]:
    """Return how often each group (numbered from 0) is drawn in each of `times` resamples of all
    groups, shape (times, groups).
    """
    number = int(groups.max()) + 1 if len(groups) else 0
    return np.asarray(rng.multinomial(number, np.full(number, 1 / number), size=times))


def interval(values: Floats) -> tuple[float, float]:
    """Return the middle 95 % of resampled figures."""
    low, high = np.nanquantile(values, [0.025, 0.975])
    return float(low), float(high)


def hindsight(one: Series, half_life: Duration, price: float) -> tuple[float, int]:
    """Return the most that a page can earn if each poll costs `price` and all changes are known in
    advance, and the number of polls.

    The best polls are at changes: an earlier poll that finds the same is worth more. The free poll
    at the end is counted.
    """
    times = one.changes / half_life
    size = len(times)
    if not size:
        return 0.0, 0
    end = one.end / half_life
    gathered = np.zeros(size + 1)  # F, at each change and at the start
    at = np.concatenate([[one.begin / half_life], times])
    best, polls = np.zeros(size + 1), np.zeros(size + 1, dtype=np.int64)
    for k in range(1, size + 1):
        gathered[k] = gathered[k - 1] * 2.0 ** (at[k - 1] - at[k]) + 1
        earned = best[:k] - np.exp2(at[:k] - at[k]) * gathered[:k]
        place = int(earned.argmax())
        best[k] = earned[place] + gathered[k] - price
        polls[k] = polls[place] + 1
    total = best + np.exp2(at[-1] - end) * gathered[-1] - np.exp2(at - end) * gathered
    place = int(total.argmax())
    return float(total[place]), int(polls[place])


def hindsight_bound(series: Sequence[Series], half_life: Duration, polls: float, *, rounds: int = 14) -> float:
    """Return an upper bound on what any schedule with so many polls earns: λ·polls + Σ V_i(λ), the
    least found by halving (0 ≤ λ ≤ 8).

    Args:
        series: The observed pages.
        half_life: How long after a change a report is worth half (µs).
        polls: The number of polls.
        rounds: How often the range of λ is halved.
    """
    low, high = 0.0, 8.0
    least = np.inf
    for _ in range(rounds):
        price = (low + high) / 2
        pairs = [hindsight(one, half_life, price) for one in series]
        least = min(least, price * polls + sum(value for value, _ in pairs))
        if sum(number for _, number in pairs) > polls:
            low = price
        else:
            high = price
    return float(least)
