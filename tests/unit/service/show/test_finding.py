"""Findings are few, and their times and numbers are readable."""

import pytest

from tidings.clock import DAY, HOUR, MINUTE, SECOND
from tidings.service.show import finding
from tidings.service.show.finding import MOST_LINES, Finding

START = 1_700_000_000 * SECOND


def test_few_findings_are_all_listed():
    """At most `MOST_LINES` findings are few."""
    found = [finding.warn("page", str(i)) for i in range(MOST_LINES)]

    assert found == list(finding.shorten(found))


def test_further_findings_are_counted():
    """One more than fits is counted, with the status of the others."""
    found = [finding.fail("blob", str(i)) for i in range(MOST_LINES + 1)]

    assert Finding("fail", "blob", "and 1 more", "m") == list(finding.shorten(found, mend="m"))[-1]


@pytest.mark.parametrize(
    ("length", "text"),
    [
        (0, "0 s"),
        (119 * SECOND, "119 s"),
        (120 * SECOND, "2 min"),
        (90 * MINUTE, "90 min"),
        (2 * HOUR, "2 h"),
        (47 * HOUR, "47 h"),
        (2 * DAY, "2 days"),
    ],
)
def test_lengths_of_time_are_spelled(length, text):
    """The unit is the largest one with at least two."""
    assert text == finding.spell_length(length)


def test_instants_are_spelled_with_their_distance():
    """An instant is in UTC, in the past or future."""
    assert "2023-11-14 22:13:20 UTC (3 min ago)" == finding.spell_since(START, START + 3 * MINUTE)
    assert "2023-11-14 22:13:20 UTC (in 3 min)" == finding.spell_since(START, START - 3 * MINUTE)


def test_counts_are_spelled():
    """The count 1 is singular, and thousands have commas."""
    assert ["1 body", "0 bodies", "1,000 pages"] == [
        finding.spell_count(1, "body", "bodies"),
        finding.spell_count(0, "body", "bodies"),
        finding.spell_count(1000, "page"),
    ]
