import pytest
from hypothesis import given
from hypothesis import strategies as st

from tidings.model.interval import ExecutionInterval
from tidings.scheduling.timetable.intervals import FixedInterval

HOURLY = FixedInterval(start=1_000, interval=600, slack=60)


@pytest.mark.parametrize(
    ("now", "expected"), [(0, 1_000), (999, 1_000), (1_000, 1_000), (1_001, 1_600), (1_600, 1_600), (6_999, 7_000)]
)
def test_first_tick_keeps_phase(now, expected):
    """Ticks are start, start + interval, … whatever happened between."""
    assert expected == HOURLY.first_tick(now)


@pytest.mark.parametrize(("now", "expected"), [(0, 1_000), (1_000, 1_600), (1_599, 1_600)])
def test_next_tick_is_later(now, expected):
    """The tick after a tick is the next one."""
    assert expected == HOURLY.next_tick(now)


@pytest.mark.parametrize(("now", "expected"), [(999, None), (1_000, 1_000), (1_599, 1_000), (1_600, 1_600)])
def test_last_tick_has_passed(now, expected):
    """Before the start there was none."""
    assert expected == HOURLY.last_tick(now)


@pytest.mark.parametrize(
    ("first", "end", "expected"),
    [(0, 1_000, []), (0, 1_001, [1_000]), (1_000, 2_800, [1_000, 1_600, 2_200]), (1_001, 1_500, [])],
)
def test_ticks_between_are_half_open(first, end, expected):
    """The first instant counts, the end does not."""
    assert expected == list(HOURLY.ticks_between(first, end))


def test_execution_interval_ends_with_the_slack():
    """A poll is never before its tick and at most the slack late (001 §2.1)."""
    assert ExecutionInterval(1_600, 1_660) == HOURLY.execution_interval(1_600)


@pytest.mark.parametrize(("checked_at", "expected"), [(None, False), (1_539, False), (1_540, True), (1_700, True)])
def test_check_within_the_slack_before_satisfies(checked_at, expected):
    """A look at or after tick − slack serves the tick without another request."""
    assert expected == HOURLY.is_satisfied(1_600, checked_at)


@pytest.mark.parametrize(
    ("now", "expected"), [(900, 1_600), (1_600, 1_600), (2_199, 1_600), (2_200, 2_200), (99_999, 99_400)]
)
def test_one_tick_is_caught_up_with(now, expected):
    """After a long silence the newest tick that passed is owed, not all of them."""
    assert expected == HOURLY.get_owed_tick(1_600, now)


@pytest.mark.parametrize(
    ("checked_at", "expected"),
    [(1_539, 1_600), (1_540, 2_200), (1_600, 2_200), (1_800, 2_200), (2_139, 2_200), (2_140, 2_800), (99_999, 100_600)],
)
def test_after_check_names_the_next_owed_tick(checked_at, expected):
    """A check serves every tick up to its slack; one too early leaves the tick owed."""
    assert expected == HOURLY.after_check(1_600, checked_at)


@given(st.integers(-(10**15), 10**15), st.integers(1, 10**12), st.integers(0, 10**12), st.integers(-(10**15), 10**15))
def test_arithmetic_agrees_with_its_definition(start, interval, slack, now):
    """For all numbers the first tick is in phase, not before now nor the start, and the one before it is."""
    fixed = FixedInterval(start=start, interval=interval, slack=slack % interval)
    first = fixed.first_tick(now)

    assert 0 == (first - start) % interval
    assert first >= max(start, now)
    assert first == start or first - interval < now
    assert not fixed.is_satisfied(fixed.after_check(first, now), now)


@pytest.mark.parametrize(
    ("interval", "slack", "words"), [(0, 0, "above 0"), (-5, 0, "above 0"), (10, 10, "slack"), (10, -1, "slack")]
)
def test_interval_that_makes_no_sense_is_refused(interval, slack, words):
    """No interval, or a slack as long as it, has no schedule."""
    with pytest.raises(ValueError, match=words):
        FixedInterval(start=0, interval=interval, slack=slack)
