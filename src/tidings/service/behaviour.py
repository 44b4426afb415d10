"""The interface of behaviours: what sentinels do by rules over events (sentinels §3.5).

A behaviour declares a sentinel's rules, handles each firing, and returns *effects*: what is to be
written. It writes nothing itself, and its only state for a sentinel is the `memory`, stored with
the state of its rules: after a crash the same events give the same effects. Message contents are
never in a memory: they are read from the event log, by event number.

Log events reach rules under the names of `name_logged`, one per sentinel, so that no sentinel's
rules wait for another's.
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
    """Return the engine event for a log event of a sentinel's rules; with `page_id` only that
    page's.

    `name_logged("change.found", 7)` occurs at each change found for sentinel 7,
    `name_logged("page.error", 7, 3)` at each error of page 3, which it watches. Params of the
    occurrence: `seq`, the event's number, `page` and `change` if it has them, and its textual and
    numeric data.
    """
    return Primitive(f"{event_type}({sentinel_id})" if page_id is None else f"{event_type}({sentinel_id}, {page_id})")


def happening(event: str, sentinel_id: int) -> Primitive:
    """Return the engine event for an external event (`Create Event NAME`) of a sentinel's rules.

    Params of the occurrence: those of the event, and `seq`, its number in the log. A behaviour that
    uses it lists `watches.outside.HAPPENED` in `event_types`.
    """
    return Primitive(f"event.{event}({sentinel_id})")


def own(name: str, sentinel_id: int) -> Primitive:
    """Return an event that only a sentinel's own behaviour raises."""
    return Primitive(f"{name}({sentinel_id})")


def name_opening(rule: str, sentinel_id: int) -> Primitive:
    """Return the event that occurs once, right after the `WantedRule` of that name was added with
    `is_opened`.
    """
    return own(f"opened {rule}", sentinel_id)


def name_closing(sentinel_id: int) -> Primitive:
    """Return the event that never occurs, for operators that need a terminator. A sentinel's rules
    are removed at its end.
    """
    return own("closed", sentinel_id)


class WantedRule(NamedTuple):
    """A rule that a sentinel needs. `is_opened`: `opened` occurs once it is added, which starts a
    clock.

    Its name begins with the behaviour's and a dot (`telling.0.tick`). A rule with unchanged `data`
    is left in place with its pending state, whatever else differs: `data` has all that matters. The
    behaviour gets firings of every coupling, including detached ones.
    """

    rule: Rule
    is_opened: bool = False


@dataclass(slots=True)
class Moment:
    """The time and the sentinel of a call to a behaviour.

    `memory` is this behaviour's for this sentinel, plain JSON, to be changed in place. `at` is the
    engine's time; `upto` is the number of the last event processed: messages report no later ones.
    `pauses` are the sentinel's (begin, end); `resumed` is the length of the pause that ends now, by
    which waits in the memory are extended. `are_stored`: all earlier effects are stored.
    """

    watched: WatchedSentinel
    memory: dict[str, Any]
    at: Instant
    upto: int
    pauses: Sequence[tuple[Instant, Instant]] = ()
    resumed: Duration = 0
    are_stored: bool = True

    def measure_pause(self, first: Instant, last: Instant) -> Duration:
        """Return how long the sentinel was disabled between two instants; that time does not count
        in its windows.
        """
        return sum(max(0, min(ended, last) - max(begun, first)) for begun, ended in self.pauses)


def postpone(start: Instant, end: Instant, moment: Moment) -> tuple[Instant, Instant]:
    """Return an interval shifted by the pause that ends now: its remaining time stays; a past start
    does not move.
    """
    had_begun = start <= moment.at - moment.resumed
    return (start if had_begun else start + moment.resumed), end + moment.resumed


@dataclass(frozen=True, slots=True)
class Effects:
    """The result of a firing, written in one unit with the state of the sentinel's rules.
    `DeliveryDraft.events` are positions in `events`.

    Its events are processed in turn like all log events. `texts` are those that decided who is
    notified of them at once (`Unit.texts`). `raised` events occur to the rules of this
    sentinel only, right after these effects; their types are the sentinel's own (`own`).
    """

    events: tuple[Event, ...] = ()
    changes: tuple[ChangeRow, ...] = ()
    deliveries: tuple[DeliveryDraft, ...] = ()
    timers: tuple[Timer, ...] = ()
    sentinels: tuple[SentinelMove, ...] = ()
    raised: tuple[Raised, ...] = ()
    texts: tuple[tuple[int, int], ...] = ()


NO_EFFECTS = Effects()


@dataclass(frozen=True, slots=True)
class Arrangement:
    """The rules that a sentinel needs now, and effects for its former ones. `waits`: the memory is
    needed later, although there may be no rule.
    """

    wanted: Sequence[WantedRule] = ()
    effects: Effects = NO_EFFECTS
    waits: bool = False


class Behaviour(Protocol):
    """One thing that sentinels do by rules. `name` is the first part of its rules' names and its
    key in the stored state.
    """

    @property
    def name(self) -> str:
        """Return a name without a dot."""
        ...

    @property
    def event_types(self) -> frozenset[str]:
        """Return the types of log events that its rules use."""
        ...

    @property
    def conditions(self) -> Mapping[str, Condition]:
        """Return the conditions of its rules by name; the names begin with its own."""
        ...

    @property
    def actions(self) -> Mapping[str, Action]:
        """Return the actions of its rules by name; the names begin with its own."""
        ...

    def concerns(self, watched: WatchedSentinel) -> bool:
        """Return whether a sentinel needs rules of this behaviour; one that does not costs
        nothing.
        """
        ...

    async def arrange(self, moment: Moment) -> Arrangement:
        """Return the rules that a sentinel needs. Called at its start, when it is altered, and when
        the service starts.

        The memory is empty for a sentinel that is new to this behaviour.
        """
        ...

    async def act(self, moment: Moment, firing: Firing) -> Effects:
        """Return the effects of a firing."""
        ...

    async def finish(self, moment: Moment) -> Effects:
        """Return the last effects for an ended sentinel; its rules and memory are then deleted."""
        ...

    def note_memory(self, sentinel_id: int, memory: Mapping[str, Any] | None) -> None:
        """Update state outside the rules: a memory was committed or, at the start of the service,
        loaded; None: deleted.
        """
        ...
