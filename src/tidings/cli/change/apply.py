"""`tidings apply DIR|FILE [--prune] [--dry-run]`: declarative, with git as the source of truth."""

from __future__ import annotations

import argparse
import asyncio
import stat
from pathlib import Path
from typing import TYPE_CHECKING

from tidings.cli.arguments import read_text
from tidings.cli.output import add_json, write_json, write_line, write_warnings
from tidings.clock import SystemClock
from tidings.errors import UsageError
from tidings.service.sentinels.apply import Applied, apply
from tidings.storage.db.database import open_database
from tidings.storage.watches import sentinels

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tidings.settings import Settings
    from tidings.storage.db.connection import Connection
    from tidings.storage.db.database import Database

SUFFIXES = (".sentinel", ".sentinel.yaml", ".sentinel.yml")
IDLE = frozenset({"unchanged", "left alone"})
"""Actions that do nothing."""
_SPELLED = "*.sentinel or *.sentinel.yaml"


def configure(parser: argparse.ArgumentParser, verb: str) -> None:  # noqa: ARG001 - one verb
    """Declare the arguments."""
    parser.add_argument(
        "path", type=Path, metavar="DIR|FILE", help=f"a file, or a directory: its {_SPELLED} files, folders included"
    )
    parser.add_argument(
        "--prune",
        action="store_true",
        help="end sentinels that an earlier apply made, if no file contains them any more",
    )
    parser.add_argument("--dry-run", action="store_true", help="show the differences, clause by clause; change nothing")
    parser.add_argument(
        "--no-check", action="store_true", help="do not check new pages now; the service checks them later"
    )
    parser.add_argument("--exit-code", action="store_true", help="exit with 1 if something was (or would be) changed")
    add_json(parser)


class _TakenBackError(Exception):
    def __init__(self, done: Applied) -> None:
        super().__init__()
        self.done = done


def run(arguments: argparse.Namespace, settings: Settings) -> int:
    """Apply all files or none."""
    files = _files(arguments.path)
    database = open_database(settings)
    try:
        done = database.write(_apply, files, settings, arguments)
    except _TakenBackError as taken_back:
        done = taken_back.done
    except BaseException:
        database.close()
        raise
    try:
        return _print_done(database, done, settings, arguments)
    finally:
        database.close()


def _print_done(database: Database, done: Applied, settings: Settings, arguments: argparse.Namespace) -> int:
    """Print what was done, then check the pages of new sentinels; return the exit code."""
    write_warnings(done.warnings, as_json=arguments.json)
    would = "would be " if arguments.dry_run else ""
    for step in done.steps:
        if arguments.json:
            write_json(
                {
                    "record": step.record,
                    "name": step.name,
                    "action": step.action,
                    "text": step.text,
                    "reason": step.reason,
                    "difference": step.difference,
                    "dry_run": arguments.dry_run,
                }
            )
        else:
            name = f"event {step.name}" if step.record == "event" else step.name
            reason = f" ({step.reason})" if step.reason else ""
            write_line(f"{name}: {'' if step.action in IDLE else would}{step.action}{reason}")
            for line in step.difference if arguments.dry_run and step.action != "dropped" else ():
                write_line(f"    {line}")
    made = [step.name for step in done.steps if step.record == "sentinel" and step.action in {"created", "replaced"}]
    if made and not (arguments.dry_run or arguments.no_check):
        from tidings.cli.change import first_check  # loads the poller, only needed to check

        rows = [database.read(sentinels.find, name) for name in made]
        asyncio.run(first_check.check_new(database, rows, settings, as_json=arguments.json))
    busy = any(step.action not in IDLE for step in done.steps)
    return 1 if arguments.exit_code and busy else 0


def _apply(connection: Connection, files: dict[str, str], settings: Settings, arguments: argparse.Namespace) -> Applied:
    done = apply(connection, files, settings=settings, now=SystemClock().now(), prune=arguments.prune)
    if arguments.dry_run:
        raise _TakenBackError(done)
    return done


def _files(path: Path) -> dict[str, str]:
    """Return the files' texts by the names used in errors."""
    found = sorted(_walk(path, set())) if path.is_dir() else [path]
    if not found:
        message = f"there is no {_SPELLED} file in {path}"
        raise UsageError(message)
    return {str(file): read_text(str(file)) for file in found}


def _walk(place: Path, met: set[tuple[int, int]]) -> Iterator[Path]:
    """Yield the files of a folder with statements, each real file and folder once, by links too;
    nothing below it whose name begins with a dot.

    Raises `UsageError` for what cannot be read: a file that is not seen would pass for one that is
    gone.

    Args:
        place: The folder, or what is in it.
        met: Device and number of the files and folders met before.
    """
    try:
        found = place.stat()
        inside = sorted(place.iterdir()) if stat.S_ISDIR(found.st_mode) else []
    except OSError as error:
        why = "it is a link to nothing" if isinstance(error, FileNotFoundError) else error.strerror or error
        message = f"{place} cannot be read: {why}; nothing was applied"
        raise UsageError(message) from error
    is_folder = stat.S_ISDIR(found.st_mode)
    if (found.st_dev, found.st_ino) in met or not (is_folder or place.name.endswith(SUFFIXES)):
        return
    met.add((found.st_dev, found.st_ino))
    for entry in inside:
        if not entry.name.startswith("."):
            yield from _walk(entry, met)
    if stat.S_ISREG(found.st_mode):
        yield place
