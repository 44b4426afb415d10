"""Composite parts: what a sentinel compares on each of its pages, and how the results are combined
(sentinels §4.5).

Most sentinels have one comparison per page, and report a change when it is found. Where parts of
several pages must meet, or content and answer are combined, or other pages are polled when the
Monitor clause holds, each page's changes are *parts*: stored as evidence, quiet, and reported
together.
"""

from __future__ import annotations

from collections import defaultdict
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

from tidings.detection.ask.across import Alternatives, Leaf, Meeting, join, leaves, meetings
from tidings.detection.kinds.interests import interests_of, is_across
from tidings.language import expressions
from tidings.model.event_type import EventType
from tidings.model.watch.interest import AnyOf, Expression, Interest
from tidings.model.watch.sentinel import LISTING
from tidings.record import dataclass

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tidings.model.watch.sentinel import Sentinel

PART = EventType.CHANGE_PART
"""The event of a change that is only reported with others."""


class AskedComparison(NamedTuple):
    """One comparison of a page: its number within the sentinel, its expression, and the name of its
    changes; `is_part`: reported only with others.
    """

    number: int
    expression: Expression
    named: Expression
    is_part: bool = False

    @property
    def kind(self) -> str:
        """Return the kind of its changes."""
        return expressions.to_text(self.named)


@dataclass(frozen=True, slots=True)
class CompositeParts:
    """The Monitor and Then clauses of a sentinel, page by page.

    `whole` is the expression over pages, `leaves` what single pages decide, `meetings` what several
    do, inner ones first. `shown` are the names of pages that only Then names, which are polled when
    it says so.
    """

    whole: Alternatives
    leaves: tuple[Leaf, ...]
    meetings: tuple[Meeting, ...]
    shown: tuple[str, ...]
    waits: bool
    """whether changes are combined, or other pages polled, before they are reported"""
    by_page: Mapping[str, tuple[AskedComparison, ...]]
    """the comparisons on the page of each name"""

    def list_asked(self, page: str) -> tuple[AskedComparison, ...]:
        """Return the comparisons on the page of a name."""
        return self.by_page.get(page, ())


@lru_cache(maxsize=4_096)
def composite_parts_of(sentinel: Sentinel) -> CompositeParts:
    """Return what a sentinel compares on its pages."""
    names = tuple(page.name or "" for page in sentinel.pages)
    whole = join(sentinel.monitor, names)
    own = leaves(whole)
    named = dict.fromkeys(name for then in sentinel.then for name in then.pages)
    decided = {leaf.page for leaf in own}
    shown = tuple(name for name in named if name not in decided)
    waits = bool(sentinel.then) or is_across(sentinel.monitor)
    at_once = frozenset[Leaf]() if sentinel.then else frozenset(whole.parts)
    by_page = defaultdict[str, tuple[AskedComparison, ...]](tuple)
    for number, leaf in enumerate(own):
        is_part = waits and leaf not in at_once
        by_page[leaf.page] += (AskedComparison(number, leaf.expression, leaf.expression, is_part=is_part),)
    for number, page in enumerate(shown, len(own)):
        sought = Interest("any", of=page)
        by_page[page] += (AskedComparison(number, sought, sought, is_part=True),)
    return CompositeParts(whole, own, tuple(dict.fromkeys(meetings(whole))), shown, waits, by_page)


def list_asked(sentinel: Sentinel, page: str) -> tuple[AskedComparison, ...]:
    """Return a sentinel's comparisons on its page of a name."""
    if sentinel.scope is not None:
        parts = listing_parts(sentinel.monitor) if page == LISTING else page_parts(sentinel.monitor)
        return tuple(AskedComparison(number, part, part) for number, part in enumerate(parts))
    if len(sentinel.pages) == 1 and not sentinel.then and not is_across(sentinel.monitor):
        return (AskedComparison(0, sentinel.monitor, sentinel.monitor),)
    joint = composite_parts_of(sentinel)
    asked = joint.list_asked(page)
    if joint.waits:
        return asked
    return tuple(one._replace(named=sentinel.monitor) for one in asked)


def listing_parts(expression: Expression) -> tuple[Expression, ...]:
    """Return what a collection asks of its list of pages."""
    return tuple(part for part in _choices(expression) if any(one.of == LISTING for one in interests_of(part)))


def page_parts(expression: Expression) -> tuple[Expression, ...]:
    """Return what a collection asks of each of its pages."""
    return tuple(part for part in _choices(expression) if all(one.of != LISTING for one in interests_of(part)))


def _choices(expression: Expression) -> tuple[Expression, ...]:
    return expression.parts if isinstance(expression, AnyOf) else (expression,)


def kind_of(leaf: Leaf) -> str:
    """Return the kind of a leaf's changes."""
    return expressions.to_text(leaf.expression)
