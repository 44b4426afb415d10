"""Rows of secrets, by owner and name, encrypted by `vault` (I-9). Addresses of endpoints are among
them.
"""

from __future__ import annotations

from dataclasses import field
from typing import Any

from tidings.model.interval import Instant
from tidings.record import dataclass
from tidings.storage.db.connection import Connection

_COLUMNS = "owner_id, name, kind, key_id, value, set_at"
_SELECT = f"SELECT {_COLUMNS} FROM secret"
_PUT = (
    f"INSERT INTO secret ({_COLUMNS}) VALUES (:owner_id, :name, :kind, :key_id, :value, :set_at)"
    " ON CONFLICT (owner_id, name) DO UPDATE SET kind = excluded.kind, key_id = excluded.key_id, value = excluded.value,"
    " set_at = excluded.set_at"
)


@dataclass(frozen=True, slots=True)
class SecretRow:
    """A stored secret. `value` is encrypted by the key `key_id`; an empty `key_id` marks a value
    from before there were keys.
    """

    owner_id: int
    name: str
    kind: str
    key_id: str
    value: str = field(repr=False)
    set_at: Instant


def row(c: Connection, name: str, *, owner_id: int = 1) -> SecretRow | None:
    """Return the row of that name, or None."""
    found = c.one(f"{_SELECT} WHERE owner_id = :owner_id AND name = :name", owner_id=owner_id, name=name)
    return None if found is None else SecretRow(*found)


def get(c: Connection, name: str, *, owner_id: int = 1) -> str | None:
    """Return the stored, encrypted value, or None."""
    found = row(c, name, owner_id=owner_id)
    return None if found is None else found.value


def put(
    c: Connection, name: str, value: str, *, owner_id: int = 1, kind: str = "text", key_id: str = "", at: Instant = 0
) -> None:
    """Store an encrypted value under a name, replacing an older one.

    Args:
        name: What users call the secret.
        value: The encrypted value, Base64.
        owner_id: The owner.
        kind: Its purpose.
        key_id: The key that encrypts it.
        at: When it is set (µs).
    """
    values: dict[str, Any] = {"kind": kind, "key_id": key_id, "value": value, "set_at": at}
    c.execute(_PUT, owner_id=owner_id, name=name, **values)


def drop(c: Connection, name: str, *, owner_id: int = 1) -> bool:
    """Delete a secret; return False if there is none of that name."""
    return c.execute("DELETE FROM secret WHERE owner_id = :owner_id AND name = :name", owner_id=owner_id, name=name) > 0


def listing(c: Connection, *, owner_id: int | None = None) -> list[SecretRow]:
    """Return the rows of one owner, or of all, by owner and name."""
    rows = [SecretRow(*found) for found in c.rows(f"{_SELECT} ORDER BY owner_id, name")]
    return [found for found in rows if owner_id in {None, found.owner_id}]


def names(c: Connection, *, owner_id: int = 1) -> list[str]:
    """Return the names, never the secrets."""
    return sorted(found.name for found in listing(c, owner_id=owner_id))
