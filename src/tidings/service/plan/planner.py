"""Plan which pages are polled now, and when the next one is.

Four kinds of demand meet here: requested polls; polls with a deadline (`needs`: earliest deadline
first while all can be met, else those that serve most); ticks of fixed intervals, by lateness; and
the policy's bids for pages fetched on change (`proposals`). `next_poll` computes when a page is
due, `price` the price at which the policy bids, `choose` which due pages are polled; `page_table`
holds it all as arrays.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from tidings.clock import SECOND
from tidings.model.watch.sentinel import WHOLE
from tidings.scheduling.policy import NEVER, Policy
from tidings.service.plan.choose import Chooser, Limits
from tidings.service.plan.next_poll import Dues, has_expectations, list_expected
from tidings.service.plan.page_table import PageTable
from tidings.service.plan.pricing import Pricing
from tidings.service.plan.proposals import Proposals
from tidings.service.watch.page_schedule import Needs, budget_class, find_promised_interval, is_on_change, open_share

if TYPE_CHECKING:
    from tidings.fetching.politeness import HostGate
    from tidings.model.interval import Duration, Instant
    from tidings.model.observed.unit import Grant, Unit
    from tidings.service.watch.hints import HintTracker
    from tidings.service.watch.watchlist import WatchedPage

EXPECTED = "expected"
"""owner of the deadlines of expected updates"""
OVERDUE: Duration = SECOND
"""A page due for less than this has not been missed."""
FILLED_EVERY: Duration = 60 * SECOND
AT_ONCE = 1024
"""Pages rescheduled per tick when something changes for all of them."""


class DuePoll(NamedTuple):
    """A planned poll: when it is due, its page and host, its cost, the budget that pays, and the
    time since the page's last poll (µs).
    """

    at: Instant
    page_id: int
    host: str
    cost: float
    budget: str
    gap: Duration


class Planner:
    """The due times of all watched pages, as arrays. `pages` is the watchlist's own mapping, only
    read. The policy's knowledge and price are exposed: `proposals`, `pricing`.

    `heed` is the longest freshness claim that is respected, `spreads` whether due times that
    coincide are spread. Without `second_polls` no page is polled again to separate noise from
    changes. A rendered page costs `render_cost`, and at most `render_places` of them are in flight.
    `classes` are the budget classes, the most generous first, with what each can save up. `budget`
    is the cost of all polls per µs, `burst` what it can save up, `soonest` the shortest time
    between two polls on change where no sentinel sets a shorter one. Without `tracker` there are no
    hints, and no date is trusted.
    """

    def __init__(
        self,
        policy: Policy[Any],
        pages: Mapping[int, WatchedPage],
        *,
        floor: Duration,
        host_connections: int,
        rng: np.random.Generator,
        heed: Duration = 0,
        spreads: bool = False,
        render_cost: float = 1.0,
        render_places: int = 1,
        needs: Needs | None = None,
        tracker: HintTracker | None = None,
        second_polls: bool = True,
        classes: Mapping[str, float] | None = None,
        budget: float = float("inf"),
        burst: float = float("inf"),
        soonest: Duration = 0,
    ) -> None:
        self._pages = pages
        self._burst = burst
        self._floor = floor
        self._render_cost = render_cost
        self._needs = needs or Needs()
        self._classes = dict(classes or {})
        self._class_names = (WHOLE, *self._classes)
        self._table = PageTable()
        self._dues = Dues(self._needs, floor=floor, heed=heed, spreads=spreads, second_polls=second_polls)
        self.proposals = Proposals(
            policy,
            pages,
            floor=floor,
            rng=rng,
            cost=lambda page: self.cost(page, self.budget(page)),
            code=self._table.code,
            soonest=soonest,
            budget=budget,
            tracker=tracker,
        )
        self.pricing = Pricing(self.proposals, self._table, pages, budget)
        self._preferred: set[int] = set()
        self._chooser = Chooser(
            self._table,
            pages,
            self.proposals,
            self._dues,
            self._needs,
            classes=self._classes,
            host_connections=host_connections,
            render_places=render_places,
            budget=budget,
            preferred=self._preferred,
        )
        self.planners = 1
        """how many planners share the budget"""
        self._fills_at: Instant = 0
        self._filled: set[int] = set()
        """pages polled below the price"""
        self._stale: set[int] = set()
        self._asked: set[int] = set()
        self._new: set[int] = set()
        """pages that came since and were never polled"""
        self._waiting: list[int] = []
        """pages whose due time is outdated: another price, other hosts"""

    def touch(self, page_ids: Iterable[int]) -> None:
        """Mark pages as changed, added or removed."""
        self._stale.update(page_ids)

    def observe(self, unit: Unit) -> None:
        """Record the outcome of a poll: the policy learns from good polls only; the page may be
        chosen again.
        """
        if unit.page is None:
            return
        page_id = unit.page.page_id
        self.release(page_id)
        if unit.poll is None:
            if not unit.comparisons:
                self._dues.note_served(page_id)
            return
        self._preferred.discard(page_id)
        self._dues.note_poll(page_id, unit)
        self.proposals.observe(page_id, unit)
        if (row := self._table.get(page_id)) is not None:
            cost = max(float(self._table.cost[row]), float(unit.poll.requests))
            self.pricing.note_spent(cost, below_price=page_id in self._filled)
        self._filled.discard(page_id)

    def interrupt(self, host: str) -> None:
        """Record that a host is paused: that time is not an interval of its pages."""
        self.proposals.interrupt(self._table.of_host(host))

    def catch_up(self, now: Instant) -> None:
        """Spread pages that fell due during a pause of the service, if they are many."""
        self._refresh()
        table = self._table
        rows = np.flatnonzero((table.due <= now - OVERDUE) & ~table.forced & ~table.busy)
        missed = [(self._pages[int(table.ids[row])], int(table.due[row])) for row in rows]
        self.touch(self._dues.catch_up(missed, now, pages=len(table)))

    def take_new(self) -> set[int]:
        """Return the pages that came since the last call and had never been polled: of these, an
        import may know more than the policy.
        """
        new, self._new = self._new, set()
        return new

    def recall(self, memories: Mapping[int, Mapping[str, Any]]) -> None:
        """Restore the policy's memory of pages after a restart or an import."""
        self._refresh()
        self.touch(self.proposals.recall(memories))

    def recall_price(self, memory: Mapping[str, Any], age: Duration) -> None:
        """Restore prices that `dump_prices` returned `age` ago, after a restart."""
        self.pricing.recall(memory, age)

    def dump_prices(self) -> dict[str, Any] | None:
        """Return the current price and trim as plain JSON, to store over a restart; None while the
        budget does not bind.
        """
        return self.pricing.memory()

    def memories(self) -> dict[int, dict[str, Any]]:
        """Return what the policy has learned since the last call, by page, as plain JSON."""
        return self.proposals.memories()

    def set_class(self, name: str, burst: float) -> None:
        """Let a class pay from now on that saves up so much."""
        if name not in self._classes:
            self._class_names = (*self._class_names, name)
            self._chooser.add_class(name)
        self._classes[name] = burst

    @property
    def has_classes(self) -> bool:
        """Say whether there are budgets within that of all polls."""
        return bool(self._classes)

    def force(self, page_id: int) -> None:
        """Poll a page now, whatever its schedule, floor or back-off."""
        if (row := self._table.get(page_id)) is not None:
            self._table.forced[row] = True
            return
        self._asked.add(page_id)  # it may be new
        self.touch((page_id,))

    def prefer(self, page_ids: Iterable[int]) -> None:
        """Let pages be polled before all that only bid, once they are due; for one poll."""
        self._preferred.update(page_ids)

    def unforce(self, page_id: int) -> None:
        """Undo `force`."""
        self._asked.discard(page_id)
        if (row := self._table.get(page_id)) is not None:
            self._table.forced[row] = False

    def reserve(self, page_id: int) -> bool:
        """Reserve a page; return False if it is reserved already."""
        return self._table.reserve(page_id)

    def is_busy(self, page_id: int) -> bool:
        """Return whether a page is reserved."""
        row = self._table.get(page_id)
        return row is not None and bool(self._table.busy[row])

    def release(self, page_id: int) -> None:
        """Release a page."""
        if self._table.release(page_id):
            self.touch((page_id,))

    def hold(self, page_id: int, until: Instant) -> None:
        """Release a page and pause it until `until`, after a failure that was not its fault."""
        self._dues.hold(page_id, until)
        self.release(page_id)

    def get_hold_end(self, page_id: int) -> Instant:
        """Return until when a page is held, 0 if it is not."""
        return self._dues.get_hold_end(page_id)

    def poll_again(self, page_id: int, at: Instant) -> None:
        """Restore the second poll of a page that was pending when the service stopped."""
        self._dues.poll_again(page_id, at)
        self.touch((page_id,))

    def choose(
        self,
        now: Instant,
        gate: HostGate,
        *,
        tokens: float,
        limit: int,
        only: Collection[int] | None = None,
        class_tokens: Mapping[str, float] | None = None,
        empty_at: Instant = 0,
        spare: float = 0.0,
    ) -> list[Grant]:
        """Return the grants of this tick; their pages are reserved.

        Args:
            now: The present (µs).
            gate: The limits of hosts.
            tokens: What the budget may spend now.
            limit: Most polls to begin.
            only: The only pages that may be chosen; None for all.
            class_tokens: What each class may spend.
            empty_at: When the budget was last empty (µs).
            spare: What is saved beyond half of the budget's capacity; if it `fills`, that is spent
                on the highest bids below the price.
        """
        self._refresh(now)
        limits = Limits(tokens, limit, class_tokens or {})
        grants = self._chooser.due(now, gate, limits, only=only, empty_at=empty_at)
        if only is None and self.fills(now):
            spare = min(spare, tokens) - sum(grant.cost for grant in grants)
            grants += self._fill(now, gate, Limits(spare, limit - len(grants), limits.class_tokens))
        return grants

    def fills(self, now: Instant) -> bool:
        """Return whether it is time to spend spare budget: only where it binds, or pages would be
        polled more often than their pace.
        """
        return self.pricing.binds and now >= self._fills_at

    def _fill(self, now: Instant, gate: HostGate, limits: Limits) -> list[Grant]:
        self._fills_at = now + FILLED_EVERY
        if limits.tokens <= 0:
            return []
        filled = self._chooser.spare(now, gate, limits)
        self._filled.update(grant.page_id for grant in filled)
        if len(filled) >= limits.polls:
            self._fills_at = now
        return filled

    def cost(self, page: WatchedPage, budget: str = WHOLE) -> float:
        """Return the cost of a poll of a page to the budget, at most what this and its class can
        save up: a higher cost could never be paid, and all other pages would wait for it.

        A page that leads elsewhere needs two requests; one whose budget did not suffice the last
        times, as many more.
        """
        if page.identity.render:
            cost = self._render_cost
        elif page.state.lacks_budget:
            cost = 1.0 + page.state.failures
        else:
            cost = 1.0 + (page.state.final_url not in {"", page.identity.url})
        return min(cost, self._burst, self._classes.get(budget, cost))

    def budget(self, page: WatchedPage) -> str:
        """Return the budget class that pays for a page's polls."""
        return budget_class(page, tuple(self._classes)) if self._classes else WHOLE

    def wanting(self, now: Instant) -> dict[str, float]:
        """Return, for each class with pages that are due and not reserved, the cost of the most
        expensive one.
        """
        rows = self._table.ready(now)
        wanting: dict[str, float] = {}
        for number, cost in zip(self._table.class_number[rows].tolist(), self._table.cost[rows].tolist(), strict=True):
            if number:
                name = self._class_names[number]
                wanting[name] = max(wanting.get(name, cost), cost)
        return wanting

    def due_pages(self, now: Instant) -> set[int]:
        """Return the pages that are due now, requested or by schedule."""
        self._refresh(now)
        return set(self._table.ids[self._table.ready(now)].tolist())

    def next_due(self, now: Instant, gate: HostGate) -> Instant | None:
        """Return when the next page is due or a host that is waited for is free; None: only work in
        flight can change anything.
        """
        self._refresh(now)
        table = self._table
        due = table.due[~table.busy]
        later = due[due > now]
        instants = [int(later.min())] if len(later) and int(later.min()) != NEVER else []
        waiting = table.host[table.ready(now)]
        instants += [at for name, _ in table.names_of(waiting) if (at := gate.ready_at(name)) > now]
        instants += [at for at in (self.pricing.next_at,) if at is not None]
        return min(instants, default=None)

    def list_coming(self, now: Instant, until: Instant) -> list[DuePoll]:
        """Return the polls that fall due from now on and before an instant or the next price, the
        soonest first; none while a page that is due waits.
        """
        self._refresh(now)
        table, price_at = self._table, self.pricing.next_at
        if len(table.ready(now)):
            return []
        until = until if price_at is None else min(until, price_at)
        rows = np.flatnonzero((table.due < until) & ~table.busy)
        found = []
        for row in rows[np.lexsort((table.ids[rows], table.due[rows]))].tolist():
            page = self._pages[int(table.ids[row])]
            at, last = int(table.due[row]), page.state.checked_at
            gap = 0 if last is None else at - last
            budget = self._class_names[table.class_number[row]]
            found.append(DuePoll(at, page.state.page_id, page.identity.host, float(table.cost[row]), budget, gap))
        return found

    def next_tick(self, now: Instant) -> Instant:
        """Return when the next tick of a fixed interval falls due after an instant; `NEVER` if none
        does.
        """
        ticks = self._table.tick
        return int(ticks.min(initial=NEVER, where=ticks > now))

    def has_tick(self, page_id: int) -> bool:
        """Return whether a page is due for a tick of a fixed interval, and not sooner for anything
        else.
        """
        row = self._table.get(page_id)
        return row is not None and bool(self._table.tick[row] <= self._table.due[row] < NEVER)

    def due_at(self, page_id: int) -> Instant | None:
        """Return when a page is due, None if it never is."""
        self._refresh()
        row = self._table.get(page_id)
        due = NEVER if row is None else int(self._table.due[row])
        return None if due == NEVER else due

    def pace(self, page_id: int) -> Duration | None:
        """Return the current interval of a page that is fetched on change, None if it is not, or
        unknown.
        """
        self._refresh()
        page = self._pages.get(page_id)
        if page is None or not is_on_change(page) or page.state.checked_at is None or page_id not in self._table:
            return None
        due = self.proposals.due(page_id)
        return None if due is None else max(due - page.state.checked_at, self._floor)

    def servable(self) -> list[int]:
        """Return the pages with a subscription that can be served from the newest stored version,
        without a poll.
        """
        self._refresh()
        return [page_id for page_id in self._dues.servable() if not self.is_busy(page_id)]

    def _refresh(self, now: Instant | None = None) -> None:
        """Apply what was recorded since; given an instant, also passed deadlines, ended hours, a
        new price.
        """
        if now is not None:
            self._needs.expire(now)
        self._renew()
        if now is None:
            return
        if self.pricing.renew(now) | self.proposals.take_compared():
            self._touch_proposed()
        if self._waiting:
            self.touch(self._waiting[:AT_ONCE])
            del self._waiting[:AT_ONCE]
            self._renew()
        if self._shut_out(now):
            self._renew()

    def _touch_proposed(self) -> None:
        """Reschedule all policy pages, a limited number per tick."""
        self._waiting = self.proposals.state.population.ids.tolist()

    def _renew(self) -> None:
        self.touch(self._needs.take_touched())
        if not self._stale and not self.proposals.has_news:
            return
        stale, self._stale = self._stale, set()
        gone = [i for i in stale if i not in self._pages]
        here = [i for i in stale if i in self._pages]
        self.proposals.update_policy(here, gone, self._table.__contains__)
        for page_id in gone:
            self._dues.forget(page_id)
            self._preferred.discard(page_id)
            self._needs.settle(EXPECTED, page_id, ())
            self._table.leave(page_id)
        for page_id in here:
            identity = self._pages[page_id].identity
            if self._table.enter(page_id, identity.host, rendered=bool(identity.render)):
                self.proposals.interrupt((page_id,))  # an earlier watch, if any, has not polled it since
                if self._pages[page_id].state.polled_at is None:
                    self._new.add(page_id)
        due = self.proposals.dues(here)
        for page_id in here:
            self._schedule(page_id, due.get(page_id, NEVER))
        for page_id in self._asked:
            if (row := self._table.get(page_id)) is not None:
                self._table.forced[row] = True
        self._asked.clear()

    def _schedule(self, page_id: int, on_change: Instant) -> None:
        """Store when a page is due; `on_change` is when its policy would poll."""
        page, row, table = self._pages[page_id], self._table[page_id], self._table
        budget = self.budget(page)
        table.class_number[row], table.cost[row] = self._class_names.index(budget), self.cost(page, budget)
        interval = find_promised_interval(page)
        table.promised[row], table.open_share[row] = (
            table.cost[row] / interval if interval else 0.0,
            open_share(page),
        )
        self._expect(page)
        due = self._dues.of(page, on_change, pages=len(table))
        table.due[row], table.tick[row], table.closes[row] = due

    def _shut_out(self, now: Instant) -> bool:
        """Postpone the due pages whose hours are over; return whether there are any."""
        table = self._table
        over = np.flatnonzero((table.closes <= now) & (table.due <= now) & ~table.busy)
        page_ids = table.ids[over].tolist()
        self._dues.shut(page_ids, now)
        self.touch(page_ids)
        return bool(page_ids)

    def _expect(self, page: WatchedPage) -> None:
        """Add a deadline soon after the page's expected change, if a sentinel asks for it."""
        page_id = page.state.page_id
        learned = self.proposals.memory(page_id) if has_expectations(page) else None
        self._needs.settle(EXPECTED, page_id, () if learned is None else list_expected(page, learned))
