"""Which instance of a link, an image or a keyword came or went (W-121)."""

import pytest

from tidings.detection.ask.expression import evaluate
from tidings.detection.ask.pair import Pair
from tidings.detection.find.findings import narrow
from tidings.detection.find.placed import MOST_OF_ONE, MOST_TOLD
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
def test_which_of_three_went_and_came(kind, thing, text, gone):
    """By the words around it: its number among all of its page, what stands there, and what follows."""
    whole = page(thing, thing, thing)
    less = page(*(("" if number == gone else thing) for number in range(3)))
    after = PARTS[gone].partition("{} ")[2].split()[:1]

    assert [("delete", gone + 1, 3, text, after)] == list_placed(kind, whole, less)
    assert [("insert", gone + 1, 3, text, after)] == list_placed(kind, less, whole)


def test_the_text_of_an_anchor_tells_links_apart():
    """Two links to one page in one paragraph, one after the other: the one that went is known by what one clicks."""
    first, second = "<a href=/p>prices</a>", "<a href=/p>order</a>"

    assert [("delete", 1, 2, "prices", ["order"])] == list_placed(
        KINDS["links"], page(first + " " + second), page(second)
    )
    assert [("delete", 2, 2, "order", ["five"])] == list_placed(KINDS["links"], page(first + " " + second), page(first))


def test_a_keyword_has_its_edit():
    """So that views can show it where it stands; what went has its place on the new page too, behind the words that stood before it."""
    (gone,) = Keywords("gold").compare(page("gold", "gold"), page("gold", "lead"))[0].edits
    (come,) = Keywords("gold").compare(page("gold", "lead"), page("gold", "gold"))[0].edits
    (lost,) = Keywords("gold").compare(page("gold", "gold"), page("gold"))[0].edits

    assert Edit("delete", 11, 12, 11, 11) == gone
    assert Edit("insert", 11, 11, 11, 12) == come
    assert ("delete", 11, 12, 5, 5) == (lost.op, lost.old_start, lost.old_end, lost.new_start, lost.new_end)


def test_only_what_goes_in_the_direction_is_told():
    """Of links inserted and deleted at once each has its own places."""
    (finding,) = KINDS["links"].compare(page("<a href=/a>a</a>"), page("<a href=/b>b</a>"))

    assert [("/b", "insert"), ("/a", "delete")] == [(p.object[-2:], p.op) for p in finding.places]
    assert ["insert"] == [place.op for place in narrow(finding, "inserted").places]
    assert ["delete"] == [place.op for place in narrow(finding, "deleted").places]


def test_places_are_known_in_a_part_of_a_page():
    """A selected part has its own numbers; where words are left out of lines, nobody knows where in them a link stood."""
    old, new = page(REPORT, REPORT), page(REPORT)
    part = Extraction((Selector("css", "p:nth-of-type(2)"),))

    assert [(1, 1)] == [(p.number, p.of) for p in evaluate(Interest("links"), Pair(old, page(REPORT, "")), part).places]
    assert () == evaluate(Interest("links"), Pair(old, new), Extraction(exclude=(StopWords(("red",)),))).places


def test_not_more_are_told_than_people_read():
    """The numbers are always whole."""
    many = parse(
        b"<body>" + b"<p><a href=/a>x</a> <a href=/b>x</a> <a href=/c>x</a> <a href=/d>x</a> y" * 50, "text/html"
    )
    (finding,) = KINDS["links"].compare(page(), many)

    assert 200 == sum(row.new for row in finding.objects)
    assert MOST_TOLD == len(finding.places)
    assert MOST_OF_ONE == sum(place.object in {"http://x.org/a", "/a"} for place in finding.places)
