"""`tidings token add NAME|list|revoke NAME`: tokens of programs for the API of the running
service.
"""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from tidings.cli.output import add_json, short_time, table, write_json, write_line
from tidings.clock import DAY, SystemClock
from tidings.errors import UsageError
from tidings.service.people import tokens
from tidings.service.show.records import rfc3339
from tidings.storage.db.database import open_database
from tidings.storage.people import tokens as rows
from tidings.storage.people.tokens import SCOPES

if TYPE_CHECKING:
    from tidings.settings import Settings
    from tidings.storage.db.database import Database

ACTIONS = ("add", "list", "revoke")
LONGEST_DAYS = 3_650


def configure(parser: argparse.ArgumentParser, verb: str) -> None:  # noqa: ARG001 - one verb
    """Declare the arguments."""
    parser.add_argument("action", choices=ACTIONS, help="add: make a token; list: list all tokens; revoke: end a token")
    parser.add_argument("name", nargs="?", metavar="NAME", help="the name of the token")
    parser.add_argument("--scope", choices=SCOPES, default="read", help="what the token allows (default read)")
    parser.add_argument(
        "--days", type=int, metavar="N", help="for how many days the token is valid (default: no limit)"
    )
    add_json(parser)


def run(arguments: argparse.Namespace, settings: Settings) -> int:
    """Run one of the three."""
    if (arguments.action != "list") != (arguments.name is not None):
        needs = "takes no name" if arguments.action == "list" else "needs the NAME of a token"
        raise UsageError(f"tidings token {arguments.action} {needs}")
    if arguments.days is not None and not 0 < arguments.days <= LONGEST_DAYS:
        raise UsageError(f"--days is a number from 1 to {LONGEST_DAYS:,}")
    database = open_database(settings, create=arguments.action == "add")
    try:
        match arguments.action:
            case "add":
                return _add(database, arguments)
            case "list":
                return _list(database, as_json=arguments.json)
            case _:
                database.write(rows.revoke, arguments.name)
    finally:
        database.close()
    write_line(f"the token {arguments.name} is revoked")
    return 0


def _add(database: Database, arguments: argparse.Namespace) -> int:
    now = SystemClock().now()
    expires_at = None if arguments.days is None else now + arguments.days * DAY
    token, row = database.write(tokens.add, arguments.name, arguments.scope, at=now, expires_at=expires_at)
    if arguments.json:
        write_json({**tokens.record(row), "token": token.reveal()})
        return 0
    write_line(token.reveal())
    write_line("the token is shown only now; send it as `Authorization: Bearer TOKEN`")
    return 0


def _list(database: Database, *, as_json: bool) -> int:
    found = database.read(rows.listing)
    if as_json:
        for row in found:
            write_json(tokens.record(row))
        return 0
    if not found:
        write_line("there are no tokens; tidings token add NAME makes one")
        return 0
    columns = ("NAME", "SCOPE", "MADE (UTC)", "GOOD UNTIL", "LAST USED")
    table(
        [
            (
                row.name,
                row.scope,
                short_time(rfc3339(row.created_at)),
                short_time(rfc3339(row.expires_at)) if row.expires_at else "-",
                short_time(rfc3339(row.used_at)) if row.used_at else "never",
            )
            for row in found
        ],
        columns,
    )
    return 0
