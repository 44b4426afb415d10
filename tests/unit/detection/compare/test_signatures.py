"""Signatures: an instance with the words around it."""

import pytest

from tidings.detection.compare.instances import PhraseEdit, Rules, by_place, instances, is_update

WORDS = "the low risk plan and the low risk fund".split()


def test_signature_has_the_words_around_an_instance():
    """A box is shorter at the ends of a page."""
    first, second = instances(WORDS, ["low", "risk"], box=2, most=9)

    assert (1, ("the",), ("plan", "and")) == (first.start, first.lower, first.upper)
    assert (("and", "the"), ("fund",)) == second.signature


def test_number_of_instances_is_limited():
    """The first ones are used."""
    assert [0, 1] == [instance.start for instance in instances(["a"] * 9, ["a"], box=1, most=2)]


@pytest.mark.parametrize(
    ("common", "length", "factor", "expected"),
    [(3, 5, (3, 5), False), (4, 5, (3, 5), True), (3, 4, (3, 5), True), (6, 10, (3, 5), False), (1, 2, (1, 2), False)],
)
def test_update_keeps_more_than_the_factor(common, length, factor, expected):
    """Exactly as much is not enough, without rounding errors."""
    assert expected == is_update(common, length, Rules(factor=factor))


def test_edits_are_in_the_order_of_the_new_page():
    """Then in that of the old one."""
    edits = [PhraseEdit("d", (8, 9), (4, 4)), PhraseEdit("i", (0, 0), (2, 3)), PhraseEdit("d", (5, 6), (4, 4))]

    assert ["i", "d", "d"] == [edit.status for edit in by_place(iter(edits))]
    assert [(0, 0), (5, 6), (8, 9)] == [edit.old for edit in by_place(iter(edits))]
