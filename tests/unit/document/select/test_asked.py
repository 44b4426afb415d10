"""An element that only lacks the state in its selector is lost; one that moved or was renamed is
found again.
"""

import pytest

from tidings.detection.job.contract import Body, Job, Target, Wanted
from tidings.detection.job.examiner import examine
from tidings.detection.job.selectors import mend, standing
from tidings.document.parse import parse
from tidings.document.select.targets import bundle_of
from tidings.model.watch.interest import Interest, Selector

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
def test_element_that_only_lacks_a_state_is_lost(old, selector, new):
    """The element and its name are still there: its state changed, and that is news."""
    assert not is_healed(old, selector, new)


@pytest.mark.parametrize(
    ("selector", "old", "new"),
    [
        ("//button[@disabled]", "disabled", ""),
        ("//button[@id='b'][not(@aria-busy)]", "", "aria-busy=true"),
        ("//button[contains(@class, 'sale')]", "class='buy sale'", "class=buy"),
    ],
)
def test_state_in_xpath_is_lost_too(selector, old, new):
    """Predicates select states as the brackets of CSS do."""
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
def test_moved_or_renamed_element_is_found_again(old, selector, new):
    """Its state is the same, or it has another name instead of the selected one."""
    found = document(new).tree.search(Selector("css", selector))
    assert bool(found) or is_healed(old, selector, new)


@pytest.mark.parametrize(
    ("selector", "stand_in", "body", "stays"),
    [
        ("button[disabled]", "#b", BUTTON.format(""), False),
        ("main > button[disabled]", "#b", f"<div>{BUTTON.format('disabled')}</div>", True),
        ("main > button[disabled]", "#b", f"<div>{BUTTON.format('')}</div>", True),
        ("button[disabled]", "#b", f"<div>{BUTTON.format('')}</div>", False),
        ("button[disabled]", "#b", "", True),
        (".badge.sold-out", "span.badge", BADGE.format("badge"), False),
        (".sold-out", "main > span", BADGE.format(""), False),
        (".price", "span.amount", BADGE.format("amount"), True),
        (".sold-out", "span.badge", BADGE.format("badge"), True),  # may be a name: decided in docs/why/healing.md
        ("span.price", "span.amount", BADGE.format("amount"), True),
        (".price", "span.amount", BADGE.format("price") + BADGE.format("amount"), True),
    ],
)
def test_replacement_of_a_lost_state_is_forgotten(selector, stand_in, body, stays):
    """An older version may have found it; the element there only lacks the state."""
    known = Target(selector=Selector("css", selector), stand_in=Selector("css", stand_in))

    assert ((known,) if stays else ()) == standing(document(body), [known])


def test_healed_state_is_lost_at_the_next_check():
    """The part is absent, and its replacement is no longer stored."""
    asked, stand_in = Selector("css", "button[disabled]"), Selector("css", "#b")
    bundle = bundle_of(document(BUTTON.format("")).tree, stand_in)
    assert bundle is not None
    known = Target(selector=asked, bundle=tuple(bundle.as_json()), stand_in=stand_in)
    wanted = Wanted(key=1, reference=1, expression=Interest("words", selector=asked), targets=(known,), mends=True)
    old, new = (
        Body(data=PAGE.format(BUTTON.format(more)).encode(), content_type="text/html") for more in ("", "title=x")
    )

    found = examine(Job(new=new, references={1: old}, known={}, wanted=(wanted,)))

    assert [('css "button[disabled]"',)] == [absent.names for absent in found.absent]
    assert [None] == [target.stand_in for targets in found.targets for target in targets.targets]
