"""`tidings add --url`: register a page, look at it once, and answer with what is watched."""

from __future__ import annotations

import argparse
import asyncio
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tidings.cli.output import short_time, write_json, write_line, write_warnings
from tidings.clock import SECOND, SystemClock
from tidings.errors import PollerBusyError, SentinelError, ServiceError
from tidings.model.interval import spell_duration
from tidings.notification.channels import sendable
from tidings.presentation.writing import tame
from tidings.service.explain import add_answer
from tidings.service.life import register
from tidings.service.notify.rehearse import channels_of, rehearse
from tidings.service.notify.resolving import address_of
from tidings.service.run import check as checking
from tidings.service.run.assembly import poller
from tidings.service.run.senders import senders_alone
from tidings.service.show.records import problem_record, sentinel_record
from tidings.service.watch.watchlist import meaning
from tidings.storage.watches import sentinels
from tidings.storage.write.vault import Vault

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tidings.language.problems import Problem
    from tidings.service.notify.rehearse import Rehearsed
    from tidings.settings import Settings
    from tidings.storage.db.database import Database
    from tidings.storage.watches.sentinels import SentinelRow

OF_NAMES = frozenset({"E04", "E21"})
"""What can be wrong with a name."""
PATIENCE_SECONDS = 30.0
"""So long a first answer is waited for; what for is said after two seconds where somebody sees it."""


@dataclass(frozen=True, slots=True)
class Flagged:
    """A problem of the language in what a flag says: nobody has seen the text that it stands for, and its lines."""

    flag: str
    problem: Problem

    def __str__(self) -> str:
        return f"{self.flag}: {str(self.problem).partition(': ')[2]}"

    def as_dict(self) -> Mapping[str, object]:
        """Return the problem's record with its flag."""
        return {"flag": self.flag, **self.problem.as_dict()}


def _flagged(problem: Any, arguments: argparse.Namespace) -> Flagged:
    """Return a problem with the flag that said it, by its line of the text that `statement_for` makes."""
    lines = [
        "--url",
        *["--monitor"] * (1 + arguments.monitor.count("\n")),
        "--every",
        *["--notify"] * len(arguments.notify),
    ]
    flag = lines[min(problem.line, len(lines)) - 1]
    return Flagged("--name" if flag == "--url" and problem.code in OF_NAMES else flag, problem)


async def add_url(database: Database, arguments: argparse.Namespace, settings: Settings) -> int:
    """Register the page of `--url`, look once, and print what is watched; the exit code is 0 also if the page did not answer."""
    clock = SystemClock()
    deadline = clock.now() + round(PATIENCE_SECONDS * SECOND)
    url = arguments.url if "://" in arguments.url else f"https://{arguments.url}"
    name = arguments.name or register.automatic_name(url, "", database.read(sentinels.names))
    text = register.statement_for(
        url, name=name, monitor=arguments.monitor, every=arguments.every, notify=arguments.notify
    )
    try:
        done = register.register(database, text, settings=settings, now=clock.now())
    except SentinelError as error:
        raise SentinelError([_flagged(problem, arguments) for problem in error.problems]) from error
    (row,) = done.made
    write_warnings([_flagged(warning, arguments) for warning in done.warnings], as_json=arguments.json)
    try:
        problem, tests = await asyncio.gather(
            _first_look(database, row, settings, deadline=deadline),
            _rehearse(database, row, arguments, settings, deadline),
        )
    except asyncio.CancelledError:
        sys.stderr.write(f"tidings: {row.name} is watched; its first look was broken off\n")
        raise
    if arguments.name is None:
        row = database.write(register.name_by_title, row.id, url=url, now=clock.now())
    answer = database.read(add_answer.answer, row.id, settings=settings, now=clock.now())
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
    async with senders_alone(settings, database) as senders:
        patience = max(0, deadline - clock.now())
        vault = Vault(settings.data)
        return await rehearse(
            channels,
            senders,
            sentinel=row.name,
            now=clock.now(),
            patience=patience,
            address_of=lambda stored: database.read(address_of, vault, stored),
        )


async def _first_look(database: Database, row: SentinelRow, settings: Settings, *, deadline: int) -> str:
    """Look once, ourselves or through the process that polls; return what went wrong, if anything did."""
    clock = SystemClock()
    begun = clock.now()
    named = {page_id: {row.id} for page_id in database.read(add_answer.page_ids, row.id)}
    said = ""

    def say(text: str) -> None:
        nonlocal said
        waits = text.rpartition("; ")[2]
        if not said and sys.stderr.isatty():
            sys.stderr.write(f"tidings: {tame(waits)}\n")
            sys.stderr.flush()
        said = waits

    try:
        async with poller(settings, stays=False) as monitor:
            first = settings.fetch.host_gap_seconds > add_answer.LONGEST_GAP_FOR_ROBOTS
            limit = max(0, deadline - clock.now())
            try:
                found = await checking.check(monitor, named, limit=limit, first=first, alone=True, say=say)
            finally:
                monitor.hurry = True  # whoever presses Ctrl-C does not wait for the page either
    except PollerBusyError:
        try:
            found = await checking.ask(database, named, clock=clock, patience=max(0, deadline - clock.now()), say=say)
        except ServiceError:
            return f"the running service has not checked the page yet; `tidings show {row.name}` says when it has"
    if found.held:
        return next(iter(found.held.values()))
    if found.refused:
        return "the budget is spent; the first look comes as soon as it allows"
    if found.polls:
        return ""
    waited = spell_duration(max(SECOND, (clock.now() - begun) // SECOND * SECOND))
    why = f" ({said})" if said else ""
    return f"the page has not answered within {waited}{why}; `tidings check {row.name}` or a running service checks it again"


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
