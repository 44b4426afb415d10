"""Answer search queries: what the user may see, and what is shown: results, snippets, facets.

A page is visible to users who see a sentinel that watches it; one fetched with a secret or a login
only to the owner of these, and with the installation's own to those who see everything. Invisible
pages are not counted either.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from tidings.clock import DAY
from tidings.record import dataclass, replace
from tidings.search import snippets
from tidings.search.query import (
    FILTERS,
    Phrase,
    Query,
    check_kind,
    count_errors,
    find_similar,
    holds,
    is_of_site,
    parse,
    places_that_matter,
    replace_term,
)
from tidings.search.ranking import bm25
from tidings.service.show.records import rfc3339
from tidings.storage.observed import indexed
from tidings.storage.search import find
from tidings.storage.watches import listed

if TYPE_CHECKING:
    from tidings.model.interval import Instant
    from tidings.search.snippets import Stretch
    from tidings.storage.db.connection import Connection
    from tidings.storage.search.find import FoundText, Hit
    from tidings.storage.search.index import SearchIndex
    from tidings.storage.watches.listed import FindablePage
    from tidings.storage.write.store import Store

RESCORED: Final = 100
"""Texts of a past day that are scored together with present ones, on one scale."""
TIMES: Final[Mapping[str, int]] = {"today": DAY, "7 days": 7 * DAY, "30 days": 30 * DAY, "365 days": 365 * DAY}
"""The time facets: since when a page has its text."""
MOST_FACETS: Final = 12
MOST_CORRECTED: Final = 2
"""Words of a query for which others are tried: each takes a pass over all terms."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchRequest:
    """A query: words and filters; an empty field filters nothing.

    `at` is a past date, `changed_since` the earliest instant of the change, both in µs. `viewer` is
    the querying owner, None for one who sees everything; `reader` the owner whose secret pages are
    shown.
    """

    text: str
    site: str = ""
    sentinel: str = ""
    tag: str = ""
    kind: str = ""
    at: Instant | None = None
    changed_since: Instant | None = None
    viewer: int | None = None
    reader: int = 1
    limit: int = 20
    offset: int = 0


@dataclass(frozen=True, slots=True)
class Result:
    """A matching page, with the matching version and what of it is shown; `rank` counts from 1."""

    rank: int
    page: FindablePage
    hit: Hit
    text: FoundText
    title: Sequence[Stretch]
    snippet: Sequence[Stretch]


@dataclass(frozen=True, slots=True)
class SearchAnswer:
    """The answer: the total, the shown part, and counts by site, time and kind."""

    query: Query
    count: int
    results: Sequence[Result]
    sites: Sequence[tuple[str, int]] = ()
    times: Sequence[tuple[str, int]] = ()
    kinds: Sequence[tuple[str, int]] = ()
    suggested: str = ""
    """A query that finds something, where this one finds nothing: a word is spelled otherwise."""


async def ask(store: Store, index: SearchIndex, wanted: SearchRequest, *, now: Instant) -> SearchAnswer:
    """Return the answer of the index. Raises `UsageError` for an empty query,
    or an unknown kind.

    Args:
        store: Reads the database.
        index: The index.
        wanted: The query and its user.
        now: The present (µs), for the time facets.
    """
    query = parse(wanted.text)
    check_kind(wanted.kind)
    hits, seen = await _find(store, index, query, wanted)
    suggested = "" if hits else await _suggest(store, index, query, wanted)
    shown = await asyncio.to_thread(_show, index, query, hits, seen, wanted)
    sites = Counter(hit.host for hit in hits).most_common(MOST_FACETS)
    times = [(name, sum(hit.seq > 1 and now - hit.since <= age for hit in hits)) for name, age in TIMES.items()]
    kinds = Counter(hit.kind for hit in hits).most_common()
    return SearchAnswer(query, len(hits), shown, sites, times, kinds, suggested)


async def _find(
    store: Store, index: SearchIndex, query: Query, wanted: SearchRequest
) -> tuple[list[Hit], dict[int, FindablePage]]:
    """Return what matches a query and may be seen."""
    given = {**query.filters, **{name: value for name in FILTERS if (value := getattr(wanted, name))}}
    hits = await asyncio.to_thread(find.find, index, query, at=wanted.at, changed_since=wanted.changed_since)
    hits = [
        hit for hit in hits
        if ("site" not in given or is_of_site(hit.host, given["site"])) and given.get("kind", hit.kind) == hit.kind
    ]  # fmt: skip
    seen = await store.read(_list_visible, sorted({hit.page_id for hit in hits}), wanted, given)
    return [hit for hit in hits if hit.page_id in seen], seen


async def _suggest(store: Store, index: SearchIndex, query: Query, wanted: SearchRequest) -> str:
    """Return the query with one word spelled otherwise that finds a page which may be seen, "" if
    there is none. A word that a visible page has is not taken for misspelled.
    """
    tried_terms = 0
    for term in query.terms:
        errors = count_errors(term)
        alone = replace(query, groups=((Phrase((term,)),),), without=())
        if not errors or tried_terms == MOST_CORRECTED or (await _find(store, index, alone, wanted))[0]:
            continue
        tried_terms += 1
        known = await asyncio.to_thread(find.list_terms, index, least=len(term) - errors, most=len(term) + errors)
        for other in await asyncio.to_thread(find_similar, term, known):
            tried = replace_term(query, term, other)
            if (await _find(store, index, tried, wanted))[0]:
                filters = (
                    f'{name}:"{value}"' if " " in value else f"{name}:{value}" for name, value in query.filters.items()
                )
                return " ".join([str(tried), *filters])
    return ""


async def behind(store: Store, index: SearchIndex) -> int:
    """Return how many stored versions are not in the index yet."""
    return await store.read(indexed.count_behind, *await asyncio.to_thread(index.progress))


def _list_visible(
    c: Connection, page_ids: Sequence[int], wanted: SearchRequest, given: Mapping[str, str]
) -> dict[int, FindablePage]:
    return listed.find_pages(
        c,
        page_ids,
        viewer=wanted.viewer,
        reader=wanted.reader,
        sentinel=given.get("sentinel", ""),
        tag=given.get("tag", ""),
        ended=wanted.at is not None,
    )


def _show(
    index: SearchIndex, query: Query, hits: Sequence[Hit], seen: Mapping[int, FindablePage], wanted: SearchRequest
) -> list[Result]:
    if wanted.at is not None and wanted.offset < RESCORED:
        hits = _weigh(index, query, hits)
    part = hits[wanted.offset : wanted.offset + wanted.limit]
    texts = find.texts(index, [hit.id for hit in part])
    return [
        Result(
            wanted.offset + number,
            seen[hit.page_id],
            hit,
            texts[hit.id],
            snippets.mark(texts[hit.id].title or texts[hit.id].address, query.phrases),
            snippets.snippet(texts[hit.id].text, query.phrases),
        )
        for number, hit in enumerate(part, 1)
        if hit.id in texts
    ]


def _weigh(index: SearchIndex, query: Query, hits: Sequence[Hit]) -> list[Hit]:
    """Return texts of a past day on one scale: present and former texts were scored separately."""
    known = find.statistics(index, query.phrases)
    first, rest = hits[:RESCORED], hits[RESCORED:]
    texts = find.texts(index, [hit.id for hit in first])
    weighed = [
        hit._replace(score=bm25(counts_of(texts[hit.id], query.phrases), texts[hit.id].length, known))
        for hit in first
        if hit.id in texts
    ]
    return [*sorted(weighed, key=lambda hit: -hit.score), *rest]


def counts_of(text: FoundText, phrases: Sequence[Phrase]) -> dict[str, float]:
    """Return how often phrases occur in a text, weighted by title and address."""
    fields = ((find.TITLE, text.title), (1.0, text.text), (find.ADDRESS, text.address))
    terms = [(weight, [term for _, _, term in places_that_matter(field, phrases)]) for weight, field in fields]
    return {str(phrase): sum(weight * holds(phrase, field) for weight, field in terms) for phrase in phrases}


def record(result: Result) -> dict[str, Any]:
    """Return a result as a JSON record.

    It has no score, which would reveal how many pages of others contain a word.
    """
    hit, text = result.hit, result.text
    return {
        "record": "result",
        "rank": result.rank,
        "page": str(hit.page_id),
        "url": result.page.url,
        "title": text.title,
        "kind": hit.kind,
        "version": f"{hit.page_id}.{hit.seq}",
        "since": rfc3339(hit.since),
        "until": rfc3339(text.until),
        "sentinels": list(result.page.sentinels),
        "snippet": "".join(piece for piece, _ in result.snippet),
        "marks": _marks(result.snippet),
    }


def _marks(stretches: Sequence[Stretch]) -> list[list[int]]:
    """Return the matched ranges of a snippet: start and end, in characters."""
    marks, at = [], 0
    for piece, is_hit in stretches:
        if is_hit:
            marks.append([at, at + len(piece)])
        at += len(piece)
    return marks
