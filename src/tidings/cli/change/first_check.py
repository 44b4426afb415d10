"""`tidings add --url`: register a page, check it once, and print what is watched."""

from __future__ import annotations

import argparse
import asyncio
import getpass
import re
import sys
from typing import TYPE_CHECKING, Any

from tidings.cli.output import progress, short_time, write_beside, write_json, write_line, write_warnings
from tidings.clock import SECOND, SystemClock
from tidings.errors import PollerBusyError, SecretError, SentinelError, ServiceError, UsageError
from tidings.language import expressions
from tidings.language.expressions import quote
from tidings.language.forms import parse_file
from tidings.language.write.printer import page_text
from tidings.model.interval import describe_duration
from tidings.model.secret import Secret
from tidings.model.url import split_url
from tidings.model.watch.interest import keep_inserted
from tidings.model.watch.sentinel import Sentinel, Watched
from tidings.record import dataclass
from tidings.service.on_demand import seen_now, trial
from tidings.service.on_demand.seen_now import lines_of, read_stored, record_of
from tidings.service.on_demand.try_receivers import send_test_message
from tidings.service.run import check as checking
from tidings.service.run.assembly import poller
from tidings.service.run.from_settings import open_archive, open_runner
from tidings.service.secrets import secrets
from tidings.service.secrets.secrets import basic
from tidings.service.sentinels import register
from tidings.service.show.records import problem_record, sentinel_record
from tidings.service.watch.watchlist import meaning
from tidings.storage.observed import pages
from tidings.storage.secrets import Vault
from tidings.storage.watches import events, sentinels, subscriptions

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from tidings.language.problems import Problem
    from tidings.service.notify.rehearse import Rehearsed
    from tidings.service.on_demand.seen_now import SeenNow
    from tidings.settings import Settings
    from tidings.storage.db.connection import Connection
    from tidings.storage.db.database import Database
    from tidings.storage.watches.sentinels import SentinelRow

OF_NAMES = frozenset({"E04", "E21"})
"""Codes of problems with a name."""
MOST_CHECKED = 20
"""Most new pages checked at once; further first checks are left to the service."""
PATIENCE_SECONDS = 30.0
"""Longest wait for a first answer; after two seconds the reason is shown on a terminal."""


@dataclass(frozen=True, slots=True)
class Flagged:
    """A problem of the language in a flag, shown with the flag: the user has not seen the text
    built from it.
    """

    flag: str
    problem: Problem

    def __str__(self) -> str:
        return f"{self.flag}: {str(self.problem).partition(': ')[2]}"

    def as_dict(self) -> Mapping[str, object]:
        """Return the problem's record with its flag."""
        return {"flag": self.flag, **self.problem.as_dict()}


@dataclass(frozen=True, slots=True)
class _Asked:
    """The sentinel's text for `add --url`, and the flag behind each of its lines."""

    text: str
    flags: tuple[str, ...]

    def find_flag(self, problem: Any) -> Flagged:
        """Return a problem with its flag."""
        flag = self.flags[min(problem.line, len(self.flags)) - 1]
        return Flagged("--name" if flag == "--url" and problem.code in OF_NAMES else flag, problem)


def make_statement(arguments: argparse.Namespace, *, url: str, name: str, monitor: str, login: str) -> _Asked:
    """Return the statement for the flags. Raises `UsageError` for a header without a name.

    Args:
        arguments: The flags of `add` or `test`.
        url: The address of the page.
        name: The name of the sentinel.
        monitor: The Monitor clause.
        login: The name of the secret of the login, "" for none.
    """
    if arguments.only_added:
        monitor = _restrict_to_additions(monitor)
    clauses: list[tuple[str, str]] = []
    if arguments.select is not None:
        clauses.append(("--select", f"Select css {quote(arguments.select)}"))
    clauses += (("--exclude", f"Exclude css {quote(css)}") for css in arguments.exclude)
    clauses += (("--header", _header(given)) for given in arguments.header)
    if login and arguments.login_form is not None:
        success = arguments.login_success
        found = "" if success is None else f" success css {quote(success)}"
        user = f"user {quote(arguments.user)} password secret {quote(login)}"
        clauses.append(("--login-form", f"Login form {quote(arguments.login_form)} {user}{found}"))
    elif login:
        clauses.append(("--user", f'Header "Authorization" secret "{login}"'))
    if arguments.step:
        clauses.append(("--step", f"Render browser steps ({', '.join(arguments.step)})"))
    elif arguments.render:
        clauses.append(("--render", "Render browser"))
    if arguments.tag:
        clauses.append(("--tag", f"Tags {', '.join(map(quote, arguments.tag))}"))
    text = register.statement_for(
        url,
        name=name,
        monitor=monitor,
        every=arguments.every,
        notify=arguments.notify,
        clauses=[clause for _, clause in clauses],
    )
    flags = [
        "--url" if arguments.command is None else "--command",
        *["--monitor"] * (1 + monitor.count("\n")),
        "--every",
        *["--notify"] * len(arguments.notify),
        *(flag for flag, clause in clauses for _ in range(1 + clause.count("\n"))),
    ]
    return _Asked(text, tuple(flags))


def _header(given: str) -> str:
    """Return the clause of `--header "NAME: VALUE"`."""
    name, colon, value = given.partition(":")
    if not colon or not name.strip():
        message = f'--header {given!r} is not a header; write for example --header "Accept-Language: de"'
        raise UsageError(message)
    secret = _SECRET.fullmatch(value.strip())
    value = f'secret "{secret[1]}"' if secret else quote(value.strip())
    return f"Header {quote(name.strip())} {value}"


_SECRET = re.compile(r'secret\s+"?([A-Za-z_][\w.\-]{0,99})"?')


def _restrict_to_additions(monitor: str) -> str:
    """Return a Monitor clause restricted to additions; unchanged if it cannot be parsed."""
    (read,) = parse_file("", f"Create Sentinel x Using https://example.org/ Monitor {monitor}").statements or (None,)
    return expressions.to_text(keep_inserted(read.monitor)) if isinstance(read, Sentinel) else monitor


def _login(database: Database, arguments: argparse.Namespace, settings: Settings, host: str) -> tuple[str, Secret]:
    """Return the name and text of the secret for `--user`.

    The password is prompted for, or taken from `--password`.
    """
    if arguments.user is None:
        if arguments.password is not None:
            message = "--password needs --user NAME"
            raise UsageError(message)
        if arguments.login_form is not None or arguments.login_success is not None:
            message = "--login-form URL and --login-success CSS need --user NAME"
            raise UsageError(message)
        return "", Secret("")
    if arguments.login_form is None and ":" in arguments.user:
        message = "the name of a user cannot have a colon, because basic auth separates name and password by a colon"
        raise UsageError(message)
    plain = re.sub(r"[^A-Za-z0-9.]+", "-", f"{host}-{arguments.user}").strip("-.")
    password = _password(database, arguments, settings, host)
    if arguments.login_form is None:
        return f"login-{plain}"[:100], basic(arguments.user, password)
    return arguments.password or f"form-{plain}"[:100], password


def _password(database: Database, arguments: argparse.Namespace, settings: Settings, host: str) -> Secret:
    if arguments.password is not None:
        opened = database.read(Vault(settings.data).open, arguments.password)
        if opened is None:
            message = f"there is no secret {arguments.password}; `tidings secret set {arguments.password}` stores one"
            raise UsageError(message)
        return opened.value
    if sys.stdin.isatty():
        given = getpass.getpass(f"password of {arguments.user} at {host}: ")
    else:
        given = sys.stdin.readline().rstrip("\r\n")
    if not given:
        message = f"the password of {arguments.user} is empty; enter it at the prompt, send it by a pipe, or name a secret with --password"
        raise UsageError(message)
    return Secret(given)


def _choose_secret(database: Database, settings: Settings, name: str, password: Secret) -> tuple[str, str]:
    """Return the name under which a login is stored, and a warning or "".

    A name that other sentinels use with another password gets a number: their login stays.
    """
    vault, using = Vault(settings.data), database.read(secrets.users)
    stem, number, note = name, 1, ""
    while others := using.get(name, ()):
        try:
            opened = database.read(vault.open, name)
        except SecretError:
            break  # it cannot be decrypted: set again, they need it too
        if opened is None or opened.value == password:
            break
        logs = "logs" if len(others) == 1 else "log"
        note = note or f"{', '.join(others)} {logs} in with another password, which stays"
        number += 1
        name = f"{stem}-{number}"
    return name, f"{note}; the new one is the secret {name}" if note else ""


def complete(url: str) -> str:
    """Return an address with its scheme, https if it has none."""
    return url if re.match(r"[A-Za-z][A-Za-z0-9+.-]*://", url) else f"https://{url}"


async def add_url(database: Database, arguments: argparse.Namespace, settings: Settings) -> int:
    """Register the page of `--url`, check it once unless `--no-check` is given, and print what is
    watched.

    The exit code is 0 also if the page did not answer.
    """
    clock, checks = SystemClock(), not arguments.no_check
    url = arguments.url if arguments.command is not None else complete(arguments.url)
    name = arguments.name or register.automatic_name(url, "", database.read(sentinels.names))
    login, password = _login(database, arguments, settings, split_url(url).hostname or "page")
    note = ""
    if login and login != arguments.password:
        login, note = _choose_secret(database, settings, login, password)
    deadline = clock.now() + round(PATIENCE_SECONDS * SECOND)
    monitor = arguments.monitor or "all words"
    asked = make_statement(arguments, url=url, name=name, monitor=monitor, login=login)
    stores = login if login != arguments.password else ""
    try:
        done = database.write(_register, asked.text, settings, clock.now(), login=stores, password=password)
    except SentinelError as error:
        raise SentinelError([asked.find_flag(problem) for problem in error.problems]) from error
    (row,) = done.made
    ours = [warning for warning in done.warnings if not (login and warning.code == "W9" and login in str(warning))]
    write_warnings([asked.find_flag(warning) for warning in ours], as_json=arguments.json)
    try:
        problem, tests = await asyncio.gather(
            _check_first(database, row, settings, deadline=deadline) if checks else asyncio.sleep(0, ""),
            _rehearse(database, row, arguments, settings, deadline),
        )
    except asyncio.CancelledError:
        write_beside(f"tidings: {row.name} is watched; its first check was interrupted")
        raise
    if checks and url != arguments.url and database.read(_is_unreached, row.id):
        url, problem = await _try_plain_http(database, row, arguments, settings, deadline, problem)
    if arguments.monitor is None and arguments.select is None and database.read(_is_feed, row.id):
        added = " inserted" if arguments.only_added else ""
        _alter(database, f"Alter {row.name} Monitor items{added}", settings)
        row = database.read(sentinels.get, row.id)
    if arguments.name is None:
        row = database.write(register.name_by_title, row.id, url=url, now=clock.now())
    seen = await _read_page(database, row, settings)
    answer = database.read(seen_now.answer, row.id, seen_now=seen, settings=settings, now=clock.now())
    answer["tests"] = [{"channel": t.kind, "address": t.address, "error": t.reason} for t in tests]
    if arguments.json:
        write_json(sentinel_record(database.read(sentinels.get, row.id), details=answer))
        for line in filter(None, (problem, note)):
            write_json(problem_record(line, where=row.name, details={"warning": True}))
    else:
        _welcome(row.name, answer, [one for one in (problem, note) if one], lines_of(seen.readings))
    return 0


def _alter(database: Database, text: str, settings: Settings) -> None:
    register.register(database, text, settings=settings, now=SystemClock().now())


def _is_feed(c: Connection, sentinel_id: int) -> bool:
    """Return whether the page of a new sentinel is a feed: its items are watched, not its text."""
    (page_id, *_) = seen_now.page_ids(c, sentinel_id)
    return events.media_of(c, page_id) == "feed"


def _is_unreached(c: Connection, sentinel_id: int) -> bool:
    """Return whether no server answered for the page of a new sentinel."""
    (page_id, *_) = seen_now.page_ids(c, sentinel_id)
    state = pages.state(c, page_id)
    return not state.last_seq and state.kind == "net"


async def _try_plain_http(
    database: Database, row: SentinelRow, arguments: argparse.Namespace, settings: Settings, deadline: int, problem: str
) -> tuple[str, str]:
    """Watch a page by http if it answers there and was given without a scheme; return its address
    and the problem, if any.
    """
    whole, plain = (f"{scheme}://{arguments.url}" for scheme in ("https", "http"))
    found, _ = await trial.trial(
        database, register.statement_for(plain, name=row.name, monitor="all words", every=None, notify=()), settings
    )
    if not all(one.outcome == "ok" for one in found):
        return whole, problem
    _alter(database, f"Alter {row.name} Using {page_text(Watched(plain))}", settings)
    return plain, await _check_first(database, row, settings, deadline=deadline)


def _register(
    c: Connection, text: str, settings: Settings, now: int, *, login: str, password: Secret
) -> register.Registration:
    """Register a sentinel and store its login, both or none; `login` is empty for none."""
    if login:
        secrets.set_(c, Vault(settings.data), login, password, at=now)
    return register.carry_out(c, text, settings, now, "")


async def _read_page(database: Database, row: SentinelRow, settings: Settings) -> SeenNow:
    """Return what the new sentinel sees of its page."""
    (page_id, *_) = database.read(seen_now.page_ids, row.id)
    runner = open_runner(settings)
    try:
        archive = open_archive(settings, dialect=database.dialect)
        return await read_stored(database, archive, runner, meaning(row.text), page_id)
    finally:
        await runner.close()


async def _rehearse(
    database: Database, row: SentinelRow, arguments: argparse.Namespace, settings: Settings, deadline: int
) -> list[Rehearsed]:
    """Send a test message to each `--notify` while the page is checked."""
    if arguments.no_test or not arguments.notify:
        return []
    patience = max(0, deadline - SystemClock().now())
    return await send_test_message(database, meaning(row.text), settings, patience=patience)


async def check_new(database: Database, made: Sequence[SentinelRow], settings: Settings, *, as_json: bool) -> None:
    """Check the pages of new sentinels concurrently, and print what each sees; many pages are left
    to the service.

    Args:
        database: Where they are stored.
        made: The new sentinels.
        settings: The settings in use.
        as_json: Whether records are printed.
    """
    clock = SystemClock()
    rows = [
        row
        for row in made
        if row.state not in {"ended", "disabled"} and (row.start_at is None or row.start_at <= clock.now())
    ]
    named: dict[int, set[int]] = {}
    watched = {row.id: database.read(subscriptions.listing, sentinel_id=row.id) for row in rows}
    for row in rows:
        for sub in watched[row.id]:
            named.setdefault(sub.page_id, set()).add(row.id)
    if not named:
        return
    if len(named) > MOST_CHECKED:
        if not as_json:
            write_line(f"{len(named):,} new pages: the service or `tidings check` makes the first checks")
        return
    deadline = clock.now() + round(PATIENCE_SECONDS * SECOND)
    problem = await _first_check(database, named, settings, deadline=deadline)
    runner = open_runner(settings)
    try:
        archive = open_archive(settings, dialect=database.dialect)
        for row in rows:
            sentinel = meaning(row.text)
            for sub in watched[row.id]:
                seen = await read_stored(database, archive, runner, sentinel, sub.page_id, label=sub.label)
                warnings = database.read(seen_now.page_answer, row.id, sub.page_id, seen)
                _write_seen(row.name, sub.label, seen, warnings, as_json=as_json)
    finally:
        await runner.close()
    if problem and not as_json:
        write_line(f"warning   {problem}")


def _write_seen(name: str, label: str, seen: SeenNow, warnings: Sequence[str], *, as_json: bool) -> None:
    """Print what a new sentinel sees of one of its pages."""
    if as_json:
        now = [record_of(reading) for reading in seen.readings]
        write_json({"record": "checked", "sentinel": name, "page": label, "now": now, "warnings": [*warnings]})
        return
    who = f"{name} {label}".rstrip()
    for place, line in enumerate(lines_of(seen.readings)):
        write_line(f"{' ' * len(who)}      {line}" if place else f"{who}  now {line}")
    for warning in warnings:
        write_line(f"{who}  warning {warning}")


async def _check_first(database: Database, row: SentinelRow, settings: Settings, *, deadline: int) -> str:
    """Check a new page once; return the problem, if any."""
    named = {page_id: {row.id} for page_id in database.read(seen_now.page_ids, row.id)}
    return await _first_check(database, named, settings, deadline=deadline)


async def _first_check(database: Database, named: dict[int, set[int]], settings: Settings, *, deadline: int) -> str:
    """Check pages once, in this process or through the polling process; return the problem,
    if any.
    """
    clock = SystemClock()
    begun = clock.now()
    reason = ""

    def show(text: str) -> None:
        nonlocal reason
        reason = text.partition("; ")[2]
        progress(text)

    try:
        async with poller(settings, stays=False) as monitor:
            limit = max(0, deadline - clock.now())
            try:
                found = await checking.check(monitor, named, limit=limit, alone=True, show=show)
            finally:
                monitor.hurry = True  # Ctrl-C does not wait for the page either
    except PollerBusyError:
        try:
            found = await checking.ask(database, named, clock=clock, patience=max(0, deadline - clock.now()), show=show)
        except ServiceError as error:
            return str(error)
    if found.paused:
        return next(iter(found.paused.values()))
    if found.refused:
        return "the budget is used up; the first check comes as soon as the budget allows"
    if len(found.polls) >= len(named):
        return ""
    waited = describe_duration(max(SECOND, (clock.now() - begun) // SECOND * SECOND))
    why = f" ({reason})" if reason else ""
    if len(named) == 1:
        return f"the page has not answered within {waited}{why}; `tidings check` or a running service tries again"
    left = len(named) - len(found.polls)
    return f"{left} of {len(named)} pages have not answered within {waited}{why}; `tidings check` or a running service tries again"


def _welcome(name: str, answer: dict[str, Any], problems: Sequence[str], now: Sequence[str]) -> None:
    write_line(f"watching  {answer['title'] or answer['url']}")
    write_line(f"name      {name}")
    write_line(f"watched   {answer['watched']}")
    for place, line in enumerate(now):
        write_line(f"{'' if place else 'now':<9} {line}")
    if answer["first_words"] and not now:
        write_line(f"begins    {answer['first_words']}")
    if others := answer["also_watched_by"]:
        write_line(f"already   also watched by {', '.join(others)}; `tidings drop {name}` removes the new sentinel")
    write_line(f"next      check {short_time(answer['next_look'])} UTC ({answer['pace']})")
    for test in answer["tests"]:
        what = f"could not be notified: {test['error']}" if test["error"] else "has accepted a test message"
        write_line(f"{'warning' if test['error'] else 'notified':<9} {test['channel']} {test['address']} {what}")
    for warning in [*answer["warnings"], *problems]:
        write_line(f"warning   {warning}")
