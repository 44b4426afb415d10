"""Looks: which of them are of the same few minutes, and which are asked for to tell noise from news (detection.md §4.3)."""

from __future__ import annotations

from dataclasses import dataclass, replace

from tidings.detection.noise.memory import QUICK, Memory
from tidings.model.interval import Instant

AT_FIRST = 2
POLLS_A_SECOND_LOOK = 50
"""Second looks that a page may have: so many at first, and one in so many polls."""


@dataclass(frozen=True, slots=True)
class Looked:
    """A look: how many polls the page has had with it, when it was, and whether the one before is of the same few minutes."""

    polls: int
    at: Instant
    is_quick: bool = False


def is_quick(before: Instant, now: Instant) -> bool:
    """Return whether two looks are of the same few minutes."""
    return before > 0 and now - before <= QUICK


def calm(memory: Memory, looked: Looked) -> Memory:
    """Return what is known after a look that found nothing changed, and after those before it of which nobody told."""
    steady = max(0, looked.polls - memory.polls)
    things = [thing.rest(steady, is_quick=looked.is_quick) for thing in memory.things]
    return replace(memory.with_things(things), polls=looked.polls)


def with_second_look(memory: Memory, polls: int) -> tuple[Memory, bool]:
    """Return what is known, and whether the page should be looked at once more in a minute to tell noise from news."""
    allowed = AT_FIRST + polls // POLLS_A_SECOND_LOOK
    urgent = [
        thing for thing in memory.things if thing.is_doubtful and (memory.seconds < AT_FIRST or thing.changed > 1)
    ]
    if not urgent or memory.seconds >= allowed:
        return memory, False
    return replace(memory, seconds=memory.seconds + 1), True
