"""Polls required soon after an expected change of a page (`Fetch on change within …`; 001 §5.1)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from tidings.model.interval import say_duration
from tidings.model.observed.poll_reason import PollReason, Why
from tidings.model.watch.sentinel import FetchOnChange
from tidings.scheduling.timetable.expected import RATE, execution_interval, learn_interval, next_update, rate_interval
from tidings.service.watch.cursors import hours_of
from tidings.service.watch.needs import Deadline

if TYPE_CHECKING:
    from tidings.model.interval import Duration
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
            within = say_duration(sub.fetch.within)
            asked = execution_interval(update, interval, sub.fetch.within, sub.fetch.until)
            yield Deadline(
                page.state.page_id,
                sub.row.sentinel_id,
                hours_of(sub).open_part(asked) if sub.owner.sentinel.during else asked,
                PollReason(Why.EXPECTED, within),
                late=PollReason(Why.OVERDUE, within),
                is_heard=False,
            )
