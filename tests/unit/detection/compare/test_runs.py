"""Equal runs of two sequences are in order, in both, and as long as possible."""

import random

import pytest

from tidings.detection.compare.runs import Runs, as_text, longest_alignment


def count_common(a, b):
    """Return the length of a longest common subsequence, by the textbook."""
    rows = [[0] * (len(b) + 1) for _ in range(len(a) + 1)]
    for i, one in enumerate(a):
        for j, other in enumerate(b):
            rows[i + 1][j + 1] = rows[i][j] + 1 if one == other else max(rows[i][j + 1], rows[i + 1][j])
    return rows[-1][-1]


def draw(chance, most=9):
    return [chance.randrange(4) for _ in range(chance.randrange(1, most))]


def is_valid(blocks, a, b):
    """Return whether blocks are equal runs that neither overlap nor touch."""
    ends = (-1, -1)
    for i, j, size in blocks:
        if (
            size < 1
            or a[i : i + size] != b[j : j + size]
            or len(a[i : i + size]) < size
            or i < ends[0]
            or j < ends[1]
            or ends == (i, j)
        ):
            return False
        ends = i + size, j + size
    return True


def test_alignment_is_longest():
    """Its blocks are equal on both sides, and in order."""
    chance = random.Random(3)
    for _ in range(300):
        a, b = draw(chance), draw(chance)
        blocks = longest_alignment(a, b)

        assert is_valid(blocks, a, b)
        assert count_common(a, b) == sum(size for _, _, size in blocks)


def test_part_of_two_sequences_is_aligned_in_its_own_places():
    """Only the given places count, and runs are joined only where they touch on both sides."""
    chance = random.Random(5)
    for _ in range(300):
        a, b = draw(chance), draw(chance)
        of_a, of_b = (sorted(chance.sample(range(len(side)), chance.randrange(1, len(side) + 1))) for side in (a, b))
        runs = Runs(a, b)
        runs.align(of_a, of_b)

        assert is_valid(runs.blocks, a, b)
        assert {i + n for i, _, size in runs.blocks for n in range(size)} <= {*of_a}
        assert {j + n for _, j, size in runs.blocks for n in range(size)} <= {*of_b}
        assert count_common([a[i] for i in of_a], [b[j] for j in of_b]) == sum(size for _, _, size in runs.blocks)


@pytest.mark.parametrize(
    ("second", "expected"),
    [((3, 4, 2), [(1, 2, 4)]), ((4, 4, 2), [(1, 2, 2), (4, 4, 2)]), ((3, 5, 2), [(1, 2, 2), (3, 5, 2)])],
)
def test_adjacent_runs_are_one(second, expected):
    """A gap on either side parts them."""
    runs = Runs([], [])
    runs.take(1, 2, 2)
    runs.take(*second)

    assert expected == runs.blocks


@pytest.mark.parametrize("last", [0x10FFFF, 0x110000])
def test_numbers_are_characters_while_there_are_enough(last):
    """They are compared as they are beyond that."""
    first, second = as_text([last, 7], [7])

    assert isinstance(first, str) is isinstance(second, str) is (last == 0x10FFFF)
    assert [(1, 0, 1)] == longest_alignment(first, second)
