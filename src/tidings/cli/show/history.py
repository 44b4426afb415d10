"""`tidings changes` and `tidings history NAME`: past changes, versions, checks and values."""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from tidings.cli.arguments import add_limit, add_period, read_period
from tidings.cli.output import add_json, short_time, table, write_json, write_line
from tidings.errors import UsageError
from tidings.model.interval import ALWAYS, MINUTE
from tidings.presentation.edits import headline
from tidings.service.show.records import (
    change_record,
    poll_record,
    quarantine_record,
    rfc3339,
    spell_poll,
    value_record,
    version_record,
)
from tidings.service.watch import by_name
from tidings.storage.db.database import open_database
from tidings.storage.observed import pages, polls, versions
from tidings.storage.watches import changes, subscriptions, values

if TYPE_CHECKING:
    from tidings.model.interval import Instant, Period
    from tidings.model.observed.unit import ChangeRow
    from tidings.model.observed.version import Version
    from tidings.settings import Settings
    from tidings.storage.db.connection import Connection
    from tidings.storage.db.database import Database
    from tidings.storage.watches.changes import StoredChange
    from tidings.storage.watches.sentinels import SentinelRow

LATEST = 10 * MINUTE
"""How much later than a newer change an older one may be stored (µs)."""
MASKED_SHOWN = 3
"""Most masked texts of a change that are listed."""


def configure(parser: argparse.ArgumentParser, verb: str) -> None:
    """Declare the arguments."""
    if verb == "changes":
        parser.add_argument("name", nargs="?", metavar="NAME", help="show only the changes of this sentinel")
        parser.add_argument("--tag", help="show only changes of sentinels with this tag")
        parser.add_argument("--quiet", action="store_true", help="show quiet changes too (nobody was notified of them)")
        add_limit(parser, 50)
        add_period(parser)
        parser.add_argument(
            "--follow", action="store_true", help="go on, and print changes as they come, until stopped"
        )
        parser.add_argument("--exit-code", action="store_true", help="exit with 1 if there is a change")
    else:
        parser.add_argument("name", metavar="NAME")
        parser.add_argument("--page", metavar="URL", help="the page, if the sentinel has several")
    if verb == "history":
        parser.add_argument("--polls", action="store_true", help="list checks instead of versions")
        parser.add_argument(
            "--values",
            action="store_true",
            help="list the values of the watched price, number, pattern, table cell or JSON path, and when each was first seen",
        )
        parser.add_argument("--screenshot", metavar="VERSION", help="write the screenshot of this version to --output")
        parser.add_argument("--output", type=Path, metavar="FILE", help="the file to write, e.g. page.webp")
        add_limit(parser, 100)
        add_period(parser)
    add_json(parser)


def run(arguments: argparse.Namespace, settings: Settings) -> int:
    """Print the requested output."""
    database = open_database(settings, create=False)
    try:
        match arguments.verb:
            case "changes" if arguments.follow:
                follow(database, arguments, read_period(arguments, settings.serve.zone), pause=time.sleep)
                return 0
            case "changes":
                return database.read(_changes, arguments, read_period(arguments, settings.serve.zone))
            case _ if arguments.screenshot is not None or arguments.output is not None:
                return _picture(database, arguments, settings)
            case _ if arguments.values:
                return database.read(_values, arguments, read_period(arguments, settings.serve.zone))
            case _:
                return database.read(_history, arguments, read_period(arguments, settings.serve.zone))
    finally:
        database.close()


def _changes(connection: Connection, arguments: argparse.Namespace, period: Period) -> int:
    name = by_name.find_past(connection, arguments.name).name if arguments.name else None
    found = changes.listing(
        connection,
        sentinel=name,
        tag=arguments.tag,
        since=period.since,
        until=period.until,
        quiet=arguments.quiet,
        limit=arguments.limit,
    )
    for change in found:
        _write_change(change, as_json=arguments.json)
    if not found and not arguments.json:
        write_line("no changes yet" if period == ALWAYS else "no changes in this time")
    return 1 if arguments.exit_code and found else 0


def _write_change(change: StoredChange, *, as_json: bool) -> None:
    record = change_record(change.row, sentinel=change.sentinel, url=change.url)
    if as_json:
        write_json(record)
        return
    write_line(f"{short_time(record['detected_at'])}  {change.sentinel}  {change.url}")
    write_line(f"    {change.row.kind}{' (noise)' if change.row.noise else ''}: {headline(record)}")
    if change.row.found.masked and not change.row.noise:
        write_line(f"      ignored as noise: {_describe_masks(change.row)}")
    for part in record.get("parts") or ():
        write_line(f"      {part['name'] or part['url']}  {part['status']}: {headline(part)}")


def follow(
    database: Database, arguments: argparse.Namespace, period: Period, *, pause: Callable[[float], object]
) -> None:
    """Print changes from the oldest to the newest, and then each new one, until interrupted.

    Args:
        database: The database, which other processes write.
        arguments: Which changes are meant.
        period: When they were detected.
        pause: Waits so many seconds before the database is read again.
    """
    name = database.read(by_name.find_past, arguments.name).name if arguments.name else None
    printed: dict[str, Instant] = {}
    since, limit = period.since, arguments.limit
    while True:
        found = database.read(
            changes.listing,
            sentinel=name,
            tag=arguments.tag,
            since=since,
            until=period.until,
            quiet=arguments.quiet,
            limit=limit,
        )
        for change in reversed(found):
            if change.row.id not in printed:
                _write_change(change, as_json=arguments.json)
        sys.stdout.flush()
        printed |= {change.row.id: change.row.detected_at for change in found}
        limit = None  # it is about the past: whatever comes from now on is printed
        if printed:  # processes that share a database may commit in another order than they detect
            since = max(printed.values()) - LATEST
            printed = {id: at for id, at in printed.items() if at >= since}
        pause(1)


def _describe_masks(row: ChangeRow) -> str:
    """Return what was masked in a change, the first of it if it is much."""
    masked = row.found.masked
    shown = "; ".join(f'"{one.old}" → "{one.new}" ({one.mask})' for one in masked[:MASKED_SHOWN])
    return f"{shown}; and {len(masked) - MASKED_SHOWN} more" if len(masked) > MASKED_SHOWN else shown


def _values(connection: Connection, arguments: argparse.Namespace, period: Period) -> int:
    """Print the history of a watched value."""
    row = by_name.find_past(connection, arguments.name)
    page_ids = None if arguments.page is None else _pages_of(connection, arguments)
    found = values.listing(connection, row.id, page_ids=page_ids, period=period, limit=arguments.limit)
    if arguments.json:
        for value in found:
            write_json(value_record(value, sentinel=row.name))
        return 0
    if not found and values.listing(connection, row.id, limit=1):
        write_line(f"{row.name} has no stored values {'in this time' if page_ids is None else 'of this page and time'}")
        return 0
    if not found:
        write_line(
            f"{row.name} has no stored values yet; only prices, numbers, matches of a pattern, cells of tables and "
            "JSON values are stored"
        )
        return 0
    several = len({value.url for value in found}) > 1
    table(
        [(short_time(rfc3339(v.at)), v.text, v.label, *([v.url] if several else [])) for v in found],
        ("SINCE (UTC)", "VALUE", "WHAT", *(["PAGE"] if several else [])),
    )
    return 0


def _history(connection: Connection, arguments: argparse.Namespace, period: Period) -> int:
    row = by_name.find_past(connection, arguments.name)
    left = {one.page_id: one.left_at for one in reversed(subscriptions.list_left(connection, row.id))}
    for page_id in _pages_of(connection, arguments, with_left=True):
        url = pages.identity(connection, page_id).given
        if page_id in left and not arguments.json:
            write_line(f"watched until {short_time(rfc3339(left[page_id]))}:")
        if arguments.polls:
            _polls(connection, page_id, url, arguments, period)
        else:
            _versions(connection, page_id, url, arguments, period)
    return 0


def _versions(connection: Connection, page_id: int, url: str, arguments: argparse.Namespace, period: Period) -> None:
    stored = [v for v in versions.listing(connection, page_id) if period.has(v.fetched_at)][-arguments.limit :]
    withheld = [row for row in versions.withheld(connection, page_id) if period.has(row.at)][-arguments.limit :]
    if arguments.json:
        for version in stored:
            write_json(version_record(version, url=url))
        for row in withheld:
            write_json(quarantine_record(row, url=url))
        return
    write_line(url)
    is_framed = any(version.frames for version in stored)
    is_pictured = any(version.screenshot for version in stored)
    table(
        (
            (
                str(v.seq),
                short_time(rfc3339(v.fetched_at)),
                f"{v.size:,}",
                "baseline" if v.seq == 1 else "text" if v.text_changed else "not the text",
                *([str(v.frames)] if is_framed else []),
                *([("yes" if v.screenshot else "-")] if is_pictured else []),
                v.title,
            )
            for v in stored
        ),
        (
            "VERSION",
            "FETCHED (UTC)",
            "BYTES",
            "CHANGED",
            *(["FRAMES"] if is_framed else []),
            *(["PICTURE"] if is_pictured else []),
            "TITLE",
        ),
    )
    for row in withheld:
        write_line(f"withheld  {short_time(rfc3339(row.at))}  {row.kind}: {row.reason}")


def _polls(connection: Connection, page_id: int, url: str, arguments: argparse.Namespace, period: Period) -> None:
    rows = list(reversed(polls.listing(connection, page_id=page_id, limit=arguments.limit, period=period)))
    if arguments.json:
        for row in rows:
            write_json(poll_record(row, url=url))
        return
    write_line(url)
    table(
        (
            (
                short_time(rfc3339(r.charged_at)),
                r.outcome or "under way",
                r.kind or str(r.status or "-"),
                f"{r.bytes:,}",
                spell_poll(r),
            )
            for r in rows
        ),
        ("AT (UTC)", "OUTCOME", "STATUS", "BYTES", "REASON"),
    )


def _picture(database: Database, arguments: argparse.Namespace, settings: Settings) -> int:
    """Write the picture of a version to a file."""
    if arguments.screenshot is None or arguments.output is None:
        message = "--screenshot VERSION needs --output FILE, and the reverse"
        raise UsageError(message)
    version = database.read(find_version, arguments, arguments.screenshot)
    if not version.screenshot:
        message = f"version {version.seq} has no picture; with `Render browser screenshot`, each new version gets one"
        raise UsageError(message)
    from tidings.service.run.from_settings import open_archive  # it loads the whole service, only for pictures

    archive = open_archive(settings, dialect=database.dialect)
    content = archive.restore(version.screenshot, lambda sha256: database.read(versions.blob, sha256))
    try:
        arguments.output.write_bytes(content)
    except OSError as error:
        message = f"{arguments.output} cannot be written: {error.strerror or error}"
        raise UsageError(message) from None
    write_line(f"{arguments.output}: the page at version {version.seq}, {describe_version(version)}, WebP")
    return 0


def find_version(connection: Connection, arguments: argparse.Namespace, given: str) -> Version:
    """Return a version of the page that the arguments name. Raises `UsageError` if there is none.

    Args:
        connection: The connection.
        arguments: The name of the sentinel, and the page.
        given: The id or number of the version.
    """
    row, page_id = choose_page(connection, arguments, (given,))
    version = versions.get(connection, page_id, read_number(given, page_id))
    if version is None:
        message = f"there is no version {given} of this page; `tidings history {row.name}` lists them"
        raise UsageError(message)
    return version


def _pages_of(connection: Connection, arguments: argparse.Namespace, *, with_left: bool = False) -> list[int]:
    """Return the pages that the arguments name: those that are watched, and `with_left` those of a
    former address. With `--page` both are known, what is watched first.
    """
    row = by_name.find_past(connection, arguments.name)
    page_ids = [s.page_id for s in subscriptions.listing(connection, sentinel_id=row.id)]
    every = [*dict.fromkeys((*page_ids, *(one.page_id for one in subscriptions.list_left(connection, row.id))))]
    if arguments.page is None:
        return every if with_left else page_ids
    chosen = [
        i for i in every if arguments.page in {pages.identity(connection, i).given, pages.identity(connection, i).url}
    ]
    if not chosen:
        message = f"{row.name} does not watch {arguments.page}"
        raise UsageError(message)
    return chosen


def describe_version(version: Version) -> str:
    """Return when a version was fetched, and how many frames it has."""
    frames = f", {version.frames} frame{'' if version.frames == 1 else 's'}" if version.frames else ""
    return f"{short_time(rfc3339(version.fetched_at))} UTC{frames}"


def choose_page(
    connection: Connection, arguments: argparse.Namespace, given: Sequence[str | None]
) -> tuple[SentinelRow, int]:
    """Return the sentinel and the selected page: its only one, that of `--page`, or that of the
    version ids, which may be of a former address.
    """
    row = by_name.find_past(connection, arguments.name)
    named = {str(text or "").partition(".")[0] for text in given if "." in str(text or "")}
    page_ids = [i for i in _pages_of(connection, arguments, with_left=True) if str(i) in named]
    page_ids = page_ids[:1] or _pages_of(connection, arguments)
    if arguments.page is not None:
        page_ids = page_ids[:1]
    if len(page_ids) > 1:
        message = f"{row.name} watches {len(page_ids)} pages; choose one with --page URL"
        raise UsageError(message)
    return row, page_ids[0]


def read_number(text: str, page_id: int) -> int:
    """Return the number in a version id (`PAGE.NUMBER`) or a plain number."""
    page, dot, number = text.rpartition(".")
    if not number.isdigit() or (dot and page != str(page_id)):
        message = f"{text} is not a version of this page; give a number or an id from `tidings history`"
        raise UsageError(message)
    return int(number)
