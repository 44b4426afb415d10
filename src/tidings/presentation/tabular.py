"""Edits as tables: what they are with how often, or how it was beside how it is (004 Figures 5.12 to 5.14; sentinels §6.2)."""

from __future__ import annotations

from typing import Final

from tidings.presentation.edits import EditLine, PieceKind
from tidings.presentation.lines import CHANGES
from tidings.presentation.marks import (
    EditShape,
    escape,
    inline,
    list_edit,
    mark_added,
    mark_moved,
    mark_removed,
    tag,
    thing,
    where,
    write_place,
)
from tidings.presentation.writing import cut_text


def _write_head(*names: str) -> str:
    cells = "".join(f'<th scope="col">{name}</th>' for name in names)
    return f"<table>\n<thead><tr>{cells}</tr></thead>\n<tbody>\n"


def count_entry(edit: EditLine, characters: int | None) -> str:
    """Return an edit as a row: the entry, how often it was there and is (blank: not at all, or not counted), what happened."""
    if edit.kind not in CHANGES:
        return f'<tr><td colspan="4">{_inside(edit, characters)}</td></tr>\n'
    numbers = "".join(f"<td>{f'{count:,}' if count else ''}</td>" for count in (edit.before, edit.now))
    return f"<tr><td>{_entry(edit, characters)}</td>{numbers}<td>{CHANGES[edit.kind]}</td></tr>\n"


def side_by_side(edit: EditLine, characters: int | None) -> str:
    """Return an edit as a row: how it was and how it is. A long page comes in instalments, a row for each stretch that changed."""
    old, new = cut_text(edit.old, characters), cut_text(edit.new, characters)
    match edit.kind:
        case "updated":
            return _row(write_place(edit, characters) + mark_removed(escape(old)), mark_added(escape(new)))
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
    old, new = cut_text(edit.old, characters), cut_text(edit.new, characters)
    sort = f"{tag(edit.sort)} " if edit.sort else ""
    place = write_place(edit, characters)
    match edit.kind:
        case "updated":
            return f"{place}{mark_removed(escape(old))} {mark_added(escape(new))}"
        case "deleted":
            went = mark_removed(thing(old, edit.old) if sort else escape(old))
            return sort + place + went + where(edit, characters)
        case "inserted":
            came = mark_added(thing(new, edit.new) if sort else escape(new))
            return sort + place + came + where(edit, characters)
        case "moved":
            return place + mark_moved(escape(new))
        case _:
            return _inside(edit, characters)


def _inside(edit: EditLine, characters: int | None) -> str:
    """Return what stands in the entry of a list."""
    return list_edit(edit, characters).strip().removeprefix("<li>").removesuffix("</li>")


TABLE: Final = EditShape(_write_head("Entry", "Before", "Now", "Change"), count_entry, "</tbody>\n</table>\n")
DUAL: Final = EditShape(_write_head("Before", "Now"), side_by_side, "</tbody>\n</table>\n")
