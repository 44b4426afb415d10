"""Places: ranges of a page that are located by the words around them, whatever their content
(detection §4.3).

A place is named by the stable words before and after it, with numbers reduced to one digit: a
structural path without indices for pages of every kind, which survives changes elsewhere. It is
created only if these words are unique in both versions, and found only while the text between them
is not much longer than ever before, so that an inserted paragraph is never taken for a part of it.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from functools import cached_property
from itertools import groupby

import xxhash

from tidings.detection.noise.memory import MOST_WORDS, Place, Thing
from tidings.detection.noise.template import BORDER, LONG_LINE, Neighbours, beside, beside_holes
from tidings.document.document import Document
from tidings.document.text.words import with_digits_alike
from tidings.model.observed.change import Edit
from tidings.record import replace

SIZES = (2, 3, 4, 6, 8, 12, 16, 24, 32)
"""Numbers of words that name a place: before it as many as make it unique on the page, after it as
many as make it come first.
"""

_ROOM = 1.25
_ROOM_WORDS = 3
_NEAR = 24
LONGEST_LINE = 60
"""Of a longer line only the words around a change are a place."""

Span = tuple[int, int]


class WordString:
    """The words of a document in one string, with all numbers equal unless `is_exact`, to locate
    places in.
    """

    def __init__(self, document: Document, *, is_exact: bool = False) -> None:
        self._document = document
        self._is_exact = is_exact
        self._tokens = document.tokens
        self._line_ends = document.line_ends
        self._text = b"^ " + (document.canonical if is_exact else document.with_digits_alike) + b" $ "
        self._alone: dict[bytes, int] = {}
        self._between: dict[tuple[bytes, bytes], Span | None] = {}

    @cached_property
    def exact(self) -> WordString:
        """Return the same words with their numbers."""
        return WordString(self._document, is_exact=True)

    @property
    def line_ends(self) -> list[int]:
        """Return the number of words up to the end of each line."""
        return self._line_ends

    def of(self, span: Span) -> list[str]:
        """Return the words of a range, with a `BORDER` at each line end within it."""
        found: list[str] = []
        at = span[0]
        for end in self._line_ends[bisect_right(self._line_ends, at) :]:
            if end >= span[1]:
                break
            found += [*self._tokens[at:end], BORDER]
            at = end
        return [*found, *self._tokens[at : span[1]]]

    @cached_property
    def length(self) -> int:
        """Return the number of words."""
        return len(self._tokens)

    def line_of(self, start: int, end: int) -> int | None:
        """Return the number of the line that contains words `start:end`, for an empty range that of
        the word before it; None for several.
        """
        first = bisect_right(self._line_ends, start if start < end else max(0, start - 1))
        return first if start >= end or bisect_right(self._line_ends, end - 1) == first else None

    def is_half(self, line: int | None, words: int) -> bool:
        """Return whether so many words are at least half of a long line."""
        if line is None or line >= len(self._line_ends):
            return False
        length = self._line_ends[line] - (self._line_ends[line - 1] if line else 0)
        return length >= LONG_LINE and 2 * words >= length

    def beside(self, start: int, end: int) -> Neighbours | None:
        """Return the words on both sides of words `start:end` in their line (`template.beside`),
        None if they are not within one line.
        """
        if (line := self.line_of(start, end)) is None:
            return None
        first = self._line_ends[line - 1] if line else 0
        last = self._line_ends[line] if line < len(self._line_ends) else self.length
        return beside(self._tokens[first:last], start - first, end - first)

    def around(self, start: int, end: int) -> bytes:
        """Return words `start:end` as a search string; the page's start and end have a sign of
        their own.
        """
        spelled = _as_it_is if self._is_exact else _alike
        words = [spelled(word) for word in self._tokens[max(0, start) : end]]
        if start < 0:
            words.insert(0, b"^")
        if end > self.length:
            words.append(b"$")
        return b" ".join(words)

    def stands_alone(self, words: bytes) -> bool:
        """Return whether words occur in this order exactly once."""
        return self._find_alone(words) >= 0

    def between(self, before: bytes, after: bytes) -> Span | None:
        """Return the words between `before`, if it is unique, and the first `after` behind it."""
        asked = (before, after)
        if asked not in self._between:  # learning and each comparison locate the same places
            self._between[asked] = self._find_between(before, after)
        return self._between[asked]

    def _find_between(self, before: bytes, after: bytes) -> Span | None:
        at = self._find_alone(before)
        if at < 0:
            return None
        at += len(before) + 1
        end = self._find(after, at)
        if end < 0:
            return None
        first = self._text.count(b" ", 0, at) - 1
        return first, first + self._text.count(b" ", at, end)

    def _find_alone(self, words: bytes) -> int:
        """Return where words occur, -1 unless they occur exactly once."""
        if words not in self._alone:
            at = self._find(words, 0)
            self._alone[words] = at if at >= 0 and self._find(words, at + 1) < 0 else -1
        return self._alone[words]

    def digest(self, span: Span) -> str:
        """Return a short digest of the content of a range, with its numbers."""
        text = " ".join(self._tokens[span[0] : span[1]])
        return xxhash.xxh3_64_hexdigest(text.encode("utf-8", "replace"))[:8]

    def sort_words(self, span: Span) -> list[str]:
        """Return the words of a range, sorted."""
        return sorted(self._tokens[span[0] : span[1]])

    def _find(self, words: bytes, start: int) -> int:
        """Return where words occur, as whole words; -1 if nowhere from there on."""
        if start == 0 and self._text.startswith(words + b" "):
            return 0
        at = self._text.find(b" " + words + b" ", max(0, start - 1))
        return at + 1 if at >= 0 else -1


def find(place: Place, words: WordString) -> Span | None:
    """Return the range of a place in a document; None if it is missing, or too long to be the same
    thing.
    """
    span = (words.exact if place.is_exact else words).between(place.before, place.after)
    if span is None or span[1] - span[0] > place.longest * _ROOM + _ROOM_WORDS:
        return None
    return span


def sides_of(thing: Thing) -> frozenset[Neighbours]:
    """Return the words beside the noise of a place, as far as they are in its line."""
    if thing.place is None:
        return frozenset()
    before, after = (text.decode("utf-8", "replace").split() for text in (thing.place.before, thing.place.after))
    return frozenset(beside_holes(thing.template, before, after))


def place_of(hunk: Edit, old: WordString, new: WordString, room: Span) -> Place | None:
    """Return the place of a change, if the words around it are unique in both versions.

    `room` is how many words before and after it are the same in both: only these may name it.

    Args:
        hunk: The change.
        old: The words of the old version.
        new: The words of the new version.
    """
    longest = max(hunk.old_end - hunk.old_start, hunk.new_end - hunk.new_start)
    if longest > MOST_WORDS:
        return None
    found = _place_of(hunk, old, new, room, longest)
    if found is not None:
        return found
    found = _place_of(hunk, old.exact, new.exact, room, longest)
    return None if found is None else replace(found, is_exact=True)


def _place_of(hunk: Edit, old: WordString, new: WordString, room: Span, longest: int) -> Place | None:
    for size in _sizes(room[0]):
        before = new.around(hunk.new_start - size, hunk.new_start)
        if before and new.stands_alone(before) and old.stands_alone(before):
            break
    else:
        return None
    for size in _sizes(room[1]):
        after = new.around(hunk.new_end, hunk.new_end + size)
        if (
            after
            and new.between(before, after) == (hunk.new_start, hunk.new_end)
            and old.between(before, after) == (hunk.old_start, hunk.old_end)
        ):
            return Place(before, after, longest)
    return None


def _sizes(room: int) -> list[int]:
    """Return the numbers of words to try as a name, given `room` stable words."""
    return sorted({min(size, room) for size in SIZES})


def blocks_of(edits: Sequence[Edit], old: WordString, new: WordString) -> list[Edit]:
    """Return the hunks extended to their whole lines, if these are not long: what differs in one
    line is one place.

    Adjacent lines are one place if nothing in one of them is stable.
    """
    hunks: list[Edit] = []
    is_whole = False
    for edit in edits:
        block = _whole_lines(edit, old, new)
        is_all = block == edit
        while hunks and _are_one(hunks[-1], block, is_beside=is_whole or is_all):
            before = hunks.pop()
            block = Edit(
                "replace",
                min(before.old_start, block.old_start),
                max(before.old_end, block.old_end),
                min(before.new_start, block.new_start),
                max(before.new_end, block.new_end),
            )
        is_whole = is_all
        hunks.append(block)
    return hunks


def _are_one(before: Edit, block: Edit, *, is_beside: bool) -> bool:
    if is_beside:
        return block.new_start <= before.new_end or block.old_start <= before.old_end
    return block.new_start < before.new_end or block.old_start < before.old_end


def _whole_lines(hunk: Edit, old: WordString, new: WordString) -> Edit:
    """Return a hunk extended to all words of its lines, by the same number before and after it in
    both versions.
    """
    sides = (
        _to_borders(hunk.old_start, hunk.old_end, old.line_ends),
        _to_borders(hunk.new_start, hunk.new_end, new.line_ends),
    )
    before, after = (max(side[at] for side in sides) for at in (0, 1))
    if max(before, after) > LONGEST_LINE:
        return hunk
    return Edit("replace", hunk.old_start - before, hunk.old_end + after, hunk.new_start - before, hunk.new_end + after)


def _to_borders(start: int, end: int, ends: Sequence[int]) -> Span:
    """Return how many words of its lines precede and follow a range; none for an empty one between
    two lines.
    """
    first = bisect_right(ends, start if start < end else start - 1)
    begin = ends[first - 1] if first else 0
    if start == end and (start in {0, begin} or first >= len(ends) or ends[first] == start):
        return 0, 0
    last = bisect_left(ends, max(end, start + 1))
    return max(0, start - begin), max(0, (ends[last] if last < len(ends) else end) - end)


def hunks_of(edits: Sequence[Edit], old: WordString, new: WordString) -> list[Edit]:
    """Return edits merged across a few chance words: fewer than either of them has, or half of a
    replaced line.
    """
    hunks = list(_of_lines([edit for edit in edits if edit.op != "move"], old, new))
    while True:
        joined = list(_join(hunks))
        if len(joined) == len(hunks):
            return joined
        hunks = joined


def shuffles_of(hunks: Sequence[Edit], old: WordString, new: WordString) -> list[Edit]:
    """Return the ranges in which an edit, or nearby ones, only reordered the same words."""
    groups: list[list[Edit]] = []
    for hunk in hunks:
        if groups and hunk.new_start - groups[-1][-1].new_end <= _NEAR:
            groups[-1].append(hunk)
        else:
            groups.append([hunk])
    whole = [Edit("replace", g[0].old_start, g[-1].old_end, g[0].new_start, g[-1].new_end) for g in groups]
    return [
        one
        for one in whole
        if 1 < one.new_end - one.new_start <= MOST_WORDS
        and old.sort_words((one.old_start, one.old_end)) == new.sort_words((one.new_start, one.new_end))
    ]


def room_of(stretch: Edit, hunks: Sequence[Edit], words: int) -> Span:
    """Return how many words before and after a range are the same in both versions, including the
    ends of a page of so many words.

    `hunks` are in the order of the new version.
    """
    first = bisect_right(hunks, stretch.new_start, key=lambda hunk: hunk.new_end) - 1
    while first >= 0 and _is_within(hunks[first], stretch):
        first -= 1
    last = bisect_left(hunks, stretch.new_end, key=lambda hunk: hunk.new_start)
    while last < len(hunks) and _is_within(hunks[last], stretch):
        last += 1
    before = hunks[first].new_end if first >= 0 else -1
    after = hunks[last].new_start if last < len(hunks) else words + 1
    return stretch.new_start - before, after - stretch.new_end


def _is_within(hunk: Edit, stretch: Edit) -> bool:
    return stretch.new_start <= hunk.new_start and hunk.new_end <= stretch.new_end


def _of_lines(edits: Sequence[Edit], old: WordString, new: WordString) -> Iterator[Edit]:
    """Yield the edits, merged within a long line of which at most half is left."""
    for line, group in groupby(
        edits, lambda edit: (old.line_of(edit.old_start, edit.old_end), new.line_of(edit.new_start, edit.new_end))
    ):
        things = list(group)
        gone, come = sum(e.old_end - e.old_start for e in things), sum(e.new_end - e.new_start for e in things)
        if None not in line and old.is_half(line[0], gone) and new.is_half(line[1], come):
            first, last = things[0], things[-1]
            yield Edit("replace", first.old_start, last.old_end, first.new_start, last.new_end)
        else:
            yield from things


def _join(hunks: Sequence[Edit]) -> Iterator[Edit]:
    joined: Edit | None = None
    for hunk in hunks:
        if joined is None:
            joined = hunk
        elif hunk.new_start - joined.new_end < min(_size(joined), _size(hunk)):
            joined = Edit("replace", joined.old_start, hunk.old_end, joined.new_start, hunk.new_end)
        else:
            yield joined
            joined = hunk
    if joined is not None:
        yield joined


def _size(hunk: Edit) -> int:
    return max(hunk.old_end - hunk.old_start, hunk.new_end - hunk.new_start)


def _as_it_is(word: str) -> bytes:
    return word.encode("utf-8", "replace")


def _alike(word: str) -> bytes:
    return with_digits_alike(word.encode("utf-8", "replace"))
