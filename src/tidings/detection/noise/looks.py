"""Looks: which of them say what is noise, and when one is made for that (detection §4.3)."""

from __future__ import annotations

from dataclasses import dataclass, replace

from tidings.detection.noise.memory import SOON, Memory
from tidings.model.interval import Instant

AT_FIRST = 8
POLLS_A_SECOND_LOOK = 50
"""Second looks that a page may have: so many at first, and one in so many polls."""
AT_FIRST_MASKED = 2
"""Second looks after which what is noise already is tested again, once in `POLLS_A_SECOND_LOOK` polls."""


@dataclass(frozen=True, slots=True)
class Looked:
    """A look: how many polls the page has had with it, when it was, and whether it was made right after another to tell noise from news."""

    polls: int
    at: Instant
    is_second: bool = False


def is_soon(before: Instant, now: Instant) -> bool:
    """Return whether a second look comes soon enough after the one before to tell noise from news."""
    return before > 0 and now - before <= SOON


def calm(memory: Memory, looked: Looked) -> Memory:
    """Return what is known after a look that found nothing changed, and after those before it of which nobody told."""
    steady = max(0, looked.polls - memory.polls)
    things = [
        thing.rest(steady - 1).rest(1, is_second=looked.is_second) if steady else thing for thing in memory.things
    ]
    return replace(memory.with_things(things), polls=looked.polls).settle()


def count_poll(memory: Memory, looked: Looked) -> Memory:
    """Return what is known after a look from which everything was learned."""
    return replace(memory, polls=looked.polls)


def with_second_look(memory: Memory, polls: int) -> tuple[Memory, bool]:
    """Return what is known, and whether the page should be fetched once more within a minute to tell noise from news."""
    more = polls // POLLS_A_SECOND_LOOK
    is_doubtful = memory.seconds < AT_FIRST + more and any(
        thing.is_doubtful and (memory.seconds < AT_FIRST or thing.changed > 1) for thing in memory.things
    )
    is_tested = memory.seconds < AT_FIRST_MASKED + more and any(not thing.wanted for thing in memory.masks)
    if not is_doubtful and not is_tested:
        return memory, False
    return replace(memory, seconds=memory.seconds + 1), True
