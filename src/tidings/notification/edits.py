"""What one change record (DESIGN §5) has to show, read once for the text and the HTML of a message."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from typing import Any, Final, Literal

from tidings.notification.writing import one_line

Record = Mapping[str, Any]

LONGEST: Final = 8_000
"""Characters of a text that are looked at; no message shows more of one."""


@dataclass(frozen=True, slots=True)
class Edit:
    """A line of a message: what went, what came. `moved` has its text in `new`; `counted` in `old` what and in `new` how often."""

    kind: Literal["updated", "deleted", "inserted", "moved", "counted"]
    old: str = ""
    new: str = ""


def edits_of(record: Record, *, most: int) -> tuple[list[Edit], int]:
    """Return the first `most` edits and how many more there are."""
    found = list(islice(_edits(record), most))
    return found, _number(record) - len(found)


def _edits(record: Record) -> Iterator[Edit]:
    for pair in record.get("updated") or ():
        yield Edit("updated", _read(pair["old"]), _read(pair["new"]))
    for text in record.get("deleted") or ():
        yield Edit("deleted", old=_read(text))
    for text in record.get("inserted") or ():
        yield Edit("inserted", new=_read(text))
    for text in record.get("moved") or ():
        yield Edit("moved", new=_read(text))
    for row in _counted(record):
        yield Edit("counted", _read(row["object"]), f"{row['old']} → {row['new']}")


def _read(text: object) -> str:
    whole = str(text)
    return one_line(whole if len(whole) <= LONGEST else f"{whole[:LONGEST]}…")


def _counted(record: Record) -> Iterator[Mapping[str, Any]]:
    """Yield the objects that are there in both versions, more or less often: of the others the lists tell."""
    return (row for row in record.get("counts") or () if row["old"] and row["new"])


def _number(record: Record) -> int:
    lists = ("updated", "deleted", "inserted", "moved")
    return sum(len(record.get(name) or ()) for name in lists) + sum(1 for _ in _counted(record))


def headline(record: Record) -> str:
    """Return what happened in one line."""
    return one_line(summary(record))


def summary(record: Record) -> str:
    """Return what happened as the record says it: a text of a page may be in it."""
    return str(record.get("summary") or record.get("kind") or "changed")[:LONGEST]


def seen_at(record: Record) -> str:
    """Return when the change was seen, as `2026-11-27 08:00 UTC`; empty if the record does not say."""
    stamp = str(record.get("detected_at") or "")
    return f"{stamp[:10]} {stamp[11:16]} UTC" if len(stamp) >= 16 else ""


def more(count: int, noun: str = "") -> str:
    """Return `and n more`, with a noun in its number if one is given."""
    plural = "" if count == 1 else "s"
    return f"and {count:,} more" + (f" {noun}{plural}" if noun else "")
