"""What a change of one page costs when many watch it: CPU a change for 1, 10 and 100 sentinels, in the whole loop and in its one job.

    .venv/bin/python bench/sharing.py [--changes 30]

A page of 6 KB (that of `bench/poll_loop.py`) changes by a word at every look. *same*: all sentinels want its words, told to the dashboard.
*apart*: each looks for three keywords of its own, none of which changed. CPU is that of the process that polls, with its jobs inside it; the
server's, a process of its own, is not counted. *job* is the job alone, with what it says it did.
"""

from __future__ import annotations

import argparse
import asyncio
import multiprocessing
import os
import tempfile
import time
from pathlib import Path
from typing import Any

from bench.poll_loop import FLAGS, WORDS, body, serve

from tidings.detection.job.contract import Body, Job, Wanted
from tidings.detection.job.examiner import examine
from tidings.language.parser import parse
from tidings.model.watch.sentinel import Sentinel
from tidings.service.run import check as checking
from tidings.service.run.assembly import poller
from tidings.service.sentinels import register
from tidings.settings import load
from tidings.storage.db.database import open_database
from tidings.storage.watches import changes

COUNTS = (1, 10, 100)
MONITORS = {
    "same": "all words",
    "apart": "keywords <edition, {word}, k{number}>",
}


def monitor(kind: str, number: int) -> str:
    """Return what a sentinel looks for."""
    return MONITORS[kind].format(number=number, word=WORDS[number % len(WORDS)])


async def loop(url: str, mode: Any, kind: str, count: int, rounds: int) -> float:
    """Return the CPU of a change in the whole loop, in seconds."""
    with tempfile.TemporaryDirectory() as folder:
        settings = load(Path(folder), environment={}, flags={**FLAGS, "detect.isolation": "in_process"})
        database = open_database(settings)
        for number in range(count):
            text = f"Create Sentinel s{number} Using {url} Monitor {monitor(kind, number)} Fetch every 1 day"
            register.register(database, text, settings=settings, now=time.time_ns() // 1_000)
        async with poller(settings) as service:
            everybody = {1: set(range(1, count + 1))}
            mode[0] = 0
            await checking.check(service, everybody)
            spent = 0.0
            for edit in range(1, rounds + 1):
                mode[0] = edit
                begun = time.process_time()
                await checking.check(service, everybody)
                spent += time.process_time() - begun
        told = len(database.read(changes.listing))
        database.close()
        expected = count * rounds if kind == "same" else 0
        if told != expected:
            message = f"{told} changes were told, not {expected}"
            raise SystemExit(message)
        return spent / rounds


def job(kind: str, count: int, rounds: int) -> tuple[float, Any]:
    """Return the CPU of one job in seconds, and what it did."""
    old, new = (Body(data=body(1, edit), content_type="text/html", url="http://a.example/1") for edit in (1, 2))
    wanted = []
    for number in range(count):
        (sentinel,) = parse(f"Create Sentinel s Using http://a.example/1 Monitor {monitor(kind, number)}").statements
        if isinstance(sentinel, Sentinel):
            wanted.append(Wanted(key=number, reference=1, expression=sentinel.monitor))
    asked = Job(new=new, references={1: old}, known={}, wanted=tuple(wanted))
    work = examine(asked).work
    begun = time.process_time()
    for _ in range(rounds):
        examine(asked)
    return (time.process_time() - begun) / rounds, work


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--changes", type=int, default=30)
    rounds = parser.parse_args().changes
    manager = multiprocessing.Manager()
    mode, port = manager.list([0, False]), multiprocessing.Value("i", 0)
    server = multiprocessing.Process(target=serve, args=(port, mode), daemon=True)
    server.start()
    while not port.value:
        time.sleep(0.01)
    print(f"load {os.getloadavg()[0]:.1f}; CPU in ms a change, {rounds} changes of a page of {len(body(1, 1)):,} bytes")
    print(f"{'sentinels':>10} {'monitor':>8} {'loop':>8} {'a sentinel':>11} {'job':>8}  bodies pairs comparisons")
    for kind in MONITORS:
        for count in COUNTS:
            whole = asyncio.run(loop(f"http://127.0.0.2:{port.value}/1", mode, kind, count, rounds)) * 1e3
            alone, work = job(kind, count, rounds)
            print(
                f"{count:>10} {kind:>8} {whole:>8.2f} {whole / count:>11.3f} {alone * 1e3:>8.2f}"
                f"  {work.bodies:>6} {work.pairs:>5} {work.comparisons:>11}"
            )
    server.kill()


if __name__ == "__main__":
    main()
