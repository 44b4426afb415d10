"""Which instance of a link, an image or a keyword came or went (W-121)."""

import pytest

from tidings.detection.ask.expression import evaluate
from tidings.detection.ask.pair import Pair
from tidings.detection.find.findings import MOST_OF_ONE, MOST_REPORTED, narrow
from tidings.detection.kinds.keywords import Keywords
from tidings.detection.kinds.registry import KINDS
from tidings.document.parse import parse
from tidings.document.select.extraction import Extraction
from tidings.model.observed.change import Edit
from tidings.model.watch.interest import Interest, Selector, StopWords

PARTS = (
    "one two three four {} five six seven",
    "red green blue {} white black grey",
    "north south {} east west up down",
)


def page(*things):
    body = "".join(f"<p>{part.format(thing)}</p>" for part, thing in zip(PARTS, things, strict=False))
    return parse(
        f"<!doctype html><body>{body}".encode(), "text/html; charset=utf-8", url="http://x.org/", keep_tree=True
    )


def list_placed(kind, old, new):
    (finding,) = kind.compare(old, new)
    return [(place.op, place.number, place.of, place.text, place.after.split()[:1]) for place in finding.places]


REPORT = "<a href=/report>our report</a>"
CHART = "<img src=/chart.png>"


@pytest.mark.parametrize("gone", [0, 1, 2])
@pytest.mark.parametrize(
    ("kind", "thing", "text"),
    [
        (KINDS["links"], REPORT, "our report"),
        (KINDS["images"], CHART, ""),
        (Keywords("Growth"), "growth", "growth"),
        (Keywords("growth fund", exact=True), "growth fund", "growth fund"),
    ],
    ids=["link", "image", "keyword", "strict keyword"],
)
def test_place_of_an_instance_has_number_and_text(kind, thing, text, gone):
    """It has its number among all on its page, its text, and what follows."""
    whole = page(thing, thing, thing)
    less = page(*(("" if number == gone else thing) for number in range(3)))
    after = PARTS[gone].partition("{} ")[2].split()[:1]

    assert [("delete", gone + 1, 3, text, after)] == list_placed(kind, whole, less)
    assert [("insert", gone + 1, 3, text, after)] == list_placed(kind, less, whole)


def test_text_of_an_anchor_distinguishes_links():
    """Two links in one paragraph lead to one page: the deleted one has the text that people click."""
    first, second = "<a href=/p>prices</a>", "<a href=/p>order</a>"

    assert [("delete", 1, 2, "prices", ["order"])] == list_placed(
        KINDS["links"], page(first + " " + second), page(second)
    )
    assert [("delete", 2, 2, "order", ["five"])] == list_placed(KINDS["links"], page(first + " " + second), page(first))


def test_keyword_has_its_edit():
    """Views show it in place; a deleted one has a place on the new page too, after the words that
    were before it.
    """
    (gone,) = Keywords("gold").compare(page("gold", "gold"), page("gold", "lead"))[0].edits
    (come,) = Keywords("gold").compare(page("gold", "lead"), page("gold", "gold"))[0].edits
    (lost,) = Keywords("gold").compare(page("gold", "gold"), page("gold"))[0].edits

    assert Edit("delete", 11, 12, 11, 11) == gone
    assert Edit("insert", 11, 11, 11, 12) == come
    assert ("delete", 11, 12, 5, 5) == (lost.op, lost.old_start, lost.old_end, lost.new_start, lost.new_end)


def test_direction_selects_places():
    """Links inserted and deleted at once each have their own."""
    (finding,) = KINDS["links"].compare(page("<a href=/a>a</a>"), page("<a href=/b>b</a>"))

    assert [("/b", "insert"), ("/a", "delete")] == [(p.object[-2:], p.op) for p in finding.places]
    assert ["insert"] == [place.op for place in narrow(finding, "inserted").places]
    assert ["delete"] == [place.op for place in narrow(finding, "deleted").places]


def test_part_of_a_page_has_its_own_numbers():
    """If words are removed from lines, the place of a link in them is unknown."""
    old, new = page(REPORT, REPORT), page(REPORT)
    part = Extraction((Selector("css", "p:nth-of-type(2)"),))

    assert [(1, 1)] == [(p.number, p.of) for p in evaluate(Interest("links"), Pair(old, page(REPORT, "")), part).places]
    assert () == evaluate(Interest("links"), Pair(old, new), Extraction(exclude=(StopWords(("red",)),))).places


def test_number_of_places_is_limited():
    """The counts are always complete."""
    many = parse(
        b"<body>" + b"<p><a href=/a>x</a> <a href=/b>x</a> <a href=/c>x</a> <a href=/d>x</a> y" * 50, "text/html"
    )
    (finding,) = KINDS["links"].compare(page(), many)

    assert 200 == sum(row.new for row in finding.objects)
    assert MOST_REPORTED == len(finding.places)
    assert MOST_OF_ONE == sum(place.object in {"http://x.org/a", "/a"} for place in finding.places)
