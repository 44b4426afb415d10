"""Circuit breakers: pause a host after five failures in a row, and detect outages of our own
network.

After five failures a host gets single requests, with growing pauses. Pages have their own back-off;
this keeps a host's many pages from trying it in turn while it is down.

During an outage of our network pages keep their state: none is marked as failing. Events record its
start and end; recipients of changes are notified of both if it lasts for an hour.
"""

from __future__ import annotations

from collections import OrderedDict
from typing import TYPE_CHECKING, Final

from tidings.clock import DAY, HOUR, MINUTE
from tidings.model.event_type import EventType
from tidings.service.plan.spread import lengthen

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tidings.model.interval import Duration, Instant
    from tidings.model.observed.outcome import Outcome

TRIPS_AFTER: Final = 5
FIRST_PAUSE: Final = MINUTE
UNWELL: Final = frozenset({"net", "5xx", "busy", "framing"})
"""Failure kinds that concern the host; a 404 concerns the page."""

_TOO_MANY: Final = 429


class Circuits:
    """Counts consecutive failures by host."""

    def __init__(self) -> None:
        self._failures: dict[str, int] = {}

    def note(self, host: str, outcome: Outcome) -> Duration:
        """Record an answer and return how long to pause the host (µs), 0 for not at all."""
        kind = getattr(outcome, "kind", "")
        if kind not in UNWELL:
            self._failures.pop(host, None)
            return 0
        failures = self._failures.get(host, 0) + 1
        if getattr(outcome, "status", None) == _TOO_MANY:  # the host is asked too often, whichever page it was
            failures = max(failures, TRIPS_AFTER)
        self._failures[host] = failures
        if failures < TRIPS_AFTER:
            return 0
        pause: Duration = FIRST_PAUSE * 2 ** min(failures - TRIPS_AFTER, 16)
        return lengthen(min(pause, DAY), host, failures)


LEAST_HOSTS: Final = 3
"""Fewer hosts do not show that the network is down."""
REMEMBERED = 10 * MINUTE
"""Older answers are ignored."""
LASTING: Final[Duration] = HOUR
"""Recipients are notified once an outage has lasted this long; a restarting router is not news."""


class NetworkWatch:
    """Stores the last answer of each host."""

    def __init__(self) -> None:
        self._last: OrderedDict[str, tuple[Instant, bool]] = OrderedDict()
        self._unreachable = 0
        self._since: Instant | None = None
        """the start of the outage that is reported as begun and not as over"""
        self._is_announced = False
        self.reason = ""
        """why the last host could not be reached"""

    def news(self, at: Instant) -> tuple[tuple[EventType, Instant], ...]:
        """Return what is not reported yet: (event type, start of the outage), at most one of each
        type.
        """
        since = self._since
        if not self.is_down:
            if since is None:
                return ()
            return (
                (EventType.NETWORK_UP, since),
                *(((EventType.NETWORK_BACK, since),) if self._is_announced else ()),
            )
        if since is None:
            return ((EventType.NETWORK_DOWN, at),)
        return ((EventType.NETWORK_AWAY, since),) if at - since >= LASTING and not self._is_announced else ()

    def note_reported(self, news: Iterable[tuple[EventType, Instant]]) -> None:
        """Record that news are stored."""
        for kind, since in news:
            self._is_announced = kind == EventType.NETWORK_AWAY
            self._since = since if kind in {EventType.NETWORK_DOWN, EventType.NETWORK_AWAY} else None

    def note(self, host: str, *, reached: bool, at: Instant, reason: str = "") -> None:
        """Record whether a host could be reached; an HTTP error is an answer.

        Args:
            host: The host.
            reached: Whether it was reached.
            at: When (µs).
            reason: Why it was not; empty if it was.
        """
        self.reason = reason or self.reason
        self._forget(host)
        self._last[host] = (at, reached)
        self._unreachable += not reached
        while self._last and next(iter(self._last.values()))[0] < at - REMEMBERED:
            self._forget(next(iter(self._last)))

    @property
    def is_down(self) -> bool:
        """Return whether more than half of the recently asked hosts could not be reached.

        At least three must have been asked for an outage to begin; for it to last, one.
        """
        has_enough = len(self._last) >= LEAST_HOSTS or self._since is not None
        return has_enough and self._unreachable * 2 > len(self._last)

    def _forget(self, host: str) -> None:
        known = self._last.pop(host, None)
        if known is not None:
            self._unreachable -= not known[1]
