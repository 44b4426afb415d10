"""Define the model of scheduling §9: pages with known chances of change, C units of budget an instant.

Bench files that print the study's tables share this module. It has an instance, the policies that
run on it, what they earn, and the Lagrangian bound with a price for every instant. Utility is
WIC's, in whole instants: the recurrences of scheduling §1.2 give what a poll brings.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from tidings.model.interval import HOUR
from tidings.scheduling.bounds.certificate import Dual, Program
from tidings.scheduling.population import Floats, Ids, LifeKind, Population, UrgencyKind
from tidings.scheduling.price.hours import HoursState, PriceHours
from tidings.scheduling.price.lookahead import Ticks, backlog, plan

DAY = 24
"""Instants of a day, where there are day and night."""
SETTLING = 0.05
"""η of the integral control of the price (scheduling §9)."""


class Chances:
    """How changes gather that come with the chances π, shape (pages, instants from 1 on): G ← e^−κ·G + W·π, κ = θ, and −ln(1 − π) more where
    changes overwrite. `plan` reads this as it reads the gathering of a profile. Beyond the last instant nothing gathers.
    """

    def __init__(self, chances: Floats, weight: Floats, decay: Floats, overwrites: np.ndarray) -> None:
        hazard = np.where(overwrites[:, None], -np.log1p(-np.where(overwrites[:, None], chances, 0.0)), 0.0)
        kappa = decay[:, None] + hazard
        pages, instants = chances.shape
        self._gathered = np.zeros((pages, instants + 1))
        for now in range(instants):
            self._gathered[:, now + 1] = np.exp(-kappa[:, now]) * self._gathered[:, now] + weight * chances[:, now]
        self._faded = np.concatenate([np.zeros((pages, 1)), np.cumsum(kappa, axis=1)], axis=1)
        self.decay, self.overwritten = decay, hazard.mean(axis=1)
        mean = self.decay + self.overwritten
        within = np.where(mean > 0, mean / np.where(mean > 0, -np.expm1(-mean), 1.0), 1.0)
        self.inflow = (
            weight * chances.mean(axis=1) * within
        )  # so that the level at the mean rate is that of whole instants

    def read(self, at: Ticks) -> tuple[Floats, Floats]:
        """Return F and S at the end of instants, one a page or rows of them."""
        rows = np.arange(len(self.decay))
        where = np.minimum(at, self._gathered.shape[1] - 1)
        return self._gathered[rows, where], self._faded[rows, where]

    def backlog(self, begin: Ticks | int, end: Ticks | int) -> Floats:
        """Return what a poll at `end` brings after one at `begin`, one a page or rows of them."""
        pages = len(self.decay)
        begins, ends = (
            np.broadcast_to(at, (*np.shape(at)[:-1], pages)) if np.ndim(at) else np.full(pages, at)
            for at in (begin, end)
        )
        return backlog(self.read(begins), self.read(ends))


@dataclass(frozen=True, eq=False)
class Instance:
    """Pages as they are (`gains`) and as planners take them (`seen`), costs, hosts, and how many units an instant gives."""

    gains: Chances
    seen: Chances
    rate: Floats
    cost: Floats
    capacity: int
    instants: int
    hosts: Ids | None = None
    """With hosts: one poll a host and instant."""
    waves: Floats | None = None
    """How rates go over the day, shape (phases, 24), and of which phase each page is: `phases`."""
    phases: Ids | None = None


@dataclass(frozen=True)
class Moment:
    """What a policy sees at an instant: when each page was last polled, and what a poll now would bring."""

    instance: Instance
    last: Ticks
    now: int
    gains: Floats
    price: float


Bids = Callable[[Moment], Floats]


def periodic(at: Moment) -> Floats:
    """Poll as often as pages change: the bid is rate × age."""
    return at.instance.rate * (at.now - at.last)


def wic(at: Moment) -> Floats:
    """What a poll brings, per unit of cost (000 §3)."""
    return at.gains / at.instance.cost


def wic_without_costs(at: Moment) -> Floats:
    """What a poll brings."""
    return at.gains


def index(at: Moment) -> Floats:
    """G(t) − t·(G(t + 1) − G(t)), per unit of cost (scheduling §9)."""
    growth = at.instance.seen.backlog(at.last, at.now + 1) - at.gains
    return np.asarray((at.gains - (at.now - at.last) * growth) / at.instance.cost)


def mean_index(at: Moment) -> Floats:
    """The same for who knows what there is, but of what comes only how much it is on average (what is appended only)."""
    seen = at.instance.seen
    kept = np.exp(-seen.decay)
    arrives = seen.inflow * np.where(seen.decay > 0, (1 - kept) / np.where(seen.decay > 0, seen.decay, 1.0), 1.0)
    growth = arrives - (1 - kept) * at.gains
    return np.asarray((at.gains - (at.now - at.last) * growth) / at.instance.cost)


def price(at: Moment) -> Floats:
    """The bid of bid §1: what a poll brings and the best plan after it, less the best plan that waits."""
    instance = at.instance
    return plan(
        instance.seen, instance.cost, at.price, at.last, at.now, longest=instance.instants, review=DAY // 4, day=DAY
    ).bids


def ahead(at: Moment) -> Floats:
    """Price-lookahead as the study's text alone has it: each of the next 24 instants, and what is left then is worth nothing."""
    seen, cost = at.instance.seen, at.instance.cost
    instants = np.broadcast_to(at.now + np.arange(DAY + 1)[:, None], (DAY + 1, len(cost)))
    then = seen.read(instants)
    earned = backlog((then[0][:, None], then[1][:, None]), then) - cost * at.price
    values = np.zeros((DAY + 1, len(cost)))
    for place in range(DAY - 1, -1, -1):
        values[place] = np.maximum((earned[place, place + 1 :] + values[place + 1 :]).max(axis=0), 0.0)
    gathered = backlog(seen.read(at.last), then)
    waits = np.maximum((gathered[1:] - cost * at.price + values[1:]).max(axis=0), 0.0)
    return np.asarray((at.gains + values[0] - waits) / cost)


def hours(at: Moment) -> Floats:
    """The policy `price_hours`, which knows rates and hours, an instant being an hour: who is due, by its bid, and then the others by their index."""
    policy, state = _begin(at.instance)
    state = policy.on_update(state, state.population.ids, {"last_polled": at.last * HOUR})
    due = policy.bid(state, at.now * HOUR, at.price)
    ages = (at.now - at.last) * HOUR
    rest = policy.gather(policy.worth(state, at.price, slice(None)), ages.astype(np.float64), at.price)
    return np.asarray(np.where(due > 0, due + rest.max(), rest))


@lru_cache(maxsize=1)
def _begin(instance: Instance) -> tuple[PriceHours, HoursState]:
    """Return the policy and its state before the first instant."""
    seen, size = instance.seen, len(instance.cost)
    overwrites = seen.overwritten > 0
    rate = np.where(overwrites, seen.overwritten, instance.rate)
    population = Population(
        {
            "id": np.arange(size),
            "importance": seen.inflow / rate,
            "rate": rate * DAY,
            "cost": instance.cost,
            "urgency_kind": np.full(size, UrgencyKind.EXPONENTIAL),
            "urgency_scale": np.round(HOUR * np.log(2) / seen.decay).astype(np.int64),
            "life_kind": np.where(overwrites, LifeKind.OVERWRITE, LifeKind.FOREVER),
            "shortest": np.full(size, HOUR),
            "longest": np.full(size, instance.instants * HOUR),
        }
    )
    policy = PriceHours(pace=1, guarded=False)
    state = policy.begin(population, np.random.default_rng(0))
    if instance.waves is None or instance.phases is None:
        return policy, state
    return policy, policy.on_hours(state, np.tile(instance.waves, (1, 7)), instance.phases)


def run(instance: Instance, bids: Bids, price: float = 0.0, *, settles: bool = False) -> float:
    """Return what a policy earns that spends the budget of each instant on who bids most, and nothing on bids of 0.

    With `settles` the price is raised and lowered by how many units would be bought at it (integral control).
    """
    pages = len(instance.cost)
    last = np.zeros(pages, dtype=np.int64)
    earned, level = 0.0, price
    for now in range(1, instance.instants + 1):
        gains = instance.gains.backlog(last, now)
        wished = bids(Moment(instance, last, now, gains, level))
        chosen = choose(wished, instance)
        earned += float(gains[chosen].sum())
        last[chosen] = now
        if settles:
            wanted = float(instance.cost[wished >= level].sum())
            level *= float(np.exp(SETTLING * (wanted - instance.capacity) / instance.capacity))
    return earned


def choose(bids: Floats, instance: Instance) -> Ids:
    """Return the pages that are polled: best bids first as long as budget and hosts allow; who does not fit is passed over."""
    order = np.argsort(-bids, kind="stable")
    order = order[bids[order] > 0]
    if instance.hosts is None and instance.cost.max() == 1:
        return order[: instance.capacity]
    left, busy, chosen = float(instance.capacity), set[int](), []
    for page in order.tolist():
        host = page if instance.hosts is None else int(instance.hosts[page])
        if instance.cost[page] <= left and host not in busy:
            chosen.append(page)
            busy.add(host)
            left -= instance.cost[page]
            if left < 1:
                break
    return np.array(chosen, dtype=np.int64)


def certify(instance: Instance, earned: float, rounds: int) -> tuple[Dual, float]:
    """Return a bound with a price for every instant, and the one price that bounds best if all instants share it.

    Polyak's steps towards `earned`, what some schedule is known to earn; shorter ones, from the best prices so far, when they no longer help.
    """
    budget = np.full(instance.instants, float(instance.capacity))
    program = Program(
        lambda begins, end: instance.gains.backlog(begins[:, None], end), instance.cost, instance.instants
    )
    flat = program.tighten(budget, price=0.2, rounds=25)
    best = found = flat
    step, idle = 1.0, 0
    for _ in range(rounds):
        off = found.spend - budget
        prices = np.maximum(found.prices + step * (found.bound - earned) / max(float(off @ off), 1e-9) * off, 0.0)
        found = program.compute_bound(budget, prices)
        best, idle = (found, 0) if found.bound < best.bound else (best, idle + 1)
        if idle == 8:
            step, idle, found = step * 0.6, 0, best
    return best, float(flat.prices[0])
