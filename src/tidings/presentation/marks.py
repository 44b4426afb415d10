"""Marks of single edits in HTML: elements and words, without need for colour or style (WCAG 1.4.1).

Additions and removals are `<ins>` and `<del>`, with words for screen readers. Page texts are in
elements of their own, of unknown language (`lang=""`) and with their own direction, so that they
are not read with our accent and do not reverse their surroundings.
"""

from __future__ import annotations

import html
from collections.abc import Callable
from typing import Final

from tidings.presentation.edits import EditLine, EntryText, Piece
from tidings.presentation.writing import cut_text, length
from tidings.record import dataclass

LONG: Final = 120
"""The length of an update from which old and new are stacked, in characters."""
LONGEST_LINK: Final = 4_000
"""The longest linked address, in bytes; a longer one is only shown."""
_WEB: Final = ("http://", "https://")


@dataclass(frozen=True, slots=True)
class EditShape:
    """The arrangement of edits: prefix, suffix, and the function for each, with its texts in so
    many characters (None: whole).
    """

    begins: str
    write: Callable[[EditLine, int | None], str]
    ends: str


def list_edit(edit: EditLine, characters: int | None) -> str:
    """Return an edit as a list item."""
    old, new = cut_text(edit.old, characters), cut_text(edit.new, characters)
    sort = f"{tag(edit.sort)} " if edit.sort else ""
    match edit.kind:
        case "updated" if edit.entry is not None and edit.entry.edits:
            title = f'<bdi lang="">{_entry_title(edit.entry, edit.entry.title, characters)}</bdi>'
            return f"<li>{write_place(edit, characters)}{tag('entry updated')} {title}{_entry(edit.entry, characters)}</li>\n"
        case "updated":
            kind = ' class="long"' if length(old) + length(new) > LONG else ""
            return f"<li{kind}>{standing(edit, f'{mark_removed(escape(old))} {mark_added(escape(new))}', characters)}</li>\n"
        case "deleted":
            went = mark_removed(_thing(edit, old, edit.old, characters) if sort else escape(old))
            ends = f"{where(edit, characters)}{_entry(edit.entry, characters)}"
            return f"<li>{sort}{standing(edit, went, characters)}{ends}</li>\n"
        case "inserted":
            came = mark_added(_thing(edit, new, edit.new, characters) if sort else escape(new))
            ends = f"{where(edit, characters)}{_entry(edit.entry, characters)}"
            return f"<li>{sort}{standing(edit, came, characters)}{ends}</li>\n"
        case "moved":
            return f"<li>{standing(edit, mark_moved(escape(new)), characters)}</li>\n"
        case "counted":
            numbers = f'<bdi lang="">{thing(old, edit.old)}</bdi>: <b>{escape(new)}</b>'
            return f"<li>{sort}{numbers}{where(edit, characters)}</li>\n"
        case "said":
            return f"<li>{tag(new)}</li>\n"
        case "hunk":
            return f"<li>{inline(edit.pieces, characters)}</li>\n"


def _thing(edit: EditLine, shown: str, whole: str, characters: int | None) -> str:
    return thing(shown, whole) if edit.entry is None else _entry_title(edit.entry, whole, characters)


def _entry_title(entry: EntryText, title: str, characters: int | None) -> str:
    """Return the title of an entry, linked to the entry."""
    shown = escape(cut_text(title, characters))
    return make_link(shown, entry.link) if entry.link else shown


def _entry(entry: EntryText | None, characters: int | None) -> str:
    """Return the content of an entry below its title, and its changed parts."""
    if entry is None:
        return ""
    lines = [tag(cut_text(entry.by, characters))] if entry.by else []
    lines += [f'<bdi lang="">{escape(cut_text(entry.text, characters))}</bdi>'] if entry.text else []
    lines += [
        f"{tag(f'{name}:')} {mark_removed(escape(cut_text(old, characters)))} {mark_added(escape(cut_text(new, characters)))}"
        for name, old, new in entry.edits
    ]
    return "".join(f"<br>{line}" for line in lines)


def where(edit: EditLine, characters: int | None) -> str:
    """Return which occurrence of an object it is, as a suffix."""
    return (
        f' <span class="tag"><bdi lang="">{escape(cut_text(edit.where, characters))}</bdi></span>' if edit.where else ""
    )


def standing(edit: EditLine, shown: str, characters: int | None) -> str:
    """Return a text in context: behind its heading and label, between the words of its sentence;
    `shown` is the marked text.
    """
    one = edit.context
    place = write_place(edit, characters)
    before, after = (_beside(text, characters) for text in (one.before, one.after))
    link = f" {tag('link')} {address(one.link, characters)}" if one.link else ""
    return f"{place}{before}{shown}{after}{link}"


def write_place(edit: EditLine, characters: int | None) -> str:
    """Return the heading and the label of a text, with a colon; empty if unknown."""
    return f"{above(edit.place, characters)}: " if edit.place else ""


def above(place: str, characters: int | None) -> str:
    """Return the heading and the label of a text."""
    return f'<span class="place"><bdi lang="">{escape(cut_text(place, characters))}</bdi></span>'


def _beside(text: str, characters: int | None) -> str:
    return f'<bdi lang="">{escape(cut_text(text, characters))}</bdi>' if text else ""


def inline(pieces: tuple[Piece, ...], characters: int | None) -> str:
    """Return a passage of a page with its changes in place."""
    return " ".join(_piece(piece, characters) for piece in pieces)


def _piece(piece: Piece, characters: int | None) -> str:
    kind, text = piece[0], escape(cut_text(piece[1], characters))
    match kind:
        case "deleted":
            return mark_removed(text)
        case "inserted":
            return mark_added(text)
        case "moved":
            return mark_moved(text)
        case _:
            return f'<bdi lang="">{text}</bdi>'


def mark_moved(inside: str) -> str:
    """Return moved content, marked."""
    return f'{tag("moved:")} <bdi class="moved" lang="">{inside}</bdi>'


def mark_removed(inside: str) -> str:
    """Return deleted content, marked."""
    return f'<span class="said">removed: </span><del dir="auto" lang="">{inside}</del>'


def mark_added(inside: str) -> str:
    """Return inserted content, marked."""
    return f'<span class="said">added: </span><ins dir="auto" lang="">{inside}</ins>'


def tag(words: str) -> str:
    """Return a label of ours beside a page text."""
    return f'<span class="tag">{escape(words)}</span>'


def thing(shown: str, whole: str) -> str:
    """Return an object; a web address that is shown whole is linked."""
    return address(whole, None) if shown == whole else escape(shown)


def address(url: str, characters: int | None) -> str:
    """Return an address, linked if it is a web address, without referrer."""
    shown = escape(cut_text(url, characters))
    link = make_link(shown, url)
    return link if link != shown else f'<span dir="ltr">{shown}</span>'


def make_link(inside: str, url: str) -> str:
    """Return HTML linked to a web address, or unlinked for any other address."""
    target = escape(url)
    if not url.lower().startswith(_WEB) or len(target.encode()) > LONGEST_LINK:
        return inside
    return f'<a href="{target}" rel="noreferrer nofollow">{inside}</a>'


def escape(text: str) -> str:
    """Return a tamed text with the five special characters of HTML escaped."""
    return html.escape(text)


LIST: Final = EditShape("<ul>\n", list_edit, "</ul>\n")
"""Edits as a list."""
