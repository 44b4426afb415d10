"""Query the index: matching texts, their scores, and statistics of the terms."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from tidings.record import dataclass
from tidings.search.ranking import Statistics
from tidings.zstd import decompress

if TYPE_CHECKING:
    from tidings.model.interval import Instant
    from tidings.search.query import Phrase, Query
    from tidings.storage.search.index import SearchIndex

TITLE: Final = 4.0
ADDRESS: Final = 2.0
"""The weight of a term in the title, and of one in the address, against one in the text."""
_SCORED: Final = (
    "SELECT rowid AS id, bm25({table}, :title, 1.0, :address) AS score FROM {table} WHERE {table} MATCH :match"
)
_COLUMNS: Final = "SELECT d.id, d.page_id, -f.score, d.since, d.host, d.kind, d.seq, d.until IS NULL"
_NOW: Final = (
    f"{_COLUMNS} FROM ({_SCORED.format(table='newest')}) f JOIN doc d ON d.id = f.id"
    " WHERE (:since IS NULL OR (d.since >= :since AND d.seq > 1)) ORDER BY f.score, d.since DESC, d.id"
)
_THEN: Final = (
    f"{_COLUMNS} FROM ({_SCORED.format(table='newest')} UNION ALL {_SCORED.format(table='past')}) f"
    " JOIN doc d ON d.id = f.id WHERE d.since <= :at AND (d.until IS NULL OR d.until > :at)"
    " AND (:since IS NULL OR (d.since >= :since AND d.seq > 1)) ORDER BY f.score, d.since DESC, d.id"
)


class Hit(NamedTuple):
    """A matching text: its number, its page, its score (greater is better), since when the page has
    it (µs).
    """

    id: int
    page_id: int
    score: float
    since: Instant
    host: str
    kind: str
    seq: int
    is_newest: bool


@dataclass(frozen=True, slots=True)
class FoundText:
    """A text of the index."""

    title: str
    address: str
    text: str
    length: int
    until: Instant | None


def find(
    index: SearchIndex, query: Query, *, at: Instant | None = None, changed_since: Instant | None = None
) -> list[Hit]:
    """Return the matching texts, the best first.

    Args:
        index: The index.
        query: The query; its filters are ignored here.
        at: The texts that pages had at this instant (µs); None: those they have now.
        changed_since: Only texts that replaced others at this instant (µs) or later; None: any.
    """
    given = {"match": match_of(query), "title": TITLE, "address": ADDRESS, "since": changed_since}
    with index.reading() as run:
        rows = run(_NOW, given) if at is None else run(_THEN, {**given, "at": at})
        return [Hit(*row) for row in rows.fetchall()]


def texts(index: SearchIndex, ids: Collection[int]) -> Mapping[int, FoundText]:
    """Return texts by their numbers; deleted ones are left out."""
    found: dict[int, FoundText] = {}
    with index.reading() as run:
        for id_ in ids:
            row = run("SELECT title, address, text, length, until FROM doc WHERE id = ?", (id_,)).fetchone()
            if row is not None:
                title, address, text, length, until = row
                found[id_] = FoundText(title, address, decompress(text).decode(), length, until)
    return found


def statistics(index: SearchIndex, phrases: Sequence[Phrase]) -> Statistics:
    """Return statistics of the current texts, and how many of them contain each phrase."""
    with index.reading() as run:
        documents, length = run("SELECT count(*), avg(length) FROM doc WHERE until IS NULL").fetchone()
        return Statistics(documents, length or 0.0, {str(phrase): _frequency(run, phrase) for phrase in phrases})


def list_terms(index: SearchIndex, *, least: int, most: int) -> list[tuple[str, int]]:
    """Return the terms of the current texts that have `least` to `most` letters, and in how many
    texts each is.
    """
    with index.reading() as run:
        wanted = "SELECT term, doc FROM newest_term WHERE length(term) BETWEEN ? AND ?"
        found: list[tuple[str, int]] = run(wanted, (least, most)).fetchall()
        return found


def _frequency(run: Any, phrase: Phrase) -> int:
    if len(phrase.terms) == 1 and not phrase.is_prefix:
        row = run("SELECT doc FROM newest_term WHERE term = ?", phrase.terms).fetchone()
        return 0 if row is None else int(row[0])
    match = {"match": _quote(phrase)}
    return int(run("SELECT count(*) FROM newest WHERE newest MATCH :match", match).fetchone()[0])


def match_of(query: Query) -> str:
    """Return a query in FTS5 syntax."""
    wanted = " AND ".join(f"({' OR '.join(map(_quote, group))})" for group in query.groups)
    without = " OR ".join(map(_quote, query.without))
    return f"({wanted}) NOT ({without})" if without else wanted


def _quote(phrase: Phrase) -> str:
    phrase_text = " ".join(phrase.terms).replace('"', '""')
    return f'"{phrase_text}"{" *" if phrase.is_prefix else ""}'
