"""Kill the service many times: at random while pages change, or at every system call that writes.

    .venv/bin/python bench/faults.py [--cycles 200] [--seed 1] [--hosts 4] [--pages 3]
    .venv/bin/python bench/faults.py --strace [--lanes fsync,rename]
    .venv/bin/python bench/faults.py --silence [--only KIND]

The first kills a real `tidings serve` (sometimes a worker of it, sometimes SIGTERM) at moments that
a seed and the traffic choose. It starts it again, lets all come to rest at the end, and compares
the database with what the web, the receiver and the console saw. The second needs strace. It kills
`tidings check` at its 1st, 2nd, … call of each kind and checks all invariants after each recovery.
The third plays each fault of `tests/silent_fault_rows.py` and `tests/silent_fault_processes.py`,
and says whether the watch went on or its owner was notified. Ends with status 1 if anything was
violated.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Collection
from functools import partial
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from tests.kill_loop import Report, run_kill_loop
from tests.silent_fault_processes import CUT, REAL_FAULTS, WITHIN_SECONDS, judge_real
from tests.silent_fault_rows import ROWS
from tests.silent_faults import Sight, judge
from tests.syscall_kills import Cycle, Outcome, is_possible
from tidings.clock import SECOND

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


def silence(arguments: argparse.Namespace, folder: Path) -> list[str]:
    """Play every fault by its name, print a line each, and return those in which nobody was notified of what must be reported."""
    faults: list[str] = []
    seen: Counter[str] = Counter()

    def note(kind: str, name: str, expect: Collection[str], within: float, play: Callable[[], Sight]) -> None:
        sight = play()
        is_right = sight.verdict in expect and not sight.violations
        seen[sight.verdict] += 1
        print(f"{kind:12} {name:66} {within / 3600:5.2f} h  {sight.verdict:8} {sight.words[:90]}", flush=True)
        if not is_right:
            faults.append(f"{kind}: {name}: {sight.verdict}, expected {' or '.join(sorted(expect))} {sight.violations}")

    rows = [row for row in ROWS if arguments.only in {None, row.kind}]
    for number, row in enumerate(rows):
        note(row.kind, row.name, row.expect, row.within / SECOND, partial(judge, row, folder / str(number)))
    if arguments.only in {None, "process"}:
        real = [
            *((fault, "sqlite") for fault in REAL_FAULTS),
            *((fault, "postgresql") for fault in (CUT, *REAL_FAULTS[2:4])),
        ]
        for number, (fault, product) in enumerate(real):
            play = partial(judge_real, fault, folder / f"real{number}", product=product)
            note("process", f"{fault.name} ({product})", {"goes on"}, WITHIN_SECONDS, play)
    print(f"{seen.total()} faults: {', '.join(f'{verdict} {count}' for verdict, count in seen.most_common())}")
    return faults


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cycles", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--hosts", type=int, default=4)
    parser.add_argument("--pages", type=int, default=3, help="pages of each host")
    parser.add_argument("--strace", action="store_true", help="kill at every writing system call instead")
    parser.add_argument("--lanes", help="with --strace: only these calls, e.g. fsync,rename")
    parser.add_argument("--silence", action="store_true", help="play every fault that could silence a watch instead")
    parser.add_argument("--only", help="with --silence: only this kind of fault")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="tidings-faults-") as folder:
        play = silence if arguments.silence else every_call if arguments.strace else random_kills
        faults = play(arguments, Path(folder))
    print(f"{len(faults)} violations")
    for fault in faults[:SHOWN]:
        print(f"  {fault}")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
