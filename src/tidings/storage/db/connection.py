"""The thin wrapper around every query: constant SQL text with `:name` parameters, the same on both
databases.

A statement with optional conditions is joined from constant pieces by `select`; user input is never
part of the text.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Any, Protocol

UNLIMITED = 2**62
"""`LIMIT :limit` of a listing without a limit (SQLite takes -1, PostgreSQL does not)."""


NUMBERS = {
    "sqlite": "(SELECT value FROM json_each(:listed))",
    "postgresql": "(SELECT CAST(value AS BIGINT) FROM json_array_elements_text(CAST(:listed AS JSON)))",
}
"""The numbers of the JSON list `:listed` as a set, by dialect."""
NAMES = {
    "sqlite": "(SELECT value FROM json_each(:listed))",
    "postgresql": "(SELECT value FROM json_array_elements_text(CAST(:listed AS JSON)))",
}
"""The same for texts."""


Rows = Sequence[Mapping[str, Any]] | Sequence[Sequence[Any]]
"""Parameters for repeated runs of one statement: values by name, or in the order in which the text
names them.
"""

_TOKENS = re.compile(r"""'(?:[^']|'')*'|"[^"]*"|::|:([a-z_][a-z0-9_]*)|%""")


class Cursor(Protocol):
    """The part of a DB-API cursor that is used."""

    @property
    def rowcount(self) -> int:
        """Return how many rows the statement wrote."""
        ...

    def fetchone(self) -> Any:
        """Return the next row, or None."""
        ...

    def fetchall(self) -> list[Any]:
        """Return the remaining rows."""
        ...


class Connection:
    """An open connection inside a transaction that `Database.read` or `Database.write` began.

    `dialect` is sqlite or postgresql. `run` and `run_many` are the driver's functions; they take
    text and parameters by name.
    """

    __slots__ = ("_run", "_run_many", "dialect")

    def __init__(
        self,
        dialect: str,
        run: Callable[[str, Mapping[str, Any]], Cursor],
        run_many: Callable[[str, Rows], Cursor],
    ) -> None:
        self.dialect = dialect
        self._run = run
        self._run_many = run_many

    def execute(self, text: str, /, **parameters: Any) -> int:
        """Run one statement; return how many rows it wrote."""
        return self._run(text, parameters).rowcount

    def many(self, text: str, rows: Sequence[Mapping[str, Any]]) -> int:
        """Run a writing statement for each row of parameters; return how many rows it wrote in
        all.
        """
        return self._run_many(text, rows).rowcount if rows else 0

    def batch(self, text: str, rows: Sequence[Sequence[Any]]) -> int:
        """Run a writing statement for each row; faster than `many`. Values are in the order in
        which the text names them, each name once.
        """
        return self._run_many(text, rows).rowcount if rows else 0

    def rows(self, text: str, /, **parameters: Any) -> list[tuple[Any, ...]]:
        """Return all rows of a query."""
        return self._run(text, parameters).fetchall()

    def one(self, text: str, /, **parameters: Any) -> tuple[Any, ...] | None:
        """Return the first row of a query, or None."""
        row: tuple[Any, ...] | None = self._run(text, parameters).fetchone()
        return row

    def value(self, text: str, /, **parameters: Any) -> Any:
        """Return the first column of the first row, or None."""
        row = self._run(text, parameters).fetchone()
        return None if row is None else row[0]


@lru_cache(maxsize=1024)
def rewrite(text: str, mark: str, percent: str = "%") -> str:
    """Return a text with `mark` for each `:name` ("{}" in it is replaced by the name) and `percent`
    for each %.

    Quoted parts and `::` stay unchanged.
    """
    return _TOKENS.sub(lambda token: mark.format(token[1]) if token[1] else token[0].replace("%", percent), text)


def select(base: str, conditions: Iterable[str], tail: str = "") -> str:
    """Return a query of constant pieces: `base`, the conditions joined by AND, `tail`."""
    given = " AND ".join(conditions)
    return f"{base} WHERE {given} {tail}" if given else f"{base} {tail}"
