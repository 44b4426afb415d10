"""Time: one clock for everything that decides.

An *instant* is a whole number of microseconds since 1970-01-01 UTC, a *duration* a whole number of
microseconds. `now` never goes backwards while a process runs: intervals use it. `wall` is the
machine's time, for dates in a zone. If the machine's clock is set back or forward, `now` continues
unaffected until `restart`; `set_back` and `put_forward` return the difference. Sleep of the machine
does not set its clock forward. A `ManualClock` moves only when told to, so that a test can pass a
month without sleeping.
"""

from __future__ import annotations

import heapq
import itertools
import sys
import time
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from asyncio import Future

Instant = int
Duration = int

MILLISECOND: Duration = 1_000
SECOND: Duration = 1_000_000
MINUTE: Duration = 60 * SECOND
HOUR: Duration = 60 * MINUTE
DAY: Duration = 24 * HOUR
WEEK: Duration = 7 * DAY
PLAUSIBLE: Instant = 1_577_836_800 * SECOND
"""2020-01-01: a machine's clock before that was not set since boot."""
SLACK: Duration = 10 * SECOND
"""A clock set back by less is left alone until the difference has passed; one set forward by less
is followed at once.
"""


class Clock(Protocol):
    """The clock interface of the service."""

    def now(self) -> Instant:
        """Return engine time in microseconds: like `wall`, but it never goes backwards."""
        ...

    def wall(self) -> Instant:
        """Return the machine's time of day in microseconds since 1970 UTC."""
        ...

    def restart(self, at_least: Instant = 0) -> Instant:
        """Set `now` to the machine's time, even if earlier, but not before `at_least`; return the
        new `now`.
        """
        ...

    async def sleep_until(self, at: Instant) -> None:
        """Return once `now()` is `at` or later."""
        ...


def set_back(clock: Clock) -> Duration:
    """Return by how much the machine's clock was set back behind `now`, 0 if by no more than
    `SLACK`.

    A clock before `PLAUSIBLE` is ignored: `now` continues without it, and this returns 0.
    """
    now, wall = clock.now(), clock.wall()
    return now - wall if PLAUSIBLE <= wall < now - SLACK else 0


def put_forward(clock: Clock) -> Duration:
    """Return by how much the machine's clock was set forward of `now`, 0 if by no more than
    `SLACK`.
    """
    ahead = clock.wall() - clock.now()
    return ahead if ahead > SLACK else 0


class SystemClock:
    """The machine's clock. Where it deviates from its last reading plus the elapsed time, a steady
    clock takes over.
    """

    def __init__(self) -> None:
        self._last = self.wall()
        self._steady = read_steady()

    def wall(self) -> Instant:
        """Return the machine's time of day."""
        return time.time_ns() // 1_000

    def now(self) -> Instant:
        """Return the machine's time, or the last reading plus the elapsed time if that is later or
        far earlier.
        """
        wall, steady = self.wall(), read_steady()  # a pause between them in the other order would last in `_last`
        due = self._last + steady - self._steady
        self._steady, self._last = steady, wall if due < wall <= due + SLACK else due
        return self._last

    def restart(self, at_least: Instant = 0) -> Instant:
        """Set `now` to the machine's time, but not before `at_least`."""
        self._last, self._steady = max(self.wall(), at_least), read_steady()
        return self._last

    async def sleep_until(self, at: Instant) -> None:
        """Sleep on the event loop's clock for the remaining time."""
        import asyncio  # commands that never sleep start sooner without it

        while (left := at - self.now()) > 0:  # noqa: ASYNC110 - time is no event
            await asyncio.sleep(left / SECOND)


def read_steady() -> Instant:
    """Return a time that cannot be set, which on Linux includes the machine's sleep (µs)."""
    if sys.platform == "linux":
        return time.clock_gettime_ns(time.CLOCK_BOOTTIME) // 1_000
    return time.monotonic_ns() // 1_000


class ManualClock:
    """A clock for tests, which stands still until `advance` or `move_to`."""

    def __init__(self, start: Instant = 1_700_000_000 * SECOND) -> None:
        self._wall = start
        self._last = start
        self._ahead: Duration = 0
        self._sleepers: list[tuple[Instant, int, Future[None]]] = []
        self._order = itertools.count()

    def wall(self) -> Instant:
        """Return the time last set."""
        return self._wall

    def now(self) -> Instant:
        """Return the latest time reached."""
        return self._last

    def advance(self, by: Duration) -> Instant:
        """Move forward by a duration; wake sleepers that are due; return the new time."""
        return self.move_to(self._wall + by)

    def move_to(self, at: Instant) -> Instant:
        """Set the wall time, also backwards (then `now` stands still until `restart`); wake
        sleepers that are due.
        """
        self._wall = at
        self._last = max(self._last, at - self._ahead)
        while self._sleepers and self._sleepers[0][0] <= self._last:
            _, _, future = heapq.heappop(self._sleepers)
            if not future.done():
                future.set_result(None)
        return self._last

    def put_forward(self, by: Duration) -> None:
        """Set the wall time forward without time passing: `now` continues unaffected until
        `restart`.
        """
        self._wall += by
        self._ahead += by

    def restart(self, at_least: Instant = 0) -> Instant:
        """Set `now` to the wall time, but not before `at_least`."""
        self._last, self._ahead = max(self._wall, at_least), 0
        return self._last

    def next_wake(self) -> Instant | None:
        """Return the earliest instant that a sleeper waits for, or None."""
        while self._sleepers and self._sleepers[0][2].done():
            heapq.heappop(self._sleepers)
        return self._sleepers[0][0] if self._sleepers else None

    def sleeping(self) -> int:
        """Return the number of sleepers."""
        return sum(not future.done() for _, _, future in self._sleepers)

    async def sleep_until(self, at: Instant) -> None:
        """Wait until a test moves the clock to `at` or later."""
        if at <= self._last:
            return
        import asyncio

        future: Future[None] = asyncio.get_running_loop().create_future()
        heapq.heappush(self._sleepers, (at, next(self._order), future))
        await future
