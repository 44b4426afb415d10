"""Differences of data with their paths, and the finding that they make (H-065 to H-067)."""

import pytest

from tidings.detection.data import differences
from tidings.detection.data.differences import (
    LONGEST,
    Difference,
    Differences,
    TooManyError,
    compare_arrangements,
    finding_of_differences,
)
from tidings.document.parse import parse
from tidings.model.observed.change import ChangeSet, Edit


def text_of(old, new, path="a.b", **more):
    return Difference(path, old, new, (0, 0), (0, 0), **more).texts()


@pytest.mark.parametrize(
    ("old", "new", "path", "expected"),
    [
        ("1", "2", "a.b", ("a.b: 1", "a.b: 2")),
        (None, "2", "a.b", ("a.b", "a.b: 2")),
        ("1", None, "a.b", ("a.b: 1", "a.b")),
        ("1", "2", "", ("1", "2")),
        ("", "2", "a", ("a", "a: 2")),
        ("\ud800", "2", "a", ("a: \ufffd", "a: 2")),
    ],
)
def test_texts_have_the_path(old, new, path, expected):
    """Text that no file could hold is replaced."""
    assert expected == text_of(old, new, path)


@pytest.mark.parametrize(("length", "is_cut"), [(400, False), (401, True)])
def test_long_path_has_its_end(length, is_cut):
    """It is as long as the longest whole one."""
    old, _ = text_of("1", "2", "p" * (length - 4) + ".end")

    assert is_cut is old.startswith("…")
    assert old.endswith(".end: 1")
    assert 400 + len(": 1") == len(old)


def test_long_texts_begin_shortly_before_they_differ():
    """At a word; short ones are whole, and so are those without a counterpart."""
    same = "same words " * 50
    old, new = text_of(f"{same}one", f"{same}two")

    assert old.startswith("a.b: … ")
    assert ("one", "two") == (old[-3:], new[-3:])
    assert old[:-3] == new[:-3]
    assert len(old) < 80
    assert ("a.b: a b one", "a.b: a b two") == text_of("a b one", "a b two")
    assert text_of(f"x{same}", f"y{same}")[0].startswith("a.b: xsame")
    assert text_of(None, f"{same}two")[1].startswith("a.b: same")
    assert text_of(f"{same}one", f"{same}two", is_moved=True)[1].startswith("a.b: same")


def test_longer_text_that_begins_like_the_other_differs_at_its_end():
    """There is no common character after it."""
    same = "same words " * 50

    assert text_of(same, f"{same}more")[1].endswith("same words more")


def test_equal_texts_that_were_cut_differ_after_that():
    """It says where."""
    old, new = text_of("x" * 401, "x" * 401)

    assert f"a.b: {'x' * 400}…" == old
    assert f"a.b: {'x' * 400}… (other after 401 characters)" == new
    assert ("a.b: x", "a.b: x") == text_of("x", "x")


@pytest.mark.parametrize("length", [LONGEST - 6, LONGEST - 5, LONGEST, 2 * LONGEST])
def test_shown_text_is_bounded(length):
    """Its end is marked where it was cut."""
    _, new = text_of(None, "x" * length)

    assert len(new) <= LONGEST
    assert (length >= LONGEST - 5) is new.endswith("…")


def test_very_many_differences_are_refused(monkeypatch):
    """The limit itself is allowed."""
    monkeypatch.setattr(differences, "MOST_DIFFERENCES", 2)
    found = Differences()
    one = Difference("a", "1", "2", (0, 1), (0, 1))
    found.add(one)
    found.add(one)

    with pytest.raises(TooManyError):
        found.add(one)
    assert [one, one] == found.found


def read(text):
    return parse(text.encode(), "text/plain")


def test_other_order_of_the_same_words_is_one_difference():
    """It is that of the whole, with both its texts."""
    old, new = read("a b"), read("b a")
    (found,) = compare_arrangements(old, new)

    assert ("2 words as text", "2 words as text, arranged otherwise") == (found.old, found.new)
    assert ((0, len(old.pieces)), (0, len(new.pieces))) == (found.gone, found.come)


def words(*pieces):
    """Return a document of these pieces."""
    from dataclasses import replace

    return replace(read("x"), pieces=pieces)


def test_finding_has_an_edit_for_each_difference():
    """By the words of the pieces: what came, went, was updated, moved; in the order of the text."""
    old, new = words("a b ", "c ", "d "), words("a ", "e f ", "d ", "c ")
    found = finding_of_differences(
        [
            Difference("m", "c", "c", (1, 2), (3, 4), is_moved=True),
            Difference("u", "a b", "a", (0, 1), (0, 1)),
            Difference("i", None, "e f", (1, 1), (1, 2)),
            Difference("d", "d", None, (2, 3), (2, 2)),
        ],
        old,
        new,
    )

    assert (
        ChangeSet(
            kinds=("words",),
            inserted=("i: e f",),
            deleted=("d: d",),
            updated=(("u: a b", "u: a"),),
            moved=("m: c",),
            edits=(
                Edit("replace", 0, 2, 0, 1),
                Edit("insert", 2, 2, 1, 3),
                Edit("move", 2, 3, 4, 5),
                Edit("delete", 3, 4, 3, 3),
            ),
        )
        == found
    )
    assert not finding_of_differences([], old, new)


@pytest.mark.parametrize(
    ("unwanted", "is_found"),
    [
        (((), ()), True),
        ((((1, 2),), ((1, 2),)), False),
        ((((1, 2),), ()), True),
        ((((0, 1),), ((0, 1),)), True),
        ((((0, 2),), ((0, 2),)), False),
    ],
)
def test_values_that_differ_in_unwanted_words_are_equal(unwanted, is_found):
    """Of two, one word is another: that one, or both, or the other one is unwanted."""
    change = Difference("a", "price 5", "price 6", (0, 1), (0, 1))

    assert is_found is bool(finding_of_differences([change], words("price 5"), words("price 6"), unwanted))


def test_values_without_unwanted_words_are_compared_as_they_are():
    """Equal words with another type are a difference, though others of the page are unwanted."""
    change = Difference("a", '"5"', "5", (0, 1), (0, 1))

    assert finding_of_differences([change], words("5 ", "x"), words("5 ", "x"), (((1, 2),), ((1, 2),)))
