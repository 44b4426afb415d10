"""The single frame of the thesis: two versions as one rendered page, with deletions and insertions
in place (004 §3.7.1, §5.5).

Without its `<del>` it has the words of the new version, without its `<ins>` those of the old one.
Marks are inside elements, around texts only.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterator, Sequence
from itertools import accumulate
from typing import Final

from tidings.document.document import Document
from tidings.document.html.walk import BREAK
from tidings.model.observed.change import Edit
from tidings.presentation.safe.markup import clean, escape, page, rewrite
from tidings.presentation.views.script import EditMark, script_of
from tidings.record import dataclass

_OPEN: Final = {
    "inserted": '<ins class="tidings" title="added">',
    "moved": '<ins class="tidings tidings-moved" title="moved here">',
    "deleted": '<del class="tidings" title="removed">',
    "away": '<del class="tidings tidings-moved" title="moved elsewhere">',
}


@dataclass(frozen=True, slots=True)
class Merged:
    """A merged page; if it cannot be made, `html` is empty and `why_not` says why."""

    html: str
    why_not: str = ""


def merge_page(edits: Sequence[Edit], old: Document, new: Document) -> Merged:
    """Return two versions of a page as one that renders like the new one, safe as `write_page`.

    Raises `ValueError` for edits beyond the documents.

    Args:
        edits: All edits of the words of the whole pages.
        old: The version before.
        new: The version now, parsed with its tree.
    """
    marks = _Marks(script_of(edits, old, new).marks, old, new)
    made = rewrite(new, marks.text)
    if made is None:
        is_part = not new.extraction.is_whole
        return Merged("", "Only a part of the page is watched." if is_part else "This is not a web page with words.")
    made.body += clean(marks.rest())
    return Merged(page(made))


class _Marks:
    """Formats the texts of the new version with their changes."""

    def __init__(self, marks: Sequence[EditMark], old: Document, new: Document) -> None:
        self.old, self.new = old, new
        self.starts = list(accumulate(map(len, new.pieces), initial=0))
        self.at: dict[int, list[EditMark]] = defaultdict(list)
        """number of a piece → its marks, in order"""
        self.homeless: list[EditMark] = []
        for mark in marks:
            if mark.kind in {"inserted", "moved"}:
                for piece in self._pieces(mark.start, mark.end):
                    self.at[piece].append(mark)
            elif (home := self._home(mark)) is not None:
                self.at[home].append(mark)
            else:
                self.homeless.append(mark)

    def text(self, piece: int, text: str) -> str:
        """Return text node `piece` with its marks."""
        marks = self.at.pop(piece, None)
        if not marks:
            return escape(text)
        start = self.starts[piece]
        out: list[str] = []
        at = 0
        for mark in marks:
            first = min(max(at, mark.start - start), len(text))
            out.append(escape(text[at:first]))
            if mark.kind in {"inserted", "moved"}:
                at = max(first, min(mark.end - start, len(text)))
                inside = text[first:at]
                out.append(f"{_OPEN[mark.kind]}{escape(inside)}</ins>" if inside.strip() else escape(inside))
            else:
                at = first
                out.append(self._mark_gone(mark))
        out.append(escape(text[at:]))
        return "".join(out)

    def rest(self) -> str:
        """Return the deletions of a page without any text left to attach them to."""
        left = [
            *self.homeless,
            *(mark for marks in self.at.values() for mark in marks if mark.kind in {"deleted", "away"}),
        ]
        return "".join(f"<p>{self._mark_gone(mark)}</p>" for mark in left)

    def _mark_gone(self, mark: EditMark) -> str:
        shown = "<br>".join(escape(part) for part in self._parts(self.old.text[mark.old_start : mark.old_end]))
        space = " " if mark.before else ""
        return f"{space}{_OPEN[mark.kind]}{shown}</del>{' ' if mark.behind else ''}"

    def _parts(self, text: str) -> list[str]:
        """Return the paragraphs of a text, with one space for white space at its ends."""
        parts = [" ".join(part.split()) for part in text.split(BREAK)]
        lead, trail = text[:1].isspace(), text[-1:].isspace()
        nonempty = [part for part in parts if part] or [""]
        nonempty[0] = f" {nonempty[0]}" if lead else nonempty[0]
        nonempty[-1] = f"{nonempty[-1]} " if trail else nonempty[-1]
        return nonempty

    def _pieces(self, start: int, end: int) -> Iterator[int]:
        """Yield the pieces that overlap characters `start:end`."""
        piece = bisect_right(self.starts, start) - 1
        while piece < len(self.new.pieces) and self.starts[piece] < end:
            if self.new.pieces[piece] is not BREAK:
                yield piece
            piece += 1

    def _home(self, mark: EditMark) -> int | None:
        """Return the piece to which a deletion is attached: the one it followed, else the one it
        preceded; None if there is none.
        """
        here = min(bisect_right(self.starts, mark.start) - 1, len(self.new.pieces) - 1)
        before = min(bisect_right(self.starts, mark.start - 1) - 1, len(self.new.pieces) - 1) if mark.start else here
        for piece in (before, here) if mark.before else (here, before):
            if piece >= 0 and self.new.pieces[piece] is not BREAK and self.new.pieces[piece].strip():
                return piece
        words = (at for at in (*range(here + 1, len(self.new.pieces)), *range(here, -1, -1)) if self._has_text(at))
        return next(words, None)

    def _has_text(self, piece: int) -> bool:
        return self.new.pieces[piece] is not BREAK and bool(self.new.pieces[piece].strip())
