"""What the first fetch of a page is worth, beside a refresh."""

from __future__ import annotations

import math

import pytest

from tidings.search.unseen import shares, terms_of_link, worth_refresh, worth_unseen


def test_words_that_are_searched_for_make_a_page_worth_more():
    """By the share that they have of all searches; depth and a bad form make it worth less."""
    sought = shares({"price": 3.0, "oil": 1.0})

    def worth(anchor: str, **more: object) -> float:
        given: dict[str, object] = {"depth": 1, "is_news": False, **more}
        terms = terms_of_link(anchor, "https://a.example/p")
        return worth_unseen(float(given.pop("share_new", 0.8)), terms=terms, sought=sought, **given)  # type: ignore[arg-type]

    assert worth("the oil price") > worth("the price") > worth("oil") > worth("contact")
    assert worth("contact") > worth("contact", depth=2)
    assert worth("contact", is_news=True) == pytest.approx(2 * worth("contact"))
    assert worth("contact", share_new=0.4) == pytest.approx(worth("contact") / 2)
    assert ("oil", "prices", "2026") == terms_of_link("", "https://a.example/oil-prices/2026")


def test_a_refresh_is_worth_its_chance_of_a_change_and_what_it_names():
    """1 - exp(-rate days), and so many new pages a day."""
    assert 1 - math.exp(-0.5) == pytest.approx(worth_refresh(1.0, 0.5, depth=0, importance=1.0, yields=0.0))
    assert 2.0 == pytest.approx(worth_refresh(0.0, 0.5, depth=0, importance=1.0, yields=4.0))
    assert {} == shares({})
