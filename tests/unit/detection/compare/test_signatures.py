import pytest

from tidings.detection.compare.instances import PhraseEdit, Rules, by_place, instances, is_update

WORDS = "the low risk plan and the low risk fund".split()


def test_an_instance_is_known_by_the_words_around_it():
    """A box is shorter at the ends of a page."""
    first, second = instances(WORDS, ["low", "risk"], box=2, most=9)

    assert (1, ("the",), ("plan", "and")) == (first.start, first.lower, first.upper)
    assert (("and", "the"), ("fund",)) == second.signature


def test_no_more_instances_than_asked_for():
    """The first ones are taken."""
    assert [0, 1] == [instance.start for instance in instances(["a"] * 9, ["a"], box=1, most=2)]


@pytest.mark.parametrize(
    ("common", "length", "factor", "expected"),
    [(3, 5, (3, 5), False), (4, 5, (3, 5), True), (3, 4, (3, 5), True), (6, 10, (3, 5), False), (1, 2, (1, 2), False)],
)
def test_an_update_keeps_more_than_the_factor(common, length, factor, expected):
    """Exactly as much is not enough, and no rounding decides."""
    assert expected == is_update(common, length, Rules(factor=factor))


def test_edits_stand_in_the_order_of_the_new_page():
    """Then in that of the old one."""
    edits = [PhraseEdit("d", (8, 9), (4, 4)), PhraseEdit("i", (0, 0), (2, 3)), PhraseEdit("d", (5, 6), (4, 4))]

    assert ["i", "d", "d"] == [edit.status for edit in by_place(iter(edits))]
    assert [(0, 0), (5, 6), (8, 9)] == [edit.old for edit in by_place(iter(edits))]
