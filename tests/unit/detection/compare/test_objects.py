from collections import Counter

import pytest
from hypothesis import given

from tests.strategies import pairs
from tidings.detection.compare.objects import compare_objects
from tidings.model.observed.change import ObjectCount


def rows(old, new):
    return [(row.object, row.old, row.new) for row in compare_objects("links", old, new)]


def test_worked_example_of_the_thesis():
    """004 §5.4.1: old {d:2,b:2,c:2}, new {a:1,c:2,b:2,e:1} gives a and e inserted, d deleted, b and c as they were."""
    assert [("a", 0, 1), ("e", 0, 1), ("d", 2, 0)] == rows("ddbbcc", "accbbe")


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        (["a"] * 3, ["a"] * 2, [("a", 3, 2)]),
        (["x"], [], [("x", 1, 0)]),
        ([], ["x"], [("x", 0, 1)]),
        ([], [], []),
        (["a", "b", "c"], ["c", "a", "b"], []),
        (["/Aa"], ["/BB"], [("/BB", 0, 1), ("/Aa", 1, 0)]),
        (["s"] * 3, ["s"] * 2 + ["t"], [("s", 3, 2), ("t", 0, 1)]),
    ],
    ids=["fewer", "last one gone", "first one", "both empty", "order", "equal hashes in Java", "count of a signature"],
)
def test_rows_of_objects(old, new, expected):
    """Counts decide, never order nor hash; empty sides are as good as others; an absent object counts 0 (detection §1.3)."""
    assert expected == rows(old, new)


@given(pairs)
def test_rows_are_the_difference_of_counts(pair):
    """A row's new minus old is Counter(new) minus Counter(old); objects without a row have not changed."""
    old, new = pair
    difference = {row.object: row.new - row.old for row in compare_objects("links", old, new)}

    assert {
        name: Counter(new)[name] - Counter(old)[name] for name in {*old, *new} if old.count(name) != new.count(name)
    } == difference


@given(pairs)
def test_swapping_the_sides_swaps_the_counts(pair):
    """What was inserted one way is deleted the other way."""
    old, new = pair
    turned = {ObjectCount("links", row.object, row.new, row.old) for row in compare_objects("links", new, old)}

    assert turned == set(compare_objects("links", old, new))


@given(pairs)
def test_order_of_rows(pair):
    """Rows come in the order of first occurrence in new, then in old."""
    old, new = pair
    names = [row.object for row in compare_objects("links", old, new)]

    assert sorted(names, key=lambda name: new.index(name) if name in new else len(new) + old.index(name)) == names
