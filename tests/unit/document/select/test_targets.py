"""The element that a selector found is found again in later versions, without guesses."""

import json

import pytest

from tidings.document.parse import parse
from tidings.document.select.targets import MOST_ELEMENTS, Bundle, bundle_of, heal, similarity
from tidings.model.watch.interest import Selector


def tree(body):
    return parse(f"<!doctype html><html><body>{body}".encode(), "text/html", url="http://x.org/", keep_tree=True).tree


def css(text):
    return Selector("css", text)


def find(old, selector, new):
    """Return the text that is found for a selector's target in another version, None if there is
    none.
    """
    bundle = bundle_of(tree(old), css(selector) if isinstance(selector, str) else selector)
    assert bundle is not None
    healed = heal(tree(new), bundle)
    if healed is not None:
        assert 1 == len(tree(new).search(healed.selector).nodes)
    return None if healed is None else healed.text


def row(name, price, *, kind="price", wrap=("", "")):
    before, after = wrap
    return f"<div class=product><h2>{name}</h2>{before}<span class={kind}>{price} EUR</span>{after}<p>{name} is sent at once</p></div>"


SHOP = "<main id=shop>{}</main><footer>Terms of trade</footer>"
LAMP, CHAIR, TABLE = row("Lamp of brass", 19), row("Chair of oak", 90), row("Table of glass", 250)


@pytest.mark.parametrize(
    ("old", "selector", "new", "expected"),
    [
        (SHOP.format(LAMP), ".price", SHOP.format(row("Lamp of brass", 17, kind="amount")), "17 EUR"),
        (
            SHOP.format(LAMP),
            "#shop > div:nth-child(1) > span:nth-child(2)",
            f"<p>Sale</p>{SHOP.format(row('Lamp of brass', 17, wrap=('<div>', '</div>')))}",
            "17 EUR",
        ),
        (
            SHOP.format(CHAIR + LAMP + TABLE),
            "div:nth-child(2) > .price",
            SHOP.format(
                row("Chair of oak", 80, kind="c") + row("Sofa", 1, kind="c") + row("Lamp of brass", 18, kind="c")
            ),
            "18 EUR",
        ),
        (
            SHOP.format(LAMP),
            Selector("xpath", "//span[@class='price']"),
            SHOP.format(row("Lamp of brass", 17, kind="amount")),
            "17 EUR",
        ),
        ("<h1 id=a>The title of all</h1><p>text", "#a", "<h1 id=b>The title of all</h1><p>text", "The title of all"),
        (SHOP.format(LAMP), ".price", SHOP.format(LAMP.replace("<span class=price>19 EUR</span>", "")), None),
        (SHOP.format(LAMP), ".price", SHOP.format(row("Lamp of brass", 17, kind="a") * 2), None),
        (SHOP.format(LAMP), ".price", "<p>We have closed", None),
        (SHOP.format(LAMP), ".price", "", None),
    ],
    ids=[
        "another class",
        "wrapped, and moved down",
        "its neighbours decide among rows",
        "an XPath",
        "another id",
        "taken out",
        "two as like",
        "another page",
        "an empty page",
    ],
)
def test_target_is_found_or_lost(old, selector, new, expected):
    """Its text with other numbers, its neighbours, its names and its surroundings decide; of two
    equal ones neither is found.
    """
    assert expected == find(old, selector, new)


def test_new_names_do_not_count_if_all_are_new():
    """If a site generates its classes at each build, text and neighbours are enough."""
    old = "<div class='shop_x1'><h2 class='head_x1'>Lamp of brass</h2><b id=pay class='pay_x1 big_x1'>19 EUR</b><p class='say_x1'>sent at once</p></div>"
    new = "<div class='q1'><h2 class='q2'>Lamp of brass</h2><b id=q3 class='q4 q5'>17 EUR</b><p class='q6'>sent at once</p></div>"

    assert "17 EUR" == find(old, "#pay", new)


def test_target_needs_a_single_element():
    """A selector that finds nothing, several elements, or attributes has no target."""
    page = tree("<p>a</p><p>b</p><a href=x>c</a>")

    assert None is bundle_of(page, css("p"))
    assert None is bundle_of(page, css(".x"))
    assert None is bundle_of(page, Selector("xpath", "//a/@href"))
    assert None is bundle_of(page, Selector("jsonpath", "$.a"))


def test_target_is_stored_as_json():
    """It is restored unchanged."""
    bundle = bundle_of(tree(SHOP.format(LAMP)), css(".price"))

    assert bundle is not None
    assert bundle == Bundle.of_json(json.loads(json.dumps(bundle.as_json())))
    assert 1.0 == pytest.approx(similarity(bundle, bundle))
    assert ("Lamp of brass", "Lamp of brass is sent at once") == (bundle.before, bundle.after)


@pytest.mark.parametrize(
    ("new", "expected"),
    [
        ("<div class=a><span data-testid=price class=x1a9>5 EUR</span></div>", 'span[data-testid="price"]'),
        ("<span>x</span><div id=buy><span class=css-9f8e7d>5 EUR</span></div>", "#buy span"),
        ("<span class='a b'>x</span><div><span class='a price'>5 EUR</span></div>", "span.price"),
        ("<span>x</span><div id=buy><span>5 EUR</span></div>", "#buy span"),
        (
            "<div><span>x</span><span>5 EUR</span></div>",
            "body:nth-of-type(1) > div:nth-of-type(1) > span:nth-of-type(2)",
        ),
        ("<span id='a\"b'>5 EUR</span>", "span"),
        ("<span id='1 2'>5 EUR</span><i id=x>y</i>", 'span[id="1 2"]'),
    ],
)
def test_new_selector_is_the_simplest_unique_one(new, expected):
    """It prefers stable names, then classes, then the surroundings, and numbers last; nothing needs
    escaping.
    """
    bundle = bundle_of(tree(new), Selector("xpath", "//span[.='5 EUR']"))
    healed = heal(tree(new), bundle) if bundle is not None else None

    assert healed is not None
    assert expected == healed.selector.text


@pytest.mark.parametrize(
    "body",
    [
        "<div>" * 300 + "5 EUR",
        "<p>5 EUR</p>" * 5_000,
        "<i>" + "x" * 1_000_000,
        "<b " + " ".join(f"data-a{n}=v" for n in range(400)) + ">5 EUR</b>",
        "<p>a" * (MOST_ELEMENTS + 10),
    ],
    ids=["deep", "alike", "long", "attributes", "too many elements"],
)
def test_hostile_page_heals_no_selector(body):
    """The search is bounded, and never guesses."""
    assert None is heal(
        tree(body), Bundle("span", (("class", "price"),), "5 EUR", "Lamp", "now", ("div shop", "span price"))
    )
