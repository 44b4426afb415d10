"""Two versions as one sequence of paragraphs: each unchanged, changed in places, new, deleted or
moved, under its heading.

A paragraph is a block of a page (a paragraph, a cell, a list item), in plain text a block between
blank lines.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from collections.abc import Set as AbstractSet
from typing import Final, Literal

from tidings.document.document import Document
from tidings.document.html.walk import BREAK
from tidings.presentation.views.script import EditMark, Script
from tidings.presentation.writing import tame
from tidings.record import dataclass, replace

RowKind = Literal["same", "changed", "inserted", "deleted", "moved", "away"]
PieceKind = Literal["same", "deleted", "inserted", "moved", "away"]

LONGEST_PARAGRAPH: Final = 2_000
"""A longer paragraph of plain text is cut at its lines, in characters."""
_HEADINGS: Final = frozenset(("h1", "h2", "h3", "h4", "h5", "h6"))
_BLANK: Final = re.compile(r"\n[ \t\r]*\n")
_LETTER: Final = re.compile(r"[^\W_]")
_SPACES: Final = re.compile(r"\s+")


@dataclass(frozen=True, slots=True)
class TextPiece:
    """A text inside a paragraph, tamed, its white space collapsed: unchanged, deleted, inserted,
    moved here or moved away.
    """

    kind: PieceKind
    text: str


@dataclass(frozen=True, slots=True)
class Row:
    """A paragraph. `heading` is the nearest one above it in the new version; `is_heading` says that
    it is one itself. `edits` are the numbers of its edits.
    """

    kind: RowKind
    pieces: tuple[TextPiece, ...]
    heading: str = ""
    is_heading: bool = False
    edits: tuple[int, ...] = ()
    other: str = ""
    """of a moved one: its old or new heading"""

    @property
    def was(self) -> tuple[TextPiece, ...]:
        """Return the paragraph before."""
        return self._side({"inserted", "moved"})

    @property
    def now(self) -> tuple[TextPiece, ...]:
        """Return the paragraph now."""
        return self._side({"deleted", "away"})

    def _side(self, dropped: AbstractSet[str]) -> tuple[TextPiece, ...]:
        """Return the pieces of one version, without the space between what went and what came."""
        pieces: list[TextPiece] = []
        for number, piece in enumerate(self.pieces):
            beside = [one.kind for one in (*self.pieces[number - 1 : number], *self.pieces[number + 1 : number + 2])]
            is_between = piece.text.isspace() and len(beside) == 2 and "same" not in beside
            if piece.kind not in dropped and not (is_between and len(dropped & {*beside}) == 1):
                pieces.append(piece)
        return tuple(pieces)

    @property
    def text(self) -> str:
        """Return all its texts in one line."""
        return " ".join("".join(piece.text for piece in self.pieces).split())

    def words(self, kind: PieceKind) -> int:
        """Return the number of words of its pieces of one kind."""
        return sum(len(piece.text.split()) for piece in self.pieces if piece.kind == kind)


@dataclass(frozen=True, slots=True)
class _Block:
    start: int
    end: int
    is_heading: bool = False


def rows_of(script: Script, old: Document, new: Document) -> list[Row]:
    """Return the paragraphs of both versions in the order of the new one, deleted ones in their old
    place.
    """
    return _Rows(script, old, new).rows()


class _Rows:
    def __init__(self, script: Script, old: Document, new: Document) -> None:
        self.old, self.new = old, new
        self.old_blocks, self.new_blocks = _blocks(old), _blocks(new)
        self.old_starts = [block.start for block in self.old_blocks]
        starts = [block.start for block in self.new_blocks]
        self.inside: dict[int, list[EditMark]] = {}
        self.ahead: dict[int, list[tuple[EditMark, int, int]]] = {}
        """block → whole paragraphs before it; one key more for those after the last"""
        for mark in script.marks:
            self._place(mark, max(0, bisect_right(starts, mark.start) - 1))

    def rows(self) -> list[Row]:
        """Return all rows."""
        found: list[Row] = []
        heading = ""
        for number in range(len(self.new_blocks) + 1):
            found.extend(self._add_gone(mark, start, end, heading) for mark, start, end in self.ahead.get(number, ()))
            if number == len(self.new_blocks):
                break
            row = self._row(number, heading)
            if row.pieces:
                heading = row.text if row.is_heading else heading
                found.append(row)
        return _with_others(_pair(found))

    def _place(self, mark: EditMark, number: int) -> None:
        if mark.kind in {"inserted", "moved"}:
            while number < len(self.new_blocks) and self.new_blocks[number].start < mark.end:
                self.inside.setdefault(number, []).append(mark)
                number += 1
            return
        if not self.new_blocks:
            self.ahead.setdefault(0, []).extend((mark, start, end) for start, end, _ in self._parts(mark))
            return
        block = self.new_blocks[number]
        is_within = _has_words(self.new.text, block.start, mark.start) and _has_words(
            self.new.text, mark.start, block.end
        )
        is_behind = not is_within and _has_words(self.new.text, block.start, mark.start)
        for start, end, is_whole in self._parts(mark):
            if is_whole and not is_within:
                self.ahead.setdefault(number + is_behind, []).append((mark, start, end))
            else:
                part = EditMark(mark.kind, mark.edit, mark.start, mark.end, start, end, True, True)
                alone = mark if (start, end) == (mark.old_start, mark.old_end) else part
                self.inside.setdefault(number, []).append(alone)

    def _parts(self, mark: EditMark) -> Iterator[tuple[int, int, bool]]:
        """Yield the part of each old paragraph in a mark, and whether that is all of its words."""
        text = self.old.text
        number = max(0, bisect_right(self.old_starts, mark.old_start) - 1)
        while number < len(self.old_blocks) and self.old_blocks[number].start < mark.old_end:
            block = self.old_blocks[number]
            start, end = max(block.start, mark.old_start), min(block.end, mark.old_end)
            number += 1
            if start < end and text[start:end].strip():
                is_whole = not _has_words(text, block.start, start) and not _has_words(text, end, block.end)
                yield (block.start, block.end, True) if is_whole else (start, end, False)

    def _add_gone(self, mark: EditMark, start: int, end: int, heading: str) -> Row:
        kind: PieceKind = "away" if mark.kind == "away" else "deleted"
        piece = TextPiece(kind, _show(self.old.text[start:end]).strip())
        return Row("away" if kind == "away" else "deleted", (piece,), heading, False, (mark.edit,))

    def _row(self, number: int, heading: str) -> Row:
        block, text = self.new_blocks[number], self.new.text
        marks = self.inside.get(number)
        if not marks:
            whole = _show(text[block.start : block.end]).strip()
            return Row("same", (TextPiece("same", whole),) if whole else (), heading, block.is_heading)
        pieces: list[tuple[PieceKind, str]] = []
        at = block.start
        for mark in marks:
            if mark.kind in {"deleted", "away"}:
                start = min(max(at, mark.start), block.end)
                pieces.append(("same", text[at:start] + (" " if mark.before else "")))
                pieces.append((mark.kind, self.old.text[mark.old_start : mark.old_end]))
                pieces.append(("same", " " if mark.behind else ""))
                at = start
            else:
                start, end = max(at, mark.start), min(mark.end, block.end)
                pieces.append(("same", text[at:start]))
                pieces.append((mark.kind, text[start:end]))
                at = max(at, end)
        pieces.append(("same", text[at : block.end]))
        shown = _whole(_join(pieces))
        return Row(_kind(shown), shown, heading, block.is_heading, tuple(dict.fromkeys(mark.edit for mark in marks)))


def _pair(rows: Sequence[Row]) -> list[Row]:
    """Return rows with deleted paragraphs and as many inserted ones of the same edit joined as
    changed ones.
    """
    found: list[Row] = []
    at = 0
    while at < len(rows):
        gone = _run(rows, at, "deleted")
        came = _run(rows, at + len(gone), "inserted") if gone else []
        if gone and len(gone) == len(came) and gone[0].edits == came[0].edits:
            for before, after in zip(gone, came, strict=True):
                pieces = (*before.pieces, TextPiece("same", " "), *after.pieces)
                found.append(Row("changed", pieces, after.heading, after.is_heading, after.edits))
            at += 2 * len(gone)
        else:
            found.extend(gone or [rows[at]])
            at += len(gone) or 1
    return found


def _with_others(rows: Sequence[Row]) -> list[Row]:
    """Return rows with moved ones naming their old or new heading."""
    here = {row.text: row.heading for row in rows if row.kind == "moved"}
    away = {row.text: row.heading for row in rows if row.kind == "away"}
    if not here:
        return list(rows)
    others = {"moved": away, "away": here}
    return [replace(row, other=others[row.kind].get(row.text, "")) if row.kind in others else row for row in rows]


def _run(rows: Sequence[Row], at: int, kind: RowKind) -> list[Row]:
    """Return the consecutive rows of one kind and edit from a place on."""
    end = at
    while end < len(rows) and rows[end].kind == kind and rows[end].edits == rows[at].edits:
        end += 1
    return list(rows[at:end])


def _whole(pieces: tuple[TextPiece, ...]) -> tuple[TextPiece, ...]:
    """Return the pieces merged into one if no word is unchanged and all others share a kind."""
    kinds = {piece.kind for piece in pieces if _has_words(piece.text, 0, len(piece.text))}
    if len(kinds) != 1 or "same" in kinds:
        return pieces
    return (TextPiece(kinds.pop(), "".join(piece.text for piece in pieces)),)


def _kind(pieces: Sequence[TextPiece]) -> RowKind:
    kinds = {piece.kind for piece in pieces if piece.text.strip()}
    if kinds == {"same"} or not kinds:
        return "same"
    if len(kinds) == 1:
        return kinds.pop()
    return "changed"


def _join(pieces: Sequence[tuple[PieceKind, str]]) -> tuple[TextPiece, ...]:
    """Return adjacent pieces of one kind merged, white space collapsed, without any at the ends of
    the paragraph.
    """
    found: list[list[str]] = []
    for kind, text in pieces:
        if not text:
            continue
        if found and found[-1][0] == kind:
            found[-1][1] += text
        else:
            found.append([kind, text])
    shown = [TextPiece(kind, _show(text)) for kind, text in found]  # type: ignore[arg-type]  # kinds as they came
    if shown:
        shown[0] = TextPiece(shown[0].kind, shown[0].text.lstrip())
        shown[-1] = TextPiece(shown[-1].kind, shown[-1].text.rstrip())
    return tuple(piece for piece in shown if piece.text)


def _show(text: str) -> str:
    return tame(_SPACES.sub(" ", text))


def _has_words(text: str, start: int, end: int) -> bool:
    return start < end and _LETTER.search(text, start, end) is not None


def _blocks(document: Document) -> list[_Block]:
    """Return the non-empty paragraphs of a document."""
    if document.media == "text" and document.extraction.is_whole:
        return list(_paragraphs(document.text))
    headings = _heading_pieces(document)
    found: list[_Block] = []
    start = at = 0
    is_heading = False
    for number, piece in enumerate(document.pieces):
        if piece is BREAK:
            if document.text[start:at].strip():
                found.append(_Block(start, at, is_heading))
            start, is_heading = at + len(piece), False
        elif number in headings and piece.strip():
            is_heading = True
        at += len(piece)
    if document.text[start:at].strip():
        found.append(_Block(start, at, is_heading))
    return found


def _heading_pieces(document: Document) -> set[int]:
    """Return the pieces of headings."""
    found: set[int] = set()
    open_marks: list[tuple[int, str]] = []
    for place, name in document.marks:
        if name:
            open_marks.append((place, name))
        elif open_marks:
            start, opened = open_marks.pop()
            if opened in _HEADINGS:
                found.update(range(start, place))
    return found


def _paragraphs(text: str) -> Iterator[_Block]:
    start = 0
    for end, following in (*((match.start(), match.end()) for match in _BLANK.finditer(text)), (len(text), len(text))):
        if end - start <= LONGEST_PARAGRAPH:
            if text[start:end].strip():
                yield _Block(start, end)
        else:
            yield from _lines(text, start, end)
        start = following


def _lines(text: str, start: int, end: int) -> Iterator[_Block]:
    while start < end:
        stop = text.find("\n", start, end)
        stop = end if stop < 0 else stop
        if text[start:stop].strip():
            yield _Block(start, stop)
        start = stop + 1
