"""`tidings cluster`: the processes that share the database, what they hold, and what waits."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from tidings.cli.output import add_json, table, write_json, write_line
from tidings.clock import SystemClock
from tidings.service.health.cluster import list_members, read_queue, spell_queue
from tidings.service.show.finding import spell_count, spell_length
from tidings.storage.db import lock
from tidings.storage.db.database import open_database

if TYPE_CHECKING:
    from tidings.model.interval import Instant
    from tidings.service.health.cluster import ClusterProcess, Queue
    from tidings.settings import Settings
    from tidings.storage.db.connection import Connection


def configure(parser: argparse.ArgumentParser, verb: str) -> None:  # noqa: ARG001 - one verb
    """Declare the arguments."""
    add_json(parser)


def run(arguments: argparse.Namespace, settings: Settings) -> int:
    """List the processes, and the work that waits."""
    now = SystemClock().now()
    database = open_database(settings, create=False)
    try:
        members, queue, late, at = database.read(_read, settings, now)
    finally:
        database.close()
    if arguments.json:
        for one in members:
            write_json(one.record())
        write_json(
            {
                "record": "cluster",
                "checks_due": len(late),
                "checks_late_seconds": max(late, default=0) / 1_000_000,
                "messages_waiting": queue.waiting,
                "messages_due": queue.due,
                "messages_late_seconds": queue.late / 1_000_000,
            }
        )
        return 0
    if members:
        rows = [(one.role, one.name, _spell_until(one, at), one.holds) for one in members]
        table(rows, ("ROLE", "PROCESS", "UNTIL", "HOLDS"))
    if not any(one.epoch is not None and one.is_working for one in members):
        write_line("no process checks pages: tidings serve --role planner (or all)")
    write_line(f"checks: {_spell_late(late)}")
    write_line(f"messages: {spell_queue(queue)}")
    return 0


def _read(c: Connection, settings: Settings, now: Instant) -> tuple[list[ClusterProcess], Queue, list[int], Instant]:
    """Return the processes, the messages that wait, for how long checks have been due (µs), and the
    time by which processes are measured.
    """
    from tidings.service.explain.plan_summary import list_coming_polls

    coming = list_coming_polls(c, settings, names=(), now=now)
    due = {one.page_id: one.prospect.at for one in coming if one.prospect.at is not None and one.prospect.at < now}
    at = now if c.dialect == "sqlite" else lock.server_time(c)
    return list_members(c), read_queue(c, now), [now - each for each in due.values()], at


def _spell_until(one: ClusterProcess, at: Instant) -> str:
    away = spell_length(abs(one.until - at))
    return f"in {away}" if one.until > at else f"ended {away} ago"


def _spell_late(late: list[int]) -> str:
    if not late:
        return "none is due"
    return f"{spell_count(len(late), 'page')} due, the first for {spell_length(max(late))}"
