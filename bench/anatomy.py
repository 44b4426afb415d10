"""Where the CPU of a poll goes: thread by thread, and how often a page makes each dear step.

    PYTHONPATH=. .venv/bin/python bench/anatomy.py [--pages 300] [--rounds 3] [--json]

The pages, the server and the rounds are those of `bench/poll_loop.py`. The thread of the event
loop, that of the store and the workers are counted each by itself, in nanoseconds on the processor
(Linux: `schedstat`); the server and what starts workers are not counted. What the first worker
costs to start is paid before the rounds and printed apart. Counts are made in rounds of their own,
since counting costs time. Compare commits only by runs that take turns:
`PYTHONPATH=/tmp/before/src:/tmp/before` measures another checkout with this file.
"""

from __future__ import annotations

import argparse
import asyncio
import functools
import json
import multiprocessing
import os
import selectors
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

if __name__ != "__mp_main__":  # as which the workers and the server import this file
    import bench.poll_loop as loop_bench
    from bench.measured import descendants

    import tidings
    from tidings import record
    from tidings.isolation.worker import Worker
    from tidings.service.run import check as checking
    from tidings.service.run.assembly import poller
    from tidings.service.sentinels import register
    from tidings.settings import load
    from tidings.storage.db import sqlite
    from tidings.storage.db.connection import Connection
    from tidings.storage.db.database import open_database

ROUNDS = {"first": "new", "304": "unchanged", "changed": "changed"}
THREADS = ("loop", "store", "other", "worker")


def layer(thread: str) -> str:
    """Return the layer that a thread of the service belongs to, by its name."""
    return {"MainThread": "loop", "store": "store"}.get(thread.partition("_")[0], "other")


def measure_spent(before: dict[tuple[str, int], int], after: dict[tuple[str, int], int]) -> dict[str, int]:
    """Return what each layer has spent between two readings.

    A thread or worker that is new counts from its start, one that is gone not at all.
    """
    used = dict.fromkeys(THREADS, 0)
    for (name, number), value in after.items():
        used[name] += value - before.get((name, number), 0)
    return used


def on_processor(task: Path) -> int:
    """Return the nanoseconds that a thread has been on a processor, 0 if it is gone."""
    try:
        return int((task / "schedstat").read_text().split()[0])
    except OSError:
        return 0


def reading() -> dict[tuple[str, int], int]:
    """Return the nanoseconds of each thread of this process and of each worker."""
    named = {each.native_id or 0: layer(each.name) for each in threading.enumerate()}
    found = {
        (named.get(int(task.name), "other"), int(task.name)): on_processor(task)
        for task in Path("/proc/self/task").iterdir()
    }
    for pid in descendants(os.getpid()):
        try:
            command = Path(f"/proc/{pid}/cmdline").read_bytes()
        except OSError:
            continue
        if b"multiprocessing.spawn" not in command and b"resource_tracker" not in command:
            found["worker", pid] = sum(map(on_processor, Path(f"/proc/{pid}/task").iterdir()))
    return found


@contextmanager
def counting(counts: Counter[str]) -> Iterator[None]:
    """Count the dear steps of this process from now to the end of the block."""
    undo: list[Callable[[], None]] = []

    def wrap(owner: Any, name: str, note: Callable[..., None]) -> None:
        former = getattr(owner, name)

        @functools.wraps(former)
        def note_and_call(*values: Any, **named: Any) -> Any:
            note(*values)
            return former(*values, **named)

        setattr(owner, name, note_and_call)
        undo.append(lambda: setattr(owner, name, former))

    def count(what: str) -> Callable[..., None]:
        return lambda *_: counts.update({what: 1})

    def count_job(_: Any, payload: bytes, *__: Any) -> None:
        counts.update({"bytes to a worker": len(payload), "jobs": 1})

    def count_rows(_: Any, __: str, rows: Any) -> None:
        counts.update({"statements": int(bool(rows)), "rows written": len(rows)})

    wrap(asyncio.base_events.BaseEventLoop, "run_in_executor", count("thread hops"))
    wrap(selectors.EpollSelector, "select", count("wake-ups"))
    wrap(sqlite.SqliteDriver, "begin_read", count("read transactions"))
    wrap(sqlite.SqliteDriver, "commit", count("commits (each an fsync)"))
    for name in ("execute", "rows", "one", "value"):
        wrap(Connection, name, count("statements"))
    for name in ("many", "batch"):
        wrap(Connection, name, count_rows)
    wrap(Worker, "run", count_job)
    former = record.replace

    def count_and_replace(value: Any, /, **changes: Any) -> Any:
        counts.update({"replace": 1, f"  replace {type(value).__name__}": 1})
        return former(value, **changes)

    for module in list(sys.modules.values()):
        if getattr(module, "__name__", "").startswith("tidings") and module.__dict__.get("replace") is former:
            module.__dict__["replace"] = count_and_replace
            undo.append(functools.partial(module.__dict__.__setitem__, "replace", former))
    try:
        yield
    finally:
        for step in undo:
            step()


async def measure(pages: int, rounds: int, port: int, mode: Any, directory: Path) -> dict[str, Any]:
    """Return, by round, the milliseconds of each layer and the counts of a page.

    And what the first worker cost to start, in milliseconds too.
    """
    settings = load(directory, environment={}, flags=loop_bench.FLAGS)
    addresses = loop_bench.urls(port, pages + 1)
    database = open_database(settings)
    text = ";\n".join(
        f"Create Sentinel p{n} Using {u} Monitor any change Fetch every 1 hour" for n, u in enumerate(addresses)
    )
    register.register(database, text, settings=settings, now=time.time_ns() // 1000)
    database.close()
    found: dict[str, Any] = {name: {layer: [] for layer in THREADS} for name in ROUNDS}
    counted = {name: Counter[str]() for name in ROUNDS}
    async with poller(settings) as monitor:
        await monitor.live()
        everyone = {
            page_id: {sub.row.sentinel_id for sub in page.subscriptions.values()}
            for page_id, page in monitor.watchlist.pages.items()
        }
        warm = {page_id: asking for page_id, asking in everyone.items() if page_id == min(everyone)}
        others = {page_id: asking for page_id, asking in everyone.items() if page_id not in warm}

        async def poll(named: dict[int, set[int]], edit: int, outcome: str) -> dict[str, int]:
            mode[0], mode[1] = edit, 1
            monitor.polled_ids.clear()
            before = reading()
            answer = await checking.check(monitor, named)
            used = measure_spent(before, reading())
            assert {poll.outcome for poll in answer.polls} == {outcome}, {poll.outcome for poll in answer.polls}
            assert len(answer.polls) == len(named)
            assert len(answer.changes) == (len(named) if outcome == "changed" else 0)
            return used

        async def round_of(name: str, edit: int) -> None:
            for layer_name, nanoseconds in (await poll(others, edit, ROUNDS[name])).items():
                found[name][layer_name].append(nanoseconds / pages / 1e6)

        start = await poll(warm, 0, "new")
        await round_of("first", 0)
        for turn in range(rounds):
            await round_of("304", turn)
            await round_of("changed", turn + 1)
        for name, edit in (("304", rounds), ("changed", rounds + 1)):
            with counting(counted[name]):
                await poll(others, edit, ROUNDS[name])
    result: dict[str, Any] = {"start of the first worker": round(start["worker"] / 1e6, 1)}
    for name, layers in found.items():
        middle = {layer_name: round(statistics.median(values), 4) for layer_name, values in layers.items()}
        counts = {what: round(number / pages, 2) for what, number in sorted(counted[name].items())}
        result[name] = {**middle, "all": round(sum(middle.values()), 4), "counts": counts}
    return result


def commit_of(checkout: Path) -> str:
    """Return the commit of a checkout, with a + where files were changed since."""

    def git(*words: str) -> str:
        return subprocess.run(["git", "-C", str(checkout), *words], capture_output=True, text=True, check=False).stdout

    number = git("rev-parse", "--short", "HEAD").strip()
    return (number or "unknown") + ("+" if git("status", "--porcelain", "--untracked-files=no", "src") else "")


def table(result: dict[str, Any]) -> str:
    """Return milliseconds a page as a table, and below it the counts of a page."""
    lines = [f"{'CPU ms a page':30}" + "".join(f"{name:>10}" for name in ROUNDS)]
    for row in (*THREADS, "all"):
        lines.append(f"{row:30}" + "".join(f"{result[name][row]:>10.3f}" for name in ROUNDS))
    lines.append(f"{'counts a page':30}")
    counted = [name for name in ROUNDS if result[name]["counts"]]
    for what in sorted({what for name in counted for what in result[name]["counts"]}):
        cells = "".join(
            f"{result[name]['counts'].get(what, '-'):>10}" if name in counted else f"{'':10}" for name in ROUNDS
        )
        lines.append(f"{what:30}{cells}".rstrip())
    return "\n".join(lines)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pages", type=int, default=300)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--json", action="store_true", help="one line, for scripts")
    arguments = parser.parse_args()
    context = multiprocessing.get_context("spawn")
    port, mode = context.Value("i", 0), context.Array("i", [0, 1])
    server = context.Process(target=loop_bench.serve, args=(port, mode), daemon=True)
    server.start()
    while not port.value:
        time.sleep(0.01)
    with tempfile.TemporaryDirectory() as directory:
        result = asyncio.run(measure(arguments.pages, arguments.rounds, port.value, mode, Path(directory)))
    server.kill()
    commit = commit_of(Path(tidings.__file__).parent)
    if arguments.json:
        print(json.dumps({"commit": commit, **result}))
        return
    print(f"commit {commit}, {arguments.pages} pages, load {os.getloadavg()[0]:.1f}")
    print(f"start of the first worker: {result['start of the first worker']} ms")
    print(table(result))


if __name__ == "__main__":
    main()
