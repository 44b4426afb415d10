"""Edits as lines of plain text and as table rows, one function per view (004 §5.5, Figures 5.12 to
5.14; sentinels §6.2).

Deletions are `[-…-]`, insertions `{+…+}`, as in `git diff --word-diff`: readable without colour.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from tidings.presentation.edits import EditLine, EntryText, PieceKind
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

Line = Callable[[EditLine, int | None], str]
"""Formats an edit, each of its texts in at most so many characters (None: whole)."""
CHANGES: Final = {"updated": "updated", "deleted": "removed", "inserted": "added", "moved": "moved", "counted": "count"}
"""The names of edits in a table."""
_SIGNS: Final = ("-", "+")


def edit_line(edit: EditLine, longest: int | None) -> str:
    """Return an edit for the view of changes only."""
    old, new = cut_text(edit.old, longest), cut_text(edit.new, longest)
    place = f"{cut_text(edit.place, longest)}: " if edit.place else ""
    match edit.kind:
        case "updated" if edit.entry is not None and edit.entry.edits:
            return _entry_lines(f"{place}entry updated: {cut_text(edit.entry.title, longest)}", edit.entry, longest)
        case "updated":
            return _standing(edit, f"{_went(old)}{_came(new)}", longest)
        case "deleted" if edit.sort:
            return _entry_lines(f"{place}{edit.sort} removed: {old}{_where(edit, longest)}", edit.entry, longest)
        case "inserted" if edit.sort:
            return _entry_lines(f"{place}{edit.sort} added: {new}{_where(edit, longest)}", edit.entry, longest)
        case "deleted":
            return _standing(edit, _went(old), longest)
        case "inserted":
            return _standing(edit, _came(new), longest)
        case "moved":
            return f"moved: {_standing(edit, new, longest)}"
        case "counted":
            return f"{edit.sort} {old}: {new}{_where(edit, longest)}".lstrip()
        case "said":
            return new
        case "hunk":
            return " ".join(_piece(kind, cut_text(text, longest)) for kind, text in edit.pieces)


def _entry_lines(first: str, entry: EntryText | None, longest: int | None) -> str:
    """Return a line and, below it, the content of an entry or its changed parts."""
    if entry is None:
        return first
    below = [cut_text(part, longest) for part in (entry.by, entry.text) if part]
    below += [
        f"{name}: {_went(cut_text(old, longest))}{_came(cut_text(new, longest))}" for name, old, new in entry.edits
    ]
    return "\n".join([first, *(f"  {line}" for line in (*below, entry.link) if line)])


def _standing(edit: EditLine, shown: str, longest: int | None) -> str:
    """Return a text in context: behind its heading and label, between the words of its sentence;
    `shown` is the marked text.
    """
    one = edit.context
    place = f"{cut_text(edit.place, longest)}: " if edit.place else ""
    link = f" (link {cut_text(one.link, longest)})" if one.link else ""
    return f"{place}{cut_text(one.before, longest)}{shown}{cut_text(one.after, longest)}{link}"


def _went(text: str) -> str:
    """Return a text marked as deleted; an end mark inside it is neutralised."""
    inside = _pad_signs(text.replace("-]", r"-\]"))
    return f"[-{inside}-]"


def _came(text: str) -> str:
    """Return a text marked as inserted."""
    inside = _pad_signs(text.replace("+}", r"+\}"))
    return f"{{+{inside}+}}"


def _pad_signs(text: str) -> str:
    """Return a text padded if it begins or ends with a sign, to keep it apart from its mark: `{+
    -11 +}`.
    """
    return f" {text} " if text.startswith(_SIGNS) or text.endswith(_SIGNS) else text


def table_line(edit: EditLine, longest: int | None) -> str:
    """Return an edit as a row: what happened, the counts before and now (blank: none), and the
    entry.
    """
    if edit.kind not in CHANGES:
        return edit_line(edit, longest)
    entry = " ".join(part for part in (edit.sort, _entry(edit, longest)) if part)
    return f"{CHANGES[edit.kind]:<8}{_number(edit.before):>6}{_number(edit.now):>6}  {entry}{_where(edit, longest)}"


def dual_line(edit: EditLine, longest: int | None) -> str:
    """Return an edit as two lines, before and now; an empty side is left out."""
    old, new = cut_text(edit.old, longest), cut_text(edit.new, longest)
    sort = f"{edit.sort} " if edit.sort else ""
    match edit.kind:
        case "updated" | "deleted" | "inserted":
            sides = (f"before: {sort}{_went(old)}" if edit.kind != "inserted" else "",
                     f"now:    {sort}{_came(new)}" if edit.kind != "deleted" else "")  # fmt: skip
            place = f"{cut_text(edit.place, longest)}:" if edit.place else ""
            return "\n".join(
                [*([place] if place else []), *(f"{side}{_where(edit, longest)}" for side in sides if side)]
            )
        case "hunk":
            sides = (_side(edit, "inserted", longest), _side(edit, "deleted", longest))
            return f"before: {sides[0]}\nnow:    {sides[1]}"
        case _:
            return edit_line(edit, longest)


def _side(edit: EditLine, without: PieceKind, longest: int | None) -> str:
    return " ".join(_piece(kind, cut_text(text, longest)) for kind, text in edit.pieces if kind != without)


def _piece(kind: PieceKind, text: str) -> str:
    match kind:
        case "deleted":
            return _went(text)
        case "inserted":
            return _came(text)
        case "moved":
            return f"(moved: {text})"
        case _:
            return text


def _where(edit: EditLine, longest: int | None) -> str:
    """Return which occurrence of an object it is, as a suffix."""
    return f" ({cut_text(edit.where, longest)})" if edit.where else ""


def _entry(edit: EditLine, longest: int | None) -> str:
    old, new = cut_text(edit.old, longest), cut_text(edit.new, longest)
    place = f"{cut_text(edit.place, longest)}: " if edit.place else ""
    match edit.kind:
        case "updated":
            return f"{place}{_went(old)}{_came(new)}"
        case "counted":
            return f"{old}: {new}"
        case _:
            return place + (old or new)


def _number(count: int | None) -> str:
    return f"{count:,}" if count else ""


def _write_head(*names: str) -> str:
    cells = "".join(f'<th scope="col">{name}</th>' for name in names)
    return f"<table>\n<thead><tr>{cells}</tr></thead>\n<tbody>\n"


def count_entry(edit: EditLine, characters: int | None) -> str:
    """Return an edit as a row: the entry, the counts before and now (blank: none), what
    happened.
    """
    if edit.kind not in CHANGES:
        return f'<tr><td colspan="4">{_inside(edit, characters)}</td></tr>\n'
    numbers = "".join(f"<td>{f'{count:,}' if count else ''}</td>" for count in (edit.before, edit.now))
    return f"<tr><td>{_html_entry(edit, characters)}</td>{numbers}<td>{CHANGES[edit.kind]}</td></tr>\n"


def side_by_side(edit: EditLine, characters: int | None) -> str:
    """Return an edit as a row: before and now. A long page is split, one row for each changed
    passage.
    """
    old, new = cut_text(edit.old, characters), cut_text(edit.new, characters)
    match edit.kind:
        case "updated":
            return _row(write_place(edit, characters) + mark_removed(escape(old)), mark_added(escape(new)))
        case "deleted":
            return _row(_html_entry(edit, characters), "")
        case "inserted":
            return _row("", _html_entry(edit, characters))
        case "hunk":
            return _row(_html_side(edit, "inserted", characters), _html_side(edit, "deleted", characters))
        case _:
            return f'<tr><td colspan="2">{_inside(edit, characters)}</td></tr>\n'


def _html_side(edit: EditLine, without: PieceKind, characters: int | None) -> str:
    return inline(tuple(piece for piece in edit.pieces if piece[0] != without), characters)


def _row(left: str, right: str) -> str:
    return f"<tr><td>{left}</td><td>{right}</td></tr>\n"


def _html_entry(edit: EditLine, characters: int | None) -> str:
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
    """Return the content of a list item."""
    return list_edit(edit, characters).strip().removeprefix("<li>").removesuffix("</li>")


TABLE: Final = EditShape(_write_head("Entry", "Before", "Now", "Change"), count_entry, "</tbody>\n</table>\n")
DUAL: Final = EditShape(_write_head("Before", "Now"), side_by_side, "</tbody>\n</table>\n")
