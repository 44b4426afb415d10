"""Measure what refreshes of the index improve for searches (002 §5).

The workload is the log of searches, split into single terms. For each term the score at each rank
is known; a changed page moves within that. So a refresh is appraised from the terms of its two
copies alone, without querying the index.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Final

from tidings.clock import DAY, HOUR
from tidings.record import dataclass
from tidings.search.query import Phrase, Query, parse
from tidings.search.rank_curve import RankCurve, curve_of
from tidings.search.scoring import K1, Statistics, idf, norm_of
from tidings.search.valuation import rate, single_terms, value_of_refresh
from tidings.service.search.workload import workload
from tidings.storage.search import find

if TYPE_CHECKING:
    from tidings.model.interval import Duration, Instant
    from tidings.storage.search.index import SearchIndex
    from tidings.storage.search.log import SearchLog

FRESH: Final[Duration] = HOUR
"""How long curves and frequencies are used."""
MOST_TERMS: Final = 500
"""Most terms that are valued, the most frequent ones."""
PRIOR: Final[Duration] = 30 * DAY
"""The weight, in time, of all pages' usual gain in each page's estimate."""
_WEIGHTS: Final = (find.TITLE, 1.0, find.ADDRESS)


@dataclass(frozen=True, slots=True)
class Appraiser:
    """Appraises refreshes by the workload as of an instant (µs)."""

    at: Instant
    frequencies: Mapping[str, float]
    curves: Mapping[str, RankCurve]
    weights: Mapping[str, float]
    known: Statistics

    def __call__(self, old: Sequence[str] | None, new: Sequence[str] | None) -> float:
        """Return what a refresh improved, from the terms of title, text and address of both
        copies.
        """
        if not self.curves:
            return 0.0
        return value_of_refresh(self.scores(old), self.scores(new), self.curves, self.frequencies)

    def scores(self, lines: Sequence[str] | None) -> dict[str, float]:
        """Return a copy's BM25 scores for its terms, from title, text and address."""
        counts: dict[str, float] = {}
        length = 0
        for weight, line in zip(_WEIGHTS, lines or (), strict=False):
            counted = Counter(line.split())
            length += counted.total()
            for term in counted.keys() & self.curves.keys():
                counts[term] = counts.get(term, 0.0) + weight * counted[term]
        norm = norm_of(length, self.known)
        return {term: self.weights[term] * count * (K1 + 1) / (count + norm) for term, count in counts.items()}


def appraiser(index: SearchIndex, log: SearchLog, *, at: Instant) -> Appraiser:
    """Return the appraiser for the searches of a log, as of an instant (µs)."""
    found = workload(index, log, at=at)
    kept = [(parse(one.logged.text), one.logged.weight) for one in found.queries if one.is_kept]
    every = single_terms(kept)
    terms = sorted(every, key=lambda term: (-every[term], term))[:MOST_TERMS]
    phrases = {term: Phrase((term,)) for term in terms}
    curves = {
        term: curve_of([hit.score for hit in find.find(index, Query(((phrase,),)))], found.exponent)
        for term, phrase in phrases.items()
    }
    known = find.statistics(index, list(phrases.values()))
    weights = {term: idf(known.documents, known.frequency[term]) for term in terms}
    return Appraiser(at, {term: every[term] for term in terms}, curves, weights, known)


def rates(index: SearchIndex, *, at: Instant) -> Iterator[tuple[int, float, float]]:
    """Yield each page with the total gain of its refreshes and the estimated gain per day, highest
    first.

    Args:
        index: The index, which measured it.
        at: Up to when it was measured (µs).
    """
    found = [(page_id, gained, max(0, at - since) / DAY) for page_id, gained, since in index.gains()]
    days = sum(time for _, _, time in found)
    usual = sum(gained for _, gained, _ in found) / days if days else 0.0
    rated = [(page_id, gained, rate(gained, time, usual=usual, weight=PRIOR / DAY)) for page_id, gained, time in found]
    yield from sorted(rated, key=lambda one: (-one[2], one[0]))
