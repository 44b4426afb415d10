"""Changes as they were found, complete: every view is drawn from them without comparing again
(contracts §4).
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import astuple, fields
from typing import Any

from tidings.model.interval import Instant
from tidings.model.observed.change import (
    ChangeSet,
    Composite,
    Edit,
    EditContext,
    EntryNote,
    FrameShare,
    Masked,
    ObjectCount,
    ObjectPlace,
    PagePart,
)
from tidings.model.observed.unit import ChangeRow
from tidings.record import dataclass, replace
from tidings.storage.db.connection import NAMES, UNLIMITED, Connection, from_json, plain, select, to_json
from tidings.storage.watches.sentinels import OF_NAME, OF_TAG


@dataclass(frozen=True, slots=True)
class StoredChange:
    """A change with the name of its sentinel, the page's address as it was given, and the number of
    its event.
    """

    row: ChangeRow
    sentinel: str
    url: str
    event_seq: int | None


_SELECT = (
    "SELECT ch.id, ch.sentinel_id, ch.subscription_id, ch.page_id, ch.revision, ch.kind, ch.from_seq, ch.to_seq, ch.rules_version,"
    " ch.extraction, ch.quiet, ch.modified_at, ch.polled_at, ch.detected_at, ch.edits, ch.objects, ch.texts, s.name, p.given, ch.event_seq"
    " FROM change ch JOIN sentinel s ON s.id = ch.sentinel_id JOIN page p ON p.id = ch.page_id"
)
_OF_IDS = {dialect: f"{_SELECT} WHERE ch.id IN {names}" for dialect, names in NAMES.items()}
_NAMES = {
    dialect: "SELECT ch.id, s.name, p.given, ch.event_seq FROM change ch JOIN sentinel s ON s.id = ch.sentinel_id"
    f" JOIN page p ON p.id = ch.page_id WHERE ch.id IN {names}"
    for dialect, names in NAMES.items()
}
_STORED = {dialect: f"SELECT id FROM change WHERE id IN {names}" for dialect, names in NAMES.items()}
_INSERT = (
    "INSERT INTO change (id, event_seq, sentinel_id, subscription_id, page_id, revision, kind, from_seq, to_seq, rules_version,"
    " extraction, quiet, modified_at, polled_at, detected_at, edits, objects, texts) VALUES (:id, :event_seq, :sentinel_id,"
    " :subscription_id, :page_id, :revision, :kind, :from_seq, :to_seq, :rules_version, :extraction, :quiet, :modified_at,"
    " :polled_at, :detected_at, :edits, :objects, :texts) ON CONFLICT (id) DO NOTHING"
)


def listing(
    c: Connection,
    *,
    sentinel: str | None = None,
    sentinel_id: int | None = None,
    tag: str | None = None,
    page_id: int | None = None,
    since: Instant | None = None,
    until: Instant | None = None,
    quiet: bool = False,
    limit: int | None = None,
) -> list[StoredChange]:
    """Return changes, newest first.

    Args:
        sentinel: The name of a sentinel, also of earlier ones of that name and owner; None for all.
        sentinel_id: The number of a sentinel; None for all.
        tag: A tag of sentinels; None for all.
        page_id: A page; None for all.
        since: The earliest instant of detection (µs); None for any.
        until: The latest one; None for any.
        quiet: Whether quiet changes are listed too.
        limit: How many at most; None for all.
    """
    given: dict[str, Any] = {"limit": UNLIMITED if limit is None else limit}
    conditions = [] if quiet else ["ch.quiet = 0"]
    if sentinel is not None:
        conditions.append(OF_NAME)
        given["sentinel"] = sentinel
    if sentinel_id is not None:
        conditions.append("ch.sentinel_id = :sentinel_id")
        given["sentinel_id"] = sentinel_id
    if tag is not None:
        conditions.append(OF_TAG)
        given["tag"] = tag
    if page_id is not None:
        conditions.append("ch.page_id = :page_id")
        given["page_id"] = page_id
    if since is not None:
        conditions.append("ch.detected_at >= :since")
        given["since"] = since
    if until is not None:
        conditions.append("ch.detected_at <= :until")
        given["until"] = until
    text = select(_SELECT, conditions, "ORDER BY ch.detected_at DESC, ch.event_seq DESC, ch.id LIMIT :limit")
    return [_to_stored(row) for row in c.rows(text, **given)]


def get(c: Connection, id: str) -> StoredChange | None:
    """Return change `id`, or None."""
    row = c.one(f"{_SELECT} WHERE ch.id = :id", id=id)
    return None if row is None else _to_stored(row)


def of(c: Connection, ids: Sequence[str]) -> dict[str, StoredChange]:
    """Return the changes with these ids, by id; unknown ids are left out."""
    rows = c.rows(_OF_IDS[c.dialect], listed=to_json([*map(plain, ids)])) if ids else []
    found = {change.row.id: change for change in map(_to_stored, rows)}
    return {id_: found[id_] for id_ in ids if id_ in found}


def with_names(c: Connection, rows: Sequence[ChangeRow]) -> dict[str, StoredChange]:
    """Return changes that were just stored, by id; unknown ones are left out. Only what was not
    known of them is read.
    """
    ids = to_json([plain(row.id) for row in rows])
    named = {row[0]: row[1:] for row in c.rows(_NAMES[c.dialect], listed=ids)} if rows else {}
    return {row.id: StoredChange(row, *named[row.id]) for row in rows if row.id in named}


def for_events(c: Connection, first_seq: int, last_seq: int, sentinel_id: int) -> list[StoredChange]:
    """Return a sentinel's reported (not quiet) changes with event numbers from first to last, in
    order.

    Args:
        first_seq: The first number.
        last_seq: The last number.
        sentinel_id: The sentinel.
    """
    conditions = (
        "ch.sentinel_id = :sentinel_id", "ch.event_seq >= :first_seq", "ch.event_seq <= :last_seq", "ch.quiet = 0",
    )  # fmt: skip
    text = select(_SELECT, conditions, "ORDER BY ch.event_seq")
    return [_to_stored(row) for row in c.rows(text, sentinel_id=sentinel_id, first_seq=first_seq, last_seq=last_seq)]


def parts_between(c: Connection, sentinel_id: int, first: Instant, last: Instant) -> list[StoredChange]:
    """Return a sentinel's changes that are parts of composites and were seen in [first, last], in
    order.

    Args:
        sentinel_id: The sentinel.
        first: The first instant (µs).
        last: The last instant (µs).
    """
    conditions = ("ch.sentinel_id = :sentinel_id", "ch.quiet = 1", "ch.polled_at >= :first", "ch.polled_at <= :last")
    text = select(_SELECT, conditions, "ORDER BY ch.event_seq")
    found = (_to_stored(row) for row in c.rows(text, sentinel_id=sentinel_id, first=first, last=last))
    return [change for change in found if not change.row.noise]


def exists(c: Connection, id: str) -> bool:
    """Return whether a change is stored."""
    return c.value("SELECT 1 FROM change WHERE id = :id", id=id) is not None


def list_stored(c: Connection, ids: Collection[str]) -> set[str]:
    """Return those of these ids whose change is stored."""
    return {row[0] for row in c.rows(_STORED[c.dialect], listed=to_json([*ids]))} if ids else set()


def add(c: Connection, found: Sequence[tuple[ChangeRow, int | None]]) -> None:
    """Store changes, each with its event's number; an existing one stays as it is."""
    c.many(_INSERT, [_parameters(row, event_seq) for row, event_seq in found])


def _parameters(row: ChangeRow, event_seq: int | None) -> dict[str, Any]:
    found = row.found
    return {
        "id": row.id,
        "event_seq": event_seq,
        "sentinel_id": row.sentinel_id,
        "subscription_id": row.subscription_id,
        "page_id": row.page_id,
        "revision": row.revision,
        "kind": row.kind,
        "from_seq": row.from_seq,
        "to_seq": row.to_seq,
        "rules_version": row.rules_version,
        "extraction": row.extraction,
        "quiet": int(row.quiet),
        "modified_at": row.modified_at,
        "polled_at": row.polled_at,
        "detected_at": row.detected_at,
        "edits": to_json([(e.op, e.old_start, e.old_end, e.new_start, e.new_end) for e in found.edits]),
        "objects": to_json([(o.kind, o.object, o.old, o.new) for o in found.objects]),
        "texts": to_json(
            {
                "kinds": found.kinds,
                "inserted": found.inserted,
                "deleted": found.deleted,
                "updated": found.updated,
                "moved": found.moved,
                "summary": row.summary,
                **({"frames": list(map(astuple, found.frames))} if found.frames else {}),
                **({"places": list(map(astuple, found.places))} if found.places else {}),
                **({"contexts": list(map(astuple, found.contexts))} if found.contexts else {}),
                **_notes(found),
                **({"masked": list(map(astuple, found.masked))} if found.masked else {}),
                **({"partial": True} if row.partial else {}),
                **({"noise": True} if row.noise else {}),
                **({"composite": _composite_to_plain(row.composite)} if row.composite is not None else {}),
            }
        ),
    }


def _to_stored(row: tuple[Any, ...]) -> StoredChange:
    texts = from_json(row[16])
    found = ChangeSet(
        kinds=tuple(texts["kinds"]),
        inserted=tuple(texts["inserted"]),
        deleted=tuple(texts["deleted"]),
        updated=tuple((old, new) for old, new in texts["updated"]),
        moved=tuple(texts["moved"]),
        edits=tuple(Edit(*edit) for edit in from_json(row[14])),
        objects=tuple(ObjectCount(*count) for count in from_json(row[15])),
        frames=tuple(FrameShare(*share) for share in texts.get("frames", ())),
        masked=tuple(Masked(*masked) for masked in texts.get("masked", ())),
        places=tuple(ObjectPlace(*place) for place in texts.get("places", ())),
        contexts=tuple(EditContext(*context) for context in texts.get("contexts", ())),
    )
    change = ChangeRow(
        id=row[0],
        sentinel_id=row[1],
        subscription_id=row[2],
        page_id=row[3],
        revision=row[4],
        kind=row[5],
        from_seq=row[6],
        to_seq=row[7],
        rules_version=row[8],
        extraction=row[9],
        found=_with_notes(found, texts),
        summary=texts["summary"],
        quiet=bool(row[10]),
        modified_at=row[11],
        polled_at=row[12],
        detected_at=row[13],
        partial=texts.get("partial", False),
        noise=texts.get("noise", False),
        composite=_composite_from_plain(texts["composite"]) if "composite" in texts else None,
    )
    return StoredChange(change, sentinel=row[17], url=row[18], event_seq=row[19])


_LISTS = ("kinds", "inserted", "deleted", "moved")


def _composite_to_plain(composite: Composite) -> dict[str, Any]:
    """Return a composite without default values; the findings as texts, since tokens are those of
    the part's own change.
    """
    return {
        "verdict": composite.verdict,
        "reason": composite.reason,
        "parts": [
            {
                field.name: _encode_findings(part.found) if field.name == "found" else getattr(part, field.name)
                for field in fields(PagePart)
                if getattr(part, field.name) != field.default
            }
            for part in composite.parts
        ],
    }


def _composite_from_plain(data: Mapping[str, Any]) -> Composite:
    """Return the composite that `_composite_to_plain` wrote."""
    parts = tuple(_part(part) for part in data["parts"])
    return Composite(verdict=data["verdict"], reason=data["reason"], parts=parts)


def _part(data: Mapping[str, Any]) -> PagePart:
    values: dict[str, Any] = {name: _change_set(value) if name == "found" else value for name, value in data.items()}
    return PagePart(**values)


def _encode_findings(found: ChangeSet) -> dict[str, Any]:
    lists = {name: list(getattr(found, name)) for name in _LISTS}
    objects = [(o.kind, o.object, o.old, o.new) for o in found.objects]
    places = {"places": list(map(astuple, found.places))} if found.places else {}
    contexts = {"contexts": list(map(astuple, found.contexts))} if found.contexts else {}
    return {**lists, "updated": list(found.updated), "objects": objects, **places, **contexts, **_notes(found)}


def _notes(found: ChangeSet) -> dict[str, Any]:
    """Return the non-empty notes for people: entries, page title, watched text."""
    notes = {"entries": list(map(astuple, found.entries)), "title": found.title, "snapshot": found.snapshot}
    return {name: note for name, note in notes.items() if note}


def _with_notes(found: ChangeSet, data: Mapping[str, Any]) -> ChangeSet:
    """Return a change set with the notes of `_notes`."""
    stored: list[list[Any]] = data.get("entries", [])
    entries = tuple(EntryNote(*[*one[:-1], tuple(map(tuple, one[-1]))]) for one in stored)
    return replace(found, entries=entries, title=data.get("title", ""), snapshot=data.get("snapshot", ""))


def _change_set(data: Mapping[str, Any]) -> ChangeSet:
    lists: dict[str, Any] = {name: tuple(data[name]) for name in _LISTS}
    objects = tuple(ObjectCount(*count) for count in data["objects"])
    places = tuple(ObjectPlace(*place) for place in data.get("places", ()))
    contexts = tuple(EditContext(*context) for context in data.get("contexts", ()))
    updated = tuple((old, new) for old, new in data["updated"])
    found = ChangeSet(**lists, updated=updated, objects=objects, places=places, contexts=contexts)
    return _with_notes(found, data)
