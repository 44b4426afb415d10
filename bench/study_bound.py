"""Print the table of scheduling §9: what policies earn as a share of what any schedule could.

    PYTHONPATH=. .venv/bin/python bench/study_bound.py [--rows NAME …] [--seeds 8] [--rounds 120]

The printed values stand beside. 200 pages, 300 instants, C units an instant that cannot be saved.
The study does not print its pages. Ours have lognormal rates with median .04 and deviation 1, and
importance uniform in .1 … 1. They are fitted to how periodic and WIC stand to the index in the
append rows, and to uniform overwrite, C = 4. C, hosts and the wave of the day, where they are not
printed, were found by trying a few. Day and night: 1 + .9·sin over 24 instants, pages in four
phases. Each cell is the mean of the seeds ± half of its 95 % interval; each seed draws new pages.
The bound has a price for every instant. `gap` is the distance from the best policy that was run to
the bound.
"""

from __future__ import annotations

import argparse
import time
from dataclasses import dataclass, field, replace

import numpy as np
from bench.intervals import interval
from bench.study_model import (
    DAY,
    Bids,
    Chances,
    Instance,
    ahead,
    certify,
    hours,
    index,
    mean_index,
    periodic,
    price,
    run,
    wic,
    wic_without_costs,
)

PAGES, INSTANTS = 200, 300
MEDIAN_RATE, DEVIATION = 0.04, 1.0
PHASES = 4
AHEAD = 3
"""Chances are known for so many times the instants: plans go beyond the end, which they do not know."""


@dataclass(frozen=True)
class Setup:
    """What pages of a row are like. `ratio` is r of each page's urgency, one of these by lot; so are lives and costs."""

    capacity: int
    ratios: tuple[float, ...]
    overwrites: tuple[bool, ...] = (False,)
    costs: tuple[float, ...] = (1.0,)
    day: bool = False
    known: bool = False
    hosts: int | None = None
    guarded: bool = True
    """Who does not mind when is planned for as if he minded after the whole run (guard 1)."""


@dataclass(frozen=True)
class Row:
    """A cell of the table: what the study prints for periodic, WIC, index and price-lookahead."""

    setup: Setup
    printed: tuple[str, str, str, str]
    more: dict[str, Bids] = field(default_factory=dict)


def make(setup: Setup, rng: np.random.Generator) -> Instance:
    """Draw the pages of an instance."""
    rate = rng.lognormal(np.log(MEDIAN_RATE), DEVIATION, PAGES)
    weight = rng.uniform(0.1, 1.0, PAGES)
    phases = rng.integers(0, PHASES, PAGES) if setup.day else np.zeros(PAGES, dtype=np.int64)
    instants = np.arange(1, INSTANTS * AHEAD + 1)
    turns = (instants[None, :] + np.arange(PHASES)[:, None] * (DAY // PHASES)) / DAY
    waves = 1 + 0.9 * np.sin(2 * np.pi * turns) * setup.day
    chances = -np.expm1(-rate[:, None] * waves[phases])
    if setup.known:
        chances = (rng.random(chances.shape) < chances).astype(np.float64)
    decay = -np.log(rng.choice(np.array(setup.ratios), PAGES))
    overwrites = rng.choice(np.array(setup.overwrites), PAGES)
    cost = rng.choice(np.array(setup.costs), PAGES)
    gains = Chances(chances, weight, decay, overwrites)
    slowest = np.where(overwrites, 0.0, 1 / INSTANTS if setup.guarded else 1e-9)
    seen = Chances(chances, weight, np.maximum(decay, slowest), overwrites) if (decay < slowest).any() else gains
    hosts = None if setup.hosts is None else rng.integers(0, setup.hosts, PAGES)
    return Instance(gains, seen, rate, cost, setup.capacity, INSTANTS, hosts, waves[:, :DAY], phases)


POLICIES: dict[str, Bids] = {"periodic": periodic, "wic": wic, "index": index, "price": price}
PRICED = {"price": price, "24 ahead": ahead}
HOURLY = {"price_hours": hours}
COSTS = (1.0, 2.0, 5.0)
WITHOUT: dict[str, Bids] = {"g alone": wic_without_costs}
MEAN: dict[str, Bids] = {"index of means": mean_index}


def append(ratio: float, capacity: int, *, day: bool = False, known: bool = False, guarded: bool = True) -> Setup:
    return Setup(capacity, (ratio,), day=day, known=known, guarded=guarded)


ROWS: dict[str, Row] = {
    **{
        f"append r={ratio} C={capacity}": Row(append(ratio, capacity), printed)
        for capacity, ratio, printed in (
            (4, 0.5, (".526", ".965", ".989", ".987")),
            (4, 0.9, (".841", ".891", ".984", ".985")),
            (4, 0.98, (".922", ".902", ".978", ".984")),
            (16, 0.5, (".741", ".962", ".976", ".971")),
            (16, 0.9, (".927", ".916", ".971", ".969")),
            (16, 0.98, (".948", ".929", ".965", ".965")),
        )
    },
    "overwrite uniform C=4": Row(Setup(4, (1.0,), (True,)), (".821", ".946", ".980", ".985")),
    "overwrite uniform C=16": Row(Setup(16, (1.0,), (True,)), (".931", ".945", ".972", ".973")),
    "overwrite r=.9 costs C=8": Row(
        Setup(8, (0.9,), (True,), COSTS), (".575", ".906 (g alone .864)", ".973", ".969"), WITHOUT
    ),
    "overwrite r=.9 costs C=32": Row(
        Setup(32, (0.9,), (True,), COSTS), (".732", ".881 (g alone .784)", ".930", ".919"), WITHOUT
    ),
    "day/night append r=.9 C=8": Row(append(0.9, 8, day=True), (".785–.810", ".902–.909", ".872", ".984–.993")),
    "day/night overwrite costs C=16": Row(
        Setup(16, (0.9,), (True,), COSTS, day=True), (".43–.47", ".897–.948", ".83–.86", ".970–.982")
    ),
    "day/night mixed C=16": Row(
        Setup(16, (0.5, 0.9, 0.98), (False, True), COSTS, day=True), (".546", ".889", ".842", ".981 (L=24 .976)")
    ),
    "day/night append r=.9 C=8, 6 hosts": Row(Setup(8, (0.9,), day=True, hosts=6), (".665", ".789", ".765", ".835")),
    "known 0/1 append r=.9 C=8": Row(append(0.9, 8, known=True), (".561", ".933", ".952", ".998"), MEAN),
    "known 0/1 append r=1 C=8": Row(append(1.0, 8, known=True), (".959", ".994", ".611", ".254"), MEAN),
    "known 0/1 append r=1 C=8, unguarded": Row(
        append(1.0, 8, known=True, guarded=False), (".959", ".994", ".611", ".254"), MEAN
    ),
    "known 0/1 append r=1 C=2, unguarded": Row(append(1.0, 2, known=True, guarded=False), ("–", "–", "–", "–"), MEAN),
}


def cells(row: Row, seeds: int, rounds: int) -> tuple[dict[str, list[float]], list[float]]:
    """Return the shares of the bound by policy, a number a seed, and how far the bound lies above the best that was run."""
    found: dict[str, list[float]] = {}
    gaps = []
    for seed in range(seeds):
        instance = make(row.setup, np.random.default_rng(seed))
        earned = {name: run(instance, bids) for name, bids in {**POLICIES, **row.more}.items() if name not in PRICED}
        dual, level = certify(instance, max(earned.values()), rounds)
        priced = PRICED if row.setup.known else PRICED | HOURLY
        earned |= {name: run(instance, bids, level) for name, bids in priced.items()}
        for name, value in earned.items():
            found.setdefault(name, []).append(value / dual.bound)
        gaps.append(dual.bound / max(earned.values()) - 1)
        if row.setup.hosts is not None:
            fewer = replace(instance, capacity=min(instance.capacity, row.setup.hosts))
            bound = certify(fewer, max(earned.values()), rounds)[0].bound
            found.setdefault(f"price, of the bound of {fewer.capacity} units", []).append(earned["price"] / bound)
    return found, gaps


def online(seeds: int, rounds: int) -> None:
    """Print what `price` earns at other prices than the best one."""
    printed = {"day/night append r=.9 C=8": ".983 .983 .986 .971", "day/night mixed C=16": ".976 .978 .977 .926"}
    print(
        "online prices: one scalar; started three times too high, with control; three times too low, with control; half of it, fixed"
    )
    for name, study in printed.items():
        shares: dict[str, list[float]] = {}
        for seed in range(seeds):
            instance = make(ROWS[name].setup, np.random.default_rng(seed))
            dual, level = certify(instance, run(instance, wic), rounds)
            for label, start, settles in (
                ("one scalar", level, False),
                ("×3, control", level * 3, True),
                ("÷3, control", level / 3, True),
                ("×.5 fixed", level / 2, False),
            ):
                shares.setdefault(label, []).append(run(instance, price, start, settles=settles) / dual.bound)
        print(
            f"{name:32} " + "  ".join(f"{k} {interval(v)}" for k, v in shares.items()) + f"   study {study}", flush=True
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", nargs="*", default=[*ROWS, "online"], help="parts of the names of rows, or `online`")
    parser.add_argument("--seeds", type=int, default=8)
    parser.add_argument("--rounds", type=int, default=120, help="steps of the bound")
    given = parser.parse_args()
    for name, row in ROWS.items():
        if not any(part in name for part in given.rows):
            continue
        began = time.process_time()
        found, gaps = cells(row, given.seeds, given.rounds)
        study: dict[str, str] = dict(zip(POLICIES, row.printed, strict=True))
        print(
            f"{name:32} "
            + "  ".join(f"{policy} {interval(shares)} ({study.get(policy, '')})" for policy, shares in found.items())
            + f"   gap {np.mean(gaps):.3f}, {time.process_time() - began:.0f} s",
            flush=True,
        )
    if "online" in given.rows:
        online(given.seeds, given.rounds)


if __name__ == "__main__":
    main()
