"""What collections have found: one row an address of a collection, whatever became of it; and one
row a collection: when its list of pages was published.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Literal, NamedTuple

from tidings.model.interval import Instant
from tidings.record import dataclass
from tidings.storage.db.connection import Connection, pattern_of, plain

PageState = Literal["found", "watched", "gone", "left"]
"""`found`: not asked for yet; `watched`: a page of the collection; `gone`: it was one; `left`: left
out, with a reason.
"""

_COLUMNS = (
    "url, page_id, depth, kind, state, reason, anchor, title, sketch, found_on, found_at, is_news,"
    " is_listed, read_seq, yielded, since, retry_at, tries"
)
_ADD = (
    "INSERT INTO collection_page"
    " (sentinel_id, url, depth, kind, state, reason, anchor, found_on, found_at, is_news, since)"
    " VALUES (:sentinel_id, :url, :depth, :kind, :state, :reason, :anchor, :found_on, :at, :is_news, :at)"
    " ON CONFLICT (sentinel_id, url) DO NOTHING"
)
_COUNT = "SELECT state, count(*) FROM collection_page WHERE sentinel_id = :id AND kind = 'page' GROUP BY state"
_REASONS = (
    "SELECT reason, count(*) FROM collection_page WHERE sentinel_id = :id AND state = 'left'"
    " GROUP BY reason ORDER BY count(*) DESC, reason"
)
_LISTED = (
    "SELECT c.url, COALESCE(NULLIF(p.title, ''), c.title, '')"
    " FROM collection_page c LEFT JOIN page p ON p.id = c.page_id"
    " WHERE c.sentinel_id = :id AND c.is_listed = 1 ORDER BY c.url"
)
_READ_IN_VAIN = (
    "SELECT count(*) > 0 AND 0 = sum(CASE WHEN (tries = 0 OR read_seq <> 0) AND (state = 'found'"
    " OR (state = 'watched' AND (read_seq = 0 OR tries > 0)) OR (depth > 0 AND kind = 'page' AND state <> 'left'))"
    " THEN 1 ELSE 0 END) FROM collection_page WHERE sentinel_id = :id"
)
_PUBLISH = (
    "UPDATE collection_page SET is_listed = CASE WHEN state = 'watched' AND tries = 0 THEN 1 ELSE 0 END"
    " WHERE sentinel_id = :id AND kind = 'page' AND (read_seq <> 0 OR is_listed = 1)"
)
_STAND = "SELECT revision, news_at, quiet_at FROM collection WHERE sentinel_id = :id"
_NOTE = (
    "INSERT INTO collection (sentinel_id, {name}) VALUES (:id, :value)"
    " ON CONFLICT (sentinel_id) DO UPDATE SET {name} = excluded.{name}"
)
_BRING_BACK = (
    "UPDATE collection_page SET state = 'found', reason = '', retry_at = NULL, since = :at,"
    " is_news = CASE WHEN state = 'gone' THEN 1 ELSE is_news END WHERE sentinel_id = :id AND url = :url"
)
_FETCHED = (
    "SELECT c.url, c.title, p.id, p.checked_at, p.changed_at, p.changes, p.health, c.found_at"
    " FROM collection_page c JOIN page p ON p.id = c.page_id"
    " WHERE c.sentinel_id = :id AND c.state = 'watched' AND c.kind = 'page'"
)


@dataclass(frozen=True, slots=True)
class CollectedPage:
    """An address of a collection. `kind` is `page` or `map`, a sitemap or feed; `anchor` is the
    text of the link that named it, `sketch` what near-equal pages have alike; it was found on the
    page `found_on`.

    `is_news`: it came after the page that names it was known, `is_listed`: it is in the list of
    pages. `read_seq` is the newest version whose links were read, negative if they are to be read
    once more, and then bring no news; `yielded` how many addresses its
    versions after the first named first.

    It is in its state, or read, `since` then. One that failed `tries` times in a row is requested
    again at `retry_at`; None: it is not.
    """

    url: str
    page_id: int | None
    depth: int
    kind: str
    state: PageState
    reason: str
    anchor: str
    title: str
    sketch: str
    found_on: int | None
    found_at: Instant
    is_news: bool
    is_listed: bool
    read_seq: int
    yielded: int
    since: Instant = 0
    retry_at: Instant | None = None
    tries: int = 0


class FoundAddress(NamedTuple):
    """An address as it was found; see `CollectedPage`."""

    url: str
    depth: int
    kind: str = "page"
    state: PageState = "found"
    reason: str = ""
    anchor: str = ""
    found_on: int | None = None
    is_news: bool = False


class CollectionStand(NamedTuple):
    """The `revision` of a collection for which its addresses stand, and when its list of pages was
    published with what came and went, and otherwise (µs; 0: never).
    """

    revision: int = 1
    news_at: Instant = 0
    quiet_at: Instant = 0


class CollectionPage(NamedTuple):
    """A watched page of a collection, as lists show it."""

    url: str
    title: str
    page_id: int
    checked_at: Instant | None
    changed_at: Instant | None
    changes: int
    health: str
    found_at: Instant


def listing(c: Connection, sentinel_id: int) -> list[CollectedPage]:
    """Return all addresses of a collection."""
    rows = c.rows(
        f"SELECT {_COLUMNS} FROM collection_page WHERE sentinel_id = :id ORDER BY found_at, url", id=sentinel_id
    )
    return [_to_row(*row) for row in rows]


def add(c: Connection, sentinel_id: int, found: Iterable[FoundAddress], *, at: Instant) -> None:
    """Write addresses that were found; one that is known stays as it is.

    Args:
        sentinel_id: The collection.
        found: The addresses, each with where it was found.
        at: When they were found (µs).
    """
    c.many(
        _ADD,
        [
            {
                **one._asdict(),
                "url": plain(one.url),
                "anchor": plain(one.anchor),
                "is_news": int(one.is_news),
                "sentinel_id": sentinel_id,
                "at": at,
            }
            for one in found
        ],
    )


def watch(c: Connection, sentinel_id: int, url: str, page_id: int, *, at: Instant) -> None:
    """Note that an address is watched, by its page.

    Args:
        sentinel_id: The collection.
        url: The address.
        page_id: Its page.
        at: Since when (µs).
    """
    text = (
        "UPDATE collection_page SET state = 'watched', reason = '', page_id = :page_id, since = :at, retry_at = NULL"
        " WHERE sentinel_id = :id AND url = :url"
    )
    c.execute(text, id=sentinel_id, url=url, page_id=page_id, at=at)


def leave(c: Connection, sentinel_id: int, page: CollectedPage) -> None:
    """Write that an address is not watched (any more): state, reason, and when it is requested
    again.
    """
    text = (
        "UPDATE collection_page SET state = :state, reason = :reason, since = :since, retry_at = :retry_at,"
        " tries = :tries WHERE sentinel_id = :id AND url = :url"
    )
    c.execute(
        text,
        id=sentinel_id,
        url=page.url,
        state=page.state,
        reason=page.reason,
        since=page.since,
        retry_at=page.retry_at,
        tries=page.tries,
    )


def draw_nearer(c: Connection, sentinel_id: int, urls: Iterable[str], depth: int) -> None:
    """Write that addresses are fewer links away than was known: they are read again.

    Args:
        sentinel_id: The collection.
        urls: The addresses.
        depth: How many links they are away.
    """
    text = "UPDATE collection_page SET depth = :depth, read_seq = -abs(read_seq) WHERE sentinel_id = :id AND url = :url"
    c.many(text, [{"id": sentinel_id, "url": url, "depth": depth} for url in urls])


def bring_back(c: Connection, sentinel_id: int, urls: Iterable[str], *, at: Instant) -> None:
    """Let addresses that were left wait for a request again. One that was a page is news if it is
    one again.

    Args:
        sentinel_id: The collection.
        urls: The addresses.
        at: When (µs).
    """
    c.many(_BRING_BACK, [{"id": sentinel_id, "url": url, "at": at} for url in urls])


def note_read(c: Connection, sentinel_id: int, page: CollectedPage) -> None:
    """Write what was read of a page: title, sketch, kind, `read_seq`, `yielded`, `since`; it has
    not failed.
    """
    c.execute(
        "UPDATE collection_page SET title = :title, sketch = :sketch, kind = :kind, read_seq = :read_seq,"
        " yielded = :yielded, since = :since, tries = 0, reason = ''"
        " WHERE sentinel_id = :id AND url = :url",
        id=sentinel_id,
        url=page.url,
        title=plain(page.title),
        sketch=page.sketch,
        kind=page.kind,
        read_seq=page.read_seq,
        yielded=page.yielded,
        since=page.since,
    )


def count(c: Connection, sentinel_id: int) -> dict[str, int]:
    """Return how many pages of a collection are in each state, without sitemaps and feeds."""
    return dict(c.rows(_COUNT, id=sentinel_id))


def count_reasons(c: Connection, sentinel_id: int) -> list[tuple[str, int]]:
    """Return why addresses were left out, and how many for each reason, the most first."""
    return list(c.rows(_REASONS, id=sentinel_id))


def list_published(c: Connection, sentinel_id: int) -> list[tuple[str, str]]:
    """Return the list of pages of a collection, as it was published: (address, title)."""
    return list(c.rows(_LISTED, id=sentinel_id))


def is_read_in_vain(c: Connection, sentinel_id: int) -> bool:
    """Return whether all addresses of a collection were read, and none but its first pages is a
    page of it.
    """
    return bool(c.value(_READ_IN_VAIN, id=sentinel_id))


def read_again(c: Connection, sentinel_id: int) -> None:
    """Let all pages of a collection be read once more for what they name, which is no news."""
    c.execute("UPDATE collection_page SET read_seq = -abs(read_seq) WHERE sentinel_id = :id", id=sentinel_id)


def unlist(c: Connection, sentinel_id: int, reason: str, *, at: Instant) -> None:
    """Take addresses that were left for a reason out of the list of pages, which is published.

    Args:
        sentinel_id: The collection.
        reason: Why they were left.
        at: When (µs).
    """
    text = "UPDATE collection_page SET is_listed = 0 WHERE sentinel_id = :id AND state = 'left' AND reason = :reason"
    c.execute(text, id=sentinel_id, reason=reason)
    c.execute(_NOTE.format(name="quiet_at"), id=sentinel_id, value=at)


def stand(c: Connection, sentinel_id: int) -> CollectionStand:
    """Return how a collection stands."""
    row = c.one(_STAND, id=sentinel_id)
    return CollectionStand() if row is None else CollectionStand(*row)


def note_revision(c: Connection, sentinel_id: int, revision: int) -> None:
    """Note for which revision of a collection its addresses stand."""
    c.execute(_NOTE.format(name="revision"), id=sentinel_id, value=revision)


def publish(c: Connection, sentinel_id: int, *, news: bool, at: Instant) -> None:
    """Let the list of pages be as the collection is now; with `news` only by what came and went.

    Args:
        sentinel_id: The collection.
        news: Whether only what came and went is published.
        at: When (µs).
    """
    c.execute(f"{_PUBLISH}{' AND (is_news = 1 OR is_listed = 1)' if news else ''}", id=sentinel_id)
    c.execute(_NOTE.format(name="news_at" if news else "quiet_at"), id=sentinel_id, value=at)


def list_watched(
    c: Connection, sentinel_id: int, *, text: str = "", limit: int, offset: int = 0
) -> list[CollectionPage]:
    """Return watched pages of a collection, those that changed last first.

    Args:
        sentinel_id: The collection.
        text: What stands in address or title, "" for all.
        limit: How many at most.
        offset: How many of them are left out.
    """
    narrowed = " AND (lower(c.url) LIKE :text ESCAPE '!' OR lower(c.title) LIKE :text ESCAPE '!')" if text else ""
    order = " ORDER BY COALESCE(p.changed_at, 0) DESC, c.url LIMIT :limit OFFSET :offset"
    given = {"text": pattern_of(text)} if text else {}
    rows = c.rows(_FETCHED + narrowed + order, id=sentinel_id, limit=limit, offset=offset, **given)
    return [CollectionPage(*row) for row in rows]


def _to_row(*columns: Any) -> CollectedPage:
    values: list[Any] = [*columns]
    values[11:13] = map(bool, columns[11:13])
    return CollectedPage(*values)
