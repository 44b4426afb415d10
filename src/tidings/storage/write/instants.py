"""The meaning of every stored instant, and the correction of those that a wrong clock has left in
the future.

An instant that schedules something must not be ahead by mistake: a page last checked in 2038 would
not be checked until then. The log of findings (events, polls, versions, changes) is never
rewritten, nor are dates that people gave.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from tidings.clock import DAY
from tidings.model.interval import Duration, Instant
from tidings.storage.db.connection import Connection, from_json, to_json

FACTS: Final[Mapping[str, tuple[str, ...]]] = {
    "budget": ("at",),
    "host": ("started_at", "robots_at", "unconditional_at"),
    "page": (
        "polled_at",
        "checked_at",
        "changed_at",
        "text_changed_at",
        "failing_since",
        "audited_at",
        "suspect_at",
        "moved_at",
        "saturated_at",
    ),
    "subscription": ("ticked_at", "since", "altered_at", "left_at"),
    "sentinel": ("created_at", "started_at", "ended_at"),
    "sentinel_revision": ("created_at",),
    "delivery": ("created_at", "finished_at"),
    "endpoint": ("failing_since", "tried_at"),
    "event_source": ("created_at", "checked_at", "happened_at"),
    "event_key": ("at",),
    "signal_key": ("at",),
    "websub": ("asked_at",),
    "trust": ("at",),
    "hint": ("at",),
    "estimate": ("at",),
    "secret": ("set_at",),
    "request": ("asked_at",),
    "instance": ("created_at",),
    "collection": ("news_at", "quiet_at"),
    "collection_page": ("since",),
}
"""Past events: clamped to now."""
WAITS: Final[Mapping[tuple[str, str], str]] = {
    ("page", "retry_at"): "polled_at",
    ("page", "fresh_until"): "polled_at",
    ("delivery", "due_at"): "created_at",
    ("event_source", "due_at"): "checked_at",
    ("websub", "due_at"): "asked_at",
    ("websub", "until"): "asked_at",
    ("collection_page", "retry_at"): "since",
}
"""Due a fixed time after an event: if that was in the future, counted from now."""
HOLDS: Final[Mapping[tuple[str, str], Duration]] = {
    ("host", "paused_until"): DAY,
    ("endpoint", "held_until"): DAY,
}
"""Requested by a server: at most so long from now."""
BY_PEOPLE: Final = frozenset({("sentinel", "start_at"), ("sentinel", "end_at"), ("token", "expires_at")})
"""Dates that people gave, as written: `upkeep.wrong_clock` evaluates them anew if they count from
an instant in the future.
"""
HISTORY: Final = frozenset(
    {
        ("owner", "created_at"),
        ("session", "created_at"),
        ("session", "used_at"),
        ("token", "created_at"),
        ("token", "used_at"),
        ("published_tag", "created_at"),
        ("event", "at"),
        ("collection_page", "found_at"),
        ("poll", "charged_at"),
        ("poll", "finished_at"),
        ("version", "fetched_at"),
        ("version", "modified_at"),
        ("change", "polled_at"),
        ("change", "detected_at"),
        ("watched_value", "at"),
        ("inbox_mark", "read_at"),
        ("inbox_mark", "kept_at"),
        ("change", "modified_at"),
        ("comparison", "at"),
        ("quarantine", "at"),
        ("garbage", "at"),
    }
)
"""Clock readings when the row was written, never rewritten. Readers that schedule by one clamp it
to now.
"""
ELSEWHERE: Final[Mapping[tuple[str, str], str]] = {
    ("subscription", "next_tick"): "reckoned anew by `upkeep.wrong_clock`",
    ("lease", "until"): "`lock.shorten_lease` when it is taken",
    ("timer", "due_at"): "the end of a pause as people gave it; others are of versions before rules",
}

_RETRIES = "UPDATE delivery SET due_at = :latest WHERE status = 'waiting' AND attempt > 0 AND due_at > :latest"


def latest(c: Connection) -> Instant | None:
    """Return the latest past instant that is stored: a poller leaves one in its budget, an added
    sentinel its own.
    """
    found = [
        at for text in _LATEST for at in c.one(text) or () if isinstance(at, int)
    ]  # a damaged file has any type anywhere
    return max(found, default=None)


def last_right(c: Connection, now: Instant) -> Instant | None:
    """Return when the last poll was charged by a clock that was not ahead of `now`, as far as is
    known.
    """
    at: Instant | None = c.value(
        "SELECT charged_at FROM poll WHERE charged_at <= :now ORDER BY id DESC LIMIT 1", now=now
    )
    return at


def bring_back(c: Connection, now: Instant) -> None:
    """Clamp past instants to `now`, and what is due after them accordingly."""
    _bring_back_texts(c, now)
    for text in _UPDATES:
        c.execute(text, now=now)
    for text, longest in _LIMITED.items():
        c.execute(text, latest=now + longest)
    c.execute(_RETRIES, latest=now + DAY)


def _bring_back_texts(c: Connection, now: Instant) -> None:
    """Clamp the instants within JSON: states of pages, waiting hints, parts in doubt."""
    rows = c.rows(
        "SELECT name, page_id, state FROM estimate WHERE at > :now OR page_id IN (SELECT id FROM page WHERE polled_at > :now)",
        now=now,
    )
    back = [{"name": name, "page_id": page_id, "state": _clamp(state, now)} for name, page_id, state in rows]
    c.many("UPDATE estimate SET state = :state WHERE name = :name AND page_id = :page_id", back)
    hints = c.rows("SELECT page_id, kind, waiting FROM hint WHERE waiting <> '[]'")
    c.many(
        "UPDATE hint SET waiting = :waiting WHERE page_id = :page_id AND kind = :kind",
        [{"page_id": i, "kind": kind, "waiting": text} for i, kind, w in hints if (text := _clamp(w, now)) != w],
    )
    doubts = c.rows("SELECT id, missing FROM subscription WHERE missing <> '' AND ticked_at > :now", now=now)
    doubts += c.rows(
        "SELECT s.id, s.missing FROM subscription s JOIN page p ON p.id = s.page_id WHERE s.missing <> '' AND p.polled_at > :now",
        now=now,
    )
    c.many(
        "UPDATE subscription SET missing = :missing WHERE id = :id",
        [{"id": i, "missing": _clamp(missing, now)} for i, missing in dict(doubts).items()],
    )


def _clamp(text: str, now: Instant) -> str:
    """Return JSON with each instant after `now` replaced by `now`."""
    return to_json(at_latest(from_json(text), now))


def at_latest(value: object, now: Instant) -> object:
    """Return plain JSON with each whole number that is an instant after `now` replaced by `now`."""
    match value:
        case bool():
            return value
        case int() if now < value < _NO_INSTANT:
            return now
        case list():
            return [at_latest(each, now) for each in value]
        case dict():
            return {name: at_latest(each, now) for name, each in value.items()}
    return value


_NO_INSTANT: Final = 2**53
"""The year 2255; larger numbers are hashes, or mean never."""


def _update(table: str) -> str:
    waits = {column: base for (owner, column), base in WAITS.items() if owner == table}
    facts = FACTS[table]
    sets = [f"{name} = CASE WHEN {name} > :now THEN :now ELSE {name} END" for name in facts]
    sets += [
        f"{name} = CASE WHEN {base} > :now AND {name} > {base} THEN {name} - {base} + :now"
        f" WHEN {base} > :now AND {name} > :now THEN :now ELSE {name} END"
        for name, base in waits.items()
    ]
    return f"UPDATE {table} SET {', '.join(sets)} WHERE {' OR '.join(f'{name} > :now' for name in facts)}"


_UPDATES: Final = tuple(map(_update, FACTS))
_LIMITED: Final = {
    f"UPDATE {table} SET {column} = :latest WHERE {column} > :latest": longest
    for (table, column), longest in HOLDS.items()
}
_LATEST: Final = (
    "SELECT max(at) FROM budget",
    "SELECT max(started_at) FROM host",
    "SELECT max(created_at), max(started_at), max(ended_at) FROM sentinel",
    "SELECT max(created_at) FROM sentinel_revision",
)
