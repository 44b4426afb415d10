"""`tidings changes` and `tidings history NAME`: past changes, versions, checks and values."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from tidings.cli.arguments import add_limit
from tidings.cli.output import add_json, short_time, table, write_json, write_line
from tidings.errors import UsageError
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
    from tidings.model.observed.unit import ChangeRow
    from tidings.model.observed.version import Version
    from tidings.settings import Settings
    from tidings.storage.db.connection import Connection
    from tidings.storage.db.database import Database
    from tidings.storage.watches.sentinels import SentinelRow

MASKED_SHOWN = 3
"""Most masked texts of a change that are listed."""


def configure(parser: argparse.ArgumentParser, verb: str) -> None:
    """Declare the arguments."""
    if verb == "changes":
        parser.add_argument("name", nargs="?", metavar="NAME", help="show only the changes of this sentinel")
        parser.add_argument("--quiet", action="store_true", help="show quiet changes too (nobody was notified of them)")
        add_limit(parser, 50)
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
    add_json(parser)


def run(arguments: argparse.Namespace, settings: Settings) -> int:
    """Print the requested output."""
    database = open_database(settings, create=False)
    try:
        match arguments.verb:
            case "changes":
                return database.read(_changes, arguments)
            case _ if arguments.screenshot is not None or arguments.output is not None:
                return _picture(database, arguments, settings)
            case _ if arguments.values:
                return database.read(_values, arguments)
            case _:
                return database.read(_history, arguments)
    finally:
        database.close()


def _changes(connection: Connection, arguments: argparse.Namespace) -> int:
    name = by_name.find_past(connection, arguments.name).name if arguments.name else None
    found = changes.listing(connection, sentinel=name, quiet=arguments.quiet, limit=arguments.limit)
    for change in found:
        record = change_record(change.row, sentinel=change.sentinel, url=change.url)
        if arguments.json:
            write_json(record)
            continue
        write_line(f"{short_time(record['detected_at'])}  {change.sentinel}  {change.url}")
        write_line(f"    {change.row.kind}{' (noise)' if change.row.noise else ''}: {headline(record)}")
        if change.row.found.masked and not change.row.noise:
            write_line(f"      ignored as noise: {_describe_masked(change.row)}")
        for part in record.get("parts") or ():
            write_line(f"      {part['name'] or part['url']}  {part['status']}: {headline(part)}")
    if not found and not arguments.json:
        write_line("no changes yet")
    return 1 if arguments.exit_code and found else 0


def _describe_masked(row: ChangeRow) -> str:
    """Return what was masked in a change, the first of it if it is much."""
    masked = row.found.masked
    shown = "; ".join(f'"{one.old}" → "{one.new}" ({one.mask})' for one in masked[:MASKED_SHOWN])
    return f"{shown}; and {len(masked) - MASKED_SHOWN} more" if len(masked) > MASKED_SHOWN else shown


def _values(connection: Connection, arguments: argparse.Namespace) -> int:
    """Print the history of a watched value."""
    row = by_name.find_past(connection, arguments.name)
    pages_of = None if arguments.page is None else set(_pages_of(connection, arguments))
    kept = values.listing(connection, row.id, limit=arguments.limit)
    found = [value for value in kept if pages_of is None or value.page_id in pages_of]
    if arguments.json:
        for value in found:
            write_json(value_record(value, sentinel=row.name))
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


def _history(connection: Connection, arguments: argparse.Namespace) -> int:
    for page_id in _pages_of(connection, arguments):
        url = pages.identity(connection, page_id).given
        if arguments.polls:
            _polls(connection, page_id, url, arguments)
        else:
            _versions(connection, page_id, url, arguments)
    return 0


def _versions(connection: Connection, page_id: int, url: str, arguments: argparse.Namespace) -> None:
    kept = versions.listing(connection, page_id)[-arguments.limit :]
    withheld = versions.withheld(connection, page_id)[-arguments.limit :]
    if arguments.json:
        for version in kept:
            write_json(version_record(version, url=url))
        for row in withheld:
            write_json(quarantine_record(row, url=url))
        return
    write_line(url)
    is_framed = any(version.frames for version in kept)
    is_pictured = any(version.screenshot for version in kept)
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
            for v in kept
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


def _polls(connection: Connection, page_id: int, url: str, arguments: argparse.Namespace) -> None:
    rows = list(reversed(polls.listing(connection, page_id=page_id, limit=arguments.limit)))
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
    version = database.read(_find_version, arguments)
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


def _find_version(connection: Connection, arguments: argparse.Namespace) -> Version:
    """Return the version whose picture is requested."""
    row, page_id = choose_page(connection, arguments, (arguments.screenshot,))
    version = versions.get(connection, page_id, read_number(arguments.screenshot, page_id))
    if version is None:
        message = f"there is no version {arguments.screenshot} of this page; `tidings history {row.name}` lists them"
        raise UsageError(message)
    if not version.screenshot:
        message = f"version {version.seq} has no picture; with `Render browser screenshot`, each new version gets one"
        raise UsageError(message)
    return version


def _pages_of(connection: Connection, arguments: argparse.Namespace) -> list[int]:
    row = by_name.find_past(connection, arguments.name)
    held = [s.page_id for s in subscriptions.listing(connection, sentinel_id=row.id)]
    if arguments.page is None:
        return held
    chosen = [
        i for i in held if arguments.page in {pages.identity(connection, i).given, pages.identity(connection, i).url}
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
    version ids.
    """
    row = by_name.find_past(connection, arguments.name)
    held = _pages_of(connection, arguments)
    if len(held) > 1:
        named = [i for i in held if any(str(text or "").startswith(f"{i}.") for text in given)]
        held = named or held
    if len(held) > 1:
        message = f"{row.name} watches {len(held)} pages; choose one with --page URL"
        raise UsageError(message)
    return row, held[0]


def read_number(text: str, page_id: int) -> int:
    """Return the number in a version id (`PAGE.NUMBER`) or a plain number."""
    page, dot, number = text.rpartition(".")
    if not number.isdigit() or (dot and page != str(page_id)):
        message = f"{text} is not a version of this page; give a number or an id from `tidings history`"
        raise UsageError(message)
    return int(number)
