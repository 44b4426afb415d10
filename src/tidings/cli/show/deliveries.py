"""`tidings deliveries [NAME | replay ID…]`: messages, receivers, what was not delivered."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from tidings.cli.arguments import add_limit
from tidings.cli.output import add_json, short_time, table, write_json, write_line
from tidings.clock import SystemClock
from tidings.errors import UsageError
from tidings.notification.addresses import mask_address
from tidings.service.show.records import delivery_record, rfc3339
from tidings.service.watch import by_name
from tidings.storage.db.database import open_database
from tidings.storage.watches import deliveries

if TYPE_CHECKING:
    from tidings.settings import Settings
    from tidings.storage.db.connection import Connection
    from tidings.storage.watches.deliveries import DeliveryRow


SHOWN_ID = 12
"""Characters of an id that are shown, enough to identify it."""


def configure(parser: argparse.ArgumentParser, verb: str) -> None:  # noqa: ARG001 - one verb
    """Declare the arguments."""
    parser.add_argument(
        "words",
        nargs="*",
        metavar="NAME | replay ID…",
        help="show only messages of this sentinel; or, after the word replay, the ids of messages to send again",
    )
    parser.add_argument(
        "--dead", action="store_true", help="show only messages that were never accepted and are not sent again"
    )
    parser.add_argument(
        "--sentinel", metavar="NAME", help="show only messages of this sentinel; needed only if its name is replay"
    )
    add_limit(parser, 50)
    add_json(parser)


def run(arguments: argparse.Namespace, settings: Settings) -> int:
    """List deliveries, or queue some again."""
    word, *ids = arguments.words or [arguments.sentinel]
    if is_replay := word == "replay" and bool(arguments.words):
        if not ids:
            message = "give an ID: tidings deliveries replay ID"
            raise UsageError(message)
    elif ids or (arguments.words and arguments.sentinel):
        message = "give one NAME, or none to list all deliveries"
        raise UsageError(message)
    database = open_database(settings, create=False)
    try:
        rows = database.write(_replay, ids) if is_replay else database.read(_listing, word, arguments)
    finally:
        database.close()
    if arguments.json:
        for row in rows:
            write_json(delivery_record(row))
    elif not rows:
        write_line("nobody has been notified yet" if not arguments.dead else "no dead letters")
    else:
        table(
            (
                (
                    short_time(rfc3339(r.created_at)),
                    r.status,
                    str(r.attempt),
                    r.sentinel,
                    f"{r.kind} {mask_address(r.kind, r.address)}",
                    r.id[:SHOWN_ID],
                    r.error or r.subject,
                )
                for r in rows
            ),
            ("MADE (UTC)", "STATUS", "TRIES", "SENTINEL", "TO", "ID", "WHAT"),
        )
    return 0


def _replay(connection: Connection, ids: list[str]) -> list[DeliveryRow]:
    """Queue all of them again, or none."""
    now = SystemClock().now()
    return [deliveries.replay(connection, i, now) for i in ids]


def _listing(connection: Connection, word: str | None, arguments: argparse.Namespace) -> list[DeliveryRow]:
    name = by_name.find_past(connection, word).name if word else None
    return deliveries.listing(connection, dead=arguments.dead, sentinel=name, limit=arguments.limit)
