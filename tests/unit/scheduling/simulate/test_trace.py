import pytest

from tidings.scheduling.simulate.trace import make_trace


def test_changes_are_kept_in_order_for_each_page():
    """Times may come in any order; a page without changes and one that is not there have none."""
    trace = make_trace({5: [30, 10, 20], 3: [], 9: [15]}, start=0, end=100)

    assert [10, 20, 30] == trace.of(5).tolist()
    assert [] == trace.of(3).tolist()
    assert [15] == trace.of(9).tolist()
    assert [] == trace.of(77).tolist()


@pytest.mark.parametrize(
    ("after", "until", "expected"), [(0, 9, 0), (0, 10, 1), (10, 30, 2), (9, 30, 3), (30, 99, 0), (30, 5, 0)]
)
def test_changes_counts_after_and_until(after, until, expected):
    """A change at the instant of a poll is found by that poll and not by the next."""
    assert expected == make_trace({5: [10, 20, 30]}, start=0, end=100).changes(5, after=after, until=until)


@pytest.mark.parametrize(
    ("times", "start", "end", "words"), [([5], 10, 20, "outside"), ([20], 10, 20, "outside"), ([], 10, 10, "end after")]
)
def test_trace_that_makes_no_sense_is_refused(times, start, end, words):
    """All changes lie within the trace, its end excluded."""
    with pytest.raises(ValueError, match=words):
        make_trace({1: times}, start=start, end=end)


def test_trace_without_pages_is_a_trace():
    """Nothing happened nowhere."""
    assert 0 == make_trace({}, start=0, end=1).changes(1, after=0, until=1)
