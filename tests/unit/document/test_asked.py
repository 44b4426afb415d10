"""What a selector asks of an element: one that only lacks a state is lost, one that moved or was renamed is found again."""

import pytest

from tidings.detection.healing import mend
from tidings.detection.job import Target
from tidings.document.parse import parse
from tidings.document.targets import bundle_of
from tidings.model.interest import Selector

PAGE = (
    "<main><h1>Shop</h1><p>The lamp of brass is sold in this shop since 1920.</p>{}<p>All is sent at once.</p></main>"
)
BUTTON = "<button id=b {}>Add to cart</button>"
BADGE = "<span class='{}'>As of today</span>"


def document(body):
    return parse(PAGE.format(body).encode(), "text/html", url="http://x.org/", keep_tree=True)


def is_healed(old, selector, new, language="css"):
    asked = Selector(language, selector)
    bundle = bundle_of(document(old).tree, asked)
    assert bundle is not None
    return bool(mend(document(new), [Target(selector=asked, bundle=tuple(bundle.as_json()))]))


@pytest.mark.parametrize(
    ("old", "selector", "new"),
    [
        (BUTTON.format("disabled"), "button[disabled]", BUTTON.format("")),
        (BUTTON.format("disabled"), "#b:disabled", BUTTON.format("")),
        (BUTTON.format("disabled"), "[disabled]", BUTTON.format("")),
        (BUTTON.format(""), "button:not([disabled])", BUTTON.format("disabled")),
        (BUTTON.format("aria-expanded=true"), "[aria-expanded=true]", BUTTON.format("aria-expanded=false")),
        (BUTTON.format("data-state='a]b'"), "button[data-state='a]b']", BUTTON.format("data-state=open")),
        (BADGE.format("badge sold-out"), ".badge.sold-out", BADGE.format("badge")),
        (BADGE.format("badge sold-out"), ".badge.sold-out", BADGE.format("badge in-stock")),
        (BADGE.format("badge sold-out"), ".sold-out", BADGE.format("badge")),
        (BADGE.format("price sale"), "span.price.sale", BADGE.format("price")),
        (BADGE.format("price sale red"), ".price.sale.red", BADGE.format("price")),
        (BADGE.format("price sale"), "[class~=sale]", BADGE.format("price")),
        (f"<div class='product sale'>{BADGE.format('price')}</div>", ".product.sale .price", f"<div class=product>{BADGE.format('price')}</div>"),
        (f"<input type=checkbox name=n checked><label>{BADGE.format('')}</label>", ":checked + label", f"<input type=checkbox name=n><label>{BADGE.format('')}</label>"),
        (f"<div class=c>{BADGE.format('x')}<i>Sale</i></div>", ".c:has(i)", f"<div class=c>{BADGE.format('x')}</div>"),
    ],
)  # fmt: skip
def test_an_element_that_only_lacks_a_state_is_lost(old, selector, new):
    """Neither the element nor its name went away: what the selector asks of it did, and that is news."""
    assert not is_healed(old, selector, new)


@pytest.mark.parametrize(
    ("selector", "old", "new"),
    [
        ("//button[@disabled]", "disabled", ""),
        ("//button[@id='b'][not(@aria-busy)]", "", "aria-busy=true"),
        ("//button[contains(@class, 'sale')]", "class='buy sale'", "class=buy"),
    ],
)
def test_a_state_that_xpath_asks_for_is_lost(selector, old, new):
    """Predicates ask for states as brackets of CSS do."""
    assert not is_healed(BUTTON.format(old), selector, BUTTON.format(new), "xpath")


@pytest.mark.parametrize(
    ("old", "selector", "new"),
    [
        (BADGE.format("price"), ".price", BADGE.format("amount")),
        (BADGE.format("price sale"), ".price", BADGE.format("amount sale")),
        (BUTTON.format("disabled"), "button[disabled]", f"<div><div>{BUTTON.format('disabled')}</div></div>"),
        (BUTTON.format("disabled"), "main > button[disabled]", f"<div>{BUTTON.format('disabled')}</div>"),
        (BUTTON.format("disabled"), "#b[disabled]", BUTTON.format("disabled").replace("=b", "=buy")),
        (f"<div class=product>{BADGE.format('price')}</div>", ".product .price", f"<div class=item>{BADGE.format('price')}</div>"),
        (BADGE.format("price"), "p:nth-of-type(1) + .price", f"<hr>{BADGE.format('price')}"),
    ],
)  # fmt: skip
def test_an_element_that_moved_or_was_renamed_is_found_again(old, selector, new):
    """Its state is what it was, or it has another name in the stead of the one that is asked for."""
    found = document(new).tree.search(Selector("css", selector))
    assert bool(found) or is_healed(old, selector, new)
