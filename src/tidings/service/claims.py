"""Claims: what the subscriptions of a page ask of its looks: ticks of fixed intervals, bounds on those that are made on change."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from tidings.scheduling.policy import NEVER
from tidings.service.cursors import fixed

if TYPE_CHECKING:
    from tidings.model.interval import Duration, Instant
    from tidings.service.watchlist import Subscription, WatchedPage


class Tick(NamedTuple):
    """What the fixed intervals of a page want: the earliest tick that needs a poll, NEVER if none does; the instant until which all of
    them are in time; and whether some subscription can be served from what is stored.
    """

    at: Instant
    deadline: Instant
    servable: bool


def importance(page: WatchedPage) -> float:
    """Return that of the most important sentinel on a page."""
    return max((s.owner.sentinel.importance for s in page.subscriptions.values()), default=0.5)


def is_on_change(page: WatchedPage) -> bool:
    """Say whether some sentinel leaves the page's rate to the policy."""
    return any(s.interval is None for s in page.subscriptions.values())


def robots_ignored(page: WatchedPage) -> str:
    """Return why robots.txt is not obeyed on a page: what its oldest subscription that says so says; empty if it is obeyed."""
    return next((why for s in page.subscriptions.values() if (why := s.owner.sentinel.asking.robots_ignored)), "")


def retry_at(page: WatchedPage) -> Instant | None:
    """Return before when a page is left alone after a failure; what robots.txt forbade is not, once it is ignored."""
    if page.state.kind == "robots" and robots_ignored(page):
        return None
    return page.state.retry_at


def bounds(page: WatchedPage, floor: Duration) -> tuple[Duration, Duration]:
    """Return the shortest and longest interval that the on-change sentinels of a page ask for; 0 and NEVER leave it to the policy."""
    fetches = [s.owner.sentinel.fetch for s in page.subscriptions.values() if s.interval is None]
    low = min((getattr(f, "shortest", None) or 0 for f in fetches), default=0)
    high = min((getattr(f, "longest", None) or NEVER for f in fetches), default=NEVER)
    return (max(low, floor) if low else 0), max(high, low, floor, 1)


def tick_of(page: WatchedPage, floor: Duration) -> Tick:
    """Return what the fixed intervals of a page want; a first look is a tick long ago."""
    earliest, deadline, servable = NEVER, NEVER, False
    state = page.state
    for sub in page.subscriptions.values():
        fresh = _is_served(sub, state.checked_at, floor)
        if fresh and state.last_seq and (sub.interval is not None or not sub.row.taken):
            servable = True
        elif sub.interval is not None:
            earliest = min(earliest, sub.row.next_tick or 0)
            deadline = min(deadline, (sub.row.next_tick or 0) + sub.interval.effective_slack)
        elif not sub.row.taken:
            earliest = deadline = 0
    return Tick(earliest, deadline, servable)


def _is_served(sub: Subscription, checked_at: Instant | None, floor: Duration) -> bool:
    """Say whether a look at `checked_at` serves the tick (or the first version) that `sub` waits for."""
    if checked_at is None:
        return False
    if sub.interval is None:
        return not sub.row.taken and checked_at + floor >= sub.owner.row.created_at
    if sub.row.next_tick is None:
        return checked_at + sub.interval.effective_slack >= sub.owner.row.created_at
    return fixed(sub).is_satisfied(sub.row.next_tick, checked_at)
