"""Measure how near WIC comes to the best schedule on small instances.

    PYTHONPATH=. .venv/bin/python bench/wic.py [--instances 60] [--seed 1]

Over random instances (3 pages, 6 instants, 1 poll an instant) it prints the mean and worst of
best/WIC for each life and urgency, beside the theorem's 1 + a.
"""

from __future__ import annotations

import argparse

import numpy as np

from tidings.lab import wic as law
from tidings.lab.wic import WicPage, best, top, wic

LIVES = {
    "append": law.forever(),
    "time window 1": law.time_window(1),
    "time window 3": law.time_window(3),
    "change window 2": law.change_window(2),
    "overwrite": law.overwrite(),
}
URGENCIES = {
    "uniform": law.uniform(),
    "r = .9": law.exponential(0.9),
    "r = .5": law.exponential(0.5),
    "window 0": law.sliding_window(0),
    "window 1": law.sliding_window(1),
    "chord 4": law.chordal(4),
    "Erlang 3": law.erlang(0.5, 3),
}


def ratios(instances: int, rng: np.random.Generator) -> None:
    print(f"best/WIC over {instances} instances a cell: mean (worst); bound 1 + a")
    worst = 0.0
    for name, urgency in URGENCIES.items():
        bound = 1 + law.steepness(urgency, 6)
        cells = []
        for life in LIVES.values():
            found = []
            for _ in range(instances):
                pages = [WicPage(rng.uniform(0, 1, 6) ** 2, life, urgency, rng.uniform(0.2, 1)) for _ in range(3)]
                found.append(best(pages, 1).utility / wic(pages, top(1)).utility)
            if max(found) > bound + 1e-9:
                raise SystemExit(f"the bound is broken: {name}")
            worst = max(worst, *found)
            cells.append(f"{np.mean(found):.3f} ({max(found):.2f})")
        print(f"{name:10} {bound:.2f}  " + "  ".join(f"{cell:13}" for cell in cells))
    print("columns: " + ", ".join(LIVES) + f"; worst of all {worst:.2f}\n")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--instances", type=int, default=60)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    ratios(given.instances, np.random.default_rng(given.seed))


if __name__ == "__main__":
    main()
