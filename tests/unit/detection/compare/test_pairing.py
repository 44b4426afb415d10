"""Things of two versions are paired by what they share, and numbered rows by their order
(detection §1.4, §3.3).
"""

import random
from itertools import combinations

import pytest

from tidings.detection.compare import pairing
from tidings.detection.compare.pairing import (
    Numbered,
    least_moved,
    pair_alike,
    running_number,
    running_numbers,
    without_numbers,
)


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("3", 3), (" 3. ", 3), ("#3", 3), ("(3)", 3), ("[3]", 3), ("№ 3", 3), ("3rd", 3), ("1st", 1), ("3ª", 3), ("007", 7),
        ("1234567", -1), ("", -1), ("-3", -1), ("3.5", -1), ("third", -1), ("3 of 4", -1), ("٣", -1),
    ],
)  # fmt: skip
def test_running_number_is_a_number_with_its_decoration(text, number):
    """At most six digits; all other text is none."""
    assert number == running_number(text)


@pytest.mark.parametrize(
    ("texts", "numbers"),
    [
        (["1", "2", "3"], [1, 2, 3]),
        (["2.", "0.", "1."], [2, 0, 1]),
        (["1"], [1]),
        (["2", "3"], []),
        (["1", "3"], []),
        (["1", "1", "2"], []),
        (["1", "x"], []),
        (["0", "x"], []),
        ([], []),
    ],
)
def test_numbers_run_from_0_or_1_without_a_gap(texts, numbers):
    """In any order."""
    assert numbers == running_numbers(texts)


def rows(*texts, first=1, names=()):
    """Return numbered things in the order of their numbers, each with one field."""
    return Numbered(list(range(first, first + len(texts))), [{"text": text} for text in texts], names)


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ("ab", "xab", ([(0, 1), (1, 2)], set())),
        ("abc", "bc", ([(1, 0), (2, 1)], set())),
        ("abc", "axc", None),
        ("abc", "abcd", None),
        ("abc", "abc", None),
        ("aab", "xaab", ([(0, 1), (1, 2), (2, 3)], set())),
        ("abcd", "xbyd", None),
        ("abcde", "xabyde", ([(0, 1), (1, 2), (2, 3), (3, 4), (4, 5)], set())),
    ],
)
def test_numbers_are_positions_if_that_explains_more(old, new, expected):
    """Each inserted row moves the numbers of all after it; where as many rows came as went, they
    are pairs.
    """
    found = without_numbers(rows(*old), rows(*new))

    assert expected == (None if found is None else (sorted(found[0]), set(found[1])))


def test_named_things_move_only_as_few_as_needed():
    """The last one rose to the top, and the others stayed."""
    old = rows("a", "b", "c", "d", names="abcd")
    new = rows("d", "a", "b", "c", names="dabc")
    found = without_numbers(old, new)

    assert found is not None
    assert ([(0, 1), (1, 2), (2, 3), (3, 0)], {(3, 0)}) == (found[0], {*found[1]})


def test_move_costs_as_much_as_two_fields():
    """Two things that changed places are two changed fields: then the numbers are names."""
    assert without_numbers(rows("a", "b", names="ab"), rows("b", "a", names="ba")) is None
    old, new = (
        Numbered([1, 2], [{"x": t, "y": t} for t in texts], names) for texts, names in (("ab", "ab"), ("ba", "ba"))
    )
    found = without_numbers(old, new)
    assert found is not None
    assert ([(0, 1), (1, 0)], 1) == (found[0], len(found[1]))


def test_missing_field_is_a_changed_one():
    """A deleted or inserted thing counts with all its fields."""
    one = Numbered([1], [{"x": 1, "y": 2}])
    less = Numbered([1], [{"x": 1}])
    none = Numbered([], [])

    assert 1 == pairing._count_changed(one, less, [(0, 0)]) == pairing._count_changed(less, one, [(0, 0)])
    assert 2 == pairing._count_changed(one, none, []) == pairing._count_changed(none, one, [])
    assert 0 == pairing._count_changed(one, one, [(0, 0)])


def test_fewest_things_move():
    """Without them the rest increases, and no smaller set does that."""
    chance = random.Random(7)
    for _ in range(300):
        places = chance.sample(range(12), chance.randrange(8))
        moved = least_moved(places)
        rest = [place for at, place in enumerate(places) if at not in moved]
        longest = max(
            size
            for size in range(len(places) + 1)
            for chosen in combinations(places, size)
            if list(chosen) == sorted(chosen)
        )

        assert sorted(rest) == rest
        assert sorted(set(moved)) == moved
        assert len(places) - longest == len(moved)


def test_equal_places_are_not_in_order():
    """The rest increases strictly."""
    assert 1 == len(least_moved([4, 4]))


def test_pairs_share_half_of_the_richer_one_and_the_best_goes_first():
    """Each thing is in one pair at most, and of equally good ones the nearest are paired."""
    chance = random.Random(11)
    for _ in range(300):
        old, new = (
            [frozenset(chance.sample("abcdef", chance.randrange(5))) for _ in range(chance.randrange(6))] for _ in "ab"
        )
        rated = sorted(
            (-len(a & b) / max(len(a), len(b)), abs(i - j), i, j)
            for i, a in enumerate(old)
            for j, b in enumerate(new)
            if a & b and 2 * len(a & b) >= max(len(a), len(b))
        )
        expected: list[tuple[int, int]] = []
        for _, _, i, j in rated:
            if not any(i == one or j == other for one, other in expected):
                expected.append((i, j))

        assert expected == pair_alike(old, new)


@pytest.mark.parametrize(
    ("count", "is_paired"), [(pairing.MOST_WITH_A_FEATURE, True), (pairing.MOST_WITH_A_FEATURE + 1, False)]
)
def test_feature_of_too_many_things_is_ignored(count, is_paired):
    """The work is bounded by the number of features."""
    assert is_paired is bool(pair_alike([frozenset("x")] * count, [frozenset("x")]))
