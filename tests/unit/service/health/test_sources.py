"""All commands and screens report a trouble in the same words."""

from tests.health import lines
from tidings.clock import DAY
from tidings.model.event_type import EventType
from tidings.model.observed.unit import Event
from tidings.storage.watches import events


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
