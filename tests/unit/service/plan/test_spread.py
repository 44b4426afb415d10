"""Of dues that crowd within a second some are drawn apart."""

from __future__ import annotations

from tidings.clock import SECOND
from tidings.service.plan.spread import Crowds


def test_a_crowd_is_more_than_a_few_in_a_second():
    """The ninth page of a second is one too many; who leaves makes room; who comes again counts once."""
    crowds = Crowds()
    entered = [crowds.enter(page, 5 * SECOND + page, pages=100) for page in range(9)]
    crowds.leave(0)

    assert [False] * 8 + [True] == entered
    assert not crowds.enter(8, 5 * SECOND, pages=100)
    assert crowds.enter(9, 5 * SECOND, pages=100)
    assert not crowds.enter(9, 6 * SECOND, pages=100)


def test_in_a_large_population_twice_the_mean_is_no_crowd():
    """100,000 pages an hour are 28 a second anyway."""
    crowds = Crowds()
    entered = [crowds.enter(page, 0, pages=100_000) for page in range(60)]

    assert 55 == entered.index(True)
