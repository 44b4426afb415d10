"""Dates of searches."""

import pytest

from tidings.clock import DAY, HOUR
from tidings.errors import UsageError
from tidings.service.search.asking import instant


def test_date_is_a_whole_day():
    """For a state at a date it is its end, also on a day of 23 hours."""
    first = instant("2026-03-29", "Europe/Paris")

    assert 23 * HOUR == instant("2026-03-29", "Europe/Paris", is_end=True) - first + 1
    assert DAY == instant("2026-03-30", "UTC", is_end=True) - instant("2026-03-30", "UTC") + 1
    assert instant("2026-03-29T08:00", "UTC") == instant("2026-03-29T08:00", "UTC", is_end=True)


@pytest.mark.parametrize("day", ["0001-01-01", "9999-12-31"])
def test_first_and_last_date_have_an_end(day):
    """The calendar ends with these dates."""
    assert DAY == instant(day, "UTC", is_end=True) - instant(day, "UTC") + 1


@pytest.mark.parametrize("text", ["yesterday", "2026-02-30", ""])
def test_invalid_date_is_refused(text):
    """The error has an example."""
    with pytest.raises(UsageError, match="2026-03-01"):
        instant(text, "UTC")
