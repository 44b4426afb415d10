"""Conditions that already hold for a first version."""

from __future__ import annotations

import pytest

from tests.strategies_language import monitor_of
from tidings.detection.ask.readings import already
from tidings.document.parse import parse
from tidings.document.select.extraction import WHOLE

OFFER = '{"@type": "Product", "offers": {"price": "95.00", "priceCurrency": "EUR", "availability": "InStock"}}'
PAGE = f'<script type="application/ld+json">{OFFER}</script><p class="n">We have 7 of them.</p>'


@pytest.mark.parametrize(
    ("monitor", "expected"),
    [
        ("price is below 100", ("95.00 EUR",)),
        ("price is below 90", ()),
        ("price below 100", ()),
        ("price becomes below 100", ()),
        ("price is below 100 but becomes below 100", ()),
        ("price is between 90 and 100", ("95.00 EUR",)),
        ('price is below 100 but page has "7 of them"', ("95.00 EUR",)),
        ('price is below 100 but page lacks "7 of them"', ()),
        ('availability is "in stock"', ("InStock",)),
        ('availability is "sold out"', ()),
        ('number in css ".n" is 7', ("7",)),
        ('number in css ".gone" is 7', ()),
        ('price is below 100 OR number in css ".n" is 8', ("95.00 EUR",)),
        ('price is below 100 AND number in css ".n" is 8', ()),
        ('price is below 100 AND number in css ".n" is 7', ("95.00 EUR", "7")),
        ("price is below 100 AND all words", ()),
    ],
)
def test_conditions_that_hold_already_are_reported(monitor, expected):
    """Only `is` conditions do, if all of an interest hold; of AND all parts must."""
    page = parse(PAGE.encode(), "text/html", url="https://a.example/", keep_tree=True)
    monitored = monitor_of(monitor)

    assert expected == already(monitored, WHOLE, [page]).inserted
