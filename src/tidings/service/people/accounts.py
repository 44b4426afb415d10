"""Accounts: made, opened by a password, given another role or password, and ended.

Passwords are kept as argon2id hashes of the least strength that OWASP advises (19 MiB, two passes,
one lane): some 40 ms a try.
"""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING, Any, Final

from tidings.errors import UsageError
from tidings.service.show.records import rfc3339
from tidings.storage.people import accounts, sessions
from tidings.storage.people.accounts import ROLES, AccountRow, Role

if TYPE_CHECKING:
    from argon2 import PasswordHasher

    from tidings.model.interval import Instant
    from tidings.storage.db.connection import Connection

SHORTEST: Final = 10
"""Characters of a password at least."""
LONGEST: Final = 1_024
"""Bytes of a password at most."""
_NAME: Final = re.compile(r"[\w][\w.@-]{0,63}")


@cache
def _hasher() -> PasswordHasher:
    from argon2 import PasswordHasher  # only who signs in needs it

    return PasswordHasher(time_cost=2, memory_cost=19 * 1024, parallelism=1)


@cache
def _nobody() -> str:
    """Return the hash that a password for an unknown name is held against: it takes as long."""
    return _hasher().hash("nobody has this password")


def check_password(password: str) -> None:
    """Raise `UsageError` for a password that is too short, or longer than is hashed."""
    if len(password) < SHORTEST:
        raise UsageError(f"a password has {SHORTEST} characters at least; a few words are easy to keep")
    if len(password.encode(errors="surrogatepass")) > LONGEST:
        raise UsageError(f"a password has {LONGEST:,} bytes at most")


def hash_of(password: str) -> str:
    """Return what is kept of a password. Raises `UsageError` for one that cannot be one."""
    check_password(password)
    return _hasher().hash(password.encode(errors="surrogatepass"))


def opens(row: AccountRow | None, password: str) -> bool:
    """Say whether a password is an account's; for no account it takes as long to say no."""
    from argon2.exceptions import Argon2Error, InvalidHashError

    if len(password.encode(errors="surrogatepass")) > LONGEST:
        return False
    kept = row.password if row is not None and row.password else _nobody()
    try:
        _hasher().verify(kept, password.encode(errors="surrogatepass"))
    except (Argon2Error, InvalidHashError):
        return False
    return row is not None and bool(row.password)


def renew_hash(row: AccountRow, password: str) -> str | None:
    """Return a password's hash by today's strength, None if the one that is kept has it."""
    return hash_of(password) if _hasher().check_needs_rehash(row.password) else None


def add(c: Connection, name: str, role: str, password_hash: str, *, at: Instant) -> AccountRow:
    """Make an account. Raises `UsageError` for a name or a role that is none.

    Args:
        name: By which its owner signs in.
        role: reader, editor or admin.
        password_hash: What is kept of its password; empty for one that only a proxy opens.
        at: When it is made (µs).
    """
    if not _NAME.fullmatch(name):
        raise UsageError("the name of a user has 1 to 64 letters, digits, dots, @, - and _")
    return accounts.add(c, name, role_of(role), password_hash, at=at)


def role_of(text: str) -> Role:
    """Return a role. Raises `UsageError` for a text that is none."""
    for role in ROLES:
        if role == text:
            return role
    raise UsageError(f"there is no role {text!r}; there are {', '.join(ROLES)}")


def set_role(c: Connection, name: str, role: str) -> None:
    """Give an account another role; its sessions end. Raises `UsageError` if no admin would be
    left.
    """
    row = accounts.get_by_name(c, name)
    wanted = role_of(role)
    if wanted != "admin":
        check_not_last(c, row)
    accounts.alter(c, row.id, role=wanted)
    sessions.end_all(c, row.id)


def set_password(c: Connection, name: str, password_hash: str) -> None:
    """Give an account another password; its sessions end."""
    row = accounts.get_by_name(c, name)
    accounts.alter(c, row.id, password=password_hash)
    sessions.end_all(c, row.id)


def check_not_last(c: Connection, row: AccountRow) -> None:
    """Raise `UsageError` if an account is the only admin while others have accounts."""
    others = [one for one in accounts.listing(c) if one.id != row.id]
    if row.role == "admin" and others and not any(one.role == "admin" for one in others):
        raise UsageError(f"{row.name} is the only admin; make another one first: `tidings user role NAME admin`")


def record(row: AccountRow) -> dict[str, Any]:
    """Return an account as a record, without its password."""
    return {"record": "user", "name": row.name, "role": row.role, "created_at": rfc3339(row.created_at)}
