"""Which of several occurrences of links, images and keywords were inserted or deleted, with the
words around them (W-121).
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence

from tidings.detection.compare.instances import BOX, Span, pair_occurrences, surround
from tidings.document.document import Document
from tidings.model.observed.change import Edit, ObjectCount, ObjectPlace

MOST_TOLD = 60
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
            if len(places) >= MOST_TOLD:
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
    kept = {pair[0 if gone else 1] for pair in pairs}
    there = sorted((old[i][0], new[j]) if gone else (new[j][0], old[i]) for i, j in pairs)
    left = [number for number in range(len(here)) if number not in kept]
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
        before=document.get_text(max(0, start - AROUND), start, most=_LONGEST),
        text=document.get_text(start, end, most=_LONGEST),
        after=document.get_text(end, min(end + AROUND, len(document.tokens)), most=_LONGEST),
    )
