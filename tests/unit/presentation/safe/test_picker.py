"""A part of a page is selected by a link that only Tidings makes."""

from __future__ import annotations

import re

import pytest

from tests.unit.presentation.safe.pages import PAGES
from tidings.detection.job.contract import Body
from tidings.service.on_demand.draw import page_to_pick, parts_at

LINK = "/new?url=a&at="


def body(html: str) -> Body:
    """Return a page."""
    return Body(data=html.encode(), content_type="text/html; charset=utf-8", url="https://a.example/")


def parts(html: str, text: str) -> list[tuple[str, str]]:
    """Return the parts around a text of a page: what selects each, and its text."""
    shown = page_to_pick((body(html), LINK))
    number = re.search(rf"at=(\d+)\">{re.escape(text)}<", shown)
    assert number is not None, shown
    return [(part.selector, part.text) for part in parts_at((body(html), int(number[1])))]


@pytest.mark.parametrize(
    ("html", "selectors"),
    [
        ("<main><p id=price>here</p></main>", ["#price"]),
        ("<p class='a price'>here</p><p class=a>x</p>", [".price"]),
        ("<div class=price><b>here</b></div><b>x</b>", [".price > b:nth-of-type(1)"]),
        ("<div class=price>at <b>here</b></div>", [".price > b:nth-of-type(1)", ".price"]),
        ("<p>x</p><p>here</p>", ["body > p:nth-of-type(2)"]),
        ("<p id=item-48213 class='css-1a2b3c'>here</p><p>x</p>", ["body > p:nth-of-type(1)"]),
        ("<p id='a b' class='a\"]b'>here</p><p>x</p>", ["body > p:nth-of-type(1)"]),
        ("<ul><li>x<li>here</ul>", ["body > ul:nth-of-type(1) > li:nth-of-type(2)", "body > ul:nth-of-type(1)"]),
    ],
)
def test_selector_of_a_part_is_unique_and_stable(html: str, selectors: list[str]) -> None:
    """It is an id or a class that is not generated, or the place; the smallest part comes first."""
    found = parts(html, "here")

    assert selectors == [selector for selector, _ in found]
    assert "here" in found[0][1]


@pytest.mark.parametrize("html", PAGES.values(), ids=PAGES)
def test_every_link_is_made_by_tidings(html: str) -> None:
    """Links of the page, and elements that imitate ours, lead nowhere."""
    shown = page_to_pick((body(html), LINK))

    assert all(re.fullmatch(r"/new\?url=a&amp;at=\d+", link) for link in re.findall(r'<a [^>]*href="([^"]*)"', shown))
    assert not re.search(r"<(script|iframe|form|ins)\b", shown)


def test_picture_has_no_parts() -> None:
    """An unknown number has none either."""
    picture = Body(data=b"\x89PNG\r\n", content_type="image/png", url="https://a.example/")

    assert "" == page_to_pick((picture, LINK))
    assert [] == parts_at((picture, 1))
    assert [] == parts_at((body("<p>one</p>"), 999))
