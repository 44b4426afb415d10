"""Templates: only text that differed at second polls is noise, and only there."""

import pytest

from tidings.detection.noise.template import (
    BORDER,
    HOLE,
    beside,
    beside_holes,
    draw,
    holes_in,
    stands_still,
    stretches_of,
)


def test_text_that_differs_at_a_second_poll_is_a_hole():
    """A later second poll adds holes, and updates the fixed text."""
    first = draw((), "30 € 12 watching".split(), "30 € 13 watching".split())
    later = draw(first or (), "31 € 20 watching".split(), "31 € 21 seeing".split())

    assert ("30", "€", HOLE, "watching") == first
    assert ("31", "€", HOLE) == later


def test_hole_that_is_unchanged_once_stays_a_hole():
    """Two places of a line that differ alternately are both noise."""
    first = draw((), "a 1 b 2 c".split(), "a 3 b 2 c".split())

    assert ("a", HOLE, "b", HOLE, "c") == draw(first or (), "a 5 b 6 c".split(), "a 5 b 7 c".split())


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("now $ 30", "now $ 31"),
        ("30 € only", "31 € only"),
        ("Last price 31.50 euro", "Last price 31.60 euro"),
        ("a b", "a b"),
    ],
)
def test_changed_price_alone_is_no_noise(old, new):
    """It is a price, also if it changes within a minute."""
    assert draw((), old.split(), new.split()) is None


def test_hole_is_found_by_its_neighbours():
    """If they changed, nothing is masked; if others did, it is found."""
    template = ("30", "€", HOLE, "watching")

    assert [(2, 4)] == holes_in(template, "31 € 12 now watching".split())
    assert [None] == holes_in(template, "30 euro 12 watching".split())
    assert [(0, 3)] == holes_in((HOLE,), "a b c".split())


def test_hole_does_not_cross_a_line():
    """Noise of one line covers nothing of the next; line borders are no words."""
    template = (HOLE, BORDER, "old", "news")

    assert [(0, 2)] == holes_in(template, ["an", "ad", BORDER, "fresh", "things"])
    assert [(4, 5)] == stretches_of(
        ("a", BORDER, "b", BORDER, "c", "d", HOLE), ["a", BORDER, "b", BORDER, "c", "d", "x"]
    )


def test_hole_is_found_in_other_lines_by_its_words():
    """They are two before it and one after it, with all numbers equal; at the border of a line
    there are too few.
    """
    words = "text of entry 5 Visited 17 times".split()

    assert (("0", "Visited"), ("times",)) == beside(words, 5, 6)
    assert [(("0", "Visited"), ("times",))] == [*beside_holes(("3", "Visited", HOLE, "times"), (), ())]
    assert [(("0", "Visited"), ("times",))] == [*beside_holes((), ("3", "Visited"), ("times",))]
    assert beside(["17", BORDER, "b", "c"], 2, 3) is None


def test_words_shared_by_chance_are_no_fixed_text():
    """Two advertisements of thirty words share some; the next one shares others, and is noise too."""
    ads = [
        "velvet boots timber for winter tea and one lamp from $ 30",
        "copper pans timber by summer tea or blue harbour bread from $ 912",
        "silver coats ocean for winter sun with nine maps from $ 7",
    ]
    template = draw((), ads[0].split(), ads[1].split())
    shown = holes_in(template or (), ads[2].split())

    assert (HOLE, "from", "$", HOLE) == template
    assert [(0, 9), (11, 12)] == shown


@pytest.mark.parametrize(
    "news",
    ["Sold out", "level 5", "30", "| open |"],
)
def test_news_between_two_advertisements_of_a_line_is_fixed_text(news):
    """Two words, a number or a sign are no chance."""
    old, new = f"velvet boots for you {news} copper pans by night", f"silver coats and us {news} linen bags with maps"

    assert (HOLE, *news.split(), HOLE) == draw((), old.split(), new.split())


def test_every_unchanged_word_of_a_short_line_is_fixed_text():
    """So it is in a long line that is mostly unchanged."""
    short = draw((), "node 5 of 9".split(), "node 6 of 8".split())
    long = draw((), "a 1 b 2 c d e f".split(), "a 3 b 4 c d e f".split())

    assert ("node", HOLE, "of", HOLE) == short
    assert ("a", HOLE, "b", HOLE, "c", "d", "e", "f") == long


def test_each_line_has_its_own_holes():
    """Noise in most of two lines leaves the border between them."""
    old = ["a1", "b", "c1", "d1", "e1", "f1", BORDER, "g1", "h", "i1", "j1", "k1", "l1"]
    new = ["a2", "b", "c2", "d2", "e2", "f2", BORDER, "g2", "h", "i2", "j2", "k2", "l2"]

    assert (HOLE, BORDER, HOLE) == draw((), old, new)


@pytest.mark.parametrize(
    ("old", "new", "stands"),
    [
        ("in 5 s by node 1", "in 6 s by node 1", True),
        ("in 5 s by node 1", "in 5 s by node 2", False),
        ("in 5 s by node 1", "at 5 t by node 1", False),
    ],
)
def test_difference_outside_the_holes_is_found(old, new, stands):
    """If a hole is not found any more, everything differs."""
    assert stands is stands_still(("in", HOLE, "s", "by", "node", "1"), old.split(), new.split())
