"""Sessions of people who signed in: stored as hashes of their browsers' tokens."""

from __future__ import annotations

from typing import Final

from tidings.clock import DAY, MINUTE
from tidings.model.interval import Instant
from tidings.storage.db.connection import Connection
from tidings.storage.people import accounts
from tidings.storage.people.accounts import AccountRow

IDLE: Final = 14 * DAY
"""An unused session ends after this time."""
LONGEST: Final = 90 * DAY
"""Every session ends after this time."""
NOTED_EVERY: Final = 10 * MINUTE


def begin(c: Connection, digest: str, owner_id: int, at: Instant) -> None:
    """Begin a session."""
    c.execute(
        "INSERT INTO session (hash, owner_id, created_at, used_at) VALUES (:digest, :owner_id, :at, :at)",
        digest=digest,
        owner_id=owner_id,
        at=at,
    )
    old = {"idle": at - IDLE, "longest": at - LONGEST}
    c.execute("DELETE FROM session WHERE used_at < :idle OR created_at < :longest", **old)


def find(c: Connection, digest: str, now: Instant) -> tuple[AccountRow, Instant] | None:
    """Return the account of a session and when its use was last stored; None if it has ended."""
    row = c.one("SELECT owner_id, created_at, used_at FROM session WHERE hash = :digest", digest=digest)
    if row is None or now - row[2] > IDLE or now - row[1] > LONGEST:
        return None
    account = accounts.get(c, row[0])
    return None if account is None else (account, row[2])


def use(c: Connection, digest: str, at: Instant) -> None:
    """Store that a session is in use."""
    c.execute("UPDATE session SET used_at = :at WHERE hash = :digest", digest=digest, at=at)


def end(c: Connection, digest: str) -> None:
    """End a session."""
    c.execute("DELETE FROM session WHERE hash = :digest", digest=digest)


def end_all(c: Connection, owner_id: int) -> None:
    """End all sessions of an account."""
    c.execute("DELETE FROM session WHERE owner_id = :owner_id", owner_id=owner_id)


def clear(c: Connection) -> None:
    """End the sessions of all accounts."""
    c.execute("DELETE FROM session")
