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


def test_page_is_due_one_pace_after_its_last_look():
    """Neither earlier nor later."""
    policy, state = begin(id=[1], last_polled=[NOW])

    assert [NOW + PACE] == policy.next_due(state, [1], NOW, 0.0).tolist()
    assert [0.0] == policy.bid(state, NOW + PACE - 1, 0.0).tolist()
    assert (policy.bid(state, NOW + PACE, 0.0) > 0).all()


def test_bounds_of_a_page_hold():
    """The pace gives way to a longer shortest and to a shorter longest interval."""
    policy, state = begin(id=[1, 2], last_polled=[NOW, NOW], shortest=[90 * MINUTE, 0], longest=[NEVER, 20 * MINUTE])

    assert [NOW + 90 * MINUTE, NOW + 20 * MINUTE] == policy.next_due(state, [1, 2], NOW, 0.0).tolist()


def test_longest_overdue_bids_most():
    """Turns are kept: who should have been polled first is first, whatever it costs."""
    policy, state = begin(id=[1, 2, 3], last_polled=[NOW, NOW - 2, NOW - 1], cost=[1, 10, 1])
    bids = policy.bid(state, NOW + PACE + 5, 0.0)

    assert [1, 2, 0] == np.argsort(-bids).tolist()


def test_new_pages_go_first_in_the_order_they_were_asked_for():
    """Among pages never checked the oldest wish is served first."""
    policy, state = begin(
        id=[1, 2, 3], last_polled=[0, UNPOLLED, UNPOLLED], added=[0, NOW - 5 * MINUTE, NOW - 9 * MINUTE]
    )
    bids = policy.bid(state, NOW, 0.0)

    assert [2, 1, 0] == np.argsort(-bids).tolist()


def test_not_before_holds_a_page_back():
    """A page that is to be left alone is not due, new or not."""
    policy, state = begin(id=[1, 2], last_polled=[NOW - 2 * PACE, UNPOLLED], not_before=NOW + np.array([7, 9]) * MINUTE)

    assert [0.0, 0.0] == policy.bid(state, NOW, 0.0).tolist()
    assert [NOW + 7 * MINUTE, NOW + 9 * MINUTE] == policy.next_due(state, [1, 2], NOW, 0.0).tolist()
    assert (policy.bid(state, NOW + 9 * MINUTE, 0.0) > 0).all()


def test_poll_starts_the_wait_again():
    """After a look the page waits a whole pace from that look, the others as before."""
    policy, state = begin(id=[5, 3], last_polled=[NOW - PACE, NOW - PACE])
    state = policy.on_poll(state, [3], Observation.of(NOW + 10, changed=True))

    assert [NOW, NOW + 10 + PACE] == policy.next_due(state, [5, 3], NOW, 0.0).tolist()


def test_update_moves_the_due_instant_of_that_page_only():
    """New bounds hold at once."""
    policy, state = begin(id=[5, 3], last_polled=[NOW, NOW])
    state = policy.on_update(state, [3], {"longest": 5 * MINUTE})

    assert [NOW + PACE, NOW + 5 * MINUTE] == policy.next_due(state, [5, 3], NOW, 0.0).tolist()


def test_far_instants_do_not_overflow():
    """A pace of for ever after a late look is never, not long ago."""
    policy = RoundRobin(NEVER)
    state = policy.begin(Population({"id": [1], "last_polled": [NOW]}), np.random.default_rng(0))

    assert [NEVER] == policy.next_due(state, [1], NOW, 0.0).tolist()


@pytest.mark.parametrize("pace", [0, -1])
def test_pace_must_be_positive(pace):
    """A pace of nothing would poll without end."""
    with pytest.raises(ValueError, match="pace must be above 0"):
        RoundRobin(pace)
