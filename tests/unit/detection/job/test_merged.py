"""Changes among their unchanged surroundings."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tidings.detection.job.contract import Body
from tidings.detection.job.merged import AROUND, merge_bodies
from tidings.document.select.extraction import WHOLE
from tidings.model.watch.sentinel import AnyOf, Expression, Interest

WORDS = Interest("words")


def merge(old: str, new: str, expression: Expression = WORDS) -> list[list[tuple[str, str]]]:
    bodies = [
        Body(data=f"<p>{text}</p>".encode(), content_type="text/html; charset=utf-8", url="https://a.example/")
        for text in (old, new)
    ]
    return [list(stretch) for stretch in merge_bodies(bodies[0], bodies[1], expression, WHOLE)]


def words(name: str, number: int) -> str:
    return " ".join(f"{name}{n}" for n in range(number))


def test_change_has_the_words_around_it():
    """They are in the order of the page."""
    assert [[("same", "the price is"), ("deleted", "5"), ("inserted", "6"), ("same", "euro")]] == merge(
        "the price is 5 euro", "the price is 6 euro"
    )


def test_distant_changes_are_separate_parts():
    """The text between is left out and counted."""
    middle = words("m", 100)
    first, second = merge(f"one {middle} two", f"1 {middle} 2")

    assert [("deleted", "one"), ("inserted", "1"), ("same", words("m", AROUND))] == first
    assert ("same", f"… ({100 - 2 * AROUND} words)") == second[0]
    assert [("deleted", "two"), ("inserted", "2")] == second[2:]


def test_new_sides_of_all_parts_are_the_new_page():
    """If it is shown completely, nothing is lost or repeated."""
    old, new = "a b c d e f g h", "a x c d f g y h z"
    (stretch,) = merge(old, new)

    assert new == " ".join(text for kind, text in stretch if kind != "deleted")
    assert old == " ".join(text for kind, text in stretch if kind != "inserted")


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("due 10:05 on time", "due 10:07 2 min late"),
        ("from 10:05 on", "from 11:05 on"),
        ("on 2026.11.28 here", "on 2027.11.29 here"),
        ("costs 10 euro", "costs 10.99 euro"),
        ("costs 1.10.99 euro", "costs 10 euro"),
        ("a 19.99 b", "a b"),
        ("10:05", "x 10:07 y"),
        ("5 10:05 6", "5 7 10:05 8 6:1"),
    ],
)
def test_number_with_a_changed_part_is_shown_once(old, new):
    """Each side of a part is its version: no digit of a whole number is beside it too."""
    (stretch,) = merge(old, new)

    assert old == " ".join(text for kind, text in stretch if kind != "inserted")
    assert new == " ".join(text for kind, text in stretch if kind != "deleted")


@given(*[st.lists(st.sampled_from(["1", "2", "1:2", "2.1.2", "1,2", "a"]), min_size=1, max_size=4)] * 2)
def test_each_side_is_its_version_with_all_numbers(old, new):
    """There may be many edits within one number."""
    was, now = " ".join(old), " ".join(new)
    stretches = merge(was, now)
    moved = any(kind == "moved" for stretch in stretches for kind, _ in stretch)

    assert stretches or tokens(was) == tokens(now)
    if len(stretches) == 1 and not moved:
        assert tokens(was) == [token for kind, text in stretches[0] if kind != "inserted" for token in tokens(text)]
        assert tokens(now) == [token for kind, text in stretches[0] if kind != "deleted" for token in tokens(text)]


def tokens(text: str) -> list[str]:
    return re.findall(r"\w+", text)


def test_links_are_counted_only():
    """A table shows them and their places."""
    assert [] == merge('<a href="/a">x</a>', '<a href="/b">x</a>', Interest("links"))


def test_keyword_is_shown_in_its_place():
    """It is in the words around it, once if all words are watched too."""
    gold = Interest("keywords", terms=("gold",))

    assert [[("deleted", "gold"), ("same", "lead falls")]] == merge("gold falls", "lead falls", gold)
    assert [[("deleted", "gold"), ("inserted", "lead"), ("same", "falls")]] == merge(
        "gold falls", "lead falls", AnyOf((Interest("words"), gold))
    )
