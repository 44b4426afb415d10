"""Pricing: the price at which the policy bids, so that all polls together cost what the budget can
pay (bid §2).

Every ten minutes: the price from the estimates; a trim that keeps the real spending at the planned
spending; and the stretch of the longest waits if no price is high enough. Once per epoch: whether
WIC would earn more. The result is stored over restarts (`memory`).

Planners that share the pages have one price (`write_note`, `read_notes`): each says what its pages
would cost at any price, and the one that leads finds the price at which all of them cost the
budget.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

from tidings.clock import DAY
from tidings.record import replace
from tidings.scheduling.learned import Learned
from tidings.scheduling.policy import NEVER, Floats, HeedsHours, Ids, Instants, Market, Prices
from tidings.scheduling.price.market import REMEMBERED, STEP, STEPS, Demand, Trim, find_price, hourly_spend
from tidings.scheduling.price.policy import Price
from tidings.scheduling.price.wic import GuardedWic, contest, make_rival, wic_wins
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
VAST: Final = 2.0**100
"""At the floor times this, all pages wait their longest."""
PRICES_EXPIRE_AFTER: Final[Duration] = DAY
"""After a longer stop the trim is reset."""
MISSED: Final[Duration] = 2 * STEP


class Others(NamedTuple):
    """The notes of other planners: the cost of their fixed intervals per µs, their demands, the
    stretches of these, and what their pages earned in the last contest. `are_silent`: some have
    none yet.
    """

    promised: float = 0.0
    demands: tuple[Demand, ...] = ()
    stretches: tuple[float, ...] = ()
    earned: tuple[tuple[float, ...], ...] = ()
    are_silent: bool = False

    @property
    def least(self) -> float:
        """Return what their pages spend if all wait their longest without a stretch, per µs."""
        pairs = zip(self.demands, self.stretches, strict=True)
        return sum(demand.spend(math.inf) * stretch for demand, stretch in pairs)

    def spend(self, price: float) -> float:
        """Return what their pages spend at a price, per µs."""
        return sum(demand.spend(price) for demand in self.demands)


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
        self._recalled = 0.0
        """the price before the restart"""
        self._others = Others()
        self._counted: dict[int, Floats] = {}
        """what each other planner was asked for and had planned when that was last counted"""
        self._beside = self._own = np.zeros(2)
        """the same of the others since the trim's last step, and of this one since its start"""
        self._leader: Mapping[str, Any] | None = None
        """the note of the planner that leads; None: this one leads, or nobody has left one yet"""
        self._earned = (0.0, 0.0)
        """what `price` and WIC earned in the last contest"""
        self._found = 0
        self._demand: tuple[int, list[list[float]]] = (0, [])

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
        self._found += 1
        before, self.market = self.market, self._find_market(now)
        if self.market.binds:
            self._step(self.market, now, is_new=before is None or not before.binds)
        else:
            self.trim, self._shape = Trim(), None
        price = self.market.price if self._leader is not None else _round_price(self.market.price * self.trim.factor)
        self._proposals.price = max(price, self.market.floor)
        published = (self._proposals.price, self.stretch, self.rival is not None)
        if not (
            _differ(published[0], self._published[0])
            or _differ(published[1], self._published[1])
            or published[2] != self._published[2]
        ):
            return False
        self._published = published
        return True

    def write_note(self) -> dict[str, Any]:
        """Return the note to the other planners, as plain JSON."""
        if self.market is None:
            return {}
        if self._demand[0] != self._found:
            self._demand = (self._found, Demand.of(self.market, self._proposals.price).to_json())
        return {
            "price": self._proposals.price,
            "stretch": self.stretch,
            "wic": self.rival is not None,
            "promised": self.promised,
            "cost": self._proposals.total_cost,
            "demand": self._demand[1],
            "steps": self._own.tolist(),
            "earned": self._earned,
            "found": self._found,
        }

    def read_notes(self, notes: Mapping[int, Mapping[str, Any]], leader: int | None) -> None:
        """Take in the notes of the other planners, by their epochs; `leader` is the one that leads,
        None if this one does. A price that differs counts from the next step on.
        """
        known = {epoch: note for epoch, note in notes.items() if note}
        before = self._others.stretches if self._leader is None else self._leader["found"]
        self._leader = known.get(leader) if leader is not None else None
        stretches = tuple(note["stretch"] for note in known.values())
        after = stretches if self._leader is None else self._leader["found"]
        if self._counted.keys() != known.keys() or before != after:
            self._renew_at = 0
        steps = {epoch: np.array(note["steps"]) for epoch, note in known.items()}
        self._beside = self._beside + sum(now - self._counted.get(epoch, now) for epoch, now in steps.items())
        self._counted = steps
        self._proposals.cost_beside = sum(note["cost"] for note in known.values())
        self._others = Others(
            sum(note["promised"] for note in known.values()),
            tuple(Demand.read(note["demand"]) for note in known.values()),
            stretches,
            tuple(tuple(note["earned"]) for note in known.values()),
            are_silent=len(known) < len(notes),
        )

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
            "asked": (self.promised + self._others.promised + self.market.spend) * DAY,
            "wished": (self.promised + self._others.promised + self.market.wished) * DAY,
            "steps": [[round(spent, 3), round(planned, 3)] for spent, planned in self.trim.steps],
        }

    def recall(self, memory: Mapping[str, Any], age: Duration) -> None:
        """Restore the state stored `age` ago; unreadable or old state is ignored."""
        trim, stretch = memory.get("trim"), memory.get("stretch")
        if age > PRICES_EXPIRE_AFTER or not isinstance(trim, int | float) or not isinstance(stretch, int | float):
            return
        self.trim = Trim(float(np.clip(trim, 0.5, 2.0)), tuple(_pairs(memory.get("steps"))))
        self.stretch = float(np.clip(stretch, 1.0, MOST_STRETCH))
        if isinstance(price := memory.get("price"), int | float):
            self._recalled = float(price)

    @property
    def _left(self) -> float:
        """Return the budget left by fixed intervals, per µs."""
        return max(self._budget - self.promised - self._others.promised, 0.0)

    def _find_market(self, now: Instant) -> Market:
        """Return the present market and apply it to the policy: the stretch, and WIC if that earns
        more.
        """
        table = self._table
        self._proposals.pass_time(now)
        self.promised = float(table.promised.sum())
        shares = table.open_share[table.rows(self._proposals.state.population.ids.tolist())]
        if self._leader is not None:
            return self._follow(self._leader, shares, now)
        market = self._market(shares)
        unstretched = self.stretch * market.load
        if self._others.demands:
            least = self.stretch * market.spends(market.floor * VAST) + self._others.least
            unstretched = least / self._left if self._left > 0 else math.inf
        stretch = min(unstretched / SHARE, MOST_STRETCH) if unstretched > 1 else 1.0
        if stretch != self.stretch:
            self.stretch = self._proposals.stretch = stretch
            market = self._market(shares)
        if not market.binds:
            self.rival = None
            return market
        self._compete(now, market.price)
        return market if self.rival is None else self._market(shares, self.rival)

    def _follow(self, leader: Mapping[str, Any], shares: Floats, now: Instant) -> Market:
        """Return the market at the price of the planner that leads, with its policy and its
        stretch.
        """
        self.stretch = self._proposals.stretch = leader["stretch"]
        self.trim, price = Trim(), leader["price"]
        self._compete(now, price)
        inner = self._policy.policy if isinstance(self._policy, Learned) else self._policy
        self.rival = make_rival(inner.stretch(self.stretch), price) if leader["wic"] and type(inner) is Price else None
        market = self._market(shares, self.rival)
        return replace(market, price=price, spend=market.spends(price) + self._others.spend(price))

    def _market(self, shares: Floats, rival: GuardedWic | None = None) -> Market:
        """Switch to the configured policy, or to its rival; return its market."""
        policy = self._policy
        if rival is not None:
            policy = replace(policy, policy=rival) if isinstance(policy, Learned) else rival
        self._proposals.policy = policy = policy.stretch(self.stretch) if isinstance(policy, Prices) else policy
        if not isinstance(policy, Prices):
            return Market(0.0, 0.0, 0.0)
        market = policy.market(self._proposals.state, self._left, open_share=shares)
        if self._others.demands:
            own = market.spends
            total = find_price(lambda price: own(price) + self._others.spend(price), market.floor, self._left)
            market = replace(total, spends=own)
        if self._others.are_silent and self._recalled > market.price:
            return replace(market, price=self._recalled)
        return market

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
        self._earned = (found.price * found.weight, found.wic * found.weight)
        if self._leader is None:
            by_price, by_wic = (sum(each) for each in zip(self._earned, *self._others.earned, strict=True))
            self.rival = replace(found.rival, longest=policy.longest) if wic_wins(by_price, by_wic) else None

    def _step(self, market: Market, now: Instant, *, is_new: bool) -> None:
        """Trim the price by what pages demanded in the last ten minutes, against the plan.

        Demand is what was spent plus the growth of the due backlog: a spent budget must not hide
        that the price is too low; the backlog is to be cleared within the trim's window. Time
        without any polling does not count.
        """
        elapsed, before = now - self._stepped_at, self._queue
        if not is_new and elapsed < STEP // 2 and self._shape is not None:
            return  # another planner came or went
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
        own = market.spends(market.price) / market.spend if self._others.demands and market.spend else 1.0
        spent = min(market.spend, self._left) * own
        planned = self.promised + spent * float(self._shape[(now - elapsed) // STEP % STEPS])
        step = np.array([max(asked, 0.0), planned * elapsed])
        self._own = self._own + step
        if self._leader is None:
            beside, self._beside = self._beside, np.zeros(2)
            self.trim = self.trim.after(*(step + beside).tolist())

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
