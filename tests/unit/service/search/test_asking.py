"""Questions: dates, and results as records."""

import pytest

from tidings.clock import DAY, HOUR
from tidings.errors import UsageError
from tidings.service.search.asking import instant


def test_a_day_is_meant_whole():
    """To its end where it is said what was so then; a day of 23 hours too."""
    first = instant("2026-03-29", "Europe/Paris")

    assert 23 * HOUR == instant("2026-03-29", "Europe/Paris", is_end=True) - first + 1
    assert DAY == instant("2026-03-30", "UTC", is_end=True) - instant("2026-03-30", "UTC") + 1
    assert instant("2026-03-29T08:00", "UTC") == instant("2026-03-29T08:00", "UTC", is_end=True)


@pytest.mark.parametrize("day", ["0001-01-01", "9999-12-31"])
def test_the_first_and_the_last_day_there_are_have_an_end(day):
    """As any other."""
    assert DAY == instant(day, "UTC", is_end=True) - instant(day, "UTC") + 1


@pytest.mark.parametrize("text", ["yesterday", "2026-02-30", ""])
def test_what_is_no_date_is_refused(text):
    """With one that is."""
    with pytest.raises(UsageError, match="2026-03-01"):
        instant(text, "UTC")
