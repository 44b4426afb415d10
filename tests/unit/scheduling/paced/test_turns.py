"""Pages are polled in turn."""

import numpy as np
import pytest

from tidings.scheduling.paced.turns import RoundRobin
from tidings.scheduling.policy import NEVER, UNPOLLED, Observation, Population

MINUTE = 60_000_000
PACE = 60 * MINUTE
NOW = 1_700_000_000_000_000


def begin(**columns):
    policy = RoundRobin(PACE)
    return policy, policy.begin(Population(columns), np.random.default_rng(0))


def test_page_is_due_one_pace_after_its_last_poll():
    """Neither earlier nor later."""
    policy, state = begin(id=[1], last_polled=[NOW])

    assert [NOW + PACE] == policy.next_due(state, [1], NOW, 0.0).tolist()
    assert [0.0] == policy.bid(state, NOW + PACE - 1, 0.0).tolist()
    assert (policy.bid(state, NOW + PACE, 0.0) > 0).all()


def test_bounds_of_a_page_replace_the_pace():
    """They are a longer shortest and a shorter longest interval."""
    policy, state = begin(id=[1, 2], last_polled=[NOW, NOW], shortest=[90 * MINUTE, 0], longest=[NEVER, 20 * MINUTE])

    assert [NOW + 90 * MINUTE, NOW + 20 * MINUTE] == policy.next_due(state, [1, 2], NOW, 0.0).tolist()


def test_longest_overdue_page_bids_most():
    """Its cost does not matter."""
    policy, state = begin(id=[1, 2, 3], last_polled=[NOW, NOW - 2, NOW - 1], cost=[1, 10, 1])
    bids = policy.bid(state, NOW + PACE + 5, 0.0)

    assert [1, 2, 0] == np.argsort(-bids).tolist()


def test_new_pages_come_first_in_the_order_of_their_addition():
    """Pages never checked are due at once."""
    policy, state = begin(
        id=[1, 2, 3], last_polled=[0, UNPOLLED, UNPOLLED], added=[0, NOW - 5 * MINUTE, NOW - 9 * MINUTE]
    )
    bids = policy.bid(state, NOW, 0.0)

    assert [2, 1, 0] == np.argsort(-bids).tolist()


def test_page_waits_until_not_before():
    """This is true of new pages, too."""
    policy, state = begin(id=[1, 2], last_polled=[NOW - 2 * PACE, UNPOLLED], not_before=NOW + np.array([7, 9]) * MINUTE)

    assert [0.0, 0.0] == policy.bid(state, NOW, 0.0).tolist()
    assert [NOW + 7 * MINUTE, NOW + 9 * MINUTE] == policy.next_due(state, [1, 2], NOW, 0.0).tolist()
    assert (policy.bid(state, NOW + 9 * MINUTE, 0.0) > 0).all()


def test_poll_starts_the_next_wait():
    """The other pages wait as before."""
    policy, state = begin(id=[5, 3], last_polled=[NOW - PACE, NOW - PACE])
    state = policy.on_poll(state, [3], Observation.of(NOW + 10, changed=True))

    assert [NOW, NOW + 10 + PACE] == policy.next_due(state, [5, 3], NOW, 0.0).tolist()


def test_update_moves_the_due_time_of_its_page_only():
    """New bounds hold at once."""
    policy, state = begin(id=[5, 3], last_polled=[NOW, NOW])
    state = policy.on_update(state, [3], {"longest": 5 * MINUTE})

    assert [NOW + PACE, NOW + 5 * MINUTE] == policy.next_due(state, [5, 3], NOW, 0.0).tolist()


def test_distant_instants_do_not_overflow():
    """A very long pace after a late poll is never due, not due long ago."""
    policy = RoundRobin(NEVER)
    state = policy.begin(Population({"id": [1], "last_polled": [NOW]}), np.random.default_rng(0))

    assert [NEVER] == policy.next_due(state, [1], NOW, 0.0).tolist()


@pytest.mark.parametrize("pace", [0, -1])
def test_pace_of_0_is_refused(pace):
    """It would poll without end."""
    with pytest.raises(ValueError, match="pace must be above 0"):
        RoundRobin(pace)
