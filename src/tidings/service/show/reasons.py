"""Reasons: why a page was polled, as a sentence for users."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tidings.model.observed.poll_reason import PollReason, Why

if TYPE_CHECKING:
    from tidings.storage.observed.polls import PollRow

ROBOTS: Final = "robots.txt ignored"
"""Prefix of the note of a poll that ignored robots.txt and has no other note."""

_SENTENCES: Final = {
    Why.ASKED: "asked for",
    Why.EVENT: "event {}",
    Why.EVENT_LATE: "event {}, late",
    Why.TOGETHER: "needed at the end of a window (AND across pages)",
    Why.THEN: "needed within {} (Then)",
    Why.EXPECTED: "an update was predicted, to be checked within {}",
    Why.OVERDUE: "the check for a predicted update is late: it was due within {}",
    Why.INTERVAL: "interval",
    Why.OPENING: "interval, moved to the beginning of its hours",
    Why.SECOND: "second check, to separate noise from changes",
    Why.CHANGE: "on change",
    Why.EASED: "on change, {} later, because the server says that the page stays fresh",
    Why.SPARE: "on change, sooner than usual, because the budget has spare checks",
    Why.FRAME: "frame",
    Why.SITEMAP: "sitemap",
    Why.OTHER: "{}",
}


def spell_reason(reason: PollReason) -> str:
    """Return a reason as a sentence; an older version's as stored."""
    if reason.sentence or (reason.why is Why.FRAME and not reason.of):
        return reason.sentence or _SENTENCES[reason.why]
    said = _SENTENCES[reason.why].format(reason.of)
    return f"{said}; {ROBOTS}: {reason.of}" if reason.why is Why.FRAME else said


def spell_poll(row: PollRow) -> str:
    """Return why a page was polled, or its outcome if that needs explaining."""
    if row.note.startswith(ROBOTS):
        return f"{spell_reason(row.reason)}; {row.note}"
    return row.note or spell_reason(row.reason)
