"""`tidings gc`: delete versions that are no longer needed; a running service does so by itself, a
few pages at a time.
"""

from __future__ import annotations

import argparse
import asyncio
from dataclasses import asdict
from typing import TYPE_CHECKING

from tidings.cli.output import add_json, write_json, write_line
from tidings.clock import SystemClock
from tidings.errors import PollerBusyError
from tidings.service.run.assembly import collector
from tidings.service.upkeep import collector as collect
from tidings.storage.db.database import open_database

if TYPE_CHECKING:
    from tidings.service.upkeep.collector import Collected
    from tidings.settings import Settings


def configure(parser: argparse.ArgumentParser, verb: str) -> None:  # noqa: ARG001 - one verb
    """Declare the arguments."""
    parser.add_argument("--dry-run", action="store_true", help="count what would be deleted; delete nothing")
    add_json(parser)


def run(arguments: argparse.Namespace, settings: Settings) -> int:
    """Collect, or print what would be deleted: with --dry-run, or when a running service has to do
    it.
    """
    if not arguments.dry_run:
        try:
            _print(asyncio.run(_everything(settings)), is_done=True, as_json=arguments.json)
        except PollerBusyError:
            if not arguments.json:
                write_line("the running service deletes old versions by itself, a few pages at a time")
        else:
            return 0
    database = open_database(settings, create=False)
    try:
        found = database.read(collect.foresee, settings.store, SystemClock().now())
    finally:
        database.close()
    _print(found, is_done=False, as_json=arguments.json)
    return 0


async def _everything(settings: Settings) -> Collected:
    clock = SystemClock()
    async with collector(settings, clock=clock) as opened:
        return await opened.everything(clock.now())


def _print(found: Collected, *, is_done: bool, as_json: bool) -> None:
    if as_json:
        write_json({"record": "gc", "done": is_done, **asdict(found)})
        return
    what = f"{found.versions:,} version{'' if found.versions == 1 else 's'} of {found.pages:,} page{'' if found.pages == 1 else 's'}"
    and_withheld = f" and {found.withheld:,} that were withheld" if found.withheld else ""
    if is_done:
        rows = f"; {found.rows:,} old checks, events and texts of messages" if found.rows else ""
        write_line(
            f"deleted {what}{and_withheld}: {found.bodies:,} bodies, {found.size:,} bytes as they were fetched{rows}"
        )
    else:
        write_line(f"{what}{and_withheld} would be deleted")
