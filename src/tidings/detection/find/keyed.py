"""Findings of things that are reported one by one: rows, items, entries; and marks, the hashes that
identify the entries of older versions of a feed (detection §5: "entries that fall off the end").

A thing of both versions with another content is updated.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

from tidings.detection.compare.instances import compare_objects
from tidings.model.observed.change import ChangeSet, ObjectCount
from tidings.model.watch.interest import Direction
from tidings.record import dataclass, replace


@dataclass(frozen=True, slots=True)
class KeyedUpdate:
    """A thing whose content changed from `old` to `new`."""

    name: str
    old: str
    new: str


def finding_of_things(
    kind: str, gone: Sequence[str], come: Sequence[str], updates: Sequence[KeyedUpdate], moved: Sequence[str] = ()
) -> ChangeSet:
    """Return deletions, insertions (as multisets), updates and moves; empty if there are none.

    A thing that was updated or moved is a row of equal counts, so that it is neither inserted nor
    deleted.

    Args:
        kind: The kind of things.
        gone: Those of the old version.
        come: Those of the new version.
        updates: Those whose value changed.
        moved: Those whose place changed.
    """
    rows = compare_objects(kind, gone, come)
    named = tuple(ObjectCount(kind, name, 1, 1) for name in (*(update.name for update in updates), *moved))
    if not rows and not named:
        return ChangeSet()
    return ChangeSet(
        kinds=(kind,),
        inserted=tuple(row.object for row in rows if row.new > row.old),
        deleted=tuple(row.object for row in rows if row.new < row.old),
        updated=tuple((update.old, update.new) for update in updates),
        moved=tuple(moved),
        objects=(*rows, *named),
    )


def choose_things(finding: ChangeSet, direction: Direction | None, is_meant: Callable[[str], bool]) -> ChangeSet:
    """Return the things of a finding that were inserted, updated or moved and match (deleted, for
    `deleted`); empty if none do.
    """
    named = [row for row in finding.objects if row.old == row.new]
    updates, moves = named[: len(finding.updated)], named[len(finding.updated) :]
    is_gone = direction == "deleted"
    rows = [
        row for row in finding.objects if row.old != row.new and (row.new < row.old) == is_gone and is_meant(row.object)
    ]
    updated = [pair for pair in zip(updates, finding.updated, strict=True) if not is_gone and is_meant(pair[1][1])]
    moved = [pair for pair in zip(moves, finding.moved, strict=True) if not is_gone and is_meant(pair[1])]
    if not (rows or updated or moved):
        return ChangeSet()
    names = {row.object for row in rows}
    return replace(
        finding,
        inserted=() if is_gone else tuple(name for name in finding.inserted if name in names),
        deleted=tuple(name for name in finding.deleted if name in names) if is_gone else (),
        updated=tuple(pair for _, pair in updated),
        moved=tuple(text for _, text in moved),
        objects=(*rows, *(row for row, _ in updated), *(row for row, _ in moved)),
        edits=(),
        places=tuple(place for place in finding.places if place.object in names),
    )


MOST_MARKS: Final = 3_000
"""The most marks stored per feed (some 750 entries); the oldest are dropped first, but never those
of current entries.
"""


def remember(seen: Sequence[str], marks: Sequence[str]) -> tuple[str, ...]:
    """Return the marks to be stored for a feed: the earlier ones, then those of the current
    entries.
    """
    here = set(marks)
    older = [mark for mark in seen if mark not in here]
    room = max(0, MOST_MARKS - len(marks))
    return (*older[len(older) - min(room, len(older)) :], *marks)
