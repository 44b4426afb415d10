import itertools

from hypothesis import given
from hypothesis import strategies as st

from tests.strategies import edit_pairs, pairs
from tidings.detection.compare.readable import Side, readable
from tidings.detection.compare.sequence import apply_edits, common_length, compare_sequences
from tidings.model.observed.change import Edit


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


def test_a_line_more_is_told_as_that_line():
    """Of all ways to put a line between lines that begin or end alike the one that takes it whole is told."""
    old = of_lines("Flat one for rent", "Flat two for rent")
    new = of_lines("Flat one for rent", "Flat three for rent", "Flat two for rent")

    assert [("", "Flat three for rent")] == report(old, new)
    assert [("Flat three for rent", "")] == report(new, old)


def test_without_lines_nothing_is_moved():
    """Inside a line an edit stays where the alignment has put it."""
    old, new = of_lines("a b a b c"), of_lines("a b a b a b c")
    edits = compare_sequences(old.tokens, new.tokens)

    assert edits == readable(edits, Side(old.tokens, frozenset), Side(new.tokens, frozenset))


def test_a_passage_that_was_written_anew_is_one_update():
    """A small word that stays between longer rewordings is part of them; between short ones it stays."""
    anew = of_lines("x cats sleep of day y"), of_lines("x dogs bark of night z")
    short = of_lines("price 3 and 5 x"), of_lines("price 4 and 6 x")

    assert [("cats sleep of day y", "dogs bark of night z")] == report(*anew)
    assert [("3", "4"), ("5", "6")] == report(*short)


def test_what_was_only_inserted_is_never_told_as_deleted():
    """Words that stay between inserts stay, however short they are."""
    assert [("", "a b c"), ("", "d e f")] == report(of_lines("x of y"), of_lines("x a b c of d e f y"))


def ranges(side, places):
    return Side(side, lambda: frozenset(places))


@given(pairs | edit_pairs(), st.sets(st.integers(0, 200)))
def test_edits_stay_right(pair, places):
    """They turn old into new, are in order and part; no token more is only inserted or only deleted, and no other."""
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
