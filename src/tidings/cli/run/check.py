"""`tidings check [NAME…]`: check what is due, or the named sentinels, notify, and stop."""

from __future__ import annotations

import argparse
import asyncio
import sys
from typing import TYPE_CHECKING, Any, TextIO, cast

from tidings.cli.arguments import duration
from tidings.cli.health import read_health, write_troubles
from tidings.cli.output import BesideProgress, add_json, progress, write_json, write_line, write_lines
from tidings.cli.run.nothing_due import forget, note
from tidings.clock import MINUTE, SystemClock
from tidings.errors import BudgetError, OutputError, PollerBusyError, UsageError
from tidings.presentation.writing import tame
from tidings.service.run import check as checking
from tidings.service.run.assembly import poller
from tidings.service.run.check import Results
from tidings.service.show.finding import spell_count
from tidings.service.show.records import change_record, poll_record, problem_record
from tidings.service.watch import by_name
from tidings.storage.db.database import open_database
from tidings.storage.observed import pages
from tidings.storage.watches import sentinels

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from tidings.service.health.trouble import Health
    from tidings.service.run.check import Checked
    from tidings.settings import Settings
    from tidings.storage.db.connection import Connection
    from tidings.storage.db.database import Database

WAIT_FOR_SERVICE = 2 * MINUTE


def configure(parser: argparse.ArgumentParser, verb: str) -> None:  # noqa: ARG001 - one verb
    """Declare the arguments."""
    parser.add_argument(
        "names", nargs="*", metavar="NAME", help="check the pages of these sentinels now, even if no check is due"
    )
    parser.add_argument("--tag", help="check the pages of all enabled sentinels with this tag now")
    parser.add_argument("--all", action="store_true", help="check the pages of all enabled sentinels now")
    parser.add_argument(
        "--for",
        dest="limit",
        type=duration,
        metavar="DURATION",
        help="stop after this time, e.g. 30s, even if some checks are left",
    )
    parser.add_argument(
        "--wait",
        action="store_true",
        help="wait until all checks are made, even if hosts require long waits or another process is checking pages",
    )
    parser.add_argument("--exit-code", action="store_true", help="exit with 1 if a change was found")
    add_json(parser)


def run(arguments: argparse.Namespace, settings: Settings) -> int:
    """Check and print."""
    limit = arguments.limit
    if arguments.all and (arguments.names or arguments.tag):
        message = "--all checks every sentinel; leave out the names and the tag"
        raise UsageError(message)
    forget(settings)
    database = open_database(settings, create=False)
    try:
        names = database.read(_list_names, arguments)
        named = database.read(_pages_of, names) if names else None
        show = _Waiting() if named is not None or sys.stderr.isatty() else None
        report = _Report(as_json=arguments.json, is_quiet=named is None)
        found = asyncio.run(_check(settings, named, limit, waits=arguments.wait, report=report, show=show))
        if found is None:
            wanted = named or {}  # a running service leaves nothing due: without names there is nothing to ask for
            found = asyncio.run(
                checking.ask(
                    database,
                    wanted,
                    clock=SystemClock(),
                    patience=limit or WAIT_FOR_SERVICE,
                    waits=arguments.wait and limit is None,
                    show=show,
                )
            )
        whole = read_health(database, settings)
        health = whole.of_any(names) if names else whole
        report.rest(found, database)
        database.read(_print, found, health, as_json=arguments.json)
    finally:
        database.close()
    if found.ended_at and not whole.troubles:
        note(settings, at=found.ended_at, until=found.idle_until)
    if found.refused:
        message = (
            "budget: the checks of this period are used up; raise budget.polls_per_day (or the class in "
            "budget.classes), or wait"
        )
        raise BudgetError(message)
    return 1 if arguments.exit_code and found.changes else 0


class _Waiting:
    """Prints on standard error what is waited for: in the progress line of a terminal, elsewhere
    once per reason.
    """

    def __init__(self) -> None:
        self._shown = ""

    def __call__(self, text: str) -> None:
        if sys.stderr.isatty():
            progress(text)
        elif text != self._shown:
            sys.stderr.write(f"tidings: {tame(text)}\n")
            sys.stderr.flush()
        self._shown = text


def _count(checked: int, of: int) -> None:
    progress(f"{checked} of {of} checked")


class _Report:
    """Prints polls and changes as they are committed, and the rest at the end.

    A new version without a change waits for the end: a change of several pages may still include
    it.
    """

    def __init__(self, *, as_json: bool, is_quiet: bool) -> None:
        self._as_json = as_json
        self._is_quiet = is_quiet
        self._polls: set[int] = set()
        self._changes: set[str] = set()
        self._refusal: BrokenPipeError | OutputError | None = None

    def note(self, results: list[Results]) -> None:
        """Print what was committed together; an output error is raised by `rest`."""
        if self._refusal is not None:
            return
        shown = [
            Results([one for one in found.polls if found.changes or one[0].outcome != "changed"], found.changes)
            for found in results
        ]
        try:
            self._add(shown)
        except (BrokenPipeError, OutputError) as error:
            self._refusal = error

    def rest(self, found: Checked, database: Database) -> None:
        """Print what was not printed yet. Raises the output error, if any."""
        if self._refusal is not None:
            raise self._refusal
        left = [poll for poll in found.polls if poll.id not in self._polls]
        addresses = database.read(pages.addresses, {poll.page_id for poll in left})
        self._add([Results([(poll, addresses[poll.page_id]) for poll in left], found.changes)])

    def _add(self, results: Iterable[Results]) -> None:
        if self._as_json:
            for one in results:
                for record in self._list_records(one):
                    write_json(record)
        else:
            write_lines(line for one in results for line in self._list_lines(one))

    def _list_records(self, found: Results) -> Iterator[Mapping[str, Any]]:
        polled, changed = self._take_new(found)
        yield from (poll_record(poll, url=url) for poll, url in polled)
        yield from (change_record(change.row, sentinel=change.sentinel, url=change.url) for change in changed)

    def _list_lines(self, found: Results) -> Iterator[str]:
        polled, changed = self._take_new(found)
        changed_ids = {change.row.page_id for change in changed}
        for poll, url in polled:
            if poll.outcome in {"error", "quarantined"}:
                yield f"{poll.outcome}({poll.kind})  {url}  {poll.note}"
            elif poll.outcome == "changed" and poll.page_id not in changed_ids:
                if not self._is_quiet:
                    yield f"no news  {url}  a new version is stored, but nothing that you watch changed"
            elif not self._is_quiet or poll.outcome == "new":
                yield f"{poll.outcome}  {url}"
        yield from (f"{change.sentinel}: {change.row.summary}  {change.url}" for change in changed)

    def _take_new(self, found: Results) -> Results:
        """Return what was not printed yet, and count it as printed."""
        polled = [(poll, url) for poll, url in found.polls if poll.id not in self._polls]
        changed = [change for change in found.changes if change.row.id not in self._changes]
        self._polls |= {poll.id for poll, _ in polled}
        self._changes |= {change.row.id for change in changed}
        return Results(polled, changed)


async def _check(
    settings: Settings,
    named: dict[int, set[int]] | None,
    limit: int | None,
    *,
    waits: bool,
    report: _Report,
    show: _Waiting | None,
) -> Checked | None:
    """Return the result of this process, None if another one is the poller.

    Restarts if the machine's clock is set back meanwhile.
    """
    found = checking.Checked()
    try:
        while True:
            async with poller(settings, stream=cast("TextIO", BesideProgress(sys.stderr)), stays=False) as monitor:
                found.add(
                    await checking.check(
                        monitor, named, limit=limit, waits=waits, report=report.note, show=show, count=_count
                    )
                )
            if not found.is_set_back:
                return found
            left = found.late | found.paused.keys()
            named = named and {page_id: asking for page_id, asking in named.items() if page_id in left}
    except PollerBusyError:
        return None


def _list_names(connection: Connection, arguments: argparse.Namespace) -> list[str]:
    """Return the names of the sentinels to check; none if all that is due is meant. Raise
    `UsageError` if no enabled sentinel has the tag.
    """
    if not arguments.all and arguments.tag is None:
        return [*arguments.names]
    found = [row.name for row in sentinels.listing(connection, tag=arguments.tag) if row.state == "enabled"]
    if not found and not arguments.all:
        message = f'no enabled sentinel has the tag "{arguments.tag}"; `tidings list` shows all'
        raise UsageError(message)
    return [*dict.fromkeys((*arguments.names, *found))]


def _pages_of(connection: Connection, names: list[str]) -> dict[int, set[int]]:
    wanted: dict[int, set[int]] = {}
    watched = sentinels.watches(connection, names)
    for name in names:
        if (found := watched.get(name)) is None:
            raise by_name.unknown(connection, name)
        if found.state in {"disabled", "ended"}:
            message = (
                f'"{name}" is {found.state}; `tidings enable {name}` first'
                if found.state == "disabled"
                else f'"{name}" has ended'
            )
            raise UsageError(message)
        for page_id in found.page_ids:
            wanted.setdefault(page_id, set()).add(found.sentinel_id)
    return wanted


def _print(connection: Connection, found: Checked, health: Health, *, as_json: bool) -> None:
    """Print what polls and changes do not show: troubles, paused hosts, and the count."""
    urls = {page_id: pages.identity(connection, page_id).given for page_id in found.paused}
    for notice in found.troubles:
        if as_json:
            write_json(notice)
        else:
            whose = f"{notice['sentinel']}: " if notice["sentinel"] else ""
            write_line(f"{whose}{notice['summary']}  {notice['url']}")
    for page_id, why in found.paused.items():
        if as_json:
            details = {"page": str(page_id), "url": urls[page_id], "held": True}
            write_json(problem_record(why, where=urls[page_id], details=details))
        else:
            write_line(f"{why}  {urls[page_id]}")
    if as_json:
        for trouble in health.troubles:
            write_json(trouble.record())
        return
    write_troubles(health)
    late = f", {len(found.late)} still waiting for their host" if found.late else ""
    waiting = f", {len(found.paused)} held" if found.paused else ""
    ill = f", {spell_count(len(health.troubles), 'trouble')}" if health.troubles else ""
    write_line(f"{len(found.polls)} checked, {len(found.changes)} changed{waiting}{late}{ill}")
