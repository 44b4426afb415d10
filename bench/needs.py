"""Compare how many needs are complete if the service ranks them, or the earliest deadline comes first.

    PYTHONPATH=. .venv/bin/python bench/needs.py [--seeds 12]

Needs have 1 to 5 of 60 pages (Zipf). Each is open for 6 to 24 instants and weighs ¼, ½ or 1. There
is one poll an instant. `asked` is the number of polls that needs ask for per poll there is, where
each page of each need counts for itself. Pages that several needs share make the true number lower.
"""

from __future__ import annotations

import argparse

import numpy as np

from tests.unit.scheduling.test_needs import first_to_end, highest, measure_complete, needs_of

INSTANTS = 400


CHOICES = {"as the service": highest, "earliest deadline": first_to_end}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=12)
    seeds = parser.parse_args().seeds
    print(f"share of weight that is complete, mean ± standard error of {seeds} seeds")
    for a_turn in (0.15, 0.25, 0.35, 0.5, 0.8, 1.2):
        made = [needs_of(np.random.default_rng(seed), INSTANTS, a_turn) for seed in range(seeds)]
        asked = np.mean([sum(len(need.waits) for _, need, _ in needs) for needs in made]) / INSTANTS
        cells = []
        for name, choose in CHOICES.items():
            found = [measure_complete(needs, INSTANTS, choose) for needs in made]
            cells.append(f"{name} {np.mean(found):.3f}±{np.std(found, ddof=1) / seeds**0.5:.3f}")
        print(f"asked {asked:4.2f}:  " + "   ".join(cells), flush=True)


if __name__ == "__main__":
    main()
