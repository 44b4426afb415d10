"""Outline: the heading of each part of a page."""

from __future__ import annotations

import pytest

from tidings.document.parse import parse
from tidings.document.structures.outline import standings

PAGE = "<h1>Shop</h1><p>hello</p><h2>Recalls</h2><p>none</p><h3>Kettle</h3><p>stop</p><h2>Jobs</h2><p>cook</p>"


@pytest.mark.parametrize(
    ("text", "heading"),
    [
        ("Shop", ""),
        ("hello", "Shop"),
        ("Recalls", "Shop"),
        ("none", "Recalls"),
        ("Kettle", "Recalls"),
        ("stop", "Kettle"),
        ("Jobs", "Shop"),
        ("cook", "Jobs"),
    ],
)
def test_heading_belongs_to_the_next_higher_one(text: str, heading: str):
    """A text belongs to the nearest heading above it."""
    document = parse(PAGE.encode(), "text/html", url="https://a.example/")
    piece = list(document.pieces).index(text)

    assert heading == standings(document, [piece])[piece].heading
