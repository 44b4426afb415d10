"""A collection as it stands, in words and numbers: counts, and what is left out and why."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any, Final

from tidings.model.watch.collection import Scope
from tidings.record import dataclass
from tidings.service.show.finding import spell_count
from tidings.service.show.records import rfc3339
from tidings.service.watch.watchlist import meaning
from tidings.storage.watches import collections, sentinels

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tidings.storage.db.connection import Connection
    from tidings.storage.watches.collections import CollectionPage

NO_SCOPE: Final = Scope((), 0, 0.0)
"""That of a sentinel that is no collection."""
_BEGINNINGS = ("leads to", "says the same as")
"""Reasons that name an address, which is left out where they are counted."""


@dataclass(frozen=True, slots=True)
class CollectionReport:
    """`watched` pages, addresses that `wait` for their first fetch, pages that are `gone`, and
    those left out by reason, the most first.
    """

    scope: Scope
    watched: int
    wait: int
    gone: int
    left: Sequence[tuple[str, int]]

    @property
    def left_count(self) -> int:
        """Return how many addresses are left out."""
        return sum(count for _, count in self.left)

    def lines(self) -> list[str]:
        """Return it in words."""
        said = [f"{spell_count(self.watched, 'page')} watched"]
        if self.wait:
            said.append(f"{self.wait:,} found and not fetched yet")
        if self.gone:
            said.append(f"{self.gone:,} gone")
        lines = [", ".join(said)]
        if self.left:
            reasons = "; ".join(f"{count:,}: {reason}" for reason, count in self.left[:5])
            lines.append(f"left out: {reasons}")
        return lines

    def record(self) -> dict[str, Any]:
        """Return it as a record."""
        return {
            "scope": list(self.scope.patterns),
            "depth": self.scope.depth,
            "budget_a_day": self.scope.budget,
            "watched": self.watched,
            "waiting": self.wait,
            "gone": self.gone,
            "left_out": [{"reason": reason, "count": count} for reason, count in self.left],
        }


def report(c: Connection, sentinel_id: int, scope: Scope) -> CollectionReport:
    """Return how a collection stands."""
    counts = collections.count(c, sentinel_id)
    left: Counter[str] = Counter()
    for reason, count in collections.count_reasons(c, sentinel_id):
        left[next((f"{words} another page" for words in _BEGINNINGS if reason.startswith(words)), reason)] += count
    return CollectionReport(
        scope, counts.get("watched", 0), counts.get("found", 0), counts.get("gone", 0), left.most_common()
    )


def read_published(c: Connection, sentinel_id: int) -> list[tuple[str, str]] | None:
    """Return the published list of pages, None if `lacks_pages`."""
    return None if lacks_pages(c, sentinel_id) else collections.list_published(c, sentinel_id)


def lacks_pages(c: Connection, sentinel_id: int) -> bool:
    """Return whether a collection that follows links has read all that it knows and has nothing but
    its first pages.
    """
    scope = meaning(sentinels.get(c, sentinel_id).text).scope or NO_SCOPE
    return scope.depth > 0 and collections.is_read_in_vain(c, sentinel_id)


def page_record(page: CollectionPage) -> dict[str, Any]:
    """Return a page of a collection as a record."""
    return {
        "url": page.url,
        "title": page.title,
        "page": str(page.page_id),
        "checked_at": rfc3339(page.checked_at),
        "changed_at": rfc3339(page.changed_at),
        "changes": page.changes,
        "health": page.health,
        "found_at": rfc3339(page.found_at),
    }
