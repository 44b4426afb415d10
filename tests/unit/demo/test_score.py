"""The counting, on a log made by hand."""

from __future__ import annotations

import pytest

from tidings.demo.score import Logged, Notified, Tally, count_fixed_interval, evenly, tally

S = 1_000_000


def edits(*seconds, contents=None):
    contents = contents or [f"content {number}" for number in range(1, len(seconds) + 1)]
    return [Logged(at * S, "edited", content) for at, content in zip(seconds, contents, strict=True)]


LOG = {"shop": edits(10, 20, 22, 40), "board": edits(15)}
OPENING = {"shop": "content 0", "board": "content 0"}


def test_each_message_counts_once_with_the_delay_of_its_oldest_edit():
    """The edits at 20 and 22 were told by one message at 25: one change told, 5 s late, one edit overtaken."""
    told = tally(LOG, {"shop": [Notified(1, 11 * S), Notified(3, 25 * S)], "board": [Notified(1, 18 * S)]})

    assert Tally(delays=(1 * S, 5 * S, 3 * S), overtaken=1, waiting=1) == told
    assert 3 == told.told
    assert 3.0 == told.median_seconds


def test_every_edit_is_told_overtaken_or_waiting():
    """Nothing falls out of the count."""
    told = tally(LOG, {"shop": [Notified(3, 25 * S)]})

    assert sum(map(len, LOG.values())) == told.told + told.overtaken + told.waiting


def test_messages_count_in_any_order_and_repeated():
    """A message that arrives late, or a second one of the same state, changes nothing of the count."""
    in_order = tally(LOG, {"shop": [Notified(1, 11 * S), Notified(3, 25 * S)]})
    disturbed = tally(LOG, {"shop": [Notified(3, 25 * S), Notified(1, 11 * S), Notified(3, 26 * S)]})

    assert in_order == disturbed


def test_nothing_told_has_no_median():
    """There is no delay to speak of."""
    assert None is tally(LOG, {}).median_seconds
    assert 5 == tally(LOG, {}).waiting


def test_looks_are_shared_out_evenly_and_none_is_lost():
    """As many looks means exactly as many."""
    assert {"a": 4, "b": 3, "c": 3} == evenly(10, ("a", "b", "c"))


def test_a_fixed_interval_sees_merged_edits_once():
    """Five looks from 0 to 50 s stand at 5, 15, 25, 35, 45: the edits at 20 and 22 are one change for it."""
    told = count_fixed_interval({"shop": LOG["shop"]}, OPENING, polls={"shop": 5}, alive=[(0, 50 * S)])

    assert Tally(delays=(5 * S, 5 * S, 5 * S), overtaken=1, waiting=0) == told


def test_a_fixed_interval_sees_nothing_where_the_server_is_down():
    """The look at 15 s fails; the edit of 10 s is seen with the others at 25 s."""
    told = count_fixed_interval(
        {"shop": LOG["shop"]},
        OPENING,
        polls={"shop": 5},
        alive=[(0, 50 * S)],
        is_down=lambda place, at: place == "shop" and at == 15 * S,
    )

    assert Tally(delays=(15 * S, 5 * S), overtaken=2, waiting=0) == told


def test_a_fixed_interval_is_not_held_to_account_for_the_kill():
    """Its looks are spread over the time in which the service lived: with 20 s dead, five looks in 50 s stand 10 s apart still."""
    told = count_fixed_interval({"shop": edits(38)}, OPENING, polls={"shop": 5}, alive=[(0, 20 * S), (40 * S, 70 * S)])

    assert Tally(delays=(7 * S,), overtaken=0, waiting=0) == told


def test_a_fixed_interval_does_not_see_what_was_taken_back():
    """A page that says again what it said at the last look is no change."""
    log = {"shop": edits(11, 13, contents=["sale", "content 0"])}
    told = count_fixed_interval(log, OPENING, polls={"shop": 5}, alive=[(0, 50 * S)])

    assert 0 == told.told


@pytest.mark.parametrize("looks", [0, 1])
def test_no_looks_tell_next_to_nothing(looks):
    """No look and one look are fine."""
    told = count_fixed_interval({"board": LOG["board"]}, OPENING, polls={"board": looks}, alive=[(0, 50 * S)])

    assert looks == told.told
