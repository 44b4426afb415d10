"""Second polls: when one is made, and what polls without a change say (detection §4.3)."""

from dataclasses import replace

import pytest

from tidings.detection.noise.memory import SOON, Memory, Thing
from tidings.detection.noise.polls import (
    AT_FIRST,
    AT_FIRST_MASKED,
    SECOND_POLL_EVERY,
    NumberedPoll,
    calm,
    count_poll,
    is_soon,
    with_second_poll,
)

DOUBTFUL = Thing(id="d", sort="words", changed=3.0)
MASKED = Thing(id="m", sort="words", changed=8.0, quick=3.0, polls=9, since=1)
WANTED = replace(MASKED, wanted=True)


@pytest.mark.parametrize(
    ("before", "now", "expected"),
    [(1, 1 + SOON, True), (1, 2 + SOON, False), (0, SOON, False), (5, 5, True)],
)
def test_second_poll_proves_nothing_later(before, now, expected):
    """Nor where there was no first."""
    assert expected is is_soon(before, now)


def test_things_are_those_that_the_cases_need():
    """One is doubtful, one is noise, one is masked for a user."""
    assert (True, False, False) == tuple(thing.is_doubtful for thing in (DOUBTFUL, MASKED, WANTED))
    assert ["", "volatile", "volatile"] == [thing.verdict for thing in (DOUBTFUL, MASKED, WANTED)]


@pytest.mark.parametrize(
    ("things", "seconds", "polls", "is_made"),
    [
        ((DOUBTFUL,), AT_FIRST - 1, 0, True),
        ((DOUBTFUL,), AT_FIRST, 0, False),
        ((DOUBTFUL,), AT_FIRST, SECOND_POLL_EVERY - 1, False),
        ((DOUBTFUL,), AT_FIRST, SECOND_POLL_EVERY, True),
        ((DOUBTFUL,), AT_FIRST + 1, SECOND_POLL_EVERY, False),
        ((replace(DOUBTFUL, changed=1.0),), AT_FIRST - 1, 0, True),
        ((replace(DOUBTFUL, changed=1.0),), AT_FIRST, SECOND_POLL_EVERY, False),
        ((replace(DOUBTFUL, changed=1.5),), AT_FIRST, SECOND_POLL_EVERY, True),
        ((MASKED,), AT_FIRST_MASKED - 1, 0, True),
        ((MASKED,), AT_FIRST_MASKED, 0, False),
        ((MASKED,), AT_FIRST_MASKED, SECOND_POLL_EVERY, True),
        ((WANTED,), 0, 0, False),
        ((WANTED, MASKED), 0, 0, True),
        ((), 0, 1000, False),
    ],
)
def test_second_polls_are_few(things, seconds, polls, is_made):
    """Some at first, and one in so many polls: for what is in doubt, and to test again what is
    masked. Each one is counted.
    """
    memory = Memory(things=things, seconds=seconds)
    after, made = with_second_poll(memory, polls)

    assert is_made is made
    assert replace(memory, seconds=seconds + is_made) == after


def test_poll_without_a_change_counts_for_all_since_the_last():
    """Those that were not counted were steady as well; only the last may be a second poll."""
    memory = Memory(things=(DOUBTFUL,), polls=2)

    one_by_one = memory
    for polls in (3, 4):
        one_by_one = calm(one_by_one, NumberedPoll(polls, polls))
    one_by_one = calm(one_by_one, NumberedPoll(5, 5, is_second=True))
    after = calm(memory, NumberedPoll(5, 5, is_second=True))

    assert 5 == after.polls
    assert pytest.approx(one_by_one.things[0].steady) == after.things[0].steady
    assert replace(one_by_one.things[0], steady=0) == replace(after.things[0], steady=0)
    assert DOUBTFUL.steady < after.things[0].steady
    assert DOUBTFUL.slow < after.things[0].slow


def test_poll_that_was_counted_already_says_nothing():
    """A repeated number adds no evidence."""
    memory = Memory(things=(DOUBTFUL,), polls=5)

    assert memory.things == calm(memory, NumberedPoll(5, 5)).things
    assert replace(memory, polls=6) == count_poll(memory, NumberedPoll(6, 6))
