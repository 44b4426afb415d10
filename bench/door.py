"""Measure what the web server costs: at the start, for a feed, and for a record with many followers.

    PYTHONPATH=. python bench/door.py

CPU of this process. Requests are made to the application itself, without sockets.
"""

from __future__ import annotations

import asyncio
import contextlib
import subprocess
import sys
import tempfile
import time
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from tests.asgi import ask, following
from tests.unit.presentation.records import record
from tests.unit.web.insides import inside, notify_by, watch
from tidings.clock import HOUR
from tidings.presentation.atom import MOST_ENTRIES
from tidings.web.routes import application

REQUESTS = 200
RECORDS = 100
FOLLOWERS = (1, 10, 50)
START = """
import sys, time, tidings.cli.run.serve
def memory():
    return int(next(line for line in open("/proc/self/status") if line.startswith("VmRSS")).split()[1]) / 1024
before, begun = memory(), time.process_time()
for name in sys.argv[1:]:
    __import__(name)
print(f"{time.process_time() - begun:.2f} s CPU, {memory() - before:.1f} MB")
"""
ANSWERS = ("tidings.web.uvicorn_server", "tidings.web.routes")


def start(*names: str) -> str:
    """Return what importing these costs a service."""
    done = subprocess.run([sys.executable, "-c", START, *names], capture_output=True, text=True, check=True)
    return done.stdout.strip()


async def measure_feed(within: Any, app: Any) -> None:
    """Print what a feed costs that is full, and one that its reader has."""
    number = await watch(within, "shop")
    for n in range(MOST_ENTRIES):
        await notify_by(within, "feed", number, record(id=f"c{n}"))
    within.clock.advance(HOUR)
    whole = await ask(app, "/feeds/shop.atom")
    for name, headers in (("whole", {}), ("304", {"if-none-match": whole.headers["etag"]})):
        begun = time.process_time()
        for _ in range(REQUESTS):
            await ask(app, "/feeds/shop.atom", headers=headers)
        each = (time.process_time() - begun) / REQUESTS * 1e3
        print(f"feed of {MOST_ENTRIES} entries, {len(whole.body):,} bytes, {name}: {each:.2f} ms CPU a request")


async def measure_stream(within: Any, app: Any) -> None:
    """Print what a record costs each of its followers, beyond what the record itself costs."""
    number = await watch(within, "news")
    begun = time.process_time()
    for n in range(RECORDS):
        await notify_by(within, "stream", number, record(id=f"alone{n}"))
    alone = time.process_time() - begun
    for count in FOLLOWERS:
        async with contextlib.AsyncExitStack() as stack:
            readers = [await stack.enter_async_context(following(app, "/api/v1/stream")) for _ in range(count)]
            begun = time.process_time()
            for n in range(RECORDS):
                await notify_by(within, "stream", number, record(id=f"c{count}-{n}"))
                await asyncio.gather(*(reader.until(n + 1) for reader in readers))
            each = (time.process_time() - begun - alone) / RECORDS / count * 1e6
        print(f"stream, {count} followers: {each:.0f} µs CPU a record and follower")


async def main() -> None:
    """Print all of it."""
    beside = f"; with FastAPI: {start(*ANSWERS, 'fastapi')}" if find_spec("fastapi") else ""
    print(f"start, what answers: {start(*ANSWERS)}{beside}")
    with tempfile.TemporaryDirectory() as directory:
        async with inside(Path(directory)) as within:
            app = application(within)
            await measure_feed(within, app)
            await measure_stream(within, app)


if __name__ == "__main__":
    asyncio.run(main())
