"""When a page is expected to change, and until when it is to be looked at then (001 §5.1)."""

import pytest

from tidings.model.interval import DAY, SECOND, ExecutionInterval
from tidings.scheduling.timetable.expected import execution_interval, learn_interval, next_update, rate_interval


def test_the_interval_is_the_median_of_those_that_were_seen():
    """One long silence among them does not move it; without any there is none."""
    assert 60 * SECOND == learn_interval([60.0, 61.0, 59.0, 86_400.0, 60.0])
    assert learn_interval([]) is None


@pytest.mark.parametrize(
    ("after", "update"), [(0, 110), (100, 110), (109, 110), (110, 120), (119, 120), (205, 210)], ids=str
)
def test_the_next_update_comes_after_the_last_look(after, update):
    """Updates are expected in phase with the last one; a look at the very instant of one has seen it."""
    assert update == next_update(100, 10, after)


@pytest.mark.parametrize(
    ("within", "until", "end"),
    [(4, "window", 114), (40, "window", 150), (4, "overwrite", 114), (40, "overwrite", 120)],
    ids=["window", "wide window", "overwrite", "overwritten first"],
)
def test_an_interval_ends_after_its_time_or_with_the_next_update(within, until, end):
    """`window` ends after that time, `overwrite` also with the next expected update."""
    assert ExecutionInterval(110, end) == execution_interval(110, 10, within, until)


def test_an_interval_from_what_is_known_of_a_rate():
    """Twenty changes in ten days are one every half day; a rate that no change was seen of says nothing."""
    assert DAY // 2 == rate_interval({"shape": 20.0, "scale": 10.0})
    assert None is rate_interval({"shape": 0.1, "scale": 0.2})
    assert None is rate_interval({})
