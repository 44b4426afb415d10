"""Hints that wait for a poll, the measured trust in their sources, and the keys of received
signals, so that each counts once.

Also subscriptions at hubs (W3C WebSub): a row for each page whose feed names one.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final, Literal, cast

from tidings.model.interval import Instant
from tidings.record import dataclass
from tidings.storage.db.connection import Connection, from_json, plain, to_json


@dataclass(frozen=True, slots=True)
class TrustRow:
    """The measured trust, as of `at`, in a `kind` of evidence from a host or about its pages; plain
    JSON.
    """

    host: str
    kind: str
    state: Mapping[str, Any]
    at: Instant


@dataclass(frozen=True, slots=True)
class HintRow:
    """The hints of a kind that are `waiting` for a poll of their page, each by its instant, and
    what polls showed of them, as of `at`.
    """

    page_id: int
    kind: str
    waiting: tuple[Instant, ...]
    state: Mapping[str, Any]
    at: Instant


LEFT: Final = "new:"
"""Begins the kinds of hints that the polling process has not taken over yet."""
MOST_LEFT: Final = 100
"""Most such hints of a kind for a page."""
_PUT_TRUST = (
    "INSERT INTO trust (host, kind, state, at) VALUES (:host, :kind, :state, :at)"
    " ON CONFLICT (host, kind) DO UPDATE SET state = excluded.state, at = excluded.at"
)
_PUT_HINT = (
    "INSERT INTO hint (page_id, kind, waiting, state, at) VALUES (:page_id, :kind, :waiting, :state, :at)"
    " ON CONFLICT (page_id, kind) DO UPDATE SET waiting = excluded.waiting, state = excluded.state, at = excluded.at"
)


def load(c: Connection) -> tuple[list[TrustRow], list[HintRow]]:
    """Return all rows on sources and pages."""
    sources = [
        TrustRow(host, kind, from_json(state), at)
        for host, kind, state, at in c.rows("SELECT host, kind, state, at FROM trust ORDER BY host, kind")
    ]
    return sources, _rows(c, "kind NOT LIKE 'new:%'")


def leave(c: Connection, page_ids: Iterable[int], kind: str, *, at: Instant, now: Instant) -> None:
    """Store a hint for the polling process, which takes it over at its next step (`list_left`).

    Args:
        page_ids: The pages.
        kind: The kind of hint.
        at: When the pages may have changed (µs).
        now: The present (µs).
    """
    name = f"{LEFT}{kind}"
    left = {(row.page_id, row.kind): row.waiting for row in list_left(c)}
    put(c, [], [HintRow(i, name, (*left.get((i, name), ()), at)[-MOST_LEFT:], {}, now) for i in page_ids])


def list_left(c: Connection) -> list[HintRow]:
    """Return the hints that other processes have stored for the polling one."""
    return _rows(c, "kind LIKE 'new:%'")


def take_left(c: Connection, rows: Iterable[HintRow]) -> None:
    """Delete hints that were taken over, unless more were added since they were read."""
    text = "DELETE FROM hint WHERE page_id = :page_id AND kind = :kind AND waiting = :waiting"
    c.many(text, [{"page_id": r.page_id, "kind": r.kind, "waiting": to_json(list(r.waiting))} for r in rows])


def _rows(c: Connection, condition: str) -> list[HintRow]:
    text = f"SELECT page_id, kind, waiting, state, at FROM hint WHERE {condition} ORDER BY page_id, kind"
    return [
        HintRow(page_id, kind, tuple(from_json(waiting)), from_json(state), at)
        for page_id, kind, waiting, state, at in c.rows(text)
    ]


def put(c: Connection, sources: Sequence[TrustRow], hints: Sequence[HintRow]) -> None:
    """Store rows on sources and pages."""
    c.many(
        _PUT_TRUST,
        [{"host": plain(r.host), "kind": r.kind, "state": to_json(dict(r.state)), "at": r.at} for r in sources],
    )
    c.many(
        _PUT_HINT,
        [
            {
                "page_id": r.page_id,
                "kind": r.kind,
                "waiting": to_json(list(r.waiting)),
                "state": to_json(dict(r.state)),
                "at": r.at,
            }
            for r in hints
        ],
    )


def drop(c: Connection, left: Sequence[tuple[int, str]]) -> None:
    """Delete hints of some kinds about some pages."""
    c.batch("DELETE FROM hint WHERE page_id = :page_id AND kind = :kind", left)


def find_taken(c: Connection, key: str) -> int | None:
    """Return how many pages the signal with this key concerned, None if no such signal was
    received.
    """
    found: int | None = c.value("SELECT pages FROM signal_key WHERE taken_key = :key", key=plain(key))
    return found


def note_key(c: Connection, key: str, *, pages: int, at: Instant, forget_before: Instant) -> None:
    """Store the key of a received signal, and delete older keys.

    Args:
        key: The key that came with the signal.
        pages: How many watched pages it concerned.
        at: When it was received (µs).
        forget_before: Keys received before this instant (µs) are deleted.
    """
    c.execute("DELETE FROM signal_key WHERE at < :before", before=forget_before)
    text = "INSERT INTO signal_key (taken_key, pages, at) VALUES (:key, :pages, :at)"
    c.execute(text, key=plain(key), pages=pages, at=at)


HubState = Literal["asked", "active", "refused", "leaving"]


@dataclass(frozen=True, slots=True)
class HubRow:
    """A subscription at a `hub` to the `topic` of a page. `token` is the unguessable part of the
    callback.

    `asked_at` is the last request to the hub, `until` the end of its lease, `due_at` the next
    request; `attempts` counts requests without a usable answer, `problem` is the last error (empty:
    none).
    """

    page_id: int
    hub: str
    topic: str
    token: str
    state: HubState
    asked_at: Instant | None = None
    until: Instant | None = None
    due_at: Instant | None = None
    attempts: int = 0
    problem: str = ""


_SELECT_HUBS = (
    "SELECT page_id, hub, topic, token, state, asked_at, until, due_at, attempts, problem FROM websub ORDER BY page_id"
)
_PUT_HUB = (
    "INSERT INTO websub (page_id, hub, topic, token, state, asked_at, until, due_at, attempts, problem)"
    " VALUES (:page_id, :hub, :topic, :token, :state, :asked_at, :until, :due_at, :attempts, :problem)"
    " ON CONFLICT (page_id) DO UPDATE SET hub = excluded.hub, topic = excluded.topic, token = excluded.token, state = excluded.state,"
    " asked_at = excluded.asked_at, until = excluded.until, due_at = excluded.due_at, attempts = excluded.attempts, problem = excluded.problem"
)


def list_hubs(c: Connection) -> list[HubRow]:
    """Return all rows, by page."""
    return [
        HubRow(page_id, hub, topic, token, cast("HubState", state), *rest)
        for page_id, hub, topic, token, state, *rest in c.rows(_SELECT_HUBS)
    ]


def put_hub(c: Connection, row: HubRow) -> None:
    """Store a row."""
    c.execute(
        _PUT_HUB,
        page_id=row.page_id,
        hub=plain(row.hub),
        topic=plain(row.topic),
        token=row.token,
        state=row.state,
        asked_at=row.asked_at,
        until=row.until,
        due_at=row.due_at,
        attempts=row.attempts,
        problem=plain(row.problem),
    )


def drop_hub(c: Connection, page_id: int) -> None:
    """Delete a row."""
    c.execute("DELETE FROM websub WHERE page_id = :page_id", page_id=page_id)
