"""Scores: how well a text answers terms, by BM25 (as SQLite's FTS5 counts it) and by TF-IDF (002
§5.2).
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Final

from tidings.record import dataclass

K1: Final = 1.2
B: Final = 0.75
LEAST_IDF: Final = 1e-6
"""What a term weighs that stands in half of all texts or more."""


@dataclass(frozen=True, slots=True)
class Statistics:
    """What is known of all texts: how many there are, how many terms each has on average, and in
    how many of them each term stands.
    """

    documents: int
    mean_length: float
    frequency: Mapping[str, int]


def bm25(counts: Mapping[str, float], length: int, known: Statistics) -> float:
    """Return the BM25 score of a text; greater is better.

    Args:
        counts: How often each term, or phrase, stands in the text; weighted, if places weigh
        differently.
        length: How many terms the text has.
        known: What is known of all texts.
    """
    norm = norm_of(length, known)
    return sum(
        idf(known.documents, known.frequency.get(term, 0)) * count * (K1 + 1) / (count + norm)
        for term, count in counts.items()
        if count
    )


def norm_of(length: int, known: Statistics) -> float:
    """Return what BM25 adds below for the length of a text."""
    return K1 * (1 - B + B * length / known.mean_length) if known.mean_length else K1


def idf(documents: int, having: int) -> float:
    """Return what a term weighs that stands in so many of all texts."""
    weight = math.log((documents - having + 0.5) / (having + 0.5)) if having <= documents else 0.0
    return weight if weight > 0 else LEAST_IDF


def tf_idf(counts: Mapping[str, float], length: int, known: Statistics) -> float:
    """Return the TF-IDF score of a text as Lucene counts it, which the paper used (002 §5.2).

    Args:
        counts: How often each term stands in the text.
        length: How many terms the text has.
        known: What is known of all texts.
    """
    if not length:
        return 0.0
    return sum(
        math.sqrt(count) * (1 + math.log(known.documents / (known.frequency.get(term, 0) + 1))) ** 2
        for term, count in counts.items()
        if count
    ) / math.sqrt(length)
