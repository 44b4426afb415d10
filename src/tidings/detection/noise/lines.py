"""Lines around edits: the value classes that contain an edit, as ranges of tokens (detection §4.1).

An edit is a change of values only if on both sides values of the same classes, in the same order,
contain all of its tokens. The rest of the line is compared normally, so that a price beside a
counter is reported and the counter is not.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator

from tidings.detection.noise.values import LONGEST_LINE, ValueStretch, are_paired, values_of
from tidings.document.document import Document
from tidings.document.text.words import spans_of_chunk
from tidings.model.interval import Instant
from tidings.model.observed.change import Edit
from tidings.record import dataclass

MOST_EDITS = 200
"""With more edits the page was rewritten, and values are not searched."""

_AROUND = 12
_SECOND = 1_000_000

Span = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Covered:
    """Two corresponding ranges of tokens that are noise, and the name of the mask."""

    old: Span
    new: Span
    mask: str


def values_between(
    edits: Iterable[Edit], old: Document, new: Document, old_at: Instant = 0, new_at: Instant = 0
) -> list[Covered]:
    """Return the values that changed between two documents, polled at these times (0: unknown),
    each with its counterpart.
    """
    listed = [*edits]
    if len(listed) > MOST_EDITS:
        return []
    elapsed = (new_at - old_at) // _SECOND
    known = bool(old_at and new_at)
    found: dict[tuple[Span, Span], Covered] = {}
    for edit in listed:
        before = _list_touched(old, edit.old_start, edit.old_end, old_at if known else 0)
        after = _list_touched(new, edit.new_start, edit.new_end, new_at if known else 0) if before else []
        if len(before) != len(after):
            continue
        for (was, gone), (now, come) in zip(before, after, strict=True):
            if are_paired(was, now, elapsed):
                found[gone, come] = Covered(gone, come, was.label)
    return list(found.values())


def _list_touched(document: Document, start: int, end: int, at: Instant) -> list[tuple[ValueStretch, Span]]:
    """Return the values that contain a token of a range, or the place of an empty one, with their
    tokens.
    """

    def is_touched(span: Span) -> bool:
        return (span[0] < end and span[1] > start) if start < end else span[0] <= start <= span[1]

    held = (pair for first, last in _lines(document, start, end) for pair in _values(document, first, last, at))
    found = {span: value for value, span in held if is_touched(span)}
    return [(found[span], span) for span in sorted(found)]


def _lines(document: Document, start: int, end: int) -> Iterator[Span]:
    """Yield the tokens of the lines of a range, limited to some words before and after it."""
    ends = document.line_ends
    first = max(0, start - 1) if start == end else start
    number = bisect_right(ends, first)
    while number < len(ends):
        begins = ends[number - 1] if number else 0
        if begins > max(start, end - 1):
            break
        if ends[number] > begins:
            yield max(begins, start - _AROUND), min(ends[number], end + _AROUND)
        number += 1


def _values(document: Document, first: int, last: int, at: Instant) -> Iterator[tuple[ValueStretch, Span]]:
    """Yield the values in tokens `first:last`, which are of one line."""
    lead, chunks = document.chunks_around(first, last)
    line = " ".join(chunks)[:LONGEST_LINE]
    found = values_of(line, at)
    if not found:
        return
    places = list(_places(line))
    for value in found:
        held = [number for number, (start, end) in enumerate(places) if start < value.end and end > value.start]
        if held:
            yield value, (lead + held[0], lead + held[-1] + 1)


def _places(line: str) -> Iterator[Span]:
    """Yield the position of each token of a line."""
    position = 0
    for chunk in line.split():
        position = line.index(chunk, position)
        yield from ((position + start, position + end) for start, end in spans_of_chunk(chunk))
        position += len(chunk)
