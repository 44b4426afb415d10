from html.parser import HTMLParser

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.unit.notification.records import record
from tidings.notification.hypertext import MOST_BYTES, hypertext

LOADING = {"src", "srcset", "background", "poster", "data", "action", "srcdoc", "style"}
TAGS = set(
    "html head meta title style body main h1 h2 article p a br ul li del ins span bdi footer".split()
)  # nothing else is ours


class Reader(HTMLParser):
    """Notes tags, attributes and the text between them."""

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


def read(*records, heading="price: news"):
    reader = Reader()
    reader.feed(hypertext(records, "price", heading=heading))
    return reader


def test_additions_and_removals_are_said():
    """Without style and colour, and for who listens, removed and added are words and elements."""
    html = hypertext([record()], "price", heading="price: news")

    assert '<del dir="auto"><span class="said">removed: </span>5</del>' in html
    assert '<ins dir="auto"><span class="said">added: </span>6</ins>' in html


@pytest.mark.parametrize(
    "text",
    ["<script>alert(1)</script>", "&lt;script&gt;", '"><img src=x onerror=alert(1)>', "</style><b>", "&amp;amp;"],
)
def test_what_pages_say_is_text(text):
    """H-078, H-080: it arrives as it stood, as text, in every place; no element comes of it and nothing is decoded twice."""
    told = record(summary=text, inserted=[text], updated=[{"old": text, "new": text}], moved=[text], url=text)
    reader = read(told, told, heading=text)

    assert set(reader.tags) <= TAGS
    assert 14 == reader.text.count(text)


@pytest.mark.parametrize("url", ["javascript:alert(1)", "data:text/html,x", "file:///etc/passwd", "//host/x"])
def test_only_the_web_is_linked(url):
    """An address that is no http or https is shown, not linked."""
    reader = read(record(url=url))

    assert "a" not in reader.tags
    assert url in reader.text


def test_nothing_is_loaded():
    """A letter tells nobody that it was opened: no picture, font, sheet or frame comes from elsewhere."""
    html = hypertext([record()], "price", heading="h")
    reader = read(record())

    assert not LOADING & {name for name, _ in reader.attributes}
    assert "url(" not in html
    assert "@import" not in html
    assert [("href", "https://shop.example/a?x=1&y=2")] == [a for a in reader.attributes if a[0] == "href"]


def test_long_letters_are_cut_at_a_change():
    """Below what readers clip: shorter texts first, then fewer changes, with a count."""
    told = [record(summary=f"change {n}", inserted=["x" * 3_000]) for n in range(2_000)]
    html = hypertext(told, "price", heading="h")
    shown = html.count("<article>")

    assert len(html.encode()) <= MOST_BYTES
    assert f"<p>and {2_000 - shown:,} more changes</p>" in html
    assert shown > 100


def test_nothing_is_no_letter():
    """Nobody is told of nothing."""
    with pytest.raises(ValueError, match="at least one change"):
        hypertext([], "price", heading="h")


@settings(max_examples=60, deadline=None)
@given(st.lists(st.text(st.characters(exclude_categories=()), max_size=50), max_size=20))
def test_any_text_makes_a_whole_document(texts):
    """Whatever stands in a page, the letter has our elements only and can be encoded."""
    html = hypertext([record(inserted=texts, summary=" ".join(texts))], "price", heading="h")
    reader = Reader()
    reader.feed(html)

    assert html.encode().decode() == html
    assert set(reader.tags) <= TAGS
    assert html.endswith("</html>\n")
