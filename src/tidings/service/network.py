"""Our own network: when most hosts fail at once, it is not they (sentinels_and_events §5.3, trust.md F-15).

While it is down pages keep their state: nobody is marked as failing, one event tells that nothing can be reached, one that it can again.
"""

from __future__ import annotations

from collections import OrderedDict
from typing import TYPE_CHECKING, Final

from tidings.clock import MINUTE

if TYPE_CHECKING:
    from tidings.model.interval import Instant

LEAST_HOSTS: Final = 3
"""Fewer hosts say nothing about the network."""
REMEMBERED = 10 * MINUTE
"""Older answers count no more."""


class NetworkWatch:
    """Remembers the last answer of each host."""

    def __init__(self) -> None:
        self._last: OrderedDict[str, tuple[Instant, bool]] = OrderedDict()
        self._unreachable = 0

    def hear(self, host: str, *, reached: bool, at: Instant) -> None:
        """Note whether a host could be reached; an HTTP error is an answer like any other."""
        self._forget(host)
        self._last[host] = (at, reached)
        self._unreachable += not reached
        while self._last and next(iter(self._last.values()))[0] < at - REMEMBERED:
            self._forget(next(iter(self._last)))

    @property
    def is_down(self) -> bool:
        """Say whether more than half of the hosts asked lately could not be reached."""
        return len(self._last) >= LEAST_HOSTS and self._unreachable * 2 > len(self._last)

    def _forget(self, host: str) -> None:
        known = self._last.pop(host, None)
        if known is not None:
            self._unreachable -= not known[1]
