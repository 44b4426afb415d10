"""Spread due times that coincide, deterministically: by the same share for the same key (P-9,
F-32).

Of due times within one second, ticks are delayed within the first half of their slack, so that they
stay on time, and others are advanced by up to a tenth of their wait, which is still a whole cycle.
Without randomness a recomputation or restart moves nothing.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Final

from xxhash import xxh3_64_intdigest

from tidings.clock import HOUR, MINUTE, SECOND
from tidings.model.interval import NEVER
from tidings.service.watch.page_schedule import Tick, bounds, importance, tick_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tidings.model.interval import Duration, Instant
    from tidings.service.watch.watchlist import WatchedPage

CROWD: Final = 8
"""Pages that may fall due within one second before they are spread."""
CATCH_UP: Final[Duration] = 10 * MINUTE
"""The longest time over which pages that fell due during a pause of the service are spread."""


class Crowds:
    """Counts how many pages fall due within each second."""

    def __init__(self) -> None:
        self._counts: Counter[int] = Counter()
        self._second: dict[int, int] = {}

    def enter(self, page_id: int, due: Instant, *, allowed: int) -> bool:
        """Record when a page falls due; return whether more than `allowed` do so in that second."""
        self.leave(page_id)
        second = self._second[page_id] = due // SECOND
        self._counts[second] += 1
        return self._counts[second] > allowed

    def leave(self, page_id: int) -> None:
        """Remove a page."""
        second = self._second.pop(page_id, None)
        if second is not None:
            self._counts[second] -= 1
            if not self._counts[second]:
                del self._counts[second]


def count_allowed(pages: int, wait: Duration = HOUR) -> int:
    """Return how many of `pages` pages may fall due in a second: a few, or twice the average if
    they are very many. The average is that of pages polled each `wait` (µs), at least each hour.
    """
    return max(CROWD, 2 * pages * SECOND // max(SECOND, min(wait, HOUR)))


class Apart:
    """Spreads due times, unless `spreads` is False; `floor` is the shortest time between two polls
    of a page.
    """

    def __init__(self, *, floor: Duration, spreads: bool) -> None:
        self._floor = floor
        self._spreads = spreads
        self._crowds = Crowds()

    def due(self, page: WatchedPage, tick: Tick, on_change: Instant, *, pages: int, is_eased: bool) -> Instant:
        """Return when a page is due, by its ticks or on change, moved if too many of the `pages`
        are due in that second.

        Args:
            page: The page.
            tick: What its fixed intervals ask for.
            on_change: When its policy would poll (µs).
            pages: How many pages are watched.
            is_eased: Whether it is delayed already.
        """
        due = min(tick.at, on_change)
        page_id, checked_at = page.state.page_id, page.state.checked_at
        if not self._spreads or due == NEVER or due <= 0 or checked_at is None:
            self._crowds.leave(page_id)
            return due
        allowed = count_allowed(pages, due - checked_at)
        if not self._crowds.enter(page_id, due, allowed=allowed) or is_eased:
            return due
        part = share(page.identity.key)
        if due == tick.at:
            return due + int(part * max(0, tick.deadline - due) / 2)
        least = max(bounds(page, self._floor)[0], self._floor)
        return min(due, max(due - int(part * (due - checked_at) / 10), checked_at + least))

    def leave(self, page_id: int) -> None:
        """Remove a page."""
        self._crowds.leave(page_id)

    def catch_up(
        self, missed: Sequence[tuple[WatchedPage, Instant]], now: Instant, *, pages: int
    ) -> dict[int, Instant]:
        """Return when to poll pages that fell due during a pause of the service, if they are many
        of all `pages`.

        The longest overdue and most important come first. Each has its place within a time bounded
        by its own interval: half of what is left of a tick's slack, or the slack if that is over,
        else a tenth of its wait, and never more than `CATCH_UP`. A first poll is not delayed.
        """
        late = [(page, due) for page, due in missed if page.state.polled_at is not None]
        if not self._spreads or len(late) <= count_allowed(pages):
            return {}
        late.sort(key=lambda pair: (-(now - max(pair[1], 0)) * importance(pair[0]), pair[0].state.page_id))
        return {
            page.state.page_id: now + min(CATCH_UP, self._patience(page, due, now)) * place // len(late)
            for place, (page, due) in enumerate(late)
        }

    def _patience(self, page: WatchedPage, due: Instant, now: Instant) -> Duration:
        """Return how long an overdue page may wait so that not all are polled at once."""
        tick = tick_of(page)
        if tick.at <= now:
            left = tick.deadline - now
            return left // 2 if left > 0 else max(0, tick.deadline - tick.at)
        return max(0, due - (page.state.checked_at or 0)) // 10


MOST: Final = 0.2
"""Longest extension of a wait, as a share of it."""


def share(key: str | int, turn: int = 0) -> float:
    """Return a number in [0, 1), uniform over keys and, for one key, over turns."""
    return xxh3_64_intdigest(f"{key} {turn}".encode()) / 2.0**64


def lengthen(duration: Duration, key: str | int, turn: int = 0) -> Duration:
    """Return a wait (µs) extended by up to a fifth, never shortened."""
    return round(duration * (1 + MOST * share(key, turn)))
