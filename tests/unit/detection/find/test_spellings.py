"""Spellings of prices and availability: a table over languages, currencies and markup."""

import pytest

from tidings.detection.ask.expression import evaluate
from tidings.detection.ask.pair import Pair
from tidings.detection.data.price import availability_of, price_of
from tidings.detection.kinds.number import find_number
from tidings.document.parse import parse
from tidings.model.watch.interest import Interest

TEXTS = [
    ("$19.99", "19.99"),
    ("USD 19.99", "19.99"),
    ("19,99 €", "19.99"),
    ("19.99€", "19.99"),
    ("€ 1.234,50", "1234.50"),
    ("1 234,50 €", "1234.50"),
    ("1&nbsp;234,50&nbsp;€", "1234.50"),
    ("1\u202f234,50 €", "1234.50"),
    ("CHF 1'234.50", "1234.50"),
    ("CHF 1’234.50", "1234.50"),
    ("1.234 €", "1234"),
    ("$1,234", "1234"),
    ("1.234.567 €", "1234567"),
    ("₹1,23,456.00", "123456.00"),
    ("Rs. 1,23,456", "123456"),
    ("£5", "5"),
    ("£0.99", "0.99"),
    ("99p", "99"),
    ("99 ct", "99"),
    ("19,-", "19"),
    ("19,– €", "19"),
    ("€ 19,-", "19"),
    ("19.- CHF", "19"),
    ("CHF 19.–", "19"),
    ("19:90 kr", "19.90"),
    ("1 299:-", "1299"),
    ("kr 1.299,00", "1299.00"),
    ("1 299 kr", "1299"),
    ("kr. 49,95", "49.95"),
    ("2 499,00 zł", "2499.00"),
    ("2499 Kč", "2499"),
    ("12 990 Ft", "12990"),
    ("1 990 ₽", "1990"),
    ("1 990 руб.", "1990"),
    ("1 990,50 грн", "1990.50"),
    ("￥1,980", "1980"),
    ("1,980円", "1980"),
    ("１，９８０円", "1980"),
    ("¥ 128.00", "128.00"),
    ("128元", "128"),
    ("₩12,900", "12900"),
    ("12,900원", "12900"),
    ("R$ 1.299,90", "1299.90"),
    ("S/ 12.50", "12.50"),
    ("AU$ 15.00", "15.00"),
    ("US$15.00", "15.00"),
    ("C$15", "15"),
    ("NZ$ 9.95", "9.95"),
    ("15,00 TL", "15.00"),
    ("₺1.299,99", "1299.99"),
    ("1.299,99 TL", "1299.99"),
    ("١٢٫٥٠ د.إ", "12.50"),
    ("AED 12.50", "12.50"),
    ("د.إ 12.50", "12.50"),
    ("₪ 99.90", "99.90"),
    ("99.90 ש״ח", "99.90"),
    ("฿1,290.00", "1290.00"),
    ("1.290.000 ₫", "1290000"),
    ("1.290.000đ", "1290000"),
    ("Rp 1.290.000", "1290000"),
    ("RM 12.90", "12.90"),
    ("₱1,299.00", "1299.00"),
    ("12.90 лв.", "12.90"),
    ("129,99 lei", "129.99"),
    ("129,99 RON", "129.99"),
    ("12,90&euro;", "12.90"),
    ("19€99", "19.99"),
    ("$&#8203;19.99", "19.99"),
    ("Preis: 19,99&nbsp;EUR", "19.99"),
    ("ab 19,99 €", "19.99"),
    ("from $19.99", "19.99"),
    ("-19,99 €", "-19.99"),
    ("€19.99/month", "19.99"),
    ("19,99 €/Stück", "19.99"),
    ("&dollar;19.99", "19.99"),
    ("$ 19.99 USD", "19.99"),
    ("19,99 €*", "19.99"),
    ("1.299,-- €", "1299"),
    ("$1.299", "1299"),
    ("0,5 €", "0.5"),
    ("0.125 BTC", "0.125"),
]
MARKUP = [
    ("<b>19<sup>99</sup></b> €", "19.99"),
    ("$19<sup>99</sup>", "19.99"),
    ("19<sup>,99</sup> €", "19.99"),
    ("19,<sup>99</sup> €", "19.99"),
    ("19.<sup>99</sup> €", "19.99"),
    ("<span>19</span><sup>99</sup>&nbsp;€", "19.99"),
    ("€ <span>19</span><sup>99</sup>", "19.99"),
    ("<sup>$</sup>19<sup>99</sup>", "19.99"),
    ("<sup>$</sup><b>1,299</b><sup>99</sup>", "1299.99"),
    ("19<sup>99€</sup>", "19.99"),
    ("19<sup>99 €</sup>", "19.99"),
    ("19<sup>€99</sup>", "19.99"),
    ("19 €<sup>99</sup>", "19.99"),
    ("19€<sup>99</sup>", "19.99"),
    ("<span class=whole>19<span class=dot>.</span></span><span class=frac>99</span> $", "19.99"),
    ("<span>$</span><span>19</span><span>.</span><span>99</span>", "19.99"),
    ("<span>19</span><span>,</span><span>99</span> <span>€</span>", "19.99"),
    ("<span>19,</span><span>99</span> €", "19.99"),
    ("19<small>,99</small> €", "19.99"),
    ("<strong>19</strong><small>.99</small> USD", "19.99"),
    ("1 299<sup>00</sup> Kč", "1299.00"),
    ("19<sup>90</sup> лв.", "19.90"),
    ("19<sup>99</sup> <span>lei</span>", "19.99"),
    ("19<sup>99</sup><span> €</span>", "19.99"),
    ("<span>Only $</span>19<sup>99</sup>", "19.99"),
    ("19<sup><u>99</u></sup> €", "19.99"),
    ("<a href=/x>19<sup>99</sup></a> <b>€</b>", "19.99"),
    ("<div><span>19</span><sup>99</sup><sup>€</sup></div>", "19.99"),
    ("19 €<sup>1</sup>", "19"),
    ("19,99 €<sup>12</sup>", "19.99"),
    ("$5<sup>*</sup>", "5"),
]
"""Amounts whose cents, currency or point stand in elements of their own."""
AS_THEY_STAND = [
    ("19 <sup>99</sup> €", "19"),
    ("10<sup>2</sup> m", "102"),
    ("19<sup>1</sup> €", "191"),
    ("10<sup>12</sup>", "1012"),
]
"""Powers, notes, and what a gap keeps apart: decided otherwise than a reader might."""

STATES = {
    "InStock": [
        *("https://schema.org/InStock", "InStock", "in stock", "In Stock", "in_stock", "IN-STOCK", "available", "Yes"),
        *(
            "Auf Lager",
            "sofort lieferbar",
            "verf\u00fcgbar",
            "En stock",
            "Disponible",
            "Disponibile",
            "Em estoque",
            "Op voorraad",
            "I lager",
        ),
        *(
            "P\u00e5 lager",
            "Varastossa",
            "Dost\u0119pny",
            "Skladem",
            "Rakt\u00e1ron",
            "\u00cen stoc",
            "\u0412 \u043d\u0430\u043b\u0438\u0447\u0438\u0438",
        ),
        *("\u5728\u5eab\u3042\u308a", "\u73b0\u8d27", "\uc7ac\uace0 \uc788\uc74c"),
    ],
    "OutOfStock": [
        *(
            "http://schema.org/OutOfStock",
            "out of stock",
            "OOS",
            "unavailable",
            "Nicht auf Lager",
            "nicht verf\u00fcgbar",
            "Rupture de stock",
        ),
        *(
            "No disponible",
            "Sin stock",
            "Non disponibile",
            "Indispon\u00edvel",
            "Niet op voorraad",
            "Slut i lager",
            "Niedost\u0119pny",
        ),
        *(
            "Nen\u00ed skladem",
            "\u041d\u0435\u0442 \u0432 \u043d\u0430\u043b\u0438\u0447\u0438\u0438",
            "\u5728\u5eab\u306a\u3057",
            "\u7f3a\u8d27",
        ),
    ],
    "SoldOut": [
        *(
            "SoldOut",
            "sold out",
            "Ausverkauft",
            "\u00c9puis\u00e9",
            "Agotado",
            "Esaurito",
            "Esgotado",
            "Uitverkocht",
            "Udsolgt",
            "Vyprod\u00e1no",
        ),
        *("\u58f2\u308a\u5207\u308c", "\ud488\uc808"),
    ],
    "PreOrder": [
        "PreOrder",
        "pre-order",
        "preorder",
        "Vorbestellbar",
        "Pr\u00e9commande",
        "Preventa",
        "Pr\u00e9-venda",
    ],
    "Discontinued": ["https://schema.org/Discontinued", "discontinued"],
    "LimitedAvailability": ["LimitedAvailability", "limited stock", "low stock"],
}


def page(body):
    return parse(f"<!doctype html><body><p>{body}".encode(), "text/html", url="http://x.org/", keep_tree=True)


def shop(price="", state=""):
    offer = f"<b itemprop=price>{price}</b><b itemprop=availability>{state}</b>"
    return page(f"<div itemscope itemtype=https://schema.org/Offer>{offer}</div>")


@pytest.mark.parametrize(("body", "value"), [*TEXTS, *MARKUP, *AS_THEY_STAND])
def test_amount_of_a_price_is_read_in_every_spelling(body, value):
    """`number` reads the amount that people see, for each country, currency and markup."""
    found = find_number(page(body))

    assert found is not None
    assert value == f"{found.value():f}"


@pytest.mark.parametrize(("body", "value"), [*TEXTS, *MARKUP])
def test_lower_price_is_reported_in_every_spelling(body, value):
    """A changed amount is a changed number."""
    assert evaluate(Interest("number"), Pair(page("12345678"), page(body)))


@pytest.mark.parametrize(("body", "value"), [row for row in TEXTS if not row[1].startswith("-")])
def test_price_of_microdata_is_read_in_every_spelling(body, value):
    """A shop writes the text for people into an element that says price."""
    found = price_of(shop(price=body))

    assert found is not None
    assert value == f"{found.amount:f}"


@pytest.mark.parametrize(("written", "state"), [(one, state) for state, them in STATES.items() for one in them])
def test_availability_has_its_name_in_every_language(written, state):
    """It is that of schema.org."""
    assert state == availability_of(shop(state=written))


def test_table_of_spellings_is_large():
    """It has more than sixty of prices, in text and in markup, and of availability."""
    assert (len(TEXTS) + len(MARKUP), sum(map(len, STATES.values()))) >= (60, 60)
