"""Tokens of programs and sessions of people who signed in, both stored as hashes. A token has a
scope, and is for an account or for the installation itself.
"""

from __future__ import annotations

from typing import Final, Literal

from tidings.clock import DAY, MINUTE
from tidings.errors import UnknownNameError, UsageError
from tidings.model.interval import Instant
from tidings.record import dataclass
from tidings.storage.db.connection import Connection
from tidings.storage.people import accounts
from tidings.storage.people.accounts import AccountRow

Scope = Literal["read", "edit", "admin"]
SCOPES: tuple[Scope, ...] = ("read", "edit", "admin")


@dataclass(frozen=True, slots=True)
class TokenRow:
    """A token without its secret; `owner_id` is its owner, `used_at` its last use (to the hour)."""

    id: int
    owner_id: int
    name: str
    scope: Scope
    created_at: Instant
    expires_at: Instant | None
    used_at: Instant | None


_SELECT = "SELECT id, owner_id, name, scope, created_at, expires_at, used_at FROM token"
_INSERT = (
    "INSERT INTO token (owner_id, name, hash, scope, created_at, expires_at)"
    " VALUES (:owner_id, :name, :hash, :scope, :at, :expires_at)"
    " ON CONFLICT (name) DO NOTHING RETURNING id"
)


def add(
    c: Connection,
    *,
    name: str,
    digest: str,
    scope: Scope,
    owner_id: int,
    at: Instant,
    expires_at: Instant | None = None,
) -> TokenRow:
    """Store a token and return its row. Raise `UsageError` if its name is taken.

    Args:
        name: The name by which it is revoked.
        digest: SHA-256 of the token.
        scope: What its holder may do.
        owner_id: The owner.
        at: When it is made (µs).
        expires_at: When it ends (µs); None for never.
    """
    given = {"owner_id": owner_id, "name": name, "hash": digest, "scope": scope}
    id_ = c.value(_INSERT, **given, at=at, expires_at=expires_at)
    if id_ is None:
        raise UsageError(f"the token {name} already exists; `tidings token revoke {name}` ends it")
    return TokenRow(int(id_), owner_id, name, scope, at, expires_at, None)


def by_hash(c: Connection, digest: str, *, now: Instant) -> TokenRow | None:
    """Return the token of a hash, None if there is none or it has expired."""
    row = c.one(f"{_SELECT} WHERE hash = :hash AND (expires_at IS NULL OR expires_at > :now)", hash=digest, now=now)
    return None if row is None else TokenRow(*row)


def use(c: Connection, id: int, at: Instant) -> None:
    """Store when a token was last used."""
    c.execute("UPDATE token SET used_at = :at WHERE id = :id", id=id, at=at)


def listing(c: Connection, *, owner_id: int | None = None) -> list[TokenRow]:
    """Return the tokens by name, of one owner or of all."""
    rows = [TokenRow(*row) for row in c.rows(f"{_SELECT} ORDER BY name")]
    return [row for row in rows if owner_id in {None, row.owner_id}]


def revoke(c: Connection, name: str, *, owner_id: int | None = None) -> None:
    """Revoke a token, of one owner or of any. Raise `UnknownNameError` if there is none of that
    name.
    """
    if name not in {row.name for row in listing(c, owner_id=owner_id)}:
        raise UnknownNameError(f"there is no token {name}; `tidings token list` shows all")
    c.execute("DELETE FROM token WHERE name = :name", name=name)


IDLE: Final = 14 * DAY
"""An unused session ends after this time."""
LONGEST: Final = 90 * DAY
"""Every session ends after this time."""
NOTED_EVERY: Final = 10 * MINUTE


def begin_session(c: Connection, digest: str, owner_id: int, at: Instant) -> None:
    """Begin a session.

    Args:
        digest: SHA-256 of the session's id.
        owner_id: Who has signed in.
        at: When (µs).
    """
    c.execute(
        "INSERT INTO session (hash, owner_id, created_at, used_at) VALUES (:digest, :owner_id, :at, :at)",
        digest=digest,
        owner_id=owner_id,
        at=at,
    )
    old = {"idle": at - IDLE, "longest": at - LONGEST}
    c.execute("DELETE FROM session WHERE used_at < :idle OR created_at < :longest", **old)


def find_session(c: Connection, digest: str, now: Instant) -> tuple[AccountRow, Instant] | None:
    """Return the account of a session and when its use was last stored; None if it has ended."""
    row = c.one("SELECT owner_id, created_at, used_at FROM session WHERE hash = :digest", digest=digest)
    if row is None or now - row[2] > IDLE or now - row[1] > LONGEST:
        return None
    account = accounts.get(c, row[0])
    return None if account is None else (account, row[2])


def use_session(c: Connection, digest: str, at: Instant) -> None:
    """Store that a session is in use."""
    c.execute("UPDATE session SET used_at = :at WHERE hash = :digest", digest=digest, at=at)


def end_session(c: Connection, digest: str) -> None:
    """End a session."""
    c.execute("DELETE FROM session WHERE hash = :digest", digest=digest)


def end_sessions(c: Connection, owner_id: int) -> None:
    """End all sessions of an account."""
    c.execute("DELETE FROM session WHERE owner_id = :owner_id", owner_id=owner_id)


def clear_sessions(c: Connection) -> None:
    """End the sessions of all accounts."""
    c.execute("DELETE FROM session")
