"""Exact schedules, against brute force and against what is known of pinwheels."""

from __future__ import annotations

import itertools

import pytest

from tidings.lab.gardener.garden import Garden
from tidings.lab.gardener.pinwheel import UndecidedError, is_pinwheel_guaranteed, schedule_exactly


@pytest.mark.parametrize(
    "windows", [w for n in (2, 3) for w in itertools.combinations_with_replacement(range(2, 8), n)]
)
def test_up_to_five_sixths_every_pinwheel_turns(windows: tuple[int, ...]):
    """A schedule is found wherever density promises one, and none where the density is over 1."""
    garden = Garden.of([1.0] * len(windows), windows)
    cycle = schedule_exactly(garden, 1.0)

    assert cycle is None or cycle.keeps(garden)
    assert cycle is not None or not is_pinwheel_guaranteed(garden)
    assert cycle is None or garden.density <= 1 + 1e-9


@pytest.mark.parametrize("third", [6, 7, 50, 400])
def test_two_three_and_anything_never_turn(third: int):
    """The pinwheel {2, 3, n} has no schedule for any n, although its density comes down to 5/6."""
    assert schedule_exactly(Garden.of([1, 1, 1], [2, 3, third]), 1.0) is None


def test_costs_and_capacities():
    """Bin packing in time: three plants of 0.6 need three days of capacity 1, two that fit together need one."""
    assert schedule_exactly(Garden.of([0.6, 0.6, 0.6], [2, 2, 2]), 1.0) is None
    assert schedule_exactly(Garden.of([0.6, 0.6, 0.6], [3, 3, 3]), 1.0) is not None
    assert schedule_exactly(Garden.of([0.5, 0.5], [1, 1]), 1.0) is not None


def test_a_search_that_is_given_up_says_so():
    """It never says that there is none."""
    with pytest.raises(UndecidedError, match="first 50 states"):
        schedule_exactly(Garden.of([1] * 8, [7, 8, 9, 10, 11, 12, 13, 14]), 1.0, most=50)
