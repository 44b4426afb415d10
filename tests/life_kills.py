"""Real services killed with -9 while sentinels start, stop and change: every step has its due
instant (sentinels §2.3).

A door makes, alters, pauses and drops sentinels with lives of a second or two, while the service beside it is killed again and again. In the end
each life is compared with what its clauses say, step by step; only a life that fell whole into the time between two services may be missed.
"""

from __future__ import annotations

import random
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.fakes import Page, WebServer
from tests.services import Installation, until
from tidings.clock import SECOND, Instant, SystemClock
from tidings.errors import SentinelError
from tidings.model.watch.sentinel import Command
from tidings.service.sentinels import register
from tidings.service.sources import outside_events
from tidings.service.watch.lifespan import Life, ends, starts
from tidings.service.watch.watchlist import meaning
from tidings.storage.db.connection import Connection
from tidings.storage.db.database import open_database
from tidings.storage.watches import events, sentinels
from tidings.storage.watches.outside import HAPPENED

LIVES = ("For {b} s", "From now + {a} s For {b} s", "From end({x}) + {a} s For {b} s", "From start({x}) + {a} s For {b} s",
         "From start({x}) To end({x}) + {a} s", "From end({x}) For {b} s")  # fmt: skip
BY_EVENT = ("From event(tick) For {b} s", "From event(tick) + {a} s To event(tick) + {a} s", "To event(tick)")
"""Lives that hang on an event of other origin, which is taken again and again."""
REST_SECONDS = 60.0


@dataclass(slots=True)
class Found:
    """What came of it: faults, how many sentinels lived, their steps by type, and why they ended."""

    faults: list[str] = field(default_factory=list)
    sentinels: int = 0
    kills: int = 0
    steps: Counter[str] = field(default_factory=Counter)
    reasons: Counter[str] = field(default_factory=Counter)


def run(directory: Path, *, kills: int, seed: int = 1) -> Found:
    """Kill a service so many times while sentinels live, let all come to their end, and compare."""
    rng, found = random.Random(seed), Found(kills=kills)
    with WebServer() as server:
        server.pages["/a"] = Page(b"<p>one</p>", {"Content-Type": "text/html"})
        place = Installation(directory, {"TIDINGS_FETCH_HOST_GAP_SECONDS": "0"})
        database = open_database(place.settings)
        now = SystemClock().now()
        register.register(database, "Create Event tick Using webhook", settings=place.settings, now=now)
        down: list[tuple[Instant, Instant]] = []
        died = SystemClock().now() - SECOND
        try:
            for _ in range(kills):
                service = place.serve()
                if rng.random() < 0.8:
                    service.wait_ready()
                is_up, end = False, time.monotonic() + rng.uniform(0.2, 2.0)
                while time.monotonic() < end:
                    if service.is_ready and not is_up:
                        is_up = True
                        down.append((died, SystemClock().now() + SECOND))
                    database.write(_act, rng, server.url("/a"), place.settings)
                    time.sleep(rng.uniform(0.01, 0.1))
                service.kill()
                died = SystemClock().now() if is_up else died
                time.sleep(rng.choice((0.0, 0.3, 2.5)))
            service = place.serve()
            service.wait_ready()
            down.append((died, SystemClock().now() + SECOND))
            until(lambda: database.write(_end), REST_SECONDS, "a sentinel does not come to its end")
        finally:
            place.close()
        database.read(_compare, found, down)
        database.close()
    return found


def _act(c: Connection, rng: random.Random, url: str, settings: Any) -> None:
    """Do one thing that a user may do now."""
    now = SystemClock().now()
    rows = sentinels.listing(c, ended=True)
    running = [row for row in rows if row.state in {"enabled", "disabled"} and row.started_at is not None]
    if rng.random() < 0.3:
        outside_events.take(c, "tick", {}, at=now)
    what = rng.random()
    if what < 0.6 or not running:
        alive = [row.name for row in rows if row.state != "ended"]
        life = rng.choice((*LIVES, *BY_EVENT) if alive else LIVES[:2])
        life = life.format(a=rng.uniform(0.1, 2), b=rng.uniform(0.3, 3), x=rng.choice(alive or [""]))
        text = f"Create Sentinel s{len(rows)} Using {url} Monitor any change Fetch every 1 s {life}"
        try:
            register.carry_out(c, text, settings, now, "")
        except SentinelError as error:
            if {problem.as_dict()["code"] for problem in error.problems} != {
                "E30"
            }:  # the other one has come to its end meanwhile
                raise
        return
    row = rng.choice(running)
    if what < 0.75:
        register.command(c, Command("disable" if row.state == "enabled" else "enable", row.name), now=now)
    elif what < 0.9 and meaning(row.text).span is not None:
        register.carry_out(c, f"Alter {row.name} For {rng.uniform(0.3, 4)} s", settings, now, "")
    else:
        register.command(c, Command("drop", row.name), now=now)


def _end(c: Connection) -> bool:
    """Say whether all sentinels have ended; those that wait for the event get it."""
    outside_events.take(c, "tick", {}, at=SystemClock().now())
    return not sentinels.listing(c)


def _by_event(row: sentinels.SentinelRow, ticks: list[Instant]) -> str:
    """Return what is wrong with a life that hangs on the event: it starts with the first since it was made, it ends with the first after."""
    sentinel = meaning(row.text)
    if sentinel.start.event is not None and row.start_at is not None:
        first = next(at for at in ticks if at > row.created_at)
        if row.start_at != first + sentinel.start.offset:
            return f"{row.name} was to start at {row.start_at}, the event was at {first}"
    if sentinel.end is not None and sentinel.end.event is not None and row.end_at is not None:
        begun = row.started_at if row.start_at is None else row.start_at
        first = next(at for at in ticks if begun is not None and at > begun)
        if row.end_at != first + sentinel.end.offset:
            return f"{row.name} was to end at {row.end_at}, the event was at {first}"
    return ""


def _compare(c: Connection, found: Found, down: list[tuple[Instant, Instant]]) -> None:
    rows = sentinels.listing(c, ended=True)
    names = {row.name: Life.of(row, meaning(row.text)) for row in rows}
    log = events.listing(c)
    found.sentinels = len(rows)
    found.steps = Counter(e.type for e in log if e.type.startswith("sentinel."))
    found.reasons = Counter(row.reason for row in rows)
    once = Counter((e.sentinel_id, e.type) for e in log if e.type in {"sentinel.created", "sentinel.ended"})
    found.faults += [f"{count} × {key}" for key, count in once.items() if count != 1]
    ticks = [e.at for e in log if e.type == HAPPENED]
    found.faults += filter(None, (_by_event(row, ticks) for row in rows))
    for row in rows:
        life = Life(row, meaning(row.text), "waiting", None, None)
        start = starts(life, names.get)
        life.started_at = row.started_at
        end = ends(life, names.get)
        if row.started_at is not None and (start is None or max(start, row.created_at) != row.started_at):
            found.faults.append(f"{row.name} started at {row.started_at}, due at {start}")
        if row.reason == "its end has come" and (end is None or max(end, row.revised_at) != row.ended_at):
            found.faults.append(f"{row.name} ended at {row.ended_at}, due at {end}")
        if row.reason == "missed" and not any(a - SECOND <= (start or 0) and (end or 0) <= b for a, b in down):
            found.faults.append(f"{row.name} was missed, from {start} to {end} somebody watched")
