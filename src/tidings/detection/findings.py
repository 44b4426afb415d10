"""Findings: change sets of one sort each, narrowed to a direction, and put together."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import TypeVar

from tidings.detection.compare.sequence import compare_sequences
from tidings.detection.moves import moves_of, without
from tidings.document.document import Document
from tidings.model.change import ChangeSet, Edit, ObjectCount
from tidings.model.sentinel import Direction

LONGEST_UPDATE = 64
"""A run of at most so many tokens that became another such run is told as an update, a longer one as a delete and an insert."""

T = TypeVar("T")


def finding_of_words(old: Document, new: Document) -> ChangeSet:
    """Return what changed in the words of two documents: edits over their tokens, with the texts that people read."""
    edits = compare_sequences(old.tokens, new.tokens)
    if not edits:
        return ChangeSet()
    moves = moves_of(edits, old.tokens, new.tokens)
    gone = sorted((move.old_start, move.old_start + move.length) for move in moves)
    come = sorted((move.new_start, move.new_start + move.length) for move in moves)
    inserted: list[str] = []
    deleted: list[str] = []
    updated: list[tuple[str, str]] = []
    for edit in edits:
        lost = without(edit.old_start, edit.old_end, gone)
        won = without(edit.new_start, edit.new_end, come)
        if is_update(edit) and lost == [(edit.old_start, edit.old_end)] and won == [(edit.new_start, edit.new_end)]:
            updated.append((old.shown(edit.old_start, edit.old_end), new.shown(edit.new_start, edit.new_end)))
            continue
        deleted.extend(old.shown(start, end) for start, end in lost)
        inserted.extend(new.shown(start, end) for start, end in won)
    return ChangeSet(
        kinds=("words",),
        inserted=tuple(inserted),
        deleted=tuple(deleted),
        updated=tuple(updated),
        moved=tuple(new.shown(start, end) for start, end in come),
        edits=edits,
    )


def finding_of_objects(kind: str, rows: Sequence[ObjectCount]) -> ChangeSet:
    """Return the finding of rows of one kind; empty without rows."""
    if not rows:
        return ChangeSet()
    return ChangeSet(
        kinds=(kind,),
        inserted=tuple(row.object for row in rows if row.new > row.old),
        deleted=tuple(row.object for row in rows if row.new < row.old),
        objects=tuple(rows),
    )


def is_update(edit: Edit) -> bool:
    """Return whether an edit is told as an update."""
    return edit.op == "replace" and max(edit.old_end - edit.old_start, edit.new_end - edit.new_start) <= LONGEST_UPDATE


def narrowed(finding: ChangeSet, direction: Direction | None) -> ChangeSet:
    """Return the part of a finding that goes in a direction.

    Where a run of words became another, words were deleted and inserted; a move is both too (004 §5.3.1, §5.4.1).
    """
    match direction:
        case None:
            return finding
        case "inserted":
            texts = (*finding.inserted, *(new for _, new in finding.updated), *finding.moved)
            edits = tuple(edit for edit in finding.edits if edit.op != "delete")
            rows = tuple(row for row in finding.objects if row.new > row.old)
            part = ChangeSet(finding.kinds, inserted=texts, edits=edits, objects=rows)
        case "deleted":
            texts = (*finding.deleted, *(old for old, _ in finding.updated), *finding.moved)
            edits = tuple(edit for edit in finding.edits if edit.op != "insert")
            rows = tuple(row for row in finding.objects if row.new < row.old)
            part = ChangeSet(finding.kinds, deleted=texts, edits=edits, objects=rows)
        case _:
            edits = tuple(edit for edit in finding.edits if is_update(edit))
            part = ChangeSet(finding.kinds, updated=finding.updated, edits=edits)
    return part or ChangeSet()


def union(findings: Iterable[ChangeSet]) -> ChangeSet:
    """Return all findings as one; what several found is there once."""
    whole = ChangeSet()
    for finding in findings:
        if not finding:
            continue
        if not whole:
            whole = finding
            continue
        whole = replace(
            whole,
            kinds=_together(whole.kinds, finding.kinds),
            inserted=_together(whole.inserted, finding.inserted),
            deleted=_together(whole.deleted, finding.deleted),
            updated=_together(whole.updated, finding.updated),
            moved=_together(whole.moved, finding.moved),
            edits=tuple(sorted({*whole.edits, *finding.edits}, key=lambda edit: (edit.old_start, edit.new_start))),
            objects=_together(whole.objects, finding.objects),
        )
    return whole


def _together(first: tuple[T, ...], second: tuple[T, ...]) -> tuple[T, ...]:
    """Return the union as multisets, the order of `first` and then of `second`."""
    missing = Counter(second) - Counter(first)
    more = []
    for item in second:
        if missing[item] > 0:
            missing[item] -= 1
            more.append(item)
    return (*first, *more)
