"""Measure how near policies come to a proven bound in the model (scheduling §9; bid §1).

    PYTHONPATH=. .venv/bin/python bench/price.py [--pages 100] [--instants 300] [--seeds 3]

The model is stationary, or has day and night. Pages have lognormal rates. C units of budget come in
at every instant and may be saved up for a day of 24. Policies know the rates and the profile. All
poll the pages that bid most. `price` (the plan of each instant) and `price_hours` (the policy that
the service runs) poll only those that bid the price. Shares are what was earned, as a part of the
Lagrangian bound; half of what is left at the end is credited on both sides. Net, what was not spent
counts at its price (bid_and_defaults). The study's figures are printed beside; its generator is not
known exactly.
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from tidings.model.interval import HOUR
from tidings.scheduling.bounds.certificate import Dual, Program
from tidings.scheduling.index import worth
from tidings.scheduling.policy import Population
from tidings.scheduling.price.hours import HOURS, HoursState, PriceHours
from tidings.scheduling.price.lookahead import Gathering, plan

Bids = Callable[["Model", np.ndarray, int, float], np.ndarray]


@dataclass
class Model:
    """Pages, what they cost, the profile, and how many units an instant takes."""

    gathering: Gathering
    cost: np.ndarray
    capacity: int
    instants: int

    @cached_property
    def policy(self) -> tuple[PriceHours, HoursState]:
        """Return `price_hours` over the same pages, which wait an hour at least."""
        gathering = self.gathering
        size = len(self.cost)
        columns = {
            "id": np.arange(size),
            "last_polled": np.zeros(size),
            "cost": self.cost,
            "importance": np.ones(size),
            "rate": 24 * gathering.inflow,
            "urgency_scale": np.round(math.log(2) / gathering.decay * HOUR),
            "shortest": np.full(size, HOUR),
        }
        profile = tuple(np.resize(np.roll(gathering.profile, -1), HOURS).tolist())  # tick 1 is the hour from 0 to 1
        policy = PriceHours(pace=1, guarded=False, profile=profile)
        return policy, policy.begin(Population(columns), np.random.default_rng(0))

    def backlog(self, begins: np.ndarray, end: int) -> np.ndarray:
        """Return what has gathered at `end`, a row for each of `begins`."""
        size = len(self.cost)
        return np.array([self.gathering.backlog(np.full(size, b), np.full(size, end)) for b in begins.tolist()])


def make(
    pages: int, instants: int, capacity: int, rng: np.random.Generator, *, decay: float, day: bool, costs: bool
) -> Model:
    rate = rng.lognormal(math.log(0.02), 1.0, pages).clip(1e-4, 0.5)
    period = 24
    hours = np.arange(period)
    profile = np.where((hours >= 8) & (hours < 20), 1.85, 0.15) if day else np.ones(period)
    cost = rng.choice([1.0, 2.0, 5.0], pages) if costs else np.ones(pages)
    theta = np.full(pages, -math.log(decay))
    return Model(Gathering.of(profile / profile.mean(), rate, theta, np.zeros(pages)), cost, capacity, instants)


def wic(model: Model, last: np.ndarray, now: int, _: float) -> np.ndarray:
    return model.gathering.backlog(last, np.full(len(last), now)) / model.cost


def index(model: Model, last: np.ndarray, now: int, _: float) -> np.ndarray:
    kappa, inflow = model.gathering.decay, model.gathering.inflow
    return inflow / kappa * worth(kappa * (now - last)) / model.cost


def price(model: Model, last: np.ndarray, now: int, level: float) -> np.ndarray:
    return plan(model.gathering, model.cost, level, last, now, longest=10 * model.instants, day=24).bids


def price_hours(model: Model, last: np.ndarray, now: int, level: float) -> np.ndarray:
    """An instant is an hour: the policy itself, its plans by the minute, its guard 5 off."""
    policy, state = model.policy
    population = state.population.set(np.arange(len(last)), {"last_polled": last * HOUR})
    return policy.bid(replace(state, population=population), now * HOUR, level)


def periodic(model: Model, last: np.ndarray, now: int, _: float) -> np.ndarray:
    return np.sqrt(model.gathering.inflow / model.cost) * (now - last)


def run(model: Model, bids: Bids, level: float) -> tuple[float, float]:
    """Return what was earned, with what is left at the end, and what was spent."""
    size = len(model.cost)
    last = np.zeros(size, dtype=np.int64)
    earned = spent = saved = 0.0
    for now in range(1, model.instants + 1):
        saved += model.capacity
        wished = bids(model, last, now, level)
        gains = model.gathering.backlog(last, np.full(size, now))
        for page in np.argsort(-wished, kind="stable").tolist():
            if bids in (price, price_hours) and wished[page] < level:
                break
            if model.cost[page] <= saved:
                earned += gains[page]
                saved -= model.cost[page]
                spent += model.cost[page]
                last[page] = now
            if saved < 1:
                break
        saved = min(saved, 24 * model.capacity)
    return earned + float(model.gathering.backlog(last, np.full(size, model.instants)).sum()) * 0.5, spent


def certify(model: Model) -> Dual:
    """Return the bound for a budget that may be saved up: one price for all instants."""

    def credit(begins: np.ndarray, end: int) -> np.ndarray:
        return 0.5 * model.backlog(begins, end)

    program = Program(model.backlog, model.cost, model.instants, credit=credit)
    return program.tighten(np.full(model.instants, float(model.capacity)), price=0.2, rounds=60)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pages", type=int, default=100)
    parser.add_argument("--instants", type=int, default=300)
    parser.add_argument("--seeds", type=int, default=3)
    given = parser.parse_args()
    rows = [
        ("stationary r = .9", {"decay": 0.9, "day": False, "costs": False}, 2, "WIC .891 index .984 price .985"),
        ("stationary r = .98", {"decay": 0.98, "day": False, "costs": False}, 2, "WIC .902 index .978 price .984"),
        (
            "stationary r = .9, costs 1/2/5",
            {"decay": 0.9, "day": False, "costs": True},
            6,
            "WIC .906 index .973 price .969 (overwrite)",
        ),
        (
            "day and night r = .9",
            {"decay": 0.9, "day": True, "costs": False},
            2,
            "WIC .902–.909 index .872 price .984–.993",
        ),
        (
            "day and night r = .98",
            {"decay": 0.98, "day": True, "costs": False},
            2,
            "bare index .83–.98 price .997–1.000 (net)",
        ),
    ]
    for name, more, capacity, printed in rows:
        cells: dict[str, list[float]] = {}
        for seed in range(given.seeds):
            model = make(given.pages, given.instants, capacity, np.random.default_rng(seed), **more)  # type: ignore[arg-type]
            dual = certify(model)
            level = float(dual.prices[0])
            for policy in (periodic, wic, index, price, price_hours):
                earned, spent = run(model, policy, level)
                cells.setdefault(policy.__name__, []).append(earned / dual.bound)
                if policy in (price, price_hours):
                    saved = level * (capacity * given.instants - spent)
                    cells.setdefault(f"{policy.__name__} net", []).append((earned + saved) / dual.bound)
        print(
            f"{name:32} "
            + "  ".join(
                f"{policy} {np.mean(found):.3f}±{np.std(found, ddof=1) / len(found) ** 0.5:.3f}"
                for policy, found in cells.items()
            )
            + f"   study: {printed}",
            flush=True,
        )


if __name__ == "__main__":
    main()
