"""Common parts of behaviours: pauses, and events of their own."""

from __future__ import annotations

import pytest

from tests.planner import make_watched
from tidings.clock import HOUR
from tidings.service.behaviour import Moment, name_closing, name_opening, own, postpone

HELD = make_watched(1).subscriptions[1].owner


def moment(*pauses: tuple[int, int], at: int = 10 * HOUR, resumed: int = 0) -> Moment:
    """Return a moment after these pauses."""
    return Moment(HELD, {}, at, 0, pauses, resumed)


@pytest.mark.parametrize(
    ("first", "last", "hours"),
    [(0, 10, 3), (0, 2, 0), (2, 3, 1), (3, 6, 1), (6, 8, 1), (8, 9, 0), (3, 3, 0)],
)
def test_pause_is_measured_within_a_window(first: int, last: int, hours: int):
    """The pauses are from two to four and from six to seven o'clock."""
    paused = moment((2 * HOUR, 4 * HOUR), (6 * HOUR, 7 * HOUR))

    assert hours * HOUR == paused.measure_pause(first * HOUR, last * HOUR)


def test_interval_is_postponed_by_a_pause():
    """An interval that had begun ends later; one that had not also begins later."""
    ends = moment(at=10 * HOUR, resumed=2 * HOUR)

    assert (7 * HOUR, 11 * HOUR) == postpone(7 * HOUR, 9 * HOUR, ends)
    assert (8 * HOUR, 11 * HOUR) == postpone(8 * HOUR, 9 * HOUR, ends)
    assert (11 * HOUR, 13 * HOUR) == postpone(9 * HOUR, 11 * HOUR, ends)


def test_own_events_differ_between_sentinels():
    """No rule of another sentinel gets them."""
    assert own("noisy", 1) != own("noisy", 2)
    assert name_opening("a", 1) != name_opening("b", 1)
    assert name_closing(1) != name_closing(2)
