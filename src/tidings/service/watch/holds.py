"""Hold what has failed for some minutes, so that no fault is repeated at the speed of steps."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Final, Generic, TypeVar

from tidings.clock import MINUTE
from tidings.errors import ClockSetBackError, StaleEpochError, StoreStalledError
from tidings.model.event_type import EventType
from tidings.model.observed.unit import Event

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


class StepParts(FaultHolds[str]):
    """Parts of a step, by name: one that fails is held, the others go on.

    `note` is called with the name of a failed part and its error.
    """

    def __init__(self, note: Callable[[str, Exception, Instant], Awaitable[None]]) -> None:
        super().__init__()
        self._note = note

    async def do(self, part: str, work: Callable[[Instant], Awaitable[None]], now: Instant) -> None:
        """Do a part of the step, unless it is held.

        Raises `StaleEpochError` once the lease is lost, `StoreStalledError` while nothing can be
        stored or memory is short, `ClockSetBackError` once the machine's clock was set back.
        """
        if self.has(part, now):
            return
        try:
            await work(now)
        except (ClockSetBackError, StaleEpochError, StoreStalledError):
            raise
        except MemoryError as error:
            raise StoreStalledError("there was not enough memory for the work in progress") from error
        except Exception as error:  # noqa: BLE001 - any fault of one part is reported, and the others go on
            self.begin(part, now)
            await self._note(part, error, now)


def make_problem(part: str, error: Exception, at: Instant) -> Event:
    """Return the event that reports a failed part of a step (`docs/reference/health.md`)."""
    text = str(error) or type(error).__name__
    return Event(type=EventType.PROBLEM_UNIT, at=at, data={"part": part, "error": text})
