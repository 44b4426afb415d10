"""Convert values to columns and back: JSON, booleans, texts from pages."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from typing import Any, TypeVar

from tidings.errors import StoreDamagedError

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


def to_bytes(text: str | None) -> bytes | None:
    """Return a header's value byte for byte (a surrogate stands for a byte that is not UTF-8)."""
    return None if text is None else text.encode("utf-8", "surrogatepass")


def from_bytes(value: Any) -> str | None:
    """Return the value that `to_bytes` was given."""
    return None if value is None else bytes(value).decode("utf-8", "surrogatepass")
