"""Secrets by name. No other table holds a secret, and no listing shows one (trust.md I-9)."""

from __future__ import annotations

from tidings.storage.connection import Connection

_PUT = "INSERT INTO secret (name, value) VALUES (:name, :value) ON CONFLICT (name) DO UPDATE SET value = excluded.value"


def get(c: Connection, name: str) -> str | None:
    """Return a secret, or None."""
    found: str | None = c.value("SELECT value FROM secret WHERE name = :name", name=name)
    return found


def put(c: Connection, name: str, value: str) -> None:
    """Keep a secret under a name; an older one is replaced."""
    c.execute(_PUT, name=name, value=value)


def names(c: Connection) -> list[str]:
    """Return the names, never the secrets."""
    return sorted(row[0] for row in c.rows("SELECT name FROM secret"))
