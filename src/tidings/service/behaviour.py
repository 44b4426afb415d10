"""The contract of behaviours: what sentinels do by rules over what happens (sentinels §3.5).

A behaviour says which rules a sentinel needs, hears of each firing, and answers with *deeds*: what
is to be written. It does no writing itself and holds nothing of a sentinel but what stands in its
`memory`, which is stored with the state of its rules: after a crash the same events bring the same
deeds. What a message says is never in a memory: it is read from the event log, by event number.

The events of the log are heard by the names that `heard` gives them. Each sentinel has its own, so
that no sentinel's rules wait for another's.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from tidings.events.expression import Primitive
from tidings.record import dataclass

if TYPE_CHECKING:
    from tidings.events.rule import Action, Condition, Firing, Raised, Rule
    from tidings.model.interval import Duration, Instant
    from tidings.model.observed.unit import ChangeRow, DeliveryDraft, Event, SentinelMove, Timer
    from tidings.service.watch.watchlist import WatchedSentinel


def name_logged(event_type: str, sentinel_id: int, page_id: int | None = None) -> Primitive:
    """Return the event of the engine that an event of the log is to the rules of a sentinel; with `page_id` only that page's.

    `name_logged("change.found", 7)` occurs at each change found for sentinel 7, `name_logged("page.error", 7, 3)` at each error of page 3, which
    it watches. Params of the occurrence: `seq`, the event's number, `page` and `change` if it has them, and those of its data that are texts
    or numbers.
    """
    return Primitive(f"{event_type}({sentinel_id})" if page_id is None else f"{event_type}({sentinel_id}, {page_id})")


def happening(event: str, sentinel_id: int) -> Primitive:
    """Return what an event of other origin (`Create Event NAME`) is to the rules of a sentinel.

    Params of the occurrence: those that the event came with, and `seq`, its number in the log. A behaviour that hears it names
    `storage.outside.HAPPENED` among what it `hears`.
    """
    return Primitive(f"event.{event}({sentinel_id})")


def own(name: str, sentinel_id: int) -> Primitive:
    """Return an event that only a sentinel's own behaviour raises."""
    return Primitive(f"{name}({sentinel_id})")


def name_opening(rule: str, sentinel_id: int) -> Primitive:
    """Return the event that occurs once, right after the `WantedRule` rule of that name was added as one to be opened."""
    return own(f"opened {rule}", sentinel_id)


def name_closing(sentinel_id: int) -> Primitive:
    """Return the event that never occurs: for operators that need a terminator. A sentinel's rules go with it, at its end."""
    return own("closed", sentinel_id)


class WantedRule(NamedTuple):
    """A rule that a sentinel needs. `is_opened`: once it is there, `opened` occurs for it; a clock is set going so.

    Its name begins with the behaviour's and a dot (`telling.0.tick`). A rule whose `data` is as it was is kept, with all that waits in
    it, whatever else differs: `data` says all that matters. Firings of every coupling are told to the behaviour, detached ones too.
    """

    rule: Rule
    is_opened: bool = False


@dataclass(slots=True)
class Moment:
    """When a behaviour is asked, and for whom.

    `memory` is this behaviour's for this sentinel, plain JSON, to be changed in place. `at` is the engine's time; `upto` is the number of
    the last event that had been heard then: what a message may tell of goes no further. `pauses` are those that its sentinel had
    (begin, end); `resumed` is how long the one was that ends now: what waits in the memory has so much longer.
    """

    held: WatchedSentinel
    memory: dict[str, Any]
    at: Instant
    upto: int
    pauses: Sequence[tuple[Instant, Instant]] = ()
    resumed: Duration = 0

    def measure_pause(self, first: Instant, last: Instant) -> Duration:
        """Return how long the sentinel was disabled between two instants: such time is none of its windows'."""
        return sum(max(0, min(ended, last) - max(begun, first)) for begun, ended in self.pauses)


def postpone(start: Instant, end: Instant, moment: Moment) -> tuple[Instant, Instant]:
    """Return a stretch of time after the pause that ends now: it has as much left as it had; if it had begun, it has."""
    had_begun = start <= moment.at - moment.resumed
    return (start if had_begun else start + moment.resumed), end + moment.resumed


@dataclass(frozen=True, slots=True)
class Deeds:
    """What comes of a firing: written in one unit with the state of the sentinel's rules. `DeliveryDraft.events` are places in `events`.

    Events among them are heard, in their turn, as all events of the log are. What is `raised` occurs to the rules of the sentinel right
    after these deeds, and nowhere else; its type is the sentinel's own (`own`).
    """

    events: tuple[Event, ...] = ()
    changes: tuple[ChangeRow, ...] = ()
    deliveries: tuple[DeliveryDraft, ...] = ()
    timers: tuple[Timer, ...] = ()
    sentinels: tuple[SentinelMove, ...] = ()
    raised: tuple[Raised, ...] = ()


NO_DEEDS = Deeds()


@dataclass(frozen=True, slots=True)
class Arrangement:
    """The rules that a sentinel needs as it is now, and what is to be done about those that it had."""

    wanted: Sequence[WantedRule] = ()
    deeds: Deeds = NO_DEEDS


class Behaviour(Protocol):
    """One thing that sentinels do by rules. `name` is the first part of its rules' names and its key in the stored state."""

    @property
    def name(self) -> str:
        """Return a word without a dot."""
        ...

    @property
    def hears(self) -> frozenset[str]:
        """Return the types of events of the log that its rules hear of."""
        ...

    @property
    def conditions(self) -> Mapping[str, Condition]:
        """Return what the names of conditions in its rules mean; the names begin with its own."""
        ...

    @property
    def actions(self) -> Mapping[str, Action]:
        """Return what the names of actions in its rules mean; the names begin with its own."""
        ...

    def concerns(self, held: WatchedSentinel) -> bool:
        """Say whether a sentinel needs rules of this behaviour; one that needs none costs nothing."""
        ...

    async def arrange(self, moment: Moment) -> Arrangement:
        """Return the rules that a sentinel needs: asked at its start, when it was altered, and when the service starts.

        An empty memory is that of a sentinel that this behaviour has not met.
        """
        ...

    async def act(self, moment: Moment, firing: Firing) -> Deeds:
        """Return what comes of a firing."""
        ...

    async def finish(self, moment: Moment) -> Deeds:
        """Return what is left to be done for a sentinel that has ended; its rules and memory are gone after it."""
        ...

    def note_memory(self, sentinel_id: int, memory: Mapping[str, Any] | None) -> None:
        """Hear that a memory was committed or, when the service starts, read; None: it is gone. For what lives beside the rules."""
        ...
