"""Why a page is polled: a value that steers, and that is stored; the sentence for people is made where it is shown (`service/show/reasons`)."""

from __future__ import annotations

from enum import StrEnum
from typing import Final

from tidings.record import dataclass


class Why(StrEnum):
    """The kinds of reasons for a poll; the texts are stored and never change."""

    ASKED = "asked"
    """somebody asked for it"""
    EVENT = "event"
    """an event of other origin, by its name, asked for it"""
    EVENT_LATE = "event late"
    """the same, when its time was over"""
    TOGETHER = "together"
    """a change on another page, with which this one's counts to the end of a window"""
    THEN = "then"
    """a Then, within a time"""
    EXPECTED = "expected"
    """an update was expected, to be seen within a time"""
    OVERDUE = "overdue"
    """the same, when the time was over"""
    INTERVAL = "interval"
    """a fixed interval or a time of day"""
    OPENING = "opening"
    """the same, moved to where the hours of its sentinel begin"""
    SECOND = "second"
    """a second poll, to tell noise from news; nobody is told what it brings before the next poll of their own"""
    CHANGE = "change"
    """the policy's bid"""
    EASED = "eased"
    """the same, later by a time, since the server said that the page stays fresh"""
    SPARE = "spare"
    """the same, sooner, since the budget has polls to spare"""
    FRAME = "frame"
    """it is a frame of another page; robots.txt is not obeyed for the reason that is named, if one is"""
    SITEMAP = "sitemap"
    """it is a sitemap"""
    OTHER = ""
    """what an older version has stored and no kind is known of; the text says it all"""


_OLD: Final = (
    ("asked for", Why.ASKED),
    ("second look, to tell noise from news", Why.SECOND),
    ("on change, sooner", Why.SPARE),
    ("on change, ", Why.EASED),
    ("on change", Why.CHANGE),
    ("interval, moved", Why.OPENING),
    ("interval", Why.INTERVAL),
    ("an update was expected", Why.EXPECTED),
    ("the look for an expected update is late", Why.OVERDUE),
    ("needed to the end of a window", Why.TOGETHER),
    ("needed within ", Why.THEN),
    ("event ", Why.EVENT),
    ("frame", Why.FRAME),
    ("sitemap", Why.SITEMAP),
)
"""How the sentences begin that were stored before kinds were, the longer of two that begin alike first."""

_KINDS: Final = {str(why): why for why in Why if why is not Why.OTHER}


@dataclass(frozen=True, slots=True)
class PollReason:
    """Why a page is polled; `of` is what the sentence names: an event, a length of time. An old one has its `sentence` from the store."""

    why: Why
    of: str = ""
    sentence: str = ""

    @property
    def stored(self) -> str:
        """Return the text under which it is stored."""
        return self.sentence or (f"{self.why}: {self.of}" if self.of else str(self.why))

    @classmethod
    def read(cls, text: str) -> PollReason:
        """Return the reason that is stored as `text`, also by an older version of Tidings."""
        kind, _, of = text.partition(": ")
        if kind in _KINDS:
            return cls(_KINDS[kind], of)
        return cls(next((why for begin, why in _OLD if text.startswith(begin)), Why.OTHER), sentence=text)
