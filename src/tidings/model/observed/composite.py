"""Changes that combine several pages, or for which other pages were polled (sentinels §4.5; 001
§2.1).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from tidings.model.interval import Instant
from tidings.model.observed.change import ChangeSet

Verdict = Literal["complete", "partial", "missed", "undecided"]


@dataclass(frozen=True, slots=True, kw_only=True)
class PagePart:
    """The part of one page in a composite change.

    `changed`: the change `change_id`, between two versions. `unchanged`: the page was polled at
    `at` and still shows version `to_seq`, titled `title`. `missed`: it was not polled; `reason`
    says why. `name` is the page's name in the sentinel, `url` its address as given.
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

    `complete`: every part is there. `partial`: some of the pages that were to be polled were not;
    `missed`: none of them was. `undecided`: a page was not polled in time, so it is unknown whether
    it changed. `reason` is a sentence.
    """

    verdict: Verdict
    parts: tuple[PagePart, ...]
    reason: str = ""
