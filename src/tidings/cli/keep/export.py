"""`tidings export FORMAT [NAME…]`: write sentinels and findings for other programs."""

from __future__ import annotations

import argparse
import contextlib
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Final

from tidings.cli.arguments import add_period, read_period
from tidings.cli.output import write_beside, write_line
from tidings.clock import SystemClock
from tidings.errors import UnknownNameError, UsageError
from tidings.model.interval import ALWAYS
from tidings.service.export import rows, statements, warc
from tidings.service.run.from_settings import open_archive
from tidings.storage.db.database import open_database
from tidings.storage.people import accounts
from tidings.storage.watches import sentinels

if TYPE_CHECKING:
    from tidings.model.interval import Period
    from tidings.settings import Settings
    from tidings.storage.db.database import Database

STATEMENTS: Final = ("text", "yaml", "opml")
ROWS: Final = ("csv", "jsonl", "parquet")
FORMATS: Final = (*STATEMENTS, *ROWS, "warc")


def configure(parser: argparse.ArgumentParser, verb: str) -> None:  # noqa: ARG001 - one verb
    """Declare the arguments."""
    parser.add_argument(
        "format",
        nargs="?",
        default="text",
        choices=FORMATS,
        help="text (the default), yaml and opml contain sentinels; csv, jsonl and parquet contain the table of --of; warc contains stored"
        " versions",
    )
    parser.add_argument("names", nargs="*", metavar="NAME", help="export only these sentinels; default: all")
    parser.add_argument(
        "--of", choices=tuple(rows.COLUMNS), default="changes", help="which table to write (default changes)"
    )
    parser.add_argument("--output", type=Path, metavar="FILE", help="the file to write (default standard output)")
    parser.add_argument("--overwrite", action="store_true", help="replace FILE if it exists")
    parser.add_argument("--user", metavar="NAME", help="export only what this user may see")
    add_period(parser)


def run(arguments: argparse.Namespace, settings: Settings) -> int:
    """Write the export; an incomplete file never appears."""
    target: Path | None = arguments.output
    if target is None and arguments.format in {"parquet", "warc"}:
        raise UsageError(f"{arguments.format} is a binary format: name a file with --output FILE")
    period = read_period(arguments, settings.serve.zone)
    if period != ALWAYS and arguments.format in STATEMENTS:
        raise UsageError(
            f"{arguments.format} contains sentinels as they are now; --since, --until and --last are for {', '.join((*ROWS, 'warc'))}"
        )
    if target is not None and target.exists() and not arguments.overwrite:
        raise UsageError(f"{target} already exists; --overwrite replaces it")
    with contextlib.closing(open_database(settings, create=False)) as database:
        viewer = None if arguments.user is None else database.read(accounts.get_by_name, arguments.user).id
        _check_names(database, arguments.names, viewer)
        if target is None:
            for part in _texts(arguments, settings, database, viewer, period):
                sys.stdout.write(part)
            return 0
        made = target.with_name(f".{target.name}.part")
        try:
            done = _write(arguments, settings, database, viewer, made, period)
            made.replace(target)
        finally:
            made.unlink(missing_ok=True)
    write_line(f"{target}: {target.stat().st_size:,} bytes{done}")
    return 0


def _check_names(database: Database, names: Iterable[str], viewer: int | None) -> None:
    known = {row.name for row in database.read(sentinels.listing, ended=True, viewer=viewer)}
    for name in names:
        if name not in known:
            raise UnknownNameError(f"there is no sentinel {name}; `tidings list` shows all")


def _texts(
    arguments: argparse.Namespace, settings: Settings, database: Database, viewer: int | None, period: Period
) -> Iterable[str]:
    """Yield a text export piece by piece."""
    if arguments.format == "opml":
        yield database.read(statements.list_opml, viewer, arguments.names, at=SystemClock().wall())
    elif arguments.format in STATEMENTS:
        found = database.read(statements.list_statements, viewer, arguments.names, zone=settings.serve.zone)
        for one in found.left:
            write_beside(f"not carried over: {one}")
        yield found.write_text() if arguments.format == "text" else found.write_yaml()
    else:
        table = rows.read_rows(database.read, arguments.of, viewer, arguments.names, period)
        yield from rows.write_csv(table, arguments.of) if arguments.format == "csv" else rows.write_jsonl(table)


def _write(
    arguments: argparse.Namespace,
    settings: Settings,
    database: Database,
    viewer: int | None,
    made: Path,
    period: Period,
) -> str:
    """Write into a file; return a further note for the user."""
    if arguments.format == "parquet":
        table = rows.read_rows(database.read, arguments.of, viewer, arguments.names, period)
        rows.write_parquet(table, arguments.of, made)
        return ""
    if arguments.format == "warc":
        archive = open_archive(settings, dialect=database.dialect)
        with made.open("wb") as file:
            written = warc.write_warc(database.read, archive, file, viewer, arguments.names, period)
        for one in written.lost:
            write_beside(f"left out: {one}")
        counts = (f"{written.responses:,} responses", f"{written.revisits:,} revisits", f"{written.resources:,} others")
        return f", {', '.join(counts)}"
    with made.open("w", encoding="utf-8", newline="") as file:
        file.writelines(_texts(arguments, settings, database, viewer, period))
    return ""
