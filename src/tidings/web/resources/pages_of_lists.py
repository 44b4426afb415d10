"""Lists page by page: a cursor is the key of the last item that was given, so that nothing is given
twice or left out while things come.
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
    """Return a page of a list of which one item more than `limit` was read, if there are so many.

    Args:
        found: The items.
        limit: How many the page holds at most.
        record: How an item is given.
        key: What the next page begins after.
    """
    shown = found[:limit]
    more = str(key(shown[-1])) if len(found) > limit else None
    return {"items": [record(one) for one in shown], "next": more}


def after_number(cursor: str, *, first: int) -> int:
    """Return the number that a cursor is, `first` for none. Raises `ProblemError` for one that this
    service has not given.
    """
    if not cursor:
        return first
    if not (cursor.isascii() and cursor.isdecimal() and len(cursor) < 19):
        raise foreign()
    return int(cursor)


def foreign() -> ProblemError:
    """Return the answer to a cursor that this service has not given."""
    message = "there is no item in this list at which the cursor points"
    return ProblemError(HTTPStatus.NOT_FOUND, message, hint="take `next` of the page before")


def moment(text: str | None) -> Instant | None:
    """Return the instant of an RFC 3339 date and time (µs), None for none. Raises `ProblemError`
    for what is none, or has no zone.
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
