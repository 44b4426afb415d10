import pytest
from lxml import etree

from tests.unit.presentation.safe.pages import PAGES
from tests.unit.presentation.views.test_view import FEES, change, page
from tidings.model.observed.change import ChangeSet, ObjectCount
from tidings.presentation.pictures.share import MOST_LINES, Shared, share_change

SVG = "{http://www.w3.org/2000/svg}"


def picture(old: str, new: str, **said: str) -> Shared:
    """Return a change to share."""
    before, after = page(old), page(new)
    given = {"title": "Fees", "source": "http://x.example/", "when": "28 Nov, 09:58"} | said
    return share_change(change(before, after), before, after, **given)


def test_a_picture_shows_the_change_with_its_page():
    """What went is struck, what came underlined; title, address and time stand above."""
    root = etree.fromstring(picture(FEES, FEES.replace("14", "7")).svg)
    spans = {span.text: span.get("text-decoration") for span in root.iter(f"{SVG}tspan")}

    assert {"14": "line-through", "7": "underline"} == spans
    assert ["Fees", "http://x.example/  28 Nov, 09:58"] == [text.text for text in root.iter(f"{SVG}text")][:2]


def test_the_text_says_the_same():
    """Whoever can send no picture sends lines."""
    text = picture(FEES, FEES.replace("14", "7")).text

    assert "longer than [-14-] {+7+} days" in text
    assert text.startswith("Fees\nhttp://x.example/ · 28 Nov, 09:58\n")


@pytest.mark.parametrize("source", PAGES.values(), ids=PAGES)
def test_a_hostile_page_makes_a_picture_that_cannot_act(source):
    """The picture is XML of five elements, without address, handler or style of the page (H-078)."""
    root = etree.fromstring(picture("<p>plain", source, title=source, source=source, when=source).svg)

    assert {element.tag for element in root.iter()} <= {
        f"{SVG}{name}" for name in ("svg", "title", "rect", "text", "tspan")
    }
    names = {name for element in root.iter() for name in element.attrib}
    assert not [name for name in names if name.startswith("on") or "href" in name or name == "style"]


def test_a_picture_is_bounded():
    """A page of a thousand changes makes a picture of some lines, and says how many there are more."""
    old = "".join(f"<p>Number {number} is old." for number in range(1_000))
    made = picture(old, old.replace("old", "new" * 500), title="x" * 10_000)

    assert len(made.svg) < 40_000
    assert int(etree.fromstring(made.svg).get("height")) < 30 * (MOST_LINES + 6)
    assert " more changes" in made.text.splitlines()[-1]


def test_what_no_xml_holds_is_replaced():
    """A control character in a title leaves the picture readable."""
    etree.fromstring(picture("<p>a", "<p>b", title="a\x00\x08b\ud800").svg.encode("utf-8", "surrogatepass"))


def test_objects_are_shared_as_lines():
    """Where no words changed the picture lists what came and went."""
    rows = (ObjectCount("links", "http://a.example/", 1, 0), ObjectCount("links", "http://b.example/", 2, 3))
    made = share_change(ChangeSet(("links",), objects=rows), page(""), page(""), title="t", source="s", when="w")

    assert "link [-http://a.example/-]" in made.text
    assert "link http://b.example/: 2 → 3" in made.text
