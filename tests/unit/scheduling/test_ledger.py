"""The ledger: which changes were found, when, and which were missed."""

import math

import numpy as np
import pytest

from tidings.scheduling.ledger import Polls, account, make_trace


def polls(*rows):
    at, page, cost = zip(*rows, strict=True) if rows else ((), (), ())
    return Polls(np.array(at, dtype=np.int64), np.array(page, dtype=np.int64), np.array(cost, dtype=float))


TRACE = make_trace({1: [10, 20, 50, 95], 2: [40]}, start=0, end=100)


def test_change_is_found_merged_or_missed():
    """A poll finds all since the last one; only the newest is seen; changes after the last poll are
    missed.
    """
    ledger = account(TRACE, polls((25, 1, 1.0), (45, 2, 2.0), (50, 1, 1.0)), known_since={1: 0, 2: 0}, gone_at={})

    assert [2, 1, 1] == ledger.found.tolist()
    assert [15, 5, 0, 5] == ledger.delay.tolist()
    assert [1, 1, 1, 2] == ledger.page.tolist()
    assert 1 == ledger.missed
    assert 1 == ledger.merged
    assert 4.0 == ledger.spent


def test_first_poll_is_a_baseline():
    """Changes before it are neither found nor missed."""
    ledger = account(TRACE, polls((45, 1, 1.0), (60, 1, 1.0)), known_since={}, gone_at={})

    assert [0, 1] == ledger.found.tolist()
    assert 1 == ledger.missed


def test_change_at_the_first_poll_belongs_to_the_baseline():
    """The first poll shows the changed page."""
    ledger = account(TRACE, polls((50, 1, 1.0), (60, 1, 1.0)), known_since={}, gone_at={})

    assert [0, 0] == ledger.found.tolist()


def test_removed_page_misses_nothing():
    """Changes after its removal do not count."""
    ledger = account(TRACE, polls((25, 1, 1.0)), known_since={1: 0, 2: 0}, gone_at={1: 30, 2: 10})

    assert 0 == ledger.missed


def test_quantiles_weight_changes_or_pages():
    """A busy page with many quick finds must not hide a quiet one that was found late."""
    busy = make_trace({1: list(range(0, 90, 10)), 2: [1]}, start=0, end=100)
    ledger = account(
        busy, polls(*[(at, 1, 1.0) for at in range(0, 90, 10)], (61, 2, 1.0)), known_since={1: -1, 2: -1}, gone_at={}
    )

    assert 0.0 == ledger.delay_quantile(0.5)
    assert 0.0 == ledger.page_delay_quantile(0.5)
    assert 60.0 == ledger.page_delay_quantile(0.6)


def test_delay_needs_a_found_change():
    """No number is invented."""
    ledger = account(TRACE, polls(), known_since={1: 0}, gone_at={})

    assert math.isnan(ledger.delay_quantile(0.5))
    assert math.isnan(ledger.page_delay_quantile(0.5))
    assert 4 == ledger.missed


def test_changes_of_each_page_are_sorted():
    """Times may be given in any order; a page without changes and an unknown one have none."""
    trace = make_trace({5: [30, 10, 20], 3: [], 9: [15]}, start=0, end=100)

    assert [10, 20, 30] == trace.of(5).tolist()
    assert [] == trace.of(3).tolist()
    assert [15] == trace.of(9).tolist()
    assert [] == trace.of(77).tolist()


@pytest.mark.parametrize(
    ("after", "until", "expected"), [(0, 9, 0), (0, 10, 1), (10, 30, 2), (9, 30, 3), (30, 99, 0), (30, 5, 0)]
)
def test_changes_are_counted_up_to_a_poll(after, until, expected):
    """A change at the instant of a poll is found by it and not by the next."""
    assert expected == make_trace({5: [10, 20, 30]}, start=0, end=100).changes(5, after=after, until=until)


@pytest.mark.parametrize(
    ("times", "start", "end", "words"), [([5], 10, 20, "outside"), ([20], 10, 20, "outside"), ([], 10, 10, "end after")]
)
def test_impossible_trace_is_refused(times, start, end, words):
    """All changes lie within the trace, its end excluded."""
    with pytest.raises(ValueError, match=words):
        make_trace({1: times}, start=start, end=end)


def test_trace_without_pages_is_valid():
    """Nothing happens in it."""
    assert 0 == make_trace({}, start=0, end=1).changes(1, after=0, until=1)
