"""`tidings enable|disable|drop|confirm NAME…`, `rename NAME NEW-NAME`: lifecycle steps by
the user.
"""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from tidings.cli.happenings import happening_of, write_drop
from tidings.cli.output import add_json, write_json, write_line
from tidings.clock import SystemClock
from tidings.errors import UsageError
from tidings.model.watch.sentinel import Command
from tidings.service.sentinels import register
from tidings.service.sentinels.apply import is_of_files
from tidings.service.show.records import sentinel_record
from tidings.service.sources import outside_events
from tidings.service.watch.watchlist import meaning
from tidings.storage.db.database import open_database
from tidings.storage.watches import sentinels

if TYPE_CHECKING:
    from tidings.settings import Settings
    from tidings.storage.db.connection import Connection
    from tidings.storage.db.database import Database
    from tidings.storage.watches.sentinels import SentinelRow

DONE = {
    "enable": "is watched again",
    "disable": "is paused",
    "drop": "is dropped; its changes are kept",
    "confirm": "is now compared with its newest version",
}
ALREADY = {"enable": "is already watched", "disable": "is already paused"}


def configure(parser: argparse.ArgumentParser, verb: str) -> None:
    """Declare the arguments."""
    if verb == "rename":
        parser.add_argument("old", metavar="NAME")
        parser.add_argument("new", metavar="NEW-NAME", help="the new name: letters of any script, digits, - and _")
        add_json(parser)
        return
    parser.add_argument("names", nargs="+", metavar="NAME")
    if verb == "enable":
        parser.add_argument(
            "--fresh",
            action="store_true",
            help="take the next version as a new baseline: changes during the pause are not reported",
        )
    add_json(parser)


def run(arguments: argparse.Namespace, settings: Settings) -> int:
    """Apply the step to all names or to none."""
    database = open_database(settings, create=False)
    try:
        if arguments.verb == "rename":
            return _rename(database, arguments)
        gone, rows, idle = database.write(_all, arguments.verb, arguments.names, getattr(arguments, "fresh", False))
    finally:
        database.close()
    for name in gone:
        write_drop(name, as_json=arguments.json)
    for row in rows:
        if arguments.json:
            write_json(sentinel_record(row))
        else:
            write_line(f"{row.name} {(ALREADY if row.id in idle else DONE)[arguments.verb]}")
    return 0


def _rename(database: Database, arguments: argparse.Namespace) -> int:
    row = database.write(register.rename, arguments.old, arguments.new, now=SystemClock().now())
    if arguments.json:
        write_json(sentinel_record(row))
        return 0
    write_line(f"{arguments.old} is now called {row.name}; its versions and changes are kept")
    if database.read(is_of_files, row.id):
        write_line(
            f"`tidings apply` made it: use the name {row.name} in its file too, otherwise the next apply creates the "
            "old name again"
        )
    return 0


def _all(
    connection: Connection, verb: str, names: list[str], is_fresh: bool
) -> tuple[list[str], list[SentinelRow], set[int]]:
    """Apply the step. A name may also be an event's, which can be dropped. Return the events, the
    sentinels, and the ids of those that needed no step.
    """
    now = SystemClock().now()
    wanted = dict.fromkeys(names)
    known = sentinels.names(connection) if verb == "drop" else ()
    gone = [name for name in wanted if verb == "drop" and name not in known and happening_of(connection, name)]
    paused = {row.id for row in sentinels.listing(connection) if row.state == "disabled"}
    rows = [
        register.command(connection, Command(verb, name, is_fresh), now=now)  # type: ignore[arg-type]
        for name in wanted
        if name not in gone
    ]
    for name in gone:
        outside_events.drop(connection, name)
    for row in rows if verb == "confirm" else ():
        if (mode := meaning(row.text).compare.mode) != "first":
            raise UsageError(f"{row.name} has the clause Compare {mode}; confirm works only with Compare first")
    if verb == "disable":
        return gone, rows, {row.id for row in rows} & paused
    return gone, rows, {row.id for row in rows} - paused if verb == "enable" and not is_fresh else set()
