"""Completeness of the policies for complex profiles, beside bounds: the study's set-ups (scheduling §2.4), and AuctionWatch(k) on real auctions (001 §5).

    PYTHONPATH=. .venv/bin/python bench/profiles.py [--seeds 8] [--only synthetic|auctions]

Means over seeds ± half of their 95 % confidence intervals; `study` is what scheduling §2.4 prints, of 3 seeds. It does not print how many
profiles and chronons each row had: here they are such that the LP bound is the study's, from the fewest choices: 50 profiles and 1,000
chronons for P[1], 100 profiles and 500 chronons with windows of 10, 400 with windows of 20. Load is the number of distinct intervals asked for
per probe there is. `AGG load` is AGG with a slack that weighs the more the lower the load. MILP: the best of all, each instance searched for 20 s at most.

Auctions: the bids of the data set, each auction placed at a uniform start (seeded) on one line of ten days and 1,000 chronons; an update is a
bid; a profile watches k auctions of one item that run at the same time, within 20 chronons.
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from bench.intervals import interval

from tests.data_sets import rows_of
from tidings.lab.bounds import local_ratio, optimum, relaxation
from tidings.lab.generate import poisson_updates, profiles, watch
from tidings.lab.profiles import Aggregate, Cei, MEdf, Mrsf, Online, SEdf

POLICIES = {
    "S-EDF": Online(SEdf()),
    "MRSF": Online(Mrsf()),
    "M-EDF": Online(MEdf()),
    "MRSF(NP)": Online(Mrsf(), preemptive=False),
    "AGG": Online(Aggregate()),
    "AGG load": Online(Aggregate(), heeds_load=True),
}
COLUMNS = (*POLICIES, "LP", "MILP", "LR")
INSTANTS = 1_000


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=8)
    parser.add_argument("--only", choices=["synthetic", "auctions"])
    given = parser.parse_args()
    if given.only != "auctions":
        synthetic(given.seeds)
    if given.only != "synthetic":
        auctions(given.seeds)


@dataclass(frozen=True)
class Setup:
    """A row of the study: its profiles, and what it prints by policy or bound."""

    name: str
    study: Mapping[str, float]
    rank: int = 3
    window: int = 0
    number: int = 100
    instants: int = 500
    mean: float = 10
    budget: int = 1
    skew: float = 0.0
    fixed: bool = False

    def make_instance(self, seed: int) -> list[Cei]:
        """Return an instance."""
        rng = np.random.default_rng(seed)
        updates = poisson_updates(200, self.instants, self.mean, rng)
        return profiles(
            updates,
            self.number,
            most=self.rank,
            window=self.window,
            instants=self.instants,
            rng=rng,
            skew=self.skew,
            fixed=self.fixed,
        )


def _tabulate(*values: float, **more: float) -> dict[str, float]:
    """Return the printed values of S-EDF, MRSF, M-EDF, AGG and LP by name, and others."""
    return {**dict(zip(("S-EDF", "MRSF", "M-EDF", "AGG", "LP"), values, strict=True)), **more}


SETUPS = (
    *(
        Setup(f"P[1], rank {rank}", printed, rank=rank, number=50, instants=1_000, fixed=True)
        for rank, printed in {
            1: _tabulate(0.822, 0.822, 0.822, 0.835, 0.835, MILP=0.835, LR=0.814),
            2: _tabulate(0.574, 0.619, 0.619, 0.648, 0.664, MILP=0.662, LR=0.652),
            3: _tabulate(0.371, 0.437, 0.437, 0.499, 0.531, MILP=0.528, LR=0.508),
            5: _tabulate(0.212, 0.255, 0.255, 0.294, 0.390, MILP=0.352, LR=0.333),
        }.items()
    ),
    Setup("W=10, λ=10", _tabulate(0.440, 0.557, 0.552, 0.604, 0.692, **{"MRSF(NP)": 0.545}), window=10),
    Setup("W=10, λ=20", _tabulate(0.195, 0.354, 0.361, 0.390, 0.453), window=10, mean=20),
    Setup("α=1.37", _tabulate(0.987, 0.925, 0.926, 0.951, 0.999), window=10, skew=1.37),
    Setup("W=20, C=1", _tabulate(0.400, 0.485, 0.513, 0.586, 0.681), window=20, instants=400),
    Setup("W=20, C=2", _tabulate(0.912, 0.772, 0.777, 0.909, 0.995), window=20, instants=400, budget=2),
)


def synthetic(seeds: int) -> None:
    print(f"completeness, {seeds} seeds: mean ± half of the 95 % interval; below the study's\n")
    print(f"| set-up | load | CEIs | {' | '.join(COLUMNS)} |")
    print("|---|" + "---:|" * (len(COLUMNS) + 2))
    for setup in SETUPS:
        instances = [setup.make_instance(seed) for seed in range(seeds)]
        line(setup.name, instances, setup.instants, setup.budget)
        cells = [f"{setup.study[name]:.3f}" if name in setup.study else "" for name in COLUMNS]
        print(f"| study | | | {' | '.join(cells)} |", flush=True)


def line(name: str, instances: list[list[Cei]], instants: int, budget: int) -> None:
    found = {
        policy: [online.run(ceis, instants, budget).completeness for ceis in instances]
        for policy, online in POLICIES.items()
    }
    found["LP"] = [relaxation(ceis, instants, budget).bound / len(ceis) for ceis in instances]
    if budget == 1 and all(i.length == 1 for ceis in instances for one in ceis for i in one.intervals):
        found["MILP"] = [optimum(ceis, instants, budget, seconds=20).value / len(ceis) for ceis in instances]
        found["LR"] = [len(local_ratio(ceis, instants)) / len(ceis) for ceis in instances]
    load = np.mean([_load(ceis) for ceis in instances]) / budget / instants
    size = np.mean([len(ceis) for ceis in instances])
    cells = [interval(found[column]) if column in found else "" for column in COLUMNS]
    print(f"| {name} | {load:.2f} | {size:.0f} | {' | '.join(cells)} |", flush=True)


def _load(ceis: list[Cei]) -> int:
    return len({interval for one in ceis for interval in one.intervals})


def auctions(seeds: int) -> None:
    bids: dict[int, list[float]] = {}
    length: dict[int, float] = {}
    item: dict[int, str] = {}
    for row in rows_of("auctions/auctions.csv.gz"):
        number = int(row["auction_id"])
        bids.setdefault(number, []).append(float(row["bid_time_days"]))
        length[number], item[number] = float(row["duration_days"]), row["item"]
    days, instants = 10.0, INSTANTS
    print(
        f"\nAuctionWatch(k): {len(bids)} auctions, {sum(map(len, bids.values()))} bids over {days:.0f} days, {instants} chronons, W = 20, C = 1, {seeds} seeds"
    )
    print(f"\n| k | load | CEIs | {' | '.join(COLUMNS)} |")
    print("|---|" + "---:|" * (len(COLUMNS) + 2))
    for k in range(1, 6):
        made = [
            _place_auctions(bids, length, item, k, days, instants, np.random.default_rng(seed)) for seed in range(seeds)
        ]
        line(str(k), made, instants, 1)


def _place_auctions(
    bids: dict[int, list[float]],
    length: dict[int, float],
    item: dict[int, str],
    k: int,
    days: float,
    instants: int,
    rng: np.random.Generator,
) -> list[Cei]:
    """Place the auctions on one line and let 150 profiles watch k of an item that overlap in time."""
    begins = {number: float(rng.uniform(0, days - length[number])) for number in bids}
    updates = {
        number: sorted({1 + min(int((begins[number] + at) / days * instants), instants - 1) for at in times})
        for number, times in bids.items()
    }
    made: list[Cei] = []
    numbers = sorted(bids)
    for _ in range(150):
        first = int(rng.choice(numbers))
        alike = [
            n
            for n in numbers
            if n != first
            and item[n] == item[first]
            and begins[n] < begins[first] + length[first]
            and begins[first] < begins[n] + length[n]
        ]
        others = rng.choice(alike, min(k - 1, len(alike)), replace=False).tolist() if k > 1 and alike else []
        made += watch(updates, [first, *others], window=20, instants=instants, rank=k)
    return made


if __name__ == "__main__":
    main()
