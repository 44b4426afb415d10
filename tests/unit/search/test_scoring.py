"""Scores: BM25 and TF-IDF, by hand."""

import pytest

from tidings.search.scoring import LEAST_IDF, Statistics, bm25, tf_idf

KNOWN = Statistics(100, 50.0, {"rare": 1, "common": 60})


def test_bm25_by_hand():
    """ln((100 - 1 + .5) / 1.5) for one of average length that has the term once; a common term
    weighs next to nothing.
    """
    assert 4.1947 == pytest.approx(bm25({"rare": 1}, 50, KNOWN), abs=1e-4)
    assert LEAST_IDF == pytest.approx(bm25({"common": 1}, 50, KNOWN))
    assert bm25({"rare": 1}, 20, KNOWN) > bm25({"rare": 1}, 80, KNOWN)
    assert 0 == bm25({"rare": 0}, 50, KNOWN)


def test_tf_idf_by_hand():
    """sqrt(4) (1 + ln(100 / 2))² / sqrt(16)."""
    assert 12.0642 == pytest.approx(tf_idf({"rare": 4}, 16, KNOWN), abs=1e-3)
    assert 0 == tf_idf({"rare": 4}, 0, KNOWN)
