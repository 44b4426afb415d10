"""`tidings add`: statements of the language from a file or standard input, or one page with `--url`."""

from __future__ import annotations

import argparse
import asyncio
import sys
from typing import TYPE_CHECKING, Any

from tidings.cli.arguments import read_text
from tidings.cli.output import add_json, short_time, write_json, write_line
from tidings.clock import SECOND, SystemClock
from tidings.errors import PollerBusyError, ServiceError, UsageError
from tidings.notification.channels import sendable
from tidings.service import check as checking
from tidings.service import register, welcome
from tidings.service.assembly import poller, telling
from tidings.service.records import problem_record, rfc3339, sentinel_record
from tidings.service.rehearse import channels_of, rehearse
from tidings.service.watchlist import meaning
from tidings.storage import sentinels
from tidings.storage.database import open_database

if TYPE_CHECKING:
    from tidings.language.problems import Problem
    from tidings.service.rehearse import Rehearsed
    from tidings.settings import Settings
    from tidings.storage.database import Database
    from tidings.storage.sentinels import SentinelRow

PATIENCE_SECONDS = 2.5
"""`add --url` answers within three seconds, whatever the page does."""


def configure(parser: argparse.ArgumentParser, verb: str) -> None:  # noqa: ARG001 - one verb
    """Declare the arguments."""
    parser.add_argument(
        "file", nargs="?", metavar="FILE|-", help="statements of the sentinel language; - reads standard input"
    )
    parser.add_argument("--url", help="watch this page")
    parser.add_argument("--monitor", default="all words", metavar="TEXT", help="what to watch for (default: all words)")
    parser.add_argument("--every", metavar="DURATION", help="look this often, e.g. 1h; left out: on change")
    parser.add_argument(
        "--notify", action="append", default=[], metavar="URL", help="where to tell it, at once; can be given again"
    )
    parser.add_argument("--name", help="name of the sentinel; left out: made from host and title")
    parser.add_argument("--no-test", action="store_true", help="send no test message to --notify")
    add_json(parser)


def run(arguments: argparse.Namespace, settings: Settings) -> int:
    """Register what was given; with `--url` take a first look as well."""
    if (arguments.url is None) == (arguments.file is None):
        message = "give either a FILE (or - for standard input) or --url URL"
        raise UsageError(message)
    database = open_database(settings)
    try:
        if arguments.url is None:
            return _add_text(database, read_text(arguments.file), arguments, settings)
        return asyncio.run(_add_url(database, arguments, settings))
    finally:
        database.close()


def _add_text(database: Database, text: str, arguments: argparse.Namespace, settings: Settings) -> int:
    done = register.register(database, text, settings=settings, now=SystemClock().now())
    if not done.made and not done.commanded:
        message = "there is no statement in this text; write for example: Create Sentinel news Using https://example.org/ Monitor any change"
        raise UsageError(message)
    _warn(done.warnings, as_json=arguments.json)
    for row in done.made:
        if arguments.json:
            write_json(sentinel_record(row))
        else:
            write_line(f"{row.name} is watched{_span(row)}")
    for command, row in done.commanded:
        if arguments.json:
            write_json(sentinel_record(row))
        else:
            write_line(f"{row.name}: {command.verb} done")
    return 0


def _span(row: SentinelRow) -> str:
    begin = (
        f" from {short_time(rfc3339(row.start_at))}"
        if row.start_at is not None and row.start_at > row.created_at
        else ""
    )
    end = f" until {short_time(rfc3339(row.end_at))}" if row.end_at is not None else ""
    return begin + end


def _warn(warnings: tuple[Problem, ...], *, as_json: bool) -> None:
    for warning in warnings:
        if as_json:
            write_json({"record": "problem", "warning": True, **warning.as_dict()})
        else:
            sys.stderr.write(f"warning: {warning}\n")


async def _add_url(database: Database, arguments: argparse.Namespace, settings: Settings) -> int:
    clock = SystemClock()
    deadline = clock.now() + round(PATIENCE_SECONDS * SECOND)
    url = arguments.url if "://" in arguments.url else f"https://{arguments.url}"
    name = arguments.name or register.automatic_name(url, "", database.read(sentinels.names))
    text = register.statement_for(
        url, name=name, monitor=arguments.monitor, every=arguments.every, notify=arguments.notify
    )
    done = register.register(database, text, settings=settings, now=clock.now())
    (row,) = done.made
    _warn(done.warnings, as_json=arguments.json)
    problem, tests = await asyncio.gather(
        _first_look(database, row, settings, deadline=deadline), _rehearse(database, row, arguments, settings, deadline)
    )
    if arguments.name is None:
        row = database.write(register.name_by_title, row.id, url=url, now=clock.now())
    answer = database.read(welcome.answer, row.id, settings=settings, now=clock.now())
    answer["tests"] = [{"channel": t.kind, "address": t.address, "error": t.reason} for t in tests]
    if arguments.json:
        write_json(sentinel_record(database.read(sentinels.get, row.id), details=answer))
        if problem:
            write_json(problem_record(problem, where=row.name, details={"warning": True}))
    else:
        _welcome(row.name, answer, problem)
    return 0


async def _rehearse(
    database: Database, row: SentinelRow, arguments: argparse.Namespace, settings: Settings, deadline: int
) -> list[Rehearsed]:
    """Send a test message to each `--notify`, while the page is looked at."""
    if arguments.no_test or not arguments.notify:
        return []
    clock = SystemClock()
    channels = channels_of(meaning(row.text), sendable(settings.notify))
    if not channels:
        return []
    async with telling(settings, database) as senders:
        patience = max(0, deadline - clock.now())
        return await rehearse(channels, senders, sentinel=row.name, now=clock.now(), patience=patience)


async def _first_look(database: Database, row: SentinelRow, settings: Settings, *, deadline: int) -> str:
    """Look once, ourselves or through the process that polls; return what went wrong, if anything did."""
    clock = SystemClock()
    named = {page_id: {row.id} for page_id in database.read(welcome.page_ids, row.id)}
    try:
        async with poller(settings) as monitor:
            first = settings.fetch.host_gap_seconds > welcome.LONGEST_GAP_FOR_ROBOTS
            found = await checking.check(monitor, named, limit=max(0, deadline - clock.now()), first=first)
            monitor.hurry = True
    except PollerBusyError:
        try:
            found = await checking.ask(database, named, clock=clock, patience=max(0, deadline - clock.now()))
        except ServiceError:
            return "the running service has not looked yet; `tidings show` will tell"
    if found.refused:
        return "the budget is spent; the first look comes as soon as it allows"
    return "the page has not answered yet; the service will try again" if not found.polls else ""


def _welcome(name: str, answer: dict[str, Any], problem: str) -> None:
    write_line(f"watching  {answer['title'] or answer['url']}")
    write_line(f"name      {name}")
    write_line(f"watched   {answer['watched']}")
    if answer["first_words"]:
        write_line(f"begins    {answer['first_words']}")
    write_line(f"next look {short_time(answer['next_look'])} UTC ({answer['pace']})")
    for test in answer["tests"]:
        what = f"could not be told: {test['error']}" if test["error"] else "has taken a test message"
        write_line(f"{'warning' if test['error'] else 'told':<9} {test['channel']} {test['address']} {what}")
    for warning in [*answer["warnings"], *([problem] if problem else [])]:
        write_line(f"warning   {warning}")
