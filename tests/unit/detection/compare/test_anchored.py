"""Long texts are aligned between anchors."""

import itertools
import random

from hypothesis import given
from rapidfuzz.distance import LCSseq

from tests.strategies import edit_pairs, pairs
from tidings.detection.compare.anchored import Gap, _Anchored, align

WORDS = 2_000


def number_sides(*sides):
    """Return the sides as lists of small numbers, as `compare_sequences` passes them."""
    numbers = {token: number for number, token in enumerate(dict.fromkeys(token for side in sides for token in side))}
    return [[numbers[token] for token in side] for side in sides]


def keep(blocks):
    return sum(size for _, _, size in blocks)


@given(pairs | edit_pairs())
def test_runs_are_equal_ordered_and_separate(pair):
    """Each is equal on both sides and begins where the one before it ended on at least one side,
    and not before on the other.
    """
    a, b = number_sides(*pair)
    if not a or not b:
        return
    for cells in (10_000, 64, 1):
        blocks = align(a, b, cells)

        assert all(a[i : i + size] == b[j : j + size] and size > 0 for i, j, size in blocks)
        for (i, j, size), (next_i, next_j, _) in itertools.pairwise(blocks):
            assert i + size <= next_i
            assert j + size <= next_j
            assert (i + size, j + size) != (next_i, next_j)


def test_long_text_with_few_edits_is_aligned_exactly():
    """Words that occur once anchor it: a hundredth of the cost of an exact alignment finds the
    whole common part.
    """
    rng = random.Random(1)
    old = rng.choices(range(WORDS), k=3 * WORDS)
    new = [number for number in old if rng.random() > 0.01]
    a, b = number_sides(old, new)

    assert LCSseq.similarity(a, b) == keep(align(a, b, len(a) * len(b) // 100))


def test_longer_of_two_swapped_blocks_stays():
    """The other is out of order."""
    a = list(range(WORDS))
    b = a[1_200:] + a[:1_200]

    assert [(0, 800, 1_200)] == align(a, b, 10_000)


def test_four_frequent_words_together_are_an_anchor():
    """No single word occurs once."""
    old = random.Random(2).choices(range(12), k=6_000)
    new = [*old[:3_000], 3, 4, 5, *old[3_000:]]
    a, b = number_sides(old, new)

    assert 6_000 - 20 <= keep(align(a, b, 40_000))


def test_text_without_anchors_is_cut_into_chunks():
    """They are in proportion, and each is aligned by itself."""
    rng = random.Random(3)
    old, new = (rng.choices(range(2), k=3_000) for _ in range(2))

    assert keep(align(old, new, 90_000)) >= 0.9 * LCSseq.similarity(old, new)


def test_rare_words_of_unlike_texts_are_no_anchors():
    """They are shared by chance, in any order: the common part is found as without them."""
    rng = random.Random(4)
    rare = range(100, 300)
    sides = [rng.choices(range(40), k=4_000) for _ in range(2)]
    for side in sides:
        for number in rng.sample(rare, len(rare)):
            side.insert(rng.randrange(len(side)), number)
    a, b = number_sides(*sides)

    assert keep(align(a, b, 600_000)) >= 0.97 * LCSseq.similarity(a, b)


def test_gap_between_anchors_is_aligned_exactly_within_the_budget():
    """A rewritten part between unchanged ones keeps all words in common."""
    rng = random.Random(5)
    parts = [rng.choices(range(30), k=1_000) for _ in range(2)]
    start, end = [[*range(first, first + 2_000)] for first in (100, 5_000)]
    a, b = number_sides(*([*start, 1_000_000 + side, *part, *end] for side, part in enumerate(parts)))

    assert LCSseq.similarity(a, b) == keep(align(a, b, 1_100_000))


def test_all_exact_alignments_share_a_budget():
    """Many large gaps do not each use all of it: after a few, the next ones are cut."""
    rng = random.Random(6)
    sides: list[list[int]] = [[], []]
    for gap in range(40):
        for side in sides:
            side += [*range(1_000 * (gap + 1), 1_000 * (gap + 1) + 50), *rng.choices(range(30), k=300)]
    a, b = number_sides(*sides)
    alignment = _Anchored(a, b, 100_000)
    alignment.align(Gap(0, len(a), 0, len(b)), 0)

    assert 0 <= alignment.spare < 100_000
