"""Word edits between two texts."""

import itertools
import random
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rapidfuzz.distance import LCSseq

from tests.edit_scripts import apply_edits
from tests.strategies import edit_pairs, pairs
from tidings.detection.compare.words import MOST_RUNS, Side, common_length, compare_sequences, readable
from tidings.model.observed.change import Edit

BUDGETS = (16_000_000, 400, 16, 1)


def chance(seed):
    return random.Random(seed)


@given(pairs | edit_pairs())
def test_edits_turn_the_old_text_into_the_new_one(pair):
    """apply(edits, old) = new, for every budget of cells."""
    old, new = pair

    assert [new] * len(BUDGETS) == [
        apply_edits(compare_sequences(old, new, cells=cells), old, new) for cells in BUDGETS
    ]


@given(pairs | edit_pairs())
def test_only_equal_sequences_have_no_edits(pair):
    """Two that differ have some."""
    old, new = pair

    assert () == compare_sequences(old, list(old))
    assert [old == new] * len(BUDGETS) == [not compare_sequences(old, new, cells=cells) for cells in BUDGETS]


@given(pairs | edit_pairs())
def test_common_part_is_the_longest_within_the_budget(pair):
    """It is as long as the longest common subsequence of rapidfuzz."""
    old, new = pair

    assert LCSseq.similarity(old, new) == common_length(compare_sequences(old, new), len(old))


@given(pairs | edit_pairs())
def test_swapping_the_texts_swaps_inserted_and_deleted(pair):
    """As many tokens are inserted one way as are deleted the other way."""
    old, new = pair
    there, back = compare_sequences(old, new), compare_sequences(new, old)

    assert sum(edit.new_end - edit.new_start for edit in there) == sum(edit.old_end - edit.old_start for edit in back)
    assert sum(edit.old_end - edit.old_start for edit in there) == sum(edit.new_end - edit.new_start for edit in back)


@given(pairs | edit_pairs())
def test_edits_are_ordered_and_separated(pair):
    """At least one token is between two of them; each does what its name says."""
    for cells in BUDGETS:
        edits = compare_sequences(*pair, cells=cells)

        assert all(a.old_end < b.old_start and a.new_end < b.new_start for a, b in itertools.pairwise(edits))
        for edit in edits:
            is_delete, is_insert = edit.old_start < edit.old_end, edit.new_start < edit.new_end
            assert {(True, False): "delete", (False, True): "insert", (True, True): "replace"}[
                is_delete, is_insert
            ] == edit.op


def test_swapped_pair_has_two_edits():
    """`a b c d` → `a c b d`: three words stay, one is deleted and one inserted (detection §1.6)."""
    edits = compare_sequences("abcd", "acbd")

    assert 3 == common_length(edits, 4)
    assert ["delete", "insert"] == sorted(edit.op for edit in edits)


def test_long_texts_with_little_in_common_keep_the_most():
    """Two long pages of terms share phrases and no order; words that occur once on both sides are
    in any order.
    """
    old, new = (_zipf(seed, 6_000) for seed in (8, 9))

    assert LCSseq.similarity(old, new) == common_length(compare_sequences(old, new), len(old))


def test_other_side_of_an_empty_text_is_one_edit():
    """All is inserted, or all is deleted."""
    assert (Edit("insert", 0, 0, 0, 2),) == compare_sequences([], ["a", "b"])
    assert (Edit("delete", 0, 2, 0, 0),) == compare_sequences(["a", "b"], [])
    assert () == compare_sequences([], [])


def test_little_is_lost_beyond_the_budget():
    """Of 200 edited pairs with 400 cells, at least 98 % of the longest common part is kept."""
    kept = best = 0
    rng = chance(7)
    for _ in range(200):
        old = rng.choices([f"w{number}" for number in range(60)], k=120)
        new = [word for word in old if rng.random() > 0.1]
        new.insert(rng.randrange(len(new)), "new")
        kept += common_length(compare_sequences(old, new, cells=400), len(old))
        best += LCSseq.similarity(old, new)

    assert kept >= 0.98 * best


def _random(words, length, seed):
    return chance(seed).choices(words, k=length)


def _zipf(seed, length=60_000):
    rng = chance(seed)
    return [f"w{int(rng.paretovariate(1)) % 20_000}" for _ in range(length)]


NUMBERS = [str(number) for number in range(60_000)]
LOW = _random("abcd", 40_000, 3)
ADVERSARIES = {
    "four words": lambda: (_random("abcd", 50_000, 1), _random("abcd", 50_000, 2)),
    "zipf": lambda: (_zipf(4), _zipf(5)),
    "disjoint": lambda: (NUMBERS, [f"x{number}" for number in NUMBERS]),
    "reversed": lambda: (NUMBERS, NUMBERS[::-1]),
    "blocks moved": lambda: (NUMBERS, NUMBERS[30_000:] + NUMBERS[:30_000]),
    "low blocks moved": lambda: (LOW + ["q"] * 20_000, ["q"] * 20_000 + LOW),
    "one letter": lambda: (["a"] * 60_000, ["a"] * 59_000),
    "two letters turned": lambda: (["a", "b"] * 30_000, ["b", "a"] * 30_000),
    "last word of 225,000": lambda: (
        [*NUMBERS, *NUMBERS, *NUMBERS, *NUMBERS[:45_000]],
        [*NUMBERS, *NUMBERS, *NUMBERS, *NUMBERS[:44_999], "last"],
    ),
}


@pytest.mark.parametrize("name", ADVERSARIES)
def test_hostile_texts_have_correct_edits_in_limited_time(name):
    """Inputs that need minutes elsewhere (changedetection.io 3173) have edits that turn old into
    new, not too many.
    """
    old, new = ADVERSARIES[name]()
    edits = compare_sequences(old, new)

    assert new == apply_edits(edits, old, new)
    assert len(edits) <= MOST_RUNS + 1


def test_page_may_have_a_million_different_words():
    """A few words against a million others are within the cells of an exact alignment."""
    many = [*map(str, range(sys.maxunicode + 2))]

    assert (Edit("insert", 0, 0, 0, 7), Edit("replace", 1, 2, 8, len(many))) == compare_sequences(["7", "q"], many)


def of_lines(*lines):
    """Return the words of lines, with the places where lines begin or end."""
    words = [line.split() for line in lines]
    borders = frozenset(itertools.accumulate(map(len, words), initial=0))
    return Side([word for line in words for word in line], lambda: borders)


def report(old, new):
    """Return what is inserted and deleted, in words."""
    edits = readable(compare_sequences(old.tokens, new.tokens), old, new)
    return [
        (" ".join(old.tokens[e.old_start : e.old_end]), " ".join(new.tokens[e.new_start : e.new_end])) for e in edits
    ]


def test_inserted_line_is_reported_as_a_whole():
    """It is between lines that begin or end like it."""
    old = of_lines("Flat one for rent", "Flat two for rent")
    new = of_lines("Flat one for rent", "Flat three for rent", "Flat two for rent")

    assert [("", "Flat three for rent")] == report(old, new)
    assert [("Flat three for rent", "")] == report(new, old)


def test_edit_inside_a_line_stays_in_place():
    """Only lines move edits."""
    old, new = of_lines("a b a b c"), of_lines("a b a b a b c")
    edits = compare_sequences(old.tokens, new.tokens)

    assert edits == readable(edits, Side(old.tokens, frozenset), Side(new.tokens, frozenset))


def test_rewritten_passage_is_one_update():
    """A small unchanged word between longer rewordings is part of it; between short ones it stays."""
    anew = of_lines("x cats sleep of day y"), of_lines("x dogs bark of night z")
    short = of_lines("price 3 and 5 x"), of_lines("price 4 and 6 x")

    assert [("cats sleep of day y", "dogs bark of night z")] == report(*anew)
    assert [("3", "4"), ("5", "6")] == report(*short)


def test_words_between_insertions_stay():
    """However short they are, they are not reported as deleted."""
    assert [("", "a b c"), ("", "d e f")] == report(of_lines("x of y"), of_lines("x a b c of d e f y"))


def ranges(side, places):
    return Side(side, lambda: frozenset(places))


@given(pairs | edit_pairs(), st.sets(st.integers(0, 200)))
def test_adjusted_edits_are_still_correct(pair, places):
    """They turn old into new, ordered and separated; no other token is only inserted or only
    deleted.
    """
    old, new = pair
    edits = compare_sequences(old, new)
    made = readable(edits, ranges(old, places), ranges(new, places))

    assert new == apply_edits(made, old, new)
    assert all(a.old_end < b.old_start and a.new_end < b.new_start for a, b in itertools.pairwise(made))
    for op in ("insert", "delete"):
        assert _tokens(edits, op) == _tokens(made, op)
    assert common_length(edits, len(old)) >= common_length(made, len(old))


def _tokens(edits: tuple[Edit, ...], op: str) -> int:
    return sum(e.old_end - e.old_start + e.new_end - e.new_start for e in edits if e.op == op)
