"""The circuit of a host: after five failures in a row it is asked singly, with pauses that double up to a day and are up to a fifth longer from
host to host (F-16). One 429 is enough.

Pages have their own back-off; this keeps the many pages of one host from asking it in turn while it is down.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tidings.clock import DAY, MINUTE
from tidings.service.plan.jitter import lengthen

if TYPE_CHECKING:
    from tidings.model.interval import Duration
    from tidings.model.observed.outcome import Outcome

TRIPS_AFTER: Final = 5
FIRST_PAUSE: Final = MINUTE
UNWELL: Final = frozenset({"net", "5xx", "busy", "framing"})
"""Kinds of failure that speak of the host; a 404 speaks of the page."""

_TOO_MANY: Final = 429


class Circuits:
    """Counts failures in a row, a host each."""

    def __init__(self) -> None:
        self._failures: dict[str, int] = {}

    def hear(self, host: str, outcome: Outcome) -> Duration:
        """Note an answer and return how long the host is to be left alone (µs), 0 for not at all."""
        kind = getattr(outcome, "kind", "")
        if kind not in UNWELL:
            self._failures.pop(host, None)
            return 0
        failures = self._failures.get(host, 0) + 1
        if getattr(outcome, "status", None) == _TOO_MANY:  # all that is asked there is too much, whichever page it was
            failures = max(failures, TRIPS_AFTER)
        self._failures[host] = failures
        if failures < TRIPS_AFTER:
            return 0
        pause: Duration = FIRST_PAUSE * 2 ** min(failures - TRIPS_AFTER, 16)
        return lengthen(min(pause, DAY), host, failures)
