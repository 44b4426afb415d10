"""Findings: change sets of one sort each, filtered by direction, and merged; with places, those of
links, images and keywords that occur several times (W-121); of keyed things, those that are
reported one by one: rows, items, entries. A thing of both versions with another content is
updated.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache
from typing import TypeVar

from tidings.detection.compare.instances import BOX, Span, compare_objects, pair_occurrences, surround
from tidings.detection.compare.words import Side, compare_sequences, readable
from tidings.document.document import Document, common_tokens
from tidings.document.text.excerpts import common_end, common_start
from tidings.document.text.moves import moves_of, without
from tidings.model.observed.change import ChangeSet, Edit, ObjectCount, ObjectPlace, Op
from tidings.model.watch.sentinel import Direction
from tidings.record import dataclass, replace

LONGEST_UPDATE = 64
"""A run of at most so many tokens replaced by another such run is an update, a longer one a delete
and an insert.
"""

T = TypeVar("T")
_THINGS = frozenset((kind,) for kind in ("number", "items", "table", "list", "price", "availability"))
_OPS: dict[Direction, Op] = {"inserted": "insert", "deleted": "delete", "updated": "replace"}


def finding_of_words(old: Document, new: Document) -> ChangeSet:
    """Return the changed words of two documents: edits over their tokens, with displayed texts."""
    edits = compare_sequences(old.tokens, new.tokens, ends=common_tokens(old, new))
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
            updated.append(
                (
                    old.as_written.get_text(edit.old_start, edit.old_end),
                    new.as_written.get_text(edit.new_start, edit.new_end),
                )
            )
            continue
        deleted.extend(old.as_written.get_text(start, end) for start, end in lost)
        inserted.extend(new.as_written.get_text(start, end) for start, end in won)
    return ChangeSet(
        kinds=("words",),
        inserted=tuple(inserted),
        deleted=tuple(deleted),
        updated=tuple(updated),
        moved=tuple(new.as_written.get_text(start, end) for start, end in come),
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
    head, tail = _still(old, new, spans)
    spans_left, words = _without(old, new, spans, head, tail)
    if words[0] == words[1]:
        return ChangeSet()
    if tail and common_start(*words) == min(map(len, words)):  # the common start reaches into the end
        tail = 0
        spans_left, words = _without(old, new, spans, head, tail)
    mapped = (
        Edit(
            edit.op,
            *_map(spans_left[0], edit.old_start, edit.old_end, len(old.tokens) - tail),
            *_map(spans_left[1], edit.new_start, edit.new_end, len(new.tokens) - tail),
        )
        for edit in compare_sequences(*words)
    )
    return without_spans(ChangeSet(("words",), edits=tuple(mapped)), old, new, spans)


def _still(old: Document, new: Document, spans: tuple[list[Span], list[Span]]) -> tuple[int, int]:
    """Return how many tokens at the beginning and at the end are equal in both and in no span."""
    first, last = common_tokens(old, new)
    head = min([first, *(start for side in spans for start, _ in side)])
    if head < first and first + last == min(len(old.tokens), len(new.tokens)):
        last = common_end(old.tokens, new.tokens, head)  # which the start kept short
    ends = [len(document.tokens) - end for document, side in zip((old, new), spans, strict=True) for _, end in side]
    return head, min([last, *ends])


def _without(
    old: Document, new: Document, spans: tuple[list[Span], list[Span]], head: int, tail: int
) -> tuple[list[list[int]], list[list[str]]]:
    """Return the numbers of the tokens outside all spans, and these tokens, of both documents
    without the first `head` and last `tail`.
    """
    spans_left: list[list[int]] = []
    for document, side in zip((old, new), spans, strict=True):
        parts = without(head, len(document.tokens) - tail, _merge(side))
        spans_left.append([at for start, end in parts for at in range(start, end)])
    return spans_left, [
        [document.tokens[at] for at in side] for document, side in zip((old, new), spans_left, strict=True)
    ]


def _map(spans_left: list[int], start: int, end: int, length: int) -> Span:
    first = spans_left[start] if start < len(spans_left) else length
    return (first, spans_left[end - 1] + 1) if start < end else (first, first)


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


MOST_REPORTED = 60
"""The most places of one finding that are reported."""

MOST_OF_ONE = 20
"""Most places of one object."""

MOST_OCCURRENCES = 5_000
"""Of an object that occurs more often on a page, no places are reported."""

AROUND = 6
"""Words shown before and after a place."""

_LONGEST = 120

Spans = Mapping[str, Sequence[Span]]
"""Object → the tokens of each of its occurrences, in the order of the page."""


def places_of(
    rows: Sequence[ObjectCount], documents: tuple[Document, Document], spans: tuple[Spans, Spans]
) -> tuple[tuple[ObjectPlace, ...], tuple[Edit, ...]]:
    """Return which occurrences were inserted or deleted, and the same as edits of tokens;
    `documents` and `spans` are (old, new).

    An object of unknown places is left out.
    """
    places: list[ObjectPlace] = []
    edits: list[Edit] = []
    for row in rows:
        old, new = (one.get(row.object, ()) for one in spans)
        if (len(old), len(new)) != (row.old, row.new) or max(row.old, row.new) > MOST_OCCURRENCES:
            continue
        for place, edit in _differing(row, documents, old, new):
            if len(places) >= MOST_REPORTED:
                return tuple(places), tuple(edits)
            places.append(place)
            edits.append(edit)
    return tuple(places), tuple(edits)


def _differing(
    row: ObjectCount, documents: tuple[Document, Document], old: Sequence[Span], new: Sequence[Span]
) -> Iterator[tuple[ObjectPlace, Edit]]:
    before, after = documents
    pairs = pair_occurrences(
        [surround(before.folded, span) for span in old], [surround(after.folded, span) for span in new]
    )
    gone = row.new < row.old
    document, other, here = (before, after, old) if gone else (after, before, new)
    paired = {pair[0 if gone else 1] for pair in pairs}
    there = sorted((old[i][0], new[j]) if gone else (new[j][0], old[i]) for i, j in pairs)
    left = [number for number in range(len(here)) if number not in paired]
    for number in left[:MOST_OF_ONE]:
        start, end = here[number]
        opposite = _opposite(there, document.folded[max(0, start - BOX) : start], start, other)
        edit = Edit("delete", start, end, *opposite) if gone else Edit("insert", *opposite, start, end)
        yield _place(row, document, number, (start, end), gone=gone), edit


def _opposite(there: Sequence[tuple[int, Span]], lower: Sequence[str], start: int, other: Document) -> Span:
    """Return the corresponding place on the other page: after the words that precede it, between
    the pairs around it.
    """
    at = bisect_left(there, (start, (0, 0)))
    low = there[at - 1][1][1] if at else 0
    high = there[at][1][0] if at < len(there) else len(other.folded)
    is_whole = not low and high == len(other.folded)
    words = other.folded_text if is_whole else f" {' '.join(other.folded[low:high])} "
    for size in range(len(lower), 0, -1):
        piece = f" {' '.join(lower[-size:])} "
        place = words.find(piece)
        if place >= 0:
            end = low + words.count(" ", 0, place) + size
            return end, end
    return low, low


def _place(row: ObjectCount, document: Document, number: int, span: Span, *, gone: bool) -> ObjectPlace:
    start, end = span
    return ObjectPlace(
        kind=row.kind,
        object=row.object,
        op="delete" if gone else "insert",
        number=number + 1,
        of=row.old if gone else row.new,
        start=start,
        end=end,
        before=document.as_written.get_text(max(0, start - AROUND), start, most=_LONGEST),
        text=document.as_written.get_text(start, end, most=_LONGEST),
        after=document.as_written.get_text(end, min(end + AROUND, len(document.tokens)), most=_LONGEST),
    )


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
