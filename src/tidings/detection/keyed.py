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


def finding_of_things(kind: str, gone: Sequence[str], come: Sequence[str], updates: Sequence[Update]) -> ChangeSet:
    """Return what went, what came (as multisets) and what was updated; empty if nothing.

    A thing that was updated is a row with as many in both versions, so that it is neither inserted nor deleted.
    """
    rows = compare_objects(kind, gone, come)
    named = tuple(ObjectCount(kind, update.name, 1, 1) for update in updates)
    if not rows and not named:
        return ChangeSet()
    return ChangeSet(
        kinds=(kind,),
        inserted=tuple(row.object for row in rows if row.new > row.old),
        deleted=tuple(row.object for row in rows if row.new < row.old),
        updated=tuple((update.old, update.new) for update in updates),
        objects=(*rows, *named),
    )
