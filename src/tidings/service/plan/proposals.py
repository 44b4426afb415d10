"""Proposals: the policy's view of the pages fetched on change: their columns, what it learns, when
it would poll.

Only this module and `price` know the policy. Pages are in its population while a sentinel leaves
their rate to it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

from tidings.clock import HOUR, SECOND
from tidings.scheduling import index
from tidings.scheduling.learned import Learned, has_compared
from tidings.scheduling.policy import (
    NEVER,
    PRESENT,
    UNPOLLED,
    Floats,
    Ids,
    Instants,
    Observation,
    Policy,
    Population,
    Prices,
    Remembers,
    Signal,
)
from tidings.service.plan.worth import weight, worth
from tidings.service.sources.signals import find_updated
from tidings.service.watch.hints import DATES, UPDATED
from tidings.service.watch.page_schedule import bounds, is_on_change, retry_at

if TYPE_CHECKING:
    from tidings.model.interval import Duration, Instant
    from tidings.model.observed.unit import Unit
    from tidings.service.watch.hints import HintTracker
    from tidings.service.watch.watchlist import WatchedPage

RESTLESS: Final = HOUR
"""Shortest time between two polls of a page that differs at each poll, where its sentinels set
none.
"""


class Observed(NamedTuple):
    """What a good poll showed, as in `scheduling.policy.Observation`."""

    at: Instant
    changed: bool
    modified_at: Instant
    interrupted: bool
    changes: float


class Proposals:
    """The policy and its knowledge. `pages` is the watchlist's own table; `cost` returns the cost
    of a poll of a page, `code` the number of a host.

    `floor` is the shortest time between two polls of a page, `soonest` that between two on change
    where no sentinel sets a shorter one; `tracker` has the hints about pages.
    """

    def __init__(
        self,
        policy: Policy[Any],
        pages: Mapping[int, WatchedPage],
        *,
        floor: Duration,
        rng: np.random.Generator,
        cost: Callable[[WatchedPage], float],
        code: Callable[[str], int],
        soonest: Duration = 0,
        budget: float = math.inf,
        tracker: HintTracker | None = None,
    ) -> None:
        self.policy = policy
        self.state = policy.begin(Population({"id": np.empty(0, np.int64)}), rng)
        self.price = 0.0
        self.stretch = 1.0
        """by how much pages may wait longer than their sentinels say, because the budget cannot pay
        for more
        """
        self._pages = pages
        self._floor = floor
        self._soonest = soonest
        self._budget = budget
        self.cost = cost
        self._code = code
        self._hints = tracker
        self._weighs_hints = policy.reads >= index.HINTS
        self._observed: dict[int, Observed] = {}
        self._interrupted: set[int] = set()
        """pages that could not be polled for a while since their last good poll"""
        self._learned: set[int] = set()
        self._has_compared = False
        self._now: Instant = 0
        self.cost_beside = 0.0
        """the cost of one poll of each page of other planners"""

    @property
    def total_cost(self) -> float:
        """Return the cost of one poll of each page left to the policy."""
        return float(self.state.population["cost"].sum())

    @property
    def has_news(self) -> bool:
        """Return whether there are polls that the policy has not observed yet."""
        return bool(self._observed)

    def pass_time(self, now: Instant) -> None:
        """Advance the policy's time; an earlier instant is ignored."""
        if now > self._now > 0:
            self.state = self.policy.advance(self.state, now - self._now)
        self._now = max(now, self._now)

    def interrupt(self, page_ids: Iterable[int]) -> None:
        """Record that these pages could not be polled for a while: that time is not an interval of
        theirs.
        """
        self._interrupted.update(page_ids)

    def observe(self, page_id: int, unit: Unit) -> None:
        """Record the outcome of a poll: the policy observes only good ones."""
        if unit.poll is None:
            return
        if unit.poll.outcome not in {"new", "unchanged", "changed"}:
            self._interrupted.add(page_id)
            return
        changed, is_interrupted = unit.poll.text_changed, page_id in self._interrupted
        changes = self._judge(page_id, unit.at, changed=changed, is_interrupted=is_interrupted)
        self._observed[page_id] = Observed(
            unit.at, changed, self._find_last_change(page_id, unit), is_interrupted, changes
        )
        self._interrupted.discard(page_id)

    def take_compared(self) -> bool:
        """Return, once, whether polls have taught something of other pages: then all due times may
        differ.
        """
        compared, self._has_compared = self._has_compared, False
        return compared

    def _find_last_change(self, page_id: int, unit: Unit) -> Instant:
        """Return when a page last changed, if its host's dates have proved exact, else
        `UNPOLLED`.
        """
        page = self._pages.get(page_id)
        if unit.version is None or page is None or self._hints is None:
            return UNPOLLED
        for kind, dated in ((DATES, unit.version.modified_at), (UPDATED, find_updated(unit))):
            if dated is not None and self._hints.dates_are_exact(page.identity.host, kind):
                return min(dated, unit.at)
        return UNPOLLED

    def _judge(self, page_id: int, at: Instant, *, changed: bool, is_interrupted: bool) -> float:
        """Return how many changes a poll shows, given the hints before it; nan where no source
        covers the page, or nothing can be learned.
        """
        if self._hints is None or not self._hints.covers(page_id):
            return math.nan
        population: Population = self.state.population
        rows, _ = population.present([page_id])
        last = UNPOLLED if not rows.size else int(population["last_polled"][rows[0]])
        if not self._weighs_hints or is_interrupted or last == UNPOLLED or at < last:
            self._hints.pass_over(page_id)
            return math.nan
        rate = float(population["rate"][rows[0]])
        changes = self._hints.judge(page_id, at, gap=at - last, rate=rate, changed=changed)
        return math.nan if changes is None else changes

    def update_policy(self, here: Sequence[int], gone: Sequence[int], known: Callable[[int], bool]) -> None:
        """Update the policy with present pages, removed pages, and all polls observed since.

        `known` returns whether a page was there before.
        """
        observed, self._observed = self._observed, {}
        population: Population = self.state.population
        members = [i for i in here if is_on_change(self._pages[i])]
        out = [i for i in (*gone, *(i for i in here if not is_on_change(self._pages[i]))) if known(i)]
        seen = [i for i in observed if i in self._pages and is_on_change(self._pages[i])]
        was_here = dict(zip(seen, population.has(seen).tolist(), strict=True))
        if out:
            self.state = self.policy.on_update(self.state, out, {PRESENT: np.zeros(len(out), np.bool_)})
        self._teach([i for i in seen if was_here[i]], observed)  # before the columns, which a poll may have changed
        if members:
            columns = self._columns(members)
            if not population.has(members).all() or self._differs(members, columns):
                self.state = self.policy.on_update(self.state, members, columns)
        self._teach([i for i in seen if not was_here[i]], observed)
        self._interrupted.difference_update(gone)
        self._pass_hints()

    def _teach(self, seen: Sequence[int], observed: Mapping[int, Observed]) -> None:
        if not seen:
            return
        observation = Observation.of(*zip(*(observed[i] for i in seen), strict=True))
        self.pass_time(int(observation.at.max()))
        before, self.state = self.state, self.policy.on_poll(self.state, seen, observation)
        self._has_compared |= has_compared(before, self.state)
        self._learned.update(seen)

    def _pass_hints(self) -> None:
        """Pass the policy the hints it has not seen, as extra age of their pages."""
        if self._hints is None or not self._weighs_hints or not (unpassed := self._hints.list_unpassed()):
            return
        population: Population = self.state.population
        rows, here = population.present(ids := np.array(sorted(unpassed), dtype=np.int64))
        if not rows.size:
            return
        known = zip(
            ids[here].tolist(), population["rate"][rows].tolist(), population["last_polled"][rows].tolist(), strict=True
        )
        ages = [self._hints.extra_age(i, rate, since=max(last, 0)) for i, rate, last in known]
        self.state = self.policy.on_signal(self.state, ids[here], Signal("hints", np.array(ages, dtype=np.int64)))

    def dues(self, page_ids: Iterable[int]) -> dict[int, Instant]:
        """Return when the policy would poll those of these pages that are left to it."""
        left = [i for i in page_ids if is_on_change(self._pages[i])]
        return (
            dict(zip(left, self.policy.next_due(self.state, left, 0, self.price).tolist(), strict=True)) if left else {}
        )

    def due(self, page_id: int) -> Instant | None:
        """Return when the policy would poll a page, None if it never would."""
        due = int(self.policy.next_due(self.state, [page_id], 0, self.price)[0])
        return None if due == NEVER else due

    def bids(self, page_ids: Ids, now: Instant, price: float) -> Floats:
        """Return the policy's worth of a poll now per unit of cost, at a price; 0 for pages not
        left to it.
        """
        bids = np.zeros(len(page_ids))
        population: Population = self.state.population
        known = population.has(page_ids)
        if known.any():
            bids[known] = self.policy.bid(self.state, now, price, rows=population.rows(page_ids[known]))
        return bids

    def find_chances(self, page_ids: Sequence[int], days: Sequence[float]) -> dict[int, float]:
        """Return the probability that each page changes within so many days; pages that the policy
        does not know are left out, all if it learns no rates.
        """
        if not isinstance(self.policy, Learned):
            return {}
        ids = np.array(page_ids, dtype=np.int64)
        known = self.state.population.has(ids)
        chances = self.policy.chances(self.state, ids[known], np.array(days)[known])
        return dict(zip(ids[known].tolist(), chances.tolist(), strict=True))

    def get_last_polled(self, page_ids: Ids) -> Instants:
        """Return the last good poll of pages, as the policy knows; 0 for unknown pages."""
        population: Population = self.state.population
        rows, known = population.present(page_ids)
        last = np.zeros(len(page_ids), np.int64)
        last[known] = np.maximum(population["last_polled"][rows], 0)
        return last

    def get_added_at(self, page_ids: Ids) -> Instants:
        """Return when pages were added; 0 for pages the policy does not know."""
        rows, known = self.state.population.present(page_ids)
        added = np.zeros(len(page_ids), np.int64)
        added[known] = self.state.population["added"][rows]
        return added

    def recall(self, memories: Mapping[int, Mapping[str, Any]]) -> list[int]:
        """Restore the policy's memory after a restart; return the pages it knows again."""
        known = {i: dict(m) for i, m in memories.items() if self.state.population.has([i])[0]}
        if not known or not isinstance(self.policy, Remembers):
            return []
        self.state = self.policy.recall(self.state, known)
        return list(known)

    def memories(self) -> dict[int, dict[str, Any]]:
        """Return what the policy has learned since the last call, by page, as plain JSON."""
        learned, self._learned = self._learned, set()
        known = [i for i in sorted(learned) if self.state.population.has([i])[0]]
        return {i: memory for i in known if (memory := self.memory(i)) is not None}

    def owe(self, page_ids: Iterable[int]) -> None:
        """Mark what was learned of pages as not stored, so that it is returned again."""
        self._learned.update(page_ids)

    def memory(self, page_id: int) -> dict[str, Any] | None:
        """Return the policy's memory of a page, None if it has none; where polls have a price,
        `period` (s) is the page's wait at the present price.
        """
        if not isinstance(self.policy, Remembers):
            return None
        known = self.policy.remember(self.state, page_id)
        if isinstance(self.policy, Prices) and (due := self.due(page_id)) and "period" in known:
            last = int(self.get_last_polled(np.array([page_id]))[0])
            known = {**known, "period": max(due - last, 0) / SECOND}
        return known

    def _differs(self, members: list[int], columns: Mapping[str, Any]) -> bool:
        population: Population = self.state.population
        rows = population.rows(members)
        return any(
            (population[name][rows] != values).any() for name, values in columns.items() if name != "last_polled"
        )

    def _shortest(self, page: WatchedPage, low: Duration, high: Duration) -> Duration:
        """Return the shortest time between two polls of a page, within its sentinels' bounds (0:
        they leave it open).

        A page that differs at each poll gets at most its even share of the budget: its content does
        not show how often it changes.
        """
        if low or page.state.saturation.since is None:
            return low or min(self._soonest, high)
        even = (self.total_cost + self.cost_beside) / self._budget if self._budget > 0 else 0.0
        return min(max(self._soonest, RESTLESS, round(min(even, NEVER))), high)

    def _columns(self, members: list[int]) -> dict[str, Any]:
        pages = [self._pages[i] for i in members]
        limits = [bounds(page, self._floor) for page in pages]
        worths = [worth(page) for page in pages]
        return {
            "host": np.array([self._code(p.identity.host) for p in pages], np.int64),
            "cost": np.array([self.cost(p) for p in pages]),
            "importance": np.array([weight(p) for p in pages]),
            "urgency_kind": np.array([w.urgency_kind for w in worths], np.int8),
            "urgency_scale": np.array([w.urgency_scale for w in worths], np.int64),
            "life_kind": np.array([w.life_kind for w in worths], np.int8),
            "life_scale": np.array([w.life_scale for w in worths], np.int64),
            "added": np.array(
                [min((s.owner.row.created_at for s in p.subscriptions.values()), default=0) for p in pages], np.int64
            ),
            "last_polled": np.array(
                [UNPOLLED if p.state.checked_at is None else p.state.checked_at for p in pages], np.int64
            ),
            "not_before": np.array([UNPOLLED if (at := retry_at(p)) is None else at for p in pages], np.int64),
            "shortest": np.array([self._shortest(p, *each) for p, each in zip(pages, limits, strict=True)], np.int64),
            "longest": np.array([min(round(high * self.stretch), NEVER) for _, high in limits], np.int64),
            **(
                {}
                if self._hints is None or not self._weighs_hints
                else {"unannounced": np.array([self._hints.estimate_unannounced(i) for i in members])}
            ),
        }
