"""Moved text: equal words that were deleted here and inserted there."""

import itertools

from hypothesis import given

from tests.strategies import edit_pairs, pairs
from tidings.detection.compare.words import compare_sequences
from tidings.document.text.moves import SHORTEST, Move, moves_of, without

RUN = [f"run{number}" for number in range(10)]
REST = [f"rest{number}" for number in range(30)]


def test_words_found_elsewhere_are_moved():
    """Ten words from the start that are now at the end are one move."""
    old, new = [*RUN, *REST], [*REST, *RUN]

    assert (Move(0, 30, 10),) == moves_of(compare_sequences(old, new), old, new)


def test_seven_words_are_too_few_for_a_move():
    """They are more often chance."""
    old, new = [*RUN[:7], *REST], [*REST, *RUN[:7]]

    assert () == moves_of(compare_sequences(old, new), old, new)


@given(pairs | edit_pairs())
def test_moves_are_equal_parts_of_the_edits(pair):
    """Each is at least as long as the shortest, equal on both sides, and inside an edit on each
    side; none overlap.
    """
    old, new = pair
    edits = compare_sequences(old, new)
    moves = moves_of(edits, old, new)
    gone = [place for move in moves for place in range(move.old_start, move.old_start + move.length)]
    come = [place for move in moves for place in range(move.new_start, move.new_start + move.length)]

    assert all(move.length >= SHORTEST for move in moves)
    assert [old[place] for place in gone] == [new[place] for place in come]
    assert len(gone) == len(set(gone))
    assert len(come) == len(set(come))
    assert set(gone) <= {place for edit in edits for place in range(edit.old_start, edit.old_end)}
    assert set(come) <= {place for edit in edits for place in range(edit.new_start, edit.new_end)}


def test_rest_of_a_run_without_its_gaps():
    """Gaps are removed from it; there are as few as reach into it."""
    gaps = [(0, 3), (5, 7), (9, 12)]

    assert [(3, 5), (7, 9), (12, 14)] == without(1, 14, gaps)
    assert [(7, 8)] == without(6, 8, gaps)
    assert [] == without(5, 7, gaps)
    assert [(3, 4)] == without(3, 4, gaps)
    for start, end in itertools.combinations(range(15), 2):
        inside = {place for gap in gaps for place in range(*gap)}
        assert [place for place in range(start, end) if place not in inside] == [
            place for part in without(start, end, gaps) for place in range(*part)
        ]
