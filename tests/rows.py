"""All rows of a database, to see that something leaves them as they are."""

from __future__ import annotations

from typing import Any

_TABLES = {
    "sqlite": "SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name",
    "postgresql": "SELECT table_name FROM information_schema.tables WHERE table_schema = current_schema() ORDER BY 1",
}


def list_rows(c: Any) -> dict[str, list[str]]:
    """Return the rows of each table as texts, in no order that matters."""
    return {
        name: sorted(repr(tuple(row)) for row in c.rows(f"SELECT * FROM {name}"))
        for (name,) in c.rows(_TABLES[c.dialect])
    }


def list_changed(before: dict[str, list[str]], after: dict[str, list[str]]) -> list[str]:
    """Return the tables whose rows differ."""
    return [name for name in before if before[name] != after[name]]
