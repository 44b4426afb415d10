"""Kill the service as often as it takes: at random while pages change, or at every system call that writes (trust.md T-01, T-02).

    .venv/bin/python bench/faults.py [--cycles 200] [--seed 1] [--hosts 4] [--pages 3]
    .venv/bin/python bench/faults.py --strace [--lanes fsync,rename]

The first kills a real `tidings serve` (sometimes a worker of it, sometimes SIGTERM) at moments that a seed and the traffic choose, starts
it again, lets all come to rest at the end, and compares the database with what the web, the receiver and the console saw. The second
needs strace; it kills `tidings check` at its 1st, 2nd, … call of each kind and checks all invariants after each recovery.
Ends with status 1 if anything was violated.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from tests.kill_loop import Report, run_kill_loop
from tests.syscall_kills import Cycle, Outcome, is_possible

SHOWN = 20


def random_kills(arguments: argparse.Namespace, folder: Path) -> list[str]:
    """Run the loop and print its ledger."""
    begun = time.perf_counter()

    def say(text: str) -> None:
        print(f"\r{text}, {time.perf_counter() - begun:.0f} s ", end="", flush=True, file=sys.stderr)

    report = run_kill_loop(
        folder, cycles=arguments.cycles, seed=arguments.seed, hosts=arguments.hosts, pages_each=arguments.pages, say=say
    )
    print(file=sys.stderr)
    print_report(report, time.perf_counter() - begun)
    return report.faults


def print_report(report: Report, seconds: float) -> None:
    """Print what a loop did."""
    ways = ", ".join(f"{way} {count}" for way, count in report.ways.most_common())
    slowest = max(report.stops, default=0.0)
    print(f"{report.cycles} cycles in {seconds:.0f} s ({ways}); {report.worker_kills} workers killed")
    print(f"{report.requests} requests served, {report.charged:g} charged; {report.acknowledged} things acknowledged")
    print(
        f"{report.versions} versions, {report.changes} changes, {report.deliveries} deliveries, {report.received} received"
    )
    print(
        f"at rest {report.quiet_seconds:.1f} s after the last start; {len(report.stops)} × SIGTERM, slowest {slowest:.2f} s"
    )


def every_call(arguments: argparse.Namespace, folder: Path) -> list[str]:
    """Enumerate the kills of all lanes and print a line each."""
    if not is_possible():
        return ["strace is not here, or may not trace"]
    wanted = set(arguments.lanes.split(",")) if arguments.lanes else None
    faults: list[str] = []
    outcomes: list[Outcome] = []
    with Cycle(folder) as cycle:
        census = cycle.census()
        for lane in cycle.lanes():
            if wanted is not None and lane.call not in wanted:
                continue
            begun = time.perf_counter()
            outcome = cycle.enumerate(lane)
            outcomes.append(outcome)
            faults += outcome.faults
            print(
                f"{lane!s:28} {outcome.kills:4} kills, {outcome.repeats:3} with a repeated delivery,"
                f" {len(outcome.faults)} violations ({time.perf_counter() - begun:.0f} s)",
                flush=True,
            )
    points = set().union(*(outcome.points for outcome in outcomes))
    kills = sum(outcome.kills for outcome in outcomes)
    print(f"{kills} kills at {len(points)} different points; a cycle that is not killed makes {len(census)} such calls")
    missed = sorted(census - points)
    print(
        f"not reached (calls of other threads came first, or their number varies): {missed}"
        if missed
        else "all reached"
    )
    return faults


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cycles", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--hosts", type=int, default=4)
    parser.add_argument("--pages", type=int, default=3, help="pages of each host")
    parser.add_argument("--strace", action="store_true", help="kill at every writing system call instead")
    parser.add_argument("--lanes", help="with --strace: only these calls, e.g. fsync,rename")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="tidings-faults-") as folder:
        faults = (every_call if arguments.strace else random_kills)(arguments, Path(folder))
    print(f"{len(faults)} violations")
    for fault in faults[:SHOWN]:
        print(f"  {fault}")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
