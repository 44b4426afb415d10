"""Prices and availability as change types, and their conditions."""

import pytest

from tidings.detection.ask.expression import evaluate
from tidings.detection.ask.pair import Pair
from tidings.detection.ask.summary import summary
from tidings.detection.job.selectors import absence
from tidings.document.parse import parse
from tidings.document.select.extraction import WHOLE
from tidings.model.watch.interest import Condition, Interest

PRICE, AVAILABILITY = Interest("price"), Interest("availability")


def shop(price="", currency="EUR", availability=""):
    offer = f'{{"price": "{price}", "priceCurrency": "{currency}", "availability": "{availability}"}}'
    body = f'<p>Lamp</p><script type="application/ld+json">{{"@type": "Product", "offers": {offer}}}</script>'
    return parse(body.encode(), "text/html", url="http://x.org/", keep_tree=True)


def find(interest, old, new):
    change = evaluate(interest, Pair(old, new))
    return change.updated


def where(*condition):
    return Interest("price", where=(Condition(*condition),))


@pytest.mark.parametrize(
    ("interest", "old", "new", "expected"),
    [
        (PRICE, shop("19.99"), shop("17.99"), (("19.99 EUR", "17.99 EUR"),)),
        (PRICE, shop("19.90"), shop("19.9"), ()),
        (PRICE, shop("19.90"), shop("19.90", "USD"), (("19.90 EUR", "19.90 USD"),)),
        (PRICE, shop("0.1"), shop("0.10000000001"), (("0.1 EUR", "0.10000000001 EUR"),)),
        (PRICE, shop("5"), shop(), ()),
        (PRICE, shop(), shop("5"), ()),
        (AVAILABILITY, shop(availability="InStock"), shop(availability="out of stock"), (("InStock", "OutOfStock"),)),
        (AVAILABILITY, shop(availability="InStock"), shop(availability="https://schema.org/InStock"), ()),
        (where("drops", ">=", 10, True), shop("20"), shop("18"), (("20 EUR", "18 EUR"),)),
        (where("drops", ">", 10, True), shop("20"), shop("18"), ()),
        (where("drops", ">=", 1), shop("20"), shop("18", "USD"), ()),
        (where("value", "<", 19), shop("20"), shop("18", "USD"), (("20 EUR", "18 USD"),)),
        (where("becomes", "<", 19), shop("20"), shop("18.99"), (("20 EUR", "18.99 EUR"),)),
        (where("becomes", "<", 19), shop("18.5"), shop("18"), ()),
        (where("rises", ">=", 0.01), shop("19.99"), shop("20"), (("19.99 EUR", "20 EUR"),)),
        (Interest("price", direction="inserted"), shop("5"), shop("6"), ()),
        (
            Interest("availability", where=(Condition("contains", text="instock"),)),
            shop(availability="oos"),
            shop(availability="in stock"),
            (("OutOfStock", "InStock"),),
        ),
        (
            Interest("availability", where=(Condition("matches", text="^InStock$"),)),
            shop(availability="in stock"),
            shop(availability="oos"),
            (),
        ),
    ],
)
def test_change_of_an_offer_has_exact_amounts(interest, old, new, expected):
    """The currency counts; a page without an offer is not compared."""
    assert expected == find(interest, old, new)


def test_page_without_a_price_is_reported_as_lacking_it():
    """It is lost, not changed."""
    assert ("price",) == absence(PRICE, WHOLE, [shop()]).names
    assert () == absence(PRICE, WHOLE, [shop("5")]).names
    assert ("availability",) == absence(AVAILABILITY, WHOLE, [shop("5")]).names


def test_first_price_is_inserted():
    """So is an availability; conditions see it as any other."""
    assert ("5 EUR",) == evaluate(PRICE, Pair(shop(), shop("5"))).inserted
    assert ("InStock",) == evaluate(AVAILABILITY, Pair(shop(), shop(availability="in stock"))).inserted
    assert evaluate(where("value", "<", 6), Pair(shop(), shop("5")))
    assert not evaluate(where("value", "<", 4), Pair(shop(), shop("5")))
    assert not evaluate(PRICE, Pair(shop("5"), shop()))


def test_price_has_one_line_for_a_subject():
    """It is short."""
    change = evaluate(PRICE, Pair(shop("19.99"), shop("17.99")))

    assert 'price changed: "19.99 EUR" → "17.99 EUR"' == summary(change)
