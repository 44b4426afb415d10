"""BM25, by hand."""

import pytest

from tidings.search.scoring import LEAST_IDF, Statistics, bm25

KNOWN = Statistics(100, 50.0, {"rare": 1, "common": 60})


def test_bm25_by_hand():
    """ln((100 - 1 + .5) / 1.5) for one of average length that has the term once; a common term
    weighs next to nothing.
    """
    assert 4.1947 == pytest.approx(bm25({"rare": 1}, 50, KNOWN), abs=1e-4)
    assert LEAST_IDF == pytest.approx(bm25({"common": 1}, 50, KNOWN))
    assert bm25({"rare": 1}, 20, KNOWN) > bm25({"rare": 1}, 80, KNOWN)
    assert 0 == bm25({"rare": 0}, 50, KNOWN)
