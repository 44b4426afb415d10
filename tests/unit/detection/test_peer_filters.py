"""Each filter and option of other watchers that can be said here finds what the tool's documentation says (tests/peer_filters.py)."""

import pytest

from tests.peer_filters import ROWS, TOOLS, is_equal, list_left, list_reported

SAID = [row for row in ROWS if not row.why]


@pytest.mark.parametrize("row", SAID, ids=lambda row: f"{row.tool} {row.name}")
def test_a_sentence_does_what_the_filter_does(row):
    """The same words in the same lines are left of its page, or the same of a change is told."""
    assert is_equal(row), list_left(row) if row.leaves is not None else list_reported(row)


def test_a_row_either_says_it_or_says_why_not():
    """A sentence comes with what it leaves or what is told, of which there is one; a reason comes with no sentence."""
    for row in ROWS:
        assert bool(row.why) != bool(row.says), row.name
        assert bool(row.why) == (row.leaves is None and row.told is None), row.name
        assert row.leaves is None or row.told is None, row.name


def test_a_filter_stands_once_a_tool():
    """The counts that bench/peer_filters.py prints are of different things."""
    names = [(row.tool, row.name) for row in ROWS]

    assert len(names) == len({*names})
    assert ("urlwatch", "webchanges", "changedetection.io") == TOOLS


def test_what_a_sentence_leaves_is_no_accident():
    """Without its clauses each page that something is taken of has other lines, but where the clauses say nothing but words."""
    for row in SAID:
        if row.leaves is not None and row.says.strip() != "Monitor all words":
            assert not is_equal(
                type(row)(**{name: getattr(row, name) for name in row.__slots__} | {"says": "Monitor all words"})
            )
