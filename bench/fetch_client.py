"""CPU of a conditional request that is answered 304, over loopback: our client beside bare aiohttp, in one run.

    python bench/fetch_client.py [--requests 2000] [--rounds 7]

The server is a process of its own. Rounds of both alternate, the median of the rounds is printed, and the ratio of the medians.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import multiprocessing
import statistics
import time
from collections.abc import Awaitable, Callable
from multiprocessing.connection import Connection

import aiohttp
from yarl import URL

from tidings.clock import SystemClock
from tidings.fetching.http.client import ACCEPT, ACCEPT_ENCODING, Client
from tidings.fetching.politeness import HostGate
from tidings.model.observed.outcome import FetchRequest, Unchanged, Validators
from tidings.settings import FetchSettings

ANSWER = b'HTTP/1.1 304 Not Modified\r\nDate: Thu, 01 Jan 2026 00:00:00 GMT\r\nETag: "1"\r\nServer: bench\r\n\r\n'
ETAG = '"1"'
PAGES = 500


class Server(asyncio.Protocol):
    """Answers each request 304 without looking at it."""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Keep the way back."""
        assert isinstance(transport, asyncio.Transport)
        self.transport = transport

    def data_received(self, data: bytes) -> None:
        """Answer each request in the bytes."""
        if data.startswith(b"GET /robots.txt"):
            self.transport.write(b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n")
            return
        for _ in range(data.count(b"\r\n\r\n")):
            self.transport.write(ANSWER)


def serve(pipe: Connection) -> None:
    async def run() -> None:
        server = await asyncio.get_running_loop().create_server(Server, "127.0.0.1", 0)
        pipe.send(server.sockets[0].getsockname()[1])
        await server.serve_forever()

    asyncio.run(run())


async def measure(ask: Callable[[int], Awaitable[None]], requests: int, workers: int) -> float:
    numbers = iter(range(requests))

    async def work() -> None:
        for number in numbers:
            await ask(number)

    began = time.process_time()
    await asyncio.gather(*(work() for _ in range(workers)))
    return (time.process_time() - began) / requests * 1e6


async def compare(port: int, requests: int, rounds: int, workers: int) -> dict[str, float]:
    base = f"http://127.0.0.1:{port}"
    settings = FetchSettings(allow_networks=("127.0.0.0/8",), host_gap_seconds=0)
    client = Client(settings)
    gate = HostGate(gap_seconds=0, connections=workers, clock=SystemClock())
    headers = {"User-Agent": "bench", "Accept": ACCEPT, "Accept-Encoding": ACCEPT_ENCODING}
    jar = aiohttp.DummyCookieJar()
    session = aiohttp.ClientSession(cookie_jar=jar, auto_decompress=False, headers=headers)

    async def ours(number: int) -> None:
        request = FetchRequest(url=f"{base}/{number % PAGES}", validators=Validators(ETAG))
        async with gate.permit(f"127.0.0.1:{port}") as permit:
            outcome = await client.fetch(request, permit)
        assert isinstance(outcome, Unchanged), outcome

    async def bare(number: int) -> None:
        url = URL(f"{base}/{number % PAGES}", encoded=True)
        async with session.get(url, headers={"If-None-Match": ETAG}, allow_redirects=False) as response:
            await response.read()
            assert response.status == 304

    figures: dict[str, list[float]] = {"ours": [], "bare": []}
    for round_number in range(rounds + 1):
        for name, ask in (("ours", ours), ("bare", bare)):
            figure = await measure(ask, requests, workers)
            if round_number:  # the first round fills caches
                figures[name].append(figure)
    await client.close()
    await session.close()
    return {name: statistics.median(values) for name, values in figures.items()}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--requests", type=int, default=2_000)
    parser.add_argument("--rounds", type=int, default=7)
    arguments = parser.parse_args()
    ours, theirs = multiprocessing.Pipe()
    server = multiprocessing.Process(target=serve, args=(theirs,), daemon=True)
    server.start()
    port = ours.recv()
    for workers in (1, 32):
        figures = asyncio.run(compare(port, arguments.requests, arguments.rounds, workers))
        row = {
            "workers": workers,
            "ours_us": round(figures["ours"], 1),
            "bare_aiohttp_us": round(figures["bare"], 1),
            "ratio": round(figures["ours"] / figures["bare"], 3),
        }
        print(json.dumps(row))
    server.terminate()
    server.join()


if __name__ == "__main__":
    main()
