"""WIC: how near to the best it comes on small instances, and what a million pages cost.

    PYTHONPATH=. .venv/bin/python bench/wic.py [--instances 60] [--pages 1000000] [--instants 60] [--seed 1]

First table: over random instances (3 pages, 6 instants, 1 poll an instant) the mean and worst of best/WIC for each life and urgency, beside
the theorem's 1 + a. Second: time a page an instant of the dense form (one core), beside what the machine takes to copy as much memory.
"""

from __future__ import annotations

import argparse
import time

import numpy as np

from tidings.scheduling.wic import urgency as lives
from tidings.scheduling.wic import urgency as urgencies
from tidings.scheduling.wic.greedy import DenseWic, Page, best, top, wic

LIVES = {
    "append": lives.forever(),
    "time window 1": lives.time_window(1),
    "time window 3": lives.time_window(3),
    "change window 2": lives.change_window(2),
    "overwrite": lives.overwrite(),
}
URGENCIES = {
    "uniform": urgencies.uniform(),
    "r = .9": urgencies.exponential(0.9),
    "r = .5": urgencies.exponential(0.5),
    "window 0": urgencies.sliding_window(0),
    "window 1": urgencies.sliding_window(1),
    "chord 4": urgencies.chordal(4),
    "Erlang 3": urgencies.erlang(0.5, 3),
}


def ratios(instances: int, rng: np.random.Generator) -> None:
    print(f"best/WIC over {instances} instances a cell: mean (worst); bound 1 + a")
    worst = 0.0
    for name, urgency in URGENCIES.items():
        bound = 1 + urgencies.steepness(urgency, 6)
        cells = []
        for life in LIVES.values():
            found = []
            for _ in range(instances):
                pages = [Page(rng.uniform(0, 1, 6) ** 2, life, urgency, rng.uniform(0.2, 1)) for _ in range(3)]
                found.append(best(pages, 1).utility / wic(pages, top(1)).utility)
            if max(found) > bound + 1e-9:
                raise SystemExit(f"the bound is broken: {name}")
            worst = max(worst, *found)
            cells.append(f"{np.mean(found):.3f} ({max(found):.2f})")
        print(f"{name:10} {bound:.2f}  " + "  ".join(f"{cell:13}" for cell in cells))
    print("columns: " + ", ".join(LIVES) + f"; worst of all {worst:.2f}\n")


def speed(pages: int, instants: int, rng: np.random.Generator) -> None:
    chances = (rng.pareto(1.2, pages) * 1e-4).clip(0, 0.5).astype(np.float32)
    source, target = np.ones(pages, dtype=np.float32), np.empty(pages, dtype=np.float32)
    began = time.perf_counter()
    for _ in range(instants):
        np.copyto(target, source)
    copy = (time.perf_counter() - began) / instants / pages * 1e9
    print(
        f"{pages:,} pages, {instants} instants; copying 4 bytes a page: {copy:.2f} ns a page ({8 / copy:.1f} GB/s read and written)"
    )
    for capacity in (100, 1_000, 10_000):
        for name, kept in (
            ("append r = .98", np.float32(0.98)),
            ("overwrite r = .98", np.float32(0.98) * (1 - chances)),
        ):
            dense = DenseWic(pages, capacity)
            for _ in range(20):
                dense.step(kept, chances)
            times = []
            for _ in range(instants):
                began = time.perf_counter()
                dense.step(kept, chances)
                times.append(time.perf_counter() - began)
            print(
                f"C = {capacity:6,}  {name:18} median {np.median(times) / pages * 1e9:.2f} ns a page an instant,"
                f" best {min(times) / pages * 1e9:.2f}; fallbacks {dense.fallbacks}"
            )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--instances", type=int, default=60)
    parser.add_argument("--pages", type=int, default=1_000_000)
    parser.add_argument("--instants", type=int, default=60)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    rng = np.random.default_rng(given.seed)
    ratios(given.instances, rng)
    speed(given.pages, given.instants, rng)


if __name__ == "__main__":
    main()
