"""Spread: what would fall on one instant is drawn apart, each time by the same share for the same key (P-9, F-32).

Of dues that crowd within a second, ticks go back within the first half of their slack, so that they
stay in time, and the others come forward by a tenth of their wait, which still is a whole cycle. No chance is used: who asks again computes
the same, so that a restart moves nothing.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Final

from tidings.clock import HOUR, MINUTE, SECOND
from tidings.scheduling.policy import NEVER
from tidings.service.plan.jitter import share
from tidings.service.watch.page_schedule import Tick, bounds, importance, tick_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tidings.model.interval import Duration, Instant
    from tidings.service.watch.watchlist import WatchedPage

CROWD: Final = 8
"""Pages that may fall due within one second before they are drawn apart."""
CATCH_UP: Final[Duration] = 10 * MINUTE
"""The longest time over which pages that fell due while nobody looked are spread."""


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
        return self._counts[second] > count_allowed(pages)

    def leave(self, page_id: int) -> None:
        """Forget what was noted of a page."""
        second = self._second.pop(page_id, None)
        if second is not None:
            self._counts[second] -= 1
            if not self._counts[second]:
                del self._counts[second]


def count_allowed(pages: int) -> int:
    """Return how many of so many pages may fall due in a second: a few, or twice what an hour has if they are very many."""
    return max(CROWD, 2 * pages * SECOND // HOUR)


class Apart:
    """Draws dues apart, unless `spreads` is False; `floor` is the least time between two looks at a page."""

    def __init__(self, *, floor: Duration, spreads: bool) -> None:
        self._floor = floor
        self._spreads = spreads
        self._crowds = Crowds()

    def due(self, page: WatchedPage, tick: Tick, on_change: Instant, *, pages: int, is_eased: bool) -> Instant:
        """Return when one of so many pages is due, by its ticks or on change, away from the others if too many are in that second.

        `is_eased`: it is held back already.
        """
        due = min(tick.at, on_change)
        page_id, checked_at = page.state.page_id, page.state.checked_at
        if not self._spreads or due == NEVER or due <= 0 or checked_at is None:
            self._crowds.leave(page_id)
            return due
        if not self._crowds.enter(page_id, due, pages=pages) or is_eased:
            return due
        part = share(page.identity.key)
        if due == tick.at:
            return due + int(part * max(0, tick.deadline - due) / 2)
        least = max(bounds(page, self._floor)[0], self._floor)
        return min(due, max(due - int(part * (due - checked_at) / 10), checked_at + least))

    def leave(self, page_id: int) -> None:
        """Forget a page."""
        self._crowds.leave(page_id)

    def catch_up(
        self, missed: Sequence[tuple[WatchedPage, Instant]], now: Instant, *, pages: int
    ) -> dict[int, Instant]:
        """Return when pages that fell due at some instant while nobody looked are looked at now, if they are a crowd of all `pages`.

        The longest overdue and most important come first. Each has its place within a time that its own interval bounds: half of what
        is left of a tick's slack, or the slack if that is over, else a tenth of its wait, and never more than `CATCH_UP`. A first look
        waits for nobody.
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
        """Return how long an overdue page may be kept waiting so that not all are asked at once."""
        tick = tick_of(page)
        if tick.at <= now:
            left = tick.deadline - now
            return left // 2 if left > 0 else max(0, tick.deadline - tick.at)
        return max(0, due - (page.state.checked_at or 0)) // 10
