"""The Gardener's rules side by side, and its construction against its bound (scheduling study §4).

    PYTHONPATH=. .venv/bin/python bench/gardener.py [--gardens 25] [--plants 30] [--days 300] [--seed 1]

First table: average tardiness T̄ (worst T_max) and average workload as a share of Ω, for capacities k from Ω up; means over gardens with
their standard errors. Plants cost 0.1 to 1 and want care every 2 to 15 days. Second: `construct` and `refine` on random gardens.
"""

from __future__ import annotations

import argparse

import numpy as np

from tidings.scheduling.gardener.demand import Capacity
from tidings.scheduling.gardener.garden import Garden, measure
from tidings.scheduling.gardener.medd import edd, medd, medd_dbf, mmedd, tend
from tidings.scheduling.gardener.powers import bound, construct, refine

RULES = {"MEDD": medd, "MEDD-DBF": medd_dbf, "EDD": edd}
PRINTED = {
    1.00: ".0381 (.895, 2.7) | .0108 (.999, 1.6) | .0142 (1.09)",
    1.05: ".0329 (.905, 2.5) | .0076 (.996, 1.2) | .0081 (1.14)",
    1.15: ".0229 (.927, 2.0) | .0057 (.989, 1.0) | .0026 (1.23)",
    1.30: ".0145 (.947, 1.7) | .0038 (.985, 1.0) | .0004 (1.38)",
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--gardens", type=int, default=25)
    parser.add_argument("--plants", type=int, default=30)
    parser.add_argument("--days", type=int, default=300)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    rng = np.random.default_rng(given.seed)
    gardens = [
        Garden.of(rng.uniform(0.1, 1, given.plants), rng.integers(2, 16, given.plants)) for _ in range(given.gardens)
    ]
    rules(gardens, given.days)
    construction(rng)
    trades(gardens[0], given.days)


def rules(gardens: list[Garden], days: int) -> None:
    print(
        f"{len(gardens)} gardens × {days} days: T̄ ± standard error (K̄/Ω, T_max); below: the study's, of another generator"
    )
    for ratio, printed in PRINTED.items():
        row = []
        for name, rule in RULES.items():
            found = []
            for garden in gardens:
                capacity = Capacity(max(ratio * garden.density, float(garden.costs.max())))
                m = measure(garden, tend(garden, rule, capacity, days))
                found.append((m.average_tardiness, m.average_workload / garden.density, m.peak_tardiness))
            late, load, worst = np.mean(found, axis=0)
            error = np.std([f[0] for f in found], ddof=1) / len(found) ** 0.5
            row.append(f"{name} {late:.4f} ± {error:.4f} ({load:.3f}, {worst:.1f})")
        print(f"k = {ratio:.2f} Ω  " + " | ".join(row))
        print(f"      study  {printed}")


def construction(rng: np.random.Generator, number: int = 200) -> None:
    peaks, averages, refined, refined_peaks = [], [], [], []
    for _ in range(number):
        n = int(rng.integers(1, 25))
        garden = Garden.of(rng.uniform(0.05, 1, n), rng.integers(1, 65, n))
        cycle, better = construct(garden), refine(garden)
        if not (cycle.keeps(garden) and better.keeps(garden)):
            raise SystemExit("a window was missed")
        loads = [garden.workload(day) for day in cycle]
        peaks.append(max(loads) / bound(garden))
        averages.append(np.mean(loads) / garden.density)
        loads = [garden.workload(day) for day in better]
        refined.append(np.mean(loads) / garden.density)
        refined_peaks.append(max(loads) / bound(garden))
    print(f"\n{number} random gardens, every window kept by both:")
    print(
        f"construct: K_max/(4Ω+2) at most {max(peaks):.2f}; K̄/Ω median {np.median(averages):.2f}, at most {max(averages):.3f}"
    )
    print(
        f"refine:    K_max/(4Ω+2) at most {max(refined_peaks):.2f}; K̄/Ω median {np.median(refined):.2f}, at most {max(refined):.3f}"
    )


def trades(garden: Garden, days: int) -> None:
    print(f"\nMMEDD on the first garden (Ω = {garden.density:.2f}): what nothing else beats")
    for alternative in mmedd(garden, 1.5 * garden.density, days):
        m = alternative.measures
        print(
            f"k = {alternative.capacity:.3f}: K̄ {m.average_workload:.3f}, K_max {m.peak_workload:.2f}, T̄ {m.average_tardiness:.4f}, T_max {m.peak_tardiness}"
        )


if __name__ == "__main__":
    main()
