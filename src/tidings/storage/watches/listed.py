"""Queries over several tables: sentinels for screens, pages in search results, whole tables for
exports, and counts for monitoring and for the weekly report.

Whole tables are read in pages of a few hundred rows, oldest first: an export never holds more than
one. `viewer` is the owner for whom it is (None: all); `names` narrow to sentinels (empty: all).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple

from tidings.model.interval import Instant
from tidings.record import dataclass
from tidings.storage.db.connection import Connection, pattern_of, select, to_json
from tidings.storage.watches.events import OWNER
from tidings.storage.watches.sentinels import OF_NAME, OF_TAG, restrict_to_viewer

if TYPE_CHECKING:
    from collections.abc import Iterable

LifeFilter = Literal["living", "paused", "ended", "all"]
Order = Literal["made", "name", "last"]
_STATES: Final = {
    "living": ("s.state <> 'ended'",),
    "paused": ("s.state = 'disabled'",),
    "ended": ("s.state = 'ended'",),
    "all": (),
}
_LAST: Final = (
    "(SELECT c.detected_at FROM change c WHERE c.sentinel_id = s.id AND c.quiet = 0 AND c.event_seq IS NOT NULL"
    " ORDER BY c.event_seq DESC LIMIT 1)"
)
_ORDERS: Final = {
    "made": "ORDER BY s.id",
    "name": "ORDER BY lower(s.name), s.id",
    "last": f"ORDER BY COALESCE({_LAST}, 0) DESC, s.id",
}
_NAMED: Final = (
    "(lower(s.name) LIKE :text ESCAPE '!' OR EXISTS (SELECT 1 FROM subscription u JOIN page p ON p.id = u.page_id"
    " WHERE u.sentinel_id = s.id AND u.left_at IS NULL AND lower(p.given) LIKE :text ESCAPE '!'))"
)


@dataclass(frozen=True, slots=True)
class TableRequest:
    """Which sentinels are asked for: their `tag`, a `text` in their name or an address, and what
    `viewer` sees (None: all).
    """

    lives: LifeFilter = "living"
    tag: str = ""
    text: str = ""
    order: Order = "made"
    viewer: int | None = None


def find_sentinels(c: Connection, wanted: TableRequest) -> list[tuple[int, str]]:
    """Return the id and name of each match, in the requested order."""
    conditions = [*_STATES[wanted.lives], *restrict_to_viewer(wanted.viewer)]
    given: dict[str, Any] = {} if wanted.viewer is None else {"viewer": wanted.viewer}
    if wanted.tag:
        conditions.append(OF_TAG)
        given["tag"] = wanted.tag
    if wanted.text:
        conditions.append(_NAMED)
        given["text"] = pattern_of(wanted.text)
    text = select("SELECT s.id, s.name FROM sentinel s", conditions, _ORDERS[wanted.order])
    return [(row[0], row[1]) for row in c.rows(text, **given)]


def list_last_changes(c: Connection) -> dict[int, Instant]:
    """Return when each sentinel last reported a change, those that never did left out."""
    rows = c.rows(f"SELECT s.id, {_LAST} FROM sentinel s")
    return {id_: at for id_, at in rows if at is not None}


def find_last_change(c: Connection, id: int) -> Instant | None:
    """Return when a sentinel last reported a change, None if it never did."""
    return c.value(f"SELECT {_LAST} FROM sentinel s WHERE s.id = :id", id=id)  # type: ignore[no-any-return]


def count_states(c: Connection, *, viewer: int | None) -> dict[str, int]:
    """Return how many sentinels that `viewer` sees are in each state."""
    text = select("SELECT s.state, count(*) FROM sentinel s", restrict_to_viewer(viewer), "GROUP BY s.state")
    return {row[0]: row[1] for row in c.rows(text, **({} if viewer is None else {"viewer": viewer}))}


def count_tags(c: Connection, *, viewer: int | None) -> dict[str, int]:
    """Return how many living sentinels that `viewer` sees have each tag, the most frequent
    first.
    """
    base = "SELECT t.name, count(*) FROM tag t JOIN sentinel s ON s.id = t.sentinel_id"
    conditions = ["s.state <> 'ended'", *restrict_to_viewer(viewer)]
    text = select(base, conditions, "GROUP BY t.name ORDER BY count(*) DESC, t.name")
    return {row[0]: row[1] for row in c.rows(text, **({} if viewer is None else {"viewer": viewer}))}


def tags_of(c: Connection, names: Iterable[str]) -> set[str]:
    """Return the tags of living sentinels by their names."""
    text = (
        "SELECT t.name FROM tag t JOIN sentinel s ON s.id = t.sentinel_id WHERE s.name = :name AND s.state <> 'ended'"
    )
    return {row[0] for name in names for row in c.rows(text, name=name)}


def count_pages(c: Connection, *, viewer: int | None) -> int:
    """Return how many pages the living sentinels that `viewer` sees watch, counted once per
    sentinel.
    """
    base = "SELECT count(*) FROM subscription u JOIN sentinel s ON s.id = u.sentinel_id"
    conditions = ["u.left_at IS NULL", "s.state <> 'ended'", *restrict_to_viewer(viewer)]
    return int(c.value(select(base, conditions), **({} if viewer is None else {"viewer": viewer})))


_SELECT = (
    "SELECT u.page_id, p.given, s.name FROM subscription u JOIN sentinel s ON s.id = u.sentinel_id"
    " JOIN page p ON p.id = u.page_id"
)
_LISTED = {
    "sqlite": "u.page_id IN (SELECT value FROM json_each(:pages))",
    "postgresql": "u.page_id IN (SELECT CAST(value AS BIGINT) FROM json_array_elements_text(CAST(:pages AS JSON)))",
}
_OPEN = "(p.owner_id IS NULL OR p.owner_id IN (:reader, :also))"
"""The condition that a page was fetched without a secret, or with one of the reader's own."""


@dataclass(frozen=True, slots=True)
class FindablePage:
    """A page that a reader may find: its address as given, and the sentinels that show it."""

    id: int
    url: str
    sentinels: tuple[str, ...]


def find_pages(
    c: Connection,
    page_ids: Sequence[int],
    *,
    viewer: int | None,
    reader: int,
    sentinel: str = "",
    tag: str = "",
    ended: bool = False,
) -> dict[int, FindablePage]:
    """Return those of the pages that a reader may find.

    Args:
        page_ids: The pages.
        viewer: The owner who asks, None for one who sees all.
        reader: The owner with whose secrets pages may be shown; one who sees all also sees those of
            the installation.
        sentinel: Only pages of the sentinel of this name; "" for any.
        tag: Only pages of sentinels with this tag; "" for any.
        ended: Whether ended sentinels, and pages that sentinels have left, count.
    """
    conditions = [_LISTED[c.dialect], _OPEN, *restrict_to_viewer(viewer)]
    given: dict[str, Any] = {"pages": to_json(list(page_ids)), "reader": reader}
    given["also"] = OWNER if viewer is None else reader
    if viewer is not None:
        given["viewer"] = viewer
    if not ended:
        conditions += ["u.left_at IS NULL", "s.state <> 'ended'"]
    if sentinel:
        conditions.append(OF_NAME)
        given["sentinel"] = sentinel
    if tag:
        conditions.append(OF_TAG)
        given["tag"] = tag
    urls: dict[int, str] = {}
    names: dict[int, dict[str, None]] = {}
    for page_id, url, name in c.rows(select(_SELECT, conditions, "ORDER BY u.id"), **given):
        urls[page_id] = url
        names.setdefault(page_id, {})[name] = None
    return {page_id: FindablePage(page_id, url, tuple(names[page_id])) for page_id, url in urls.items()}


Read = Callable[..., Any]
"""Runs a function of a connection in a transaction of its own."""
AT_ONCE: Final = 500
_CHANGES: Final = (
    "SELECT ch.detected_at, ch.id FROM change ch JOIN sentinel s ON s.id = ch.sentinel_id",
    "(ch.detected_at > :first OR (ch.detected_at = :first AND ch.id > :second))",
    "ORDER BY ch.detected_at, ch.id LIMIT :limit",
)
_POLLS: Final = (
    "SELECT poll.id, 0 FROM poll",
    "poll.id > :first AND poll.id > :second AND poll.outcome IS NOT NULL",
    "ORDER BY poll.id LIMIT :limit",
)
_VERSIONS: Final = (
    "SELECT version.page_id, version.seq FROM version",
    "(version.page_id > :first OR (version.page_id = :first AND version.seq < :second))",
    "ORDER BY version.page_id, version.seq DESC LIMIT :limit",
)


def change_keys(read: Read, viewer: int | None, names: Sequence[str]) -> Iterator[list[str]]:
    """Yield the ids of changes that were notified, some at a time."""
    for keys in _pages(read, _CHANGES, (-1, ""), ["ch.quiet = 0", *restrict_to_viewer(viewer)], viewer, names, "s"):
        yield [key for _, key in keys]


def poll_keys(read: Read, viewer: int | None, names: Sequence[str]) -> Iterator[list[int]]:
    """Yield the numbers of checks that have ended, some at a time."""
    for keys in _pages(read, _POLLS, (0, 0), [], viewer, names, "poll"):
        yield [key for key, _ in keys]


def version_keys(read: Read, viewer: int | None, names: Sequence[str]) -> Iterator[list[tuple[int, int]]]:
    """Yield (page, number) of stored versions, some at a time: page by page, the newest first,
    so that a body is restored from the one before it.
    """
    yield from _pages(read, _VERSIONS, (0, 2**62), [], viewer, names, "version")


def _pages(
    read: Read,
    query: tuple[str, str, str],
    first: tuple[Any, Any],
    conditions: Sequence[str],
    viewer: int | None,
    names: Sequence[str],
    table: str,
) -> Iterator[list[tuple[Any, Any]]]:
    base, after, tail = query
    wanted = [*conditions, after]
    if table == "s":
        wanted += [_match_names(names)] if names else []
    elif viewer is not None or names:
        inner = [
            f"u.page_id = {table}.page_id",
            *restrict_to_viewer(viewer),
            *([_match_names(names)] if names else []),
        ]
        seen = "SELECT 1 FROM subscription u JOIN sentinel s ON s.id = u.sentinel_id"
        wanted.append(f"EXISTS ({select(seen, inner)})")
    given: dict[str, Any] = {f"name{number}": name for number, name in enumerate(names)}
    given |= {} if viewer is None else {"viewer": viewer}
    text, key = select(base, wanted, tail), first
    while keys := read(_fetch, text, {**given, "first": key[0], "second": key[1], "limit": AT_ONCE}):
        yield keys
        key = keys[-1]


def _fetch(c: Connection, text: str, given: dict[str, Any]) -> list[tuple[Any, Any]]:
    return [(first, second) for first, second in c.rows(text, **given)]


def _match_names(names: Sequence[str]) -> str:
    marks = ", ".join(f":name{number}" for number in range(len(names)))
    return f"s.name IN ({marks})"


_COUNT_PAGES: Final = (
    "SELECT count(DISTINCT p.id) FROM page p JOIN subscription u ON u.page_id = p.id"
    " JOIN sentinel s ON s.id = u.sentinel_id"
    " WHERE u.active = 1 AND u.left_at IS NULL"
)
_OWN_PAGES: Final = f"{_COUNT_PAGES} AND s.owner_id = :owner"
_WEEK: Final = f"""SELECT
  ({_OWN_PAGES}),
  ({_OWN_PAGES} AND p.health = 'error'),
  (SELECT count(*) FROM change ch JOIN sentinel s ON s.id = ch.sentinel_id
    WHERE ch.detected_at >= :since AND ch.detected_at < :until AND ch.quiet = 0 AND s.owner_id = :owner),
  (SELECT count(*) FROM delivery d JOIN sentinel s ON s.id = d.sentinel_id
    WHERE d.status = 'dead' AND d.finished_at >= :since AND d.finished_at < :until AND s.owner_id = :owner)"""
_POLLS_BETWEEN: Final = """SELECT count(*), sum(CASE WHEN outcome = 'error' THEN 1 ELSE 0 END) FROM poll
  WHERE finished_at >= :since AND finished_at < :until AND page_id IN
    (SELECT u.page_id FROM subscription u JOIN sentinel s ON s.id = u.sentinel_id WHERE s.owner_id = :owner)"""


class Now(NamedTuple):
    """The numbers of watched pages, of failing ones, and of waiting deliveries."""

    pages: int
    in_error: int
    pending: int


class WeekFigures(NamedTuple):
    """The numbers of an owner's pages, of failing ones, and of the changes, dead letters and polls
    of a period.
    """

    pages: int
    in_error: int
    changes: int
    given_up: int
    polls: int
    failed: int


def count_now(c: Connection) -> Now:
    """Return the current numbers."""
    pages, in_error = c.value(_COUNT_PAGES), c.value(f"{_COUNT_PAGES} AND p.health = 'error'")
    return Now(pages, in_error, c.value("SELECT count(*) FROM delivery WHERE status = 'waiting'"))


def count_between(c: Connection, owner_id: int, since: Instant, until: Instant) -> WeekFigures:
    """Return the figures of an owner for [since, until) (µs).

    Args:
        owner_id: The owner.
        since: The first instant.
        until: The first instant after the period.
    """
    polls, failed = c.one(_POLLS_BETWEEN, owner=owner_id, since=since, until=until) or (0, 0)
    pages, in_error, found, dead = c.one(_WEEK, owner=owner_id, since=since, until=until) or (0, 0, 0, 0)
    return WeekFigures(pages, in_error, found, dead, polls, int(failed or 0))
