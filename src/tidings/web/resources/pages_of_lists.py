"""Cursor pagination: a cursor is the key of the last returned item, so that nothing is repeated or
skipped while items arrive.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime
from http import HTTPStatus
from typing import TYPE_CHECKING, Any, TypeVar

from tidings.clock import SECOND
from tidings.web.problems import ProblemError

if TYPE_CHECKING:
    from tidings.model.interval import Instant

T = TypeVar("T")


def page(found: Sequence[T], limit: int, record: Callable[[T], Any], key: Callable[[T], object]) -> dict[str, Any]:
    """Return one page of a list, given up to `limit` + 1 items.

    Args:
        found: The items.
        limit: Most items of a page.
        record: Returns the record of an item.
        key: Returns the key of an item, the next page's cursor.
    """
    shown = found[:limit]
    more = str(key(shown[-1])) if len(found) > limit else None
    return {"items": [record(one) for one in shown], "next": more}


def after_number(cursor: str, *, first: int) -> int:
    """Return the number in a cursor, `first` for none. Raises `ProblemError` for one not from this
    service.
    """
    if not cursor:
        return first
    if not (cursor.isascii() and cursor.isdecimal() and len(cursor) < 19):
        raise foreign()
    return int(cursor)


def foreign() -> ProblemError:
    """Return the error for a cursor not from this service."""
    message = "there is no item in this list at which the cursor points"
    return ProblemError(HTTPStatus.NOT_FOUND, message, hint="take `next` of the page before")


def moment(text: str | None) -> Instant | None:
    """Return the instant of an RFC 3339 date and time (µs), None for none. Raises `ProblemError`
    for an invalid one, or one without a zone.
    """
    if text is None:
        return None
    try:
        at = datetime.fromisoformat(text)
        if at.tzinfo is None or "T" not in text.upper():
            raise ValueError(text)
        return round(at.timestamp() * SECOND)
    except (ValueError, OverflowError):
        message = f"{text!r} is no date and time with its zone (RFC 3339)"
        raise ProblemError(HTTPStatus.UNPROCESSABLE_ENTITY, message, hint="such as 2026-05-01T12:00:00Z") from None
