"""A sentinel's group of rules: what is known of it beside the engine's state, and what becomes of the deeds that it brings."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from tidings.model.unit import Event, Unit
from tidings.service.behaviour import Deeds

if TYPE_CHECKING:
    from tidings.events.rule import Rule
    from tidings.model.interval import Instant
    from tidings.service.watchlist import WatchedSentinel
    from tidings.storage.events import EventRow


@dataclass(slots=True)
class Group:
    """The rules of one sentinel: what its behaviours remember, the last event and instant that its stored state knows of."""

    sentinel_id: int
    upto: int
    now: Instant = 0
    memory: dict[str, dict[str, Any]] = field(default_factory=dict)
    deeds: list[Deeds] = field(default_factory=list)
    is_touched: bool = False
    is_finished: bool = False

    @property
    def name(self) -> str:
        """Return its name in the engine."""
        return str(self.sentinel_id)


def has_started(event: EventRow, held: WatchedSentinel) -> bool:
    """Say whether a sentinel's life has begun by an event; one that was never enabled has nothing to tell."""
    has_begun = event.type == "sentinel.altered" and held.row.started_at is not None
    return has_begun or event.type == "sentinel.enabled" or event.data.get("state") == "enabled"


def is_same(wanted: Rule, rule: Rule) -> bool:
    """Say whether a rule is still what is wanted: its `data` says all that matters."""
    return dict(wanted.data) == dict(rule.data)


def fault(rule: str, text: str, at: Instant, sentinel_id: int) -> Deeds:
    """Return what is written of a rule or a behaviour that failed."""
    return Deeds(
        events=(Event(type="problem.rule", at=at, sentinel_id=sentinel_id, data={"rule": rule, "error": text}),)
    )


def with_deeds(unit: Unit, deeds: Sequence[Deeds]) -> Unit:
    """Return a unit with deeds in their order; their deliveries name the places that their events have in it."""
    for part in deeds:
        shift = len(unit.events)
        unit = replace(
            unit,
            events=(*unit.events, *part.events),
            changes=(*unit.changes, *part.changes),
            timers=(*unit.timers, *part.timers),
            sentinels=(*unit.sentinels, *part.sentinels),
            deliveries=(
                *unit.deliveries,
                *(replace(d, events=tuple(place + shift for place in d.events)) for d in part.deliveries),
            ),
        )
    return unit
