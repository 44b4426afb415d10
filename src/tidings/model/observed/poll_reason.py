"""Why a page is polled: a stored value; the sentence for people is made where it is shown
(`service/show/records`).
"""

from __future__ import annotations

from enum import StrEnum
from typing import Final

from tidings.record import dataclass


class Why(StrEnum):
    """The kinds of reasons for a poll; the texts are stored and never change."""

    ASKED = "asked"
    """a user asked for it"""
    EVENT = "event"
    """an outside event, by its name, asked for it"""
    EVENT_LATE = "event late"
    """the same, after its time was over"""
    TOGETHER = "together"
    """a change on another page, with which this page's change counts until the end of a window"""
    THEN = "then"
    """a Then clause, within a time"""
    EXPECTED = "expected"
    """a predicted update, to be seen within a time"""
    OVERDUE = "overdue"
    """the same, after the time was over"""
    INTERVAL = "interval"
    """a fixed interval or a time of day"""
    OPENING = "opening"
    """the same, moved to the start of the sentinel's opening hours"""
    SECOND = "second"
    """a second poll, to tell noise from a change; its result is reported only by the next scheduled
    poll
    """
    CHANGE = "change"
    """the policy's bid"""
    EASED = "eased"
    """the same, later by a time, because the server says that the page stays fresh"""
    SPARE = "spare"
    """the same, sooner, because the budget has polls to spare"""
    FRAME = "frame"
    """it is a frame of another page; if robots.txt is ignored, the reason is given"""
    SITEMAP = "sitemap"
    """it is a sitemap"""
    OTHER = ""
    """stored by an older version, of unknown kind; the text is the whole reason"""


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
"""How sentences stored by older versions begin; longer prefixes first."""

_KINDS: Final = {str(why): why for why in Why if why is not Why.OTHER}


@dataclass(frozen=True, slots=True)
class PollReason:
    """Why a page is polled; `of` is what the sentence names: an event, a duration. An old one has
    its stored `sentence`.
    """

    why: Why
    of: str = ""
    sentence: str = ""

    @property
    def stored(self) -> str:
        """Return the text that is stored."""
        return self.sentence or (f"{self.why}: {self.of}" if self.of else str(self.why))

    @classmethod
    def read(cls, text: str) -> PollReason:
        """Return the reason stored as `text`, also by an older version of Tidings."""
        kind, _, of = text.partition(": ")
        if kind in _KINDS:
            return cls(_KINDS[kind], of)
        return cls(next((why for begin, why in _OLD if text.startswith(begin)), Why.OTHER), sentence=text)
