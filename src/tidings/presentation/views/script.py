"""The edit script of a change applied to the texts of both versions: the characters that were
deleted, inserted or moved.

Removing the deletions gives the words of the new version, removing the insertions those of the old
one. For that, marks also include the text between words (`A-5`, `$5`) wherever it would otherwise
join or split the remaining words.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from typing import Final, Literal

from tidings.document.document import Document
from tidings.document.text.moves import Move, moves_of
from tidings.model.observed.change import Edit
from tidings.record import dataclass

MarkKind = Literal["deleted", "inserted", "moved", "away"]

MOST_EDITS: Final = 5_000
"""The most edits that a view marks; the view says if there are more."""
_MINUS: Final = frozenset("-\u2212")


@dataclass(frozen=True, slots=True)
class EditMark:
    """One range of text that differs; `edit` is the number of its edit.

    An insertion (`inserted`) or a moved text here (`moved`) is characters `start:end` of the new
    text. A deletion (`deleted`) or a text moved away (`away`) is characters `old_start:old_end` of
    the old text, and `start` (equal to `end`) its place in the new one. `before` and `behind`: a
    space may be added there without changing words.
    """

    kind: MarkKind
    edit: int
    start: int
    end: int
    old_start: int = 0
    old_end: int = 0
    before: bool = False
    behind: bool = False


@dataclass(frozen=True, slots=True)
class Script:
    """The marks of a change in the order of the new text, with the numbers of deleted, inserted and
    moved words.
    """

    marks: tuple[EditMark, ...]
    went: int
    came: int
    moved: int


def script_of(edits: Sequence[Edit], old: Document, new: Document) -> Script:
    """Return the marks of edits on the texts that they index.

    Of overlapping edits the first is marked. Raises `ValueError` for edits beyond a text: they
    belong to other versions.
    """
    if any(edit.old_end > len(old.tokens) or edit.new_end > len(new.tokens) for edit in edits):
        message = "the edits are not of these two documents: they reach beyond their words"
        raise ValueError(message)
    old.note_chunks()
    new.note_chunks()
    apart = list(_apart(edits))
    moves = moves_of([edit for _, edit in apart], old.tokens, new.tokens)
    laid = _Moved(moves)
    marks = [mark for number, edit in apart for mark in _Laid(number, edit, old, new, laid).marks()]
    went = sum(edit.old_end - edit.old_start for _, edit in apart)
    came = sum(edit.new_end - edit.new_start for _, edit in apart)
    moved = sum(move.length for move in moves)
    moved += sum(edit.new_end - edit.new_start for _, edit in apart if edit.op == "move")
    return Script(tuple(marks), max(0, went - moved), max(0, came - moved), moved)


def _apart(edits: Sequence[Edit]) -> Iterator[tuple[int, Edit]]:
    """Yield edits with their numbers in the order of the new text, without overlapping ones."""
    gone: set[int] = set()
    until = 0
    for number in sorted(range(len(edits)), key=lambda one: (edits[one].new_start, edits[one].old_start)):
        edit = edits[number]
        taken = range(edit.old_start, edit.old_end)
        if edit.new_start < until or not gone.isdisjoint(taken):
            continue
        gone.update(taken)
        until = max(until, edit.new_end)
        yield number, edit


class _Moved:
    """The tokens of moves, indexed by their start."""

    def __init__(self, moves: Sequence[Move]) -> None:
        self._away = sorted((move.old_start, move.old_start + move.length) for move in moves)
        self._here = sorted((move.new_start, move.new_start + move.length) for move in moves)

    def away(self, start: int, end: int) -> list[tuple[int, int]]:
        """Return the ranges moved away from tokens `start:end` of the old text."""
        return self._away[bisect_left(self._away, (start, 0)) : bisect_left(self._away, (end, 0))]

    def here(self, start: int, end: int) -> list[tuple[int, int]]:
        """Return the ranges moved to tokens `start:end` of the new text."""
        return self._here[bisect_left(self._here, (start, 0)) : bisect_left(self._here, (end, 0))]


class _Laid:
    """One edit on both texts. The text between two words is a gap; the first and the last have
    nothing on one side.
    """

    def __init__(self, number: int, edit: Edit, old: Document, new: Document, moves: _Moved) -> None:
        self.number, self.edit, self.old, self.new = number, edit, old, new
        is_move = edit.op == "move"
        self.away = moves.away(edit.old_start, edit.old_end)
        self.here = moves.here(edit.new_start, edit.new_end)
        if is_move:
            self.away = self.away or [(edit.old_start, edit.old_end)]
            self.here = self.here or [(edit.new_start, edit.new_end)]

    def marks(self) -> Iterator[EditMark]:
        """Yield the marks: first the deletion, then the insertion."""
        edit = self.edit
        if edit.old_start == edit.old_end:
            yield from self._list_inserted()
        elif edit.new_start == edit.new_end:
            yield from self._list_deleted()
        else:
            yield from self._list_replaced()

    def _list_replaced(self) -> Iterator[EditMark]:
        edit, old, new = self.edit, self.old, self.new
        left = _gap(old, edit.old_start), _gap(new, edit.new_start)
        right = _gap(old, edit.old_end), _gap(new, edit.new_end)
        parts_left, parts_right = (_parts(gap) and _parts(other) for gap, other in (left, right))
        keeps_left = parts_left or left[0] == left[1]
        keeps_right = parts_right or (right[0] == right[1] and not self._breaks())
        ends = edit.old_end == len(old.tokens) and edit.new_end == len(new.tokens)
        went = _span(old, edit.old_start, edit.old_end, keeps_left, keeps_right or ends)
        came = _span(new, edit.new_start, edit.new_end, keeps_left, keeps_right or ends)
        may_part = parts_left and (parts_right or ends)
        yield from self._went(went, came[0], before=False, behind=may_part)
        yield from self._came(came)

    def _breaks(self) -> bool:
        """Return whether the insertion crosses a paragraph border, which stays when the words are
        removed.
        """
        start, end = _span(self.new, self.edit.new_start, self.edit.new_end, False, False)
        return "\n\n" in self.new.text[start:end]

    def _list_inserted(self) -> Iterator[EditMark]:
        edit, old, new = self.edit, self.old, self.new
        was, left, right = _gap(old, edit.old_start), _gap(new, edit.new_start), _gap(new, edit.new_end)
        if _parts(was) and _parts(left):
            came = _span(new, edit.new_start, edit.new_end, True, _parts(right) or edit.new_end == len(new.tokens))
        elif _parts(was) and _parts(right):
            came = _span(new, edit.new_start, edit.new_end, False, True)
        elif was == left:
            came = _span(new, edit.new_start, edit.new_end, True, False)
        elif was == right and not self._breaks():
            came = _span(new, edit.new_start, edit.new_end, False, True)
        else:
            came = _span(new, edit.new_start, edit.new_end, False, False)
            at = _gap_span(old, edit.old_start)
            yield EditMark("deleted", self.number, came[0], came[0], *at)
        yield from self._came(came)

    def _list_deleted(self) -> Iterator[EditMark]:
        edit, old, new = self.edit, self.old, self.new
        left, right, now = _gap(old, edit.old_start), _gap(old, edit.old_end), _gap(new, edit.new_start)
        ends = edit.old_end == len(old.tokens)
        first, last = _gap_span(new, edit.new_start)
        if _parts(left) and (_parts(right) or ends) and _parts(now):
            went = _span(old, edit.old_start, edit.old_end, True, True)
            stays_behind = edit.old_start > 0 and edit.new_start > 0 and "\n\n" not in left
            if stays_behind or ends:
                yield from self._went(went, first, before=True, behind=False)
            else:
                yield from self._went(went, last, before=False, behind=True)
            return
        went = _span(old, edit.old_start, edit.old_end, False, False)
        yield from self._went(went, first, before=False, behind=False)
        if first < last:
            yield EditMark("inserted", self.number, first, last)

    def _went(self, span: tuple[int, int], at: int, *, before: bool, behind: bool) -> Iterator[EditMark]:
        pieces = list(_pieces(self.old, span, self.away))
        for place, (is_moved, start, end) in enumerate(pieces):
            yield EditMark(
                "away" if is_moved else "deleted",
                self.number,
                at,
                at,
                start,
                end,
                before=before and place == 0,
                behind=behind and place == len(pieces) - 1,
            )

    def _came(self, span: tuple[int, int]) -> Iterator[EditMark]:
        for is_moved, start, end in _pieces(self.new, span, self.here):
            yield EditMark("moved" if is_moved else "inserted", self.number, start, end)


def _pieces(
    document: Document, span: tuple[int, int], moved: Sequence[tuple[int, int]]
) -> Iterator[tuple[bool, int, int]]:
    """Yield a range cut at the borders of moved tokens: (is moved, start, end)."""
    at, until = span
    for first, last in moved:
        start, end = document.span_of(first)[0], document.span_of(last - 1)[1]
        if last < len(document.tokens):
            following = document.span_of(last)[0]
            end = following if following < until else end
        if at < start:
            yield False, at, start
        yield True, max(at, start), min(end, until) if last < len(document.tokens) else until
        at = min(end, until) if last < len(document.tokens) else until
    if at < until:
        yield False, at, until


def _gap_span(document: Document, token: int) -> tuple[int, int]:
    """Return the characters between a token and the one before it."""
    start = document.span_of(token - 1)[1] if token else 0
    end = document.span_of(token)[0] if token < len(document.tokens) else len(document.text)
    return start, end


def _gap(document: Document, token: int) -> str:
    """Return the text between a token and the one before it; at the start, as if a space were
    there.
    """
    start, end = _gap_span(document, token)
    return document.text[start:end] if token else f" {document.text[start:end]}"


def _span(document: Document, first: int, last: int, keeps_left: bool, keeps_right: bool) -> tuple[int, int]:
    """Return the characters of tokens `first:last`, with the gaps of a side unless they are kept
    outside.
    """
    start = document.span_of(first)[0] if keeps_left else _gap_span(document, first)[0]
    end = document.span_of(last - 1)[1] if keeps_right else _gap_span(document, last)[1]
    return start, end


def _parts(gap: str) -> bool:
    """Return whether a gap separates words whatever precedes it: it has white space, and no sign
    belongs to the next word.
    """
    words = gap.split()
    if not words:
        return bool(gap)
    return any(c.isspace() for c in gap) and (gap[-1].isspace() or _MINUS.isdisjoint(words[-1]))
