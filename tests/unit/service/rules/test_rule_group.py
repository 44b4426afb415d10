"""The rules of one sentinel: their state, pauses, and effects."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from tests.planner import make_watched
from tidings.clock import HOUR
from tidings.events.expression import Primitive
from tidings.events.rule import Rule
from tidings.model.event_type import EventType
from tidings.model.observed.unit import DeliveryDraft, Event, Unit
from tidings.service.behaviour import Effects
from tidings.service.rules.rule_group import (
    MOST_PAUSES,
    Pause,
    RuleGroup,
    at_latest,
    fault,
    has_started,
    is_same,
    with_effects,
)
from tidings.storage.watches.events import EventRow

NOW = 1_700_000_000_000_000


def dump(now: int = NOW, rules: Any = ()) -> dict[str, Any]:
    """Return the state of an engine."""
    return {"now": now, "rules": list(rules), "states": {}}


def event(at: int = NOW) -> Event:
    """Return an event."""
    return Event(type=EventType.PAGE_OK, at=at)


def draft(*places: int) -> DeliveryDraft:
    """Return a message of events at these places."""
    return DeliveryDraft(endpoint_id=1, sentinel_id=1, content_type="t", body=b"", due_at=NOW, events=places)


def test_group_is_restored_as_it_was_stored():
    """This includes a pause and earlier pauses."""
    group = RuleGroup(7, 5, NOW, {"telling": {"a": 1}}, pause=Pause(NOW, dump(), [3]), pauses=[(1, 2)])
    restored = RuleGroup.from_json(7, group.to_json(dump()))

    assert (7, 5, NOW, {"telling": {"a": 1}}, [(1, 2)]) == (
        restored.sentinel_id,
        restored.upto,
        restored.now,
        restored.memory,
        restored.pauses,
    )
    assert group.pause == restored.pause
    assert "7" == restored.name


def test_group_without_pauses_stores_none():
    """Its state is short."""
    assert {"upto", "engine", "memory"} == RuleGroup(7, 5).to_json(dump()).keys()


def test_end_of_a_pause_is_remembered():
    """Only the latest pauses are stored."""
    group = RuleGroup(7, 5, pauses=[(n, n + 1) for n in range(MOST_PAUSES)])
    group.pause = Pause(NOW, None)
    dumps, pause = group.resume(NOW + HOUR)

    assert ([], NOW) == (dumps, pause.since)
    assert group.pause is None
    assert (MOST_PAUSES, (NOW, NOW + HOUR)) == (len(group.pauses), group.pauses[-1])


def test_effects_name_the_events_of_their_unit():
    """Their messages refer to the new positions of their own events."""
    parts = [
        Effects(events=(event(), event()), deliveries=(draft(1),)),
        Effects(events=(event(),), deliveries=(draft(0),)),
    ]
    unit = with_effects(Unit(at=NOW, epoch=1, events=(event(),)), parts)

    assert 4 == len(unit.events)
    assert [(2,), (3,)] == [one.events for one in unit.deliveries]


def test_failed_rule_is_recorded():
    """The event names the rule and its sentinel."""
    (made,) = fault("telling.found", "odd", NOW, 7).events

    assert (EventType.PROBLEM_RULE, NOW, 7) == (made.type, made.at, made.sentinel_id)
    assert {"rule": "telling.found", "error": "odd"} == made.data


def test_rule_is_the_same_by_its_data():
    """Its event may be written differently."""
    rule = Rule(name="a", event=Primitive("x"), data={"span": 1})

    assert is_same(rule, replace(rule, event=Primitive("y")))
    assert not is_same(rule, replace(rule, data={"span": 2}))


def test_state_from_the_future_is_taken_back():
    """A correct state stays unchanged."""
    state = RuleGroup(7, 5, memory={"telling": {"after": 1}}, pauses=[(1, 2), (NOW, NOW + HOUR)]).to_json(dump(NOW))
    back = at_latest(state, NOW - HOUR)

    assert state is at_latest(state, NOW)
    assert NOW - HOUR == back["engine"]["now"]
    assert [(1, 2)] == list(back["pauses"])


def row(kind: EventType, **data: Any) -> EventRow:
    """Return a stored event."""
    return EventRow(1, kind, NOW, 1, None, None, data)


def test_sentinel_has_started_once_it_was_enabled():
    """An altered sentinel has started if it was enabled before."""
    held = make_watched(1).subscriptions[1].owner
    never = replace_started(None)

    assert has_started(row(EventType.SENTINEL_ENABLED), never)
    assert has_started(row(EventType.SENTINEL_CREATED, state="enabled"), never)
    assert has_started(row(EventType.SENTINEL_ALTERED), held)
    assert not has_started(row(EventType.SENTINEL_ALTERED), never)
    assert not has_started(row(EventType.SENTINEL_CREATED, state="waiting"), held)


def replace_started(at: int | None) -> Any:
    """Return a sentinel that started at an instant."""
    held = make_watched(1).subscriptions[1].owner
    held.row = replace(held.row, started_at=at)
    return held
