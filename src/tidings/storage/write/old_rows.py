"""Delete what nobody asks for any more: old polls, answered requests, texts of delivered messages
and events of the day (docs/decisions/0096). Oldest first, a few at a time.

Versions, changes, messages that wait or were given up, and events about them or about a
sentinel's life stay.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Final

from tidings.model.event_type import EventType
from tidings.record import dataclass
from tidings.storage.db import lock
from tidings.storage.db.connection import NAMES, NUMBERS, Connection, to_json
from tidings.storage.watches.events import OWNER, last_seq
from tidings.storage.write.copies import BLOCK

if TYPE_CHECKING:
    from tidings.model.interval import Duration, Instant

FEED_ENTRIES: Final = 100
"""So many messages to the feed keep their text for each sentinel: a feed has no more."""
_OF_POLLS: Final = (EventType.PAGE_POLLED, EventType.PLAN_PRICED, EventType.DELIVERY_DONE, EventType.PROBLEM_UNIT)
"""Events that no rule and no question needs later."""
_POLLS: Final = (
    "SELECT id, page_id, outcome FROM (SELECT id, page_id, outcome, finished_at FROM poll ORDER BY id LIMIT :limit) oldest"
    " WHERE finished_at < :before AND outcome IS NOT NULL"
)
_REQUESTS: Final = (
    "SELECT id FROM (SELECT id, asked_at, poll_id, refused FROM request ORDER BY id LIMIT :limit) oldest"
    " WHERE asked_at < :before AND (poll_id IS NOT NULL OR refused <> '')"
)
_EVENTS: Final = (
    "SELECT seq FROM event WHERE type = :type AND +owner_id = :owner_id AND seq <= :upto AND at < :before"
    " ORDER BY seq LIMIT :limit"
)
_OLDEST: Final = "SELECT at FROM event WHERE type = :type AND +owner_id = :owner_id ORDER BY seq LIMIT 1"
_BODIES: Final = (
    "SELECT d.id FROM delivery d JOIN endpoint e ON e.id = d.endpoint_id WHERE d.status = 'delivered' AND length(d.body) > 0"
    " AND d.finished_at < :before AND (e.kind <> 'stream' OR d.finished_at < :streamed) AND (e.kind <> 'feed' OR EXISTS"
    " (SELECT 1 FROM delivery n WHERE n.sentinel_id = d.sentinel_id AND n.endpoint_id = d.endpoint_id"
    " AND n.finished_at > d.finished_at LIMIT 1 OFFSET :entries)) ORDER BY d.finished_at LIMIT :limit"
)


@dataclass(frozen=True, slots=True)
class Ages:
    """How long rows are kept, as of `at`: polls, with events about them, and the texts of
    messages (µs).
    """

    at: Instant
    polls: Duration
    messages: Duration


def forget_polls(c: Connection, ages: Ages, *, limit: int) -> int:
    """Delete old polls; each page counts those that stored a version. Return how many they were."""
    rows = c.rows(_POLLS, before=ages.at - ages.polls, limit=limit)
    stored = Counter(page_id for _, page_id, outcome in rows if outcome in {"new", "changed"})
    c.many(
        "UPDATE page SET polls_deleted = polls_deleted + :count WHERE id = :id",
        [{"id": page_id, "count": count} for page_id, count in stored.items()],
    )
    return _delete(c, "poll", [row[0] for row in rows])


def forget_requests(c: Connection, ages: Ages, *, limit: int) -> int:
    """Delete old requests that were served or refused; return how many they were."""
    return _delete(c, "request", [row[0] for row in c.rows(_REQUESTS, before=ages.at - ages.polls, limit=limit)])


def forget_events(c: Connection, ages: Ages, *, limit: int) -> int:
    """Delete old events that no rule will read; return how many they were.

    The newest thousand stay, by which an older copy of the data is detected (`copies`), and the
    newest price.
    """
    rules_seq = int(c.value("SELECT rules_seq FROM owner WHERE id = :owner_id", owner_id=OWNER) or 0)
    upto, gone = min(rules_seq, last_seq(c) - 2 * BLOCK), 0
    for type_ in (*_OF_POLLS, EventType.STREAM_RECORD):
        is_streamed = type_ is EventType.STREAM_RECORD
        newest = c.value(
            "SELECT max(seq) FROM event WHERE type = :type AND +owner_id = :owner_id", type=type_, owner_id=OWNER
        )
        most = min(upto, (newest or 0) - (type_ is EventType.PLAN_PRICED))
        before = ages.at - (ages.messages if is_streamed else ages.polls)
        rows = c.rows(_EVENTS, type=type_, owner_id=OWNER, upto=most, before=before, limit=limit - gone)
        seqs = [row[0] for row in rows]
        if not seqs:
            continue
        c.execute(
            f"DELETE FROM event WHERE owner_id = :owner_id AND seq IN {NUMBERS[c.dialect]}",
            owner_id=OWNER,
            listed=to_json(seqs),
        )
        c.execute(
            "UPDATE owner SET events_deleted = events_deleted + :n WHERE id = :owner_id", n=len(seqs), owner_id=OWNER
        )
        if is_streamed:
            c.execute("UPDATE owner SET stream_deleted = :seq WHERE id = :owner_id", seq=seqs[-1], owner_id=OWNER)
        if (gone := gone + len(seqs)) >= limit:
            break
    return gone


def forget_bodies(c: Connection, ages: Ages, *, limit: int) -> int:
    """Delete the texts of messages that were delivered long ago, and return how many they were.
    Their rows stay, so that no message gets its id twice.

    What the stream and feeds still show stays.
    """
    before = ages.at - ages.messages
    streamed = c.value(_OLDEST, type=EventType.STREAM_RECORD, owner_id=OWNER)
    given = {"before": before, "streamed": before if streamed is None else streamed}
    ids = [row[0] for row in c.rows(_BODIES, **given, entries=FEED_ENTRIES - 1, limit=limit)]
    text = f"UPDATE delivery SET body = :empty WHERE id IN {NAMES[c.dialect]}"
    return c.execute(text, empty=b"", listed=to_json(ids)) if ids else 0


def forget(c: Connection, ages: Ages, *, epoch: int, limit: int) -> int:
    """Delete `limit` old rows of each kind, in one transaction; return how many they were. Raises
    `StaleEpochError`.
    """
    lock.check_epoch(c, epoch)
    kinds = (forget_polls, forget_requests, forget_events, forget_bodies)
    return sum(forget_kind(c, ages, limit=limit) for forget_kind in kinds)


def _delete(c: Connection, table: str, ids: list[int]) -> int:
    text = f"DELETE FROM {table} WHERE id IN {NUMBERS[c.dialect]}"
    return c.execute(text, listed=to_json(ids)) if ids else 0


def stream_deleted(c: Connection) -> int:
    """Return the number of the newest record that was deleted from the stream, 0 if none was."""
    return int(c.value("SELECT stream_deleted FROM owner WHERE id = :owner_id", owner_id=OWNER) or 0)
