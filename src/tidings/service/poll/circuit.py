"""The circuit breaker of a host: after five failures in a row it gets single requests, with pauses
that double up to a day, plus up to a fifth that differs from host to host (F-16). One 429 is
enough.

Pages have their own back-off; this keeps a host's many pages from trying it in turn while it is
down.
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
"""Failure kinds that concern the host; a 404 concerns the page."""

_TOO_MANY: Final = 429


class Circuits:
    """Counts consecutive failures by host."""

    def __init__(self) -> None:
        self._failures: dict[str, int] = {}

    def hear(self, host: str, outcome: Outcome) -> Duration:
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
