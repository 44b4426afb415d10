"""Reasons why a selector finds nothing or little."""

import pytest

from tidings.document.select.extraction import why_little, why_nothing


@pytest.mark.parametrize(
    ("language", "media", "expected"),
    [
        ("css", "html", ""),
        ("xpath", "html", ""),
        ("xpath", "feed", ""),
        ("xpath", "xml", ""),
        ("jsonpath", "json", ""),
        ("css", "", ""),
        ("css", "feed", ""),
        ("css", "xml", ""),
        ("jsonpath", "feed", 'of a feed jsonpath finds no parts; write xpath "//item/title" or css ".price"'),
        ("xpath", "json", 'of JSON xpath finds no parts; write jsonpath "$.items[*].name"'),
        ("jsonpath", "html", ""),
        ("css", "csv", "of CSV css finds no parts"),
        ("xpath", "text", "of plain text xpath finds no parts"),
        ("css", "pdf", "of a PDF css finds no parts"),
        ("css", "binary", "of a body without text css finds no parts"),
    ],
)
def test_selector_that_can_find_nothing_has_a_reason(language, media, expected):
    """It has a suggestion that could find something."""
    assert expected == why_nothing(language, media)


@pytest.mark.parametrize(
    ("language", "media", "is_said"),
    [("css", "feed", True), ("css", "xml", True), ("css", "html", False), ("xpath", "feed", False), ("css", "", False)],
)
def test_selector_that_finds_little_has_a_reason(language, media, is_said):
    """CSS finds the HTML in the texts of a feed, not the elements of the feed."""
    assert is_said == ("xpath" in why_little(language, media))
