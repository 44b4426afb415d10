"""A planner on a manual clock with a bucket, and pages that change at given instants: polls take no
time.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from tidings.clock import DAY, HOUR, MINUTE, SECOND, ManualClock
from tidings.fetching import address
from tidings.fetching.politeness import HostGate
from tidings.language import parser
from tidings.model.observed.page import PageState
from tidings.model.observed.poll_reason import Why
from tidings.model.observed.unit import Grant, PollOutcome, PollRecord, Unit
from tidings.model.watch.sentinel import Sentinel
from tidings.scheduling.budget import TokenBucket
from tidings.scheduling.learned import Learned
from tidings.scheduling.price.policy import Price
from tidings.service.plan.planner import Planner
from tidings.service.watch.cursors import ticks_of
from tidings.service.watch.watchlist import Subscription, WatchedPage, WatchedSentinel
from tidings.storage.watches.sentinels import SentinelRow
from tidings.storage.watches.subscriptions import SubscriptionRow


def make_watched(page_id: int, clauses: str = "", *, host: str = "", at: int = 0) -> WatchedPage:
    """Return a page that a sentinel with these clauses watches; it is not checked yet."""
    url = f"http://{host or f'h{page_id}'}.example/{page_id}"
    (sentinel,) = parser.parse(f"Create Sentinel s{page_id} Using {url} Monitor all words {clauses}").statements
    assert isinstance(sentinel, Sentinel)
    row = SentinelRow(page_id, sentinel.name, "enabled", "", 1, "", None, None, at, at, None, None, (), 1)
    sub = SubscriptionRow(page_id, page_id, page_id, "", 1, 0, (), None, None, active=True)
    held = WatchedPage(address.identify(url), PageState(page_id=page_id))
    held.subscriptions[page_id] = Subscription(sub, WatchedSentinel(row, sentinel, {}))
    return held


class GivenRates:
    """Knows the changes a day of each host, by its number, and learns nothing."""

    def __init__(self, rates: list[float]) -> None:
        self._rates = np.array(rates)

    def begin(self, hosts: Any) -> Any:
        return hosts

    def rates(self, known: Any, rows: Any = slice(None)) -> Any:
        return self._rates[known[rows]]

    def observe(self, known: Any, *polls: Any) -> Any:
        return known

    def fit(self, known: Any, now: int) -> None:
        return None

    def arrange(self, known: Any, rows: Any, hosts: Any) -> Any:
        return hosts

    def chances(self, known: Any, rows: Any, days: Any) -> Any:
        return -np.expm1(-self.rates(known, rows) * days)

    def remember(self, known: Any, row: int) -> dict[str, Any]:
        return {"shape": 1e6 * float(self._rates[known[row]]), "scale": 1e6}

    def recall(self, known: Any, rows: Any, memories: Any) -> Any:
        return known


class Service:
    """A planner with given rates, its bucket, and pages that change at instants; a poll takes no time, and so many `requests`. It steps as the
    monitor does.
    """

    def __init__(
        self,
        pages: list[WatchedPage],
        a_day: float,
        rates: list[float] | None = None,
        changes: Mapping[int, Sequence[int]] | None = None,
        **more: Any,
    ) -> None:
        self.clock = ManualClock()
        self.pages = {page.state.page_id: page for page in pages}
        self.changes = changes or {}
        self.polls: list[tuple[int, int, Why]] = []
        self.requests = more.pop("requests", 1)
        burst = more.pop("burst", a_day)
        self.bucket = TokenBucket(rate=a_day * SECOND / DAY, burst=burst, level=burst / 2, at=self.clock.now())
        self.gate = HostGate(gap_seconds=0, connections=1, clock=self.clock)
        policy = more.pop("policy", Learned(Price(pace=more.pop("pace", HOUR)), GivenRates(rates or [])))
        self.planner = Planner(
            policy,
            self.pages,
            floor=MINUTE,
            host_connections=1,
            rng=np.random.default_rng(0),
            budget=a_day / DAY,
            burst=max(burst, 1.0),  # as the settings require
            **more,
        )
        self.planner.touch(self.pages)

    def step(self) -> None:
        """Grant what is due and can be paid, poll, and note how it went."""
        now = self.clock.now()
        self.bucket = self.bucket.refill(now)
        spare = self.bucket.level - self.bucket.burst / 2 if self.planner.fills(now) else 0.0
        for grant in self.planner.choose(now, self.gate, tokens=self.bucket.level, limit=64, spare=spare):
            paid = self.bucket.take(grant.cost * self.requests, now=now)
            self.bucket = paid or replace(self.bucket, level=0.0)
            self.polls.append((now, grant.page_id, grant.reason.why))
            self.planner.observe(self._note_poll(grant, now))

    def run(self, duration: int, *, tick: int = MINUTE) -> None:
        """Let time pass."""
        for _ in range(duration // tick):
            self.step()
            self.clock.move_to(self.clock.now() + tick)

    def _note_poll(self, grant: Grant, now: int) -> Unit:
        page = self.pages[grant.page_id]
        before = page.state.checked_at
        changed = before is not None and self._has_changed(grant.page_id, before, now)
        page.state = replace(page.state, polled_at=now, checked_at=now, last_seq=1)
        (sub,) = page.subscriptions.values()
        sub.row = replace(sub.row, taken=(1,), next_tick=_next_tick(sub, now))
        outcome: PollOutcome = "new" if before is None else "changed" if changed else "unchanged"
        poll = PollRecord(
            poll_id=1,
            page_id=grant.page_id,
            finished_at=now,
            outcome=outcome,
            text_changed=changed,
            requests=self.requests,
        )
        return Unit(at=now, epoch=1, poll=poll, page=page.state)

    def _has_changed(self, page_id: int, after: int, until: int) -> bool:
        changes = self.changes.get(page_id, ())
        return bisect_right(changes, until) > bisect_right(changes, after)

    def of(self, page_id: int) -> list[int]:
        """Return when a page was polled."""
        return [at for at, page, _ in self.polls if page == page_id]


def _next_tick(sub: Subscription, now: int) -> int | None:
    return None if sub.interval is None else ticks_of(sub).next_tick(now)


def steady(rates: list[float], length: int, start: int) -> dict[int, list[int]]:
    """Return changes at steady intervals, so many a day of each page, by number."""
    return {
        page: [start + round(k * DAY / rate) for k in range(1, int(rate * length / DAY) + 1)]
        for page, rate in enumerate(rates, start=1)
    }
