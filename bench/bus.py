"""Checks through pollers on a bus beside checks by the service itself (decision 0085).

Usage: PYTHONPATH=. python bench/bus.py [--checks N]

Each row has one service and 0 (itself), 1, 2 or 4 pollers, processes of their own, that fetch a
page of 6 KB from a server on loopback. It prints checks a second, CPU a check of the service, of
all pollers, and how long a check took. Each row is asked for the same pages in the same way; what
differs is the bus.
"""

from __future__ import annotations

import argparse
import asyncio
import multiprocessing
import os
import resource
import statistics
import time
from typing import Any

from tests.buses import KINDS, make_name, open_bus, own_server, remove_stream
from tests.fakes import FreePermit, Page, WebServer
from tidings.fetching.http.client import Client
from tidings.model.observed.outcome import Fetched, FetchRequest
from tidings.service.machines.remote_fetcher import RemoteFetcher
from tidings.service.machines.remote_poller import RemotePoller
from tidings.settings import FetchSettings

SECRET = "a secret of a bench"
SETTINGS = FetchSettings(allow_networks=("127.0.0.0/8",), robots=False)
TOGETHER = 32


def poll(kind: str, url: str, name: str, ready: Any, over: Any, spent: Any) -> None:
    """Be a poller until it is over; then say what it cost."""

    async def act() -> None:
        client = Client(SETTINGS)
        poller = RemotePoller(
            open_bus(kind, url, name), SECRET, client, robots=client.robots, places={"pages": TOGETHER, "browser": 1}
        )
        running = asyncio.create_task(poller.run(("pages",)))
        ready.release()
        while not over.is_set():  # noqa: ASYNC110 - another process says when
            await asyncio.sleep(0.05)
        running.cancel()
        await asyncio.wait({running})
        await poller.close()

    begun = seconds()
    asyncio.run(act())
    spent.put(seconds() - begun)


def seconds() -> float:
    """Return the CPU of this process so far, in seconds."""
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


async def ask(fetcher: Any, page: str, count: int) -> list[float]:
    """Make checks, some at a time, and return how long each took, in seconds."""
    places, took = asyncio.Semaphore(TOGETHER), []

    async def one() -> None:
        async with places:
            begun = time.perf_counter()
            outcome = await fetcher.fetch(FetchRequest(url=page), FreePermit())
            assert isinstance(outcome, Fetched), outcome
            took.append(time.perf_counter() - begun)

    await asyncio.gather(*(one() for _ in range(count)))
    return took


def measure(kind: str, url: str, page: str, pollers: int, count: int) -> str:
    """Return the line of one row."""
    context = multiprocessing.get_context("spawn")
    name, ready, over, spent = make_name(), context.Semaphore(0), context.Event(), context.Queue()
    children = [context.Process(target=poll, args=(kind, url, name, ready, over, spent)) for _ in range(pollers)]
    for child in children:
        child.start()
    for _ in children:
        ready.acquire()

    async def act() -> tuple[float, float, list[float]]:
        own = Client(SETTINGS)
        fetcher: Any = own
        if pollers:
            fetcher = RemoteFetcher(
                open_bus(kind, url, name), SECRET, own, robots=own.robots, usual_seconds=SETTINGS.total_seconds
            )
        try:
            await ask(fetcher, page, 2 * TOGETHER)
            cpu, begun = seconds(), time.perf_counter()
            took = await ask(fetcher, page, count)
            return seconds() - cpu, time.perf_counter() - begun, took
        finally:
            await fetcher.close()

    cpu, wall, took = asyncio.run(act())
    over.set()
    theirs = sum(spent.get() for _ in children)
    for child in children:
        child.join()
    asyncio.run(remove_stream(kind, url, name))
    median = statistics.median(took)
    return (
        f"{kind if pollers else 'itself':<12} {pollers:>7} {count / wall:>9.0f} {1e6 * cpu / count:>12.0f}"
        f" {1e6 * theirs / count:>12.0f} {1e3 * median:>9.1f}"
    )


def main() -> None:
    """Print a row for each bus and number of pollers."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--checks", type=int, default=2_000, help="checks a row")
    count = parser.parse_args().checks
    print(f"{count:,} checks a row, {TOGETHER} at a time, {os.cpu_count()} cores")
    print("bus          pollers  checks/s  service µs   pollers µs  median ms")
    with WebServer("127.0.0.2") as server:
        server.pages["/"] = Page(b"<p>word</p>" * 550)
        print(measure("in_process", "", server.url(), 0, count), flush=True)
        for kind in KINDS:
            if kind != "in_process":
                with own_server(kind) as url:
                    for pollers in (1, 2, 4):
                        print(measure(kind, url, server.url(), pollers, count), flush=True)


if __name__ == "__main__":
    main()
