"""Durations as people and the language write them, and execution intervals."""

import pytest

from tidings.clock import DAY, HOUR, MILLISECOND, MINUTE, SECOND, WEEK
from tidings.model.interval import ExecutionInterval, spell_duration


@pytest.mark.parametrize(
    ("duration", "text"),
    [
        (2 * WEEK, "2 week"),
        (8 * DAY, "8 day"),
        (2 * DAY, "2 day"),
        (90 * MINUTE, "90 min"),
        (36 * HOUR, "36 hour"),
        (61 * SECOND, "61 s"),
        (1500 * MILLISECOND, "1.5 s"),
        (MILLISECOND, "0.001 s"),
        (1, "0.000001 s"),
        (0, "0 s"),
        (10 * SECOND, "10 s"),
        (MINUTE + 1, "60.000001 s"),
    ],
)
def test_duration_is_written_in_its_largest_unit(duration, text):
    """The unit divides it: nothing is rounded."""
    assert text == spell_duration(duration)


def test_written_duration_is_read_as_the_same():
    """The number times the unit is the duration."""
    units = {"week": WEEK, "day": DAY, "hour": HOUR, "min": MINUTE, "s": SECOND}
    durations = [*range(1, 200), *(n * SECOND for n in range(1, 5_000)), *(n * HOUR for n in range(1, 500))]

    for duration in durations:
        number, unit = spell_duration(duration).split()
        assert duration == round(float(number) * units[unit])


def test_execution_intervals_are_ordered_by_start_and_end():
    """If two begin together, the one that ends first comes first (001 §2.1)."""
    early, short, long = ExecutionInterval(1, 9), ExecutionInterval(2, 3), ExecutionInterval(2, 8)

    assert [early, short, long] == sorted([long, short, early])
