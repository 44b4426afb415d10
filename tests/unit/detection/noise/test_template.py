"""Templates: only what differed at second looks is noise, and only there."""

import pytest

from tidings.detection.noise.template import BORDER, HOLE, beside, beside_holes, drawn, holes_in, stretches_of


def test_what_differs_at_a_second_look_is_a_hole_and_the_rest_stands_still():
    """A later second look adds holes, and takes what really changed since as it is now."""
    first = drawn((), "30 € 12 watching".split(), "30 € 13 watching".split())
    later = drawn(first or (), "31 € 20 watching".split(), "31 € 21 seeing".split())

    assert ("30", "€", HOLE, "watching") == first
    assert ("31", "€", HOLE) == later


def test_what_was_a_hole_stays_one_where_it_was_the_same_for_once():
    """Two places of a line that differ in turn are both noise."""
    first = drawn((), "a 1 b 2 c".split(), "a 3 b 2 c".split())

    assert ("a", HOLE, "b", HOLE, "c") == drawn(first or (), "a 5 b 6 c".split(), "a 5 b 7 c".split())


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("now $ 30", "now $ 31"),
        ("30 € only", "31 € only"),
        ("Last price 31.50 euro", "Last price 31.60 euro"),
        ("a b", "a b"),
    ],
)
def test_an_amount_of_money_alone_proves_no_noise(old, new):
    """A price that moves within a minute is a price."""
    assert drawn((), old.split(), new.split()) is None


def test_a_hole_is_found_by_its_neighbours_only():
    """Where they became others nothing is masked; where others did, it is found."""
    template = ("30", "€", HOLE, "watching")

    assert [(2, 4)] == holes_in(template, "31 € 12 now watching".split())
    assert [None] == holes_in(template, "30 euro 12 watching".split())
    assert [(0, 3)] == holes_in((HOLE,), "a b c".split())


def test_a_border_of_lines_stands_still():
    """What is noise in one line covers nothing of the next; borders are no words."""
    template = (HOLE, BORDER, "old", "news")

    assert [(0, 2)] == holes_in(template, ["an", "ad", BORDER, "fresh", "things"])
    assert [(4, 5)] == stretches_of(
        ("a", BORDER, "b", BORDER, "c", "d", HOLE), ["a", BORDER, "b", BORDER, "c", "d", "x"]
    )


def test_a_hole_is_known_elsewhere_by_the_words_in_its_line():
    """Two before it and one behind it, numbers alike; at the border of a line there are too few."""
    words = "text of entry 5 Visited 17 times".split()

    assert (("0", "Visited"), ("times",)) == beside(words, 5, 6)
    assert [(("0", "Visited"), ("times",))] == [*beside_holes(("3", "Visited", HOLE, "times"), (), ())]
    assert [(("0", "Visited"), ("times",))] == [*beside_holes((), ("3", "Visited"), ("times",))]
    assert beside(["17", BORDER, "b", "c"], 2, 3) is None
