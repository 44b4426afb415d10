"""Many pages in PostgreSQL under load: charges, WAL, tables and memory.

    PYTHONPATH=. .venv/bin/python bench/million_pages.py [--pages 1000000] [--rate 100]
        [--seconds 600] [--planners 1]

The bench starts a PostgreSQL server of its own (with its defaults), registers the pages, which a
server on loopback serves (6 KB, 250 addresses), and starts planners, which check `rate` pages a
second: nine in ten of these are pages that are checked again each minute and answer with 304, and
one in ten is a page that was never checked. All other pages are not due yet.

It prints the seconds to register and until the planners are ready; then, over `seconds` of that
load, checks a second, how long a charge took for the loop that waits for it (p50, p99), how much
later than its minute a page was checked again, bytes of WAL and CPU of planners and server a
check, the memory of each planner and of its helpers, and at the end the size of the largest tables.
"""

from __future__ import annotations

import argparse
import atexit
import json
import multiprocessing
import os
import runpy
import subprocess
import sys
import tempfile
import time
from itertools import pairwise
from pathlib import Path
from typing import Any

from bench.measured import cpu_seconds, descendants, memory_mb

AGAIN_SECONDS = 60
AGAIN_SHARE = 0.9
HOSTS = 250
CHUNK = 10_000
"""pages of a sentinel"""
SETTLE_SECONDS = 90
READY_SECONDS = 1_800


def be_planner(file: Path) -> None:
    """Be a planner that writes down how long its charges took, in seconds."""
    from tidings.storage.write import charge
    from tidings.storage.write.store import Store

    took: list[tuple[float, float]] = []
    write = Store.write

    async def write_timed(self: Store, fn: Any, *arguments: Any, **more: Any) -> Any:
        begun = time.perf_counter()
        try:
            return await write(self, fn, *arguments, **more)
        finally:
            if fn in {charge.charge, charge.charge_in_turns}:
                took.append((time.time(), time.perf_counter() - begun))

    Store.write = write_timed  # type: ignore[method-assign]
    atexit.register(lambda: file.write_text(json.dumps(took)))
    sys.argv = ["tidings", "serve", "--role", "planner"]
    runpy.run_module("tidings", run_name="__main__")


def list_urls(port: int, first: int, count: int) -> str:
    """Return addresses of pages, for a statement."""
    return ", ".join(
        f"http://127.0.{2 + n % HOSTS // 250}.{1 + n % HOSTS % 250}:{port}/{n}" for n in range(first, first + count)
    )


def add_pages(environment: dict[str, str], port: int, arguments: argparse.Namespace) -> None:
    """Register the pages: those of each minute, and all others, spread over the time in which each
    is due once.
    """
    from tidings.service.sentinels import register
    from tidings.settings import load
    from tidings.storage.db.database import open_database

    settings = load(Path(environment["TIDINGS_DATA"]), environment=environment)
    again = round(arguments.rate * AGAIN_SHARE * AGAIN_SECONDS)
    rare = round((arguments.pages - again) / (arguments.rate * (1 - AGAIN_SHARE)))
    database, now = open_database(settings), time.time_ns() // 1_000
    try:
        every = f"Monitor all words Fetch every {AGAIN_SECONDS} s"
        text = f"Create Sentinel again Using {list_urls(port, 0, again)} {every}"
        register.register(database, text, settings=settings, now=now)
        for first in range(again, arguments.pages, CHUNK):
            urls = list_urls(port, first, min(CHUNK, arguments.pages - first))
            text = f"Create Sentinel rare{first} Using {urls} Monitor all words Fetch every {rare} s"
            register.register(database, text, settings=settings, now=now)
        database.write(
            lambda c: c.execute(
                "UPDATE subscription SET next_tick = next_tick + CAST(random() * :rare AS BIGINT) WHERE sentinel_id > 1",
                rare=rare * 1e6,
            )
        )
    finally:
        database.close()


class Planner:
    """A process that plans, until it is stopped."""

    def __init__(self, folder: Path, environment: dict[str, str], number: int) -> None:
        self.times, self._log = folder / f"charges-{number}.json", folder / f"planner-{number}.log"
        with self._log.open("wb") as log:
            self.process = subprocess.Popen(
                [sys.executable, __file__, "--planner", str(self.times)],
                env={**environment, "TIDINGS_DATA": str(folder / f"data-{number}")},
                stdout=log,
                stderr=log,
            )

    def wait_ready(self) -> None:
        """Return once it has loaded its pages."""
        begun = time.monotonic()
        while "ready:" not in (said := self._log.read_text()):
            if self.process.poll() is not None or time.monotonic() - begun > READY_SECONDS:
                raise SystemExit(f"a planner is not ready: {said[-2000:]}")
            time.sleep(0.2)

    @property
    def helpers(self) -> list[int]:
        """Return the processes that work for it."""
        return descendants(self.process.pid)

    def stop(self) -> list[tuple[float, float]]:
        """End it; return when its charges were, and the seconds that each took."""
        self.process.terminate()
        self.process.wait(timeout=120)
        return [(at, took) for at, took in json.loads(self.times.read_text())]


def find_quantile(values: list[float], share: float) -> float:
    """Return a quantile."""
    return sorted(values)[min(len(values) - 1, int(len(values) * share))] if values else float("nan")


def measure(arguments: argparse.Namespace, folder: Path, server: Any, port: int) -> None:
    """Register, start, wait, and print."""
    import psycopg

    environment = {name: value for name, value in os.environ.items() if not name.startswith("TIDINGS_")} | {
        "TIDINGS_STORE_URL": server.url,
        "TIDINGS_DATA": str(folder / "data-0"),
        "TIDINGS_FETCH_ALLOW_NETWORKS": "127.0.0.0/8",
        "TIDINGS_FETCH_ROBOTS": "false",
        "TIDINGS_FETCH_HOST_GAP_SECONDS": "0",
        "TIDINGS_FETCH_PAGE_FLOOR_SECONDS": "0",
        "TIDINGS_BUDGET_POLLS_PER_DAY": "1e9",
        "TIDINGS_BUDGET_BURST": "1e9",
        "PYTHONUNBUFFERED": "1",
    }
    begun = time.monotonic()
    add_pages(environment, port, arguments)
    print(f"{arguments.pages:,} pages registered in {time.monotonic() - begun:.0f} s", flush=True)
    begun = time.monotonic()
    planners = [Planner(folder, environment, number) for number in range(arguments.planners)]
    try:
        for planner in planners:
            planner.wait_ready()
        print(f"{arguments.planners} planner(s) ready in {time.monotonic() - begun:.0f} s", flush=True)
        time.sleep(SETTLE_SECONDS)  # the pages of each minute are checked for the first time
        with psycopg.connect(server.url, autocommit=True) as database:
            since, own, theirs = time.time(), count_cpu(planners), cpu_seconds(server.list_processes())
            wal = database.execute("SELECT pg_current_wal_lsn()").fetchone()[0]
            time.sleep(arguments.seconds)
            until = time.time()
            own, theirs = count_cpu(planners) - own, cpu_seconds(server.list_processes()) - theirs
            written = database.execute("SELECT pg_wal_lsn_diff(pg_current_wal_lsn(), %s)", [wal]).fetchone()[0]
            rows = database.execute(
                "SELECT page_id, charged_at, outcome FROM poll WHERE charged_at >= %s AND charged_at < %s"
                " AND finished_at IS NOT NULL ORDER BY page_id, id",
                [since * 1e6, until * 1e6],
            ).fetchall()
            late = [(b - a) / 1e6 - AGAIN_SECONDS for (page, a, _), (other, b, _) in pairwise(rows) if page == other]
            new, failed = (sum(outcome == name for _, _, outcome in rows) for name in ("new", "error"))
            memory = [(memory_mb([each.process.pid]), memory_mb(each.helpers)) for each in planners]
            sizes = database.execute(
                "SELECT relname, pg_relation_size(relid), pg_indexes_size(relid), pg_total_relation_size(relid)"
                " FROM pg_stat_user_tables ORDER BY 4 DESC LIMIT 6"
            ).fetchall()
    finally:
        charges = [one for each in planners for one in each.stop()]
    inside = [took * 1e3 for at, took in charges if since <= at < until]
    count = max(1, len(rows))
    print(f"{len(rows) / (until - since):.0f} checks a second ({new:,} new, {failed} failed) in {until - since:.0f} s")
    p50, p99 = (find_quantile(inside, share) for share in (0.5, 0.99))
    print(f"a charge: p50 {p50:.1f} ms, p99 {p99:.1f} ms of {len(inside):,}")
    print(f"late: p50 {find_quantile(late, 0.5):.2f} s, p99 {find_quantile(late, 0.99):.2f} s")
    print(f"WAL {float(written) / count:,.0f} bytes a check")
    print(f"CPU a check: planners {own / count * 1e3:.2f} ms, PostgreSQL {theirs / count * 1e3:.2f} ms")
    for own_mb, helpers_mb in memory:
        print(f"memory of a planner {own_mb:,.0f} MB, of its helpers {helpers_mb:,.0f} MB")
    for name, *parts in sizes:
        table, indexes, total = (part / 2**20 for part in parts)
        print(f"table {name:16} {table:8,.0f} MB, its indexes {indexes:8,.0f} MB, all {total:8,.0f} MB")
    print(f"load {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores")


def count_cpu(planners: list[Planner]) -> float:
    """Return the CPU seconds of planners and their helpers."""
    return cpu_seconds([pid for each in planners for pid in (each.process.pid, *each.helpers)])


def main() -> None:
    """Start the servers and measure."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pages", type=int, default=1_000_000)
    parser.add_argument("--rate", type=float, default=100.0, help="checks a second")
    parser.add_argument("--seconds", type=float, default=600.0, help="for how long the load is measured")
    parser.add_argument("--planners", type=int, default=1)
    parser.add_argument("--planner", type=Path, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.planner:
        be_planner(arguments.planner)
        return
    from bench.poll_loop import serve

    from tests.postgres_server import PostgresServer

    port: Any = multiprocessing.Value("i", 0)
    mode: Any = multiprocessing.Array("i", [0, 1])
    pages = multiprocessing.Process(target=serve, args=(port, mode), daemon=True)
    pages.start()
    try:
        while not port.value:
            time.sleep(0.05)
        with PostgresServer() as server, tempfile.TemporaryDirectory() as folder:
            measure(arguments, Path(folder), server, port.value)
    finally:
        pages.kill()


if __name__ == "__main__":
    main()
