"""Hold what has failed for some minutes, so that no fault is repeated at the speed of steps."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Generic, TypeVar

from tidings.clock import MINUTE

if TYPE_CHECKING:
    from tidings.model.interval import Duration, Instant

HOLD_AFTER_FAULT: Final[Duration] = 10 * MINUTE
"""how long a page, a receiver, a sentinel or a part of the step is left alone after a fault"""
Held = TypeVar("Held", int, str)


class FaultHolds(Generic[Held]):
    """What is held, and until when."""

    def __init__(self) -> None:
        self._until: dict[Held, Instant] = {}

    def begin(self, held: Held, now: Instant) -> None:
        """Hold something from now on."""
        self._until[held] = now + HOLD_AFTER_FAULT

    def has(self, held: Held, now: Instant) -> bool:
        """Return whether something is held now."""
        return self._until.get(held, now) > now

    def list_held(self, now: Instant) -> list[Held]:
        """Return what is held now."""
        return [held for held, until in self._until.items() if until > now]

    def delay(self, held: Held, at: Instant) -> Instant:
        """Return `at`, or the end of the hold if that is later."""
        return max(at, self._until.get(held, at))

    def next_end(self, now: Instant) -> Instant | None:
        """Return when the next hold ends, None if nothing is held."""
        return min((until for until in self._until.values() if until > now), default=None)
