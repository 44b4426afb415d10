"""All commands and screens report a trouble in the same words."""

from tests.health import SETTINGS, lines
from tidings.clock import DAY
from tidings.model.event_type import EventType
from tidings.model.observed.unit import Event
from tidings.service.health import sources
from tidings.storage.watches import events


def test_failed_rule_is_reported_for_a_week(world):
    """The line names the sentinel, whose messages may be missing."""
    row = world.watch("news")
    data = {"rule": "telling.tick.0", "error": "LookupError: no such zone"}
    failed = Event(type=EventType.PROBLEM_RULE, at=world.at, sentinel_id=row.id, data=data)
    world.write(events.append, [failed, failed])
    (line,) = lines(world, "problems")
    health = world.read(sources.health_of, SETTINGS, now=world.at, is_polled=True)
    (later,) = lines(world, "problems", later=7 * DAY)

    assert "warn" == line.status
    assert line.detail.startswith("the rules of news failed 2 times in the last 7 days")
    assert line.detail.endswith("telling.tick.0: LookupError: no such zone")
    assert ["rule failed"] == [trouble.brief for trouble in health.of("news").own]
    assert "ok" == later.status


def test_outcome_that_could_not_be_stored_is_reported_for_a_week(world):
    """The unit of the outcome was broken."""
    world.write(
        events.append, [Event(type=EventType.PROBLEM_UNIT, at=world.at, page_id=7, data={"error": "a broken unit"})]
    )
    (line,) = lines(world, "problems")
    (later,) = lines(world, "problems", later=7 * DAY)

    assert ("warn", True) == (
        line.status,
        "1 outcome could not be stored" in line.detail and "a broken unit" in line.detail,
    )
    assert "ok" == later.status
