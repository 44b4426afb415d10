"""Changes as HTML for mail and feeds."""

import re
from html.parser import HTMLParser

import pytest
from selectolax.lexbor import LexborHTMLParser

from tests.unit.presentation.records import record
from tidings.presentation.hypertext import STYLE, ChangesAsHtml, document
from tidings.presentation.presenter import Caption

HTML = ChangesAsHtml()
LOADING = {"src", "srcset", "background", "poster", "data", "action", "srcdoc", "style"}


class Reader(HTMLParser):
    """Notes attributes and the text between tags."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.tags: list[str] = []
        self.attributes: list[tuple[str, str | None]] = []
        self.text = ""

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes += attrs

    def handle_data(self, data):
        self.text += data


def read(html):
    reader = Reader()
    reader.feed(html)
    return reader


def page(*records, heading="price: news"):
    return HTML.present(records, Caption(heading=heading, sentinel="price"))


def test_additions_and_removals_have_words():
    """Without style and colour, and for screen readers, removed and added are words and elements."""
    html = page(record())

    assert '<span class="said">removed: </span><del dir="auto" lang="">5</del>' in html
    assert '<span class="said">added: </span><ins dir="auto" lang="">6</ins>' in html


def test_moves_and_counts_have_words():
    """A move is named, and each number is beside what it counts."""
    counts = [{"kind": "links", "object": "https://a.example/", "old": 3, "new": 2}]
    html = HTML.fragment(record(updated=[], moved=["a paragraph"], counts=counts))

    assert (
        "<ul>\n"
        '<li><span class="tag">moved:</span> <bdi class="moved" lang="">a paragraph</bdi></li>\n'
        '<li><span class="tag">link</span> <bdi lang=""><a href="https://a.example/" rel="noreferrer nofollow">'
        "https://a.example/</a></bdi>: <b>3 → 2</b></li>\n"
        "</ul>\n"
    ) == html


def test_long_updates_are_one_above_the_other():
    """Two paragraphs in one line cannot be compared by eye."""
    html = [HTML.fragment(record(updated=[{"old": "a" * n, "new": "b" * n}])) for n in (60, 61)]

    assert [False, True] == ['<li class="long">' in part for part in html]


@pytest.mark.parametrize("url", ["javascript:alert(1)", "data:text/html,x", "file:///etc/passwd", "//host/x"])
def test_only_web_addresses_are_linked(url):
    """An address that is not http or https is only shown, as the address of a page and as an
    object.
    """
    counts = [{"kind": "links", "object": url, "old": 0, "new": 1}]
    reader = read(page(record(url=url, inserted=[url], counts=counts)))

    assert "a" not in reader.tags
    assert 2 == reader.text.count(url)


def test_text_that_resembles_an_address_is_no_link():
    """Only links of the page become links."""
    reader = read(HTML.fragment(record(updated=[], inserted=["https://evil.example/"])))

    assert "a" not in reader.tags


def test_shortened_address_is_no_link():
    """Its visible beginning would not show where it leads."""
    address = "https://a.example/" + "a" * 3_000
    counts = [{"kind": "links", "object": address, "old": 0, "new": 1}]
    change = record(updated=[], inserted=[address], counts=counts)

    assert "a" in read(HTML.fragment(change)).tags
    assert "a" not in read(HTML.fragment(change, most=2_000)).tags


def test_nothing_is_loaded_from_elsewhere():
    """No picture, font, style sheet or frame shows that a mail was opened, and a policy forbids
    them.
    """
    html = page(record())
    reader = read(html)

    assert not LOADING & {name for name, _ in reader.attributes}
    assert "url(" not in html
    assert "@import" not in html
    assert "default-src 'none'" in html
    assert [("href", "https://shop.example/a?x=1&y=2")] == [a for a in reader.attributes if a[0] == "href"]


def test_long_mail_is_cut_at_a_change():
    """First texts are shortened, then changes are left out and counted."""
    change = [record(summary=f"change {n}", inserted=["x" * 3_000]) for n in range(2_000)]
    html = HTML.present(change, Caption(heading="h"), most=90_000)
    shown = html.count("<article>")

    assert len(html.encode()) <= 90_000
    assert f"<p>and {2_000 - shown:,} more changes</p>" in html
    assert shown > 100


def test_document_without_a_heading_has_a_title():
    """There is always an h1, and the change has its own summary."""
    html = HTML.present([record()])

    assert "<title>What changed</title>" in html
    assert '<h2 dir="auto">1 text updated: &quot;5&quot; → &quot;6&quot;</h2>' in html


def test_articles_are_not_escaped_again():
    """They are HTML already."""
    assert "<p>a &amp; b</p>" in document(["<p>a &amp; b</p>"], Caption(heading="h"))


def luminance(colour):
    parts = [int(colour[n : n + 2], 16) / 255 for n in (1, 3, 5)]
    red, green, blue = (part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one, other):
    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


def rules(sheet):
    """Return (selector → declarations) of a flat sheet; `#abc` is written out."""
    long = re.sub(r"#([0-9a-f])([0-9a-f])([0-9a-f])\b", r"#\1\1\2\2\3\3", sheet)
    found: dict[str, dict[str, str]] = {}
    for selectors, body in re.findall(r"([^{}]+)\{([^{}]*)\}", long):
        declared = dict(part.split(":", 1) for part in body.split(";") if ":" in part)
        for selector in selectors.strip().split(","):
            found.setdefault(selector, {}).update(declared)
    return found


@pytest.mark.parametrize("dark", [False, True])
@pytest.mark.parametrize(
    ("selector", "ground"),
    [
        ("body", "body"),
        ("del", "del"),
        ("ins", "ins"),
        ("a", "body"),
        ("a", "ins"),
        (".where", "body"),
        ("footer", "body"),
        (".tag", "body"),
    ],
)
def test_text_has_enough_contrast(selector, ground, dark):
    """WCAG 1.4.3: 4.5 to 1 in light and dark, on its background."""
    light, rest = STYLE.split("@media(prefers-color-scheme:dark){")
    found = rules(rest.split("@media")[0] if dark else light)

    assert contrast(found[selector]["color"], found[ground]["background"]) >= 4.5


def test_edits_of_a_frame_are_a_list_below_its_address():
    """Each frame has a paragraph with a link and a list; a page without frames has one list."""
    frames = [record(url=f"https://shop.example/{name}", updated=[], inserted=[name]) for name in ("menu", "text")]
    shown = ChangesAsHtml().fragment(record(updated=[], inserted=["menu", "text"], frames=frames))
    tree = LexborHTMLParser(shown)

    assert ["https://shop.example/menu", "https://shop.example/text"] == [
        node.attributes["href"] for node in tree.css("p.where > a")
    ]
    assert ["p", "ul", "p", "ul"] == [node.tag for node in tree.css("body > *")]
    assert shown.count("<ul>") == shown.count("</ul>") == 2
