"""Measure the CPU that the whole loop takes for a loopback page.

    .venv/bin/python bench/poll_loop.py [--pages 500] [--rounds 5] [--profile]

The rounds: first poll, unchanged (304), unchanged (200), changed. A server in a process of its own
answers pages of 6 KB. CPU is that of this process and of its
workers; the server's is not counted. The sentinels ask for each round, so each changed page is
reported. In the same run a bare aiohttp client fetches the same pages, as the lower bound for any
Python program that polls.
"""

from __future__ import annotations

import argparse
import asyncio
import cProfile
import multiprocessing
import os
import pstats
import resource
import tempfile
import time
from pathlib import Path
from typing import Any

if __name__ == "__main__":  # the workers import this file too, as any main module; that of `tidings` is a few lines
    import aiohttp

    from tidings.service.run import check as checking
    from tidings.service.run.assembly import poller
    from tidings.service.sentinels import register
    from tidings.settings import load
    from tidings.storage.db.database import open_database
    from tidings.storage.observed import versions

HOSTS = 40
FLAGS = {
    "fetch.allow_networks": "127.0.0.0/8",
    "fetch.host_gap_seconds": "0",
    "fetch.page_floor_seconds": "0",
    "fetch.robots": "false",
    "fetch.host_connections": "4",
    "budget.polls_per_day": "1e9",
    "budget.burst": "1e9",
}
WORDS = (
    "river stone lantern market quiet amber falcon orchard thunder velvet harbour meadow copper winter saffron".split()
)


def body(page: int, edit: int) -> bytes:
    """Return about 6 KB of HTML; another `edit` changes one word."""
    paragraphs = "".join(
        f'<p class="c{i % 7}">{" ".join(WORDS[(page + i * j + j) % len(WORDS)] for j in range(14))} <a href="/l/{page}/{i}">item {i}</a></p>\n'
        for i in range(38)
    )
    return f"<!doctype html><html><head><title>Page {page}</title></head><body><h1>Page {page}</h1><p>edition {edit}</p>{paragraphs}</body></html>".encode()


def serve(port: Any, mode: Any) -> None:
    """Answer until killed. `mode` is (edit, with ETag)."""

    async def handle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while True:
            try:
                head = await reader.readuntil(b"\r\n\r\n")
            except (asyncio.IncompleteReadError, ConnectionError):
                break
            number = int(head.split(b" ", 2)[1].rsplit(b"/", 1)[1])
            edit, with_tag = mode[0], mode[1]
            tag = f'"{number}-{edit}"'
            known = f"If-None-Match: {tag}".encode() in head
            if with_tag and known:
                writer.write(f"HTTP/1.1 304 Not Modified\r\nETag: {tag}\r\n\r\n".encode())
            else:
                data = body(number, edit)
                extra = f"ETag: {tag}\r\n" if with_tag else ""
                writer.write(
                    f"HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=utf-8\r\n{extra}Content-Length: {len(data)}\r\n\r\n".encode()
                    + data
                )
        writer.close()

    async def run() -> None:
        server = await asyncio.start_server(handle, "0.0.0.0", 0)
        port.value = server.sockets[0].getsockname()[1]
        await asyncio.Event().wait()

    asyncio.run(run())


def urls(port: int, pages: int) -> list[str]:
    return [f"http://127.0.0.{2 + n % HOSTS}:{port}/{n}" for n in range(pages)]


def children_cpu() -> float:
    """Return the CPU seconds of all living descendants."""
    total, waiting = 0.0, [os.getpid()]
    while waiting:
        pid = waiting.pop()
        for task in Path(f"/proc/{pid}/task").glob("*/children"):
            for child in task.read_text().split():
                try:
                    fields = Path(f"/proc/{child}/stat").read_text().rpartition(")")[2].split()
                    name = Path(f"/proc/{child}/cmdline").read_bytes()
                except OSError:
                    continue
                if b"multiprocessing.spawn" not in name:
                    total += sum(map(int, fields[11:15])) / os.sysconf(
                        "SC_CLK_TCK"
                    )  # its own and that of children it has waited for
                waiting.append(int(child))
    return total


async def bare(addresses: list[str]) -> float:
    """Return CPU ms a page of a bare aiohttp client that reads the bodies, 64 at a time."""
    limit = asyncio.Semaphore(64)
    async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=0), auto_decompress=False) as session:

        async def get(url: str) -> None:
            async with limit, session.get(url) as answer:
                await answer.read()

        await asyncio.gather(*(get(u) for u in addresses))
        begun = time.process_time()
        await asyncio.gather(*(get(u) for u in addresses))
        return (time.process_time() - begun) * 1e3 / len(addresses)


async def measure(arguments: argparse.Namespace, port: int, mode: Any, directory: Path) -> None:
    settings = load(directory, environment={}, flags=FLAGS)
    addresses = urls(port, arguments.pages)
    database = open_database(settings)
    text = ";\n".join(
        f"Create Sentinel p{n} Using {u} Monitor any change Fetch every 1 hour" for n, u in enumerate(addresses)
    )
    register.register(database, text, settings=settings, now=time.time_ns() // 1000)
    database.close()
    ready = time.perf_counter()
    async with poller(settings) as monitor:
        print(f"ready with {arguments.pages} pages in {time.perf_counter() - ready:.2f} s")

        await monitor.live()

        async def round_of(edit: int, with_tag: bool, name: str) -> None:
            mode[0], mode[1] = edit, int(with_tag)
            named = {
                page_id: {sub.row.sentinel_id for sub in page.subscriptions.values()}
                for page_id, page in monitor.watchlist.pages.items()
            }
            monitor.polled_ids.clear()
            cpu, child, wall = time.process_time(), children_cpu(), time.perf_counter()
            found = await checking.check(monitor, named)
            cpu, child, wall = time.process_time() - cpu, children_cpu() - child, time.perf_counter() - wall
            n = len(found.polls)
            outcomes = {o: sum(p.outcome == o for p in found.polls) for o in {p.outcome for p in found.polls}}
            rows.setdefault(name, []).append((cpu / n * 1e3, child / n * 1e3, n / wall))
            assert n == arguments.pages, (n, outcomes)
            assert set(outcomes) == {expected[name]}, outcomes
            assert len(found.changes) == (n if name == "changed" else 0), len(found.changes)

        expected = {"first": "new", "304": "unchanged", "200, same body": "unchanged", "changed": "changed"}
        rows: dict[str, list[tuple[float, float, float]]] = {}
        await round_of(0, True, "first")
        profile = cProfile.Profile()
        for turn in range(arguments.rounds):
            if arguments.profile == "304":
                profile.enable()
            await round_of(turn, True, "304")
            profile.disable()
            await round_of(turn, False, "200, same body")
            await round_of(turn, True, "200, same body")
            if arguments.profile == "changed":
                profile.enable()
            await round_of(turn + 1, True, "changed")
            profile.disable()
        floor = await bare(addresses)
        print(
            f"{'':18}{'own CPU':>10}{'workers':>10}{'CPU ms/page':>13}{'pages/s':>10}   (bare aiohttp GET: {floor:.3f} ms)"
        )
        for name, values in rows.items():
            own, work, rate = (sorted(v[i] for v in values)[len(values) // 2] for i in range(3))
            print(f"{name:18}{own:10.3f}{work:10.3f}{own + work:13.3f}{rate:10.0f}")
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        print(f"RSS {peak:.0f} MB (peak, without workers)")
        if arguments.profile:
            pstats.Stats(profile).sort_stats("tottime").print_stats(45)
        count = await monitor.store.read(lambda c: sum(len(versions.listing(c, p)) for p in monitor.watchlist.pages))
        print(f"{count} versions stored")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pages", type=int, default=500)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--profile", choices=["304", "changed"])
    arguments = parser.parse_args()
    context = multiprocessing.get_context("spawn")
    port, mode = context.Value("i", 0), context.Array("i", [0, 1])
    server = context.Process(target=serve, args=(port, mode), daemon=True)
    server.start()
    while not port.value:
        time.sleep(0.01)
    with tempfile.TemporaryDirectory() as directory:
        asyncio.run(measure(arguments, port.value, mode, Path(directory)))
    server.kill()


if __name__ == "__main__":
    main()
