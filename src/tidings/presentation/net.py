"""The net effect of several changes in one message: from the first old text to the last new one,
without what was reverted.

And the order of such a message: the newest first.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tidings.presentation.edits import Record

_EDITS = ("inserted", "deleted", "updated")


def newest_first(records: Sequence[Record], *, net: bool = False) -> list[Record]:
    """Return records (given oldest first) in reading order: by page, the last changed page and the
    newest change first.

    With `net`, a page that changed more than once begins with its net effect: a change record from
    the first version to the last, whose summary begins with `3 changes, net:`; a change of several
    pages has none.
    """
    pages: dict[Any, list[Record]] = {}
    for record in reversed(records):
        pages.setdefault(record.get("url"), []).append(record)
    return [record for page in pages.values() for record in ((*_nets(page), *page) if net else page)]


def _nets(newest_first: Sequence[Record]) -> list[Record]:
    """Return the net effect on a page, for each kind of change that occurs more than once."""
    kinds: dict[Any, list[Record]] = {}
    for record in reversed(newest_first):
        if record.get("record") == "change" and not record.get("parts") and all(name in record for name in _EDITS):
            kinds.setdefault(record.get("kind"), []).append(record)
    return [_net(changes) for changes in kinds.values() if len(changes) > 1]


def _net(records: Sequence[Record]) -> Record:
    inserted: list[str] = []
    deleted: list[str] = []
    updated: dict[str, list[str]] = {}
    """current text → earlier texts"""
    for record in records:
        for pair in record["updated"]:
            if pair["old"] in inserted:
                inserted[inserted.index(pair["old"])] = pair["new"]
            else:
                updated.setdefault(pair["new"], []).append(_was(updated, pair["old"]))
        for text in record["deleted"]:
            if text in inserted:
                inserted.remove(text)
            else:
                deleted.append(_was(updated, text))
        for text in record["inserted"]:
            if text in deleted:
                deleted.remove(text)
            else:
                inserted.append(text)
    first, last = records[0], records[-1]
    pairs = [{"old": old, "new": new} for new, olds in updated.items() for old in olds if old != new]
    found = {"inserted": inserted, "deleted": deleted, "updated": pairs, "moved": []}
    whole = {k: v for k, v in last.items() if k not in {"counts", "places", "frames", "context"}} | found
    whole |= {"from_version": first.get("from_version"), "summary": f"{len(records)} changes, net: {_spell(found)}"}
    return whole


def _was(updated: dict[str, list[str]], text: str) -> str:
    """Remove and return the first text of an updated one; the text itself, if it was not
    updated.
    """
    olds = updated.get(text)
    return olds.pop(0) if olds else text


def _spell(found: Record) -> str:
    """Return the first few edits in one line."""
    said = [f'"{pair["old"]}" → "{pair["new"]}"' for pair in found["updated"]]
    said += [f'+"{text}"' for text in found["inserted"]] + [f'-"{text}"' for text in found["deleted"]]
    if not said:
        return "as it was before"
    rest = f"; and {len(said) - 3} more" if len(said) > 3 else ""
    return "; ".join(said[:3]) + rest
