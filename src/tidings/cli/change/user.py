"""`tidings user add|list|role|password|remove|export|share|unshare|budget`: accounts."""

from __future__ import annotations

import argparse
import getpass
import sys
from typing import TYPE_CHECKING

from tidings.cli.output import add_json, short_time, table, write_json, write_line
from tidings.clock import SystemClock
from tidings.errors import UsageError
from tidings.service.people import accounts
from tidings.service.show.records import rfc3339
from tidings.storage.db.database import open_database
from tidings.storage.people import accounts as rows
from tidings.storage.people.accounts import ROLES

if TYPE_CHECKING:
    from pathlib import Path

    from tidings.settings import Settings
    from tidings.storage.db.database import Database

ACTIONS = ("add", "list", "role", "password", "remove", "export", "share", "unshare", "budget")
_WITH_VALUE = {"budget": "CHECKS", "role": "ROLE", "share": "TAG", "unshare": "TAG"}


def configure(parser: argparse.ArgumentParser, verb: str) -> None:  # noqa: ARG001 - one verb
    """Declare the arguments."""
    parser.add_argument("action", choices=ACTIONS, help="what to do with the account")
    parser.add_argument("name", nargs="?", metavar="NAME", help="the user")
    parser.add_argument(
        "value",
        nargs="?",
        metavar="ROLE|TAG|CHECKS",
        help="the new role (for role), a tag (for share and unshare), or the number of checks a day or none (for budget)",
    )
    parser.add_argument(
        "--role",
        choices=ROLES,
        default="",
        help="for add: what the user may do (default reader; the first user is an admin)",
    )
    add_json(parser)


def run(arguments: argparse.Namespace, settings: Settings) -> int:
    """Run one of them; passwords come from a prompt or standard input, never from an argument."""
    action = arguments.action
    if (action != "list") != (arguments.name is not None) or (action in _WITH_VALUE) != (arguments.value is not None):
        needs = {"list": "takes no name"}.get(action, f"takes NAME {_WITH_VALUE.get(action, '')}".rstrip())
        raise UsageError(f"tidings user {action} {needs}")
    password_hash = accounts.hash_of(_password(arguments.name)) if action in {"add", "password"} else ""
    database = open_database(settings, create=action == "add")
    try:
        return _do(database, arguments, password_hash, settings.data)
    finally:
        database.close()


def _do(database: Database, arguments: argparse.Namespace, password_hash: str, data: Path) -> int:
    name, now = arguments.name, SystemClock().now()
    match arguments.action:
        case "list":
            return _list(database, as_json=arguments.json)
        case "export":
            write_json(database.read(accounts.export, name, data=data, now=now))
            return 0
        case "add":
            row = database.write(accounts.add, name, arguments.role, password_hash, at=now)
            text = f"{name} can now sign in as {row.role}"
        case "role":
            database.write(accounts.set_role, name, arguments.value)
            text = f"{name} is now {arguments.value} and must sign in again"
        case "password":
            database.write(accounts.set_password, name, password_hash)
            text = f"{name} has a new password and must sign in again"
        case "remove":
            count = database.write(accounts.remove, name, now, data=data)
            many = f"{count} sentinel{'' if count == 1 else 's'}"
            text = f"{name} is removed, with {many}; `tidings gc` deletes their stored pages"
        case "budget":
            checks = _read_checks(arguments.value)
            database.write(accounts.set_share, name, checks)
            most = f"at most {checks:,.10g} checks a day" if checks else "as many checks as the budget allows"
            text = f"all sentinels of {name} together may make {most}, after the next start of the service"
        case what:
            row = database.read(rows.get_by_name, name)
            database.write(rows.share if what == "share" else rows.unshare, row.id, arguments.value)
            to = "everybody with an account now sees" if what == "share" else "nobody else now sees"
            text = f"{to} the sentinels of {name} with the tag {arguments.value}"
    if arguments.json:
        write_json({"record": "user", "name": name, "done": arguments.action})
    else:
        write_line(text)
    return 0


def _read_checks(text: str) -> float:
    """Return a number of checks a day, 0 for `none`."""
    try:
        return 0.0 if text == "none" else float(text)
    except ValueError as error:
        raise UsageError(f"a budget is a number of checks a day or none, not {text!r}") from error


def _password(name: str) -> str:
    if sys.stdin.isatty():
        first = getpass.getpass(f"password of {name}: ")
        if first != getpass.getpass("repeat: "):
            raise UsageError("the two passwords differ; nothing was changed")
        return first
    return sys.stdin.readline().removesuffix("\n").removesuffix("\r")


def _list(database: Database, *, as_json: bool) -> int:
    found = database.read(rows.listing)
    if as_json:
        for row in found:
            write_json(accounts.record(row))
        return 0
    if not found:
        write_line("there are no accounts; tidings user add NAME --role admin makes one")
        return 0
    table(
        [
            (
                row.name,
                row.role,
                f"{row.checks_per_day:,.10g}" if row.checks_per_day else "-",
                short_time(rfc3339(row.created_at)),
            )
            for row in found
        ],
        ("NAME", "ROLE", "CHECKS A DAY", "SINCE (UTC)"),
    )
    return 0
