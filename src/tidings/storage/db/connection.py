"""The thin wrapper around every query: constant SQL text with `:name` parameters, the same on both
databases; and the conversion of values to columns and back: JSON, booleans, texts from pages.

A statement with optional conditions is joined from constant pieces by `select`; user input is never
part of the text.

`DatabaseDriver` is the contract between `Database` and a database product; `sqlite` and `postgres`
are its two rows.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any, Protocol, TypeVar

from tidings.errors import StoreDamagedError, StoreError

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


class DatabaseDriver(Protocol):
    """One open database of one product. All methods raise errors of the tree, made by
    `translate`.
    """

    dialect: str
    single_writer: bool
    connection: Connection

    @property
    def errors(self) -> tuple[type[Exception], ...]:
        """Return the exception types of the driver's library and of the system below it."""
        ...

    @property
    def where(self) -> str:
        """Return the database's name for messages, without password."""
        ...

    def begin_read(self) -> None:
        """Begin a read-only transaction on one snapshot."""
        ...

    def begin_write(self) -> None:
        """Begin the one writing transaction: wait for others, then raise `StoreBusyError`."""
        ...

    def commit(self) -> None:
        """Make the transaction durable."""
        ...

    def has_committed(self) -> bool:
        """Return whether the last write is durable although its `commit` raised `StoreLostError`;
        reconnects to find out.
        """
        ...

    def rollback(self) -> None:
        """Roll the transaction back; a lost connection has already been rolled back."""
        ...

    def has_changed(self) -> bool:
        """Return whether another connection has committed since the last call."""
        ...

    def clear_journal(self) -> None:
        """Remove deleted content from the journal, if that can be done at once."""
        ...

    def has_table(self, name: str) -> bool:
        """Return whether a table of that name exists."""
        ...

    def copy_before(self, revision: str) -> str:
        """Store a copy of the database at `revision`; return its path, or "" if this product makes
        no copies.
        """
        ...

    def copy_to(self, path: Path) -> None:
        """Copy a consistent state of the database into a new file, while others write.

        Raise `StoreError` if this product makes no copies.
        """
        ...

    def quick_check(self, *, deep: bool = False) -> list[str]:
        """Return the faults that the product finds in its pages; `deep`: also in its indexes, which
        takes longer.
        """
        ...

    def interrupt(self) -> None:
        """Interrupt what another thread is running on this connection, with an error."""
        ...

    def translate(self, error: Exception) -> StoreError:
        """Return the error of our tree for a driver error."""
        ...

    def close(self) -> None:
        """Close the connection; closing twice is allowed."""
        ...


_encode = json.JSONEncoder(separators=(",", ":"), ensure_ascii=True, check_circular=False).encode

to_json = _encode
"""Return compact ASCII JSON; a lone surrogate and NUL survive."""


def from_json(text: str) -> Any:
    """Return the value that `to_json` was given. Raise `StoreDamagedError` for any other text."""
    try:
        return json.loads(text)
    except (ValueError, TypeError, RecursionError) as error:
        raise StoreDamagedError(
            f"a stored value is invalid ({error}): `tidings doctor` shows what can still be read; put a copy of the "
            "database back"
        ) from error


UNREADABLE = (StoreDamagedError, ValueError, TypeError, LookupError, ArithmeticError, AttributeError)
"""What the conversion of a damaged row raises."""

T = TypeVar("T")
SetAside = Callable[[tuple[Any, ...], str], None]
"""takes a row that is inconsistent, and why"""


def readable(
    rows: Iterable[tuple[Any, ...]],
    convert: Callable[[tuple[Any, ...]], T],
    what: str,
    set_aside: SetAside | None = None,
) -> list[T]:
    """Return rows as values. An inconsistent one goes to `set_aside`; without it, raise
    `StoreDamagedError`.

    Args:
        rows: Rows as the database has them.
        convert: Makes a value of a row; raises for an inconsistent one.
        what: What a row is, for the message.
        set_aside: Takes inconsistent rows; None to raise.
    """
    made: list[T] = []
    for row in rows:
        try:
            made.append(convert(row))
        except UNREADABLE as error:
            if set_aside is None:
                if isinstance(error, StoreDamagedError):
                    raise
                raise StoreDamagedError(
                    f"a stored {what} is invalid ({error}): `tidings doctor` shows what can still be read; put a "
                    "copy of the database back"
                ) from error
            set_aside(row, str(error))
    return made


_NUMBERS = frozenset({int, float, type(None)})


def check_numbers(**values: object) -> None:
    """Raise `StoreDamagedError` for a value that is neither a number nor None; a damaged SQLite
    file has any type anywhere.
    """
    if _NUMBERS.issuperset(map(type, values.values())):
        return
    for name, value in values.items():
        if value is not None and not isinstance(value, int | float):
            raise StoreDamagedError(
                f"the stored number {name} is {str(value)[:20]!r}: `tidings doctor` shows what can still be read; put a copy of the database back"
            )


def plain(text: str) -> str:
    """Return text that both databases accept: NUL and lone surrogates become U+FFFD."""
    if text.isascii() and "\0" not in text:
        return text
    return text.replace("\0", "\ufffd").encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def pattern_of(text: str) -> str:
    """Return the pattern of `LIKE … ESCAPE '!'` for lower texts that contain a text."""
    escaped = text.lower().replace("!", "!!").replace("%", "!%").replace("_", "!_")
    return f"%{escaped}%"


def to_bytes(text: str | None) -> bytes | None:
    """Return a header's value byte for byte (a surrogate stands for a byte that is not UTF-8)."""
    return None if text is None else text.encode("utf-8", "surrogatepass")


def from_bytes(value: Any) -> str | None:
    """Return the value that `to_bytes` was given."""
    return None if value is None else bytes(value).decode("utf-8", "surrogatepass")
