"""Selectors of other programs become those of the language."""

from __future__ import annotations

import pytest

from tidings.document.extract import extract
from tidings.document.parse import parse
from tidings.document.select.extraction import Extraction
from tidings.model.watch.interest import Selector
from tidings.service.imports.selectors import jsonpath_of_jq, limit, select_in, xpath_of_css

PAGE = """<main id=shop><ul class="list a"><li class=new>One</li><li data-x="1,2">Two</li></ul>
<h2>More</h2><p>Three: in stock</p><p class="a b">Four</p></main><p>Five</p>"""


@pytest.mark.parametrize(
    ("query", "paths"),
    [
        (".", ["$"]),
        (".a.b", ["$.a.b"]),
        (".a[]", ["$.a[*]"]),
        (".a[0].b?", ["$.a[0].b"]),
        ('."a b"', ['$["a b"]']),
        (".[0].[1]", ["$[0][1]"]),
        ('.["a.[b"]."c[]?"[]', ['$["a.[b"]["c[]?"][*]']),
        (".a | .b", ["$.a.b"]),
        (".a[1:3]", ["$.a[1:3]"]),
        (".a[-1] | tostring", ["$.a[-1]"]),
        ("map(.a)", ["$[*].a"]),
        ("[.[] | .a]", ["$[*].a"]),
        (".a, .b", ["$.a", "$.b"]),
        ("(.a, .b) | .c", ["$.a.c", "$.b.c"]),
        (".a | first | .b", ["$.a[0].b"]),
        (".[] | {a, b: .c.d}", ["$[*].a", "$[*].c.d"]),
        ('.[] | "v\\(.a): \\(.b | .c)"', ["$[*].a", "$[*].b.c"]),
        ('.[] | select(.a == "x" or (.b >= 2 and .c != null)) | .d', ['$[?@.a == "x" || (@.b >= 2 && @.c != null)].d']),
        (".a | select(.b)", None),
        ('.[] | select(.a | test("x"))', None),
        ("", None),
        (".a |", None),
        (".a + .b", None),
        (".a)", None),
        ("{a", None),
        ('"a', None),
        ("[" * 5_000, None),
        (".a | length", None),
        ("keys", None),
        ("..", None),
    ],
)
def test_query_of_jq_becomes_paths(query: str, paths: list[str] | None):
    """What computes something has no equivalent."""
    found = jsonpath_of_jq(query)

    assert paths == (found[0] if found else None)


def lines(selector: Selector) -> list[str]:
    """Return the lines of the page that a selector selects."""
    found = extract(parse(PAGE.encode(), "text/html", keep_tree=True), Extraction(selectors=(selector,)))
    return list(found.lines)


@pytest.mark.parametrize(
    "css",
    [
        "li",
        "#shop > p",
        ".a.b",
        "ul.list li.new, h2",
        'li[data-x="1,2"]',
        "li[data-x^='1'], p[class~=b]",
        "[data-x$='2']",
        "h2 + p",
        "h2 ~ p",
        "li:first-child",
        "li:last-of-type",
        "p:nth-of-type(2)",
        "ul:nth-child(1) li",
    ],
)
def test_css_as_xpath_selects_the_same(css: str):
    """Both are read by the selectors of Tidings."""
    xpath = xpath_of_css(css)

    assert xpath is not None
    assert lines(Selector("css", css)) == lines(Selector("xpath", xpath)) != []


@pytest.mark.parametrize("css", ["a:hover", "a >", "> a", "", "a, ", "a:not(b)", "a:contains", "a[b", "é !"])
def test_other_css_is_not_xpath(css: str):
    """It is left as it is, or refused."""
    assert xpath_of_css(css) is None


def test_limit_takes_some_of_what_is_found():
    """As `skip` and `maxitems` do."""
    assert ["One"] == lines(Selector("xpath", limit("//li", 0, 1)))
    assert ["Two"] == lines(Selector("xpath", limit("//li", 1, 1)))
    assert ["Four", "Five"] == lines(Selector("xpath", limit("//p", 1, 2)))
    assert ["Five"] == lines(Selector("xpath", limit("//p", 2, 0)))


@pytest.mark.parametrize(
    ("outer", "inner", "found"),
    [
        (("css", "#shop, h2"), ("css", "p"), ["Three: in stock", "Four"]),
        (("xpath", "//ul | //main"), ("css", ".new"), ["One"]),
        (("css", "ul"), ("xpath", "(//li)[2]"), ["Two"]),
        (("css", "#shop"), ("xpath", "//p[1]"), ["Three: in stock"]),
    ],
)
def test_selector_in_another(outer: tuple[str, str], inner: tuple[str, str], found: list[str]):
    """One selector says both."""
    both = select_in(outer, inner)

    assert both is not None
    assert found == lines(Selector("xpath" if both[0] == "xpath" else "css", both[1]))


@pytest.mark.parametrize(
    ("outer", "inner"),
    [
        (("xpath", "//a/@href"), ("css", "b")),
        (("css", "a:hover"), ("xpath", "//b")),
        (("css", "a"), ("xpath", "/html/body")),
        (("css", "a"), ("jsonpath", "$.a")),
    ],
)
def test_selectors_that_one_cannot_say(outer: tuple[str, str], inner: tuple[str, str]):
    """The second is refused by its reader."""
    assert select_in(outer, inner) is None
