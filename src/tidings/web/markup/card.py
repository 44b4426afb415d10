"""A change as a picture to share: its page, its edits and when it was found, as SVG without styles,
fonts or addresses that a viewer would fetch.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Final

from markupsafe import Markup, escape

from tidings.presentation.writing import cut_text, one_line
from tidings.web.markup.translations import translate

if TYPE_CHECKING:
    from tidings.presentation.edits import EditLine

WIDTH: Final = 720
LEADING: Final = 26
MARGIN: Final = 32
COLUMNS: Final = 68
"""Characters of a line, at the size of the edits."""
MOST_LINES: Final = 14
_COLOURS: Final = {"deleted": "#8f2219", "inserted": "#0f5a35", "plain": "#1a1f21", "soft": "#596164"}
_DECORATIONS: Final = {"deleted": "line-through", "inserted": "underline", "plain": "none", "soft": "none"}


def picture(title: str, host: str, edits: Sequence[EditLine], rest: int, when: str) -> str:
    """Return the picture.

    Args:
        title: The title of the page, or the name of its sentinel.
        host: The host of the page.
        edits: The first edits.
        rest: How many more there are.
        when: When the change was found, in the reader's format.
    """
    rows = [*_write(edits, rest)][:MOST_LINES]
    height = 2 * MARGIN + LEADING * (len(rows) + 3)
    parts = [
        Markup('<rect width="{}" height="{}" fill="#fbfaf8"/>').format(WIDTH, height),
        _text(MARGIN + 12, cut_text(one_line(title), COLUMNS), "plain", size=19, weight=600),
    ]
    for number, row in enumerate(rows, start=2):
        y = MARGIN + LEADING * number + 4
        spans = Markup("").join(
            Markup('<tspan fill="{}" text-decoration="{}">{}</tspan>').format(_COLOURS[kind], _DECORATIONS[kind], text)
            for kind, text in row
        )
        parts.append(
            Markup('<text x="{}" y="{}" font-size="16" xml:space="preserve">{}</text>').format(MARGIN, y, spans)
        )
    foot = " · ".join(one for one in (host, when, "Tidings") if one)
    parts.append(_text(height - MARGIN, foot, "soft", size=13, weight=400))
    return Markup(
        '<svg xmlns="http://www.w3.org/2000/svg" width="{0}" height="{1}" viewBox="0 0 {0} {1}" font-family="system-ui,'
        ' sans-serif">{2}</svg>'
    ).format(WIDTH, height, Markup("").join(parts))


def _text(y: int, text: str, kind: str, *, size: int, weight: int) -> Markup:
    return Markup('<text x="{}" y="{}" font-size="{}" font-weight="{}" fill="{}">{}</text>').format(
        MARGIN, y, size, weight, _COLOURS[kind], escape(text)
    )


def _write(edits: Sequence[EditLine], rest: int) -> Iterator[list[tuple[str, str]]]:
    """Yield the lines of the edits, each as texts with their kind."""
    for edit in edits:
        label = edit.context.label or edit.context.heading
        pieces = [("plain", f"{label}: ")] if label else []
        if edit.kind in {"moved", "counted", "said"}:
            pieces.append(("plain", ": ".join(one for one in (edit.old, edit.new) if one)))
        else:
            pieces += [("deleted", edit.old)] if edit.old else []
            pieces += [("plain", " → ")] if edit.old and edit.new else []
            pieces += [("inserted", edit.new)] if edit.new else []
        yield from _wrap(pieces)
    if rest:
        yield [("soft", translate("and {rest} more", rest=f"{rest:,}"))]


def _wrap(pieces: Sequence[tuple[str, str]]) -> Iterator[list[tuple[str, str]]]:
    line: list[tuple[str, str]] = []
    left = COLUMNS
    for kind, text in pieces:
        for word in text.replace(" ", " \n").split("\n"):
            for part in [word[n : n + COLUMNS] for n in range(0, len(word), COLUMNS)]:
                if len(part.rstrip()) > left and line:
                    yield line
                    line, left = [], COLUMNS
                line.append((kind, part))
                left -= len(part)
    if line:
        yield line
