"""Count the polls of a page for its noise, and decide when a second poll is made to part noise from
changes (detection §4.3). It reads no page, so the process that polls can use it.
"""

from __future__ import annotations

from tidings.detection.noise.memory import SOON, Memory
from tidings.model.interval import Instant
from tidings.record import dataclass, replace

AT_FIRST = 8
SECOND_POLL_EVERY = 50
"""The limit of second polls of a page: so many at first, and one per so many polls."""
AT_FIRST_MASKED = 2
"""Second polls after which known noise is tested again, once in `SECOND_POLL_EVERY` polls."""


@dataclass(frozen=True, slots=True)
class NumberedPoll:
    """A poll: its number on the page, its time, and whether it was made right after another to
    separate noise from changes.
    """

    polls: int
    at: Instant
    is_second: bool = False


def is_soon(before: Instant, now: Instant) -> bool:
    """Return whether a second poll comes soon enough after the one before to separate noise from
    changes.
    """
    return before > 0 and now - before <= SOON


def calm(memory: Memory, poll: NumberedPoll) -> Memory:
    """Return the memory after a poll without changes, and after uncounted ones before it."""
    steady = max(0, poll.polls - memory.polls)
    things = [thing.rest(steady - 1).rest(1, is_second=poll.is_second) if steady else thing for thing in memory.things]
    return replace(memory.with_things(things), polls=poll.polls).settle()


def count_poll(memory: Memory, poll: NumberedPoll) -> Memory:
    """Return the memory after a poll from which everything was learned."""
    return replace(memory, polls=poll.polls)


def with_second_poll(memory: Memory, polls: int) -> tuple[Memory, bool]:
    """Return the memory, and whether the page should be polled again within a minute to separate
    noise from changes.
    """
    more = polls // SECOND_POLL_EVERY
    is_doubtful = memory.seconds < AT_FIRST + more and any(
        thing.is_doubtful and (memory.seconds < AT_FIRST or thing.changed > 1) for thing in memory.things
    )
    is_tested = memory.seconds < AT_FIRST_MASKED + more and any(not thing.wanted for thing in memory.masks)
    if not is_doubtful and not is_tested:
        return memory, False
    return replace(memory, seconds=memory.seconds + 1), True
