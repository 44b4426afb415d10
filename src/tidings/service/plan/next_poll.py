"""Due times: when a page is polled next, by its sentinels' schedules and its history.

A due time waits for the page's floor, its hours and the end of a back-off; on change also for the
end of the freshness that its server claims. With `spreads`, due times that coincide are spread
(`spread`).

A page is also due soon after an expected change, where a sentinel asks for it (`Fetch on change
within …`; 001 §5.1).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from tidings.clock import HOUR, MINUTE, SECOND
from tidings.model.interval import NEVER, describe_duration
from tidings.model.observed.poll_reason import PollReason, Why
from tidings.model.watch.sentinel import FetchOnChange
from tidings.scheduling.timetable import RATE, execution_interval, learn_interval, next_update, rate_interval
from tidings.service.plan.spread import Apart
from tidings.service.watch.cursors import hours_of
from tidings.service.watch.noise import second_at
from tidings.service.watch.page_schedule import (
    Deadline,
    Tick,
    bounds,
    closes,
    find_promised_interval,
    first_open,
    first_open_on_change,
    has_hours,
    is_fresh_until,
    is_on_change,
    retry_at,
    tick_of,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tidings.model.interval import Duration, Instant
    from tidings.model.observed.unit import Unit
    from tidings.service.watch.page_schedule import Needs
    from tidings.service.watch.watchlist import WatchedPage


def has_expectations(page: WatchedPage) -> bool:
    """Return whether a sentinel asks for polls within a time of expected updates."""
    return any(isinstance(s.fetch, FetchOnChange) and s.fetch.within is not None for s in page.subscriptions.values())


def _interval(learned: Mapping[str, Any]) -> Duration | None:
    """Return the interval between changes of a page from its policy's memory: observed intervals,
    or the estimated rate.
    """
    rate = learned.get(RATE)
    return rate_interval(rate) if isinstance(rate, Mapping) else learn_interval(learned.get("intervals") or ())


def list_expected(page: WatchedPage, learned: Mapping[str, Any]) -> Iterator[Deadline]:
    """Yield the next deadlines of a page, for each sentinel that asks for them; none until it has
    changed at regular intervals.

    `learned` is the policy's memory of the page.
    """
    interval = _interval(learned)
    last = learned.get("modified") or page.state.text_changed_at
    if interval is None or last is None or page.state.checked_at is None:
        return
    update = next_update(last, interval, page.state.checked_at)
    for sub in page.subscriptions.values():
        if isinstance(sub.fetch, FetchOnChange) and sub.fetch.within is not None:
            within = describe_duration(sub.fetch.within)
            asked = execution_interval(update, interval, sub.fetch.within, sub.fetch.until)
            yield Deadline(
                page.state.page_id,
                sub.row.sentinel_id,
                hours_of(sub).open_part(asked) if sub.owner.sentinel.during else asked,
                PollReason(Why.EXPECTED, within),
                late=PollReason(Why.OVERDUE, within),
                is_logged=False,
            )


SOONEST = 10 * SECOND
"""Shortest time from a poll to a second poll; the longest is a minute."""
PARTS = 10
"""Within these bounds a second poll comes after this fraction (1/n) of the time to the next
poll.
"""


POLL_AGAIN = MINUTE
"""A poll that missed a part of a page is repeated this soon, the page's floor permitting, before
the part is reported as gone.
"""


def get_confirmation_wait(page: WatchedPage) -> Duration:
    """Return after how long a page is polled again to resolve a doubt, its floor permitting: at
    most a minute, less for frequently polled pages.
    """
    return min(POLL_AGAIN, max(SOONEST, (find_promised_interval(page) or HOUR) // PARTS))


class Due(NamedTuple):
    """When a page is due, its earliest tick (both NEVER if there is none), and when the hours of
    that due time end.
    """

    at: Instant
    tick: Instant
    closes: Instant


class Dues:
    """`floor` is the shortest time between two polls, `heed` the longest freshness claim that is
    respected, `spreads` whether due times that coincide are spread. Without `second_polls` no page
    is polled again to separate noise from changes.
    """

    def __init__(
        self, needs: Needs, *, floor: Duration, heed: Duration = 0, spreads: bool = False, second_polls: bool = True
    ) -> None:
        self._needs = needs
        self._floor = floor
        self._heed = heed
        self._second_polls = second_polls
        self._apart = Apart(floor=floor, spreads=spreads)
        self._paused: dict[int, Instant] = {}
        """pages paused until then, after a failure that was not their fault"""
        self._missed: dict[int, Instant] = {}
        """pages that fell due during a pause of the service: not before that instant"""
        self._shut: dict[int, Instant] = {}
        """pages whose hours ended before they were polled: not before they open after that
        instant
        """
        self._eased: dict[int, Duration] = {}
        """by how much a page's poll is delayed by its server's freshness claim"""
        self._second: dict[int, Instant] = {}
        """pages with a second poll, to separate noise from changes, a minute after the poll that
        asked for it
        """
        self._moved: set[int] = set()
        """pages whose tick is outside its hours and waits for their beginning"""
        self._servable: set[int] = set()
        self._served: set[int] = set()
        """pages whose stored version was taken since they were last planned"""
        self._in_vain: set[int] = set()
        """pages whose stored version cannot be taken: they wait for their next poll instead"""

    def note_poll(self, page_id: int, unit: Unit) -> None:
        """Update a page's due times after a poll, successful or not."""
        for memory in (self._missed, self._shut, self._second, self._paused):
            memory.pop(page_id, None)
        self._in_vain.discard(page_id)
        if second := second_at(unit.estimates):
            self.poll_again(page_id, second)

    def poll_again(self, page_id: int, at: Instant) -> None:
        """Schedule a second poll of a page at `at` or sooner, where second polls are made."""
        if self._second_polls:
            self._second[page_id] = at

    def note_served(self, page_id: int) -> None:
        """Record that the stored version of a page was taken by all who could take it."""
        self._served.add(page_id)

    def hold(self, page_id: int, until: Instant) -> None:
        """Pause a page until `until`. Then it is polled, so that what failed is not repeated."""
        self._paused[page_id] = until
        self._in_vain.add(page_id)

    def get_hold_end(self, page_id: int) -> Instant:
        """Return until when a page is paused, 0 if it never was."""
        return self._paused.get(page_id, 0)

    def catch_up(
        self, missed: Sequence[tuple[WatchedPage, Instant]], now: Instant, *, pages: int
    ) -> dict[int, Instant]:
        """Spread pages that fell due during a pause of the service, if they are many; return their
        new due times.
        """
        apart = self._apart.catch_up(missed, now, pages=pages)
        self._missed.update(apart)
        return apart

    def shut(self, page_ids: Iterable[int], now: Instant) -> None:
        """Record that the hours of pages ended before they were polled."""
        self._shut.update(dict.fromkeys(page_ids, now))

    def forget(self, page_id: int) -> None:
        """Remove a page that is no longer watched."""
        for kind in (self._servable, self._served, self._in_vain, self._moved):
            kind.discard(page_id)
        for memory in (self._paused, self._missed, self._eased, self._shut, self._second):
            memory.pop(page_id, None)
        self._apart.leave(page_id)

    def servable(self) -> list[int]:
        """Return the pages with a subscription that can be served from the newest stored
        version.
        """
        return list(self._servable)

    def of(self, page: WatchedPage, on_change: Instant, *, pages: int) -> Due:
        """Return when a page is due; `on_change` is when its policy would poll, `pages` the number
        of watched pages.
        """
        page_id, retry = page.state.page_id, retry_at(page)
        tick = self._find_tick(page)
        is_timed = has_hours(page)
        on_change = self._ease(page, on_change, tick.at)
        if is_timed:
            on_change = first_open_on_change(page, on_change)
        due = self._apart.due(page, tick, on_change, pages=pages, is_eased=page_id in self._eased)
        if retry is not None and page.state.health != "error":
            due = retry  # resolve a doubt before the next tick
        if due != NEVER:
            due = max(self.not_before(page), due, self._missed.get(page_id, 0))
            due = max(due, self._shut.get(page_id, due))
            due = first_open(page, due) if is_timed else due
        due = self._sooner(page, due, retry)
        self._note(page_id, tick)
        if (needed := self._find_need(page)) < due:
            return Due(needed, tick.at, NEVER)
        return Due(due, tick.at, closes(page, due) if is_timed and due != NEVER else NEVER)

    def not_before(self, page: WatchedPage) -> Instant:
        """Return until when a page is not polled for anybody: its floor, its back-off, the end of a
        pause.
        """
        state = page.state
        rests_until = 0 if state.polled_at is None else state.polled_at + self._floor
        return max(rests_until, retry_at(page) or 0, self._paused.get(state.page_id, 0))

    def may(self, page: WatchedPage, now: Instant) -> bool:
        """Return whether a page may be polled on change before it is due: it is a policy page, not
        paused for any reason, and open.
        """
        page_id, checked_at = page.state.page_id, page.state.checked_at
        if checked_at is None or not is_on_change(page) or page.state.health != "ok":
            return False
        fresh = is_fresh_until(page.state, most=min(self._heed, bounds(page, self._floor)[1]))
        rests_until = max(self.not_before(page), self._missed.get(page_id, 0), fresh)
        return rests_until <= now and first_open_on_change(page, now) == now and first_open(page, now) == now

    def why(self, page_id: int, *, ticks: bool) -> PollReason:
        """Return why a page is polled; `ticks`: for a tick of a fixed interval."""
        if page_id in self._second:
            return PollReason(Why.SECOND)
        if ticks:
            return PollReason(Why.OPENING if page_id in self._moved else Why.INTERVAL)
        eased = self._eased.get(page_id)
        if eased is None:
            return PollReason(Why.CHANGE)
        return PollReason(Why.EASED, describe_duration(-(-eased // SECOND) * SECOND))

    def second_now(self, now: Instant) -> list[int]:
        """Return the pages whose second poll, to separate noise from changes, may be made now."""
        return [page_id for page_id, at in self._second.items() if at <= now]

    def _find_tick(self, page: WatchedPage) -> Tick:
        """Return the tick of a page. If somebody still waits for its stored version although it was
        just taken, that version is no help: the tick needs a poll.
        """
        page_id, tick = page.state.page_id, tick_of(page)
        if tick.servable and page_id in self._served:
            self._in_vain.add(page_id)
        self._served.discard(page_id)
        return tick_of(page, serves=False) if tick.servable and page_id in self._in_vain else tick

    def _note(self, page_id: int, tick: Tick) -> None:
        (self._moved.add if tick.is_moved else self._moved.discard)(page_id)
        (self._servable.add if tick.servable else self._servable.discard)(page_id)

    def _sooner(self, page: WatchedPage, due: Instant, retry: Instant | None) -> Instant:
        """Return the due time of a page with a pending second poll: in its hours and soon, or not
        at all.

        It comes so soon that what changes from poll to poll has hardly had time to: within a floor
        of a minute too, if it must.
        """
        page_id = page.state.page_id
        second = self._second.get(page_id)
        if second is None:
            return due
        if retry is not None and page.state.health == "ok" and first_open(page, retry) == retry:
            return min(due, retry) if self._floor <= MINUTE else due  # the poll that resolves a doubt is the second one
        polled_at = second - MINUTE
        gap = min(MINUTE, max(SOONEST, (due - polled_at) // PARTS)) if self._floor <= MINUTE else self._floor
        second = polled_at + gap
        if retry is not None or page_id in self._paused or second >= due or first_open(page, second) != second:
            del self._second[page_id]
            return due
        return second

    def _find_need(self, page: WatchedPage) -> Instant:
        """Return when a page is polled for its deadlines: floor and back-off apply; the hours are
        the deadlines' own.
        """
        begins = self._needs.begins(page.state.page_id)
        return NEVER if begins is None else max(begins, self.not_before(page))

    def _ease(self, page: WatchedPage, on_change: Instant, tick: Instant) -> Instant:
        """Return when a page is due on change, not before its server's freshness claim ends (P-6).

        The claim is a hint: it delays no tick, first poll or requested poll, and no bound that a
        sentinel names.
        """
        self._eased.pop(page.state.page_id, None)
        if not 0 < on_change < min(tick, NEVER) or page.state.checked_at is None:
            return on_change
        fresh = is_fresh_until(page.state, most=min(self._heed, bounds(page, self._floor)[1]))
        if fresh <= on_change:
            return on_change
        self._eased[page.state.page_id] = fresh - on_change
        return fresh
