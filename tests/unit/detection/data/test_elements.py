"""XML as an ordered, labelled tree: changed texts, attributes and elements with readable paths (004
§5.1, §8; W-100).
"""

from collections import Counter

import pytest

from tidings.detection.ask.expression import evaluate
from tidings.detection.ask.pair import Pair
from tidings.detection.data import elements
from tidings.document.data import xml_tree
from tidings.document.parse import parse
from tidings.document.select.extraction import Extraction
from tidings.model.watch.interest import Interest, Selector

Edits = tuple[list[str], list[str], list[tuple[str, str]], list[str]]
NOTHING: Edits = ([], [], [], [])


def read(text):
    return parse(f"<?xml version='1.0'?>{text}".encode(), "application/xml", url="http://x.org/", keep_tree=True)


def list_edits(old, new, **extraction) -> Edits:
    """Return (inserted, deleted, updated, moved)."""
    found = evaluate(Interest("words"), Pair(read(old), read(new)), Extraction(**extraction))
    return list(found.inserted), list(found.deleted), list(found.updated), list(found.moved)


def list_updated(old, new) -> Edits:
    return [], [], [(old, new)], []


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("<r><a x='1' y='2'>t u</a></r>", "<r>\n <a y='2' x='1'>\n t   u </a>\n</r>"),
        ("<r xmlns='http://v/1'><a>t</a></r>", "<p:r xmlns:p='http://v/1'><p:a>t</p:a></p:r>"),
        ("<r><a/></r>", "<r><!-- c --><a></a><?go now?></r>"),
        ("<r>caf\u00e9 <![CDATA[<]]></r>", "<r>cafe\u0301 &lt;</r>"),
        (
            "<urlset><url><loc>/a</loc></url><url><loc>/b</loc></url></urlset>",
            "<urlset><url><loc>/b</loc></url><url><loc>/a</loc></url></urlset>",
        ),
    ],
    ids=["white space and order of attributes", "prefixes", "comments", "normal forms and CDATA", "sitemaps"],
)
def test_other_form_of_the_same_xml_is_no_change(old, new):
    """The canonical forms are equal; the addresses of a sitemap have no order."""
    assert NOTHING == list_edits(old, new)


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        (
            "<r><c currency='USD' rate='1.08'/><c currency='NOK' rate='9'/></r>",
            "<r><c currency='USD' rate='1.09'/><c currency='NOK' rate='9'/></r>",
            list_updated("r/c[@currency=USD]/@rate: 1.08", "r/c[@currency=USD]/@rate: 1.09"),
        ),
        ("<r><t>a b</t><t>d</t></r>", "<r><t>a c</t><t>d</t></r>", list_updated("r/t[1]: a b", "r/t[1]: a c")),
        ("<r><t>a</t><t>b</t></r>", "<r><t>n</t><t>a</t><t>b</t></r>", (["r/t[1]: n"], [], [], [])),
        ("<r><t>a</t><t>b</t></r>", "<r><t>b</t></r>", ([], ["r/t[1]: a"], [], [])),
        ("<r><t>a</t><t>b</t><t>c</t></r>", "<r><t>b</t><t>c</t><t>a</t></r>", ([], [], [], ["r/t[3]: a"])),
        ("<r><a>x</a></r>", "<r><b>x</b></r>", (["r/b: x"], ["r/a: x"], [], [])),
        ("<r><a>x-y</a></r>", "<r><a>x_y</a></r>", list_updated("r/a: x-y", "r/a: x_y")),
        ("<r a='1'/>", "<r/>", ([], ["r/@a: 1"], [], [])),
        ("<r a='1'/>", "<r a='1' b='2'/>", (["r/@b: 2"], [], [], [])),
        ("<p>one <b>two</b> three</p>", "<p>one <b>two</b> four</p>", list_updated("p: three", "p: four")),
        (
            "<r><b isbn='1'><t>X</t></b><b isbn='2'><t>Y</t></b></r>",
            "<r><b isbn='3'><t>Z</t></b><b isbn='1'><t>X</t></b><b isbn='2'><t>W</t></b></r>",
            (["r/b[@isbn=3]: isbn=3 Z"], [], [("r/b[@isbn=2]/t: Y", "r/b[@isbn=2]/t: W")], []),
        ),
        (
            "<urlset><url><loc>/a</loc><lastmod>1</lastmod></url><url><loc>/b</loc></url></urlset>",
            "<urlset><url><loc>/b</loc></url><url><loc>/a</loc><lastmod>2</lastmod></url></urlset>",
            list_updated("urlset/url[loc=/a]/lastmod: 1", "urlset/url[loc=/a]/lastmod: 2"),
        ),
        (
            "<r xmlns='http://v/1'><a>x</a><a>y</a></r>",
            "<r xmlns='http://v/2'><a>x</a><a>z</a></r>",
            ([], [], [("namespace: http://v/1", "namespace: http://v/2"), ("r/a[2]: y", "r/a[2]: z")], []),
        ),
        ("<q><a/></q>", "<r><a/></r>", (["r"], ["q"], [], [])),
        ("<r><a/><b/></r>", "<r><a/></r>", ([], ["r/b"], [], [])),
    ],
)
def test_changes_of_the_tree_are_reported_once(old, new, expected):
    """They are updates of texts and attributes, and inserted, deleted and moved elements, by their
    keys or numbers.
    """
    assert expected == list_edits(old, new)


def test_parts_selected_by_xpath_are_compared():
    """The path begins at the selection; excluded elements are not there."""
    scope = {"selectors": (Selector("xpath", "//c"),), "exclude": (Selector("xpath", "//seen"),)}
    old, new = (
        f"<r><t>{value}</t><c n='a'><v>{value}</v><seen>{value}</seen></c><c n='b'/></r>" for value in ("1", "2")
    )

    assert list_updated("c[@n=a]/v: 1", "c[@n=a]/v: 2") == list_edits(old, new, **scope)
    assert list_updated("1", "2") == list_edits(
        "<r><c n='1'/></r>", "<r><c n='2'/></r>", selectors=(Selector("xpath", "//c/@n"),)
    )


def test_h_061_h_062_entities_are_neither_read_nor_expanded():
    """A reference is compared as itself: another one is a change."""
    laughs = "<!DOCTYPE r [<!ENTITY a0 'lol'>" + "".join(f"<!ENTITY a{n} '{f'&a{n - 1};' * 10}'>" for n in range(1, 10))
    outside = "<!DOCTYPE r [<!ENTITY x SYSTEM 'file:///etc/passwd'><!ENTITY y SYSTEM 'http://127.0.0.1/'>]>"

    assert list_updated("r: &x;", "r: &y;") == list_edits(f"{outside}<r>&x;</r>", f"{outside}<r>&y;</r>")
    assert list_updated("a9", "a8") == list_edits(f"{laughs}]><r>&a9;</r>", f"{laughs}]><r>&a8;</r>")
    assert len(read(f"{laughs}]><r>&a9;</r>").text) < 1_000


def test_xml_that_is_too_large_is_compared_as_words(monkeypatch):
    """If the words are equal, Canonical XML decides, without white space: it is never just
    unchanged.
    """
    monkeypatch.setattr(xml_tree, "MOST_ELEMENTS", 2)
    old = "<r><a>x</a><a>y</a></r>"

    assert list_updated("y", "z") == list_edits(old, "<r><a>x</a><a>z</a></r>")
    assert NOTHING == list_edits(old, "<r> <a>x</a>\n<a>y</a></r>")
    assert list_updated("content: 2 words as xml", "content: 2 words as xml, arranged otherwise") == list_edits(
        old, "<r><a>x</a><b>y</b></r>"
    )


@pytest.mark.parametrize(
    "written",
    [
        lambda value: "".join(f"<a{n}>{value}{n}</a{n}>" for n in range(400)),
        lambda value: f"<e {' '.join(f'a{n}={chr(39)}{value}{chr(39)}' for n in range(200))}/>" * 20,
    ],
    ids=["400 names", "200 attributes"],
)
def test_comparison_of_many_names_takes_linear_time(written, monkeypatch):
    """It does not grow with the square of their number."""
    names: Counter[str] = Counter()
    local_name = elements._local_name

    def count(name: str) -> str:
        names[name] += 1
        return local_name(name)

    monkeypatch.setattr(elements, "_local_name", count)
    old, new = (f"<r>{written(value)}</r>" for value in ("x", "y"))
    list_edits(old, new)

    assert names.total() < 20 * (old.count("<") + old.count("="))


def test_deep_difference_is_reported_at_the_end_of_its_path():
    """Below the deepest named place it is shown with its parent, from where the two differ."""
    deep = ["<a>" * 200 + f"{'w ' * 500}<z>{value}</z>" + "</a>" * 200 for value in ("one", "two")]
    ((old, new),) = list_edits(*deep)[2]

    assert old.endswith("w one")
    assert new.endswith("w two")
