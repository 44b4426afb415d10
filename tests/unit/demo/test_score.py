"""The counts of reported, overtaken and waiting edits, on a log made by hand."""

from __future__ import annotations

import pytest

from tidings.demo.score import Logged, Notified, Tally, count_fixed_interval, evenly, tally

S = 1_000_000


def edits(*seconds, contents=None):
    contents = contents or [f"content {number}" for number in range(1, len(seconds) + 1)]
    return [Logged(at * S, "edited", content) for at, content in zip(seconds, contents, strict=True)]


LOG = {"shop": edits(10, 20, 22, 40), "board": edits(15)}
OPENING = {"shop": "content 0", "board": "content 0"}


def test_message_counts_once_with_the_delay_of_its_oldest_edit():
    """One message at 25 reports the edits at 20 and 22: one reported change with a delay of 5 s,
    and one overtaken edit.
    """
    told = tally(LOG, {"shop": [Notified(1, 11 * S), Notified(3, 25 * S)], "board": [Notified(1, 18 * S)]})

    assert Tally(delays=(1 * S, 5 * S, 3 * S), overtaken=1, waiting=1) == told
    assert 3 == told.told
    assert 3.0 == told.median_seconds


def test_every_edit_is_reported_overtaken_or_waiting():
    """The three counts add up to the number of edits."""
    told = tally(LOG, {"shop": [Notified(3, 25 * S)]})

    assert sum(map(len, LOG.values())) == told.told + told.overtaken + told.waiting


def test_order_and_repeats_of_messages_do_not_change_the_count():
    """A message may arrive late or twice."""
    in_order = tally(LOG, {"shop": [Notified(1, 11 * S), Notified(3, 25 * S)]})
    disturbed = tally(LOG, {"shop": [Notified(3, 25 * S), Notified(1, 11 * S), Notified(3, 26 * S)]})

    assert in_order == disturbed


def test_tally_without_messages_has_no_median():
    """All edits are waiting."""
    assert None is tally(LOG, {}).median_seconds
    assert 5 == tally(LOG, {}).waiting


def test_polls_are_distributed_evenly_and_completely():
    """The fixed interval has exactly as many polls as Tidings."""
    assert {"a": 4, "b": 3, "c": 3} == evenly(10, ("a", "b", "c"))


def test_fixed_interval_counts_merged_edits_once():
    """Five polls from 0 to 50 s are at 5, 15, 25, 35 and 45: they see the edits at 20 and 22 as one
    change.
    """
    told = count_fixed_interval({"shop": LOG["shop"]}, OPENING, polls={"shop": 5}, alive=[(0, 50 * S)])

    assert Tally(delays=(5 * S, 5 * S, 5 * S), overtaken=1, waiting=0) == told


def test_fixed_interval_sees_nothing_while_the_server_is_down():
    """The poll at 15 s fails; the edit of 10 s is seen with the others at 25 s."""
    told = count_fixed_interval(
        {"shop": LOG["shop"]},
        OPENING,
        polls={"shop": 5},
        alive=[(0, 50 * S)],
        is_down=lambda place, at: place == "shop" and at == 15 * S,
    )

    assert Tally(delays=(15 * S, 5 * S), overtaken=2, waiting=0) == told


def test_fixed_interval_has_no_polls_while_the_service_is_dead():
    """The polls are distributed over the time in which the service runs: with 20 s dead, five polls
    in 50 s are still 10 s apart.
    """
    told = count_fixed_interval({"shop": edits(38)}, OPENING, polls={"shop": 5}, alive=[(0, 20 * S), (40 * S, 70 * S)])

    assert Tally(delays=(7 * S,), overtaken=0, waiting=0) == told


def test_fixed_interval_does_not_see_a_reverted_edit():
    """The page has the content of the last poll again."""
    log = {"shop": edits(11, 13, contents=["sale", "content 0"])}
    told = count_fixed_interval(log, OPENING, polls={"shop": 5}, alive=[(0, 50 * S)])

    assert 0 == told.told


@pytest.mark.parametrize("looks", [0, 1])
def test_fixed_interval_with_few_polls_reports_no_more_than_polls(looks):
    """The numbers of polls are 0 and 1."""
    told = count_fixed_interval({"board": LOG["board"]}, OPENING, polls={"board": looks}, alive=[(0, 50 * S)])

    assert looks == told.told
