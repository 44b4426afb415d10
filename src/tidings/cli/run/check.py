"""`tidings check [NAME…]`: look at what is due, or at the pages of the named sentinels, tell what changed, and stop."""

from __future__ import annotations

import argparse
import asyncio
import sys
from typing import TYPE_CHECKING

from tidings.cli.arguments import duration
from tidings.cli.health import read_health, write_troubles
from tidings.cli.output import add_json, write_json, write_line
from tidings.cli.run.nothing_due import forget, note
from tidings.clock import MINUTE, SystemClock
from tidings.errors import BudgetError, PollerBusyError, UsageError
from tidings.presentation.writing import tame
from tidings.service.run import check as checking
from tidings.service.run.assembly import poller
from tidings.service.show.finding import spell_count
from tidings.service.show.records import change_record, poll_record, problem_record
from tidings.service.watch import by_name
from tidings.storage.db.database import open_database
from tidings.storage.observed import pages
from tidings.storage.watches import subscriptions

if TYPE_CHECKING:
    from tidings.service.health.trouble import Health
    from tidings.service.run.check import Checked
    from tidings.settings import Settings
    from tidings.storage.db.connection import Connection

WAIT_FOR_SERVICE = 2 * MINUTE


def configure(parser: argparse.ArgumentParser, verb: str) -> None:  # noqa: ARG001 - one verb
    """Declare the arguments."""
    parser.add_argument("names", nargs="*", metavar="NAME", help="look at these now, whatever the schedule says")
    parser.add_argument(
        "--for",
        dest="limit",
        type=duration,
        metavar="DURATION",
        help="stop after so long, e.g. 30s, even if hosts are still waited for",
    )
    parser.add_argument(
        "--wait", action="store_true", help="wait for hosts that asked to be left alone, and for the process that polls"
    )
    parser.add_argument("--exit-code", action="store_true", help="exit with 1 if a change was found")
    add_json(parser)


def run(arguments: argparse.Namespace, settings: Settings) -> int:
    """Check and print."""
    limit = arguments.limit
    forget(settings)
    database = open_database(settings, create=False)
    try:
        named = database.read(_pages_of, arguments.names) if arguments.names else None
        say = _Waiting() if named is not None or sys.stderr.isatty() else None
        found = asyncio.run(_check(settings, named, limit, waits=arguments.wait, say=say))
        if found is None:
            wanted = (
                named or {}
            )  # beside a running service nothing stays due: without names there is nothing to ask for
            found = asyncio.run(
                checking.ask(
                    database,
                    wanted,
                    clock=SystemClock(),
                    patience=limit or WAIT_FOR_SERVICE,
                    waits=arguments.wait and limit is None,
                    say=say,
                )
            )
        names = arguments.names or None
        whole = read_health(database, settings)
        health = whole if names is None else whole.of_any(names)
        database.read(_print, found, health, as_json=arguments.json, quiet_polls=named is None)
    finally:
        database.close()
    if found.ended_at and not whole.troubles:
        note(settings, at=found.ended_at, until=found.idle_until)
    if found.refused:
        message = "budget: the polls of this period are spent; raise budget.polls_per_day (or the class in budget.classes), or wait"
        raise BudgetError(message)
    return 1 if arguments.exit_code and found.changes else 0


class _Waiting:
    """Says on standard error what is waited for, once until it is something else."""

    def __init__(self) -> None:
        self._said = ""

    def __call__(self, text: str) -> None:
        if text != self._said:
            sys.stderr.write(f"tidings: {tame(text)}\n")
            sys.stderr.flush()
        self._said = text


async def _check(
    settings: Settings, named: dict[int, set[int]] | None, limit: int | None, *, waits: bool, say: _Waiting | None
) -> Checked | None:
    """Return what this process found, None if another one is the poller. Where the machine's clock is set back meanwhile, it starts again."""
    found = checking.Checked()
    try:
        while True:
            async with poller(settings, stream=sys.stderr, stays=False) as monitor:
                found.add(await checking.check(monitor, named, limit=limit, waits=waits, say=say))
            if not found.is_set_back:
                return found
            left = found.late | found.held.keys()
            named = named and {page_id: asking for page_id, asking in named.items() if page_id in left}
    except PollerBusyError:
        return None


def _pages_of(connection: Connection, names: list[str]) -> dict[int, set[int]]:
    wanted: dict[int, set[int]] = {}
    for name in names:
        row = by_name.find(connection, name)
        if row.state in {"disabled", "ended"}:
            message = (
                f'"{name}" is {row.state}; `tidings enable {name}` first'
                if row.state == "disabled"
                else f'"{name}" has ended'
            )
            raise UsageError(message)
        for sub in subscriptions.listing(connection, sentinel_id=row.id):
            wanted.setdefault(sub.page_id, set()).add(row.id)
    return wanted


def _print(connection: Connection, found: Checked, health: Health, *, as_json: bool, quiet_polls: bool) -> None:
    told = {change.row.page_id for change in found.changes}
    ids = {*(row.page_id for row in found.polls), *found.held}
    urls = {page_id: pages.identity(connection, page_id).given for page_id in ids}
    for poll in found.polls:
        if as_json:
            write_json(poll_record(poll, url=urls[poll.page_id]))
        elif poll.outcome in {"error", "quarantined"}:
            write_line(f"{poll.outcome}({poll.kind})  {urls[poll.page_id]}  {poll.note}")
        elif poll.outcome == "changed" and poll.page_id not in told:
            if not quiet_polls:
                write_line(f"no news  {urls[poll.page_id]}  a new version is stored, nothing that is watched changed")
        elif not quiet_polls or poll.outcome == "new":
            write_line(f"{poll.outcome}  {urls[poll.page_id]}")
    for change in found.changes:
        if as_json:
            write_json(change_record(change.row, sentinel=change.sentinel, url=change.url))
        else:
            write_line(f"{change.sentinel}: {change.row.summary}  {change.url}")
    for notice in found.troubles:
        if as_json:
            write_json(notice)
        else:
            whose = f"{notice['sentinel']}: " if notice["sentinel"] else ""
            write_line(f"{whose}{notice['summary']}  {notice['url']}")
    for page_id, why in found.held.items():
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
    held = f", {len(found.held)} held" if found.held else ""
    ill = f", {spell_count(len(health.troubles), 'trouble')}" if health.troubles else ""
    write_line(f"{len(found.polls)} checked, {len(found.changes)} changed{held}{late}{ill}")
