"""What a change is made of that was found on several pages, or that other pages were polled for (sentinels §4.5; 001 §2.1)."""

from __future__ import annotations

from typing import Literal

from tidings.model.interval import Instant
from tidings.model.observed.change import ChangeSet
from tidings.record import dataclass

Verdict = Literal["complete", "partial", "missed", "undecided"]


@dataclass(frozen=True, slots=True, kw_only=True)
class PagePart:
    """What one page has to do with it.

    `changed`: the change `change_id`, between two versions. `unchanged`: the page was polled, at `at`, and shows version `to_seq`, titled `title`, as
    before. `missed`: it was not polled, `reason` says why. `name` is the page's in the sentinel, `url` its address as it was given.
    """

    page_id: int
    url: str
    name: str
    status: Literal["changed", "unchanged", "missed"]
    at: Instant | None = None
    change_id: str | None = None
    from_seq: int = 0
    to_seq: int = 0
    found: ChangeSet = ChangeSet()
    summary: str = ""
    title: str = ""
    modified_at: Instant | None = None
    reason: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Composite:
    """The parts of a change, in the order of the sentinel's pages.

    `complete`: all that was asked for is there. `partial`: some of the pages that were to be polled were not; `missed`: none of them
    was. `undecided`: whether a page that may not have changed did is not known, for nobody polled it in time. `reason` is a sentence.
    """

    verdict: Verdict
    parts: tuple[PagePart, ...]
    reason: str = ""
