"""The choices that a page offers for watching, with their present values."""

from __future__ import annotations

from typing import Any

import pytest

from tidings.detection.job.contract import Body
from tidings.service.on_demand.choices import FEWEST_ITEMS, MOST_TABLES, Choices
from tidings.service.on_demand.draw import choices

SHOP = b"""<base href="https://shop.example/a/"><title>Kettle</title>
<link rel="alternate" type="application/rss+xml" title="News of the shop" href="feed.xml">
<link rel="alternate" hreflang="de" href="/de"><link rel="alternate" type="application/atom+xml" href="javascript:x()">
<script type="application/ld+json">{"@type":"Product","offers":
{"price":"109.00","priceCurrency":"EUR","availability":"https://schema.org/InStock"}}</script>
<ul><li>Home<li>Shop<li>About</ul><table><tr><th>Capacity<th>Weight<tr><td>0.9 l<td>1 kg</table>
<ol><li>Paper filters, 100 of them<li>A grinder with a long handle<li>Beans from a far country</ol>"""


def read_choices(data: bytes, content_type: str = "text/html") -> Choices:
    """Return the choices of a body."""
    return choices(Body(data=data, content_type=content_type, url="https://shop.example/a/kettle"))


def test_page_offers_its_prices_tables_lists_and_feeds():
    """A table is shown by its columns, a list by its items. A menu is no list, and another language
    is no feed.
    """
    found = read_choices(SHOP)

    assert [
        ("price", ("109.00 EUR",), 1),
        ("availability", ("InStock",), 1),
        ("table 1", ("0.9 l | 1 kg",), 1),
        ("list 2", ("Paper filters, 100 of them", "A grinder with a long handle", "Beans from a far country"), 3),
    ] == [(one.label, one.texts, one.count) for one in found.readings]
    assert ("Capacity", "Weight") == found.readings[2].head
    assert (("https://shop.example/a/feed.xml", "News of the shop"),) == found.feeds


@pytest.mark.parametrize(
    ("data", "content_type", "labels"),
    [
        (b"<p>words alone</p>", "text/html", []),
        (b"", "text/html", []),
        (b"\x00\x01", "application/octet-stream", []),
        (
            b'<rss version="2.0"><channel><item><title>Boat</title></item></channel></rss>',
            "application/rss+xml",
            ["items"],
        ),
        (b'[{"id": 1, "title": "Boat"}]', "application/json", ["items"]),
        (b"<table><tr><td>1</table>" * 9, "text/html", [f"table {n}" for n in range(1, MOST_TABLES + 1)]),
        (b"<ul>" + b"<li>an item with a long text" * (FEWEST_ITEMS - 1) + b"</ul>", "text/html", []),
    ],
)
def test_page_offers_only_what_it_has(data: bytes, content_type: str, labels: list[Any]):
    """A feed has items; a body of an unknown type has nothing."""
    assert labels == [one.label for one in read_choices(data, content_type).readings]
