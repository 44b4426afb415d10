"""Check the invariants I-1 to I-10 in the database; every fault test ends with it."""

from __future__ import annotations

import hashlib
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator

from tidings.model.event_type import EventType
from tidings.model.observed.version import Blob, Member, member_list, version_id
from tidings.storage.db.connection import Connection, from_json
from tidings.storage.observed import versions
from tidings.storage.observed.members import holder_sha256
from tidings.storage.watches import events

LONGEST_CHAIN = 1_000
"""No setting allows a longer chain of deltas (`store.chain_length`)."""

BlobBytes = Callable[[Blob], bytes | None]


def check(c: Connection, *, blob_bytes: BlobBytes | None = None) -> list[str]:
    """Return the violations, a sentence each; empty if all holds.

    `blob_bytes` restores a body (None if it cannot); with it each body is hashed too.
    """
    parts = (
        _versions(c),
        _members(c),
        _blobs(c, blob_bytes),
        _events(c),
        _changes(c),
        _deliveries(c),
        _polls(c),
        _cursors(c),
        _comparisons(c),
        _leases(c),
    )
    return [fault for part in parts for fault in part]


def _versions(c: Connection) -> Iterator[str]:
    """I-2: versions are 1..n without a gap except deleted ones, neighbours differ, and the page's
    row names the newest.
    """
    last: dict[int, tuple[int, str]] = {}
    count: Counter[int] = Counter()
    for page_id, seq, sha256 in c.rows("SELECT page_id, seq, sha256 FROM version ORDER BY page_id, seq"):
        before, body = last.get(page_id, (0, ""))
        count[page_id] += 1
        if sha256 == body and seq == before + 1:
            yield f"I-2: version {version_id(page_id, seq)} has the body of the version before it"
        last[page_id] = (seq, sha256)
    for page_id, last_seq, collected, size in c.rows("SELECT id, last_seq, collected, body_size FROM page ORDER BY id"):
        if last_seq != last.get(page_id, (0, ""))[0] and (not collected or size >= 0):
            yield f"I-2: page {page_id} says that its newest version is {last_seq}, but it is {last.get(page_id, (0, ''))[0]}"
        if count[page_id] + collected != last_seq:
            yield f"I-2: page {page_id} has {count[page_id]} versions and has let go of {collected}, but {last_seq} were stored"


def _members(c: Connection) -> Iterator[str]:
    """I-2: a version with frames is named after its members, each a version of its own page; the
    holder comes first.
    """
    made_of: dict[tuple[int, int], list[tuple[int, Member]]] = defaultdict(list)
    for page_id, number, position, key, sha256, seq in c.rows(
        "SELECT v.page_id, v.seq, m.position, m.key, m.sha256, m.seq FROM version_member m JOIN version v ON v.id = m.version_id"
        " ORDER BY v.page_id, v.seq, m.position"
    ):
        made_of[page_id, number].append((position, Member(key, sha256, seq)))
    keys = {key: id_ for id_, key in c.rows("SELECT id, key FROM page")} if made_of else {}
    for page_id, number, sha256, frames in c.rows(
        "SELECT page_id, seq, sha256, frames FROM version WHERE frames > 0 OR id IN (SELECT version_id FROM version_member)"
        " ORDER BY page_id, seq"
    ):
        name = version_id(page_id, number)
        parts = made_of.get((page_id, number), [])
        listed = [member for _, member in parts]
        if [position for position, _ in parts] != list(range(frames + 1)):
            yield f"I-2: version {name} has {frames} frames, but its members stand at {[place for place, _ in parts]}"
            continue
        if hashlib.sha256(member_list(listed)).hexdigest() != sha256:
            yield f"I-2: version {name} is not named after its members"
        if keys.get(listed[0].key) != page_id:
            yield f"I-2: the first member of version {name} is not the page itself"
        for member in listed[1:]:
            if not _has_body(c, keys.get(member.key, 0), member):
                yield f"I-2: version {name} is made of version {member.seq} of page {keys.get(member.key)}, which has no such body"
    for page_id, count, last in c.rows("SELECT page_id, count(*), max(position) FROM page_member GROUP BY page_id"):
        if count != last + 1:
            yield f"I-2: page {page_id} names {count} frames, the last of them at place {last}"


def _has_body(c: Connection, page_id: int, member: Member) -> bool:
    version = versions.get(c, page_id, member.seq)
    return version is not None and holder_sha256(c, version) == member.sha256


def _blobs(c: Connection, blob_bytes: BlobBytes | None) -> Iterator[str]:
    """I-1, I-2: each named body is stored, whole or by a chain of deltas that ends in a whole
    one.
    """
    blobs = {blob.sha256: blob for blob in versions.blobs(c)}
    for sha256 in sorted(versions.list_referenced(c) - blobs.keys()):
        yield f"I-2: the body {sha256} is named, but missing"
    for sha256 in sorted(blobs):
        fault = _chain_fault(blobs, sha256)
        if fault:
            yield fault
        elif blob_bytes is not None:
            yield from _body_faults(c, sha256, blob_bytes)


def _chain_fault(blobs: dict[str, Blob], sha256: str) -> str:
    seen: set[str] = set()
    at = sha256
    while blobs[at].base:
        seen.add(at)
        at = blobs[at].base
        if at in seen:
            return f"I-2: the deltas of the body {sha256} go in a circle"
        if at not in blobs:
            return f"I-2: the body {sha256} leans on {at}, which is not kept"
        if len(seen) > LONGEST_CHAIN:
            return f"I-2: the body {sha256} has more than {LONGEST_CHAIN} deltas before it"
    return ""


def _body_faults(c: Connection, sha256: str, blob_bytes: BlobBytes) -> Iterator[str]:
    blob = versions.blob(c, sha256)
    body = None if blob is None else blob_bytes(blob)
    if blob is None or body is None:
        yield f"I-1: the body {sha256} cannot be restored"
    elif hashlib.sha256(body).hexdigest() != sha256 or len(body) != blob.size:
        yield f"I-2: the body {sha256} is not the one that was kept"


def _events(c: Connection) -> Iterator[str]:
    """Events are numbered 1..last without a gap, except for deleted ones (contracts §3)."""
    row = c.one("SELECT count(*), min(seq), max(seq) FROM event WHERE owner_id = :owner_id", owner_id=events.OWNER)
    deleted = int(c.value("SELECT events_deleted FROM owner WHERE id = :owner_id", owner_id=events.OWNER) or 0)
    count, first, last = row or (0, None, None)
    last_number = events.last_seq(c)
    if (last or 0) != last_number:
        yield f"the newest event has number {last or 0}, but {last_number} were given out"
    if count and ((first != 1 and not deleted) or last != count + deleted):
        yield f"{count} events are numbered from {first} to {last}: there are gaps"


def _changes(c: Connection) -> Iterator[str]:
    """I-3: every change has its event, and lies between stored versions; one on a page's answer, or
    on its first content, between none.
    """
    for id_, from_seq, to_seq, page_id, extraction, event, last_seq, collected in c.rows(
        "SELECT ch.id, ch.from_seq, ch.to_seq, ch.page_id, ch.extraction, e.seq, p.last_seq, p.collected FROM change ch"
        " JOIN page p ON p.id = ch.page_id"
        " LEFT JOIN event e ON e.owner_id = 1 AND e.seq = ch.event_seq AND e.change_id = ch.id ORDER BY ch.id"
    ):
        if event is None:
            yield f"I-3: change {id_} has no event"
        if extraction in {"status", "headers", "state"}:
            continue
        if not from_seq < to_seq:
            yield f"I-3: change {id_} goes from version {from_seq} to {to_seq}"
        for seq in (from_seq, to_seq):
            if not _has_version(c, page_id, seq) and not (collected and 0 < seq <= last_seq):
                yield f"I-3: change {id_} names version {version_id(page_id, seq)}, which is not there"


def _deliveries(c: Connection) -> Iterator[str]:
    """I-3: a sentinel that notifies at once has a delivery for every reported change, and
    deliveries name existing events.
    """
    last = events.last_seq(c)
    for id_, first_seq, last_seq in c.rows("SELECT id, first_seq, last_seq FROM delivery ORDER BY id"):
        if not 1 <= first_seq <= last_seq <= last:
            yield f"I-3: delivery {id_} names the events {first_seq} to {last_seq}, but there are {last}"
    immediate = (
        "SELECT e.seq, e.sentinel_id FROM event e WHERE e.type = 'change.found'"
        " AND EXISTS (SELECT 1 FROM delivery d WHERE d.sentinel_id = e.sentinel_id AND d.first_seq = d.last_seq AND d.last_seq < e.seq)"
        " AND NOT EXISTS (SELECT 1 FROM delivery d WHERE d.sentinel_id = e.sentinel_id AND d.first_seq <= e.seq AND d.last_seq >= e.seq)"
        " AND NOT EXISTS (SELECT 1 FROM timer t WHERE t.ref = e.sentinel_id AND t.kind LIKE 'digest%')"
        " AND NOT EXISTS (SELECT 1 FROM rule_state r WHERE r.sentinel_id = e.sentinel_id) ORDER BY e.seq"
    )
    for seq, sentinel_id in c.rows(immediate):
        yield f"I-3: event {seq} of sentinel {sentinel_id}, which is notified at once, has no delivery"


def _polls(c: Connection) -> Iterator[str]:
    """I-5, I-6: no outcome without a charge; a version was stored by a poll that names it, never by
    a failed or doubtful one.

    A poll that was charged while the clock was ahead may have ended earlier, by a corrected clock.
    """
    wrong = [
        (e.data["since"], e.data["until"] + e.data["ahead"]) for e in events.listing(c, types=(EventType.CLOCK_WRONG,))
    ]
    for id_, charged_at, finished_at, cost in c.rows(
        "SELECT id, charged_at, finished_at, cost FROM poll WHERE outcome IS NOT NULL"
    ):
        is_late = finished_at is not None and finished_at >= charged_at
        if cost <= 0 or not (is_late or any(begun <= charged_at <= ended for begun, ended in wrong)):
            yield f"I-5: poll {id_} has an outcome that was not charged before"
    for page_id, stored, polled in c.rows(
        "SELECT p.id, p.last_seq, p.polls_deleted"
        " + (SELECT count(*) FROM poll WHERE poll.page_id = p.id AND poll.outcome IN ('new', 'changed'))"
        " FROM page p ORDER BY p.id"
    ):
        if stored != polled:
            yield f"I-6: page {page_id} has {stored} versions, but {polled} polls that stored one"


def _cursors(c: Connection) -> Iterator[str]:
    """Cursors point to versions that were stored; those of living sentinels to existing ones
    (sentinels §4.2).
    """
    rows = c.rows(
        "SELECT u.id, u.base, u.taken, u.seen, p.last_seq, p.id, s.state <> 'ended' AND u.left_at IS NULL FROM subscription u"
        " JOIN page p ON p.id = u.page_id JOIN sentinel s ON s.id = u.sentinel_id ORDER BY u.id"
    )
    for id_, base, taken, seen, last_seq, page_id, is_alive in rows:
        needed = (*from_json(taken), *([seen] if seen else []))
        for seq in (base, *needed):
            if not 0 <= seq <= last_seq:
                yield f"I-2: the cursor of subscription {id_} points to version {seq} of {last_seq}"
        for seq in dict.fromkeys(needed) if is_alive else ():
            if not _has_version(c, page_id, seq):
                yield f"I-1: subscription {id_} needs version {version_id(page_id, seq)}, which is not there"


def _comparisons(c: Connection) -> Iterator[str]:
    """A pending comparison can be made: both its versions exist. One that was given up need not."""
    for subscription_id, page_id, from_seq, to_seq in c.rows(
        "SELECT subscription_id, page_id, from_seq, to_seq FROM comparison WHERE status = 'pending'"
    ):
        for seq in (from_seq, to_seq):
            if not _has_version(c, page_id, seq):
                yield f"I-1: subscription {subscription_id} is owed a comparison with version {version_id(page_id, seq)}, which is not there"


def _leases(c: Connection) -> Iterator[str]:
    """I-7: no charge carries an epoch above the poller's."""
    newest = c.value("SELECT epoch FROM lease WHERE name = 'poller'") or 0
    highest = c.value("SELECT max(epoch) FROM poll") or 0
    if highest > newest:
        yield f"I-7: a poll was charged in epoch {highest}, but the poller's is {newest}"


def _has_version(c: Connection, page_id: int, seq: int) -> bool:
    text = "SELECT 1 FROM version WHERE page_id = :page_id AND seq = :seq"
    return c.value(text, page_id=page_id, seq=seq) is not None
