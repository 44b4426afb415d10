"""Selectors in a job: what they match, what stands for it where they match nothing, and what is
missing (detection §4.4; sentinels §5.3).
"""

import pytest

from tidings.detection.job.contract import Target
from tidings.detection.job.selectors import absence, mend, standing, targets_of, use
from tidings.document.parse import parse
from tidings.document.select.extraction import WHOLE, Extraction
from tidings.model.watch.sentinel import AllOf, AnyOf, Interest, Not, Selector

ANY = Interest("any")
PRICE = Selector("css", ".price")
COST = Selector("css", ".cost")


def within(kind, selector):
    return Interest(kind, selector=Selector("css", selector))


def shop(name, price="5 EUR", more=""):
    """Return a page with a price in an element of a class."""
    rows = "".join(f"<tr><th>{row}<td>{row} of brass" for row in ("Stand", "Shade", "Cord"))
    text = (
        f"<h1>Lamp of brass</h1><p>In our shop for years.</p><div class=buy><b>Price today</b>"
        f"<span class='{name}'>{price} with tax</span>{more}<i>plus postage</i></div><table>{rows}</table>"
    )
    return parse(text.encode(), "text/html", url="http://x.org/", keep_tree=True)


JSON = parse(b"{}", "application/json", keep_tree=True)


def price_of(document, known=(), selector=PRICE):
    return targets_of(document, Interest("words", selector=selector), WHOLE, known)


def test_single_match_is_described_and_several_are_not():
    """One that matches nothing stays as it was, without a replacement."""
    (found,) = price_of(shop("price"))

    assert (PRICE, None) == (found.selector, found.stand_in)
    assert "5 EUR with tax" in found.bundle
    assert () == price_of(shop("price", more="<u class=price>6"))
    assert () == price_of(shop("cost"))
    before = Target(selector=PRICE, bundle=found.bundle, stand_in=COST)
    assert (Target(selector=PRICE, bundle=found.bundle),) == price_of(shop("other"), (before,))


def test_targets_are_each_selector_once():
    """Those of the sentinel and of each interest; a JSONPath has none, and a page without elements
    keeps what was known.
    """
    expression = AnyOf((within("words", ".price"), within("links", ".price"), within("words", "h1")))
    found = targets_of(shop("price"), expression, Extraction((Selector("css", "body"),)), ())

    assert ["body", ".price", "h1"] == [target.selector.text for target in found]
    assert () == price_of(shop("price"), selector=Selector("jsonpath", "$.a"))
    assert tuple(found) == targets_of(JSON, expression, WHOLE, found)


def test_impossible_selector_keeps_what_was_known():
    """The comparison reports it."""
    bad = Selector("xpath", "count(//p)")
    known = Target(selector=bad, bundle=("x",))

    assert (known,) == price_of(shop("price"), (known,), bad)
    assert () == price_of(shop("price"), (), bad)
    assert [] == mend(shop("price"), [known])
    replaced = Target(selector=bad, stand_in=COST)
    assert (replaced,) == standing(shop("price"), [replaced])


def test_renamed_part_is_found_again():
    """The replacement is registered, said once, and then described in its place."""
    known = price_of(shop("price"))
    page = shop("cost", "6 EUR")
    (mended,) = mend(page, known)

    assert (PRICE, "5 EUR with tax", "6 EUR with tax") == (mended.selector, mended.before, mended.after)
    assert 0.75 <= mended.score <= 1
    assert round(mended.score, 3) == mended.score
    (target,) = price_of(page, known)
    assert mended.stand_in == target.stand_in
    assert "6 EUR with tax" in target.bundle
    assert [] == mend(page, known), "the selector finds it now"


def test_part_that_is_there_or_was_never_described_is_not_searched():
    """Nor is one on a page without elements."""
    known = price_of(shop("price"))

    assert [] == mend(shop("price", "7 EUR"), known)
    assert [] == mend(shop("cost"), [Target(selector=PRICE)])
    assert [] == mend(JSON, known)


def test_part_that_is_gone_or_lacks_its_state_has_no_replacement():
    """It is lost."""
    page = parse(b"<p>We have moved.", "text/html", keep_tree=True)
    sale = price_of(shop("price sale"), selector=Selector("css", ".price.sale"))

    assert [] == mend(page, price_of(shop("price")))
    assert 1 == len(sale)
    assert [] == mend(shop("price"), sale)


def test_replacement_is_used_where_the_selector_matches_nothing():
    """Only the targets that have one."""
    page = shop("cost")
    use(page, [Target(selector=PRICE, stand_in=COST), Target(selector=Selector("css", "h4"))])

    assert not absence(within("words", ".price"), WHOLE, [page]).names
    assert ('css "h4"',) == absence(within("words", "h4"), WHOLE, [page]).names
    use(JSON, [Target(selector=PRICE, stand_in=COST)])


@pytest.mark.parametrize(
    ("name", "selector", "stand_in", "is_valid"),
    [
        ("cost", ".price", ".cost", True),
        ("price", ".price", ".price", True),
        ("price", ".price.sale", ".price", False),
        ("", ".sale", "span", False),
        ("cost", ".sale", "span", True),
        ("cost", ".price", "h4", True),
    ],
    ids=["renamed", "matches itself", "state over", "no class at all", "another class", "gone as well"],
)
def test_replacement_ends_once_only_a_state_is_lacking(name, selector, stand_in, is_valid):
    """A class is a state if the selector names the element without it, or it has no class at all."""
    target = Target(selector=Selector("css", selector), stand_in=Selector("css", stand_in))

    assert ((target,) if is_valid else ()) == standing(shop(name), [target])
    assert (target,) == standing(JSON, [target])
    assert () == standing(shop(name), [Target(selector=PRICE)])


@pytest.mark.parametrize(
    ("expression", "names", "is_all"),
    [
        (within("words", "#a"), (), False),
        (within("words", "#x"), ('css "#x"',), True),
        (AnyOf((within("words", "#x"), within("words", "#a"))), ('css "#x"',), False),
        (AnyOf((within("words", "#x"), within("links", "#y"))), ('css "#x"', 'css "#y"'), True),
        (AllOf((within("words", "#a"), Not(within("words", "#x")))), (), False),
        (Interest("table", ordinal=2), ("table 2",), True),
        (Interest("list", ordinal=1), (), False),
        (ANY, (), False),
    ],
)
def test_missing_part_has_a_name(expression, names, is_all):
    """It has the words of the language; a part of NOT is not missed."""
    document = parse(b"<p id=a>1<table><tr><td>1</table><ul><li>x</ul>", "text/html", keep_tree=True)
    lacking = absence(expression, WHOLE, [document])

    assert (names, is_all) == (lacking.names, lacking.is_all)
    assert not absence(within("words", "#x"), WHOLE, [document, parse(b"<b id=x>", "text/html", keep_tree=True)]).names


def test_optional_thing_of_the_whole_page_can_lack():
    """A price is asked of a page that states none."""
    document = parse(b"<p>no price", "text/html", keep_tree=True)

    assert (("price",), True) == ((found := absence(Interest("price"), WHOLE, [document])).names, found.is_all)
    assert () == absence(within("words", "#x"), WHOLE, []).names
