"""Paragraphs drawn: changes only, both versions in one page, both side by side (004 §5.5); and the
jump bar, with a cell and a link for each edit at its place on the page (`svg.jump`). Markup and
classes match the web page's style sheet.

Insertions are `<ins>`, underlined; deletions `<del>`, struck; each with words for screen readers;
beside a changed paragraph stands its kind of edit. No colour is needed.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from typing import Final

from tidings.presentation.hypertext import escape
from tidings.presentation.views.rows import Row, TextPiece
from tidings.presentation.writing import cut_text, more
from tidings.record import dataclass

TALL: Final = 600
"""The height of the bar in its own units."""
MOST_CELLS: Final = 120
"""The most cells of a bar; further edits are dropped."""
_LEAST = 8
_CLASSES: Final = {"changed": "f1", "inserted": "fa", "deleted": "fb", "moved": "fi", "away": "fi"}
_WORDS: Final = {
    "changed": "updated",
    "inserted": "inserted",
    "deleted": "removed",
    "moved": "moved",
    "away": "moved away",
}


@dataclass(frozen=True, slots=True)
class JumpCell:
    """An edit in the bar: the id of its paragraph, its name, its kind, its start and end as
    fractions of the page (0 to 1).
    """

    id: str
    label: str
    kind: str
    start: float
    end: float


def cell(number: int, heading: str, kind: str, start: float, end: float) -> JumpCell:
    """Return the cell of edit `number` (from 1) under a heading, from `start` to `end` as fractions
    of the page, of a kind of row.
    """
    name = ", ".join(part for part in (cut_text(heading, 60), _WORDS[kind]) if part)
    return JumpCell(f"e{number}", name, kind, start, end)


def jump(cells: Sequence[JumpCell]) -> str:
    """Return the bar as SVG; empty without cells. Each cell is a titled link, so that neither
    colour nor a pointer is needed.
    """
    if not cells:
        return ""
    drawn = "".join(_draw(one) for one in cells[:MOST_CELLS])
    return (
        f'<svg class="jump" viewBox="0 0 12 {TALL}" preserveAspectRatio="none" aria-label="Where the edits are">'
        f'<rect class="f0" width="12" height="{TALL}" rx="2"/>{drawn}</svg>'
    )


def _draw(one: JumpCell) -> str:
    high = min(TALL, max(_LEAST, round((one.end - one.start) * TALL)))
    top = min(TALL - high, round(one.start * TALL))
    name = escape(one.label)
    return (
        f'<a href="#{one.id}" aria-label="{name}"><title>{name}</title>'
        f'<rect class="{_CLASSES[one.kind]}" x="1" y="{top}" width="10" height="{high}" rx="1"/></a>'
    )


AROUND: Final = 12
"""Words shown around a change if only the changes are shown."""
NEAR: Final = 1
"""Unchanged paragraphs that stay unfolded before and after a changed one."""
MOST_EDITED: Final = 400
"""The most changed paragraphs of one page."""
MOST_FOLDED: Final = 40
"""The most unchanged paragraphs in an opened fold."""
LONGEST: Final = 20_000
"""The longest displayed text, in characters."""
_MOVE: Final = '<svg class="i" aria-hidden="true"><use href="#i-move"/></svg>'
_MARKS: Final = {"inserted": ("ins", "added: "), "deleted": ("del", "removed: "), "away": ("del", "moved away: ")}


@dataclass(frozen=True, slots=True)
class Drawn:
    """A view as HTML, and the cells of its jump bar. `left` is the number of dropped changed
    paragraphs.
    """

    html: str
    cells: tuple[JumpCell, ...] = ()
    left: int = 0


@dataclass(frozen=True, slots=True)
class _Numbered:
    row: Row
    number: int
    """of a changed paragraph, from 1; 0 for others"""
    start: float
    end: float


def only(rows: Sequence[Row], ignore: str = "") -> Drawn:
    """Return the changed paragraphs only, long ones cut around the changes. `ignore` is as in
    `one_page`.
    """
    numbered, cells, left = _number(rows)
    parts: list[str] = []
    heading = ""
    for one in numbered:
        if not one.number:
            continue
        if one.row.heading != heading and not one.row.is_heading:
            heading = one.row.heading
            parts.append(f'<h2 dir="auto">{escape(cut_text(heading, LONGEST))}</h2>\n' if heading else "")
        parts.append(_paragraph(one, ignore, short=True))
    return Drawn(_article("".join(parts), left), cells, left)


def one_page(rows: Sequence[Row], ignore: str = "") -> Drawn:
    """Return both versions in one page: changed paragraphs with marks, distant unchanged ones
    folded.

    `ignore` is the target of *Not relevant*, to which the number of the edit is appended; empty for
    no such link.
    """
    numbered, cells, left = _number(rows)
    parts = [
        _fold(run) if is_far else "".join(_paragraph(one, ignore) for one in run) for is_far, run in _runs(numbered)
    ]
    return Drawn(_article("".join(parts), left), cells, left)


def two_pages(rows: Sequence[Row], before: str, now: str, *, folds: bool = True) -> Drawn:
    """Return both versions side by side, one table row per paragraph, so that they scroll together.

    `rows` are both versions; `before` and `now` are the column heads. Without `folds`, unchanged
    paragraphs are shown too.
    """
    numbered, cells, left = _number(rows)
    parts: list[str] = []
    heading = ""
    for is_far, run in _runs(numbered):
        if folds and is_far:
            parts.append(_gap(len(run)))
            continue
        for one in run:
            if folds and one.row.heading and one.row.heading != heading and not one.row.is_heading:
                heading = one.row.heading
                parts.append(_group(heading))
            parts.append(_pair(one))
            heading = one.row.text if one.row.is_heading else heading
    head = "".join(f'<th scope="col">{escape(cut_text(one, LONGEST))}</th>' for one in (before, now))
    body = "".join(parts)
    rest = f'<p class="small soft">{escape(more(left, "change"))}</p>' if left else ""
    table = f'<table class="pair"><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>'
    return Drawn(
        f'<div class="scroll" tabindex="0" role="region" aria-label="Both versions, side by side">{table}</div>{rest}',
        cells,
        left,
    )


def _number(rows: Sequence[Row]) -> tuple[list[_Numbered], tuple[JumpCell, ...], int]:
    """Return the rows with the numbers and places of changed ones, their cells, and how many were
    dropped.
    """
    sizes = [max(1, len(row.text)) for row in rows]
    whole = sum(sizes) or 1
    found: list[_Numbered] = []
    cells: list[JumpCell] = []
    at = changed = 0
    for row, size in zip(rows, sizes, strict=True):
        start, at = at / whole, at + size
        is_changed = row.kind != "same"
        changed += is_changed
        if changed > MOST_EDITED and is_changed:
            continue
        found.append(_Numbered(row, changed if is_changed else 0, start, at / whole))
        if is_changed:
            heading = row.text if row.is_heading else row.heading
            cells.append(cell(changed, heading, row.kind, start, at / whole))
    return found, tuple(cells), max(0, changed - MOST_EDITED)


def _runs(rows: Sequence[_Numbered]) -> Iterator[tuple[bool, list[_Numbered]]]:
    """Yield runs of rows, each with whether it is far from all changes and their headings; two or
    more such rows fold.
    """
    near: set[int] = set()
    heading = -1
    for place, one in enumerate(rows):
        heading = place if one.row.is_heading else heading
        if one.number:
            near.update((heading, *range(place - NEAR, place + NEAR + 1)))
    for is_far, places in groupby(range(len(rows)), lambda place: place not in near):
        run = [rows[place] for place in places]
        yield is_far and len(run) > 1, run


def _article(inside: str, left: int) -> str:
    rest = f'<p class="small soft">{escape(more(left, "change"))}</p>\n' if left else ""
    return f'<article class="doc" aria-label="The page with its edits">\n{inside}{rest}</article>'


def _fold(run: Sequence[_Numbered]) -> str:
    shown = " ".join(_text(one.row.pieces) for one in run[:MOST_FOLDED])
    rest = f" {escape(more(len(run) - MOST_FOLDED, 'paragraph'))}" if len(run) > MOST_FOLDED else ""
    return (
        f'<details class="fold"><summary>{len(run):,} unchanged paragraphs</summary>'
        f'<p class="soft" dir="auto">{shown}{rest}</p></details>\n'
    )


def _gap(number: int) -> str:
    return f'<tr><td colspan="2" class="soft">{number:,} unchanged paragraphs</td></tr>'


def _group(heading: str) -> str:
    return f'<tr class="grp"><th colspan="2" scope="colgroup" dir="auto">{escape(cut_text(heading, LONGEST))}</th></tr>'


def _paragraph(one: _Numbered, ignore: str, *, short: bool = False) -> str:
    row = one.row
    tag = "h2" if row.is_heading and not one.number else "p"
    if not one.number:
        return f'<{tag} dir="auto">{_text(row.pieces)}</{tag}>\n'
    pieces = near(row.pieces) if short else row.pieces
    at = " at" if one.number == 1 else ""
    return f'<p class="ch{at}" id="e{one.number}" dir="auto">{_note(row, ignore)}{_text(pieces)}</p>\n'


def _note(row: Row, ignore: str) -> str:
    """Return the marginal note of a changed paragraph: its kind of edit, and the link to ignore
    it.
    """
    link = f'<br><a href="{escape(ignore + str(row.edits[0]))}">Not relevant</a>' if ignore and row.edits else ""
    return f'<small class="mn">{kind_of_edit(row)}{link}</small>'


def kind_of_edit(row: Row) -> str:
    """Return the kind of edit of a changed paragraph, in words."""
    came, went = row.words("inserted"), row.words("deleted")
    other = escape(cut_text(row.other, 60))
    match row.kind:
        case "inserted":
            return f"new paragraph, {_words(came)}"
        case "deleted":
            return f"paragraph removed, {_words(went)}"
        case "moved":
            return f"{_MOVE} moved here{f' from {other}' if other else ''}"
        case "away":
            return f"{_MOVE} moved {f'to {other}' if other else 'elsewhere'}"
        case _:
            values = [piece for piece in row.pieces if piece.kind == "inserted"]
            if came == went == len(values) and all(any(c.isdigit() for c in piece.text) for piece in values):
                return "1 value updated" if came == 1 else f"{came} values updated"
            moved = row.words("moved") + row.words("away")
            parts = [
                f"{came:,} in" if came else "",
                f"{went:,} out" if went else "",
                f"{moved:,} moved" if moved else "",
            ]
            return "reworded, words: " + ", ".join(part for part in parts if part)


def _words(count: int) -> str:
    return "1 word" if count == 1 else f"{count:,} words"


def _pair(one: _Numbered) -> str:
    row = one.row
    if not one.number:
        text = _text(row.pieces)
        if row.is_heading:
            return f'<tr class="grp"><th colspan="2" scope="colgroup" dir="auto">{text}</th></tr>'
        return f'<tr><td dir="auto">{text}</td><td dir="auto">{text}</td></tr>'
    was, now = _text(row.was), _text(row.now)
    if row.kind == "inserted":
        was = '<span class="soft">nothing</span>'
    if row.kind == "deleted":
        now = '<span class="soft">nothing</span>'
    if row.kind == "moved":
        was = f'<span class="soft">{_MOVE} stood {_under(row)}</span>'
    if row.kind == "away":
        now = f'<span class="soft">{_MOVE} stands {_under(row)} now</span>'
    return f'<tr id="e{one.number}"><td dir="auto">{was}</td><td dir="auto">{now}</td></tr>'


def _under(row: Row) -> str:
    return f"in {escape(cut_text(row.other, 60))}" if row.other else "elsewhere"


def near(pieces: Sequence[TextPiece]) -> Iterable[TextPiece]:
    """Return pieces without unchanged text far from a change."""
    for place, piece in enumerate(pieces):
        words = piece.text.split()
        if piece.kind != "same" or len(words) <= 2 * AROUND:
            yield piece
            continue
        head = " ".join(words[:AROUND]) if place else ""
        tail = " ".join(words[-AROUND:]) if place < len(pieces) - 1 else ""
        lead = " " if head and piece.text[:1].isspace() else ""
        trail = " " if tail and piece.text[-1:].isspace() else ""
        yield TextPiece("same", f"{lead}{head} … {tail}{trail}".replace("  ", " "))


def _text(pieces: Iterable[TextPiece]) -> str:
    return "".join(_piece(piece) for piece in _space(pieces))


def _space(pieces: Iterable[TextPiece]) -> Iterator[TextPiece]:
    """Yield pieces with white space moved out of the ends of marks."""
    for piece in pieces:
        inner = piece.text.strip()
        if piece.kind == "same" or not inner or inner == piece.text:
            yield piece
            continue
        if piece.text[0].isspace():
            yield TextPiece("same", " ")
        yield TextPiece(piece.kind, inner)
        if piece.text[-1].isspace():
            yield TextPiece("same", " ")


def _piece(piece: TextPiece) -> str:
    text = escape(cut_text(piece.text, LONGEST))
    if piece.kind == "same" or not piece.text.strip():
        return text
    if piece.kind == "moved":
        return f'<span class="sr">moved here: </span><bdi class="moved">{text}</bdi>'
    tag, label = _MARKS[piece.kind]
    return f'<span class="sr">{label}</span><{tag}>{text}</{tag}>'
