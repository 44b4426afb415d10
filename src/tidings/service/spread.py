"""Spread: what would fall on one instant is drawn apart, each time by the same share for the same key (trust.md P-9, F-32).

No chance is used: who asks again computes the same, so that a restart moves nothing.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Final

from xxhash import xxh3_64_intdigest

from tidings.clock import HOUR, SECOND

if TYPE_CHECKING:
    from tidings.model.interval import Duration, Instant

MOST: Final = 0.2
"""Largest part of itself by which a wait is lengthened."""
CROWD: Final = 8
"""Pages that may fall due within one second before they are drawn apart."""


def share(key: str | int, turn: int = 0) -> float:
    """Return a number in [0, 1) that is even over all keys and, for one key, over its turns."""
    return xxh3_64_intdigest(f"{key} {turn}".encode()) / 2.0**64


def lengthened(duration: Duration, key: str | int, turn: int = 0) -> Duration:
    """Return a wait (µs) that is never shorter than it was said to be and up to a fifth longer."""
    return round(duration * (1 + MOST * share(key, turn)))


class Crowds:
    """Counts how many pages fall due within each second, `pages` of them in all."""

    def __init__(self) -> None:
        self._counts: Counter[int] = Counter()
        self._second: dict[int, int] = {}

    def enter(self, page_id: int, due: Instant, *, pages: int) -> bool:
        """Note when a page falls due; say whether too many do so in that second."""
        self.leave(page_id)
        second = self._second[page_id] = due // SECOND
        self._counts[second] += 1
        return self._counts[second] > allowed(pages)

    def leave(self, page_id: int) -> None:
        """Forget what was noted of a page."""
        second = self._second.pop(page_id, None)
        if second is not None:
            self._counts[second] -= 1
            if not self._counts[second]:
                del self._counts[second]


def allowed(pages: int) -> int:
    """Return how many of so many pages may fall due in a second: a few, or twice what an hour has if they are very many."""
    return max(CROWD, 2 * pages * SECOND // HOUR)
