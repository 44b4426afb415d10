"""Deliveries: the outbox. A row keeps its id and its bytes over all attempts (trust.md I-3)."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from tidings.errors import UnitError, UnknownNameError
from tidings.model.interval import Instant
from tidings.model.unit import DeliveryDraft, DeliveryResult
from tidings.storage.connection import UNLIMITED, Connection, select
from tidings.storage.instance import Instance
from tidings.storage.values import plain

DeliveryStatus = Literal["waiting", "delivered", "dead"]


@dataclass(frozen=True, slots=True)
class DeliveryRow:
    """A delivery with its endpoint; `attempt` counts those made, `due_at` is when a waiting one is tried (again)."""

    id: str
    endpoint_id: int
    kind: str
    address: str
    sentinel_id: int
    sentinel: str
    first_seq: int
    last_seq: int
    changes: int
    subject: str
    content_type: str
    body: bytes
    status: DeliveryStatus
    attempt: int
    due_at: Instant
    created_at: Instant
    finished_at: Instant | None
    error: str
    failing_since: Instant | None


_SELECT = (
    "SELECT d.id, d.endpoint_id, e.kind, e.address, d.sentinel_id, s.name, d.first_seq, d.last_seq, d.changes, d.subject, d.content_type,"
    " d.body, d.status, d.attempt, d.due_at, d.created_at, d.finished_at, d.error, e.failing_since"
    " FROM delivery d JOIN endpoint e ON e.id = d.endpoint_id JOIN sentinel s ON s.id = d.sentinel_id"
)
_INSERT = (
    "INSERT INTO delivery (id, endpoint_id, sentinel_id, first_seq, last_seq, changes, subject, content_type, body, status, due_at, created_at)"
    " VALUES (:id, :endpoint_id, :sentinel_id, :first_seq, :last_seq, :changes, :subject, :content_type, :body, 'waiting', :due_at, :at)"
    " ON CONFLICT (id) DO NOTHING"
)
_RESULT = (
    "UPDATE delivery SET status = :status, attempt = :attempt, due_at = COALESCE(:due_at, due_at), finished_at = :finished_at,"
    " error = :error WHERE id = :id"
)
_LAID_OUT = "SELECT id, finished_at FROM delivery"
_WAITING = "FROM delivery d JOIN endpoint e ON e.id = d.endpoint_id WHERE d.status = 'waiting' AND e.enabled = 1"


def delivery_id(instance: Instance, draft: DeliveryDraft, first_seq: int, last_seq: int) -> str:
    """Return the id that a delivery has wherever and however often it is made (contracts.md §3)."""
    parts = (instance.id, instance.restore_epoch, draft.endpoint_id, draft.sentinel_id, first_seq, last_seq)
    return hashlib.sha256("\0".join(map(str, parts)).encode()).hexdigest()[:32]


def due(c: Connection, *, now: Instant, limit: int | None = None) -> list[DeliveryRow]:
    """Return waiting deliveries of enabled endpoints whose time has come, the longest due first."""
    conditions = ("d.status = 'waiting'", "d.due_at <= :now", "e.enabled = 1")
    text = select(_SELECT, conditions, "ORDER BY d.due_at, d.last_seq LIMIT :limit")
    return [_to_row(row) for row in c.rows(text, now=now, limit=UNLIMITED if limit is None else limit)]


def first_due(c: Connection, *, now: Instant) -> list[DeliveryRow]:
    """Return of each endpoint that is on the delivery that is due first: however much waits for one, no other waits behind it."""
    ranked = (
        "SELECT id, ROW_NUMBER() OVER (PARTITION BY endpoint_id ORDER BY due_at, last_seq, id) AS place FROM delivery"
        " WHERE status = 'waiting' AND due_at <= :now"
    )
    conditions = (f"d.id IN (SELECT id FROM ({ranked}) ranked WHERE place = 1)", "e.enabled = 1")
    return [_to_row(row) for row in c.rows(select(_SELECT, conditions, "ORDER BY d.due_at, d.last_seq"), now=now)]


def next_due(c: Connection) -> Instant | None:
    """Return when the next waiting delivery of an enabled endpoint is due, or None."""
    found: Instant | None = c.value(f"SELECT min(d.due_at) {_WAITING}")
    return found


def listing(
    c: Connection, *, dead: bool = False, sentinel: str | None = None, limit: int | None = None
) -> list[DeliveryRow]:
    """Return deliveries, newest first; with `dead` only dead letters."""
    given: dict[str, Any] = {"limit": UNLIMITED if limit is None else limit}
    conditions = ["d.status = 'dead'"] if dead else []
    if sentinel is not None:
        conditions.append("s.name = :sentinel")
        given["sentinel"] = sentinel
    text = select(_SELECT, conditions, "ORDER BY d.created_at DESC, d.last_seq DESC, d.id LIMIT :limit")
    return [_to_row(row) for row in c.rows(text, **given)]


def get(c: Connection, id: str) -> DeliveryRow | None:  # noqa: A002
    """Return delivery `id`, or None."""
    row = c.one(f"{_SELECT} WHERE d.id = :id", id=id)
    return None if row is None else _to_row(row)


def laid_out(
    c: Connection, endpoint_id: int, *, sentinel_id: int | None = None, limit: int
) -> list[tuple[str, Instant]]:
    """Return (id, delivered at) of what an endpoint took, of one sentinel or of all, newest first."""
    given: dict[str, Any] = {"endpoint_id": endpoint_id, "limit": limit}
    conditions = ["endpoint_id = :endpoint_id", "finished_at IS NOT NULL"]
    if sentinel_id is not None:
        conditions.append("sentinel_id = :sentinel_id")
        given["sentinel_id"] = sentinel_id
    text = select(_LAID_OUT, conditions, "ORDER BY finished_at DESC, id LIMIT :limit")
    return [(id_, at) for id_, at in c.rows(text, **given)]


def bodies(c: Connection, ids: Iterable[str]) -> dict[str, bytes]:
    """Return the bytes of deliveries by their ids; unknown ones are left out."""
    found = ((id_, c.value("SELECT body FROM delivery WHERE id = :id", id=id_)) for id_ in dict.fromkeys(ids))
    return {id_: bytes(body) for id_, body in found if body is not None}


def replay(c: Connection, id: str, at: Instant) -> DeliveryRow:  # noqa: A002
    """Let a delivery wait again, due at `at`, its attempts counted anew: same id, same bytes. Of its id the beginning is enough.

    Raises `UnknownNameError` if there is no such delivery, or several begin so.
    """
    found = c.rows("SELECT id FROM delivery WHERE substr(id, 1, :n) = :id LIMIT 2", id=id, n=len(id)) if id else []
    if len(found) > 1:
        raise UnknownNameError(f"several deliveries begin with {id}; `tidings deliveries --json` shows whole ids")
    id = found[0][0] if found else id  # noqa: A001
    text = "UPDATE delivery SET status = 'waiting', attempt = 0, due_at = :at, finished_at = NULL, error = '' WHERE id = :id"
    if not c.execute(text, id=id, at=at):
        raise UnknownNameError(f"there is no delivery {id}; `tidings deliveries` lists them")
    row = get(c, id)
    assert row is not None  # noqa: S101 the update has found it
    # Who asks for it again wants the endpoint asked again, too, if its failures had switched it off.
    c.execute(
        "UPDATE endpoint SET enabled = 1, failing_since = NULL, reason = '' WHERE enabled = 0 AND id ="
        " (SELECT endpoint_id FROM delivery WHERE id = :id)",
        id=id,
    )
    return row


def add(c: Connection, drafts: Sequence[tuple[str, DeliveryDraft, int, int]], *, at: Instant) -> None:
    """Write (id, draft, first, last); a delivery that is stored already stays as it is."""
    c.many(
        _INSERT,
        [
            {
                "id": id_,
                "endpoint_id": draft.endpoint_id,
                "sentinel_id": draft.sentinel_id,
                "first_seq": first,
                "last_seq": last,
                "changes": draft.changes,
                "subject": plain(draft.subject),
                "content_type": draft.content_type,
                "body": draft.body,
                "due_at": draft.due_at,
                "at": at,
            }
            for id_, draft, first, last in drafts
        ],
    )


def finish(c: Connection, results: Sequence[DeliveryResult]) -> None:
    """Write how attempts went; `UnitError` if a delivery is not there."""
    rows = [
        {
            "id": r.delivery_id,
            "status": r.status,
            "attempt": r.attempt,
            "due_at": r.due_at,
            "finished_at": None if r.status == "waiting" else r.at,
            "error": plain(r.error),
        }
        for r in results
    ]
    if c.many(_RESULT, rows) != len(rows):
        raise UnitError("an attempt names a delivery that is not there; nothing of this was written")


def _to_row(row: tuple[Any, ...]) -> DeliveryRow:
    values = [*row]
    values[11] = bytes(row[11])
    return DeliveryRow(*values)
