"""Findings of things that are told one by one: rows, items, entries. What is there in both versions and says something else is updated."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from tidings.detection.compare.objects import compare_objects
from tidings.model.change import ChangeSet, ObjectCount


@dataclass(frozen=True, slots=True)
class Update:
    """A thing of a name that says `new` where it said `old`."""

    name: str
    old: str
    new: str


def finding_of_things(
    kind: str, gone: Sequence[str], come: Sequence[str], updates: Sequence[Update], moved: Sequence[str] = ()
) -> ChangeSet:
    """Return what went, what came (as multisets), what was updated and what moved; empty if nothing.

    A thing that was updated or moved is a row with as many in both versions, so that it is neither inserted nor deleted.
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
