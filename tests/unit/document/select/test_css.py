"""CSS selectors find what the standard (Selectors level 4) says, on own inputs after the groups of
soupsieve's suite.
"""

import pytest

from tidings.document.extract import extract
from tidings.document.parse import parse
from tidings.document.select.css import explain_refusal, for_lexbor, why_not
from tidings.document.select.extraction import Extraction
from tidings.language.parser import parse as parse_statements
from tidings.model.watch.interest import Selector

PAGE = """<!doctype html><html id=html><body id=body>
<main id=m class="big wide"><h1 id=h title="A b">T</h1><p id=p1 class=x>a</p><p id=p2 lang=de>b <b id=b1>c</b></p><span id=s1 class=x>d</span></main>
<ul id=u><li id=l1>1</li><li id=l2 class=x>2</li><li id=l3>3</li><li id=l4 class=x>4</li></ul>
<form id=f><fieldset id=fs disabled><legend id=lg><input id=i1></legend><input id=i2><legend id=lg2><input id=i3></legend>
<div id=d1><select id=s2><option id=o1 value=1></select></div></fieldset>
<input id=i4 required type=checkbox checked><input id=i5 disabled><textarea id=t></textarea><button id=bt>go</button>
<select id=s3><optgroup id=g disabled><option id=o2></optgroup><option id=o3 selected></select></form>
<details id=dt open><summary id=sm>s</summary></details><details id=dt2></details><dialog id=dg open></dialog><video id=v muted></video>
<a id=a1 href=/x?y=1>x</a><a id=a2>y</a><div id=e></div><div id=n><i id=in></i> </div><p id=q data-q="it's :not(x)">q</p></body></html>"""

FOUND = {
    # types, ids, classes, lists, joins
    "p": "p1 p2 q",
    "P.X, p.x": "p1",
    "#h": "h",
    ".big.wide": "m",
    "main > .x": "p1 s1",
    "main p b": "b1",
    "h1 + p": "p1",
    "h1 ~ p": "p1 p2",
    "main>p , li.x": "p1 p2 l2 l4",
    r"#\6c 1": "l1",
    "main /* all */ b": "b1",
    "*|h1": "h",
    # attributes
    "[title]": "h",
    '[title="A b"]': "h",
    '[title="a B" i]': "h",
    "[title~=b]": "h",
    "[href^='/x']": "a1",
    "[href$='1']": "a1",
    "[href*='?']": "a1",
    "[lang|=de]": "p2",
    'p[id!="p1"]': "p2 q",
    "p[class!=x]": "p2 q",
    'p[title!="it is"]': "p1 p2 q",
    '[data-q="it\'s :not(x)"]': "q",
    "li[class!='X' i]": "l1 l3",
    # places
    ":root": "html",
    ":scope > body": "body",
    "& > body": "body",
    "li:first-child": "l1",
    "li:last-child": "l4",
    "b:only-child": "b1",
    "li:nth-child(2n)": "l2 l4",
    "li:nth-child(odd)": "l1 l3",
    "li:nth-child(2 of .x)": "l4",
    "li:nth-last-child(1)": "l4",
    "main > :nth-of-type(2)": "p2",
    "main > p:last-of-type": "p2",
    "span:only-of-type": "s1",
    "div:empty": "e",
    # logic
    "p:not(.x)": "p2 q",
    "li:not(:first-child, .x)": "l3",
    ":is(h1, b)": "h b1",
    ":matches(h1, b)": "h b1",
    ":where(h1, b)": "h b1",
    ":-webkit-any(h1, b)": "h b1",
    "li:not(:matches(.x))": "l1 l3",
    # has
    "main:has(> b)": "",
    "main:has(b)": "m",
    "p:has(+ p)": "p1",
    "p:has(~ span)": "p1 p2",
    "p:not(:has(b))": "p1 q",
    "main:has(:scope > h1)": "m",
    "main:has(> :not(h1))": "m",
    "ul:has(> :not(.x, #l1))": "u",
    "h1:has(~ :not(p))": "h",
    "ul:has(> :is(.x))": "u",
    "ul:has(:nth-child(4))": "u",
    "ul:has(> :nth-child(5))": "",
    ":is(ul, main):not(:has(> :not(li)))": "u",
    'p:has(> :not([title="a :x"]))': "p2",
    # states that a page says
    ":link": "a1",
    ":any-link": "a1",
    "input:checked": "i4",
    "option:checked": "o3",
    ":required": "i4",
    "input:optional, textarea:optional": "i1 i2 i3 i5 t",
    ":disabled": "fs i2 i3 s2 i5 g o2",
    "input:enabled": "i1 i4",
    ":enabled:not(input)": "o1 t bt s3 o3",
    "input:not(:enabled)": "i2 i3 i5",
    ":open": "dt dg",
    "details:not(:open)": "dt2",
    ":muted": "v",
}
"""What a selector finds, by ids in the order of the page."""

ORDER = [word.split("=", 1)[1].split(">")[0].split()[0] for word in PAGE.split() if word.startswith("id=")]

REFUSED = {
    "a:hover": "only a browser",
    "a:not(:visited)": "only a browser",
    ":target": "only a browser",
    "form:focus-within": "only a browser",
    ":current(p)": "only a browser",
    "p:future": "only a browser",
    ":defined": "only a browser",
    "video:paused": "only a browser",
    "input:user-invalid": "only a browser",
    ":default": "[checked]",
    "input:in-range": "[max]",
    ":indeterminate": "[checked]",
    "input:read-only": "the content of a form",
    ":placeholder-shown": "the content of a form",
    'p:-soup-contains("x")': "contains(., 'text')",
    "p:contains(x)": "contains(., 'text')",
    "p:lang(de)": '[lang|="de"]',
    ":dir(rtl)": '[dir="rtl"]',
    "p::before": "not an element of a page",
    "[id=1]": "in quotes",
    "p:has(p, :scope + p)": "cannot be read",
    "p[": "cannot be read",
    "p:not()": "cannot be read",
    "p:nothing": "cannot be read",
}
"""What is refused, and a part of the reason."""


def page():
    return parse(PAGE.encode(), "text/html", url="http://x.org/", keep_tree=True)


@pytest.mark.parametrize(("selector", "expected"), FOUND.items())
def test_selector_finds_what_the_standard_says(selector, expected):
    """The language accepts each selector of the table."""
    tree = page().tree
    found = {node.attrs["id"] for node in tree._tree.css(for_lexbor(selector)) if node.attrs.get("id")}
    ids = {node.mem_id for node in tree._tree.css("[id]") if node.attrs["id"] in found}

    assert set(expected.split()) == found
    assert ids == set(tree.search(Selector("css", selector)).nodes)
    assert () == problems_of(selector)


def problems_of(selector):
    quoted = selector.replace("\\", "\\\\").replace('"', '\\"')
    return parse_statements(f'Create Sentinel a Using https://x.example Monitor words Select css "{quoted}"').problems


@pytest.mark.parametrize(("selector", "reason"), REFUSED.items())
def test_refused_selector_has_a_reason(selector, reason):
    """It selects what no page has; the message says what to write instead."""
    (problem,) = problems_of(selector)

    assert "E06" == problem.code
    assert reason in problem.message
    assert reason in (explain_refusal(selector) or why_not(selector))


def test_stored_selector_of_a_browser_state_is_still_read():
    """It finds nothing, as before."""
    assert extract(page(), Extraction(selectors=(Selector("css", "a:hover"),))).missing


def test_table_covers_its_groups():
    """73 of 73 are found, and 24 of 24 refused with a reason."""
    assert (73, 24) == (len(FOUND), len(REFUSED))
