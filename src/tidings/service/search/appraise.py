"""Measure what refreshes of the index improve for searches (002 §5).

The workload is the log of searches, split into single terms. For each term the score at each rank
is known; a changed page moves within that. So a refresh is appraised from the terms of its two
copies alone, without querying the index.

The workload is read from the log of searches (002 §3, §5.2); queries without a watched page are
left out.
"""

from __future__ import annotations

import csv
from collections import Counter
from collections.abc import Collection, Container, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Final

from tidings.clock import DAY, HOUR
from tidings.errors import UsageError
from tidings.record import dataclass
from tidings.search.query import Phrase, Query, line_of_terms, parse
from tidings.search.ranking import (
    K1,
    LEAST_IDF,
    RankCurve,
    Statistics,
    curve_of,
    idf,
    is_as_long,
    knee,
    norm_of,
    rate,
    single_terms,
    value_of_refresh,
    viewing_exponent,
)
from tidings.storage.search import find

if TYPE_CHECKING:
    from tidings.model.interval import Duration, Instant
    from tidings.storage.search.index import CopyOfPage, SearchIndex
    from tidings.storage.search.log import LoggedQuery, SearchLog

FRESH: Final[Duration] = HOUR
"""How long curves and frequencies are used."""
MOST_TERMS: Final = 500
"""Most terms that are valued, the most frequent ones."""
PRIOR: Final[Duration] = 30 * DAY
"""The weight, in time, of all pages' usual gain in each page's estimate."""
FEW: Final = 4
"""The number of terms up to which each is counted by itself."""
SMALL: Final = 6
"""Lines that are a smaller part of a page than this are made into terms once more, to count these
alone: that costs about six times as much as to count."""
_WEIGHTS: Final = (find.TITLE, 1.0, find.ADDRESS)


@dataclass(frozen=True, slots=True)
class Appraiser:
    """Appraises refreshes by the workload as of an instant (µs)."""

    at: Instant
    frequencies: Mapping[str, float]
    curves: Mapping[str, RankCurve]
    weights: Mapping[str, float]
    known: Statistics

    def __call__(self, old: CopyOfPage | None, new: CopyOfPage | None) -> float:
        """Return what a refresh improved, from both copies; None: there is none."""
        if not self.curves:
            return 0.0
        if old is not None and new is not None and is_as_long(len(old.text), len(new.text)):
            before, after = self._score_moved(old, new)
        else:
            before, after = (self.scores(copy.lines if copy else ()) for copy in (old, new))
        return value_of_refresh(before, after, self.curves, self.frequencies)

    def scores(self, lines: Sequence[str]) -> dict[str, float]:
        """Return a copy's BM25 scores for its terms, from title, text and address."""
        return self._weigh(_count(lines, self.curves), _measure(lines))

    def _score_moved(self, old: CopyOfPage, new: CopyOfPage) -> tuple[dict[str, float], dict[str, float]]:
        """Return the scores of two copies for the terms that one has more often than the other:
        both count as equally long, so that only these have other scores.
        """
        gone, come = _find_difference(old.text, new.text)
        is_small = SMALL * (len(gone) + len(come)) < len(old.text) + len(new.text)
        before, after = (
            _count((copy.lines[0], line_of_terms(lines) if is_small else copy.lines[1], copy.lines[2]), self.curves)
            for copy, lines in ((old, gone), (new, come))
        )
        moved = {term: after.get(term, 0.0) - before.get(term, 0.0) for term in before.keys() | after.keys()}
        moved = {term: by for term, by in moved.items() if by}
        if not moved:
            return {}, {}
        after = _count_few(new.lines, moved) if is_small else {term: after.get(term, 0.0) for term in moved}
        length = _measure(new.lines)
        return self._weigh({term: after[term] - by for term, by in moved.items()}, length), self._weigh(after, length)

    def _weigh(self, counts: Mapping[str, float], length: int) -> dict[str, float]:
        norm = norm_of(length, self.known)
        return {term: self.weights[term] * many * (K1 + 1) / (many + norm) for term, many in counts.items() if many}


def _measure(lines: Sequence[str]) -> int:
    """Return the number of terms of lines."""
    return sum(line.count(" ") + 1 for line in lines if line)


def _count(lines: Sequence[str], terms: Container[str]) -> dict[str, float]:
    """Return how often terms occur in title, text and address, weighted by these."""
    counts: dict[str, float] = {}
    for weight, line in zip(_WEIGHTS, lines, strict=False):
        for term, many in Counter(filter(terms.__contains__, line.split())).items():
            counts[term] = counts.get(term, 0.0) + weight * many
    return counts


def _count_few(lines: Sequence[str], terms: Collection[str]) -> dict[str, float]:
    """Return the same as `_count`, with zeros: for few terms without a list of all words."""
    if len(terms) > FEW:
        return {**dict.fromkeys(terms, 0.0), **_count(lines, terms)}
    padded = [(weight, f" {line.replace(' ', '  ')} ") for weight, line in zip(_WEIGHTS, lines, strict=False)]
    return {term: sum(weight * line.count(f" {term} ") for weight, line in padded) for term in terms}


def _find_difference(one: str, other: str) -> tuple[str, str]:
    """Return the lines of each text that the other has not, or not as often."""
    before, after = (Counter(text.split("\n")).items() for text in (one, other))
    gone, come = (
        "\n".join(line for line, many in found for _ in range(many)) for found in (before - after, after - before)
    )
    return gone, come


def appraiser(index: SearchIndex, log: SearchLog, *, at: Instant) -> Appraiser:
    """Return the appraiser for the searches of a log, as of an instant (µs). Terms that half of the
    pages have are left out if there are others: they hardly order results.
    """
    found = workload(index, log, at=at)
    stored = [(parse(one.logged.text), one.logged.weight) for one in found.queries if one.is_kept]
    every = single_terms(stored)
    terms = sorted(every, key=lambda term: (-every[term], term))[:MOST_TERMS]
    known = find.statistics(index, [Phrase((term,)) for term in terms])
    weights = {term: idf(known.documents, known.frequency[term]) for term in terms}
    terms = [term for term in terms if weights[term] > LEAST_IDF] or terms
    curves = {
        term: curve_of([hit.score for hit in find.find(index, Query(((Phrase((term,)),),)))], found.exponent)
        for term in terms
    }
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


MOST_QUERIES: Final = 2_000
"""Most queries weighed, those with the most weight: each is run on the index."""
MOST_TIMES: Final = 1_000_000


@dataclass(frozen=True, slots=True)
class WeighedQuery:
    """A query of the log: the total score of all matching pages, and whether that is above the
    knee.
    """

    logged: LoggedQuery
    score: float
    is_kept: bool


@dataclass(frozen=True, slots=True)
class Workload:
    """All weighed queries, the counted clicks, and the exponent of the viewing curve."""

    queries: Sequence[WeighedQuery]
    clicks: int
    exponent: float


def workload(index: SearchIndex, log: SearchLog, *, at: Instant) -> Workload:
    """Return the workload as of an instant (µs)."""
    logged = log.queries(at=at)[:MOST_QUERIES]
    scores = [_score(index, one.text) for one in logged]
    least = knee(scores)
    clicks = log.clicks()
    weighed = [
        WeighedQuery(one, score, is_kept=score > 0 and score >= least)
        for one, score in zip(logged, scores, strict=True)
    ]
    return Workload(weighed, sum(clicks.values()), viewing_exponent(clicks))


def _score(index: SearchIndex, text: str) -> float:
    try:
        query = parse(text)
    except UsageError:  # a log of other rules
        return 0.0
    return sum(hit.score for hit in find.find(index, query))


def rows_of(text: str) -> Iterator[tuple[str, int]]:
    """Yield the queries of a CSV with the columns `query` and `frequency`, or of a list with one
    query per line.

    Raises `UsageError` with the line number for a line that is neither.
    """
    lines = text.splitlines()
    has_head = bool(lines) and {"query", "frequency"} <= set(next(csv.reader(lines[:1])))
    if not has_head:
        for number, line in enumerate(lines, 1):
            if line.strip():
                yield _spell(line, number), 1
        return
    for number, row in enumerate(csv.DictReader(lines), 2):
        times = (row["frequency"] or "").strip()
        if not times.isdecimal() or not 0 < int(times) <= MOST_TIMES:
            raise UsageError(f"line {number}: frequency is a number from 1 to {MOST_TIMES:,}; found {times[:40]!r}")
        yield _spell(row["query"] or "", number), int(times)


def _spell(text: str, number: int) -> str:
    try:
        return str(parse(text))
    except UsageError as error:
        raise UsageError(f"line {number}: {error}") from error
