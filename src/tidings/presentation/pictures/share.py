"""One change as a picture to share: an SVG of bounded size, and the same as text.

Nothing in it is active or fetched, its texts are escaped; deletions are struck and insertions
underlined, so that no colour is needed.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from tidings.document.document import Document
from tidings.model.observed.change import ChangeSet
from tidings.presentation.edits import more
from tidings.presentation.marks import escape
from tidings.presentation.views.pages import near
from tidings.presentation.views.rows import Row, TextPiece, rows_of
from tidings.presentation.views.script import MOST_EDITS, script_of
from tidings.presentation.views.table import TableLine, lines_of
from tidings.presentation.writing import cut_text, one_line, places
from tidings.record import dataclass

WIDE: Final = 760
"""Width of the picture in pixels."""
MOST_LINES: Final = 28
"""The most lines of text of a picture; further ones are counted."""
MOST_PLACES: Final = 92
"""The width of a line in columns (a wide letter takes two)."""
_HIGH: Final = 22
_EDGE: Final = 24
_LONGEST: Final = 1_500
_FORBIDDEN: Final = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_STYLES: Final = {
    "same": "",
    "deleted": ' fill="#8f2219" text-decoration="line-through"',
    "away": ' fill="#8f2219" text-decoration="line-through"',
    "inserted": ' fill="#0f5a35" text-decoration="underline"',
    "moved": ' fill="#0a666c" font-style="italic"',
}


@dataclass(frozen=True, slots=True)
class Shared:
    """A change to share: as SVG, and as text with `[-…-]` for deletions and `{+…+}` for
    insertions.
    """

    svg: str
    text: str


def share_change(change: ChangeSet, old: Document, new: Document, *, title: str, source: str, when: str) -> Shared:
    """Return a change as a picture and as text.

    Raises `ValueError` for documents to which the edits do not belong.

    Args:
        change: The findings.
        old: The version before, the part of it whose words the edits index.
        new: The version now, the same part.
        title: What happened, in a line.
        source: The address of the page.
        when: The time, as displayed.
    """
    rows = [row for row in rows_of(script_of(change.edits[:MOST_EDITS], old, new), old, new) if row.kind != "same"]
    paragraphs = [list(near(row.pieces)) for row in rows] or [_pieces(line) for line in lines_of(change)]
    heads = [_heading(row) for row in rows] or [""] * len(paragraphs)
    title, source, when = (cut_text(one_line(text[:_LONGEST]), 200) for text in (title, source, when))
    lines: list[list[TextPiece]] = []
    left = 0
    for head, pieces in zip(heads, paragraphs, strict=True):
        wrapped = [*([[TextPiece("same", head)]] if head else []), *_wrap(pieces)]
        if len(lines) + len(wrapped) > MOST_LINES and lines:
            left += 1
            continue
        lines += wrapped[:MOST_LINES]
    rest = more(left, "change") if left else ""
    texts = [title, " · ".join(part for part in (source, when) if part), ""]
    texts += ["".join(_mark(piece) for piece in line).strip() for line in lines]
    texts += [rest] if rest else []
    return Shared(_svg(title, f"{source}  {when}".strip(), lines, rest), "\n".join(texts))


def _heading(row: Row) -> str:
    return f"{row.heading}:" if row.heading and not row.is_heading else ""


def _pieces(line: TableLine) -> list[TextPiece]:
    name = ": ".join(part for part in (line.place, line.name) if part)
    if line.old and line.old == line.new:
        return [TextPiece("same", one_line(f"{name} {line.old[:_LONGEST]}: {line.difference}"))]
    found = [TextPiece("same", one_line(name) + " ")] if name else []
    found += [TextPiece("deleted", one_line(line.old[:_LONGEST]))] if line.old else []
    found += [TextPiece("same", " ")] if line.old and line.new else []
    return found + ([TextPiece("inserted", one_line(line.new[:_LONGEST]))] if line.new else [])


def _wrap(pieces: Iterable[TextPiece]) -> list[list[TextPiece]]:
    """Return pieces in lines of at most `MOST_PLACES`; a word longer than a line is cut."""
    lines: list[list[TextPiece]] = [[]]
    room = MOST_PLACES
    for piece in pieces:
        for word in re.findall(r"\s+|\S+", cut_text(piece.text, _LONGEST)):
            for part in _break_word(word):
                size = places(part)
                if size > room and lines[-1]:
                    lines.append([])
                    room = MOST_PLACES
                    if part.isspace():
                        continue
                lines[-1].append(TextPiece(piece.kind, part))
                room -= size
    return [_join(line) for line in lines if line]


def _break_word(word: str) -> Iterator[str]:
    step = MOST_PLACES // 2
    yield from (word[at : at + step] for at in range(0, len(word), step)) if places(word) > MOST_PLACES else (word,)


def _join(line: Sequence[TextPiece]) -> list[TextPiece]:
    found: list[TextPiece] = []
    for piece in line:
        if found and found[-1].kind == piece.kind:
            found[-1] = TextPiece(piece.kind, found[-1].text + piece.text)
        else:
            found.append(piece)
    return found


def _mark(piece: TextPiece) -> str:
    match piece.kind:
        case "deleted" | "away":
            return f"[-{piece.text.replace('-]', '-' + chr(92) + ']')}-]"
        case "inserted":
            return f"{{+{piece.text.replace('+}', '+' + chr(92) + '}')}+}}"
        case "moved":
            return f"(moved: {piece.text})"
        case _:
            return piece.text


def _svg(title: str, where: str, lines: Sequence[Sequence[TextPiece]], rest: str) -> str:
    shown = [
        (f'font-size="17" font-weight="600">{_text(cut_text(title, 80))}', 0),
        (f'font-size="12" fill="#596164">{_text(where)}', 0),
    ]
    shown += [(f'font-size="14" xml:space="preserve">{"".join(_span(piece) for piece in line)}', 1) for line in lines]
    shown += [(f'font-size="12" fill="#596164">{_text(rest)}', 1)] if rest else []
    high = 2 * _EDGE + _HIGH * len(shown) + 12
    body = "".join(
        f'<text x="{_EDGE}" y="{_EDGE + 14 + _HIGH * number + 12 * below}" {text}</text>'
        for number, (text, below) in enumerate(shown)
    )
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDE}" height="{high}" viewBox="0 0 {WIDE} {high}" role="img" '
        f'font-family="system-ui, sans-serif" fill="#1a1f21"><title>{_text(title)}</title>'
        f'<rect width="{WIDE}" height="{high}" fill="#fbfaf8"/>{body}</svg>\n'
    )


def _span(piece: TextPiece) -> str:
    style = _STYLES[piece.kind]
    return f"<tspan{style}>{_text(piece.text)}</tspan>" if style else _text(piece.text)


def _text(text: str) -> str:
    return escape(_FORBIDDEN.sub("\ufffd", text))
