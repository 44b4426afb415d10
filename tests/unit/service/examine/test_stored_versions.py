"""Extremes: conditions on the lowest and highest value become comparisons with numbers that are
known.
"""

from __future__ import annotations

from tests.strategies_language import monitor_of
from tidings.model.interval import DAY
from tidings.model.watch.interest import Condition, Interest
from tidings.service.examine.stored_versions import AskedSeries, with_extremes


def test_the_lowest_and_highest_that_are_known():
    """Each condition with the extremes of its own span; what is no such condition stays."""
    known = {AskedSeries("price", 0): (80.0, 120.0), AskedSeries("price", 7 * DAY): (90.0, 110.5)}

    assert monitor_of("price < 80 OR links") == with_extremes(monitor_of("price lowest so far OR links"), known)
    assert monitor_of("price > 110.5 but value < 500") == with_extremes(
        monitor_of("price highest of 7 days but value < 500"), known
    )


def test_nothing_is_lower_than_what_is_not_known():
    """Without values of before no number meets the condition."""
    meant = with_extremes(monitor_of("price lowest so far"), {})

    assert isinstance(meant, Interest)
    assert (Condition("value", "<", float("-inf")),) == meant.where
