"""Stall: while the data directory takes nothing the service asks for nothing, says so, and goes on by itself when it can (F-08).

A disk that is full, a quota, a file system that turned read-only, no memory, no file descriptor: each step then begins with a small write, and
nothing else is done until that succeeds. Pages whose look could not be kept are asked for again soon.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tidings.clock import HOUR
from tidings.errors import StoreStalledError
from tidings.model.unit import Event
from tidings.service.show.records import STALLED, rfc3339

if TYPE_CHECKING:
    from collections.abc import Callable

    from tidings.model.interval import Duration, Instant

ONE_FAULT: Final[Duration] = HOUR
"""Stalls that are no further apart are one fault, which is reported once."""


def stall_of(error: BaseException) -> StoreStalledError | None:
    """Return what an error says of the data directory or the machine, None if it is another fault."""
    if isinstance(error, MemoryError):
        return StoreStalledError("no memory is left for what was under way")
    return error if isinstance(error, StoreStalledError) else None


class Stall:
    """Whether the service stands still, since when and why. `say` lets other processes know."""

    def __init__(self, say: Callable[[str], None]) -> None:
        self._say = say
        self.error: StoreStalledError | None = None
        """why nothing can be stored, None if it can"""
        self._since: Instant = 0
        self._last: Instant | None = None
        self._is_reported = False

    def begin(self, error: StoreStalledError, at: Instant) -> None:
        """Note that something could not be stored."""
        if self._last is None or at - self._last > ONE_FAULT:
            self._since, self._is_reported = at, False
        self.error, self._last = error, at
        self._say(f"since {(rfc3339(self._since) or '')[:19]}Z nothing can be stored: {error}")

    def end(self) -> None:
        """Note that it can again."""
        self.error = None
        self._say("")

    def report(self, at: Instant) -> Event | None:
        """Return what tells of this fault, None if that is told."""
        if self.error is None or self._is_reported:
            return None
        return Event(type=STALLED, at=at, data={"since": self._since, "reason": str(self.error)})

    def note_reported(self) -> None:
        """Note that the report is stored."""
        self._is_reported = True
