"""Data in the scripts of a page is found by JSONPath."""

from typing import Any

import pytest

from tidings.document.extract import extract
from tidings.document.parse import parse
from tidings.document.select.extraction import Extraction
from tidings.model.watch.interest import Selector

PAGE = """<title>Kettle</title><p>Hello
<script type="application/ld+json">{"offers": {"price": "12.50"}}</script>
<script id=state>window.STATE = {"stock": 7, "of": [1, 2]}; var other = {"stock": 9};</script>
<script>show({"stock": 3});</script>
<script>if (a) { b() } c = [1</script>"""


def find_parts(*selectors: tuple[Any, str]) -> list[str]:
    document = parse(PAGE.encode(), "text/html", keep_tree=True)
    part = extract(document, Extraction(tuple(Selector(*one) for one in selectors)))
    return [piece for piece in part.pieces if piece.strip()]


@pytest.mark.parametrize(
    ("selectors", "expected"),
    [
        ([("jsonpath", "$.offers.price")], ["12.50"]),
        ([("jsonpath", "$.stock")], ["7", "9", "3"]),
        ([("css", "#state"), ("jsonpath", "$.stock")], ["7", "9"]),
        ([("css", "p"), ("jsonpath", "$.offers.price")], ["12.50"]),
        ([("css", "title"), ("jsonpath", "$.stock")], []),
        ([("jsonpath", "$.of[1]")], ["2"]),
        ([("jsonpath", "$.none")], []),
    ],
)
def test_json_of_scripts_is_searched(selectors, expected):
    """Blocks of data, values assigned to a name, and JSONP are; another selector chooses the
    scripts.
    """
    assert expected == find_parts(*selectors)


def test_css_finds_html_in_the_entries_of_a_feed():
    """Their text is HTML inside XML."""
    entry = "<p>Now <b class='price'>12 EUR</b> only</p>".replace("<", "&lt;").replace(">", "&gt;")
    feed = (
        f"<rss version='2.0'><channel><title>f</title><item><description>{entry}</description></item></channel></rss>"
    )
    document = parse(feed.encode(), "application/rss+xml", keep_tree=True)
    part = extract(document, Extraction((Selector("css", ".price"),)))
    gone = extract(document, Extraction((Selector("css", ".none"),)))

    assert ["12 EUR"] == [piece for piece in part.pieces if piece.strip()]
    assert Selector("css", ".none") == gone.missing
