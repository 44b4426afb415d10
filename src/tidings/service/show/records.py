"""Records: the output of commands, webhooks and the API, one shape each (contracts §12); and the
reason of a poll as a sentence for users.

Every record has `record`; ids are strings; times are RFC 3339 in UTC.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any, Final

from tidings.model.observed.change import ChangeSet, EditContext, EntryNote, ObjectPlace, shares
from tidings.model.observed.poll_reason import PollReason, Why
from tidings.model.observed.version import version_id
from tidings.model.watch.sentinel import WHOLE
from tidings.notification.addresses import mask_address

if TYPE_CHECKING:
    from tidings.model.interval import Duration, Instant
    from tidings.model.observed.change import Composite, PagePart
    from tidings.model.observed.unit import ChangeRow, Quarantined
    from tidings.model.observed.version import Version
    from tidings.storage.observed.polls import PollRow
    from tidings.storage.watches.deliveries import DeliveryRow
    from tidings.storage.watches.outside import SourceRow
    from tidings.storage.watches.sentinels import SentinelRow
    from tidings.storage.watches.values import StoredValue

Record = dict[str, Any]


_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_CONTEXT = ("heading", "label", "above", "before", "after", "link", "area")


def rfc3339(instant: Instant | None) -> str | None:
    """Return an instant as `2026-11-27T08:00:00.000000Z`, None for none."""
    if instant is None:
        return None
    return (_EPOCH + timedelta(microseconds=instant)).isoformat(timespec="microseconds").replace("+00:00", "Z")


def change_record(row: ChangeRow, *, sentinel: str, url: str) -> Record:
    """Return a change as a record."""
    found = row.found
    return {
        "record": "change",
        "id": row.id,
        "sentinel": sentinel,
        "page": str(row.page_id),
        "url": url,
        "kind": row.kind if row.composite is None else COMPOSITE,
        "from_version": version_id(row.page_id, row.from_seq),
        "to_version": version_id(row.page_id, row.to_seq),
        **make_found_record(found),
        **({} if row.composite is None else _composite_record(row.composite, row.kind)),
        **({"masked": [{"old": m.old, "new": m.new, "mask": m.mask} for m in found.masked]} if found.masked else {}),
        **({"partial": True} if row.partial else {}),
        "summary": row.summary,
        "quiet": row.quiet,
        **({"noise": True} if row.noise else {}),
        "modified_at": rfc3339(row.modified_at),
        "polled_at": rfc3339(row.polled_at),
        "detected_at": rfc3339(row.detected_at),
    }


def _composite_record(composite: Composite, monitor: str) -> Record:
    """Return the extra fields of a change of several pages: the clause, how it ended, and its
    parts.
    """
    return {
        "monitor": monitor,
        "verdict": composite.verdict,
        "reason": composite.reason,
        "parts": [_part_record(part) for part in composite.parts],
    }


def _part_record(part: PagePart) -> Record:
    return {
        "name": part.name,
        "page": str(part.page_id),
        "url": part.url,
        "status": part.status,
        "change": part.change_id,
        "from_version": version_id(part.page_id, part.from_seq) if part.from_seq else None,
        "to_version": version_id(part.page_id, part.to_seq) if part.to_seq else None,
        **_lists(part.found),
        "summary": part.summary,
        "title": part.title,
        "reason": part.reason,
        "modified_at": rfc3339(part.modified_at),
        "polled_at": rfc3339(part.at),
    }


def make_found_record(found: ChangeSet) -> Record:
    """Return a comparison's result; for a page with frames also by frame."""
    frames = [{"url": share.url, **_lists(part)} for share, part in shares(found)]
    notes = {"title": found.title, "snapshot": found.snapshot}
    known = {name: note for name, note in notes.items() if note}
    return {**_lists(found), **({"frames": frames} if frames else {}), **known}


def _lists(found: ChangeSet) -> Record:
    return {
        "inserted": list(found.inserted),
        "deleted": list(found.deleted),
        "updated": [{"old": old, "new": new} for old, new in found.updated],
        "moved": list(found.moved),
        "counts": [{"kind": o.kind, "object": o.object, "old": o.old, "new": o.new} for o in found.objects],
        **({"places": [_place_record(place) for place in found.places]} if found.places else {}),
        **({"context": [_context_record(one) for one in found.contexts]} if found.contexts else {}),
        **({"entries": [_entry_record(one) for one in found.entries]} if found.entries else {}),
    }


def _entry_record(note: EntryNote) -> Record:
    """Return an entry; unknown fields are omitted."""
    known = {name: getattr(note, name) for name in ("title", "link", "author", "text") if getattr(note, name)}
    edits = [{"part": part, "old": old, "new": new} for part, old, new in note.edits]
    at = {"published_at": rfc3339(note.published)} if note.published is not None else {}
    return {"of": note.of, "number": note.number, **known, **at, **({"edits": edits} if edits else {})}


def _context_record(context: EditContext) -> Record:
    """Return the context of a text: `number` is its position (from 0) in the list named by `of`;
    unknown fields are omitted.
    """
    texts = {name: getattr(context, name) for name in _CONTEXT if getattr(context, name)}
    return {"of": context.of, "number": context.number, **texts}


def _place_record(place: ObjectPlace) -> Record:
    """Return which occurrence of an object appeared or disappeared; `start` and `end` count the
    words of its page.
    """
    return {
        "kind": place.kind,
        "object": place.object,
        "change": "deleted" if place.op == "delete" else "inserted",
        "number": place.number,
        "of": place.of,
        "start": place.start,
        "end": place.end,
        "before": place.before,
        "text": place.text,
        "after": place.after,
    }


def poll_record(row: PollRow, *, url: str) -> Record:
    """Return a poll: its time and result; `outcome` is null while it is running."""
    record: Record = {
        "record": "poll",
        "id": str(row.id),
        "page": str(row.page_id),
        "url": url,
        "at": rfc3339(row.charged_at),
        "outcome": row.outcome,
        "text_changed": row.text_changed,
        "status": row.status,
        "bytes": row.bytes,
        "cost": row.cost,
        "requests": row.requests,
        "reason": spell_poll(row),
    }
    if row.outcome in {"error", "quarantined"}:
        record["kind"] = row.kind
    elif row.kind == PARTIAL:
        record["partial"] = True
    return record


def event_record(row: SourceRow, *, details: Mapping[str, Any] | None = None) -> Record:
    """Return the record of an external event."""
    return {
        "record": "event",
        "name": row.name,
        "origin": row.origin,
        "text": row.text,
        "created_at": rfc3339(row.created_at),
        "happened": row.happened,
        "happened_at": rfc3339(row.happened_at),
        "checked_at": rfc3339(row.checked_at),
        "due_at": rfc3339(row.due_at),
        "problem": row.problem,
        **(details or {}),
    }


def class_of(text: str) -> str:
    """Return the budget class that a stored canonical text names; `WHOLE` if none.

    Each clause has its own line there, so that listings need no parser.
    """
    found = (line.split() for line in text.splitlines())
    return next((words[1] for words in found if len(words) == 2 and words[0] == "Class"), WHOLE)


def sentinel_record(row: SentinelRow, *, details: Mapping[str, Any] | None = None) -> Record:
    """Return a sentinel: its name, state and text."""
    return {
        "record": "sentinel",
        "id": str(row.id),
        "name": row.name,
        "state": row.state,
        "reason": row.reason,
        "text": row.text,
        "tags": list(row.tags),
        "class": class_of(row.text),
        "start_at": rfc3339(row.start_at),
        "end_at": rfc3339(row.end_at),
        "resume_at": rfc3339(row.resume_at),
        "created_at": rfc3339(row.created_at),
        **(details or {}),
    }


def version_record(version: Version, *, url: str) -> Record:
    """Return a version of a page."""
    return {
        "record": "version",
        "id": version_id(version.page_id, version.seq),
        "number": version.seq,
        "page": str(version.page_id),
        "url": url,
        "sha256": version.sha256,
        "bytes": version.size,
        "title": version.title,
        "content_type": version.content_type,
        "charset": version.charset,
        "text_changed": version.text_changed,
        "frames": version.frames,
        "screenshot": version.screenshot or None,
        "fetched_at": rfc3339(version.fetched_at),
        "modified_at": rfc3339(version.modified_at),
    }


def value_record(value: StoredValue, *, sentinel: str) -> Record:
    """Return a watched value, valid from its time on, as a record; `number` is its decimal form,
    empty if it is no number.
    """
    return {
        "record": "value",
        "sentinel": sentinel,
        "url": value.url,
        "what": value.label,
        "since": rfc3339(value.at),
        "version": version_id(value.page_id, value.seq),
        "value": value.text,
        "number": value.amount,
        "unit": value.unit,
    }


def quarantine_record(row: Quarantined, *, url: str) -> Record:
    """Return a withheld body: not a version, but stored."""
    return {
        "record": "quarantine",
        "page": str(row.page_id),
        "url": url,
        "at": rfc3339(row.at),
        "kind": row.kind,
        "sha256": row.sha256,
        "reason": row.reason,
    }


def delivery_record(row: DeliveryRow) -> Record:
    """Return a delivery: its content and receiver."""
    return {
        "record": "delivery",
        "id": row.id,
        "sentinel": row.sentinel,
        "channel": row.kind,
        "address": mask_address(row.kind, row.address),
        "status": row.status,
        "changes": row.changes,
        "first_sequence": row.first_seq,
        "last_sequence": row.last_seq,
        "subject": row.subject,
        "attempts": row.attempt,
        "due_at": rfc3339(row.due_at) if row.status == "waiting" else None,
        "created_at": rfc3339(row.created_at),
        "finished_at": rfc3339(row.finished_at),
        "error": row.error,
    }


def problem_record(text: str, *, where: str = "", details: Mapping[str, Any] | None = None) -> Record:
    """Return a problem for users to fix."""
    return {"record": "problem", "where": where, "message": text, **(details or {})}


COMPOSITE = "composite"
"""The kind of a change that has parts on several pages."""
PARTIAL = "partial"
"""The kind of a poll of a page with an unreadable frame."""


def spell_gap(gap: Duration) -> str:
    """Return a duration in words."""
    minutes = max(1, round(gap / 60_000_000))
    hours, rest = divmod(minutes, 60)
    days, hours_left = divmod(hours, 24)
    if days:
        return f"{days} d {hours_left} h" if hours_left else f"{days} d"
    if hours:
        return f"{hours} h {rest} min" if rest else f"{hours} h"
    return f"{minutes} min"


ROBOTS: Final = "robots.txt ignored"
"""Prefix of the note of a poll that ignored robots.txt and has no other note."""

_SENTENCES: Final = {
    Why.ASKED: "asked for",
    Why.EVENT: "event {}",
    Why.EVENT_LATE: "event {}, late",
    Why.TOGETHER: "needed at the end of a window (AND across pages)",
    Why.THEN: "needed within {} (Then)",
    Why.EXPECTED: "an update was predicted, to be checked within {}",
    Why.OVERDUE: "the check for a predicted update is late: it was due within {}",
    Why.INTERVAL: "interval",
    Why.OPENING: "interval, moved to the beginning of its hours",
    Why.SECOND: "second check, to separate noise from changes",
    Why.CHANGE: "on change",
    Why.EASED: "on change, {} later, because the server says that the page stays fresh",
    Why.SPARE: "on change, sooner than usual, because the budget has spare checks",
    Why.FRAME: "frame",
    Why.SITEMAP: "sitemap",
    Why.OTHER: "{}",
}


def spell_reason(reason: PollReason) -> str:
    """Return a reason as a sentence; an older version's as stored."""
    if reason.sentence or (reason.why is Why.FRAME and not reason.of):
        return reason.sentence or _SENTENCES[reason.why]
    sentence = _SENTENCES[reason.why].format(reason.of)
    return f"{sentence}; {ROBOTS}: {reason.of}" if reason.why is Why.FRAME else sentence


def spell_poll(row: PollRow) -> str:
    """Return why a page was polled, or its outcome if that needs explaining."""
    if row.note.startswith(ROBOTS):
        return f"{spell_reason(row.reason)}; {row.note}"
    return row.note or spell_reason(row.reason)
