"""Scores of a text for terms, by BM25 (as in SQLite's FTS5) and by TF-IDF (002 §5.2)."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Final

from tidings.record import dataclass

K1: Final = 1.2
B: Final = 0.75
LEAST_IDF: Final = 1e-6
"""The weight of a term that occurs in half of all texts or more."""


@dataclass(frozen=True, slots=True)
class Statistics:
    """Statistics of all texts: their number, their average number of terms, and the number of texts
    with each term.
    """

    documents: int
    mean_length: float
    frequency: Mapping[str, int]


def bm25(counts: Mapping[str, float], length: int, known: Statistics) -> float:
    """Return the BM25 score of a text; greater is better.

    Args:
        counts: The count of each term or phrase in the text, possibly weighted by place.
        length: The number of terms of the text.
        known: The statistics of all texts.
    """
    norm = norm_of(length, known)
    return sum(
        idf(known.documents, known.frequency.get(term, 0)) * count * (K1 + 1) / (count + norm)
        for term, count in counts.items()
        if count
    )


def norm_of(length: int, known: Statistics) -> float:
    """Return BM25's length normalisation."""
    return K1 * (1 - B + B * length / known.mean_length) if known.mean_length else K1


def idf(documents: int, having: int) -> float:
    """Return the weight of a term that occurs in `having` of all texts."""
    weight = math.log((documents - having + 0.5) / (having + 0.5)) if having <= documents else 0.0
    return weight if weight > 0 else LEAST_IDF
