"""How long the service takes for each screen and list of an installation with many sentinels: least
CPU, least and median wall time of some calls within this process, in ms.

`PYTHONPATH=. python bench/screen_times.py [--sentinels 5000] [--changes 10000] [--profile PATH]`

Each page has twenty checks, and what the policy learned of it. What is read once and then shared
for 20 s is also timed anew. With `--profile PATH` that screen alone is asked for, and profiled.
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

from tests.acceptance.test_screens import face_and_desk
from tests.asgi import ask
from tests.fakes import WebServer
from tests.people import hash_password
from tests.world import World
from tidings.clock import DAY, MINUTE
from tidings.service.people import accounts as accounts_of
from tidings.service.people import tokens
from tidings.storage.watches import sentinels

ANEW: Final = ", anew"
PATHS: Final = (
    "/sentinels", "/sentinels?sort=name", "/sentinels?p=50", "/sentinels?tag=t3", "/sentinels?q=page_49",
    "/sentinels?s=need",
    "/", "/?s=all&q=price", "/plan", "/plan, anew", "/health", "/health, anew", "/sentinels/page_7",
    "/api/v1/sentinels", "/api/v1/sentinels?limit=500", "/api/v1/plan", "/api/v1/changes",
)  # fmt: skip
CALLS: Final = 7
DAYS: Final = 30
"""The days over which checks and changes are spread."""
POLLS: Final = 20
CHANGED: Final = (
    "UPDATE page SET polled_at = :at, checked_at = :at, changed_at = :at - id * 1000000, last_seq = 1 + id % 3,"
    " title = 'Page ' || id, polls = 20"
)
_NEXT: Final = "UPDATE subscription SET next_tick = :at + id * 17000000"
_NUMBERS: Final = "WITH RECURSIVE n (k) AS (SELECT 0 UNION ALL SELECT k + 1 FROM n WHERE k + 1 < :many)"
_POLLED: Final = (
    f"{_NUMBERS} INSERT INTO poll (page_id, epoch, charged_at, cost, reason, budget, finished_at, outcome,"
    " text_changed) SELECT p.id, 1, :first + k * :step, 1, 'scheduled', '', :first + k * :step, 'unchanged', k % 9 = 1"
    " FROM n, page p ORDER BY k"
)
_LEARNED: Final = "INSERT INTO estimate (name, page_id, state, at) SELECT :name, id, :state, :at FROM page"
_MEMORY: Final = (
    '{"period":473.65312,"saturated":false,"suspicion":0,"steady":0,"rate":{"shape":19.111837363338864,'
    '"scale":3.909199354763571,"prior":[0.1,0.05592943910821706],"seen":1700359925211472,"looks":255}}'
)
_TEXTS: Final = (
    '{"kinds":["words"],"inserted":[],"deleted":[],"updated":[["one","the price of it is 0 EUR"]],"moved":[],'
    '"summary":"\\"one\\" \\u2192 \\"the price of it is 0 EUR\\"","title":"Page"}'
)
_FOUND: Final = (
    f"{_NUMBERS} INSERT INTO change (id, event_seq, sentinel_id, subscription_id, page_id, revision, kind,"
    " from_seq, to_seq, rules_version, extraction, quiet, polled_at, detected_at, edits, objects, texts)"
    " SELECT printf('%032x', n.k), n.k, u.sentinel_id, u.id, u.page_id, 1, 'all words', 1, 2, 4, 'page', k % 5 = 0,"
    " :first + k * :step, :first + k * :step, '[[\"replace\",0,1,0,8]]', '[]', :texts"
    " FROM n JOIN subscription u ON u.id = 1 + (n.k * 7919) % (SELECT max(id) FROM subscription)"
)


def fill(world: World, many: int, changes: int = 10_000, *, has_people: bool = True) -> dict[str, dict[str, str]]:
    """Make the sentinels, of which one in ten is anna's, with checks and changes of the last days.
    Return the headers of two people.
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
        c.execute(_NEXT, at=now)
        first = now - DAYS * DAY
        c.execute(_POLLED, many=POLLS, first=first, step=DAYS * DAY // POLLS)
        c.execute(_LEARNED, name=world.settings.schedule.policy, state=_MEMORY, at=now)
        if changes:
            c.execute(_FOUND, many=changes, first=first, step=DAYS * DAY // changes, texts=_TEXTS)
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
    async with world.monitor() as monitor, face_and_desk(world, monitor) as (app, desk):
        for who, given in headers.items():
            for path in PATHS if not profiled else (profiled,):
                address = path.partition(",")[0]
                answer = await ask(app, address, headers=given)
                taken, cpu = [], []
                profile = cProfile.Profile()
                for _ in range(CALLS):
                    if path.endswith(ANEW):
                        desk.forget_recent()
                    begun, spent = time.perf_counter(), time.process_time()
                    await ask(app, address, headers=given)
                    taken.append(1000 * (time.perf_counter() - begun))
                    cpu.append(1000 * (time.process_time() - spent))
                if profiled:
                    profile.enable()
                    await ask(app, address, headers=given)
                    profile.disable()
                    pstats.Stats(profile).sort_stats("cumulative").print_stats(45)
                said = f"CPU {min(cpu):6.1f} ms, wall {min(taken):6.1f}, median {statistics.median(taken):6.1f}"
                print(f"{who:5} {path:32} {answer.status} {said}")


def main() -> None:
    """Fill a database and time."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sentinels", type=int, default=5_000)
    parser.add_argument("--changes", type=int, default=10_000)
    parser.add_argument("--profile", default="")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder, WebServer() as web:
        world = World(Path(folder) / "data", web)
        headers = fill(world, arguments.sentinels, arguments.changes)
        asyncio.run(run(world, headers, arguments.profile))


if __name__ == "__main__":
    main()
