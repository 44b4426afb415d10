"""What the subscriptions of a page ask of its polls: ticks of fixed intervals and times of day,
bounds on polls on change, the allowed hours, and polls with a deadline (001 §2.1).

And how long a page is fresh, as its server says. Deadlines (`Needs`) are in memory only: their
owners (the behaviours of `service.rules`, and `plan.planner`) settle them again at each start. A
poll of a page is recorded as an event for each sentinel that waits for it; a failed poll is not,
and uses up no deadline.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Final, NamedTuple

from tidings.model.event_type import EventType
from tidings.model.interval import NEVER
from tidings.model.observed.poll_reason import PollReason
from tidings.model.observed.unit import Event
from tidings.model.watch.sentinel import WHOLE, share_of
from tidings.model.watch.timing import FetchEvery
from tidings.record import dataclass, replace
from tidings.service.watch.cursors import hours_of, is_open, is_unconfirmed, may_begin, ticks_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tidings.model.interval import Duration, ExecutionInterval, Instant
    from tidings.model.observed.page import PageState
    from tidings.model.observed.unit import Unit
    from tidings.scheduling.timetable import ClockTimes, FixedInterval
    from tidings.service.watch.watchlist import Subscription, WatchedPage

_DAY = 24 * 60
"""minutes, the unit of openings"""


class Tick(NamedTuple):
    """The demand of a page's fixed intervals: the earliest tick that needs a poll, NEVER if none
    does; the instant until which all of them are on time; whether a subscription can be served from
    a stored version; and whether the tick was moved into its hours.
    """

    at: Instant
    deadline: Instant
    servable: bool
    is_moved: bool = False


def importance(page: WatchedPage) -> float:
    """Return the importance of the most important sentinel on a page."""
    return max((s.owner.sentinel.importance for s in page.subscriptions.values()), default=0.5)


def importance_to(page: WatchedPage, sentinel_id: int) -> float:
    """Return the importance of one sentinel, while it watches the page."""
    found = (s.owner.sentinel.importance for s in page.subscriptions.values() if s.row.sentinel_id == sentinel_id)
    return next(found, 0.5)


def budget_class(page: WatchedPage, classes: Sequence[str]) -> str:
    """Return the budget class that pays for a page's polls: the first of `classes` that its
    sentinels name. An owner's share is the class of all its sentinels but collections, which pay
    from their own budget and from the share (`storage.write.charge`).

    `WHOLE` if a sentinel names none, or an unknown one: sharing a page is free for a class.
    """
    named = {WHOLE if s.is_listing else _find_class(s, classes) for s in page.subscriptions.values()}
    if not named or not named.issubset(classes):
        return WHOLE
    return next(name for name in classes if name in named)


def _find_class(sub: Subscription, classes: Sequence[str]) -> str:
    """Return the budget of a collection once there is one, else the share of a sentinel's owner, if
    there is one, else the class of the sentinel.
    """
    share, own = share_of(sub.owner.row.owner_id), sub.owner.budget_name
    has_own = sub.owner.sentinel.scope is not None and own in classes
    return share if share in classes and not has_own else own


def is_on_change(page: WatchedPage) -> bool:
    """Return whether a sentinel leaves the page's rate to the policy."""
    return any(s.is_on_change for s in page.subscriptions.values())


def robots_ignored(page: WatchedPage) -> str:
    """Return why robots.txt is not obeyed on a page, as its oldest subscription that ignores it
    says; empty if it is obeyed.
    """
    return next((why for s in page.subscriptions.values() if (why := s.owner.sentinel.asking.robots_ignored)), "")


def retry_at(page: WatchedPage) -> Instant | None:
    """Return until when a page is in back-off after a failure; none for what robots.txt forbade,
    once it is ignored.
    """
    if page.state.kind == "robots" and robots_ignored(page):
        return None
    return page.state.retry_at


def find_promised_interval(page: WatchedPage) -> Duration | None:
    """Return the shortest fixed interval at which a page is polled, None if it has none."""
    asked = [s.interval for s in page.subscriptions.values()]
    return min((i.interval for i in asked if isinstance(i, FetchEvery)), default=None)


def bounds(page: WatchedPage, floor: Duration) -> tuple[Duration, Duration]:
    """Return the shortest and longest interval that the on-change sentinels of a page ask for; 0
    and NEVER leave it to the policy.
    """
    fetches = [s.owner.sentinel.fetch for s in page.subscriptions.values() if s.is_on_change]
    low = min((getattr(f, "shortest", None) or 0 for f in fetches), default=0)
    high = min((getattr(f, "longest", None) or NEVER for f in fetches), default=NEVER)
    return (max(low, floor) if low else 0), max(high, low, floor, 1)


def tick_of(page: WatchedPage, *, serves: bool = True) -> Tick:
    """Return the tick of a page; a first poll counts as a tick long ago. Unless it `serves`, nobody
    takes its stored version without a poll.
    """
    earliest, deadline, servable, is_moved = NEVER, NEVER, False, False
    state = page.state
    serves &= state.last_seq > 0 and not state.lacks_body
    for sub in page.subscriptions.values():
        servable |= serves and is_unconfirmed(sub) and state.health != "ok"  # the confirming poll failed
        ticks = None if sub.interval is None else ticks_of(sub)
        tick = None if ticks is None else sub.row.next_tick
        if ticks is not None and tick is None:
            tick = ticks.first_tick(0)
        fresh = serves and _is_served(sub, state.checked_at, ticks, tick)
        if fresh and (ticks is not None or sub.wants_base):
            servable = True
        elif ticks is not None and tick is not None:
            asked = ticks.execution_interval(tick)
            at = asked.start
            if sub.owner.sentinel.during:  # a poll outside its hours is not its own: it waits for the next opening
                at = hours_of(sub).first_open(max(asked.start, state.polled_at or 0))
            if at < earliest:
                earliest, is_moved = at, at > asked.end
            deadline = min(deadline, asked.end if at <= asked.end else at + asked.end - asked.start)
        elif sub.wants_base:
            earliest, deadline, is_moved = 0, 0, False
    return Tick(earliest, deadline, servable, is_moved)


def has_hours(page: WatchedPage) -> bool:
    """Return whether a sentinel of a page has opening hours."""
    return any(s.owner.sentinel.during for s in page.subscriptions.values())


def first_open(page: WatchedPage, at_or_after: Instant) -> Instant:
    """Return the first instant at or after `at_or_after` at which a subscription with its own polls
    allows one.
    """
    wanting = [s for s in page.subscriptions.values() if _polls_by_itself(s)]
    if not wanting or not all(s.owner.sentinel.during for s in wanting):
        return at_or_after
    return min(hours_of(s).first_open(at_or_after) for s in wanting)


def first_open_on_change(page: WatchedPage, at_or_after: Instant) -> Instant:
    """Return the first instant at or after `at_or_after` at which a sentinel that leaves the rate
    to the policy allows a poll.
    """
    learning = [s for s in page.subscriptions.values() if s.is_on_change]
    if at_or_after == NEVER or not learning or not all(s.owner.sentinel.during for s in learning):
        return at_or_after
    return min(hours_of(s).first_open(at_or_after) for s in learning)


def open_share(page: WatchedPage) -> float:
    """Return the share of time in which a sentinel that leaves the rate to the policy allows polls;
    overlapping openings count each.
    """
    learning = [s.owner.sentinel.during for s in page.subscriptions.values() if s.is_on_change]
    if not learning or not all(learning):
        return 1.0
    minutes = sum(
        len(o.days) * ((o.closes - o.opens) % _DAY or _DAY) for o in dict.fromkeys(o for some in learning for o in some)
    )
    return min(1.0, minutes / (7 * _DAY))


def closes(page: WatchedPage, at: Instant) -> Instant:
    """Return until when a page that may be polled at `at` may be polled; NEVER if there is
    no end.
    """
    wanting = [s for s in page.subscriptions.values() if _polls_by_itself(s)]
    if not wanting or not all(s.owner.sentinel.during for s in wanting):
        return NEVER
    return max(hours_of(s).closes(at) for s in wanting if hours_of(s).first_open(at) == at)


def _polls_by_itself(sub: Subscription) -> bool:
    return sub.interval is not None or sub.is_on_change or sub.is_only_shown or sub.is_summoned


def _is_served(
    sub: Subscription, checked_at: Instant | None, ticks: FixedInterval | ClockTimes | None, tick: Instant | None
) -> bool:
    """Return whether a poll at `checked_at` serves the tick (or the first version) that `sub` waits
    for.
    """
    if checked_at is None or not may_begin(sub, checked_at):
        return False
    if ticks is None or tick is None:
        return not sub.row.taken
    return is_open(sub, checked_at) and ticks.is_satisfied(tick, checked_at)


UNHEEDED: Final = 5
"""One poll in this many ignores the freshness claim, so that a false one is found out."""


def is_fresh_until(state: PageState, *, most: Duration) -> Instant:
    """Return until when a page is fresh according to its server, at most `most` after the last
    poll; 0: no claim.
    """
    is_heeded = state.fresh_doubt == 0 and state.polls % UNHEEDED != 0
    if not is_heeded or state.fresh_until is None or state.checked_at is None:
        return 0
    return min(state.fresh_until, state.checked_at + most)


POLLED = EventType.PAGE_POLLED
"""The event of a good poll of a page that a sentinel waited for. Other polls have none."""
GOOD = frozenset({"new", "unchanged", "changed"})


@dataclass(frozen=True, slots=True)
class Deadline:
    """A poll of a page within an interval, for a sentinel; `why` is its purpose, `late` the purpose
    once the interval is over.

    `left` is the number of polls, including this one, still missing of those needed together.
    `is_logged`: the poll is recorded as an event, for rules. `is_met`: it stays open after the
    interval, until a poll that began in or after it.
    """

    page_id: int
    sentinel_id: int
    interval: ExecutionInterval
    why: PollReason
    late: PollReason | None = None
    left: int = 1
    is_logged: bool = True
    is_met: bool = False

    def is_served(self, begun: Instant, at: Instant) -> bool:
        """Return whether a poll from `begun` to `at` serves it."""
        if self.is_met:
            return self.interval.start <= begun
        return self.is_logged and self.interval.start <= at <= self.interval.end

    def reason(self, now: Instant) -> PollReason:
        """Return the reason of a poll made now."""
        return self.late if self.late is not None and now > self.interval.end else self.why


class Needs:
    """The open deadlines of all pages."""

    def __init__(self) -> None:
        self._by_owner: dict[tuple[str, int], tuple[Deadline, ...]] = {}
        self._by_page: dict[int, list[Deadline]] = {}
        self._begun: dict[int, Instant] = {}
        self._touched: set[int] = set()
        """pages whose deadlines changed since the planner last asked"""

    def settle(self, owner: str, number: int, deadlines: Iterable[Deadline]) -> None:
        """Replace the deadlines that a behaviour has for a sentinel (the planner: for a page)."""
        before, now = self._by_owner.pop((owner, number), ()), tuple(deadlines)
        if before == now:
            if now:
                self._by_owner[owner, number] = now
            return
        for old in before:
            self._take_away(old)
        for new in now:
            self._by_page.setdefault(new.page_id, []).append(new)
        if now:
            self._by_owner[owner, number] = now
        self._touched.update(deadline.page_id for deadline in (*before, *now))

    def expire(self, now: Instant) -> None:
        """Remove expired deadlines. Those of expected updates and of events stay until a poll,
        which then is late.
        """
        over = [
            d for some in self._by_page.values() for d in some if d.is_logged and not d.is_met and d.interval.end < now
        ]
        for deadline in over:
            self._take_away(deadline)
        if over:
            self._touched.update(deadline.page_id for deadline in over)

    def take_touched(self) -> set[int]:
        """Return the pages whose deadlines changed since the last call."""
        touched, self._touched = self._touched, set()
        return touched

    def _take_away(self, deadline: Deadline) -> None:
        some = self._by_page.get(deadline.page_id, [])
        if deadline in some:
            some.remove(deadline)
            if not some:
                del self._by_page[deadline.page_id]

    def begins(self, page_id: int) -> Instant | None:
        """Return when the first interval of a page begins, None if there is none. A poll serves all
        that are open then.
        """
        return min((deadline.interval.start for deadline in self._by_page.get(page_id, ())), default=None)

    def most_urgent(self, page_id: int, now: Instant) -> Deadline | None:
        """Return the open deadline of a page that ends first (EDF among the active ones)."""
        begun = (deadline for deadline in self._by_page.get(page_id, ()) if deadline.interval.start <= now)
        return min(begun, key=lambda deadline: deadline.interval.end, default=None)

    def list_begun(self, now: Instant) -> Iterator[Deadline]:
        """Yield the open deadlines of all pages, page by page."""
        for deadlines in self._by_page.values():
            yield from (deadline for deadline in deadlines if deadline.interval.start <= now)

    def begin(self, page_id: int, at: Instant) -> None:
        """Record that a poll of a page begins: it serves no event after that."""
        self._begun[page_id] = at

    def wanting(self, page_id: int, at: Instant) -> frozenset[int]:
        """Return the sentinels that wait for a poll that ended at `at`."""
        begun = self._begun.get(page_id, at)
        waiting = self._by_page.get(page_id, ())
        return frozenset(deadline.sentinel_id for deadline in waiting if deadline.is_served(begun, at))

    def add_events(self, unit: Unit) -> Unit:
        """Return the unit of a poll with an event for each sentinel that waited for this poll."""
        if unit.poll is None:
            return unit
        page_id, at = unit.poll.page_id, unit.poll.finished_at
        wanting = self.wanting(page_id, at)
        data = {"begun": self._begun.pop(page_id, at)}
        if unit.poll.outcome not in GOOD or not wanting:
            return unit
        events = (
            Event(type=POLLED, at=at, sentinel_id=sentinel_id, page_id=page_id, data=data)
            for sentinel_id in sorted(wanting)
        )
        return replace(unit, events=(*unit.events, *events))
