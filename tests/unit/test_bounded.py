"""A guard is only as good as its bite."""

import contextlib

import pytest

from tests.bounded import bound_time


def endless():
    while True:
        pass


def deaf():
    with contextlib.suppress(AssertionError):
        endless()


@pytest.mark.parametrize("work", [endless, deaf])
def test_work_out_of_bounds_fails(work):
    """What hangs is ended at the guard; what takes its end for any other error fails afterwards."""
    with pytest.raises(AssertionError, match=r"more than 0\.01 s"), bound_time(0.01):
        work()


def test_work_within_bounds_is_left_alone():
    """Nothing is said of it."""
    with bound_time(10):
        answer = sum(range(1_000))

    assert 499_500 == answer
