"""Needs that are complete by who comes first, for each name of `schedule.needs`.

    PYTHONPATH=. .venv/bin/python bench/needs.py [--seeds 12]

Needs of 1 to 5 of 60 pages (Zipf), each open for 6 to 24 instants, weights ¼, ½, 1; one look an instant. `asked` is how many looks, each page
of each need for itself, are asked for per look there is; pages that several needs have in common make it less.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable

import numpy as np

from tests.unit.scheduling.test_needs import ONE, measure_complete, needs_of
from tidings.scheduling.needs import RANKINGS, Sought, ranks

INSTANTS = 400


def choice(name: str) -> Callable[[list[Sought], int], int]:
    """Return who is looked at first, of what is sought at an instant."""

    def first(sought: list[Sought], now: int) -> int:
        by_rank = ranks(sought, now, by=name, budget=ONE)
        return max(by_rank, key=lambda page: by_rank[page])

    return first


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=12)
    seeds = parser.parse_args().seeds
    print(f"share of weight that is complete, mean ± standard error of {seeds} seeds")
    for a_turn in (0.15, 0.25, 0.35, 0.5, 0.8, 1.2):
        made = [needs_of(np.random.default_rng(seed), INSTANTS, a_turn) for seed in range(seeds)]
        asked = np.mean([sum(len(need.waits) for _, need, _ in needs) for needs in made]) / INSTANTS
        cells = []
        for name in RANKINGS:
            found = [measure_complete(needs, INSTANTS, choice(name)) for needs in made]
            cells.append(f"{name} {np.mean(found):.3f}±{np.std(found, ddof=1) / seeds**0.5:.3f}")
        print(f"asked {asked:4.2f}:  " + "   ".join(cells), flush=True)


if __name__ == "__main__":
    main()
