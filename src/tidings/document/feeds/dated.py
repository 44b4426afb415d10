"""The newest date of the entries of a feed."""

from __future__ import annotations

from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from itertools import islice
from typing import Any, Final

from tidings.document.data.structured import local_name
from tidings.model.interval import SECOND, Instant

_DATES: Final = frozenset({"updated", "modified", "published", "issued", "pubDate", "date"})
MOST_DATED: Final = 2_000
_LONGEST: Final = 40


def newest_of(root: Any) -> Instant | None:
    """Return the newest date of the entries of a feed, None if none can be read. The feed's own
    build date is ignored.
    """
    entries = islice(root.iter("{*}entry", "{*}item"), MOST_DATED)
    dates = (instant_of(child.text) for entry in entries for child in entry if local_name(child) in _DATES)
    return max((at for at in dates if at is not None), default=None)


def instant_of(text: str | None) -> Instant | None:
    """Return the instant of a date by RFC 3339 or RFC 822; one without a zone is in UTC."""
    said = (text or "").strip()
    if not 0 < len(said) <= _LONGEST:
        return None
    try:
        at = datetime.fromisoformat(said) if said[0].isdigit() and said[4:5] == "-" else parsedate_to_datetime(said)
        return round((at if at.tzinfo else at.replace(tzinfo=UTC)).timestamp() * SECOND)
    except (ValueError, OverflowError):
        return None
