"""Patterns for irrelevant changes are narrow: any number matches, but not any word."""

from __future__ import annotations

import re

import pytest

from tidings.service.explain.fewer import pattern, quiet_until_more


@pytest.mark.parametrize(
    ("old", "new", "before", "matches", "not_matches"),
    [
        ("posted 3 min ago", "posted 5 min ago", "", "posted 17 min ago", "posted yesterday"),
        ("5", "6", "Seen by", "Seen by 1,204", "6"),
        ("129.00", "109.00", "Price:", "Price: 7.50", "Weight: 7.50"),
        ("Mon", "Tue", "", None, None),
        ("on time", "4 min late", "Line 7", "Line 7\n\n12 min late", "Tram 7\n\n12 min late"),
        ("5", "6", "", None, None),
        ("", "Advert: buy now", "", "Advert: buy now", "buy"),
        (" ".join("abc" for _ in range(20)), "", "", None, None),
        ("sunny", "rainy spells", "Weather today", "Weather today cloudy", "cloudy"),
    ],
)
def test_pattern_matches_only_changes_of_the_same_kind(
    old: str, new: str, before: str, matches: str | None, not_matches: str | None
) -> None:
    """An edit without its own words is matched by the words before it."""
    found = pattern(old, new, before)

    assert bool(found) == (matches is not None)
    if matches is not None and not_matches is not None:
        assert re.search(found, matches)
        assert not re.search(found, not_matches)


def test_pattern_has_the_words_after_an_edit_that_begins_its_block() -> None:
    """The label of its row stands in another cell, which a pattern does not reach."""
    found = pattern("2", "4", "", " min late")

    assert re.fullmatch(found, "17 min late")
    assert not re.search(found, "17 boats late")
    assert "" == pattern("2", "4", "", " km")


TEXT = "Create Sentinel a Using https://a.example/ Monitor all words"


@pytest.mark.parametrize(
    ("text", "sizes", "expected"),
    [
        (TEXT, [1, 1, 2, 2, 9], "where changed > 9"),
        (TEXT, [*range(1, 21)], "where changed > 19"),
        (f"{TEXT} where changed > 3", [5] * 5, "where changed > 5"),
        (TEXT, [1, 2, 3, 4], None),
        ("Create Sentinel a Using https://a.example/ Monitor price", [1] * 9, None),
        (f"{TEXT} AND links", [1] * 9, None),
    ],
)
def test_usual_size_is_learned_from_past_changes(text: str, sizes: list[int], expected: str | None) -> None:
    """Nine of ten are not larger. An older bound is replaced."""
    found = quiet_until_more(text, sizes)

    assert expected == (None if found is None else found.sentence)
    assert found is None or 1 == found.text.count("changed >")
