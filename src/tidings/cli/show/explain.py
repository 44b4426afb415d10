"""`tidings explain NAME`: how often its pages change, how late changes are seen, what other paces
bring.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tidings.cli.output import add_json, write_json, write_line
from tidings.clock import SystemClock
from tidings.service.explain.page_report import reports
from tidings.service.watch import by_name
from tidings.storage.db.database import open_database

if TYPE_CHECKING:
    import argparse

    from tidings.settings import Settings
    from tidings.storage.db.connection import Connection


def configure(parser: argparse.ArgumentParser, verb: str) -> None:  # noqa: ARG001 - one verb
    """Declare the arguments."""
    parser.add_argument("name", metavar="NAME")
    add_json(parser)


def run(arguments: argparse.Namespace, settings: Settings) -> int:
    """Print what is known of each page."""
    database = open_database(settings, create=False)
    try:
        return database.read(_explain, arguments, settings)
    finally:
        database.close()


def _explain(c: Connection, arguments: argparse.Namespace, settings: Settings) -> int:
    row = by_name.find(c, arguments.name)
    found = reports(c, row, settings, SystemClock().now(), most=1_000)
    for report in found:
        if arguments.json:
            write_json({"record": "explain", "sentinel": row.name, **report.record()})
            continue
        write_line(f"{report.url}  {report.title}".rstrip())
        for line in report.lines():
            write_line(f"    {line}")
    if not found and not arguments.json:
        write_line(f"{row.name} makes no checks of its own now: {row.state}")
    return 0
