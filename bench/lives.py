"""Compare a simulated year of sentinels with and without kills of the service.

    python bench/lives.py [--sentinels 200] [--days 365] [--acts 300] [--kills 300] [--seed 1]

`--ready 1000` measures how long the service takes to be ready with so many sentinels.

Both runs must live, find and report the same. The real service runs on a manual clock, on a web in
memory. There are sentinels that depend on one another, changes of two pages together, polls on
request, hours in which pages may be polled, and every rate of notifying, with quiet hours and caps
in three zones with their changes of clocks. People add, alter, pause and drop sentinels. The
service is killed at random writes; only what was committed stays. The two runs are made at the same
time, each in a process. It takes minutes. Exit status 1 if they differ.
"""

from __future__ import annotations

import argparse
import asyncio
import io
import sys
import tempfile
import time
from collections import Counter
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from tests.simulated_year import BEGIN, History, Lived, differences, run
from tests.world import FLAGS
from tidings.clock import DAY, ManualClock
from tidings.service.run import assembly
from tidings.service.sentinels import register
from tidings.settings import load
from tidings.storage.db.database import open_database

WRITES = 1.2
"""Writes a sentinel and a day, about: the kills are spread over so many."""


def year(arguments: argparse.Namespace) -> int:
    """Live through one history twice and print both beside each other."""
    history = History(arguments.sentinels, arguments.days * DAY, arguments.acts, arguments.seed)
    commits = round(WRITES * arguments.sentinels * arguments.days)
    with ProcessPoolExecutor(2) as pool:
        runs = [pool.submit(_time, history, kills, commits) for kills in (0, arguments.kills)]
        (steady, seconds_steady), (killed, seconds_killed) = (each.result() for each in runs)
    seconds = (seconds_steady, seconds_killed)
    print(
        f"{arguments.sentinels} sentinels and {arguments.acts} acts of people in {arguments.days} days, seed {arguments.seed}"
    )
    print(f"  {'':40} {'uninterrupted':>14} {'killed':>10}")
    rows = [_counts(steady), _counts(killed)]
    for name in rows[0]:
        print(f"  {name:40} {rows[0][name]:>14} {rows[1][name]:>10}")
    print(f"  {'CPU seconds':40} {seconds[0]:>14.0f} {seconds[1]:>10.0f}")
    found = differences(steady, killed)
    print(f"  {'differences':40} {'':>14} {len(found):>10}")
    for text in found:
        print(f"    {text}")
    return int(bool(found))


def _time(history: History, kills: int, commits: int) -> tuple[Lived, float]:
    begun = time.process_time()
    lived, _ = run(history, kills=kills, commits=commits)
    return lived, time.process_time() - begun


def _counts(lived: Lived) -> dict[str, int]:
    states = Counter(row[1] for row in lived.sentinels)
    reasons = Counter(row[2] for row in lived.sentinels)
    return {
        "kills": lived.kills,
        "successful polls": lived.polls,
        "changes found": len(lived.changes),
        "deliveries": len(lived.deliveries),
        "lines reported": len(lived.lines),
        "steps in lives": len(lived.steps),
        "ended (dropped; never started; missed)": states["ended"],
        "  dropped": reasons["dropped"],
        "  never started": reasons["never started"],
        "  after the first change": reasons["its first change was reported"],
        "statements refused": lived.refused,
    }


def ready(count: int) -> None:
    """Print how long the service takes from its start until it has loaded so many sentinels, as many pages, and their lives."""
    texts = [
        f"Create Sentinel s{n} Using https://h{n % 200}.example/p{n} Monitor {('all words', 'any change', 'links')[n % 3]}"
        f" Fetch {('every 2 hour', 'on change', 'at 08:00 mon-fri')[n % 3]} {'During mon-fri 08:00 to 18:00 Zone Europe/Paris' * (n % 4 == 0)}"
        f" {f'To end(s{n - 1})' * (n % 5 == 1)} Notify By console {('immediate', 'every 1 day', 'at 08:00')[n % 3]}"
        for n in range(count)
    ]
    with tempfile.TemporaryDirectory() as directory:
        settings = load(Path(directory) / "data", environment={}, flags={**FLAGS, "detect.isolation": "in_process"})
        database = open_database(settings)
        register.register(database, ";\n".join(texts), settings=settings, now=BEGIN)
        database.close()
        for turn in ("first start, each steps from created", *["start again"] * 4):
            seconds, cpu = asyncio.run(_start(settings))
            print(f"  {count} sentinels, {turn:38} ready in {seconds:.2f} s ({cpu:.2f} s CPU)")


async def _start(settings: object) -> tuple[float, float]:
    begun, cpu = time.perf_counter(), time.process_time()
    async with assembly.poller(settings, clock=ManualClock(BEGIN), stream=io.StringIO()) as monitor:  # type: ignore[arg-type]
        await monitor.live()
        taken = time.perf_counter() - begun, time.process_time() - cpu
        monitor.hurry = True
        return taken


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sentinels", type=int, default=200)
    parser.add_argument("--days", type=int, default=365)
    parser.add_argument("--acts", type=int, default=300)
    parser.add_argument("--kills", type=int, default=300)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--ready", type=int, default=0, help="measure the start with so many sentinels instead")
    arguments = parser.parse_args()
    if arguments.ready:
        ready(arguments.ready)
        return 0
    return year(arguments)


if __name__ == "__main__":
    sys.exit(main())
