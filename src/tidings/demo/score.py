"""The count: how many of the town's edits were reported, how soon, and what a fixed interval would
have found with as many polls.

Nothing here is hard-coded. The town's own log has the edits, the service's poll records the polls,
and the received messages the reports. Edits reported in one message count once. Instants and
durations are µs.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Mapping, Sequence
from statistics import median

from tidings.model.interval import Duration, Instant
from tidings.record import dataclass


@dataclass(frozen=True, slots=True)
class Logged:
    """An edit: when, and the content from then on."""

    at: Instant
    said: str
    content: str


@dataclass(frozen=True, slots=True)
class Notified:
    """A message: it reported a page after its first `number` edits, and arrived `at`."""

    number: int
    at: Instant


@dataclass(frozen=True, slots=True)
class Tally:
    """The reported edits: their delays, how many were overtaken by later ones, how many are
    pending.
    """

    delays: tuple[Duration, ...] = ()
    overtaken: int = 0
    waiting: int = 0

    @property
    def told(self) -> int:
        """Return how many changes were reported."""
        return len(self.delays)

    @property
    def median_seconds(self) -> float | None:
        """Return the median delay, None if nothing was reported."""
        return median(self.delays) / 1_000_000 if self.delays else None

    def __add__(self, other: Tally) -> Tally:
        return Tally(self.delays + other.delays, self.overtaken + other.overtaken, self.waiting + other.waiting)


Log = Mapping[str, Sequence[Logged]]
"""Page → its edits in order."""


def tally(log: Log, tellings: Mapping[str, Sequence[Notified]]) -> Tally:
    """Return the tally of messages. A delay runs from the oldest edit of a message to its
    arrival.
    """
    return sum((_tally(edits, tellings.get(place, ())) for place, edits in log.items()), Tally())


def _tally(edits: Sequence[Logged], tellings: Sequence[Notified]) -> Tally:
    delays: list[Duration] = []
    overtaken = seen = 0
    for telling in sorted(tellings, key=lambda telling: telling.number):
        if telling.number > seen:
            delays.append(telling.at - edits[seen].at)
            overtaken += telling.number - seen - 1
            seen = telling.number
    return Tally(tuple(delays), overtaken, len(edits) - seen)


def evenly(polls: int, places: Sequence[str]) -> dict[str, int]:
    """Return the polls of each page if all have the same interval; the remainder goes to the first
    ones.
    """
    each, left = divmod(polls, len(places))
    return {place: each + (number < left) for number, place in enumerate(places)}


Span = tuple[Instant, Instant]


def count_fixed_interval(
    log: Log,
    opening: Mapping[str, str],
    *,
    polls: Mapping[str, int],
    alive: Sequence[Span],
    is_down: Callable[[str, Instant], bool] = lambda place, at: False,  # noqa: ARG005 - never
) -> Tally:
    """Return the tally of evenly spaced checks at each page over the periods in which the service
    was `alive`.

    Each check is in the middle of its interval and is reported at once. A poll of a page whose
    server is down finds nothing. `opening` has the contents before the first edit.

    Args:
        log: The edits of each page.
        polls: The number of checks of each page.
        is_down: Whether the server of a page is down at an instant.
    """
    total = Tally()
    for place, edits in log.items():
        seen = [at for at in _instants(alive, polls[place]) if not is_down(place, at)]
        total += _count_fixed(edits, opening[place], seen)
    return total


def _instants(alive: Sequence[Span], polls: int) -> list[Instant]:
    """Return the midpoints of `polls` equal parts of the joined periods."""
    whole = sum(end - begin for begin, end in alive)
    found: list[Instant] = []
    before = 0
    for begin, end in alive:
        while len(found) < polls and (at := whole * (2 * len(found) + 1) // (2 * polls)) < before + end - begin:
            found.append(begin + at - before)
        before += end - begin
    return found


def _count_fixed(edits: Sequence[Logged], opening: str, polls: Sequence[Instant]) -> Tally:
    instants = [edit.at for edit in edits]
    tellings: list[Notified] = []
    shown = opening
    for at in polls:
        number = bisect_right(instants, at)
        content = edits[number - 1].content if number else opening
        if content != shown:
            tellings.append(Notified(number, at))
            shown = content
    return _tally(edits, tellings)
