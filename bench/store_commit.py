"""What a durable record of an unchanged poll costs, beside a bare loop of the same statements (contracts §1).

Run: `python bench/store_commit.py [UNITS]`. Prints CPU microseconds a unit, charge and commit apart, in groups of 1, 10 and 50, and
the ratio to a bare sqlite3 loop that writes three rows a unit by position in the same transactions. Best of three runs each. Then what it
costs to open the database, beside a bare connection that reads one row.
"""

from __future__ import annotations

import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from tidings.model.observed.page import PageIdentity, PageState
from tidings.model.observed.poll_reason import PollReason, Why
from tidings.model.observed.unit import Charged, CursorMove, Grant, PollRecord, Unit
from tidings.model.watch.sentinel import FetchEvery, Interest, Sentinel, Watched
from tidings.settings import Settings
from tidings.storage.db import lock
from tidings.storage.db.database import Database, open_database
from tidings.storage.db.sqlite import sqlite3
from tidings.storage.observed import pages
from tidings.storage.watches import sentinels
from tidings.storage.write import charge
from tidings.storage.write.commit import commit

SECOND = 1_000_000
START = 1_700_000_000 * SECOND
PAGES = 500


def fill(database: Database) -> int:
    """Watch `PAGES` pages with one sentinel; return the poller's epoch."""
    watched = tuple(Watched(f"http://h{i}.example/") for i in range(PAGES))
    identities = [
        PageIdentity(key=f"k{i}", url=w.url, given=w.url, host=f"h{i}.example") for i, w in enumerate(watched)
    ]
    sentinel = Sentinel(name="all", pages=watched, monitor=Interest("any"), fetch=FetchEvery(60 * SECOND))
    given = list(zip(watched, identities, strict=True))
    database.write(
        sentinels.create, sentinel, text="", pages=given, state="enabled", start_at=None, end_at=None, at=START
    )
    database.write(charge.set_budget, "default", rate_per_second=1e6, burst=1e9, at=START)
    return database.write(lock.acquire_lease, lock.POLLER, "bench", at=START, until=START + 10**15)


def charge_all(database: Database, count: int, epoch: int) -> list[Charged]:
    """Charge `count` polls in groups of 64."""
    charged: list[Charged] = []
    for start in range(0, count, 64):
        grants = [
            Grant(page_id=1 + i % PAGES, host=f"h{i % PAGES}.example", cost=1.0, reason=PollReason(Why.INTERVAL))
            for i in range(start, min(start + 64, count))
        ]
        charged += [entry for entry in database.write(charge.charge, grants, at=START + start, epoch=epoch) if entry]
    return charged


def units_of(charged: list[Charged], states: dict[int, PageState], epoch: int) -> list[Unit]:
    """Return an unchanged unit for each charged poll: poll record, page state, one cursor."""
    units = []
    for number, entry in enumerate(charged):
        at = START + number * SECOND
        page_id = entry.grant.page_id
        state = states[page_id] = replace(states[page_id], polled_at=at, checked_at=at, polls=states[page_id].polls + 1)
        record = PollRecord(
            poll_id=entry.poll_id, page_id=page_id, finished_at=at, outcome="unchanged", text_changed=False, status=304
        )
        cursor = CursorMove(
            subscription_id=page_id, revision=1, base=0, taken=(), next_tick=at + 60 * SECOND, ticked_at=at
        )
        units.append(Unit(at=at, epoch=epoch, poll=record, page=state, cursors=(cursor,)))
    return units


def bare(raw: Any, polls: list[int], group: int) -> None:
    """Write the same facts with positional statements, as little as a program could."""
    for chunk in chunks(polls, group):
        raw.execute("BEGIN IMMEDIATE")
        raw.executemany(
            "UPDATE poll SET finished_at = ?, outcome = ?, status = ? WHERE id = ?",
            [(START, "unchanged", 304, i) for i in chunk],
        )
        raw.executemany(
            "UPDATE page SET polled_at = ?, checked_at = ?, polls = polls + 1 WHERE id = ?",
            [(START, START, 1 + i % PAGES) for i in chunk],
        )
        raw.executemany(
            "UPDATE subscription SET next_tick = ?, ticked_at = ? WHERE id = ?",
            [(START, START, 1 + i % PAGES) for i in chunk],
        )
        raw.execute("COMMIT")


def chunks(values: list[Any], size: int) -> Iterator[list[Any]]:
    """Yield consecutive parts of a list."""
    for start in range(0, len(values), size):
        yield values[start : start + size]


def cpu(call: Callable[..., Any], *arguments: Any) -> tuple[float, Any]:
    """Return the CPU seconds that a call takes in this process, kernel time included, and its result."""
    before = time.process_time()
    result = call(*arguments)
    return time.process_time() - before, result


def commit_all(database: Database, units: list[Unit], group: int) -> None:
    """Commit units in groups."""
    for chunk in chunks(units, group):
        database.write(commit, chunk)


def print_opening(data: Path) -> None:
    """Print what opening an existing database costs."""

    def bare_open() -> None:
        raw = sqlite3.connect(data / "tidings.db", isolation_level=None)
        raw.execute("SELECT version_num FROM alembic_version").fetchone()
        raw.close()

    ours = min(cpu(lambda: open_database(Settings(data=data)).close())[0] for _ in range(20))
    theirs = min(cpu(bare_open)[0] for _ in range(20))
    print(f"opening: {ours * 1e6:.0f} us CPU, bare {theirs * 1e6:.0f} us, ratio {ours / theirs:.2f}")


def main() -> None:
    """Measure and print."""
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 3000
    with tempfile.TemporaryDirectory() as folder:
        database = open_database(Settings(data=Path(folder) / "data"))
        epoch = fill(database)
        states = {state.page_id: state for _, state in database.read(pages.population)}
        raw = sqlite3.connect(Path(folder) / "data" / "tidings.db", isolation_level=None)
        raw.execute("PRAGMA synchronous = FULL")
        for group in (1, 10, 50):
            ours, theirs, charging = [], [], []
            for _ in range(3):
                seconds, charged = cpu(charge_all, database, count, epoch)
                charging.append(seconds)
                ours.append(cpu(commit_all, database, units_of(charged, states, epoch), group)[0])
                open_again = [entry.poll_id for entry in charge_all(database, count, epoch)]
                theirs.append(cpu(bare, raw, open_again, group)[0])
            commit_us, bare_us, charge_us = (min(values) / count * 1e6 for values in (ours, theirs, charging))
            print(
                f"groups of {group:2}: commit {commit_us:6.1f} us CPU a unit, bare loop {bare_us:6.1f} us, ratio {commit_us / bare_us:4.2f}; "
                f"charge (by 64) {charge_us:5.1f} us"
            )
        database.close()
        raw.close()
        print_opening(Path(folder) / "data")


if __name__ == "__main__":
    main()
