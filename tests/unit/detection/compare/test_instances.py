"""Objects as multisets: which instance came or went."""

from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.strategies import pairs
from tidings.detection.ask.expression import evaluate
from tidings.detection.ask.pair import Pair
from tidings.detection.compare import instances
from tidings.detection.compare.instances import compare_objects, pair_occurrences, surround
from tidings.document.parse import parse
from tidings.model.observed.change import ObjectCount
from tidings.model.watch.interest import Interest


def places(page, word="x", box=2):
    words = page.split()
    return [surround(words, (at, at + 1), box=box) for at, other in enumerate(words) if other == word]


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ("a x b x c x d", "a x b x c x d", [(0, 0), (1, 1), (2, 2)]),
        ("a x b", "", []),
        ("a b x c d e f x g h", "a b c d e f x g h", [(1, 0)]),
        ("a b x c d e f x g h i j x k l", "a b x c d i j x k l", [(0, 0), (2, 1)]),
        ("a b x c d e f x g h", "e f x g h a b x c d", [(0, 1), (1, 0)]),
        ("a b x c d", "p q x r s a b x c z", [(0, 1)]),
        ("a x b", "p x q r x s", [(0, 0)]),
    ],
)
def test_instances_are_paired_by_their_surroundings(old, new, expected):
    """The same words come first, then the most similar, then the order; the side with fewer is used
    up.
    """
    assert expected == pair_occurrences(places(old), places(new))


_page = st.lists(st.sampled_from("xxab"), max_size=14).map(" ".join)


@settings(max_examples=60)
@given(_page, _page)
def test_unpaired_instances_are_the_difference_of_the_counts(old, new):
    """Each instance has one partner at most."""
    before, after = places(old), places(new)
    found = pair_occurrences(before, after)

    assert min(len(before), len(after)) == len(found)
    assert len({i for i, _ in found}) == len({j for _, j in found}) == len(found)


def test_very_many_instances_are_paired_in_order(monkeypatch):
    """A comparison of all would take too long."""
    monkeypatch.setattr(instances, "MOST_COMPARED", 1)

    assert [(0, 0), (1, 1)] == pair_occurrences(places("a x b x c"), places("p x q x r"))


def rows(old, new):
    return [(row.object, row.old, row.new) for row in compare_objects("links", old, new)]


def test_worked_example_of_the_thesis():
    """004 §5.4.1: old {d:2,b:2,c:2}, new {a:1,c:2,b:2,e:1}: a and e are inserted, d is deleted, b
    and c are unchanged.
    """
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
def test_rows_have_the_counts_of_objects(old, new, expected):
    """Order and hash do not matter; empty sides are allowed; an absent object counts 0 (detection
    §1.3).
    """
    assert expected == rows(old, new)


@given(pairs)
def test_rows_are_the_difference_of_counters(pair):
    """New minus old of a row is Counter(new) minus Counter(old); objects without a row did not
    change.
    """
    old, new = pair
    difference = {row.object: row.new - row.old for row in compare_objects("links", old, new)}

    assert {
        name: Counter(new)[name] - Counter(old)[name] for name in {*old, *new} if old.count(name) != new.count(name)
    } == difference


@given(pairs)
def test_swapping_the_versions_swaps_the_counts(pair):
    """Inserted becomes deleted."""
    old, new = pair
    turned = {ObjectCount("links", row.object, row.new, row.old) for row in compare_objects("links", new, old)}

    assert turned == set(compare_objects("links", old, new))


@given(pairs)
def test_rows_are_in_the_order_of_first_occurrence(pair):
    """Those of the new version come first, then those of the old."""
    old, new = pair
    names = [row.object for row in compare_objects("links", old, new)]

    assert sorted(names, key=lambda name: new.index(name) if name in new else len(new) + old.index(name)) == names


SAME = [
    ("<img src=/413-a.jpg>", "<img src=/275-a.jpg srcset='/413-a.jpg 1.5x, /550-a.jpg 2x'>"),
    ("<img src=/275-a.jpg srcset='/413-a.jpg 1.5x'>", "<img src=/413-a.jpg>"),
    ("<img src=/a.jpg srcset='/x.jpg 1x'>", "<img src=/b.jpg srcset='/x.jpg 1x'>"),
    ("<img src=/a srcset='/b 1x, /c 2x'>", "<img src=/d srcset='/c 1x, /e 2x'>"),
    ("<picture><source srcset=/a.avif><img src=/a.jpg></picture>", "<img src=/a.avif>"),
    ("<img data-src=/a data-srcset='/a 1x, /b 2x'>", "<img src=/b>"),
    ("<img src=/a?w=1 srcset='/a?w=2 2x'>", "<img src=/a?w=2>"),
    ("<img src=/a srcset='/b 2x'><img src=/c srcset='/d 2x'>", "<img src=/d><img src=/b>"),
]
NEWS = [
    ("<img src=/a.jpg>", "<img src=/b.jpg>"),
    ("<img src=/a.jpg srcset='/a.jpg 1x'>", "<img src=/b.jpg srcset='/b.jpg 1x'>"),
    ("<img src=/a.jpg srcset='/x.jpg 1x'>", "<img src=/b.jpg srcset='/y.jpg 1x'>"),
    ("<img src=/a srcset='/b 2x'><img src=/c>", "<img src=/b><img src=/d>"),
    ("<img src=/a srcset='/b 2x'>", "<img src=/a srcset='/b 2x'><img src=/b>"),
    ("<img src=/a srcset='/b 2x'><img src=/b>", "<img src=/b>"),
    ("<img src=/a srcset='/b 2x'>", "<img src=/b><img src=/b>"),
    (
        "<img src=data:image/gif;base64,AA srcset='/a, data:x 2x'>",
        "<img src=data:image/gif;base64,AA srcset='/b, data:x 2x'>",
    ),
]


def find(before, now, kind="images"):
    old, new = (
        parse(f"<!doctype html><body>{body}".encode(), "text/html", url="https://x.example/") for body in (before, now)
    )
    return evaluate(Interest(kind), Pair(old, new))


@pytest.mark.parametrize(("before", "now"), SAME)
@pytest.mark.parametrize("kind", ["images", "any"])
def test_image_in_another_size_is_the_same(kind, before, now):
    """It shares a size with the one before, in any attribute."""
    assert not find(before, now, kind)


@pytest.mark.parametrize(("before", "now"), NEWS)
@pytest.mark.parametrize("kind", ["images", "any"])
def test_other_image_is_reported(kind, before, now):
    """It shares no size with a deleted one, or is there more often than before."""
    assert find(before, now, kind)


def test_only_other_images_are_reported():
    """An image in another size beside it is not."""
    rows = find("<img src=/a srcset='/b 2x'>", "<img src=/new><img src=/b>").objects

    assert [("https://x.example/new", 0, 1)] == [(row.object, row.old, row.new) for row in rows]
