"""Findings: change sets of one sort each, filtered by direction, and merged."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from functools import cache
from typing import TypeVar

from tidings.detection.compare.words import Side, compare_sequences, readable
from tidings.document.document import Document
from tidings.document.text.excerpts import common_end, common_start
from tidings.document.text.moves import moves_of, without
from tidings.model.observed.change import ChangeSet, Edit, ObjectCount, ObjectPlace, Op
from tidings.model.watch.sentinel import Direction
from tidings.record import replace

LONGEST_UPDATE = 64
"""A run of at most so many tokens replaced by another such run is an update, a longer one a delete
and an insert.
"""

T = TypeVar("T")
Span = tuple[int, int]
_THINGS = frozenset((kind,) for kind in ("number", "items", "table", "list", "price", "availability"))
_OPS: dict[Direction, Op] = {"inserted": "insert", "deleted": "delete", "updated": "replace"}


def finding_of_words(old: Document, new: Document) -> ChangeSet:
    """Return the changed words of two documents: edits over their tokens, with displayed texts."""
    edits = compare_sequences(old.tokens, new.tokens)
    return finding_of_edits(readable(edits, _side(old), _side(new)), old, new)


def _side(document: Document) -> Side:
    return Side(document.tokens, cache(lambda: frozenset((0, *document.line_ends))))


def finding_of_edits(edits: tuple[Edit, ...], old: Document, new: Document) -> ChangeSet:
    """Return edits over the tokens of two documents with displayed texts; empty without edits."""
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
            updated.append((old.get_text(edit.old_start, edit.old_end), new.get_text(edit.new_start, edit.new_end)))
            continue
        deleted.extend(old.get_text(start, end) for start, end in lost)
        inserted.extend(new.get_text(start, end) for start, end in won)
    return ChangeSet(
        kinds=("words",),
        inserted=tuple(inserted),
        deleted=tuple(deleted),
        updated=tuple(updated),
        moved=tuple(new.get_text(start, end) for start, end in come),
        edits=edits,
    )


def finding_of_body(old: Document, new: Document) -> tuple[ChangeSet, ...]:
    """Return the finding for a body without text: it has changed as a whole, or not.

    If both are such bodies, it is an update. Else it was inserted or deleted, beside the words of
    the other.
    """
    if not (old.textless or new.textless) or old.sha256 == new.sha256:
        return ()
    rows = [ObjectCount("body", _body_name(new), 0, 1)] if new.textless else []
    rows += [ObjectCount("body", _body_name(old), 1, 0)] if old.textless else []
    found = finding_of_objects("body", rows)
    if len(rows) == 2:
        found = replace(found, inserted=(), deleted=(), updated=((_body_name(old), _body_name(new)),))
    return (found,)


def _body_name(document: Document) -> str:
    return f"{document.form or document.media} (sha256 {document.sha256[:12]})"


def finding_of_objects(
    kind: str, rows: Sequence[ObjectCount], places: tuple[ObjectPlace, ...] = (), edits: tuple[Edit, ...] = ()
) -> ChangeSet:
    """Return the finding of rows of one kind, with their known places and edits; empty without
    rows.
    """
    if not rows:
        return ChangeSet()
    return ChangeSet(
        kinds=(kind,),
        inserted=tuple(row.object for row in rows if row.new > row.old),
        deleted=tuple(row.object for row in rows if row.new < row.old),
        objects=tuple(rows),
        edits=tuple(sorted(edits, key=lambda edit: (edit.old_start, edit.new_start))),
        places=places,
    )


def is_update(edit: Edit) -> bool:
    """Return whether an edit is reported as an update."""
    return edit.op == "replace" and max(edit.old_end - edit.old_start, edit.new_end - edit.new_start) <= LONGEST_UPDATE


def narrow(finding: ChangeSet, direction: Direction | None) -> ChangeSet:
    """Return the part of a finding in a direction.

    If a run of words became another, words were deleted and inserted; a move is both too (004
    §5.3.1, §5.4.1). A phrase is inserted, deleted or updated, exactly one (004 §5.4). So are
    numbers, items, rows and entries.
    """
    if direction is not None and finding.kinds[:1] == ("phrases",):
        return _narrow_phrase(finding, direction)
    if direction is not None and finding.kinds[:1] in _THINGS:
        return _narrow_thing(finding, direction)
    match direction:
        case None:
            return finding
        case "inserted":
            texts = (*finding.inserted, *(new for _, new in finding.updated), *finding.moved)
            edits = tuple(edit for edit in finding.edits if edit.op != "delete")
            rows = tuple(row for row in finding.objects if row.new > row.old)
            part = ChangeSet(
                finding.kinds, inserted=texts, edits=edits, objects=rows, places=_places(finding, "insert")
            )
        case "deleted":
            texts = (*finding.deleted, *(old for old, _ in finding.updated), *finding.moved)
            edits = tuple(edit for edit in finding.edits if edit.op != "insert")
            rows = tuple(row for row in finding.objects if row.new < row.old)
            part = ChangeSet(finding.kinds, deleted=texts, edits=edits, objects=rows, places=_places(finding, "delete"))
        case _:
            edits = tuple(edit for edit in finding.edits if is_update(edit))
            part = ChangeSet(finding.kinds, updated=finding.updated, edits=edits)
    return part or ChangeSet()


def _places(finding: ChangeSet, op: Op) -> tuple[ObjectPlace, ...]:
    return tuple(place for place in finding.places if place.op == op)


def _narrow_phrase(finding: ChangeSet, direction: Direction) -> ChangeSet:
    edits = tuple(edit for edit in finding.edits if edit.op == _OPS[direction])
    if finding.edits and not edits:  # without edits only the counts are known
        return ChangeSet()
    match direction:
        case "inserted":
            rows = tuple(row for row in finding.objects if row.new > row.old)
            part = ChangeSet(finding.kinds, inserted=(*finding.inserted, *finding.moved), edits=edits, objects=rows)
        case "deleted":
            rows = tuple(row for row in finding.objects if row.new < row.old)
            part = ChangeSet(finding.kinds, deleted=(*finding.deleted, *finding.moved), edits=edits, objects=rows)
        case _:
            part = ChangeSet(finding.kinds, updated=finding.updated, edits=edits)
    return part or ChangeSet()


def _narrow_thing(finding: ChangeSet, direction: Direction) -> ChangeSet:
    edits = tuple(edit for edit in finding.edits if edit.op == _OPS[direction])
    match direction:
        case "inserted":
            rows = tuple(row for row in finding.objects if row.new > row.old)
            part = ChangeSet(finding.kinds, inserted=finding.inserted, edits=edits, objects=rows)
        case "deleted":
            rows = tuple(row for row in finding.objects if row.new < row.old)
            part = ChangeSet(finding.kinds, deleted=finding.deleted, edits=edits, objects=rows)
        case _:
            rows = tuple(row for row in finding.objects if row.new == row.old and row.object not in finding.moved)
            part = ChangeSet(finding.kinds, updated=finding.updated, edits=edits, objects=rows)
    return part or ChangeSet()


def finding_of_words_without(old: Document, new: Document, spans: tuple[list[Span], list[Span]]) -> ChangeSet:
    """Return the changed words of two documents without the tokens of the spans, (of `old`, of
    `new`).
    """
    head, tail = _still(old.tokens, new.tokens, spans)
    kept, words = _without(old, new, spans, head, tail)
    if words[0] == words[1]:
        return ChangeSet()
    if tail and common_start(*words) == min(map(len, words)):  # the common start reaches into the end
        tail = 0
        kept, words = _without(old, new, spans, head, tail)
    mapped = (
        Edit(
            edit.op,
            *_map(kept[0], edit.old_start, edit.old_end, len(old.tokens) - tail),
            *_map(kept[1], edit.new_start, edit.new_end, len(new.tokens) - tail),
        )
        for edit in compare_sequences(*words)
    )
    return without_spans(ChangeSet(("words",), edits=tuple(mapped)), old, new, spans)


def _still(old: Sequence[str], new: Sequence[str], spans: tuple[list[Span], list[Span]]) -> tuple[int, int]:
    """Return how many tokens at the beginning and at the end are equal in both and in no span."""
    starts = [start for side in spans for start, _ in side]
    head = min([common_start(old, new), *starts])
    ends = [len(tokens) - end for tokens, side in zip((old, new), spans, strict=True) for _, end in side]
    return head, min([common_end(old, new, head), *ends])


def _without(
    old: Document, new: Document, spans: tuple[list[Span], list[Span]], head: int, tail: int
) -> tuple[list[list[int]], list[list[str]]]:
    """Return the numbers of the tokens outside all spans, and these tokens, of both documents
    without the first `head` and last `tail`.
    """
    kept: list[list[int]] = []
    for document, side in zip((old, new), spans, strict=True):
        parts = without(head, len(document.tokens) - tail, _merge(side))
        kept.append([at for start, end in parts for at in range(start, end)])
    return kept, [[document.tokens[at] for at in side] for document, side in zip((old, new), kept, strict=True)]


def _map(kept: list[int], start: int, end: int, length: int) -> Span:
    first = kept[start] if start < len(kept) else length
    return (first, kept[end - 1] + 1) if start < end else (first, first)


def without_spans(finding: ChangeSet, old: Document, new: Document, spans: tuple[list[Span], list[Span]]) -> ChangeSet:
    """Return a finding of words without the tokens of the spans, (of `old`, of `new`)."""
    gone, come = _merge(spans[0]), _merge(spans[1])
    edits: list[Edit] = []
    for edit in finding.edits:
        lost = without(edit.old_start, edit.old_end, gone)
        won = without(edit.new_start, edit.new_end, come)
        if len(lost) == len(won) == 1:
            edits.append(Edit("replace", *lost[0], *won[0]))
            continue
        edits.extend(Edit("delete", *part, edit.new_start, edit.new_start) for part in lost)
        edits.extend(Edit("insert", edit.old_end, edit.old_end, *part) for part in won)
    return finding_of_edits(tuple(edits), old, new)


def _merge(spans: list[Span]) -> list[Span]:
    """Return spans in order, adjacent ones merged."""
    merged: list[Span] = []
    for start, end in sorted(spans):
        if merged and start <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(end, merged[-1][1]))
        elif start < end:
            merged.append((start, end))
    return merged


def union(findings: Iterable[ChangeSet]) -> ChangeSet:
    """Return all findings as one, without duplicates."""
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
            places=_together(whole.places, finding.places),
        )
    return whole


def _together(first: tuple[T, ...], second: tuple[T, ...]) -> tuple[T, ...]:
    """Return the union as multisets, in the order of `first`, then of `second`."""
    missing = Counter(second) - Counter(first)
    more = []
    for item in second:
        if missing[item] > 0:
            missing[item] -= 1
            more.append(item)
    return (*first, *more)
