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
def test_why_a_selector_finds_nothing(language, media, expected):
    """What its language can never find anything in is named, with a selector that could."""
    assert expected == why_nothing(language, media)


@pytest.mark.parametrize(
    ("language", "media", "is_said"),
    [("css", "feed", True), ("css", "xml", True), ("css", "html", False), ("xpath", "feed", False), ("css", "", False)],
)
def test_why_a_selector_finds_little(language, media, is_said):
    """CSS sees the HTML in the texts of a feed, not the feed's own elements."""
    assert is_said == ("xpath" in why_little(language, media))
