"""Run the joint experiment of scheduling §9: utility, complex needs, costs and hosts under one budget.

    PYTHONPATH=. .venv/bin/python bench/study_joint.py [--seeds 8] [--milp 0]

20 pages, 40 instants, 25 CEIs of one to three intervals, costs 1 and 2, C units an instant, one
poll a host and instant. The rest is not in the study: rates and importance are as in
bench/study_bound.py, with appended and overwritten pages, r = .9, C = 3, 8 hosts, windows of 2 to 6
instants, and CEI weights found by hand on one cell (WIC alone). Shares are of the linear relaxation
over all plans of every page. `--milp N` also solves N seeds in whole numbers, at most a minute
each. The price is .15, as in the study, or the mean of what a unit is worth to the relaxation.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
from bench.intervals import interval
from bench.study_bound import DEVIATION, MEDIAN_RATE
from bench.study_model import Chances, Instance, Moment, choose, price, wic
from scipy.optimize import Bounds, LinearConstraint, linprog, milp
from scipy.sparse import csr_array

from tidings.lab.profiles import Cei, Interval
from tidings.scheduling.population import Floats

PAGES, INSTANTS, CEIS, HOSTS, CAPACITY = 20, 40, 25, 8, 3
WEIGHT = 0.45
"""The mean weight of a CEI."""


@dataclass(frozen=True, eq=False)
class Joint:
    """Pages and the needs over them."""

    instance: Instance
    ceis: tuple[Cei, ...]


def make(rng: np.random.Generator) -> Joint:
    """Draw pages and CEIs."""
    rate = rng.lognormal(np.log(MEDIAN_RATE), DEVIATION, PAGES)
    chances = -np.expm1(-rate[:, None] * np.ones(INSTANTS * 3))
    gains = Chances(chances, rng.uniform(0.1, 1.0, PAGES), np.full(PAGES, -np.log(0.9)), rng.random(PAGES) < 0.5)
    cost = rng.choice([1.0, 2.0], PAGES)
    ceis = []
    for _ in range(CEIS):
        intervals = []
        for page in rng.choice(PAGES, int(rng.integers(1, 4)), replace=False).tolist():
            start = int(rng.integers(1, INSTANTS - 6))
            intervals.append(Interval(page, start, start + int(rng.integers(1, 6))))
        ceis.append(Cei(tuple(intervals), weight=WEIGHT * float(rng.uniform(0.5, 1.5))))
    hosts = rng.integers(0, HOSTS, PAGES)
    return Joint(Instance(gains, gains, rate, cost, CAPACITY, INSTANTS, hosts), tuple(ceis))


class Plans:
    """The program over all plans: x[page, a, b] is 1 if a poll at b follows one at a, z[η] if CEI η is captured."""

    def __init__(self, joint: Joint) -> None:
        instance = joint.instance
        begins, ends = np.triu_indices(INSTANTS + 1, 1)
        self._legs = len(begins)
        worth = np.array(
            [instance.gains.backlog(np.full(PAGES, a), np.full(PAGES, b)) for a, b in zip(begins, ends, strict=True)]
        )
        self.gain = np.concatenate([worth.T.ravel(), [one.weight for one in joint.ceis]])
        self._rows: list[tuple[np.ndarray, np.ndarray, float]] = []
        leg = np.arange(self._legs)
        polls = {
            (page, now): page * self._legs + leg[ends == now] for page in range(PAGES) for now in range(1, INSTANTS + 1)
        }
        for page in range(PAGES):
            for now in range(INSTANTS):
                leaves = page * self._legs + leg[begins == now]
                comes = polls[page, now] if now else np.zeros(0, dtype=np.int64)
                self._row([(leaves, 1.0), (comes, -1.0)], 0.0 if now else 1.0)
        self.budget = slice(len(self._rows), len(self._rows) + INSTANTS)
        for now in range(1, INSTANTS + 1):
            self._row([(polls[page, now], instance.cost[page]) for page in range(PAGES)], float(CAPACITY))
        assert instance.hosts is not None
        for host in range(HOSTS):
            for now in range(1, INSTANTS + 1):
                self._row([(polls[page, now], 1.0) for page in np.flatnonzero(instance.hosts == host).tolist()], 1.0)
        for number, one in enumerate(joint.ceis):
            captured = np.array([PAGES * self._legs + number])
            for each in one.intervals:
                hits = [(polls[each.resource, now], -1.0) for now in range(each.start, min(each.end, INSTANTS) + 1)]
                self._row([(captured, 1.0), *hits], 0.0)

    def _row(self, parts: list[tuple[np.ndarray, float]], limit: float) -> None:
        columns = np.concatenate([np.zeros(0, dtype=np.int64), *(columns for columns, _ in parts)])
        values = np.concatenate([np.zeros(0), *(np.full(len(columns), value) for columns, value in parts)])
        self._rows.append((columns, values, limit))

    def matrix(self) -> tuple[csr_array, np.ndarray]:
        """Return the rows of the program and their limits."""
        row = np.concatenate([np.full(len(columns), number) for number, (columns, _, _) in enumerate(self._rows)])
        columns = np.concatenate([columns for columns, _, _ in self._rows])
        values = np.concatenate([values for _, values, _ in self._rows])
        shape = (len(self._rows), len(self.gain))
        return csr_array((values, (row, columns)), shape=shape), np.array([limit for _, _, limit in self._rows])

    def relax(self) -> tuple[float, float]:
        """Return the optimum of the relaxation, and what a unit of budget is worth to it on average."""
        matrix, limits = self.matrix()
        found = linprog(-self.gain, A_ub=matrix, b_ub=limits, bounds=(0, 1), method="highs")
        return -float(found.fun), -float(found.ineqlin.marginals[self.budget].mean())

    def whole(self, seconds: float) -> float:
        """Return the best that was found in whole numbers in so much time."""
        matrix, limits = self.matrix()
        found = milp(
            -self.gain,
            constraints=LinearConstraint(matrix, -np.inf, limits),
            bounds=Bounds(0, 1),
            integrality=np.ones(len(self.gain)),
            options={"time_limit": seconds},
        )
        return -float(found.fun)


@dataclass
class Needs:
    """Which intervals of each CEI are captured, as a run goes on."""

    ceis: tuple[Cei, ...]
    captured: list[set[int]] = field(init=False)

    def __post_init__(self) -> None:
        self.captured = [set() for _ in self.ceis]

    def bonus(self, now: int, worth: Callable[[Cei, int, int], float]) -> Floats:
        """Return Σ worth(CEI, intervals left, slack) over the open intervals of each page, of CEIs that can still be complete."""
        found = np.zeros(PAGES)
        for one, done in zip(self.ceis, self.captured, strict=True):
            left = [each for number, each in enumerate(one.intervals) if number not in done]
            if any(each.end < now for each in left):
                continue
            for each in left:
                if each.start <= now:
                    found[each.resource] += worth(one, len(left), each.end - now + 1)
        return found

    def poll(self, pages: list[int], now: int) -> None:
        """Capture what is open on these pages."""
        for one, done in zip(self.ceis, self.captured, strict=True):
            done.update(
                n for n, each in enumerate(one.intervals) if each.resource in pages and each.start <= now <= each.end
            )

    @property
    def value(self) -> float:
        """Return what the complete CEIs are worth."""
        return sum(
            one.weight for one, done in zip(self.ceis, self.captured, strict=True) if len(done) == len(one.intervals)
        )


Bids = Callable[[Moment, Needs], Floats]


def with_wic(at: Moment, needs: Needs) -> Floats:
    """WIC + w/l."""
    return np.asarray(wic(at) + needs.bonus(at.now, lambda one, left, _: one.weight / left) / at.instance.cost)


def needs_first(at: Moment, needs: Needs) -> Floats:
    """CEIs first, by their density, then WIC."""
    bonus = needs.bonus(at.now, lambda one, left, slack: one.weight / (left * slack)) / at.instance.cost
    return np.asarray(np.where(bonus > 0, 1e6 + bonus, wic(at)))


def with_price(at: Moment, needs: Needs) -> Floats:
    """Price-lookahead + w/(l·s), on the side of the poll alone (bid §1)."""
    bonus = needs.bonus(at.now, lambda one, left, slack: one.weight / (left * slack))
    return np.asarray(price(at) + bonus / at.instance.cost)


def run(joint: Joint, bids: Bids, level: float) -> float:
    """Return what polls and complete CEIs earn."""
    instance, needs = joint.instance, Needs(joint.ceis)
    last = np.zeros(PAGES, dtype=np.int64)
    earned = 0.0
    for now in range(1, INSTANTS + 1):
        gains = instance.gains.backlog(last, now)
        chosen = choose(bids(Moment(instance, last, now, gains, level), needs), instance)
        earned += float(gains[chosen].sum())
        last[chosen] = now
        needs.poll(chosen.tolist(), now)
    return earned + needs.value


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=8)
    parser.add_argument("--milp", type=int, default=0, help="seeds that are solved in whole numbers as well")
    given = parser.parse_args()
    shares: dict[str, list[float]] = {}
    for seed in range(given.seeds):
        joint = make(np.random.default_rng(seed))
        plans = Plans(joint)
        bound, level = plans.relax()
        rows: dict[str, tuple[Bids, float]] = {
            "price .15 + w/(l·s)": (with_price, 0.15),
            "price of the relaxation + w/(l·s)": (with_price, level),
            "WIC + w/l": (with_wic, 0.0),
            "CEIs first, then WIC": (needs_first, 0.0),
            "WIC alone": (lambda at, _: wic(at), 0.0),
        }
        for name, (bids, at) in rows.items():
            shares.setdefault(name, []).append(run(joint, bids, at) / bound)
        if seed < given.milp:
            shares.setdefault("whole numbers (MILP)", []).append(plans.whole(60.0) / bound)
    printed = {
        "price .15 + w/(l·s)": ".939",
        "WIC + w/l": ".880",
        "CEIs first, then WIC": ".879",
        "WIC alone": ".648",
        "whole numbers (MILP)": ".993–.999",
    }
    for name, values in shares.items():
        print(f"{name:34} {interval(values)} ({printed.get(name, '–')})")


if __name__ == "__main__":
    main()
