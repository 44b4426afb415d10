"""Conditions on the lowest and highest value become comparisons with known numbers."""

from __future__ import annotations

from tests.strategies_language import monitor_of
from tidings.model.interval import DAY
from tidings.model.watch.interest import Condition, Interest
from tidings.service.examine.stored_versions import AskedSeries, with_extremes


def test_extremes_are_replaced_by_known_values():
    """Each condition uses the extremes of its own span. Other conditions stay."""
    known = {AskedSeries("price", 0): (80.0, 120.0), AskedSeries("price", 7 * DAY): (90.0, 110.5)}

    assert monitor_of("price < 80 OR links") == with_extremes(monitor_of("price lowest so far OR links"), known)
    assert monitor_of("price > 110.5 but value < 500") == with_extremes(
        monitor_of("price highest of 7 days but value < 500"), known
    )


def test_unknown_extreme_is_never_met():
    """A page without earlier values has no extremes."""
    meant = with_extremes(monitor_of("price lowest so far"), {})

    assert isinstance(meant, Interest)
    assert (Condition("value", "<", float("-inf")),) == meant.where
