"""Lists: items that came, went, were reworded or moved (004 §3.4.2; detection §1.4)."""

import random
from collections import Counter

import pytest

from tidings.detection.ask.expression import evaluate
from tidings.detection.ask.pair import Pair
from tidings.detection.data import itemised
from tidings.detection.data.itemised import Lists, alike, lists_digest, subtract
from tidings.document.parse import parse
from tidings.model.watch.sentinel import Interest


def page(body):
    return parse(body.encode(), "text/html; charset=utf-8", url="http://x.org/a/", keep_tree=True)


def find(interest, old, new):
    """Return (inserted, deleted, updated)."""
    interest = Interest(interest) if isinstance(interest, str) else interest
    change = evaluate(interest, Pair(page(old), page(new)))
    return list(change.inserted), list(change.deleted), list(change.updated)


NOTHING: tuple[list[str], list[str], list[tuple[str, str]]] = ([], [], [])


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ("<ul><li>A<li>B<li>C</ul>", "<ul><li>B<li>A<li>C</ul>", NOTHING),
        ("<ul><li>A<li>A</ul>", "<ul><li>A</ul>", ([], ["A"], [])),
        ("<ul><li>one two three</ul>", "<ul><li>one two four</ul>", ([], [], [("one two three", "one two four")])),
        ("<ul><li>abc</ul>", "<ul><li>xyz</ul>", (["xyz"], ["abc"], [])),
        (
            "<ul><li>a<ul><li>b</ul></ul>",
            "<ul><li>a<ul><li>c</ul></ul>",
            ([], [], [("a b", "a c")]),
        ),
        ("<dl><dt>a<dd>b</dl>", "<dl><dt>a<dd>b<dt>c</dl>", (["c"], [], [])),
    ],
)
def test_items_of_lists_have_no_order(old, new, expected):
    """An item that is mostly unchanged was reworded."""
    assert expected == find("list", old, new)


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ("ABCD", "ABCD", ()),
        ("ABCD", "DABC", ("D",)),
        ("ABCD", "BCDA", ("A",)),
        ("ABCDE", "AECBD", ("E", "C")),
        ("ABCD", "XABCD", ()),
        ("ABCD", "ABD", ()),
        ("AAB", "ABA", ("B",)),
    ],
)
def test_ranking_is_reported_with_the_fewest_moves(old, new, expected):
    """In an ordered list the moved items are those that let the others stay; inserted and deleted
    ones move none.
    """
    ranked = ["".join(f"<li>{name}" for name in names).join(("<ol>", "</ol>")) for names in (old, new)]
    change = evaluate(Interest("list"), Pair(*(page(text) for text in ranked)))

    assert sorted(expected) == sorted(change.moved)
    assert bool(change) is (old != new)
    assert () == evaluate(Interest("list", direction="updated"), Pair(*(page(text) for text in ranked))).objects


def test_texts_are_subtracted_as_often_as_they_stand():
    """The first ones go, and the others keep their order."""
    chance = random.Random(1)
    for _ in range(100):
        texts, without = (chance.choices("abc", k=chance.randrange(6)) for _ in "ab")
        left = subtract(texts, without)

        assert Counter(texts) - Counter(without) == Counter(left)
        assert left == [text for at, text in enumerate(texts) if texts[: at + 1].count(text) > without.count(text)]


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        (["abcdefghij"], ["abcdefgxxx"], [("abcdefghij", "abcdefgxxx")]),
        (["abcdefghij"], ["abcdefxxxx"], []),
        (["abcd", "abcdefgh"], ["abcdefgh1"], [("abcdefgh", "abcdefgh1")]),
        (["aaaab", "aaaac"], ["aaaae", "aaaad"], [("aaaab", "aaaae"), ("aaaac", "aaaad")]),
        (["12345678", "abcdefgh"], ["abcdefgx", "1234567x"], [("abcdefgh", "abcdefgx"), ("12345678", "1234567x")]),
        ([], ["a"], []),
        (["a"], [], []),
    ],
)
def test_most_similar_texts_are_pairs(old, new, expected):
    """More than 0.6 of both is left, each is in one pair, and pairs are in the new order."""
    assert expected == alike(old, new)


@pytest.mark.parametrize(("count", "is_searched"), [(itemised.MOST_PAIRED, True), (itemised.MOST_PAIRED + 1, False)])
def test_rewordings_of_very_many_are_not_searched(count, is_searched):
    """On either side."""
    many, one = [f"{n:08}" for n in range(count)], ["0000000x"]

    assert [is_searched, is_searched] == [bool(alike(many, one)), bool(alike(one, many))]


def test_list_of_a_number_is_there_and_has_its_items():
    """Without a number there is always one: all."""
    document = page("<ul><li>a<li>b</ul><ol><li>c</ol>")

    assert [3, 2, 1, 0] == [Lists().for_ordinal(number).size(document) for number in (None, 1, 2, 3)]
    assert [True, True, True, False] == [Lists(number).is_there(document) for number in (None, 1, 2, 3)]


def test_body_without_text_is_compared_as_a_whole():
    """On either side."""
    text, picture = page("<ul><li>a</ul>"), parse(b"\x89PNG\r\n\x1a\n0", "image/png")

    assert ("body",) == Lists().compare(text, picture)[0].kinds == Lists().compare(picture, text)[0].kinds


@pytest.mark.parametrize(
    ("new", "is_same"),
    [
        ("<ul><li>b<li>a</ul><ol><li>c<li>d</ol>", True),
        ("<ul><li>a<li>b</ul><ol><li>d<li>c</ol>", False),
        ("<ul><li>a</ul><ol><li>c<li>d</ol>", False),
        ("<ol><li>a<li>b<li>c<li>d</ol>", False),
    ],
)
def test_digest_has_the_order_of_ordered_lists_only(new, is_same):
    """Where it is the same, nothing is found."""
    old = page("<ul><li>a<li>b</ul><ol><li>c<li>d</ol>")

    assert is_same is (lists_digest(old) == lists_digest(page(new)))
    assert not (is_same and Lists().compare(old, page(new)))


def test_repeated_items_of_a_ranking_are_places_of_their_own():
    """Each one stands for one before, and a reworded one for its former text."""
    old, new = ("".join(f"<li>{name}" for name in names).join(("<ol>", "</ol>")) for names in ("AAB", "AAAB"))

    assert () == Lists().compare(page(old), page(new))[0].moved
    old = "<ol><li>the first of all<li>b<li>c</ol>"
    new = "<ol><li>b<li>c<li>the first of them</ol>"
    assert ("the first of them",) == Lists().compare(page(old), page(new))[0].moved
