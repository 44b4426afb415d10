"""The bytes of a message, made from the service's change records (contracts §12).

Bodies stay below 20 kB where possible: long texts are cut and say by how much, long lists are cut
and counted in `more`.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta, tzinfo
from typing import Any, Final

from tidings.clock import Instant
from tidings.document.text.excerpts import excerpts
from tidings.presentation.edits import Record, summary
from tidings.presentation.writing import most_that_fit, one_line

JSON_TYPE: Final = "application/json"
TEXT_TYPE: Final = "text/plain; charset=utf-8"
LINES_TYPE: Final = "application/x-ndjson"
ATOM_TYPE: Final = "application/atom+xml"
MOST_BYTES: Final = 20_000
MOST_LINE_BYTES: Final = 64_000
"""The limit of one record of the stream, for which readers have no other copy, in bytes."""
LISTS: Final = ("inserted", "deleted", "updated", "moved", "counts")
STEPS: Final = ((4_000, 200), (1_000, 50), (300, 20), (120, 5), (60, 1), (60, 0))
"""Tried in turn until the body is small enough: characters left of a text, entries left of a
list.
"""
SUMMARY_CHARACTERS: Final = 200
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)


def webhook_body(records: Sequence[Record], sentinel: str, *, at: Instant) -> bytes:
    """Return JSON of one change (`change.found`, `data` is the record) or of several
    (`change.digest`, `data` has `sentinel` and `changes`).

    A record that was cut has `more`: how many entries each list lacks. A digest with too many
    changes keeps the first and has `more`: how many are left out.

    Args:
        records: Change records (contracts §12).
        sentinel: Its name.
        at: When the message was made (µs): its `timestamp`.
    """
    if not records:
        message = "a message needs at least one change"
        raise ValueError(message)
    whole = _body(records, sentinel, at=at, more=0)
    if len(whole) <= MOST_BYTES:
        return whole
    short: list[dict[str, Any]] = []
    for characters, entries in STEPS:
        short = [_cut_record(record, characters, entries) for record in records]
        whole = _body(short, sentinel, at=at, more=0)
        if len(whole) <= MOST_BYTES:
            return whole
    return _fewer(short, sentinel, at=at)


def _fewer(records: Sequence[Record], sentinel: str, *, at: Instant) -> bytes:
    """Return the body with as many of the first records as fit, at least one."""

    def body(count_shown: int) -> bytes:
        return _body(records[:count_shown], sentinel, at=at, more=len(records) - count_shown)

    return body(max(1, most_that_fit(len(records), lambda count_shown: len(body(count_shown)), MOST_BYTES)))


def _body(records: Sequence[Record], sentinel: str, *, at: Instant, more: int) -> bytes:
    if len(records) == 1 and not more:
        kind = records[0].get("event", "change.found")  # a notice (a failing page, say) names its event
        document: dict[str, Any] = {"type": kind, "timestamp": stamp(at), "data": dict(records[0])}
    else:
        data = {
            "sentinel": sentinel,
            "changes": [dict(record) for record in records],
            **({"more": more} if more else {}),
        }
        document = {"type": "change.digest", "timestamp": stamp(at), "data": data}
    return _json(document)


def stamp(at: Instant) -> str:
    """Return an instant as RFC 3339 has it, in UTC."""
    return (_EPOCH + timedelta(microseconds=at)).isoformat(timespec="microseconds").replace("+00:00", "Z")


def _cut_record(record: Record, characters: int, entries: int) -> dict[str, Any]:
    short = {
        name: _shorten_text(value, characters) if name not in {"url", "id"} else value for name, value in record.items()
    }
    for inner in ("frames", "parts"):
        if record.get(inner):
            short[inner] = [_cut_record(part, characters, entries) for part in record[inner]]
    more: dict[str, int] = {}
    for name in LISTS:
        values = record.get(name)
        if not isinstance(values, list):
            continue
        short[name] = [_shorten_entry(value, characters) for value in values[:entries]]
        if len(values) > entries:
            more[name] = len(values) - entries
    if record.get("context"):
        contexts = [one for one in record["context"] if one["number"] < entries]
        short["context"] = [_shorten_text(one, characters) for one in contexts]
    return {**short, "more": more} if more else short


def _shorten_entry(value: Any, characters: int) -> Any:
    """Return an entry of a list, cut; the two sides of an update are cut around their
    difference.
    """
    if isinstance(value, dict) and {"old", "new"} <= value.keys() and isinstance(value["old"], str):
        old, new = excerpts(value["old"], str(value["new"]), characters)
        return {**value, "old": old, "new": new}
    return _shorten_text(value, characters)


def _shorten_text(value: Any, characters: int) -> Any:
    if isinstance(value, dict):
        return {name: _shorten_text(inner, characters) for name, inner in value.items()}
    if not isinstance(value, str) or len(value) <= characters:
        return value
    return f"{value[:characters]} … and {len(value) - characters} more characters"


def stream_body(records: Sequence[Record]) -> bytes:
    """Return a line of JSON for each record, whole up to `MOST_LINE_BYTES`, else cut and with
    `more` like those of a webhook.
    """
    return b"".join(_line_of_json(record) for record in records)


def _line_of_json(record: Record) -> bytes:
    line = _json(dict(record))
    for characters, entries in STEPS:
        if len(line) <= MOST_LINE_BYTES:
            break
        line = _json(_cut_record(record, characters, entries))
    return line + b"\n"


def _json(document: dict[str, Any]) -> bytes:
    return json.dumps(document, ensure_ascii=False, separators=(",", ":")).encode("utf-8", errors="backslashreplace")


def console_body(records: Sequence[Record], zone: tzinfo = UTC) -> bytes:
    """Return one line for each change: time (in a time zone), sentinel, summary, page.

    Pages are untrusted: characters that control a terminal or the writing direction are escaped.
    """
    return "".join(f"{_line(record, zone)}\n" for record in records).encode("utf-8", errors="backslashreplace")


def _line(record: Record, zone: tzinfo) -> str:
    stamp = str(record.get("detected_at") or "")
    second = datetime.fromisoformat(stamp).astimezone(zone).isoformat(timespec="seconds") if stamp else "-"
    what = _shorten_text(summary(record), SUMMARY_CHARACTERS)
    return "  ".join(
        one_line(str(part))
        for part in (second.replace("+00:00", "Z"), record["sentinel"] or "Tidings", what, record["url"])
        if part
    )
