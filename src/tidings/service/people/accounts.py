"""Accounts: create, sign in by password, change role or password, export, remove.

Passwords are stored as argon2id hashes of OWASP's minimum strength (19 MiB, two passes, one lane):
about 40 ms per attempt.
"""

from __future__ import annotations

import contextlib
import json
import re
from functools import cache
from typing import TYPE_CHECKING, Any, Final

from tidings.errors import UsageError
from tidings.model.watch.notifying import REFERENCE
from tidings.service.people import published as published_of
from tidings.service.people import tokens as tokens_of
from tidings.service.show.records import change_record, rfc3339, sentinel_record
from tidings.storage import secrets
from tidings.storage.people import accounts, published, tokens
from tidings.storage.people.accounts import ROLES, AccountRow, Role
from tidings.storage.search.log import SearchLog, has_log
from tidings.storage.watches import changes, endpoints, outside, sentinels, subscriptions

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from argon2 import PasswordHasher

    from tidings.model.interval import Instant
    from tidings.storage.db.connection import Connection
    from tidings.storage.search.log import LoggedQuery
    from tidings.storage.watches.sentinels import SentinelRow

SHORTEST: Final = 10
"""Shortest password, in characters."""
MOST_CHECKS: Final = 10_000_000
"""Largest share, in checks a day."""
LONGEST: Final = 1_024
"""Longest password, in bytes."""
_NAME: Final = re.compile(r"[\w][\w.@-]{0,63}")


@cache
def _hasher() -> PasswordHasher:
    from argon2 import PasswordHasher  # only needed to sign in

    return PasswordHasher(time_cost=2, memory_cost=19 * 1024, parallelism=1)


@cache
def _nobody() -> str:
    """Return a hash to compare passwords for unknown names with, so that it takes as long."""
    return _hasher().hash("no user has this password")


def check_password(password: str) -> None:
    """Raise `UsageError` for a password that is too short or too long."""
    if len(password) < SHORTEST:
        raise UsageError(f"a password has {SHORTEST} characters at least; a few words are easy to remember")
    if len(password.encode(errors="surrogatepass")) > LONGEST:
        raise UsageError(f"a password has {LONGEST:,} bytes at most")


def hash_of(password: str) -> str:
    """Return the hash of a password to store. Raises `UsageError` for an invalid one."""
    check_password(password)
    return _hasher().hash(password.encode(errors="surrogatepass"))


def opens(row: AccountRow | None, password: str) -> bool:
    """Return whether a password is an account's; takes as long for no account."""
    from argon2.exceptions import Argon2Error, InvalidHashError

    if len(password.encode(errors="surrogatepass")) > LONGEST:
        return False
    password_hash = row.password if row is not None and row.password else _nobody()
    try:
        _hasher().verify(password_hash, password.encode(errors="surrogatepass"))
    except (Argon2Error, InvalidHashError):
        return False
    return row is not None and bool(row.password)


def renew_hash(row: AccountRow, password: str) -> str | None:
    """Return a password's hash at today's strength, None if the stored one has it."""
    return hash_of(password) if _hasher().check_needs_rehash(row.password) else None


def add(c: Connection, name: str, role: str, password_hash: str, *, at: Instant) -> AccountRow:
    """Create an account. Raises `UsageError` for an invalid name or role, and for a first account
    that is no admin: then everybody must sign in, and only an admin adds others.

    Args:
        name: The name to sign in with.
        role: reader, editor or admin; empty for admin if it is the first account, reader otherwise.
        password_hash: The stored hash of its password; empty for one that only a proxy signs in.
        at: When it is created (µs).
    """
    if not _NAME.fullmatch(name):
        raise UsageError("the name of a user has 1 to 64 letters, digits, dots, @, - and _")
    is_first = not accounts.exist(c)
    wanted = role_of(role or ("admin" if is_first else "reader"))
    if is_first and wanted != "admin":
        raise UsageError(
            "the first account must be an admin: from then on everybody must sign in, and nobody else could add users"
        )
    return accounts.add(c, name, wanted, password_hash, at=at)


def role_of(text: str) -> Role:
    """Parse a role. Raises `UsageError` for an unknown one."""
    for role in ROLES:
        if role == text:
            return role
    raise UsageError(f"there is no role {text!r}; there are {', '.join(ROLES)}")


def set_role(c: Connection, name: str, role: str) -> None:
    """Change an account's role and end its sessions. Raises `UsageError` if no admin would
    be left.
    """
    row = accounts.get_by_name(c, name)
    wanted = role_of(role)
    if wanted != "admin" and _is_last_admin(c, row):
        raise UsageError(f"{row.name} is the only admin; first make another: `tidings user role NAME admin`")
    accounts.alter(c, row.id, role=wanted)
    tokens.end_sessions(c, row.id)


def set_password(c: Connection, name: str, password_hash: str) -> None:
    """Change an account's password and end its sessions."""
    row = accounts.get_by_name(c, name)
    accounts.alter(c, row.id, password=password_hash)
    tokens.end_sessions(c, row.id)


def set_share(c: Connection, name: str, checks_per_day: float) -> None:
    """Limit what the sentinels of an account may spend together, from the next start of the service
    on. Raise `UsageError` unless it is 0 (no limit) or from 1 to `MOST_CHECKS`.

    Args:
        name: The name of the account.
        checks_per_day: Checks in a day.
    """
    if checks_per_day != 0 and not 1 <= checks_per_day <= MOST_CHECKS:
        raise UsageError(f"a limit is from 1 to {MOST_CHECKS:,} checks a day, or 0 for no limit")
    accounts.alter(c, accounts.get_by_name(c, name).id, checks_per_day=checks_per_day)


def _is_last_admin(c: Connection, row: AccountRow) -> bool:
    return [row.id] == [one.id for one in accounts.listing(c) if one.role == "admin"]


def _check_leaves_admin(c: Connection, row: AccountRow) -> None:
    """Raise `UsageError` if an account is the only admin while others have accounts."""
    if _is_last_admin(c, row) and len(accounts.listing(c)) > 1:
        raise UsageError(f"{row.name} is the only admin; first make another: `tidings user role NAME admin`")


def record(row: AccountRow) -> dict[str, Any]:
    """Return an account as a record, without its password."""
    return {
        "record": "user",
        "name": row.name,
        "role": row.role,
        "created_at": rfc3339(row.created_at),
        "checks_per_day": row.checks_per_day or None,
    }


def export(c: Connection, name: str, *, data: Path, now: Instant) -> dict[str, Any]:
    """Return all that is stored of an account. Raises `UnknownNameError`.

    Args:
        name: The name of the account.
        data: The data directory, with the log of searches.
        now: The time of the export (µs).
    """
    row = accounts.get_by_name(c, name)
    own = _own(c, row)
    found = [one for sentinel in own for one in changes.listing(c, sentinel_id=sentinel.id, quiet=True)]
    return {
        **record(row),
        "zone": row.zone,
        "shared_tags": accounts.list_shared_tags(c, row.id),
        "public_pages": [published_of.record(one) for one in published.listing(c, owner_id=row.id)],
        "tokens": [tokens_of.record(one, user=row.name) for one in tokens.listing(c, owner_id=row.id)],
        "secrets": [one.name for one in secrets.listing(c, owner_id=row.id) if one.kind != "session"],
        "sentinels": [sentinel_record(one) for one in own],
        "changes": [change_record(one.row, sentinel=one.sentinel, url=one.url) for one in found],
        "searches": [{"query": one.text, "searches": one.searches} for one in _searches(data, row.id, now)],
        "marks": [{"change": id_, "read": read, "kept": kept} for id_, read, kept in accounts.marks(c, row.id)],
    }


def remove(c: Connection, name: str, now: Instant, *, data: Path) -> int:
    """Remove an account and what is only its own; return the number of sentinels removed.

    Pages that are no longer watched lose their versions and their addresses; bodies are deleted by
    the next collection. Its searches are erased first: while they are there, so is the account.
    Receivers that nobody else names are removed with their secrets. Raises `UsageError` for the
    last admin.

    Args:
        c: The transaction.
        name: The name of the account.
        now: When it is removed (µs).
        data: The data directory, with the log of searches.
    """
    from tidings.service.sources import outside_events  # loads the language, which only a removal needs

    row = accounts.get_by_name(c, name)
    _check_leaves_admin(c, row)
    _forget_searches(data, row.id)
    own = _own(c, row)
    ids = {one.id for one in own}
    texts = [text for id_, _, text in sentinels.texts(c) if id_ in ids]
    texts += sentinels.list_tag_defaults(c, owner_id=row.id).values()
    for sentinel in own:
        sentinels.drop(c, sentinel.id, now)
    pages = {sub.page_id for one in own for sub in subscriptions.listing(c, sentinel_id=one.id)}
    for page_id in sorted(pages):
        if not accounts.is_of_others(c, page_id, row.id):
            accounts.empty_page(c, page_id)
    for sentinel in own:
        accounts.empty_sentinel(c, sentinel.id)
    for source in outside.listing(c):
        if source.owner_id == row.id:
            outside_events.drop(c, source.name)
    accounts.empty_account(c, row.id)
    _forget_receivers(c, texts)
    return len(own)


def _forget_receivers(c: Connection, texts: Sequence[str]) -> None:
    """Remove the receivers that these texts named and no other does, with their addresses in events
    and their secrets.
    """
    others = [text for _, _, text in sentinels.texts(c)] + sentinels.list_all_tag_defaults(c)
    for endpoint in endpoints.listing(c):
        named = endpoint.address.removeprefix(REFERENCE)
        if not named or not any(named in text for text in texts) or any(named in text for text in others):
            continue
        endpoints.forget_in_events(c, json.dumps(endpoint.address)[1:-1], "removed")
        endpoints.forget_in_events(c, json.dumps(named)[1:-1], "removed")
        endpoints.drop(c, endpoint.id)
        if named != endpoint.address:
            secrets.drop(c, named)


def _forget_searches(data: Path, owner_id: int) -> None:
    """Remove an account's searches from the log of a data directory."""
    if has_log(data):
        with contextlib.closing(SearchLog(data)) as log:
            log.erase(owner_id=owner_id)


def _searches(data: Path, owner_id: int, now: Instant) -> list[LoggedQuery]:
    if not has_log(data):
        return []
    with contextlib.closing(SearchLog(data)) as log:
        return log.queries(at=now, owner_id=owner_id)


def _own(c: Connection, row: AccountRow) -> list[SentinelRow]:
    return [one for one in sentinels.listing(c, ended=True) if one.owner_id == row.id]
