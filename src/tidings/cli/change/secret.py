"""`tidings secret set|list|drop|rotate`: tokens, passwords and cookies, stored nowhere else."""

from __future__ import annotations

import argparse
import getpass
import sys
from typing import TYPE_CHECKING

from tidings.cli.arguments import read_text
from tidings.cli.output import add_json, short_time, table, write_beside, write_json, write_line
from tidings.clock import SystemClock
from tidings.errors import UsageError
from tidings.model.secret import Secret
from tidings.service.secrets import secrets
from tidings.service.show.records import rfc3339
from tidings.storage.db.database import open_database
from tidings.storage.people import accounts
from tidings.storage.secrets import Vault
from tidings.storage.watches.events import OWNER

if TYPE_CHECKING:
    from tidings.settings import Settings
    from tidings.storage.db.database import Database

ACTIONS = ("set", "list", "drop", "rotate")


def configure(parser: argparse.ArgumentParser, verb: str) -> None:  # noqa: ARG001 - one verb
    """Declare the arguments."""
    parser.add_argument(
        "action",
        choices=ACTIONS,
        help="set: store a secret; list: list the names; drop: delete a secret; rotate: encrypt all with a new key",
    )
    parser.add_argument("name", nargs="?", metavar="SECRET", help="the name of the secret")
    parser.add_argument("source", nargs="*", metavar="-", help="for set: read the value from standard input")
    parser.add_argument(
        "--cookies",
        metavar="FILE",
        help="for set: store the cookies of a login, from a cookies.txt in Netscape's format",
    )
    parser.add_argument(
        "--user",
        metavar="NAME",
        help="for set, list and drop: the secrets of this user, which only their sentinels use",
    )
    parser.add_argument("--force", action="store_true", help="for drop: drop the secret even if a sentinel uses it")
    add_json(parser)


def run(arguments: argparse.Namespace, settings: Settings) -> int:
    """Run one of the four."""
    _check(arguments)
    if arguments.action == "set":
        secrets.check_name(arguments.name)
        value = _value(arguments)
    else:
        value = Secret("")
    database = open_database(settings, create=arguments.action == "set")
    try:
        vault = Vault(settings.data)
        owner_id = OWNER if arguments.user is None else database.read(accounts.get_by_name, arguments.user).id
        if arguments.action == "set":
            return _set(database, vault, arguments, value, owner_id)
        if arguments.action == "list":
            return _list(database, vault, owner_id, as_json=arguments.json)
        if arguments.action == "drop":
            return _drop(database, arguments, owner_id)
        return _rotate(database, vault, as_json=arguments.json)
    finally:
        database.close()


def _check(arguments: argparse.Namespace) -> None:
    needs_name = arguments.action in {"set", "drop"}
    if needs_name != (arguments.name is not None):
        message = f"tidings secret {arguments.action} {'needs the NAME of a secret' if needs_name else 'takes no name'}"
        raise UsageError(message)
    if arguments.source not in ([], ["-"]) or (arguments.source and arguments.action != "set"):
        message = (
            "a value cannot be an argument: the list of processes and the shell's history would show it. The history "
            "now has this one. Enter the value at the prompt, or use a pipe: printf %s VALUE | tidings secret set NAME"
        )
        raise UsageError(message)
    if arguments.user is not None and arguments.action == "rotate":
        raise UsageError("tidings secret rotate encrypts the secrets of all users; leave out --user")
    if arguments.cookies is not None and (arguments.action != "set" or arguments.source):
        message = "--cookies FILE needs `tidings secret set NAME`, and replaces the value"
        raise UsageError(message)


def _value(arguments: argparse.Namespace) -> Secret:
    """Return the value: from a file of cookies, a hidden prompt, or standard input without its last
    line end.
    """
    if arguments.cookies is not None:
        return Secret(read_text(arguments.cookies))
    if not arguments.source and sys.stdin.isatty():
        return Secret(getpass.getpass(f"{arguments.name}: "))
    text = sys.stdin.read()
    return Secret(text.removesuffix("\n").removesuffix("\r"))


def _set(database: Database, vault: Vault, arguments: argparse.Namespace, value: Secret, owner_id: int) -> int:
    name, jar = arguments.name, arguments.cookies is not None
    again = database.write(secrets.set_, vault, name, value, jar=jar, owner_id=owner_id, at=SystemClock().now())
    left_out = secrets.list_unusable(value) if jar else ()
    (found,) = [row for row in database.read(secrets.listing, vault, owner_id=owner_id) if row.name == name]
    if arguments.json:
        write_json({**found.record(), "looked_at_again": again, "left_out": list(left_out)})
        return 0
    for line in left_out:
        write_beside(f"warning: {line}; this cookie is left out")
    write_line(f"{name} is set{f'; used by {_few(found.sentinels)}' if found.sentinels else ''}")
    if again:
        write_line(f"checked again now: {_few(again)}")
    if found.kind == "signing":
        write_line("webhooks are signed with it after the next start of `tidings serve`")
    return 0


def _list(database: Database, vault: Vault, owner_id: int, *, as_json: bool) -> int:
    found = database.read(secrets.listing, vault, owner_id=owner_id)
    if as_json:
        for row in found:
            write_json(row.record())
        return 0
    if not found:
        write_line("no secret is stored, and no sentinel names one; tidings secret set NAME stores one")
        return 0
    rows = [(row.name, row.kind or "-", _state(row), short_time(rfc3339(row.set_at)), _use(row)) for row in found]
    table(rows, ("NAME", "KIND", "STATE", "SET (UTC)", "USED BY"))
    for row in found:
        if row.fault:
            write_line(row.fault)
    return 0


def _state(row: secrets.Named) -> str:
    if row.set_at is None:
        return "not set"
    return "cannot be decrypted" if row.fault else "ok"


def _use(row: secrets.Named) -> str:
    ours = {"signing": ["webhooks"], "naming": ["names of addresses"], "hook": [f"event {row.name.partition(':')[2]}"]}
    return _few([*row.sentinels, *ours.get(row.kind, [])]) or "-"


def _few(names: list[str] | tuple[str, ...]) -> str:
    more = len(names) - 5
    return ", ".join(names[:5]) + (f" and {more} more" if more > 0 else "")


def _drop(database: Database, arguments: argparse.Namespace, owner_id: int) -> int:
    using = database.write(secrets.drop, arguments.name, owner_id=owner_id, force=arguments.force)
    if arguments.json:
        write_json({"record": "secret", "name": arguments.name, "dropped": True, "sentinels": list(using)})
        return 0
    write_line(f"{arguments.name} is deleted")
    if using:
        write_line(
            "these sentinels no longer have the secret, so their pages are in error(secret) and their messages wait: "
            f"{_few(using)}"
        )
    return 0


def _rotate(database: Database, vault: Vault, *, as_json: bool) -> int:
    count = database.write(vault.rotate)
    database.write(vault.forget)
    if as_json:
        write_json({"record": "rotation", "secrets": count})
    else:
        write_line(
            f"{count} secret{'' if count == 1 else 's'} encrypted with a new key; keep a copy of {vault.key_file.path}"
        )
    return 0
