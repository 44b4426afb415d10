"""Edits as tables: what they are with how often, or how it was beside how it is (004 Figures 5.12 to 5.14; sentinels §6.2)."""

from __future__ import annotations

from typing import Final

from tidings.presentation.edits import EditLine, PieceKind
from tidings.presentation.lines import CHANGES
from tidings.presentation.marks import (
    EditShape,
    added,
    escaped,
    inline,
    listed,
    moved,
    placed,
    removed,
    tag,
    thing,
    where,
)
from tidings.presentation.writing import cut


def _headed(*names: str) -> str:
    cells = "".join(f'<th scope="col">{name}</th>' for name in names)
    return f"<table>\n<thead><tr>{cells}</tr></thead>\n<tbody>\n"


def counted(edit: EditLine, characters: int | None) -> str:
    """Return an edit as a row: the entry, how often it was there and is (blank: not at all, or not counted), what happened."""
    if edit.kind not in CHANGES:
        return f'<tr><td colspan="4">{_inside(edit, characters)}</td></tr>\n'
    numbers = "".join(f"<td>{f'{count:,}' if count else ''}</td>" for count in (edit.before, edit.now))
    return f"<tr><td>{_entry(edit, characters)}</td>{numbers}<td>{CHANGES[edit.kind]}</td></tr>\n"


def side_by_side(edit: EditLine, characters: int | None) -> str:
    """Return an edit as a row: how it was and how it is. A long page comes in instalments, a row for each stretch that changed."""
    old, new = cut(edit.old, characters), cut(edit.new, characters)
    match edit.kind:
        case "updated":
            return _row(placed(edit, characters) + removed(escaped(old)), added(escaped(new)))
        case "deleted":
            return _row(_entry(edit, characters), "")
        case "inserted":
            return _row("", _entry(edit, characters))
        case "hunk":
            return _row(_side(edit, "inserted", characters), _side(edit, "deleted", characters))
        case _:
            return f'<tr><td colspan="2">{_inside(edit, characters)}</td></tr>\n'


def _side(edit: EditLine, without: PieceKind, characters: int | None) -> str:
    return inline(tuple(piece for piece in edit.pieces if piece[0] != without), characters)


def _row(left: str, right: str) -> str:
    return f"<tr><td>{left}</td><td>{right}</td></tr>\n"


def _entry(edit: EditLine, characters: int | None) -> str:
    old, new = cut(edit.old, characters), cut(edit.new, characters)
    sort = f"{tag(edit.sort)} " if edit.sort else ""
    place = placed(edit, characters)
    match edit.kind:
        case "updated":
            return f"{place}{removed(escaped(old))} {added(escaped(new))}"
        case "deleted":
            went = removed(thing(old, edit.old) if sort else escaped(old))
            return sort + place + went + where(edit, characters)
        case "inserted":
            came = added(thing(new, edit.new) if sort else escaped(new))
            return sort + place + came + where(edit, characters)
        case "moved":
            return place + moved(escaped(new))
        case _:
            return _inside(edit, characters)


def _inside(edit: EditLine, characters: int | None) -> str:
    """Return what stands in the entry of a list."""
    return listed(edit, characters).strip().removeprefix("<li>").removesuffix("</li>")


TABLE: Final = EditShape(_headed("Entry", "Before", "Now", "Change"), counted, "</tbody>\n</table>\n")
DUAL: Final = EditShape(_headed("Before", "Now"), side_by_side, "</tbody>\n</table>\n")
