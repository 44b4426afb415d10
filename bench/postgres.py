"""The service on PostgreSQL while its connections are ended every few seconds, and killed with starts within its lease (S-5).

    .venv/bin/python bench/postgres.py [--minutes 5] [--every 5] [--kills 20] [--seed 1]

First one real `tidings serve` watches a town on loopback for so many minutes while `pg_terminate_backend` ends all its connections every
so many seconds. Then, in another database, services are killed (-9) at moments that a seed and the traffic choose, each followed at once
by the next. Both end at rest, and the database is compared with what the web, the receiver and the console saw (I-1 to I-10).
The databases are made for this on the server of TESTS_POSTGRES_URL and dropped again. Ends with status 1 if anything was violated.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from bench.faults import SHOWN, print_report

from tests.kill_loop import VARIABLES, KillLoop, Town, run_kill_loop
from tests.services import Installation
from tests.stores import Terminator, own_postgres

QUIET_SECONDS = 600.0
"""What gathered in minutes may take so long to be delivered, one message at a time."""
TOWN = {"hosts": 6, "pages": 2}
"""Two pages of a host ask for no more than its gap allows, also on a slow machine: none has to wait for another for long."""
KILLS = {"time": 35, "request": 25, "delivery": 30, "start": 10}
"""Weights of the moments at which a service is killed: none of these is a SIGTERM."""


def cut_for(arguments: argparse.Namespace, folder: Path) -> list[str]:
    """End the connections of one service for some minutes."""
    begun = time.perf_counter()
    rounds = round(arguments.minutes * 60 / arguments.every)
    with own_postgres() as url, Town(seed=arguments.seed, **TOWN) as town:
        place = Installation(folder / "cut", {**VARIABLES, "TIDINGS_STORE_URL": url})
        try:
            loop = KillLoop(place, town, seed=arguments.seed)
            loop.quiet_seconds = QUIET_SECONDS
            terminator = Terminator(url, arguments.every)
            report = loop.live(lambda _: terminator.rounds >= rounds, during=terminator)
            made_anew = sum(service.err.count("was lost and made again") for service in place.services)
            away = sum(service.err.count("answers again") for service in place.services)
        finally:
            place.close()
    print(
        f"terminated {terminator.rounds} times, {terminator.cuts} connections; made anew {made_anew} times at once, {away} times later"
    )
    print_report(report, time.perf_counter() - begun)
    print(f"{len(report.faults)} violations", flush=True)
    return report.faults


def kill_within_leases(arguments: argparse.Namespace, folder: Path) -> list[str]:
    """Kill a service again and again, each start within the lease of the one before."""
    begun = time.perf_counter()

    def say(text: str) -> None:
        print(f"\r{text}, {time.perf_counter() - begun:.0f} s ", end="", flush=True, file=sys.stderr)

    with own_postgres() as url:
        given = {"cycles": arguments.kills, "seed": arguments.seed, "say": say, "ways": KILLS}
        more = {"hosts": TOWN["hosts"], "pages_each": TOWN["pages"], "quiet_seconds": QUIET_SECONDS}
        report = run_kill_loop(folder / "killed", variables={"TIDINGS_STORE_URL": url}, **given, **more)
    print(file=sys.stderr)
    starts = sorted(report.starts)
    print(f"{len(starts)} starts to ready: median {starts[len(starts) // 2]:.1f} s, slowest {starts[-1]:.1f} s")
    print_report(report, time.perf_counter() - begun)
    print(f"{len(report.faults)} violations", flush=True)
    return report.faults


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--minutes", type=float, default=5.0)
    parser.add_argument("--every", type=float, default=5.0, help="seconds between two rounds of pg_terminate_backend")
    parser.add_argument("--kills", type=int, default=20)
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    faults: list[str] = []
    with tempfile.TemporaryDirectory(prefix="tidings-postgres-") as folder:
        if arguments.minutes:
            faults += cut_for(arguments, Path(folder))
        if arguments.kills:
            faults += kill_within_leases(arguments, Path(folder))
    for fault in faults[:SHOWN]:
        print(f"  {fault}")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
