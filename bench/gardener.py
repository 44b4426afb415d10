"""Compare the Gardener's rules, and its construction with its bound (scheduling §4).

    PYTHONPATH=. .venv/bin/python bench/gardener.py [--seeds 5] [--gardens 25] [--plants 30] [--days 300] [--live]

- First table: average tardiness T̄ (average workload as a share of Ω, worst tardiness T_max) for
  capacities k from Ω up: means over seeds, each of so many gardens, ± half of their 95 % confidence
  intervals. The study does not print its gardens. Here plants cost 1, 2 or 3 and want care every 2
  to 30 days. Capacities are whole numbers, not below the dearest plant; otherwise EDD, which fills
  every day, would not work 1.09 Ω at k = Ω.
- Second: `construct` and `refine` on random gardens, Lemma 3.1 on gardens of powers of two.
- Third: MMEDD on one garden.
- `--live` prints another table alone: the policies `round_robin` and `medd` behind the planner of
  the service, on a manual clock. 40 pages are wanted every 2 to 30 hours for five days. The budget
  can save up half an hour. Prices are found every ten minutes.
"""

from __future__ import annotations

import argparse
import itertools
import math

import numpy as np
from bench.intervals import interval

from tests.planner import Service, make_watched
from tidings.clock import DAY, HOUR, MINUTE
from tidings.lab.compare import ALL
from tidings.lab.gardener.garden import Capacity, Garden, compute_bound, construct, measure, refine
from tidings.lab.gardener.medd import edd, medd, medd_dbf, mmedd, tend

RULES = {"MEDD": medd, "MEDD-DBF": medd_dbf, "EDD": edd}
LIVE = ("round_robin", "medd")
PRINTED = {
    1.00: (".0381 (.895, 2.7)", ".0108 (.999, 1.6)", ".0142 (1.09)"),
    1.05: (".0329 (.905, 2.5)", ".0076 (.996, 1.2)", ".0081 (1.14)"),
    1.15: (".0229 (.927, 2.0)", ".0057 (.989, 1.0)", ".0026 (1.23)"),
    1.30: (".0145 (.947, 1.7)", ".0038 (.985, 1.0)", ".0004 (1.38)"),
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--gardens", type=int, default=25)
    parser.add_argument("--plants", type=int, default=30)
    parser.add_argument("--days", type=int, default=300)
    parser.add_argument("--live", action="store_true")
    given = parser.parse_args()
    if given.live:
        return live(given.seeds)
    seeded = []
    for seed in range(given.seeds):
        rng = np.random.default_rng(seed)
        seeded.append(
            [
                Garden.of(rng.integers(1, 4, given.plants), rng.integers(2, 31, given.plants))
                for _ in range(given.gardens)
            ]
        )
    rules(seeded, given.days)
    construction(np.random.default_rng(1))
    return trades(seeded[0][0], given.days)


def rules(seeded: list[list[Garden]], days: int) -> None:
    print(f"{len(seeded)} seeds × {len(seeded[0])} gardens × {days} days: T̄ ± half of the 95 % interval (K̄/Ω, T_max)\n")
    print("| k/Ω | " + " | ".join(f"{name} | study" for name in RULES) + " |")
    print("|---|" + "---|" * 2 * len(RULES))
    for ratio, printed in PRINTED.items():
        cells = []
        for rule, study in zip(RULES.values(), printed, strict=True):
            found = []
            for gardens in seeded:
                measures = [measure(g, tend(g, rule, Capacity(_whole(ratio, g)), days)) for g in gardens]
                loads = [m.average_workload / g.density for m, g in zip(measures, gardens, strict=True)]
                late = [m.average_tardiness for m in measures]
                worst = [m.peak_tardiness for m in measures]
                found.append([float(np.mean(each)) for each in (late, loads, worst)])
            load, latest = np.mean(found, axis=0)[1:]
            cells.append(f"{interval([one[0] for one in found], 4)} ({load:.3f}, {latest:.1f}) | {study}")
        print(f"| {ratio:.2f} | " + " | ".join(cells) + " |", flush=True)


def _whole(ratio: float, garden: Garden) -> float:
    return max(math.ceil(ratio * garden.density - 1e-9), float(garden.costs.max()))


def construction(rng: np.random.Generator, number: int = 500) -> None:
    found: dict[str, list[tuple[float, float]]] = {"construct": [], "refine": []}
    over = []
    for _ in range(number):
        n = int(rng.integers(1, 25))
        garden = Garden.of(rng.uniform(0.05, 1, n), rng.integers(1, 65, n))
        for name, make in (("construct", construct), ("refine", refine)):
            cycle = make(garden)
            if not cycle.keeps(garden):
                raise SystemExit("a window was missed")
            loads = [garden.workload(day) for day in cycle]
            found[name].append((max(loads) / compute_bound(garden), float(np.mean(loads)) / garden.density))
        powers = Garden.of(2.0 ** -rng.integers(0, 5, n), 2 ** rng.integers(0, 7, n))
        over.append(float(max(powers.workload(day) for day in construct(powers)) - powers.density))
    print(f"\n{number} random gardens, every window kept by both:\n")
    print("| | K_max/(4Ω + 2) at most | K̄/Ω median | at most |\n|---|---:|---:|---:|")
    for name, measured in found.items():
        peaks, averages = zip(*measured, strict=True)
        print(f"| {name} | {max(peaks):.2f} | {np.median(averages):.2f} | {max(averages):.3f} |")
    print("| study, construct | 0.44 | 1.25 | 1.875 |")
    print(f"\nLemma 3.1, costs and windows powers of two: K_max − Ω at most {max(over):.2f} (study 1.22, proven 2)")


def live(seeds: int) -> None:
    print(
        f"{seeds} seeds, lateness of a poll in minutes: mean ± half of the 95 % interval (worst, mean of seeds), polls as a share of Ω\n"
    )
    print("| budget | " + " | ".join(LIVE) + " |\n|---|" + "---|" * len(LIVE))
    for ratio in (1.05, 1.15, 1.30):
        cells = []
        for name in LIVE:
            found = [_simulate(name, ratio, np.random.default_rng(seed)) for seed in range(seeds)]
            worst, load = np.mean([one[1:] for one in found], axis=0)
            cells.append(f"{interval([one[0] for one in found], 1)} ({worst:.0f}), {load:.2f}")
        print(f"| {ratio:.2f} Ω | " + " | ".join(cells) + " |", flush=True)


def _simulate(name: str, ratio: float, rng: np.random.Generator) -> tuple[float, float, float]:
    """Return mean and worst lateness (minutes) and the polls made as a share of Ω."""
    hours, days = rng.integers(2, 31, 40), 5
    asked = float((1 / hours).sum())
    pages = [
        make_watched(n, f"Fetch on change between 10 min and {hour} hour")
        for n, hour in enumerate(hours.tolist(), start=1)
    ]
    policy = ALL[name](100 * HOUR)
    service = Service(pages, 24 * asked * ratio, policy=policy, burst=max(asked * ratio / 2, 2.0))
    service.run(days * DAY, tick=2 * MINUTE)
    late = [
        max(0, later - sooner - hour * HOUR) / MINUTE
        for n, hour in enumerate(hours.tolist(), start=1)
        for sooner, later in itertools.pairwise(service.of(n)[1:])
    ]
    return float(np.mean(late)), max(late), len(service.polls) / (24 * days * asked)


def trades(garden: Garden, days: int) -> None:
    offered = mmedd(garden, 1.5 * garden.density, days)
    print(
        f"\nMMEDD on the first garden (Ω = {garden.density:.2f}): {len(offered)} schedules that nothing beats, every eighth of them\n"
    )
    print("| k | K̄ | K_max | T̄ | T_max |\n|---:|---:|---:|---:|---:|")
    for alternative in offered[::8]:
        m = alternative.measures
        print(
            f"| {alternative.capacity:.3f} | {m.average_workload:.3f} | {m.peak_workload:.2f} | {m.average_tardiness:.4f} | {m.peak_tardiness} |"
        )


if __name__ == "__main__":
    main()
