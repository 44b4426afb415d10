"""Pricing: the price at which the policy bids, so that all polls together cost what the budget can
pay (bid §2).

Every ten minutes: the price from the estimates; a trim that keeps the real spending at the planned
spending; and the stretch of the longest waits if no price is high enough. Once per epoch: whether
WIC would earn more. The result is stored over restarts (`memory`).
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from tidings.clock import DAY
from tidings.record import replace
from tidings.scheduling.learned import Learned
from tidings.scheduling.policy import NEVER, Floats, HeedsHours, Ids, Instants, Market, Prices
from tidings.scheduling.price.market import REMEMBERED, STEP, STEPS, Trim, hourly_spend
from tidings.scheduling.price.policy import Price
from tidings.scheduling.price.wic import GuardedWic, contest
from tidings.service.watch.page_schedule import first_open_on_change

if TYPE_CHECKING:
    from tidings.model.interval import Duration, Instant
    from tidings.service.plan.page_table import PageTable
    from tidings.service.plan.proposals import Proposals
    from tidings.service.watch.watchlist import WatchedPage

ANOTHER_PRICE: Final = 1.1
"""Prices further apart than this factor count as different (bid §1); so do stretches."""
GRAIN: Final = 0.01
"""Relative precision of prices."""
SHARE: Final = 0.25
"""Largest share of the budget for polls at the longest waits where no price is high enough; the
rest goes where it earns most (0037).
"""
FILLED: Final = 0.97
"""Share of its cost that a poll below the price counts for the trim: nearly all, so that a start
without polls at the price moves it little, and slightly less, so that a price that is too high for
good falls within days. Under a policy that waits for hours it counts nothing: it comes at any
price.
"""
MOST_STRETCH: Final = 365.0
KEPT_FOR: Final[Duration] = DAY
"""After a longer stop the trim is reset."""
MISSED: Final[Duration] = 2 * STEP


class Pricing:
    """Finds the price of the policy's proposals for the pages of the table. `pages` is the
    watchlist's own mapping, `budget` the cost of all polls per µs.

    `market` is the result of estimates and budget (None: the policy has no price), `stretch` by how
    much pages wait longer than they should, `promised` the cost of fixed intervals per µs; `rival`
    is WIC while it earns more than `price` (guard 7, 0041).
    """

    def __init__(self, proposals: Proposals, table: PageTable, pages: Mapping[int, WatchedPage], budget: float) -> None:
        self.market: Market | None = None
        self.trim = Trim()
        self.stretch = 1.0
        self.promised = 0.0
        self.rival: GuardedWic | None = None
        self._proposals = proposals
        self._table = table
        self._pages = pages
        self._budget = budget
        self._policy = proposals.policy
        inner = self._policy.policy if isinstance(self._policy, Learned) else self._policy
        self._filled = 0.0 if isinstance(inner, HeedsHours) else FILLED
        self._published: tuple[float, float, bool] = (0.0, 1.0, False)
        """price, stretch and whether WIC bids, as of the last due times of all pages"""
        self._epoch_until: Instant = 0
        self._shape: Floats | None = None
        self._shaped_at: Instant = 0
        self._spent = self._queue = 0.0
        self._stepped_at: Instant = 0
        self._renew_at: Instant = 0

    @property
    def binds(self) -> bool:
        """Return whether the budget sets the price: then every poll displaces another page's."""
        return self.market is not None and self.market.binds

    @property
    def next_at(self) -> Instant | None:
        """Return when the price is next computed, None if that changes nothing before the next poll
        anyway.
        """
        return self._renew_at if self.binds else None

    def note_spent(self, cost: float, *, below_price: bool = False) -> None:
        """Record the cost of a poll, for whatever reason it was made."""
        self._spent += self._filled * cost if below_price else cost

    def renew(self, now: Instant) -> bool:
        """Recompute the price if it is time; return whether it differs, so that all due times
        change.
        """
        if now < self._renew_at or not isinstance(self._policy, Prices):
            return False
        self._renew_at = now + STEP
        before, self.market = self.market, self._find_market(now)
        if self.market.binds:
            self._step(self.market, now, is_new=before is None or not before.binds)
        else:
            self.trim, self._shape = Trim(), None
        self._proposals.price = max(_round_price(self.market.price * self.trim.factor), self.market.floor)
        published = (self._proposals.price, self.stretch, self.rival is not None)
        if not (
            _differ(published[0], self._published[0])
            or _differ(published[1], self._published[1])
            or published[2] != self._published[2]
        ):
            return False
        self._published = published
        return True

    def memory(self) -> dict[str, Any] | None:
        """Return the state to store over a restart, as plain JSON; None while the budget does not
        bind.
        """
        if self.market is None or not self.market.binds:
            return None
        return {
            "price": self._proposals.price,
            "floor": self.market.floor,
            "trim": self.trim.factor,
            "stretch": self.stretch,
            "wic": self.rival is not None,
            "asked": (self.promised + self.market.spend) * DAY,
            "wished": (self.promised + self.market.wished) * DAY,
            "steps": [[round(spent, 3), round(planned, 3)] for spent, planned in self.trim.steps],
        }

    def recall(self, memory: Mapping[str, Any], age: Duration) -> None:
        """Restore the state stored `age` ago; unreadable or old state is ignored."""
        trim, stretch = memory.get("trim"), memory.get("stretch")
        if age > KEPT_FOR or not isinstance(trim, int | float) or not isinstance(stretch, int | float):
            return
        self.trim = Trim(float(np.clip(trim, 0.5, 2.0)), tuple(_pairs(memory.get("steps"))))
        self.stretch = float(np.clip(stretch, 1.0, MOST_STRETCH))

    @property
    def _left(self) -> float:
        """Return the budget left by fixed intervals, per µs."""
        return max(self._budget - self.promised, 0.0)

    def _find_market(self, now: Instant) -> Market:
        """Return the present market and apply it to the policy: the stretch, and WIC if that earns
        more.
        """
        table = self._table
        self._proposals.pass_time(now)
        self.promised = float(table.promised.sum())
        shares = table.open_share[table.rows(self._proposals.state.population.ids.tolist())]
        market = self._market(shares)
        unstretched = self.stretch * market.load
        stretch = min(unstretched / SHARE, MOST_STRETCH) if unstretched > 1 else 1.0
        if stretch != self.stretch:
            self.stretch = self._proposals.stretch = stretch
            market = self._market(shares)
        if not market.binds:
            self.rival = None
            return market
        self._compete(now, market.price)
        return market if self.rival is None else self._market(shares, self.rival)

    def _market(self, shares: Floats, rival: GuardedWic | None = None) -> Market:
        """Switch to the configured policy, or to its rival; return its market."""
        policy = self._policy
        if rival is not None:
            policy = replace(policy, policy=rival) if isinstance(policy, Learned) else rival
        self._proposals.policy = policy = policy.stretch(self.stretch) if isinstance(policy, Prices) else policy
        if not isinstance(policy, Prices):
            return Market(0.0, 0.0, 0.0)
        return policy.market(self._proposals.state, self._left, open_share=shares)

    def _compete(self, now: Instant, price: float) -> None:
        """Once per epoch: have WIC bid until the next one if, at its price, it earns more in the
        model than `price`.
        """
        policy, state = self._policy, self._proposals.state
        if isinstance(policy, Learned):
            policy, state = policy.policy, state.inner
        if type(policy) is not Price or now < self._epoch_until:
            return
        found = contest(policy.stretch(self.stretch), state, now, price)
        self._epoch_until = now + found.epoch
        self.rival = replace(found.rival, longest=policy.longest) if found.wic_wins else None

    def _step(self, market: Market, now: Instant, *, is_new: bool) -> None:
        """Trim the price by what pages demanded in the last ten minutes, against the plan.

        Demand is what was spent plus the growth of the due backlog: a spent budget must not hide
        that the price is too low; the backlog is to be cleared within the trim's window. Time
        without any polling does not count.
        """
        elapsed, before = now - self._stepped_at, self._queue
        table, due = self._table, self._table.ready(now)
        self._queue = float(table.cost[due].sum())
        asked = (
            self._spent + self._queue - before + float(table.cost[due[table.due[due] <= now - STEP]].sum()) / REMEMBERED
        )
        self._stepped_at, self._spent = now, 0.0
        if self._shape is None or now - self._shaped_at >= DAY:
            self._shaped_at = now
            self._shape = hourly_spend(
                self._proposals.policy, self._proposals.state, now, market.price * self.trim.factor, opens=self._opens
            )
        if is_new or elapsed > MISSED:
            return
        planned = self.promised + min(market.spend, self._left) * float(self._shape[(now - elapsed) // STEP % STEPS])
        self.trim = self.trim.after(max(asked, 0.0), planned * elapsed)

    def _opens(self, ids: Ids, due: Instants) -> Instants:
        """Return when pages may first be polled from these instants on."""
        opened = (
            first_open_on_change(self._pages[page], at) if at < NEVER and page in self._pages else at
            for page, at in zip(ids.tolist(), due.tolist(), strict=True)
        )
        return np.fromiter(opened, np.int64, len(ids))


def _differ(one: float, other: float) -> bool:
    return abs(math.log(max(one, 1e-300) / max(other, 1e-300))) > math.log(ANOTHER_PRICE)


def _pairs(steps: Any) -> Iterator[tuple[float, float]]:
    """Yield spent and planned cost of the readable steps."""
    for step in steps if isinstance(steps, list) else ():
        if isinstance(step, list) and len(step) == 2 and all(isinstance(value, int | float) for value in step):
            yield float(step[0]), float(step[1])


def _round_price(price: float) -> float:
    """Return a price rounded so that tiny changes do not count."""
    return math.exp(round(math.log(price) / GRAIN) * GRAIN) if price > 0 else 0.0
