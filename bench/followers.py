"""Measure what a thousand followers cost: memory of the service, and the time until all have a change.

`PYTHONPATH=. python bench/followers.py [FOLLOWERS] [PATH]`: `PATH` is `/api/v1/events` (the API) or
`/live` (open screens). The followers are in a process of their own, on sockets.
"""

from __future__ import annotations

import asyncio
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Final

from tests.acceptance.test_screens import SHOP, edit, face
from tests.fakes import WebServer
from tests.screens import serve
from tests.world import World

CHANGES: Final = 5
FOLLOW: Final = """
import asyncio, sys, time
port, many, path = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3]
word = b"tidings.change.found" if "events" in path else b"event: unread"
async def follow(arrived, gate):
    async with gate:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(f"GET {path} HTTP/1.1\\r\\nHost: 127.0.0.1\\r\\n\\r\\n".encode())
        head = await reader.readuntil(b"\\r\\n\\r\\n")
    if b" 200 " not in head:
        print("refused", head[:40], flush=True)
        return
    print("open", flush=True)
    while data := await reader.read(65536):
        if word in data:
            print("got", time.time(), flush=True)
async def main():
    gate = asyncio.Semaphore(20)
    await asyncio.gather(*(follow([], gate) for _ in range(many)))
asyncio.run(main())
"""


def memory() -> float:
    """Return what this process holds, in MB."""
    fields = Path("/proc/self/statm").read_text(encoding="ascii").split()
    return int(fields[1]) * os.sysconf("SC_PAGE_SIZE") / 1e6


async def run(world: World, many: int, path: str) -> None:
    """Let them follow, let the page change, print."""
    async with world.monitor() as monitor, face(world, monitor) as app, serve(app) as url:
        await world.settle(monitor)
        await edit(world, monitor, "129")
        port, before = url.rpartition(":")[2], memory()
        command = [sys.executable, "-c", FOLLOW, port, str(many), path]
        followers = await asyncio.create_subprocess_exec(*command, stdout=subprocess.PIPE)
        assert followers.stdout is not None
        opened = 0
        while opened < many:
            line = (await followers.stdout.readline()).split()
            opened += line[0] == b"open"
            if line[0] == b"refused":
                print(b" ".join(line).decode())
                return
        await asyncio.sleep(1)
        print(f"{many} follow {path}: {memory() - before:.0f} MB more, {1000 * (memory() - before) / many:.0f} kB each")
        for n in range(CHANGES):
            arrived: list[float] = []
            cpu = time.process_time()
            await edit(world, monitor, str(100 + n))
            begun = time.time()
            while len(arrived) < many:
                line = (await followers.stdout.readline()).split()
                if line[0] == b"got" and float(line[1]) > begun - 5:
                    arrived.append(float(line[1]) - begun)
            cpu = time.process_time() - cpu
            middle = statistics.median(arrived)
            print(f"change {n + 1}: median {middle:.3f} s, last {max(arrived):.3f} s, {cpu:.2f} s CPU of the service")
        followers.kill()
        await followers.wait()


def main(many: str = "1000", path: str = "/api/v1/events") -> None:
    """Run it."""
    with tempfile.TemporaryDirectory() as folder, WebServer() as web:
        world = World(Path(folder) / "data", web)
        world.page("/a", "<title>Kettle</title><h1>Offer</h1><p>Price 1 EUR</p>")
        world.add(SHOP)
        asyncio.run(run(world, int(many), path))


if __name__ == "__main__":
    main(*sys.argv[1:])
