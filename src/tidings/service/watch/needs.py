"""Needs: polls with a deadline, beside ticks and bids (001 §2.1).

In memory only: their owners (the behaviours of `service.rules`, and `plan.planner`) settle them
again at each start. A poll of a page is recorded as an event for each sentinel that waits for it; a
failed poll is not, and uses up no deadline.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from tidings.model.event_type import EventType
from tidings.model.observed.poll_reason import PollReason
from tidings.model.observed.unit import Event
from tidings.record import dataclass, replace

if TYPE_CHECKING:
    from tidings.model.interval import ExecutionInterval, Instant
    from tidings.model.observed.unit import Unit

POLLED = EventType.PAGE_POLLED
"""The event of a good poll of a page that a sentinel waited for. Other polls have none."""
GOOD = frozenset({"new", "unchanged", "changed"})


@dataclass(frozen=True, slots=True)
class Deadline:
    """A poll of a page within an interval, for a sentinel; `why` is its purpose, `late` the purpose
    once the interval is over.

    `left` is the number of polls, including this one, still missing of those needed together.
    `is_logged`: the poll is recorded as an event, for rules. `is_kept`: it stays open after the
    interval, until a poll that began in or after it.
    """

    page_id: int
    sentinel_id: int
    interval: ExecutionInterval
    why: PollReason
    late: PollReason | None = None
    left: int = 1
    is_logged: bool = True
    is_kept: bool = False

    def is_served(self, begun: Instant, at: Instant) -> bool:
        """Return whether a poll from `begun` to `at` serves it."""
        if self.is_kept:
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
            d for some in self._by_page.values() for d in some if d.is_logged and not d.is_kept and d.interval.end < now
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
