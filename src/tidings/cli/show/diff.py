"""`tidings diff NAME [OLD [NEW]]`: two versions compared."""

from __future__ import annotations

import argparse
import asyncio
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from tidings.cli.output import add_json, write_json, write_line, write_page
from tidings.cli.show.history import choose_page, describe_version, read_number
from tidings.errors import UsageError
from tidings.presentation.edits import headline
from tidings.presentation.presenter import Caption
from tidings.presentation.presenters import FORMS, VIEWS, presenter
from tidings.service.show.records import change_record
from tidings.storage.db.database import open_database
from tidings.storage.observed import pages, versions
from tidings.storage.watches import changes

if TYPE_CHECKING:
    from tidings.model.observed.version import Version
    from tidings.service.show.records import Record
    from tidings.settings import Settings
    from tidings.storage.db.connection import Connection
    from tidings.storage.db.database import Database
    from tidings.storage.watches.sentinels import SentinelRow


def configure(parser: argparse.ArgumentParser, verb: str) -> None:  # noqa: ARG001 - one verb
    """Declare the arguments."""
    parser.add_argument("name", metavar="NAME")
    parser.add_argument("--page", metavar="URL", help="the page, if the sentinel has several")
    parser.add_argument(
        "old", nargs="?", metavar="OLD", help="id or number of a version; default: the version before the last"
    )
    parser.add_argument(
        "new",
        nargs="?",
        metavar="NEW",
        help="id or number of a version; default: the version after OLD, or the last version",
    )
    parser.add_argument(
        "--view",
        choices=VIEWS,
        default="changes",
        help="only the changes (default), the page with its changes, both versions side by side, or a table",
    )
    parser.add_argument("--format", choices=FORMS, default="text", help="text (default) or an HTML page")
    add_json(parser)


def run(arguments: argparse.Namespace, settings: Settings) -> int:
    """Print the comparison."""
    database = open_database(settings, create=False)
    try:
        return _diff(database, arguments, settings)
    finally:
        database.close()


def _diff(database: Database, arguments: argparse.Namespace, settings: Settings) -> int:
    drawing = presenter(arguments.view, arguments.format)
    if arguments.json and arguments.format != "text":
        message = "--json cannot be used with --format; leave one out"
        raise UsageError(message)
    row, page_id, old, new = database.read(_pair, arguments)
    url = database.read(pages.identity, page_id).given
    stored = [
        c
        for c in database.read(changes.listing, sentinel=row.name, page_id=page_id, quiet=True)
        if (c.row.from_seq, c.row.to_seq) == (old.seq, new.seq)
    ]
    record = change_record(stored[0].row, sentinel=row.name, url=url) if stored else None
    merges = drawing.view in {"single", "dual"}
    if record is None or merges:
        record = asyncio.run(_compare(database, settings, (row, page_id, old, new), record, merges=merges))
    between = f"version {old.seq} ({describe_version(old)}) → version {new.seq} ({describe_version(new)})"
    if arguments.json:
        write_json(record)
    elif arguments.format == "html":
        caption = Caption(heading=f"{row.name}: {headline(record)}", sentinel=row.name, between=between)
        write_page(drawing.present([record], caption))
    else:
        write_line(str(record["url"]))
        write_line(f"{between}  {record['kind']}")
        for line in drawing.fragment(record).split("\n"):
            write_line(f"  {line}")
    return 0


async def _compare(
    database: Database,
    settings: Settings,
    pair: tuple[SentinelRow, int, Version, Version],
    record: Record | None,
    *,
    merges: bool,
) -> Record:
    """Return the record of a pair, compared now if it is not stored, with the context of its edits
    if requested.
    """
    from tidings.service.on_demand.compare import Comparisons  # it loads the whole service

    row, page_id, old, new = pair

    async def read(fn: Callable[..., Any], *args: Any) -> Any:
        return database.read(fn, *args)

    comparisons = Comparisons(read, settings, dialect=database.dialect)
    try:
        if record is None:
            record = await comparisons.two_versions(row, page_id=page_id, old=old, new=new)
        merged = {"merged": await comparisons.in_place(row, page_id=page_id, old=old, new=new)} if merges else {}
        return {**record, **merged}
    finally:
        await comparisons.close()


def _pair(connection: Connection, arguments: argparse.Namespace) -> tuple[SentinelRow, int, Version, Version]:
    row, page_id = choose_page(connection, arguments, (arguments.old, arguments.new))
    by_number = {v.seq: v for v in versions.listing(connection, page_id)}
    if len(by_number) < 2 and arguments.old is None:
        message = f"this page has {'only one' if by_number else 'no'} version yet; nothing to compare"
        raise UsageError(message)
    *_, before, last = (0, 0, *by_number)
    old = read_number(arguments.old, page_id) if arguments.old else before
    following = next((seq for seq in by_number if seq > old), old + 1)
    new = read_number(arguments.new, page_id) if arguments.new else following if arguments.old else last
    for seq in (old, new):
        if seq not in by_number:
            is_gone = 0 < seq < last
            what = f"version {seq} of this page was deleted" if is_gone else f"there is no version {seq} of this page"
            message = f"{what}; `tidings history {row.name}` lists {len(by_number)}"
            raise UsageError(message)
    return row, page_id, by_number[old], by_number[new]
