"""Pricing: at which price the policy bids, so that all looks together cost what the budget can pay (bid §2).

Every ten minutes: the price that the estimates ask for; a trim on it that keeps what is really spent at what was planned for these hours; and
how far the longest waits are stretched if no price is high enough. Once an epoch: whether WIC would earn more. What all of it led to is kept
over restarts (`memory`).
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
from tidings.scheduling.price.contest import GuardedWic, contest
from tidings.scheduling.price.dry_run import STEP, STEPS, hourly_spend
from tidings.scheduling.price.market import REMEMBERED, Trim
from tidings.scheduling.price.policy import Price
from tidings.service.watch.page_schedule import first_open_on_change

if TYPE_CHECKING:
    from tidings.model.interval import Duration, Instant
    from tidings.service.plan.page_table import Roster
    from tidings.service.plan.proposals import Proposals
    from tidings.service.watch.watchlist import WatchedPage

ANOTHER_PRICE: Final = 1.1
"""Prices further apart than this factor are another price (bid §1); so are stretches."""
GRAIN: Final = 0.01
"""Prices are told apart by this part of themselves."""
SHARE: Final = 0.25
"""Where no price is high enough, looks at the longest waits may take so much of the budget; the rest goes where it brings most (0037)."""
FILLED: Final = 0.97
"""What a look below the price counts for the trim: as nearly all of its cost, so that a start without looks at the price moves it little, and by a
little less, so that it comes down in days if it is too high for good. Under a policy that waits for hours it counts nothing: it comes at any."""
MOST_STRETCH: Final = 365.0
KEPT_FOR: Final[Duration] = DAY
"""After a longer stop the trim begins anew."""
MISSED: Final[Duration] = 2 * STEP


class Pricing:
    """Finds the price of the policy's proposals for the pages of the roster. `pages` is the watchlist's own table, `budget` what all polls may
    cost per µs.

    `market` is what the estimates and the budget led to (None: the policy knows no price), `stretch` by how much pages wait longer than
    they should, `promised` what looks at fixed intervals cost per µs; `rival` is WIC while it earns more than `price` (guard 7, 0041).
    """

    def __init__(self, proposals: Proposals, roster: Roster, pages: Mapping[int, WatchedPage], budget: float) -> None:
        self.market: Market | None = None
        self.trim = Trim()
        self.stretch = 1.0
        self.promised = 0.0
        self.rival: GuardedWic | None = None
        self._proposals = proposals
        self._roster = roster
        self._pages = pages
        self._budget = budget
        self._policy = proposals.policy
        inner = self._policy.policy if isinstance(self._policy, Learned) else self._policy
        self._filled = 0.0 if isinstance(inner, HeedsHours) else FILLED
        self._told: tuple[float, float, bool] = (0.0, 1.0, False)
        """price, stretch and whether WIC bids, by which all pages were last given a due instant"""
        self._epoch_until: Instant = 0
        self._shape: Floats | None = None
        self._shaped_at: Instant = 0
        self._spent = self._queue = 0.0
        self._stepped_at: Instant = 0
        self._renew_at: Instant = 0

    @property
    def binds(self) -> bool:
        """Say whether the budget makes the price: then every look that is made is one that another page does not get."""
        return self.market is not None and self.market.binds

    @property
    def next_at(self) -> Instant | None:
        """Return when the price is found anew, None if that changes nothing before the next check anyway."""
        return self._renew_at if self.binds else None

    def note_spent(self, cost: float, *, below_price: bool = False) -> None:
        """Hear what a look has cost, whoever wanted it."""
        self._spent += self._filled * cost if below_price else cost

    def renew(self, now: Instant) -> bool:
        """Find the price anew, if it is time; say whether it is another, so that all pages are due at other instants."""
        if now < self._renew_at or not isinstance(self._policy, Prices):
            return False
        self._renew_at = now + STEP
        before, self.market = self.market, self._find_market(now)
        if self.market.binds:
            self._step(self.market, now, is_new=before is None or not before.binds)
        else:
            self.trim, self._shape = Trim(), None
        self._proposals.price = max(_round_price(self.market.price * self.trim.factor), self.market.floor)
        told = (self._proposals.price, self.stretch, self.rival is not None)
        if not (_differ(told[0], self._told[0]) or _differ(told[1], self._told[1]) or told[2] != self._told[2]):
            return False
        self._told = told
        return True

    def memory(self) -> dict[str, Any] | None:
        """Return what is kept over a restart, as plain JSON; None while the budget does not bind."""
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
        """Hear what was kept before a restart so long ago; what cannot be read, or is old, is passed over."""
        trim, stretch = memory.get("trim"), memory.get("stretch")
        if age > KEPT_FOR or not isinstance(trim, int | float) or not isinstance(stretch, int | float):
            return
        self.trim = Trim(float(np.clip(trim, 0.5, 2.0)), tuple(_pairs(memory.get("steps"))))
        self.stretch = float(np.clip(stretch, 1.0, MOST_STRETCH))

    @property
    def _left(self) -> float:
        """Return what fixed intervals leave of the budget, per µs."""
        return max(self._budget - self.promised, 0.0)

    def _find_market(self, now: Instant) -> Market:
        """Return the market of now, the policy made the one that it is for: stretched, and WIC if that earns more."""
        roster = self._roster
        self._proposals.pass_time(now)
        self.promised = float(roster.promised.sum())
        shares = roster.open_share[roster.rows(self._proposals.state.population.ids.tolist())]
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
        """Let the policy of the settings, or its rival, bid from now on; return its market."""
        policy = self._policy
        if rival is not None:
            policy = replace(policy, policy=rival) if isinstance(policy, Learned) else rival
        self._proposals.policy = policy = policy.stretch(self.stretch) if isinstance(policy, Prices) else policy
        if not isinstance(policy, Prices):
            return Market(0.0, 0.0, 0.0)
        return policy.market(self._proposals.state, self._left, open_share=shares)

    def _compete(self, now: Instant, price: float) -> None:
        """Once an epoch: let WIC bid until the next one if it earns more in the model than `price` itself at its price."""
        policy, state = self._policy, self._proposals.state
        if isinstance(policy, Learned):
            policy, state = policy.policy, state.inner
        if type(policy) is not Price or now < self._epoch_until:
            return
        found = contest(policy.stretch(self.stretch), state, now, price)
        self._epoch_until = now + found.epoch
        self.rival = replace(found.rival, longest=policy.longest) if found.wic_wins else None

    def _step(self, market: Market, now: Instant, *, is_new: bool) -> None:
        """Trim the price by what pages have asked for in the last ten minutes, against what was planned for them.

        What they asked for is what was spent, and by how much more is due and waits: a budget that is used up must not hide that the price is
        too low; what waits is to be gone within the time that the trim looks back on. Time in which nobody looked does not count.
        """
        elapsed, before = now - self._stepped_at, self._queue
        roster, due = self._roster, self._roster.ready(now)
        self._queue = float(roster.cost[due].sum())
        asked = (
            self._spent
            + self._queue
            - before
            + float(roster.cost[due[roster.due[due] <= now - STEP]].sum()) / REMEMBERED
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
        """Return when pages may first be asked from these instants on."""
        opened = (
            first_open_on_change(self._pages[page], at) if at < NEVER and page in self._pages else at
            for page, at in zip(ids.tolist(), due.tolist(), strict=True)
        )
        return np.fromiter(opened, np.int64, len(ids))


def _differ(one: float, other: float) -> bool:
    return abs(math.log(max(one, 1e-300) / max(other, 1e-300))) > math.log(ANOTHER_PRICE)


def _pairs(steps: Any) -> Iterator[tuple[float, float]]:
    """Yield what was spent and planned in steps that can be read."""
    for step in steps if isinstance(steps, list) else ():
        if isinstance(step, list) and len(step) == 2 and all(isinstance(value, int | float) for value in step):
            yield float(step[0]), float(step[1])


def _round_price(price: float) -> float:
    """Return a price, rounded so that one which hardly moves stays what it is."""
    return math.exp(round(math.log(price) / GRAIN) * GRAIN) if price > 0 else 0.0
