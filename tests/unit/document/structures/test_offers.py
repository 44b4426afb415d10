"""Offers: prices and availability for machines, in the forms that shops write."""

import json

import pytest

from tidings.detection.data.price import Money, availability_of, price_of
from tidings.document.extract import extract
from tidings.document.parse import parse
from tidings.document.select.extraction import Extraction
from tidings.document.structures import offers
from tidings.document.structures.offers import offers_of
from tidings.model.watch.interest import Selector

PRODUCT = {"@context": "https://schema.org", "@type": "Product", "name": "Lamp"}


def page(body, media="text/html"):
    return parse(body.encode(), media, url="http://x.org/", keep_tree=True)


def ld(*values, kind="application/ld+json"):
    return "".join(
        f'<script type="{kind}">{value if isinstance(value, str) else json.dumps(value)}</script>' for value in values
    )


def make_offer(**offer):
    return {**PRODUCT, "offers": {"@type": "Offer", **offer}}


def read(body, media="text/html"):
    """Return (the price as people read it, the availability)."""
    document = page(body, media)
    price = price_of(document)
    return (price.text if isinstance(price, Money) else "", availability_of(document))


IN_STOCK = "https://schema.org/InStock"
MICRODATA = (
    '<div itemscope itemtype="https://schema.org/Product"><h1 itemprop=name>Lamp</h1>{more}'
    '<div itemprop=offers itemscope itemtype="https://schema.org/Offer">{offer}</div></div>'
)
OPEN_GRAPH = (
    '<meta property="product:price:amount" content="7.00"><meta property="product:price:currency" content="EUR">'
    '<meta property="product:availability" content="in stock">'
)


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        (ld(make_offer(price="19.99", priceCurrency="EUR", availability=IN_STOCK)), ("19.99 EUR", "InStock")),
        (ld(make_offer(price=1299.90, priceCurrency="eur")), ("1299.9 EUR", "")),
        (ld(make_offer(price="1.299,90 €")), ("1299.90 EUR", "")),
        (ld(make_offer(price="$1,299.90", priceCurrency="USD")), ("1299.90 USD", "")),
        (ld(make_offer(price="12.345", priceCurrency="KWD")), ("12.345 KWD", "")),
        (ld(make_offer(price="Call us")), ("", "")),
        (ld(make_offer(price="-5")), ("", "")),
        (ld({**PRODUCT, "offers": [{"price": "9"}, {"price": "7"}, {"price": "8"}]}), ("7", "")),
        (
            ld({**PRODUCT, "offers": [{"price": "9", "priceCurrency": "EUR"}, {"price": "7", "priceCurrency": "USD"}]}),
            ("9 EUR", ""),
        ),
        (
            ld(
                {
                    **PRODUCT,
                    "offers": {"@type": "AggregateOffer", "lowPrice": "5", "highPrice": 9, "priceCurrency": "GBP"},
                }
            ),
            ("5 GBP", ""),
        ),
        (
            ld(
                {
                    **PRODUCT,
                    "offers": {
                        "@type": "AggregateOffer",
                        "priceCurrency": "GBP",
                        "offers": [{"price": 6}, {"price": 5}],
                    },
                }
            ),
            ("5 GBP", ""),
        ),
        (
            ld(
                make_offer(
                    priceSpecification=[
                        {"priceType": "https://schema.org/ListPrice", "price": 10},
                        {"price": "8", "priceCurrency": "EUR"},
                    ]
                )
            ),
            ("8 EUR", ""),
        ),
        (ld({"@graph": [{"@type": "WebPage"}, make_offer(price="3", priceCurrency="EUR")]}), ("3 EUR", "")),
        (
            ld({"@graph": [{**PRODUCT, "offers": {"@id": "#o"}}, {"@id": "#o", "@type": "Offer", "price": "4"}]}),
            ("4", ""),
        ),
        (ld({"@type": "WebPage", "mainEntity": {"@graph": [[make_offer(price="6")]]}}), ("6", "")),
        (
            ld(
                {
                    "@type": "ProductGroup",
                    "hasVariant": [make_offer(price="6"), make_offer(price="5", availability="OutOfStock")],
                }
            ),
            ("5", "OutOfStock"),
        ),
        (
            ld({**make_offer(price="6"), "isRelatedTo": make_offer(price="1"), "review": [make_offer(price="1")]}),
            ("6", ""),
        ),
        (ld({"@type": "ItemList", "itemListElement": [make_offer(price="1"), make_offer(price="2")]}), ("", "")),
        (ld({"@type": "Organization"}, make_offer(price="6")), ("6", "")),
        (ld("{broken", make_offer(price="6")), ("6", "")),
        (ld('<!--\n{"@type": "Product", "offers": {"price": "6",}}\n-->'), ("6", "")),
        (ld('//<![CDATA[\n{"offers": {"price": "6"}}\n//]]>'), ("6", "")),
        (ld('{"name": "two\nlines", "offers": {"price": 6}}'), ("6", "")),
        (ld(make_offer(price="6"), kind="application/LD+JSON; charset=utf-8"), ("6", "")),
        (ld(make_offer(price="6"), kind="text/javascript"), ("", "")),
        (ld("{broken") + MICRODATA.format(more="", offer="<b itemprop=price>6,50 €</b>"), ("6.50 EUR", "")),
        (
            MICRODATA.format(
                more="",
                offer="<meta itemprop=priceCurrency content=EUR><span itemprop=price content='12.00'>12 Euro</span>"
                "<link itemprop=availability href='http://schema.org/SoldOut'>",
            ),
            ("12.00 EUR", "SoldOut"),
        ),
        (
            MICRODATA.format(
                more='<div itemprop="isRelatedTo" itemscope itemtype="https://schema.org/Product"><div itemprop=offers itemscope'
                ' itemtype="https://schema.org/Offer"><b itemprop=price>1</b></div></div>',
                offer="<b itemprop=price>6</b>",
            ),
            ("6", ""),
        ),
        (OPEN_GRAPH, ("7.00 EUR", "InStock")),
        (ld({**PRODUCT, "offers": {"availability": "PreOrder"}}) + OPEN_GRAPH, ("7.00 EUR", "PreOrder")),
        ("<p>Only 5 EUR, in stock</p>", ("", "")),
    ],
)
def test_offer_has_price_and_availability(body, expected):
    """JSON-LD comes before microdata and Open Graph; the lowest price of the main product counts,
    exactly as written.
    """
    assert expected == read(body)


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        ("https://schema.org/InStock", "InStock"),
        ("http://schema.org/PreOrder/", "PreOrder"),
        ("schema:BackOrder", "BackOrder"),
        ("in stock", "InStock"),
        ("Out of stock", "OutOfStock"),
        ("out_of_stock", "OutOfStock"),
        ("available for order", "BackOrder"),
        ("oos", "OutOfStock"),
        ("LimitedAvailability", "LimitedAvailability"),
        ("Nur noch 3", "Nur noch 3"),
    ],
)
def test_availability_has_the_name_of_schema_org(written, expected):
    """Every spelling has it; an unknown word stays as written."""
    assert ("", expected) == read(ld(make_offer(availability=written)))


def test_best_availability_of_several_offers_counts():
    """One available offer is enough."""
    several = [{"availability": "OutOfStock"}, {"availability": "InStock"}, {"availability": "PreOrder"}]

    assert ("", "InStock") == read(ld({**PRODUCT, "offers": several}))


def test_json_ld_of_an_api_is_read():
    """Its answer is the product itself."""
    assert ("1299.90 EUR", "InStock") == read(
        json.dumps(make_offer(price=0, priceCurrency="EUR", availability="InStock")).replace(": 0,", ": 1299.90,"),
        "application/ld+json",
    )


def test_repeated_offer_is_read_once(monkeypatch):
    """A list that is too long is read in part."""
    twice = {
        "@graph": [
            {**PRODUCT, "offers": ["#a", "#a", {"@id": "#b"}]},
            {"@id": "#a", "price": 1},
            {"@id": "#b", "price": 2},
        ]
    }
    many = {**PRODUCT, "offers": [{"price": 3}, {"price": 4}, {"price": 5}]}

    assert ["1", "2"] == [offer.price for offer in offers_of(page(ld(twice)))[0]]
    monkeypatch.setattr(offers, "MOST_OFFERS", 2)
    assert ["3", "4"] == [offer.price for offer in offers_of(page(ld(many)))[0]]
    hidden = {"@graph": [{**PRODUCT, "offers": "#a"}, {"@id": "#a", "offers": ["#none", "#none", {"price": 6}]}]}
    assert () == offers_of(page(ld(hidden)))[0]


def test_selector_limits_the_offers():
    """Of two products the one in the part counts."""
    whole = page(
        f"<main>{MICRODATA.format(more='', offer='<b itemprop=price>6</b>')}</main>"
        f"<aside>{MICRODATA.format(more='', offer='<b itemprop=price>9</b>')}</aside>"
    )

    def price(css):
        found = price_of(extract(whole, Extraction((Selector("css", css),))))
        return found.text if found else ""

    assert ["6", "9", ""] == [price("main"), price("aside"), price("h1")]


@pytest.mark.parametrize(
    "body",
    [
        f"<aside>{ld(make_offer(price=9))}</aside>{ld(make_offer(price=5))}",
        MICRODATA.format(more="", offer="<aside><b itemprop=price>9</b></aside><b itemprop=price>5</b>"),
        MICRODATA.format(more="", offer="<b itemprop=price><aside>9</aside>5</b>"),
    ],
    ids=["JSON-LD", "microdata", "text"],
)
def test_excluded_part_has_no_offer(body):
    """Its price is not that of the page."""
    found = price_of(extract(page(body), Extraction(exclude=(Selector("css", "aside"),))))

    assert found is not None
    assert "5" == found.text


HOSTILE = {
    "megabytes of script": ld('{"offers": {"price": "' + "1" * 3_000_000 + '"}}'),
    "nested a hundred thousand deep": ld('{"a":' * 100_000 + "1" + "}" * 100_000),
    "lists a hundred thousand deep": ld("[" * 100_000),
    "hundreds of thousands of values": ld("[" + "0," * 100_000 + "0]"),
    "names each other": ld(
        {"@graph": [{"@id": "#a", "offers": {"@id": "#b"}}, {"@id": "#b", "offers": {"@id": "#a"}}]}
    ),
    "no text": ld({"offers": {"price": {"price": {"price": []}}, "availability": [[[]]], "priceCurrency": 5}}),
    "endless number": ld('{"offers": {"price": 1e999999999}}'),
    "not a number": ld('{"offers": {"price": NaN}}'),
    "no value": ld("", "null", "5", '"x"', "[]", "{}"),
    "many offers": ld({"offers": [{"price": "x"}] * 4_000}),
    "scopes in scopes": '<div itemscope itemtype="http://schema.org/Offer">' * 400,
}


@pytest.mark.parametrize("body", HOSTILE.values(), ids=HOSTILE)
def test_hostile_offers_are_ignored(body):
    """There is no crash, no endless search and no invented price."""
    assert ("", "") == read(body)
    assert len(offers_of(page(body))[0]) <= 1_000
