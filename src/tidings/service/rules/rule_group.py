"""A sentinel's group of rules: its data beside the engine's state, and its effects."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field
from typing import TYPE_CHECKING, Any

from tidings.events.expression import Periodic, from_json
from tidings.events.shifts import earlier, postpone, take_back
from tidings.model.event_type import EventType
from tidings.model.observed.unit import Event, Unit
from tidings.record import dataclass, replace
from tidings.service.behaviour import Effects

if TYPE_CHECKING:
    from tidings.events.rule import Rule
    from tidings.model.interval import Instant
    from tidings.service.watch.watchlist import WatchedSentinel
    from tidings.storage.watches.events import EventRow


BY_THE_WALL = "telling."
"""Prefix of rules whose windows and clocks follow the calendar: a pause of their sentinel stops but
does not shift them.
"""
MOST_PAUSES = 32
"""Most pauses stored; windows reach no further back."""


@dataclass(slots=True)
class Pause:
    """A pause of a sentinel from `since`: its rules before (a dump of the engine, None if it had
    none), and the numbers of its own events meanwhile, from polls that were running.
    """

    since: Instant
    rules: dict[str, Any] | None
    missed: list[int] = field(default_factory=list)


@dataclass(slots=True)
class RuleGroup:
    """The rules of one sentinel: its behaviours' memory, the last event and instant in its stored
    state.

    `pause` is set while it is disabled: its rules are then not in the engine. `pauses` are past
    ones, the latest last.
    """

    sentinel_id: int
    upto: int
    now: Instant = 0
    memory: dict[str, dict[str, Any]] = field(default_factory=dict)
    effects: list[Effects] = field(default_factory=list)
    is_touched: bool = False
    is_finished: bool = False
    pause: Pause | None = None
    pauses: list[tuple[Instant, Instant]] = field(default_factory=list)

    @classmethod
    def from_json(cls, sentinel_id: int, state: Mapping[str, Any]) -> RuleGroup:
        """Return the group from `to_json`'s output."""
        pause = Pause(**state["pause"]) if state.get("pause") else None
        pauses = [(begun, ended) for begun, ended in state.get("pauses", ())]
        now = state["engine"]["now"]
        return cls(sentinel_id, state["upto"], now, state["memory"], pause=pause, pauses=pauses)

    def to_json(self, dump: Mapping[str, Any]) -> dict[str, Any]:
        """Return the group to store, as plain JSON including the engine's `dump` of its rules."""
        state = {"upto": self.upto, "engine": dump, "memory": self.memory}
        if self.pause is not None:
            state["pause"] = {"since": self.pause.since, "rules": self.pause.rules, "missed": self.pause.missed}
        return state | ({"pauses": self.pauses} if self.pauses else {})

    def resume(self, at: Instant) -> tuple[list[dict[str, Any]], Pause]:
        """End the pause; return the dumps of the rules to restore, and the pause.

        Calendar rules are due as before, with new ticks from their owners; all others have as much
        time left as they had.
        """
        pause = self.pause
        assert pause is not None  # noqa: S101 - the caller checks it
        self.pause = None
        self.pauses = [*self.pauses, (pause.since, at)][-MOST_PAUSES:]
        if pause.rules is None:
            return [], pause
        rules = pause.rules["rules"]
        walled = [r for r in rules if r["name"].startswith(BY_THE_WALL) and not _is_periodic(r)]
        others = [r for r in rules if not r["name"].startswith(BY_THE_WALL)]
        dumps = ({**pause.rules, "rules": some} for some in (walled, others))
        now, later = (_prune(dump) for dump in dumps)
        return [now, postpone(later, at - pause.since)], pause

    @property
    def name(self) -> str:
        """Return its name in the engine."""
        return str(self.sentinel_id)


def list_memories(state: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the memory of each behaviour that a stored state of a group has; those that a pause of
    its sentinel stops are left out.
    """
    memory: Mapping[str, Any] = state["memory"]
    return {name: state_of for name, state_of in memory.items() if not state.get("pause") or f"{name}." == BY_THE_WALL}


def _prune(dump: dict[str, Any]) -> dict[str, Any]:
    """Return a dump without states that none of its rules has."""
    numbers = {str(number) for rule in dump["rules"] for number in rule["nodes"]}
    return {**dump, "states": {number: state for number, state in dump["states"].items() if number in numbers}}


def at_latest(state: Mapping[str, Any], now: Instant) -> Mapping[str, Any]:
    """Return the stored state of a group without anything after `now`, which a clock that was ahead
    has written; unchanged if there is none.

    Calendar clocks are created again by their owners.
    """
    ahead = state["engine"]["now"] - now
    if ahead <= 0:
        return state
    back: dict[str, Any] = {
        **state,
        "engine": take_back(_without_calendar(state["engine"]), now),
        "memory": earlier(state["memory"], ahead, after=now),
        "pauses": [pause for pause in state.get("pauses", ()) if pause[1] <= now],
    }
    if pause := state.get("pause"):
        rules = pause["rules"] and take_back(_without_calendar(pause["rules"]), now)
        back["pause"] = {**pause, "since": min(pause["since"], now), "rules": rules}
    return back


def _without_calendar(dump: dict[str, Any]) -> dict[str, Any]:
    rules = [r for r in dump["rules"] if not (r["name"].startswith(BY_THE_WALL) and _is_periodic(r))]
    return _prune({**dump, "rules": rules})


def _is_periodic(rule: Mapping[str, Any]) -> bool:
    return isinstance(from_json(rule["event"]), Periodic)


def has_started(event: EventRow, watched: WatchedSentinel) -> bool:
    """Return whether a sentinel has started before an event; one that was never enabled has nothing
    to report.
    """
    has_begun = event.type == EventType.SENTINEL_ALTERED and watched.row.started_at is not None
    return has_begun or event.type == EventType.SENTINEL_ENABLED or event.data.get("state") == "enabled"


def is_same(wanted: Rule, rule: Rule) -> bool:
    """Return whether a rule still equals the wanted one, by its `data`."""
    return dict(wanted.data) == dict(rule.data)


def fault(rule: str, text: str, at: Instant, sentinel_id: int) -> Effects:
    """Return the effects that record a failed rule or behaviour.

    Args:
        rule: The name of the rule or behaviour.
        text: The error.
        at: When (µs).
        sentinel_id: Its sentinel.
    """
    return Effects(
        events=(Event(type=EventType.PROBLEM_RULE, at=at, sentinel_id=sentinel_id, data={"rule": rule, "error": text}),)
    )


def with_effects(unit: Unit, effects: Sequence[Effects]) -> Unit:
    """Return a unit with effects in order; their deliveries refer to their events' positions
    in it.
    """
    for part in effects:
        shift = len(unit.events)
        unit = replace(
            unit,
            events=(*unit.events, *part.events),
            changes=(*unit.changes, *part.changes),
            timers=(*unit.timers, *part.timers),
            sentinels=(*unit.sentinels, *part.sentinels),
            texts=(*unit.texts, *part.texts),
            deliveries=(
                *unit.deliveries,
                *(replace(d, events=tuple(place + shift for place in d.events)) for d in part.deliveries),
            ),
        )
    return unit
