"""Changes as plain text, cut at whole changes to a channel's limit (issue A2: Telegram 4096,
Discord 2000); one line per edit in each view.

Deletions are `[-…-]`, insertions `{+…+}`, as in `git diff --word-diff`: readable without colour.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from tidings.presentation.edits import (
    EditLine,
    Record,
    edits_of,
    headline,
    in_place,
    more,
    nothing,
    page_line,
    starts_of_frames,
    times,
)
from tidings.presentation.lines import Line, edit_line
from tidings.presentation.presenter import NO_CAPTION, Caption, Form, View
from tidings.presentation.writing import cut_text, length, most_that_fit, one_line
from tidings.record import dataclass

LEAST_LINE: Final = 6
TAIL: Final = 0.4
"""The share of a message that the lines below its edits may take."""
STEPS: Final = (2_000, 400, 120)
"""Bounds for one text of an edit, tried in turn."""


@dataclass(frozen=True, slots=True)
class ChangesAsText:
    """The edits, each formatted by `line`, with what happened, where and when. Bounds are in units
    of UTF-16, as services count.

    What happened comes first, then the edits; where and when follow if there is room.
    """

    view: View = "changes"
    form: Form = "text"
    least: int = 1
    line: Line = edit_line
    shows_places: bool = False

    def size(self, text: str) -> int:
        """Return the units of UTF-16."""
        return length(text)

    def present(self, records: Sequence[Record], caption: Caption = NO_CAPTION, *, most: int | None = None) -> str:
        """Return the changes separated by empty lines; a single change that is too long keeps its
        first edits.
        """
        if not records:
            message = "a message needs at least one change"
            raise ValueError(message)
        records = [in_place(record) for record in records] if self.shows_places else records
        top = [one_line(caption.heading)] if caption.heading else []
        if len(records) == 1:
            return self._one(records[0], top, caption, most)
        kept = records if most is None else records[: most // LEAST_LINE]
        step = None if most is None else STEPS[0]
        blocks = [self._block(record, [headline(record)], caption, longest=step, room=most) for record in kept]
        foot = _foot(caption)
        whole = _join(top, [*blocks, *foot], len(records) - len(blocks))
        if most is None or length(whole) <= most:
            return whole
        return self._shorten(records, top, caption, most, blocks)

    def fragment(self, record: Record, *, most: int | None = None) -> str:
        """Return one line per edit."""
        record = in_place(record) if self.shows_places else record
        if most is None:
            return "\n".join(self._lines(record, longest=None, room=None))
        number = edits_of(record, most=0)[1]
        return self._fit(record, [], most) or cut_text(more(number) if number else nothing(record), most)

    def _shorten(
        self, records: Sequence[Record], top: Sequence[str], caption: Caption, most: int, blocks: Sequence[str]
    ) -> str:
        """Return the first changes that fit, else the beginning of the first, and how many more
        there are.
        """

        def keep(number: int) -> str:
            return _join(top, blocks[:number], len(records) - number)

        if number := most_that_fit(len(blocks), lambda count: length(keep(count)), most):
            return keep(number)
        rest = more(len(records) - 1, "change")
        room = most - length(rest) - 2
        if room < 1:
            return cut_text(rest, most)
        first = self._one(records[0], [*top, headline(records[0])], caption, room)
        return f"{first}\n\n{rest}"

    def _one(self, record: Record, top: Sequence[str], caption: Caption, most: int | None) -> str:
        """Return one change under its heading: whole, else with shorter edits, else with fewer,
        else without.

        Place and actions are dropped before much of the change is.
        """
        above = [*_apart(top, caption), *_page(record)]
        where, foot = _where(record, caption), _foot(caption)
        if most is None:
            lines = self._lines(record, longest=None, room=None)
            return "\n".join([*above, *_around(lines, _below(where, foot), caption)])
        whole = _below(where, foot)
        for below in (whole if length("\n".join(whole)) <= most * TAIL else where, where, where[:1]):
            for head in (above, top):
                if text := self._fit(record, head, most, below=below):
                    return text
        for short in ([*top, *where], [*top, *where[:1]], [*top]) if top else ():
            if length("\n".join(short)) <= most:
                return "\n".join(short)
        if text := self._fit(record, top, most):
            return text
        return cut_text(" ".join(top) or headline(record), most)

    def _fit(self, record: Record, above: Sequence[str], most: int, *, below: Sequence[str] = ()) -> str:
        """Return the edits between some lines: whole, else shorter, else fewer; empty if not even
        one fits.
        """
        for longest in STEPS:
            whole = "\n".join([*above, *self._lines(record, longest=longest, room=most), *below])
            if length(whole) <= most:
                return whole
        edits, rest = edits_of(record, most=most // LEAST_LINE + 1)
        lines = [self._label(edit, frame, STEPS[-1]) for edit, frame in starts_of_frames(edits)]

        def keep(number: int) -> str:
            left = len(lines) - number + rest
            return "\n".join([*above, *lines[:number], *([more(left)] if left else []), *below])

        number = most_that_fit(len(lines), lambda count: length(keep(count)), most)
        return keep(number) if number else ""

    def _block(
        self, record: Record, top: Sequence[str], caption: Caption, *, longest: int | None, room: int | None
    ) -> str:
        lines = self._lines(record, longest=longest, room=room)
        return "\n".join([*top, *_page(record), *_around(lines, _where(record, caption), caption)])

    def _lines(self, record: Record, *, longest: int | None, room: int | None) -> list[str]:
        if room is None:
            edits, rest = edits_of(record, longest=longest)
        else:
            edits, rest = edits_of(record, most=room // LEAST_LINE + 1)
        lines = [self._label(edit, frame, longest) for edit, frame in starts_of_frames(edits)]
        return [line for line in (*lines, more(rest) if rest else "" if lines else nothing(record)) if line]

    def _label(self, edit: EditLine, frame: str, longest: int | None) -> str:
        """Return an edit as a line, below the address of its frame at the frame's beginning."""
        line = self.line(edit, longest)
        return f"in {cut_text(frame, longest)}\n{line}" if frame else line


def _join(top: Sequence[str], blocks: Sequence[str], missing: int) -> str:
    return "\n\n".join([*top, *blocks, *([more(missing, "change")] if missing else [])])


def _page(record: Record) -> list[str]:
    """Return the line on the page, for one with a title; otherwise the address suffices."""
    return [page_line(record)] if record.get("title") else []


def _where(record: Record, caption: Caption) -> list[str]:
    return [line for line in (one_line(str(record["url"])), one_line(caption.between) or times(record)) if line]


def _foot(caption: Caption) -> list[str]:
    return ["\n".join(f"{what}: {how}" for what, how in caption.foot)] if caption.foot else []


def _around(lines: Sequence[str], where: Sequence[str], caption: Caption) -> list[str]:
    """Return edits followed by their place; for a comparison on demand it comes first."""
    return [*where, *lines] if caption.between else [*lines, *where]


def _apart(top: Sequence[str], caption: Caption) -> list[str]:
    """Return the heading of a whole message with an empty line below it."""
    return [*top, ""] if top and caption.foot else [*top]


def _below(where: Sequence[str], foot: Sequence[str]) -> list[str]:
    """Return the lines below the edits: the actions after an empty line."""
    return ["", *where, "", *foot] if foot else [*where]
