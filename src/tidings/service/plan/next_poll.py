"""Dues: when a page is looked at next, by what its sentinels claim and what its past allows.

A due instant waits for the page's floor, for its hours and for the end of a back-off, and where it is only fetched on change for
the end of the freshness that its server claims. Where `spreads` is set, dues that crowd are drawn apart (`spread`).
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, NamedTuple

from tidings.clock import HOUR, MINUTE, SECOND
from tidings.model.interval import spell_duration
from tidings.model.observed.poll_reason import PollReason, Why
from tidings.scheduling.policy import NEVER
from tidings.service.plan.freshness import is_fresh_until
from tidings.service.plan.spread import Apart
from tidings.service.watch.noise import second_at
from tidings.service.watch.page_schedule import (
    Tick,
    bounds,
    closes,
    find_promised_interval,
    first_open,
    first_open_on_change,
    is_on_change,
    retry_at,
    tick_of,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tidings.model.interval import Duration, Instant
    from tidings.model.observed.unit import Unit
    from tidings.service.watch.needs import Needs
    from tidings.service.watch.watchlist import WatchedPage


SOONEST = 10 * SECOND
"""A second look comes so long after a poll at least, and a minute at most."""
PARTS = 10
"""Within these bounds it comes after one part in so many of the time to the next poll."""


LOOK_AGAIN = MINUTE
"""A look that missed a part of a page is made again so soon, the page's floor permitting, before the part is told to be gone."""


def get_confirmation_wait(page: WatchedPage) -> Duration:
    """Return after how long a page is polled again to clear up a doubt, its floor permitting: at most a minute, sooner where it is polled often."""
    return min(LOOK_AGAIN, max(SOONEST, (find_promised_interval(page) or HOUR) // PARTS))


class Due(NamedTuple):
    """When a page is due, its earliest tick (both NEVER if there is none), and when the hours end in which it is due then."""

    at: Instant
    tick: Instant
    closes: Instant


class Dues:
    """`floor` is the least time between two looks, `heed` the longest for which a claim of freshness holds a page back, `spreads` whether dues
    that crowd are drawn apart. Without `second_looks` no page is checked again to tell noise from news.
    """

    def __init__(
        self, needs: Needs, *, floor: Duration, heed: Duration = 0, spreads: bool = False, second_looks: bool = True
    ) -> None:
        self._needs = needs
        self._floor = floor
        self._heed = heed
        self._second_looks = second_looks
        self._apart = Apart(floor=floor, spreads=spreads)
        self._held: dict[int, Instant] = {}
        """pages that are left alone until then: something went wrong that was not their fault"""
        self._missed: dict[int, Instant] = {}
        """pages that fell due while nobody looked: not before that instant"""
        self._shut: dict[int, Instant] = {}
        """pages whose hours ended before they were looked at: not before they open after that instant"""
        self._eased: dict[int, Duration] = {}
        """by how much the freshness that its server claims holds a page back"""
        self._second: dict[int, Instant] = {}
        """pages that are to be looked at a second time, to tell noise from news: a minute after the look that asked for it"""
        self._moved: set[int] = set()
        """pages whose tick lies outside its hours and waits for their beginning"""
        self._servable: set[int] = set()

    def note_poll(self, page_id: int, unit: Unit) -> None:
        """Hear that a page was looked at, well or not."""
        self._missed.pop(page_id, None)
        self._shut.pop(page_id, None)
        self._second.pop(page_id, None)
        if second := second_at(unit.estimates):
            self.look_again(page_id, second)

    def look_again(self, page_id: int, at: Instant) -> None:
        """Let a page be looked at a second time, at `at` or sooner, where second looks are made."""
        if self._second_looks:
            self._second[page_id] = at

    def hold(self, page_id: int, until: Instant) -> None:
        """Leave a page alone until then."""
        self._held[page_id] = until

    def catch_up(
        self, missed: Sequence[tuple[WatchedPage, Instant]], now: Instant, *, pages: int
    ) -> dict[int, Instant]:
        """Draw apart what fell due while nobody looked, if it is a crowd; return which pages are due when."""
        apart = self._apart.catch_up(missed, now, pages=pages)
        self._missed.update(apart)
        return apart

    def shut(self, page_ids: Iterable[int], now: Instant) -> None:
        """Hear that the hours of pages have ended before they were looked at."""
        self._shut.update(dict.fromkeys(page_ids, now))

    def forget(self, page_id: int) -> None:
        """Forget a page that is watched no more."""
        self._servable.discard(page_id)
        self._moved.discard(page_id)
        for kept in (self._held, self._missed, self._eased, self._shut, self._second):
            kept.pop(page_id, None)
        self._apart.leave(page_id)

    def servable(self) -> list[int]:
        """Return the pages with a subscription that can be served from the newest stored version."""
        return [page_id for page_id in self._servable if page_id not in self._held]

    def of(self, page: WatchedPage, on_change: Instant, *, pages: int) -> Due:
        """Return when one of so many pages is due; `on_change` is when its policy would look."""
        page_id, retry = page.state.page_id, retry_at(page)
        tick = tick_of(page)
        on_change = first_open_on_change(page, self._ease(page, on_change, tick.at))
        due = self._apart.due(page, tick, on_change, pages=pages, is_eased=page_id in self._eased)
        if retry is not None and page.state.health != "error":
            due = retry  # a doubt is cleared up before the next tick
        if due != NEVER:
            due = max(self.not_before(page), due, self._missed.get(page_id, 0))
            due = first_open(page, max(due, self._shut.get(page_id, due)))
        due = self._sooner(page, due, retry)
        self._note(page_id, tick)
        if (needed := self._find_need(page)) < due:
            return Due(needed, tick.at, NEVER)
        return Due(due, tick.at, closes(page, due) if due != NEVER else NEVER)

    def not_before(self, page: WatchedPage) -> Instant:
        """Return before when a page is left alone whoever wants a look: its floor, its back-off, the end of a hold."""
        state = page.state
        rests_until = 0 if state.polled_at is None else state.polled_at + self._floor
        return max(rests_until, retry_at(page) or 0, self._held.get(state.page_id, 0))

    def may(self, page: WatchedPage, now: Instant) -> bool:
        """Say whether a page may be looked at now on change although it is not due yet: it is left to a policy, rests for no reason, is open."""
        page_id, checked_at = page.state.page_id, page.state.checked_at
        if checked_at is None or not is_on_change(page) or page.state.health != "ok":
            return False
        fresh = is_fresh_until(page.state, most=min(self._heed, bounds(page, self._floor)[1]))
        rests_until = max(self.not_before(page), self._missed.get(page_id, 0), fresh)
        return rests_until <= now and first_open_on_change(page, now) == now and first_open(page, now) == now

    def why(self, page_id: int, *, ticks: bool) -> PollReason:
        """Return why a page is looked at; `ticks`: for a tick of a fixed interval."""
        if ticks:
            return PollReason(Why.OPENING if page_id in self._moved else Why.INTERVAL)
        if page_id in self._second:
            return PollReason(Why.SECOND)
        eased = self._eased.get(page_id)
        if eased is None:
            return PollReason(Why.CHANGE)
        return PollReason(Why.EASED, spell_duration(-(-eased // SECOND) * SECOND))

    def second_now(self, now: Instant) -> list[int]:
        """Return the pages whose second poll, to tell noise from news, may be made now."""
        return [page_id for page_id, at in self._second.items() if at <= now]

    def _note(self, page_id: int, tick: Tick) -> None:
        (self._moved.add if tick.is_moved else self._moved.discard)(page_id)
        (self._servable.add if tick.servable else self._servable.discard)(page_id)

    def _sooner(self, page: WatchedPage, due: Instant, retry: Instant | None) -> Instant:
        """Return when a page is due if it is to be looked at a second time: in its hours and soon, or not at all.

        It comes so soon that what moves from poll to poll has hardly had time to move: within a floor of a minute too, if it must.
        """
        page_id = page.state.page_id
        second = self._second.get(page_id)
        if second is None:
            return due
        if retry is not None and page.state.health == "ok" and first_open(page, retry) == retry:
            return (
                min(due, retry) if self._floor <= MINUTE else due
            )  # the poll that clears up a doubt is the second one
        looked = second - MINUTE
        gap = min(MINUTE, max(SOONEST, (due - looked) // PARTS)) if self._floor <= MINUTE else self._floor
        second = looked + gap
        if retry is not None or page_id in self._held or second >= due or first_open(page, second) != second:
            del self._second[page_id]
            return due
        return second

    def _find_need(self, page: WatchedPage) -> Instant:
        """Return when a page is to be looked at for those that need it in time: its floor and back-off hold, its hours are theirs."""
        begins = self._needs.begins(page.state.page_id)
        return NEVER if begins is None else max(begins, self.not_before(page))

    def _ease(self, page: WatchedPage, on_change: Instant, tick: Instant) -> Instant:
        """Return when a page is due on change, not before the end of the freshness that its server claims (P-6).

        A hint only: it holds back no tick, no first look and no look that somebody asked for, and no bound that a sentinel named.
        """
        self._eased.pop(page.state.page_id, None)
        if not 0 < on_change < min(tick, NEVER) or page.state.checked_at is None:
            return on_change
        fresh = is_fresh_until(page.state, most=min(self._heed, bounds(page, self._floor)[1]))
        if fresh <= on_change:
            return on_change
        self._eased[page.state.page_id] = fresh - on_change
        return fresh
