"""The workload: what users search for, its weight, and how deep results are read (002 §3, §5.2).

Read from the log of searches; queries without a watched page are left out.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Final

from tidings.errors import UsageError
from tidings.record import dataclass
from tidings.search.query import parse
from tidings.search.query_log import knee, viewing_exponent
from tidings.storage.search import find

if TYPE_CHECKING:
    from tidings.model.interval import Instant
    from tidings.storage.search.index import SearchIndex
    from tidings.storage.search.log import LoggedQuery, SearchLog

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
