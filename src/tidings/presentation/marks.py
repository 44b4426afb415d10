"""How single edits are marked in HTML: by elements and words that need neither colour nor style (WCAG 1.4.1).

Additions and removals are `<ins>` and `<del>`, with words that screen readers say. Texts of pages stand in elements of their own, whose
language is unknown (`lang=""`) and whose direction is their own, so that none is read with our accent or turns what stands beside it.
"""

from __future__ import annotations

import html
from collections.abc import Callable
from typing import Final

from tidings.presentation.edits import EditLine, EntryText, Piece
from tidings.presentation.writing import cut_text, length
from tidings.record import dataclass

LONG: Final = 120
"""Characters of an update from which on old and new stand one above the other."""
LONGEST_LINK: Final = 4_000
"""Bytes of an address that is linked; a longer one is only shown."""
_WEB: Final = ("http://", "https://")


@dataclass(frozen=True, slots=True)
class EditShape:
    """How edits stand together: what begins and ends them, and how each is written, its texts in so many characters (None: whole)."""

    begins: str
    write: Callable[[EditLine, int | None], str]
    ends: str


def list_edit(edit: EditLine, characters: int | None) -> str:
    """Return an edit as an entry of a list."""
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
    """Return the title of an entry, which leads where the entry does."""
    shown = escape(cut_text(title, characters))
    return make_link(shown, entry.link) if entry.link else shown


def _entry(entry: EntryText | None, characters: int | None) -> str:
    """Return what an entry says below its title, and what of it is another."""
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
    """Return which occurrence of an object it is, behind it."""
    return (
        f' <span class="tag"><bdi lang="">{escape(cut_text(edit.where, characters))}</bdi></span>' if edit.where else ""
    )


def standing(edit: EditLine, shown: str, characters: int | None) -> str:
    """Return a text where it stands: behind its heading and label, between the words of its sentence; `shown` is it with its marks."""
    one = edit.context
    place = write_place(edit, characters)
    before, after = (_beside(text, characters) for text in (one.before, one.after))
    link = f" {tag('link')} {address(one.link, characters)}" if one.link else ""
    return f"{place}{before}{shown}{after}{link}"


def write_place(edit: EditLine, characters: int | None) -> str:
    """Return the heading and the label under which a text stands, with a colon; empty if they are not known."""
    return f"{above(edit.place, characters)}: " if edit.place else ""


def above(place: str, characters: int | None) -> str:
    """Return the heading and the label of a text."""
    return f'<span class="place"><bdi lang="">{escape(cut_text(place, characters))}</bdi></span>'


def _beside(text: str, characters: int | None) -> str:
    return f'<bdi lang="">{escape(cut_text(text, characters))}</bdi>' if text else ""


def inline(pieces: tuple[Piece, ...], characters: int | None) -> str:
    """Return a stretch of a page with its changes where they stand."""
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
    """Return what is elsewhere now."""
    return f'{tag("moved:")} <bdi class="moved" lang="">{inside}</bdi>'


def mark_removed(inside: str) -> str:
    """Return what went."""
    return f'<span class="said">removed: </span><del dir="auto" lang="">{inside}</del>'


def mark_added(inside: str) -> str:
    """Return what came."""
    return f'<span class="said">added: </span><ins dir="auto" lang="">{inside}</ins>'


def tag(words: str) -> str:
    """Return a word of ours beside a text of a page."""
    return f'<span class="tag">{escape(words)}</span>'


def thing(shown: str, whole: str) -> str:
    """Return an object: an address of the web that is shown whole can be followed."""
    return address(whole, None) if shown == whole else escape(shown)


def address(url: str, characters: int | None) -> str:
    """Return an address, linked if it is one of the web; whoever is followed to learns nothing of where from."""
    shown = escape(cut_text(url, characters))
    link = make_link(shown, url)
    return link if link != shown else f'<span dir="ltr">{shown}</span>'


def make_link(inside: str, url: str) -> str:
    """Return HTML that leads to an address of the web, or alone for any other address."""
    target = escape(url)
    if not url.lower().startswith(_WEB) or len(target.encode()) > LONGEST_LINK:
        return inside
    return f'<a href="{target}" rel="noreferrer nofollow">{inside}</a>'


def escape(text: str) -> str:
    """Return a text that was tamed with the five characters escaped that mean something in HTML."""
    return html.escape(text)


LIST: Final = EditShape("<ul>\n", list_edit, "</ul>\n")
"""Edits one below the other."""
