"""Choose which due pages are polled now; with budget to spare, also pages that are nearly due."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping
from enum import IntEnum
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from tidings.clock import SECOND
from tidings.model.observed.poll_reason import PollReason, Why
from tidings.model.observed.unit import Grant
from tidings.model.watch.sentinel import WHOLE
from tidings.scheduling import allocator
from tidings.scheduling.needs import Sought, Supply, ranks
from tidings.scheduling.paced.turns import FIRST
from tidings.scheduling.policy import Floats, Ids, Mask, Rows
from tidings.scheduling.population import Instants
from tidings.service.watch.page_schedule import importance_to

if TYPE_CHECKING:
    from tidings.fetching.politeness import HostGate
    from tidings.model.interval import Instant
    from tidings.service.plan.next_poll import Dues
    from tidings.service.plan.page_table import PageTable
    from tidings.service.plan.proposals import Proposals
    from tidings.service.watch.page_schedule import Needs
    from tidings.service.watch.watchlist import WatchedPage

MOST_SPARE: Final = 1024
"""Most pages considered for a spare poll: those that have waited longest relative to their
interval.
"""


class Tier(IntEnum):
    """Priority before any bid: higher tiers are chosen first."""

    BID = 0
    """bids of the policy"""
    TICK = 1
    """ticks, by lateness, and second polls, which lose their worth later"""
    NEEDED = 2
    """polls with a deadline, by rank"""
    ASKED = 3
    """requested polls"""


class Limits(NamedTuple):
    """What may be spent at once: `tokens` of the budget of all polls, `class_tokens` of each class,
    at most `polls` polls.
    """

    tokens: float
    polls: int
    class_tokens: Mapping[str, float]


class Chooser:
    """Chooses among the rows of the table. `classes` are the budget classes; a browser has
    `render_places`; `preferred` pages come before all other bids of the policy.
    """

    def __init__(
        self,
        table: PageTable,
        pages: Mapping[int, WatchedPage],
        proposals: Proposals,
        dues: Dues,
        needs: Needs,
        *,
        classes: Collection[str],
        host_connections: int,
        render_places: int,
        budget: float,
        preferred: Collection[int] = (),
    ) -> None:
        self._table = table
        self._pages = pages
        self._proposals = proposals
        self._dues = dues
        self._needs = needs
        self._class_names = (WHOLE, *classes)
        self._host_connections = host_connections
        self._render_places = render_places
        self._budget = budget
        self._preferred = preferred

    def add_class(self, name: str) -> None:
        """Let a further class pay."""
        self._class_names = (*self._class_names, name)

    def due(
        self,
        now: Instant,
        gate: HostGate,
        limits: Limits,
        *,
        only: Collection[int] | None = None,
        empty_at: Instant = 0,
    ) -> list[Grant]:
        """Return the grants of the best due pages, which are reserved.

        Args:
            now: The present (µs).
            gate: The limits of hosts.
            limits: What may be spent, and on how many polls.
            only: The only pages that may be chosen; None for all.
            empty_at: When the budget was last empty (µs).
        """
        table = self._table
        rows = table.ready(now)
        if only is not None:
            rows = rows[np.fromiter((page_id in only for page_id in table.ids[rows].tolist()), np.bool_, len(rows))]
        if not len(rows):
            return []
        ready = self._ready(rows, now, gate)
        needed = self._rank_needed(now, gate, min(limits.tokens, Supply(1.0, self._budget).by(now - empty_at)))
        rows = self._with_places(rows, now, ready, needed)
        chosen = self._allocate(rows, *self._bids(rows, now, needed), ready, limits)
        return [self._grant(row, self._reason(row, now)) for row in chosen]

    def spare(self, now: Instant, gate: HostGate, limits: Limits) -> list[Grant]:
        """Return the grants of the highest bids below the price; their pages are reserved.

        Excludes pages that would not be polled by now under a non-binding budget (by their bid at
        the floor price), pages of hosts that others wait for or that are paused or closed now, and
        pages that wait for the browser.
        """
        table = self._table
        free = np.flatnonzero((table.due > now) & ~table.busy & (table.ids >= 0) & ~table.rendered)
        rows = self._longest_waiting(free[~np.isin(table.host[free], table.host[table.ready(now)])], now)
        bids = self._proposals.bids(table.ids[rows], now, 0.0)
        rows, bids = rows[(bids > 0) & (bids < FIRST)], bids[(bids > 0) & (bids < FIRST)]
        may = np.array([self._dues.may(self._pages[page], now) for page in table.ids[rows].tolist()], np.bool_)
        if not may.any():
            return []
        tiers = np.full(int(may.sum()), Tier.BID)
        chosen = self._allocate(rows[may], bids[may], tiers, self._ready(rows[may], now, gate), limits)
        return [self._grant(row, PollReason(Why.SPARE)) for row in chosen]

    def _longest_waiting(self, rows: Rows, now: Instant) -> Rows:
        if len(rows) <= MOST_SPARE:
            return rows
        last = self._proposals.get_last_polled(self._table.ids[rows])
        waited = (now - last) / np.maximum(self._table.due[rows] - last, 1)
        return np.sort(rows[np.argpartition(-waited, MOST_SPARE)[:MOST_SPARE]])

    def _ready(self, rows: Rows, now: Instant, gate: HostGate) -> dict[int, bool]:
        names = self._table.names_of(self._table.host[rows])
        return {code: gate.ready_at(name) <= now for name, code in names}

    def _allocate(self, rows: Rows, bids: Floats, tiers: Ids, ready: Mapping[int, bool], limits: Limits) -> list[int]:
        """Return the rows to poll now, best first. Ties go to the longest due, then by page, the
        same after a restart.

        A requested poll is chosen even if its class cannot pay; the charge then reports that it
        must wait.
        """
        table = self._table
        order = np.lexsort((table.ids[rows], table.due[rows]))
        rows, bids, tiers = rows[order], bids[order], tiers[order]
        busy = table.host[table.busy]
        none = np.zeros(len(busy))
        class_tokens = np.array(
            [math.inf, *(limits.class_tokens.get(name, math.inf) for name in self._class_names[1:])]
        )
        class_number = np.where(table.forced[rows], 0, table.class_number[rows])
        chosen = allocator.choose(
            np.concatenate([bids, none]),
            np.concatenate([table.cost[rows], none + 1]),
            np.concatenate([table.host[rows], busy]),
            limits.tokens,
            host_ready=ready,
            in_flight=np.concatenate([np.zeros(len(rows), np.bool_), np.ones(len(busy), np.bool_)]),
            host_connections=self._host_connections,
            limit=limits.polls,
            class_number=np.concatenate([class_number, np.zeros(len(busy), np.int64)]) if limits.class_tokens else None,
            class_tokens=class_tokens if limits.class_tokens else None,
            tier=np.concatenate([tiers, np.zeros(len(busy), np.int64)]),
        )
        best: list[int] = rows[chosen].tolist()
        return best

    def _grant(self, row: int, reason: PollReason) -> Grant:
        """Reserve a page and return the grant of its poll."""
        table = self._table
        page = self._pages[int(table.ids[row])]
        table.busy[row] = True
        table.forced[row] = False
        return Grant(
            page_id=page.state.page_id,
            host=page.identity.host,
            cost=float(table.cost[row]),
            reason=reason,
            budget=self._class_names[table.class_number[row]],
        )

    def _with_places(self, rows: Rows, now: Instant, ready: Mapping[int, bool], needed: Mapping[int, float]) -> Rows:
        """Return the rows without those rendered pages for which the browser has no place now; they
        wait without a grant.
        """
        table = self._table
        rendered = rows[table.rendered[rows]]
        if not len(rendered):
            return rows
        free = max(0, self._render_places - int((table.busy & table.rendered).sum()))
        could = rendered[[ready.get(code, True) for code in table.host[rendered].tolist()]]
        bids, tiers = self._bids(could, now, needed)
        best = could[np.lexsort((-bids, -tiers))][:free]
        return np.sort(np.concatenate([rows[~table.rendered[rows]], best]))

    def _reason(self, row: int, now: Instant) -> PollReason:
        """Return why a page is polled."""
        if self._table.forced[row]:
            return PollReason(Why.ASKED)
        page_id = int(self._table.ids[row])
        if (needed := self._needs.most_urgent(page_id, now)) is not None:
            return needed.reason(now)
        return self._dues.why(page_id, ticks=bool(self._table.tick[row] <= now))

    def _rank_needed(self, now: Instant, gate: HostGate, saved: float) -> dict[int, float]:
        """Return the ranks of the pages with an open deadline now; `saved` is the most the budget
        can hold.
        """
        sought = [
            Sought(d.page_id, d.interval.end, importance_to(self._pages[d.page_id], d.sentinel_id), d.left)
            for d in self._needs.list_begun(now)
            if d.page_id in self._table and d.page_id in self._pages
        ]
        if not sought:
            return {}
        hosts = {one.page: self._pages[one.page].identity.host for one in sought}
        gaps = {host: gate.gap(host) for host in hosts.values()}
        return ranks(
            sought,
            now,
            budget=Supply(saved, self._budget),
            costs={page: float(self._table.cost[self._table[page]]) for page in hosts},
            hosts=hosts,
            supplies={host: Supply(1.0, 1.0 / gap) for host, gap in gaps.items() if gap},
        )

    def _bids(self, rows: Rows, now: Instant, needed: Mapping[int, float]) -> tuple[Floats, Ids]:
        """Return the worth of a poll of each page now, over all its sentinels, and its tier."""
        table = self._table
        ids, ticks = table.ids[rows], table.tick[rows]
        bids = self._proposals.bids(ids, now, self._proposals.price)
        late = ticks <= now
        tiers = np.where(late, Tier.TICK, Tier.BID)
        bids[late] = (now - np.maximum(ticks[late], 0)) / SECOND
        if (starved := self._find_starved(rows, late, now)).any():
            bids[starved], tiers[starved] = (now - self._since(rows[starved], now)) / SECOND, Tier.TICK
        if second := self._dues.second_now(now):
            soon = np.isin(ids, second) & ~late
            bids[soon], tiers[soon] = 0.0, Tier.TICK
        if self._preferred:
            bids[np.isin(ids, list(self._preferred)) & (tiers == Tier.BID)] = 2 * FIRST
        if needed:
            rank = np.array([needed.get(page, 0.0) for page in ids.tolist()])
            bids, tiers = np.where(rank > 0, rank, bids), np.where(rank > 0, Tier.NEEDED, tiers)
        asked = table.forced[rows]
        bids[asked], tiers[asked] = 1.0, Tier.ASKED
        return np.maximum(bids, 1e-9), tiers

    def _find_starved(self, rows: Rows, late: Mask, now: Instant) -> Mask:
        """Return which policy pages have waited twice as long as planned on a host whose ticks come
        first.

        Where ticks fill a host's gaps, these pages would wait for ever. `late` marks the rows with
        a due tick.
        """
        table = self._table
        starved = ~late & np.isin(table.host[rows], table.host[rows[late]])
        if starved.any():
            since = self._since(rows[starved], now)
            wanted = since - self._proposals.get_last_polled(table.ids[rows[starved]])
            is_new = table.due[rows[starved]] <= 0
            starved[starved] = (now - since > 0) & (is_new | (now - since >= wanted))
        return starved

    def _since(self, rows: Rows, now: Instant) -> Instants:
        """Return since when policy pages are due; a page never polled, since it was added."""
        due = self._table.due[rows]
        return np.minimum(np.where(due <= 0, self._proposals.get_added_at(self._table.ids[rows]), due), now)
