"""Deliveries: the outbox. A row keeps its id and its bytes over all attempts (I-3)."""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Iterable, Sequence
from typing import Any, Literal

from tidings.clock import DAY
from tidings.errors import UnitError, UnknownNameError
from tidings.model.interval import Duration, Instant
from tidings.model.observed.unit import DeliveryDraft, DeliveryResult
from tidings.record import dataclass
from tidings.storage.db.connection import NAMES, UNLIMITED, Connection, plain, select, to_json
from tidings.storage.db.instance import DatabaseInstance
from tidings.storage.watches.sentinels import OF_NAME, SEEN, restrict_to_viewer

LONGEST_HOLD = DAY
"""The longest hold that an endpoint may ask for."""
DeliveryStatus = Literal["waiting", "delivered", "dead"]


@dataclass(frozen=True, slots=True)
class DeliveryRow:
    """A delivery with its endpoint; `attempt` counts attempts made, `due_at` is the next attempt of
    a waiting one. `tried_at` is the last attempt at the endpoint.
    """

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
    tried_at: Instant | None = None
    noticed: bool = False


_SELECT = (
    "SELECT d.id, d.endpoint_id, e.kind, e.address, d.sentinel_id, s.name, d.first_seq, d.last_seq, d.changes, d.subject, d.content_type,"
    " d.body, d.status, d.attempt, d.due_at, d.created_at, d.finished_at, d.error, e.failing_since,"
    " e.tried_at, e.noticed"
    " FROM delivery d JOIN endpoint e ON e.id = d.endpoint_id JOIN sentinel s ON s.id = d.sentinel_id"
)
_INSERT = (
    "INSERT INTO delivery (id, endpoint_id, sentinel_id, first_seq, last_seq, changes, subject, content_type, body, status, due_at, created_at)"
    " VALUES (:id, :endpoint_id, :sentinel_id, :first_seq, :last_seq, :changes, :subject, :content_type, :body, 'waiting', :due_at, :at)"
    " ON CONFLICT (id) DO NOTHING"
)
_RESULT = (
    "UPDATE delivery SET status = :status, attempt = :attempt, due_at = COALESCE(:due_at, due_at), finished_at = :finished_at,"
    " error = :error, holds = :holds WHERE id = :id"
)
_WAKE = "UPDATE delivery SET due_at = :at WHERE endpoint_id = :endpoint_id AND status = 'waiting' AND attempt > 0 AND holds = 1 AND due_at > :at"
_OF_AFTER = "(SELECT {} FROM delivery a WHERE a.id = :after)"
_AFTER = (
    f"((d.created_at, d.last_seq) < {_OF_AFTER.format('a.created_at, a.last_seq')} OR ((d.created_at, d.last_seq) ="
    f" {_OF_AFTER.format('a.created_at, a.last_seq')} AND d.id > :after))"
)
"""The condition that a delivery comes after another in the list."""
_LAID_OUT = "SELECT id, finished_at FROM delivery"
_LINE = "PARTITION BY d.endpoint_id, d.sentinel_id"
_READY = (
    "SELECT id, endpoint_id, last_seq, CASE WHEN ready_at < held_until THEN held_until ELSE ready_at END AS ready_at FROM ("
    "SELECT id, endpoint_id, last_seq, held_until, is_behind,"
    " CASE WHEN has_failed = 1 AND tried_at + :tried_every < due_at THEN tried_at + :tried_every ELSE due_at END AS ready_at FROM ("
    "SELECT d.id, d.endpoint_id, d.last_seq, d.due_at, CASE WHEN d.attempt > 0 AND d.holds = 1 THEN 1 ELSE 0 END AS has_failed,"
    f" max(CASE WHEN d.attempt > 0 AND d.holds = 1 THEN 1 ELSE 0 END) OVER ({_LINE} ORDER BY d.last_seq, d.id"
    " ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS is_behind,"
    " CASE WHEN e.held_until > :now AND e.held_until <= :latest THEN e.held_until ELSE 0 END AS held_until,"
    " CASE WHEN e.tried_at <= :now THEN e.tried_at ELSE 0 END AS tried_at"
    " FROM delivery d JOIN endpoint e ON e.id = d.endpoint_id WHERE d.status = 'waiting' AND e.enabled = 1{which}"
    ") line) line WHERE is_behind = 0 OR is_behind IS NULL"
)
"""The waiting deliveries that may be tried, and when: a failed one that holds blocks those behind
it in its line (endpoint, sentinel). An endpoint's hold applies to all of its deliveries; one beyond
the limit was made by a wrong clock.
"""


def delivery_id(instance: DatabaseInstance, draft: DeliveryDraft, first_seq: int, last_seq: int) -> str:
    """Return the id of a delivery, the same wherever and however often it is made (contracts §3).

    Args:
        instance: The installation, whose restore epoch is part of the id.
        draft: The delivery, with its endpoint.
        first_seq: The number of its first event.
        last_seq: The number of its last event.
    """
    parts = (instance.id, instance.restore_epoch, draft.endpoint_id, draft.sentinel_id, first_seq, last_seq)
    return hashlib.sha256("\0".join(map(str, parts)).encode()).hexdigest()[:32]


def list_notified(c: Connection, seq: int) -> set[int]:
    """Return the endpoints that have a message about one event alone."""
    return {
        id for (id,) in c.rows("SELECT endpoint_id FROM delivery WHERE first_seq = :seq AND last_seq = :seq", seq=seq)
    }


def due(c: Connection, *, now: Instant, limit: int | None = None) -> list[DeliveryRow]:
    """Return due deliveries of enabled endpoints, the longest due first, including those behind a
    failed one.
    """
    conditions = ("d.status = 'waiting'", "d.due_at <= :now", "e.enabled = 1")
    text = select(_SELECT, conditions, "ORDER BY d.due_at, d.last_seq LIMIT :limit")
    return [_to_row(row) for row in c.rows(text, now=now, limit=UNLIMITED if limit is None else limit)]


def first_due(
    c: Connection, *, now: Instant, tried_every: Duration, endpoint_id: int | None = None, most: int = 1
) -> list[DeliveryRow]:
    """Return the first deliveries that may be tried for each enabled endpoint, so that no endpoint
    delays another, in the order of their numbers.

    Args:
        now: The present (µs).
        tried_every: How long after the last attempt at its endpoint a failed delivery may be tried
            before it is due (µs).
        endpoint_id: The only endpoint; None for all.
        most: How many for each endpoint at most.
    """
    ready = _READY.format(which="" if endpoint_id is None else " AND d.endpoint_id = :endpoint_id")
    ranked = f"SELECT id, ROW_NUMBER() OVER (PARTITION BY endpoint_id ORDER BY last_seq, id) AS place FROM ({ready}) ready WHERE ready_at <= :now"
    text = f"{_SELECT} WHERE d.id IN (SELECT id FROM ({ranked}) ranked WHERE place <= :most) ORDER BY d.last_seq, d.id"
    given = {"now": now, "latest": now + LONGEST_HOLD, "tried_every": tried_every, "most": most}
    if endpoint_id is not None:
        given["endpoint_id"] = endpoint_id
    return [_to_row(row) for row in c.rows(text, **given)]


def next_due(c: Connection, *, now: Instant, tried_every: Duration, without: Collection[int] = ()) -> Instant | None:
    """Return when a waiting delivery of an enabled endpoint may next be tried, or None; the
    endpoints `without` do not count, `now` and `tried_every` are as in `first_due`.
    """
    which = f" AND d.endpoint_id NOT IN ({', '.join(map(str, without))})" if without else ""
    text = f"SELECT min(ready_at) FROM ({_READY.format(which=which)}) ready"
    found: Instant | None = c.value(text, now=now, latest=now + LONGEST_HOLD, tried_every=tried_every)
    return found


def count_waiting(c: Connection, *, now: Instant) -> tuple[int, int, Instant | None]:
    """Return how many deliveries to enabled endpoints wait, how many of them are due, and since
    when the first has been due.
    """
    row = c.one(
        "SELECT count(*), sum(CASE WHEN d.due_at <= :now THEN 1 ELSE 0 END), min(d.due_at) FROM delivery d"
        " JOIN endpoint e ON e.id = d.endpoint_id WHERE d.status = 'waiting' AND e.enabled = 1",
        now=now,
    )
    waiting, due, first = row or (0, 0, None)
    return int(waiting), int(due or 0), first if first is not None and first <= now else None


def list_waiting(c: Connection, endpoint_id: int, *, viewer: int | None = None) -> dict[str, int]:
    """Return how many messages wait for an endpoint, enabled or not, by the name of the sentinel,
    of those that `viewer` sees (None: all).
    """
    text = select(
        "SELECT s.name, count(*) FROM delivery d JOIN sentinel s ON s.id = d.sentinel_id",
        ["d.status = 'waiting'", "d.endpoint_id = :endpoint_id", *restrict_to_viewer(viewer)],
        "GROUP BY s.name ORDER BY s.name",
    )
    return dict(c.rows(text, endpoint_id=endpoint_id, **({} if viewer is None else {"viewer": viewer})))


def following(c: Connection, delivery: DeliveryRow, *, now: Instant) -> DeliveryRow | None:
    """Return the next waiting delivery of the same sentinel to the same endpoint, if it is due."""
    conditions = (
        "d.endpoint_id = :endpoint_id", "d.sentinel_id = :sentinel_id", "d.status = 'waiting'", "d.due_at <= :now",
        "(d.last_seq > :last_seq OR (d.last_seq = :last_seq AND d.id > :id))",
    )  # fmt: skip
    line = {"endpoint_id": delivery.endpoint_id, "sentinel_id": delivery.sentinel_id, "now": now}
    text = select(_SELECT, conditions, "ORDER BY d.last_seq, d.id LIMIT 1")
    row = c.one(text, **line, last_seq=delivery.last_seq, id=delivery.id)
    return None if row is None else _to_row(row)


def is_waiting(c: Connection, sentinel_id: int, endpoint_id: int, last_seq: int) -> bool:
    """Return whether the message of a sentinel to an endpoint about the events up to `last_seq` is
    not delivered yet, and not given up.
    """
    line = {"sentinel_id": sentinel_id, "endpoint_id": endpoint_id, "last_seq": last_seq}
    conditions = ["status = 'waiting'", *(f"{name} = :{name}" for name in line)]
    return c.value(select("SELECT 1 FROM delivery", conditions, "LIMIT 1"), **line) is not None


def wake(c: Connection, endpoints: Sequence[tuple[int, Instant]]) -> None:
    """Make pending retries of recovered endpoints due at once, except those that the endpoint
    refuses individually.
    """
    c.many(_WAKE, [{"endpoint_id": endpoint_id, "at": at} for endpoint_id, at in endpoints])


def listing(
    c: Connection,
    *,
    dead: bool = False,
    sentinel: str | None = None,
    limit: int | None = None,
    status: str | None = None,
    after: str = "",
    viewer: int | None = None,
) -> list[DeliveryRow]:
    """Return deliveries, newest first.

    Args:
        dead: Whether only dead letters are listed.
        sentinel: The name of their sentinel; None for all.
        limit: How many at most; None for all.
        status: Their status; None for any.
        after: The id of the delivery after which the list continues; "" for the first.
        viewer: The owner who reads; None for one who sees all.
    """
    given: dict[str, Any] = {"limit": UNLIMITED if limit is None else limit}
    conditions = ["d.status = 'dead'"] if dead else []
    if status is not None:
        conditions.append("d.status = :status")
        given["status"] = status
    if viewer is not None:
        conditions.append(SEEN)
        given["viewer"] = viewer
    if after:
        conditions.append(_AFTER)
        given["after"] = after
    if sentinel is not None:
        conditions.append(OF_NAME)
        given["sentinel"] = sentinel
    text = select(_SELECT, conditions, "ORDER BY d.created_at DESC, d.last_seq DESC, d.id LIMIT :limit")
    return [_to_row(row) for row in c.rows(text, **given)]


def of_event(c: Connection, sentinel_id: int, seq: int) -> list[DeliveryRow]:
    """Return the deliveries that carry event `seq` of a sentinel, oldest first."""
    conditions = ("d.sentinel_id = :sentinel_id", "d.first_seq <= :seq", "d.last_seq >= :seq")
    text = select(_SELECT, conditions, "ORDER BY d.created_at, d.id")
    return [_to_row(row) for row in c.rows(text, sentinel_id=sentinel_id, seq=seq)]


_SENT = {
    dialect: "SELECT DISTINCT ch.id, e.kind, d.status FROM change ch"
    " JOIN delivery d ON d.sentinel_id = ch.sentinel_id AND d.first_seq <= ch.event_seq AND d.last_seq >= ch.event_seq"
    f" JOIN endpoint e ON e.id = d.endpoint_id WHERE ch.id IN {names} ORDER BY ch.id, e.kind, d.status"
    for dialect, names in NAMES.items()
}


def list_sent(c: Connection, ids: Sequence[str]) -> dict[str, list[tuple[str, DeliveryStatus]]]:
    """Return the kinds of receivers of each of these changes, with the state of their messages."""
    found: dict[str, list[tuple[str, DeliveryStatus]]] = {}
    for change_id, kind, status in c.rows(_SENT[c.dialect], listed=to_json([*map(plain, ids)])) if ids else ():
        found.setdefault(str(change_id), []).append((str(kind), status))
    return found


def endpoints_of(c: Connection, sentinel_id: int) -> list[tuple[int, str, str]]:
    """Return the (id, kind, scheme) of each endpoint that a sentinel has sent to."""
    return c.rows(
        "SELECT id, kind, scheme FROM endpoint WHERE id IN (SELECT endpoint_id FROM delivery WHERE sentinel_id = :sentinel_id) ORDER BY id",
        sentinel_id=sentinel_id,
    )


def get(c: Connection, id: str) -> DeliveryRow | None:
    """Return delivery `id`, or None."""
    row = c.one(f"{_SELECT} WHERE d.id = :id", id=id)
    return None if row is None else _to_row(row)


def laid_out(
    c: Connection, endpoint_id: int, *, sentinel_id: int | None = None, viewer: int | None = None, limit: int
) -> list[tuple[str, Instant]]:
    """Return (id, delivered at) of an endpoint's completed deliveries, of one sentinel or of all,
    newest first.

    Args:
        endpoint_id: The endpoint.
        sentinel_id: The sentinel; None for all.
        viewer: The owner who reads; None for one who sees all.
        limit: How many at most.
    """
    given: dict[str, Any] = {"endpoint_id": endpoint_id, "limit": limit}
    conditions = ["endpoint_id = :endpoint_id", "finished_at IS NOT NULL"]
    if sentinel_id is not None:
        conditions.append("sentinel_id = :sentinel_id")
        given["sentinel_id"] = sentinel_id
    if viewer is not None:
        conditions.append(f"EXISTS (SELECT 1 FROM sentinel s WHERE s.id = delivery.sentinel_id AND {SEEN})")
        given["viewer"] = viewer
    text = select(_LAID_OUT, conditions, "ORDER BY finished_at DESC, id LIMIT :limit")
    return [(id_, at) for id_, at in c.rows(text, **given)]


def bodies(c: Connection, ids: Iterable[str]) -> dict[str, bytes]:
    """Return the bytes of deliveries by their ids; unknown and deleted ones are left out."""
    found = ((id_, c.value(_BODY, id=id_)) for id_ in dict.fromkeys(ids))
    return {id_: bytes(body) for id_, body in found if body is not None}


_BODY = "SELECT body FROM delivery WHERE id = :id AND length(body) > 0"


def replay(c: Connection, id: str, at: Instant) -> DeliveryRow:
    """Queue a delivery again, due at `at`, with its attempts reset: same id, same bytes. A unique
    prefix of its id is enough.

    Raises `UnknownNameError` if no delivery, or several, have that prefix, or its text was deleted.
    """
    found = c.rows("SELECT id FROM delivery WHERE substr(id, 1, :n) = :id LIMIT 2", id=id, n=len(id)) if id else []
    if len(found) > 1:
        raise UnknownNameError(f"several deliveries begin with {id}; `tidings deliveries --json` shows whole ids")
    id = found[0][0] if found else id
    if found and c.value(_BODY, id=id) is None:
        raise UnknownNameError(
            f"the text of delivery {id} was deleted, as long after its delivery as store.messages_days says;"
            " `tidings history` shows the change"
        )
    text = "UPDATE delivery SET status = 'waiting', attempt = 0, due_at = :at, finished_at = NULL, error = '', holds = 1 WHERE id = :id"
    if not c.execute(text, id=id, at=at):
        raise UnknownNameError(f"there is no delivery {id}; `tidings deliveries` lists them")
    row = get(c, id)
    assert row is not None  # noqa: S101 - the update has found it
    # A replay also re-enables an endpoint that its failures had switched off.
    c.execute(
        "UPDATE endpoint SET enabled = 1, failing_since = NULL, reason = '', held_until = NULL WHERE enabled = 0 AND id ="
        " (SELECT endpoint_id FROM delivery WHERE id = :id)",
        id=id,
    )
    return row


def add(c: Connection, drafts: Sequence[tuple[str, DeliveryDraft, int, int]], *, at: Instant) -> None:
    """Store (id, draft, first, last); an existing delivery stays as it is."""
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
    """Store the results of attempts. Raise `UnitError` if a delivery does not exist."""
    rows = [
        {
            "id": r.delivery_id,
            "status": r.status,
            "attempt": r.attempt,
            "due_at": r.due_at,
            "finished_at": None if r.status == "waiting" else r.at,
            "error": plain(r.error),
            "holds": int(r.holds),
        }
        for r in results
    ]
    if c.many(_RESULT, rows) != len(rows):
        raise UnitError("an attempt names a delivery that does not exist; nothing was written")


def _to_row(row: tuple[Any, ...]) -> DeliveryRow:
    values = [*row]
    values[11], values[-1] = bytes(row[11]), bool(row[-1])
    return DeliveryRow(*values)
