"""`tidings enable|disable|drop|confirm NAME…`, `rename NAME NEW-NAME`: lifecycle steps by
the user.
"""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from tidings.cli.happenings import happening_of, write_drop
from tidings.cli.output import add_json, short_time, write_json, write_line
from tidings.clock import SystemClock
from tidings.errors import UsageError
from tidings.language.times import read_coming
from tidings.model.watch.sentinel import Command, Point
from tidings.service.sentinels import register
from tidings.service.sentinels.edit import is_of_files
from tidings.service.show.records import rfc3339, sentinel_record
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
    several = verb in {"enable", "disable"}
    parser.add_argument("names", nargs="*" if several else "+", metavar="NAME")
    if several:
        parser.add_argument("--all", action="store_true", help="all sentinels that have not ended")
        parser.add_argument("--tag", help="all sentinels with this tag")
    if verb == "disable":
        parser.add_argument(
            "--until",
            nargs="+",
            metavar="WHEN",
            help="enable it again at this time: a date, '2026-12-24 08:00', 18:00, tomorrow, or 'monday 8:00'",
        )
        parser.add_argument(
            "--for",
            nargs="+",
            dest="span",
            metavar="DURATION",
            help="enable it again after this time, e.g. 3d or 3 days",
        )
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
        until = read_until(arguments, settings.serve.zone) if arguments.verb == "disable" else None
        if arguments.verb in {"enable", "disable"}:
            arguments.names = database.read(_find_names, arguments)
        is_fresh = getattr(arguments, "fresh", False)
        gone, rows, idle = database.write(_all, arguments.verb, arguments.names, is_fresh, until)
    finally:
        database.close()
    for name in gone:
        write_drop(name, as_json=arguments.json)
    for row in rows:
        if arguments.json:
            write_json(sentinel_record(row))
        else:
            write_line(describe(arguments.verb, row, is_idle=row.id in idle))
    return 0


def describe(verb: str, row: SentinelRow, *, is_idle: bool = False) -> str:
    """Return the result of a step as a line."""
    end = "" if row.resume_at is None else f" until {short_time(rfc3339(row.resume_at))} UTC"
    return f"{row.name} {(ALREADY if is_idle else DONE)[verb]}{end}"


def read_until(arguments: argparse.Namespace, zone: str) -> Point | None:
    """Return when a pause ends: what `--until` or `--for` says; further words of it are names.

    Raises `UsageError` for both, and for a text that is no coming time.
    """
    words = arguments.until or arguments.span
    if arguments.until and arguments.span:
        raise UsageError("--until and --for both say when the pause ends; give one of them")
    names = arguments.names
    if not words and (number := next((at for at, name in enumerate(names) if at and name[:1].isdigit()), 0)):
        flag = f"--for '{' '.join(names[number:])}'"
        raise UsageError(f"{names[number]!r} is no name; write: tidings disable {' '.join(names[:number])} {flag}")
    if not words:
        return None
    now = SystemClock().now()
    for size in range(len(words), 0, -1):
        try:
            at = read_coming(" ".join(words[:size]), zone, now)
        except UsageError:
            if size == 1:
                raise
            continue
        arguments.names = [*names, *words[size:]]
        return Point("at", text=rfc3339(at), instant=at)
    return None


def _find_names(connection: Connection, arguments: argparse.Namespace) -> list[str]:
    """Return the names of the arguments, of `--tag` and of `--all`."""
    if arguments.all or arguments.tag is not None:
        found = [row.name for row in sentinels.listing(connection, tag=None if arguments.all else arguments.tag)]
        if not found:
            what = "no sentinel is watched" if arguments.all else f'no sentinel has the tag "{arguments.tag}"'
            raise UsageError(f"{what}; `tidings list` shows all")
        return [*arguments.names, *found]
    if not arguments.names:
        raise UsageError(f"give a NAME, --tag TAG or --all: tidings {arguments.verb} NAME")
    return list(arguments.names)


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
    connection: Connection, verb: str, names: list[str], is_fresh: bool, until: Point | None = None
) -> tuple[list[str], list[SentinelRow], set[int]]:
    """Apply the step. A name may also be an event's, which can be dropped. Return the events, the
    sentinels, and the ids of those that needed no step.
    """
    now = SystemClock().now()
    wanted = dict.fromkeys(names)
    known = sentinels.names(connection) if verb == "drop" else ()
    gone = [name for name in wanted if verb == "drop" and name not in known and happening_of(connection, name)]
    before = {row.id: row.resume_at for row in sentinels.listing(connection) if row.state == "disabled"}
    paused = before.keys()
    rows = [
        register.command(connection, Command(verb, name, is_fresh, until), now=now)  # type: ignore[arg-type]
        for name in wanted
        if name not in gone
    ]
    for name in gone:
        outside_events.drop(connection, name)
    for row in rows if verb == "confirm" else ():
        if (mode := meaning(row.text).compare.mode) != "first":
            raise UsageError(f"{row.name} has the clause Compare {mode}; confirm works only with Compare first")
    if verb == "disable":
        return gone, rows, {row.id for row in rows if row.id in paused and before[row.id] == row.resume_at}
    return gone, rows, {row.id for row in rows} - paused if verb == "enable" and not is_fresh else set()
