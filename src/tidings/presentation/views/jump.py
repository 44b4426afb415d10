"""The jump bar beside a comparison: a cell for each edit, where on the page it stands, a link to it with its name (`svg.jump`)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from tidings.presentation.marks import escape
from tidings.presentation.writing import cut_text
from tidings.record import dataclass

TALL: Final = 600
"""Height of the bar in its own units."""
MOST_CELLS: Final = 120
"""Cells of a bar; of more edits the first are shown."""
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
    """An edit in the bar: the id of its paragraph, what it is called, its kind, where it begins and ends, as parts of the page (0 to 1)."""

    id: str
    label: str
    kind: str
    start: float
    end: float


def cell(number: int, heading: str, kind: str, start: float, end: float) -> JumpCell:
    """Return the cell of edit `number` (from 1) under a heading, from `start` to `end` as parts of the page, of a kind of row."""
    name = ", ".join(part for part in (cut_text(heading, 60), _WORDS[kind]) if part)
    return JumpCell(f"e{number}", name, kind, start, end)


def jump(cells: Sequence[JumpCell]) -> str:
    """Return the bar as SVG; empty without cells. Each cell is a link with a title, so that neither colour nor a pointer is needed."""
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
