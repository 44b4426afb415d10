"""Plan: which pages are looked at now, and when the next one is.

Four kinds of claims meet here: looks that somebody asked for, looks that are needed in time (`needs`: the earliest deadline first as long as
all can be made, else those that serve most), ticks of fixed intervals (arithmetic, served in order of lateness), and the bids of the policy
for pages that are fetched on change. The allocator takes the best feasible set under budget and host limits.
A page's due instant also waits for its floor, for its hours and for the end of a back-off, and where it is only fetched on change for
the end of the freshness that its server claims. Where `spreads` is set, dues that crowd are drawn apart (`spread`).
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from tidings.clock import SECOND
from tidings.model.interval import spell_duration
from tidings.model.unit import Grant
from tidings.model.weight import WHOLE
from tidings.scheduling import allocator
from tidings.scheduling.needs import Sought, Supply, ranks
from tidings.scheduling.policy import NEVER, PRESENT, UNPOLLED, Observation, Policy, Population, Prices, Remembers
from tidings.service.claims import (
    bounds,
    budget_class,
    closes,
    first_open,
    first_open_on_change,
    importance,
    importance_to,
    is_on_change,
    promised_interval,
    retry_at,
    tick_of,
    worth,
)
from tidings.service.expected import expected, has_expectations
from tidings.service.needs import Needs
from tidings.service.noise import SECOND_LOOK, second_at
from tidings.service.spread import Apart
from tidings.service.standing import is_fresh_until

if TYPE_CHECKING:
    from tidings.fetching.politeness import HostGate
    from tidings.model.interval import Duration, Instant
    from tidings.model.page import PageIdentity
    from tidings.model.unit import Unit
    from tidings.service.watchlist import WatchedPage

ASKED = 1e15
NEEDED = 4e14
TICKED = 1e14
"""Bids of looks that somebody asked for, of those that are needed in time (times 1 to 2 by their rank), and of ticks (plus seconds of
lateness): before whatever a policy bids."""
EXPECTED = "expected"
"""whose deadlines those of expected updates are"""
LARGEST = 4096
REPRICED_EVERY: Duration = 600 * SECOND
ANOTHER_PRICE = 1.1
"""Prices further apart than this factor are another price (bid_and_defaults §1)."""
OVERDUE: Duration = SECOND
"""Pages that are due for less than this have not been missed."""


class Observed(NamedTuple):
    """What a good look showed, as `scheduling.policy.Observation` has it."""

    at: Instant
    changed: bool
    modified_at: Instant
    interrupted: bool


class Planner:
    """The due instants of all watched pages, as arrays. `pages` is the watchlist's own table, read and never written.

    `heed` is the longest time for which a claim of freshness holds a page back, `spreads` whether dues that crowd are drawn apart.
    Without `second_looks` no page is looked at again to tell noise from news. A rendered page costs `render_cost`, and at most
    `render_places` of them are under way. `classes` are the budgets within the budget, the most generous first, with what each can save up.
    `budget` is what all polls may cost per µs.
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
        second_looks: bool = True,
        classes: Mapping[str, float] | None = None,
        budget: float = float("inf"),
    ) -> None:
        self._policy = policy
        self._budget = budget
        self._price = 0.0
        self._repriced_at: Instant = 0
        self._pages = pages
        self._floor = floor
        self._heed = heed
        self._host_connections = host_connections
        self._render_cost = render_cost
        self._render_places = render_places
        self._needs = needs or Needs()
        self._second_looks = second_looks
        self._needs.touched = self.touch
        self._classes = dict(classes or {})
        self._purses = (WHOLE, *self._classes)
        self._state = policy.begin(Population({"id": np.empty(0, np.int64)}), rng)
        self._row: dict[int, int] = {}
        self._hosts: dict[str, int] = {}
        self._ids = np.full(LARGEST, -1, np.int64)
        self._host = np.zeros(LARGEST, np.int64)
        self._due = np.full(LARGEST, NEVER, np.int64)
        self._tick = np.full(LARGEST, NEVER, np.int64)
        self._closes = np.full(LARGEST, NEVER, np.int64)
        self._busy = np.zeros(LARGEST, np.bool_)
        self._forced = np.zeros(LARGEST, np.bool_)
        self._cost = np.ones(LARGEST)
        self._rendered = np.zeros(LARGEST, np.bool_)
        self._purse = np.zeros(LARGEST, np.int64)
        """by which of `_purses` each page is paid for"""
        self._free_rows = list(range(LARGEST - 1, -1, -1))
        self._stale: set[int] = set()
        self._observed: dict[int, Observed] = {}
        self._interrupted: set[int] = set()
        """pages that nobody could look at for a while since their last good look"""
        self._apart = Apart(floor=floor, spreads=spreads)
        self._missed: dict[int, Instant] = {}
        """pages that fell due while nobody looked: not before that instant"""
        self._shut: dict[int, Instant] = {}
        """pages whose hours ended before they were looked at: not before they open after that instant"""
        self._moved: set[int] = set()
        """pages whose tick lies outside its hours and waits for their beginning"""
        self._eased: dict[int, Duration] = {}
        """by how much the freshness that its server claims holds a page back"""
        self._second: dict[int, Instant] = {}
        """pages that are to be looked at a second time, to tell noise from news: not before that instant"""
        self._learned: set[int] = set()
        self._asked: set[int] = set()
        self._servable: set[int] = set()
        self._held: dict[int, Instant] = {}
        self._leaving: set[int] = set()
        """pages that are watched no more while somebody still has them: if they come back meanwhile, they come back taken"""

    # -- what is told to it --------------------------------------------------------------------------------------------------------

    def touch(self, page_ids: Iterable[int]) -> None:
        """Say that these pages have changed, come or gone."""
        self._stale.update(page_ids)

    def observe(self, unit: Unit) -> None:
        """Hear how a poll ended: the policy learns from good looks only; the page may be chosen again."""
        if unit.page is None:
            return
        page_id = unit.page.page_id
        self.release(page_id)
        if unit.poll is None:
            return
        self._missed.pop(page_id, None)
        self._shut.pop(page_id, None)
        self._second.pop(page_id, None)
        if self._second_looks and (second := second_at(unit.estimates)):
            self._second[page_id] = max(second, unit.at + self._floor)
        if unit.poll.outcome not in {"new", "unchanged", "changed"}:
            self._interrupted.add(page_id)
            return
        modified_at = unit.version.modified_at if unit.version is not None else None
        told = UNPOLLED if modified_at is None else modified_at
        self._observed[page_id] = Observed(unit.at, unit.poll.text_changed, told, page_id in self._interrupted)
        self._interrupted.discard(page_id)

    def interrupt(self, host: str) -> None:
        """Hear that a host is left alone for a while: that time is not an interval of its pages."""
        code = self._hosts.get(host, -1)
        self._interrupted.update(self._ids[(self._host == code) & (self._ids >= 0)].tolist())

    def catch_up(self, now: Instant) -> None:
        """Draw apart what fell due while nobody looked, if it is a crowd."""
        self._refresh()
        rows = np.flatnonzero((self._due <= now - OVERDUE) & ~self._forced & ~self._busy & (self._ids >= 0))
        missed = [(self._pages[int(self._ids[row])], int(self._due[row])) for row in rows]
        self._missed.update(self._apart.catch_up(missed, now, pages=len(self._row)))
        self.touch(self._missed)

    def recall(self, memories: Mapping[int, Mapping[str, Any]]) -> None:
        """Give the policy back what it knew before a restart."""
        self._refresh()
        known = {i: dict(m) for i, m in memories.items() if i in self._row and is_on_change(self._pages[i])}
        if known and isinstance(self._policy, Remembers):
            self._state = self._policy.recall(self._state, known)
            self.touch(known)

    def memories(self) -> dict[int, dict[str, Any]]:
        """Return what the policy has learned since this was last asked, by page, as plain JSON."""
        learned, self._learned = self._learned, set()
        if not isinstance(self._policy, Remembers):
            return {}
        kept = [i for i in sorted(learned) if i in self._row and is_on_change(self._pages[i])]
        return {i: self._policy.remember(self._state, i) for i in kept}

    def force(self, page_id: int) -> None:
        """Look at a page now, whatever its schedule, floor or back-off."""
        self._asked.add(page_id)
        self.touch((page_id,))

    def unforce(self, page_id: int) -> None:
        """Take that back."""
        self._asked.discard(page_id)
        if page_id in self._row:
            self._forced[self._row[page_id]] = False

    def reserve(self, page_id: int) -> bool:
        """Take a page so that nothing else touches it; False if it is taken."""
        row = self._row.get(page_id)
        if row is None or self._busy[row]:
            return False
        self._busy[row] = True
        return True

    def is_busy(self, page_id: int) -> bool:
        """Say whether somebody has a page."""
        row = self._row.get(page_id)
        return row is not None and bool(self._busy[row])

    def release(self, page_id: int) -> None:
        """Give a page back."""
        self._leaving.discard(page_id)
        if page_id in self._row:
            self._busy[self._row[page_id]] = False
            self.touch((page_id,))

    def hold(self, page_id: int, until: Instant) -> None:
        """Give a page back and leave it alone until then: something went wrong that was not its fault."""
        self._held[page_id] = until
        self.release(page_id)

    # -- what is asked of it -------------------------------------------------------------------------------------------------------

    def choose(
        self,
        now: Instant,
        gate: HostGate,
        *,
        tokens: float,
        limit: int,
        only: Collection[int] | None = None,
        purses: Mapping[str, float] | None = None,
        empty_at: Instant = 0,
    ) -> list[Grant]:
        """Return the grants of this tick; their pages are reserved.

        `tokens` is what the budget may spend now, `purses` what each class may, and `empty_at` when the budget was last found empty; `only`
        leaves all other pages alone. A look that somebody asked for is granted whatever its class may spend: who charges it can say that it
        must wait.
        """
        self._refresh(now)
        rows = self._ready_rows(now)
        if only is not None:
            rows = rows[np.isin(self._ids[rows], list(only))]
        if not len(rows):
            return []
        ready = {code: gate.ready_at(name) <= now for name, code in self._names_of(self._host[rows])}
        needed = self._needed(now, gate, min(tokens, Supply(1.0, self._budget).by(now - empty_at)))
        rows = self._with_places(rows, now, ready, needed)
        rows = rows[np.argsort(self._ids[rows])]  # ties go by page, whatever came and went before, over restarts too
        hosts = self._host[rows]
        bids = self._bids(rows, now, needed)
        busy_hosts = self._host[self._busy]
        purse = np.where(self._forced[rows], 0, self._purse[rows])
        chosen = allocator.choose(
            np.concatenate([bids, np.zeros(len(busy_hosts))]),
            np.concatenate([self._cost[rows], np.ones(len(busy_hosts))]),
            np.concatenate([hosts, busy_hosts]),
            tokens,
            host_ready=ready,
            in_flight=np.concatenate([np.zeros(len(rows), np.bool_), np.ones(len(busy_hosts), np.bool_)]),
            host_connections=self._host_connections,
            limit=limit,
            purse=np.concatenate([purse, np.zeros(len(busy_hosts), np.int64)]) if purses else None,
            purses=np.array([math.inf, *(purses.get(name, math.inf) for name in self._classes)]) if purses else None,
        )
        grants = []
        for row in rows[chosen].tolist():
            page = self._pages[int(self._ids[row])]
            reason = self._reason(row, now)
            grants.append(
                Grant(
                    page_id=page.state.page_id,
                    host=page.identity.host,
                    cost=float(self._cost[row]),
                    reason=reason,
                    budget=self._purses[self._purse[row]],
                )
            )
            self._busy[row] = True
            self._forced[row] = False
        return grants

    def cost(self, identity: PageIdentity, budget: str = WHOLE) -> float:
        """Return what a poll of a page takes from the budget: of a class not more than that can save up."""
        return min(self._render_cost, self._classes.get(budget, self._render_cost)) if identity.render else 1.0

    def budget(self, page: WatchedPage) -> str:
        """Return the class that pays for the looks at a page."""
        return budget_class(page, tuple(self._classes)) if self._classes else WHOLE

    def wanting(self, now: Instant) -> dict[str, float]:
        """Return of each class with pages that are due and not taken what the dearest of them costs."""
        rows = self._ready_rows(now)
        wanting: dict[str, float] = {}
        for number, cost in zip(self._purse[rows].tolist(), self._cost[rows].tolist(), strict=True):
            if number:
                name = self._purses[number]
                wanting[name] = max(wanting.get(name, 0.0), cost)
        return wanting

    def due_pages(self, now: Instant) -> set[int]:
        """Return the pages that are due now, asked for or by schedule."""
        self._refresh(now)
        return set(self._ids[self._ready_rows(now)].tolist())

    def next_due(self, now: Instant, gate: HostGate) -> Instant | None:
        """Return when a page next comes due or a host that is waited for is free; None: only what is in flight can bring news."""
        self._refresh(now)
        free = ~self._busy & (self._ids >= 0)
        due = self._due[free]
        later = due[due > now]
        instants = [int(later.min())] if len(later) and int(later.min()) != NEVER else []
        waiting = self._ready_rows(now)
        instants += [at for name, _ in self._names_of(self._host[waiting]) if (at := gate.ready_at(name)) > now]
        return min(instants, default=None)

    def due_at(self, page_id: int) -> Instant | None:
        """Return when a page is due, None if it never is."""
        self._refresh()
        row = self._row.get(page_id)
        due = NEVER if row is None else int(self._due[row])
        return None if due == NEVER else due

    def pace(self, page_id: int) -> Duration | None:
        """Return the current interval of a page that is fetched on change, None if it is not or while nothing is known of it."""
        self._refresh()
        page = self._pages.get(page_id)
        if page is None or not is_on_change(page) or page.state.checked_at is None or page_id not in self._row:
            return None
        due = int(self._policy.next_due(self._state, [page_id], 0, self._price)[0])
        return max(due - page.state.checked_at, self._floor) if due != NEVER else None

    def servable(self) -> list[int]:
        """Return the pages with a subscription that can be served from the newest stored version, without a poll."""
        self._refresh()
        return [
            page_id for page_id in self._servable if not self._busy[self._row[page_id]] and page_id not in self._held
        ]

    # -- inside --------------------------------------------------------------------------------------------------------------------

    def _ready_rows(self, now: Instant) -> np.ndarray[Any, np.dtype[np.intp]]:
        return np.flatnonzero(((self._due <= now) | self._forced) & ~self._busy & (self._ids >= 0))

    def _with_places(
        self,
        rows: np.ndarray[Any, np.dtype[np.intp]],
        now: Instant,
        ready: Mapping[int, bool],
        needed: Mapping[int, float],
    ) -> np.ndarray[Any, np.dtype[np.intp]]:
        """Return the rows without the rendered pages for which the browser has no place now: they wait without a grant."""
        rendered = rows[self._rendered[rows]]
        if not len(rendered):
            return rows
        free = max(0, self._render_places - int((self._busy & self._rendered).sum()))
        could = rendered[[ready.get(code, True) for code in self._host[rendered].tolist()]]
        best = could[np.argsort(-self._bids(could, now, needed), kind="stable")][:free]
        return np.sort(np.concatenate([rows[~self._rendered[rows]], best]))

    def _reason(self, row: int, now: Instant) -> str:
        """Return why a page is looked at."""
        if self._forced[row]:
            return "asked for"
        if (needed := self._needs.most_urgent(int(self._ids[row]), now)) is not None:
            return needed.reason(now)
        if self._tick[row] <= now:
            return "interval, moved to where its hours begin" if int(self._ids[row]) in self._moved else "interval"
        if int(self._ids[row]) in self._second:
            return SECOND_LOOK
        eased = self._eased.get(int(self._ids[row]))
        if eased is None:
            return "on change"
        return (
            f"on change, {spell_duration(-(-eased // SECOND) * SECOND)} later since its server said that it stays fresh"
        )

    def _names_of(self, codes: np.ndarray[Any, np.dtype[np.int64]]) -> list[tuple[str, int]]:
        wanted = set(codes.tolist())
        if len(wanted) * 4 > len(self._hosts):
            return [(name, code) for name, code in self._hosts.items() if code in wanted]
        names = {code: name for name, code in self._hosts.items() if code in wanted}
        return [(names[code], code) for code in sorted(wanted)]

    def _needed(self, now: Instant, gate: HostGate, saved: float) -> dict[int, float]:
        """Return the ranks of the pages that are needed in time now; `saved` is what the budget holds at most."""
        sought = [
            Sought(d.page_id, d.interval.end, importance_to(self._pages[d.page_id], d.sentinel_id), d.left)
            for d in self._needs.begun(now)
            if d.page_id in self._row and d.page_id in self._pages
        ]
        if not sought:
            return {}
        hosts = {one.page: self._pages[one.page].identity.host for one in sought}
        gaps = {host: gate.gap(host) for host in hosts.values()}
        return ranks(
            sought,
            now,
            budget=Supply(saved, self._budget),
            costs={page: float(self._cost[self._row[page]]) for page in hosts},
            hosts=hosts,
            supplies={host: Supply(1.0, 1.0 / gap) for host, gap in gaps.items() if gap},
        )

    def _bids(
        self, rows: np.ndarray[Any, np.dtype[np.intp]], now: Instant, needed: Mapping[int, float]
    ) -> np.ndarray[Any, np.dtype[np.float64]]:
        bids = np.zeros(len(rows))
        ids = self._ids[rows]
        population: Population = self._state.population
        known = population.has(ids)
        if known.any():
            bids[known] = self._policy.bid(self._state, now, self._price, rows=population.rows(ids[known]))
        late = self._tick[rows] <= now
        bids[late] = TICKED + (now - np.maximum(self._tick[rows][late], 0)) / SECOND
        if needed:
            rank = np.array([needed.get(page, 0.0) for page in ids.tolist()])
            bids = np.where(rank > 0, NEEDED * (1.0 + rank), bids)
        bids[self._forced[rows]] = ASKED
        return np.maximum(bids, 1e-9)

    def _refresh(self, now: Instant | None = None) -> None:
        if now is not None:
            self._needs.expire(now)
        self._renew()
        if now is not None and self._reprice(now):
            self._renew()
        if now is not None and self._shut_out(now):
            self._renew()

    def _reprice(self, now: Instant) -> bool:
        """Find the price anew, every ten minutes; say whether it is another, so that pages are due at other instants (bid_and_defaults §2)."""
        if not isinstance(self._policy, Prices) or now < self._repriced_at:
            return False
        self._repriced_at = now + REPRICED_EVERY
        price = self._policy.price(self._state, max(self._budget - self._promised(), 0.0))
        if abs(math.log(max(price, 1e-300) / max(self._price, 1e-300))) <= math.log(ANOTHER_PRICE):
            return False
        self._price = price
        self.touch(page_id for page_id in self._row if is_on_change(self._pages[page_id]))
        return True

    def _promised(self) -> float:
        """Return what the looks at fixed intervals cost per µs: they come first, whatever the price."""
        return sum(
            float(self._cost[row]) / interval
            for page_id, row in self._row.items()
            if (interval := promised_interval(self._pages[page_id])) is not None
        )

    def _renew(self) -> None:
        if not self._stale and not self._observed:
            return
        stale, observed = self._stale, self._observed
        self._stale, self._observed = set(), {}
        gone = [i for i in stale if i not in self._pages]
        kept = [i for i in stale if i in self._pages]
        self._tell_policy(kept, gone, observed)
        for page_id in gone:
            self._drop(page_id)
        for page_id in kept:
            self._place(page_id)
        on_change = [i for i in kept if is_on_change(self._pages[i])]
        due = (
            dict(zip(on_change, self._policy.next_due(self._state, on_change, 0, self._price).tolist(), strict=True))
            if on_change
            else {}
        )
        for page_id in kept:
            self._schedule(page_id, due.get(page_id, NEVER))
        for page_id in self._asked & self._row.keys():
            self._forced[self._row[page_id]] = True
        self._asked.clear()

    def _shut_out(self, now: Instant) -> bool:
        """Put off the pages that are due and whose hours are over; say whether there are any."""
        over = np.flatnonzero((self._closes <= now) & (self._due <= now) & ~self._busy & (self._ids >= 0))
        page_ids = self._ids[over].tolist()
        self._shut.update(dict.fromkeys(page_ids, now))
        self.touch(page_ids)
        return bool(page_ids)

    def _tell_policy(self, kept: list[int], gone: list[int], observed: Mapping[int, Observed]) -> None:
        population: Population = self._state.population
        members = [i for i in kept if is_on_change(self._pages[i])]
        out = [i for i in (*gone, *(i for i in kept if not is_on_change(self._pages[i]))) if i in self._row]
        seen = [i for i in observed if i in self._pages and is_on_change(self._pages[i])]
        if out:
            self._state = self._policy.on_update(self._state, out, {PRESENT: np.zeros(len(out), np.bool_)})
        if members:
            columns = self._columns(members)
            if not population.has(members).all() or self._differs(members, columns):
                self._state = self._policy.on_update(self._state, members, columns)
        if seen:
            told = Observation.of(*zip(*(observed[i] for i in seen), strict=True))
            self._state = self._policy.on_poll(self._state, seen, told)
            self._learned.update(seen)

    def _differs(self, members: list[int], columns: Mapping[str, Any]) -> bool:
        population: Population = self._state.population
        rows = population.rows(members)
        return any(
            (population[name][rows] != values).any() for name, values in columns.items() if name != "last_polled"
        )

    def _columns(self, members: list[int]) -> dict[str, Any]:
        pages = [self._pages[i] for i in members]
        limits = [bounds(page, self._floor) for page in pages]
        worths = [worth(page) for page in pages]
        return {
            "host": np.array([self._code(p.identity.host) for p in pages], np.int64),
            "cost": np.array([self.cost(p.identity, self.budget(p)) for p in pages]),
            "importance": np.array([importance(p) for p in pages]),
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
            "shortest": np.array([low for low, _ in limits], np.int64),
            "longest": np.array([high for _, high in limits], np.int64),
        }

    def _code(self, host: str) -> int:
        return self._hosts.setdefault(host, len(self._hosts))

    def _place(self, page_id: int) -> None:
        if page_id in self._row:
            return
        if not self._free_rows:
            self._grow()
        row = self._free_rows.pop()
        self._row[page_id] = row
        self._ids[row] = page_id
        identity = self._pages[page_id].identity
        self._host[row] = self._code(identity.host)
        self._rendered[row] = bool(identity.render)
        self._busy[row] = page_id in self._leaving
        self._forced[row] = False
        self._interrupted.add(page_id)  # who looked at it before, if anybody did, has not looked since

    def _grow(self) -> None:
        size = len(self._ids)
        self._ids = np.concatenate([self._ids, np.full(size, -1, np.int64)])
        self._host = np.concatenate([self._host, np.zeros(size, np.int64)])
        self._cost = np.concatenate([self._cost, np.ones(size)])
        self._rendered = np.concatenate([self._rendered, np.zeros(size, np.bool_)])
        self._purse = np.concatenate([self._purse, np.zeros(size, np.int64)])
        self._due = np.concatenate([self._due, np.full(size, NEVER, np.int64)])
        self._tick = np.concatenate([self._tick, np.full(size, NEVER, np.int64)])
        self._closes = np.concatenate([self._closes, np.full(size, NEVER, np.int64)])
        self._busy = np.concatenate([self._busy, np.zeros(size, np.bool_)])
        self._forced = np.concatenate([self._forced, np.zeros(size, np.bool_)])
        self._free_rows = list(range(2 * size - 1, size - 1, -1))

    def _drop(self, page_id: int) -> None:
        self._servable.discard(page_id)
        for kept in (self._held, self._missed, self._eased, self._shut, self._second):
            kept.pop(page_id, None)
        self._interrupted.discard(page_id)
        self._moved.discard(page_id)
        self._needs.settle(EXPECTED, page_id, ())
        self._apart.leave(page_id)
        row = self._row.pop(page_id, None)
        if row is not None:
            if self._busy[row]:
                self._leaving.add(page_id)
            self._ids[row] = -1
            self._due[row] = self._tick[row] = self._closes[row] = NEVER
            self._busy[row] = self._forced[row] = False
            self._free_rows.append(row)

    def _schedule(self, page_id: int, on_change: Instant) -> None:
        page = self._pages[page_id]
        row = self._row[page_id]
        budget = self.budget(page)
        self._purse[row], self._cost[row] = self._purses.index(budget), self.cost(page.identity, budget)
        tick = tick_of(page, self._floor)
        state = page.state
        on_change = first_open_on_change(page, self._ease(page, on_change, tick.at))
        due = self._apart.due(page, tick, on_change, pages=len(self._row), is_eased=page_id in self._eased)
        retry = retry_at(page)
        if retry is not None and state.health != "error":
            due = retry  # a doubt is cleared up before the next tick
        if due != NEVER:
            due = max(due, retry or 0, self._held.get(page_id, 0), self._missed.get(page_id, 0))
            due = max(due, (state.polled_at or 0) + self._floor if state.polled_at is not None else 0)
            due = first_open(page, max(due, self._shut.get(page_id, due)))
        self._tick[row] = tick.at
        due = self._due[row] = self._sooner(page, due, retry)
        self._closes[row] = closes(page, due) if due != NEVER else NEVER
        self._expect(page)
        if (needed := self._needed_at(page, retry)) < due:
            self._due[row], self._closes[row] = needed, NEVER
        (self._moved.add if tick.is_moved else self._moved.discard)(page_id)
        (self._servable.add if tick.servable else self._servable.discard)(page_id)

    def _sooner(self, page: WatchedPage, due: Instant, retry: Instant | None) -> Instant:
        """Return when a page is due if it is to be looked at a second time: in its hours and soon, or not at all."""
        page_id = page.state.page_id
        second = self._second.get(page_id)
        if second is None:
            return due
        if retry is not None or page_id in self._held or second >= due or first_open(page, second) != second:
            del self._second[page_id]
            return due
        return second

    def _expect(self, page: WatchedPage) -> None:
        """Need a look soon after the page is expected to change, if a sentinel asks for it."""
        page_id = page.state.page_id
        if has_expectations(page) and isinstance(self._policy, Remembers):
            learned = self._policy.remember(self._state, page_id)
            self._needs.settle(EXPECTED, page_id, expected(page, learned))
        else:
            self._needs.settle(EXPECTED, page_id, ())

    def _needed_at(self, page: WatchedPage, retry: Instant | None) -> Instant:
        """Return when a page is to be looked at for those that need it in time: its floor and back-off hold, its hours are theirs."""
        state = page.state
        begins = self._needs.begins(state.page_id)
        if begins is None:
            return NEVER
        rests_until = 0 if state.polled_at is None else state.polled_at + self._floor
        return max(begins, retry or 0, rests_until, self._held.get(state.page_id, 0))

    def _ease(self, page: WatchedPage, on_change: Instant, tick: Instant) -> Instant:
        """Return when a page is due on change, not before the end of the freshness that its server claims (trust.md P-6).

        A hint only: it holds back no tick, no first look and no look that somebody asked for, and no bound that a sentinel named.
        """
        self._eased.pop(page.state.page_id, None)
        if not 0 < on_change < min(tick, NEVER) or page.state.checked_at is None:
            return on_change
        fresh = is_fresh_until(page.state, most=min(self._heed, bounds(page, self._floor)[1]))
        if fresh <= on_change:
            return on_change
        self._eased[page.state.page_id] = fresh - on_change
        return fresh
