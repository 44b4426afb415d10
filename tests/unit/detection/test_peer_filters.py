"""Filters and options of other tools as sentences of Tidings, compared with their documentation
(tests/peer_filters.py).
"""

import pytest

from tests.peer_filters import ROWS, TOOLS, is_equal, list_left, list_reported

SAID = [row for row in ROWS if not row.why]


@pytest.mark.parametrize("row", SAID, ids=lambda row: f"{row.tool} {row.name}")
def test_sentence_does_what_the_filter_does(row):
    """It leaves the same words in the same lines, or reports the same change."""
    assert is_equal(row), list_left(row) if row.leaves is not None else list_reported(row)


def test_row_has_a_sentence_or_a_reason():
    """A sentence has its result; a reason has no sentence."""
    for row in ROWS:
        assert bool(row.why) != bool(row.says), row.name
        assert bool(row.why) == (row.leaves is None and row.reported is None), row.name
        assert row.leaves is None or row.reported is None, row.name


def test_filter_of_a_tool_is_listed_once():
    """The counts of bench/peer_filters.py are of different filters."""
    names = [(row.tool, row.name) for row in ROWS]

    assert len(names) == len({*names})
    assert ("urlwatch", "webchanges", "changedetection.io") == TOOLS


def test_clauses_of_a_sentence_have_an_effect():
    """Without them the page has other lines, unless they only state the words."""
    for row in SAID:
        if row.leaves is not None and row.says.strip() != "Monitor all words":
            assert not is_equal(
                type(row)(**{name: getattr(row, name) for name in row.__slots__} | {"says": "Monitor all words"})
            )
