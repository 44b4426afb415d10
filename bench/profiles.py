"""Completeness of the policies for complex profiles, beside bounds: synthetic set-ups, and AuctionWatch(k) on real auctions (001 §5).

    PYTHONPATH=. .venv/bin/python bench/profiles.py [--seeds 8] [--only synthetic|auctions]

Synthetic: 200 resources, 1,000 chronons, Poisson updates; profiles as each row says; means over seeds with standard errors. Load is the
number of distinct intervals asked for per probe there is. The study's values stand below: its generator is not known to the letter, so
that orders and distances compare, not digits. Auctions: the bids of the data set, each auction placed at a uniform start (seeded) on one
line of ten days and 1,000 chronons; an update is a bid; a profile watches k auctions of one item that run at the same time.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable

import numpy as np

from tests.data_sets import rows_of
from tidings.lab.bounds import local_ratio, optimum, relaxation
from tidings.lab.generate import poisson_updates, profiles, watch
from tidings.scheduling.profiles.cei import Cei
from tidings.scheduling.profiles.online import Online
from tidings.scheduling.profiles.ranking import Aggregate, MEdf, Mrsf, SEdf

POLICIES = {
    "S-EDF": Online(SEdf()),
    "MRSF": Online(Mrsf()),
    "M-EDF": Online(MEdf()),
    "MRSF(NP)": Online(Mrsf(), preemptive=False),
    "AGG": Online(Aggregate()),
    "AGG load": Online(Aggregate(), heeds_load=True),
}
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


def synthetic(seeds: int) -> None:
    rows: list[tuple[str, str, Callable[[np.random.Generator], list[Cei]], int]] = []
    study = {
        1: "S .822 MRSF .822 M .822 AGG .835 LP .835 MILP .835 LR .814",
        2: "S .574 MRSF .619 M .619 AGG .648 LP .664 MILP .662 LR .652",
        3: "S .371 MRSF .437 M .437 AGG .499 LP .531 MILP .528 LR .508",
        5: "S .212 MRSF .255 M .255 AGG .294 LP .390 MILP .352 LR .333",
    }
    for rank, printed in study.items():
        rows.append((f"P[1], rank {rank}", printed, _made(rank=rank, window=0, fixed=True, number=125, mean=10), 1))
    rows += [
        (
            "W=10, λ=10",
            "S .440 MRSF .557 M .552 AGG .604 LP .692 NP .545",
            _made(rank=3, window=10, number=180, mean=10),
            1,
        ),
        ("W=10, λ=20", "S .195 MRSF .354 M .361 AGG .390 LP .453", _made(rank=3, window=10, number=180, mean=20), 1),
        (
            "α=1.37",
            "S .987 MRSF .925 M .926 AGG .951 LP .999",
            _made(rank=3, window=10, number=180, mean=10, skew=1.37),
            1,
        ),
        ("W=20, C=1", "S .400 MRSF .485 M .513 AGG .586 LP .681", _made(rank=3, window=20, number=180, mean=12), 1),
        ("W=20, C=2", "S .912 MRSF .772 M .777 AGG .909 LP .995", _made(rank=3, window=20, number=180, mean=12), 2),
    ]
    print(f"completeness, {seeds} seeds: mean ± standard error")
    for name, printed, make, budget in rows:
        table(name, [make(np.random.default_rng(seed)) for seed in range(seeds)], INSTANTS, budget)
        print(f"{'':14} study: {printed}")


def _made(
    *, rank: int, window: int, number: int, mean: float, skew: float = 0.0, fixed: bool = False
) -> Callable[[np.random.Generator], list[Cei]]:
    def make(rng: np.random.Generator) -> list[Cei]:
        updates = poisson_updates(200, INSTANTS, mean, rng)
        return profiles(updates, number, most=rank, window=window, instants=INSTANTS, rng=rng, skew=skew, fixed=fixed)

    return make


def table(name: str, instances: list[list[Cei]], instants: int, budget: int) -> None:
    cells = []
    for policy, online in POLICIES.items():
        found = [online.run(ceis, instants, budget).completeness for ceis in instances]
        cells.append(f"{policy} {np.mean(found):.3f}±{np.std(found, ddof=1) / len(found) ** 0.5:.3f}")
    bounds = [relaxation(ceis, instants, budget).bound / len(ceis) for ceis in instances]
    cells.append(f"LP {np.mean(bounds):.3f}")
    if budget == 1 and all(i.length == 1 for ceis in instances for one in ceis for i in one.intervals):
        exact = [optimum(ceis, instants, budget, seconds=20) for ceis in instances[:2]]
        ratio = [len(local_ratio(ceis, instants)) / len(ceis) for ceis in instances]
        cells.append(
            f"MILP {np.mean([e.value / len(c) for e, c in zip(exact, instances, strict=False)]):.3f} (2 seeds)"
        )
        cells.append(f"LR {np.mean(ratio):.3f}")
    load = np.mean([_load(ceis) for ceis in instances]) / budget / instants
    print(
        f"{name:14} load {load:.2f}, {np.mean([len(c) for c in instances]):.0f} CEIs: " + "  ".join(cells), flush=True
    )


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
    for k in range(1, 6):
        began = time.perf_counter()
        made = [_watched(bids, length, item, k, days, instants, np.random.default_rng(seed)) for seed in range(seeds)]
        table(f"k = {k}", made, instants, 1)
        print(f"{'':14} {time.perf_counter() - began:.0f} s")


def _watched(
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
