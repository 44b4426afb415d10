"""How long the service takes for each screen and list of an installation with many sentinels: least
CPU, least and median wall time of some calls within this process, in ms.

`PYTHONPATH=. python bench/screen_times.py [--sentinels 5000] [--profile PATH]`
"""

from __future__ import annotations

import argparse
import asyncio
import cProfile
import pstats
import statistics
import tempfile
import time
from pathlib import Path
from typing import Any, Final

from tests.acceptance.test_screens import face
from tests.asgi import ask
from tests.fakes import WebServer
from tests.people import hash_password
from tests.world import World
from tidings.clock import MINUTE
from tidings.service.people import accounts as accounts_of
from tidings.service.people import tokens
from tidings.storage.watches import sentinels

PATHS: Final = (
    "/sentinels", "/sentinels?sort=name", "/sentinels?p=50", "/sentinels?tag=t3", "/sentinels?q=page_49",
    "/sentinels?s=need",
    "/", "/plan", "/health", "/sentinels/page_7", "/api/v1/sentinels", "/api/v1/sentinels?limit=500", "/api/v1/changes",
)  # fmt: skip
CALLS: Final = 7
CHANGED: Final = (
    "UPDATE page SET polled_at = :at, checked_at = :at, changed_at = :at - id * 1000000, last_seq = 1 + id % 3,"
    " title = 'Page ' || id"
)


def fill(world: World, many: int, *, has_people: bool = True) -> dict[str, dict[str, str]]:
    """Make the sentinels, of which one in ten is anna's; some of their pages have changed. Return
    the headers of two people.
    """
    texts = (
        f"Create Sentinel page_{n} Using {{/page/{n}}} Monitor all words Fetch every 1 day Tags t{n % 17}"
        for n in range(many)
    )
    world.add(";\n".join(texts))
    now = world.clock.wall()
    headers: dict[str, dict[str, str]] = {"installation": {}}

    def write(c: Any) -> None:
        c.execute("UPDATE sentinel SET state = 'enabled'")
        c.execute(CHANGED, at=now - MINUTE)
        if not has_people:
            return
        ada = accounts_of.add(c, "ada", "admin", hash_password(), at=now)
        anna = accounts_of.add(c, "anna", "editor", hash_password(), at=now)
        for name, row in (("anna", anna), ("ada", ada)):
            token, _ = tokens.add(c, name, "edit", owner_id=row.id, at=now)
            headers[name] = {"authorization": f"Bearer {token.reveal()}"}
        for row in sentinels.listing(c)[::10]:
            sentinels.give(c, row.id, anna.id)

    world.write(write)
    del headers["installation"]
    return headers


async def run(world: World, headers: dict[str, dict[str, str]], profiled: str) -> None:
    """Ask for each and print what it took."""
    async with world.monitor() as monitor, face(world, monitor) as app:
        for who, given in headers.items():
            for path in PATHS if not profiled else (profiled,):
                answer = await ask(app, path, headers=given)
                taken, cpu = [], []
                profile = cProfile.Profile()
                for _ in range(CALLS):
                    begun, spent = time.perf_counter(), time.process_time()
                    await ask(app, path, headers=given)
                    taken.append(1000 * (time.perf_counter() - begun))
                    cpu.append(1000 * (time.process_time() - spent))
                if profiled:
                    profile.enable()
                    await ask(app, path, headers=given)
                    profile.disable()
                    pstats.Stats(profile).sort_stats("cumulative").print_stats(45)
                said = f"CPU {min(cpu):6.1f} ms, wall {min(taken):6.1f}, median {statistics.median(taken):6.1f}"
                print(f"{who:5} {path:32} {answer.status} {said}")


def main() -> None:
    """Fill a database and time."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sentinels", type=int, default=5_000)
    parser.add_argument("--profile", default="")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder, WebServer() as web:
        world = World(Path(folder) / "data", web)
        headers = fill(world, arguments.sentinels)
        asyncio.run(run(world, headers, arguments.profile))


if __name__ == "__main__":
    main()
