"""Due times that crowd within a second are spread, and waits are lengthened by key, never
shortened, and always equally.
"""

from __future__ import annotations

from collections import Counter

import pytest

from tidings.clock import DAY, HOUR, MINUTE, SECOND, WEEK
from tidings.model.observed.outcome import Failed
from tidings.model.observed.page import PageState
from tidings.service.examine import page_state
from tidings.service.plan.spread import Crowds, count_allowed, lengthen, share
from tidings.service.poll.circuit import Circuits


def test_crowd_is_more_than_eight_pages_in_a_second():
    """A page that leaves makes room; one that is entered again counts once."""
    crowds = Crowds()
    entered = [crowds.enter(page, 5 * SECOND + page, allowed=8) for page in range(9)]
    crowds.leave(0)

    assert [False] * 8 + [True] == entered
    assert not crowds.enter(8, 5 * SECOND, allowed=8)
    assert crowds.enter(9, 5 * SECOND, allowed=8)
    assert not crowds.enter(9, 6 * SECOND, allowed=8)


@pytest.mark.parametrize(
    ("pages", "wait", "allowed"),
    [(100, DAY, 8), (100, MINUTE, 8), (100_000, DAY, 55), (100_000, HOUR, 55), (50_000, 500 * SECOND, 200), (5, 1, 10)],
)
def test_crowd_of_a_large_population_is_twice_the_mean(pages: int, wait: int, allowed: int):
    """50,000 pages that are polled each 500 s are 100 a second anyway: these are not late."""
    assert allowed == count_allowed(pages, wait)


KEYS = range(2_000)


def test_shares_are_uniform_over_keys_and_turns():
    """Each tenth of [0, 1) has its part."""
    for shares in ([share(key) for key in KEYS], [share("one", turn) for turn in KEYS]):
        tenths = Counter(int(part * 10) for part in shares)

        assert set(range(10)) == set(tenths)
        assert max(tenths.values()) <= 1.3 * len(KEYS) / 10


def test_wait_is_lengthened_by_at_most_a_fifth():
    """A wait is never shortened, and always equal for a key."""
    waits = [lengthen(HOUR, key) for key in KEYS]

    assert min(waits) >= HOUR
    assert max(waits) <= HOUR * 12 // 10
    assert waits == [lengthen(HOUR, key) for key in KEYS]


@pytest.mark.parametrize("failures", [1, 3, 9])
def test_pages_of_a_failing_host_are_spread(failures):
    """2,000 pages that failed at the same instant are polled over a fifth of their wait, in another
    order after each failure.
    """
    failed = Failed(kind="5xx", reason="the server answered 500")
    waits = {key: page_state.wait(failed, failures, page_id=key) for key in KEYS}
    then = {key: page_state.wait(failed, failures + 1, page_id=key) for key in KEYS}
    base = min(HOUR, MINUTE * 2 ** (failures - 1))
    fullest = Counter((wait - base) * 20 // (base // 5) for wait in waits.values()).most_common(1)[0][1]

    assert base <= min(waits.values()) <= max(waits.values()) <= base * 12 // 10
    assert fullest <= 1.5 * len(KEYS) / 20
    assert sorted(KEYS, key=waits.__getitem__) != sorted(KEYS, key=then.__getitem__)


def test_retry_after_is_not_spread():
    """The server's value is used exactly."""
    failed = Failed(kind="busy", reason="busy", retry_after=7 * MINUTE)

    assert {7 * MINUTE} == {page_state.wait(failed, 3, page_id=key) for key in KEYS}


def test_longest_waits_are_spread_too():
    """Pages that are gone, lasting walls, and the end of our own outage have the longest waits."""
    gone = Failed(kind="410", reason="gone")
    weekly = {page_state.wait(gone, 9, page_id=key) for key in KEYS}
    wall = [PageState(page_id=key, health="error", kind="blocked", failures=8) for key in KEYS]
    walls = {page_state.after_suspicion(s, "blocked", "a wall", sha256="", at=0)[0].retry_at for s in wall}
    ours = {page_state.freeze(PageState(page_id=key), 0).retry_at for key in KEYS}

    assert min(len(weekly), len(walls), len(ours)) > 0.99 * len(KEYS)
    assert WEEK <= min(weekly)
    assert MINUTE <= min(at for at in ours if at is not None)


def test_pauses_of_failing_hosts_are_spread():
    """2,000 hosts whose circuits open at the same instant get different pauses, of at most a day
    and a fifth.
    """
    circuits, failed = Circuits(), Failed(kind="net", reason="no connection")
    for _ in range(4):
        assert {0} == {circuits.note(f"{key}.example", failed) for key in KEYS}
    first = {circuits.note(f"{key}.example", failed) for key in KEYS}
    for _ in range(19):
        for key in KEYS:
            circuits.note(f"{key}.example", failed)
    last = {circuits.note(f"{key}.example", failed) for key in KEYS}

    assert len(first) > 0.99 * len(KEYS)
    assert MINUTE <= min(first) <= max(first) <= MINUTE * 12 // 10
    assert DAY <= min(last) <= max(last) <= DAY * 12 // 10
