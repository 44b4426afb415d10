"""How single edits are marked in HTML: by elements and words that need neither colour nor style (WCAG 1.4.1).

Additions and removals are `<ins>` and `<del>`, with words that screen readers say. Texts of pages stand in elements of their own, whose
language is unknown (`lang=""`) and whose direction is their own, so that none is read with our accent or turns what stands beside it.
"""

from __future__ import annotations

import html
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from tidings.presentation.edits import EditLine, EntryText, Piece
from tidings.presentation.writing import cut, length

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


def listed(edit: EditLine, characters: int | None) -> str:
    """Return an edit as an entry of a list."""
    old, new = cut(edit.old, characters), cut(edit.new, characters)
    sort = f"{tag(edit.sort)} " if edit.sort else ""
    match edit.kind:
        case "updated" if edit.entry is not None and edit.entry.edits:
            title = f'<bdi lang="">{_entry_title(edit.entry, edit.entry.title, characters)}</bdi>'
            return (
                f"<li>{placed(edit, characters)}{tag('entry updated')} {title}{_entry(edit.entry, characters)}</li>\n"
            )
        case "updated":
            kind = ' class="long"' if length(old) + length(new) > LONG else ""
            return f"<li{kind}>{standing(edit, f'{removed(escaped(old))} {added(escaped(new))}', characters)}</li>\n"
        case "deleted":
            went = removed(_thing(edit, old, edit.old, characters) if sort else escaped(old))
            ends = f"{where(edit, characters)}{_entry(edit.entry, characters)}"
            return f"<li>{sort}{standing(edit, went, characters)}{ends}</li>\n"
        case "inserted":
            came = added(_thing(edit, new, edit.new, characters) if sort else escaped(new))
            ends = f"{where(edit, characters)}{_entry(edit.entry, characters)}"
            return f"<li>{sort}{standing(edit, came, characters)}{ends}</li>\n"
        case "moved":
            return f"<li>{standing(edit, moved(escaped(new)), characters)}</li>\n"
        case "counted":
            numbers = f'<bdi lang="">{thing(old, edit.old)}</bdi>: <b>{escaped(new)}</b>'
            return f"<li>{sort}{numbers}{where(edit, characters)}</li>\n"
        case "said":
            return f"<li>{tag(new)}</li>\n"
        case "hunk":
            return f"<li>{inline(edit.pieces, characters)}</li>\n"


def _thing(edit: EditLine, shown: str, whole: str, characters: int | None) -> str:
    return thing(shown, whole) if edit.entry is None else _entry_title(edit.entry, whole, characters)


def _entry_title(entry: EntryText, title: str, characters: int | None) -> str:
    """Return the title of an entry, which leads where the entry does."""
    shown = escaped(cut(title, characters))
    return linked(shown, entry.link) if entry.link else shown


def _entry(entry: EntryText | None, characters: int | None) -> str:
    """Return what an entry says below its title, and what of it is another."""
    if entry is None:
        return ""
    lines = [tag(cut(entry.by, characters))] if entry.by else []
    lines += [f'<bdi lang="">{escaped(cut(entry.text, characters))}</bdi>'] if entry.text else []
    lines += [
        f"{tag(f'{name}:')} {removed(escaped(cut(old, characters)))} {added(escaped(cut(new, characters)))}"
        for name, old, new in entry.edits
    ]
    return "".join(f"<br>{line}" for line in lines)


def where(edit: EditLine, characters: int | None) -> str:
    """Return which occurrence of an object it is, behind it."""
    return f' <span class="tag"><bdi lang="">{escaped(cut(edit.where, characters))}</bdi></span>' if edit.where else ""


def standing(edit: EditLine, shown: str, characters: int | None) -> str:
    """Return a text where it stands: behind its heading and label, between the words of its sentence; `shown` is it with its marks."""
    one = edit.context
    place = placed(edit, characters)
    before, after = (_beside(text, characters) for text in (one.before, one.after))
    link = f" {tag('link')} {address(one.link, characters)}" if one.link else ""
    return f"{place}{before}{shown}{after}{link}"


def placed(edit: EditLine, characters: int | None) -> str:
    """Return the heading and the label under which a text stands, with a colon; empty if they are not known."""
    return f"{above(edit.place, characters)}: " if edit.place else ""


def above(place: str, characters: int | None) -> str:
    """Return the heading and the label of a text."""
    return f'<span class="place"><bdi lang="">{escaped(cut(place, characters))}</bdi></span>'


def _beside(text: str, characters: int | None) -> str:
    return f'<bdi lang="">{escaped(cut(text, characters))}</bdi>' if text else ""


def inline(pieces: tuple[Piece, ...], characters: int | None) -> str:
    """Return a stretch of a page with its changes where they stand."""
    return " ".join(_piece(piece, characters) for piece in pieces)


def _piece(piece: Piece, characters: int | None) -> str:
    kind, text = piece[0], escaped(cut(piece[1], characters))
    match kind:
        case "deleted":
            return removed(text)
        case "inserted":
            return added(text)
        case "moved":
            return moved(text)
        case _:
            return f'<bdi lang="">{text}</bdi>'


def moved(inside: str) -> str:
    """Return what is elsewhere now."""
    return f'{tag("moved:")} <bdi class="moved" lang="">{inside}</bdi>'


def removed(inside: str) -> str:
    """Return what went."""
    return f'<span class="said">removed: </span><del dir="auto" lang="">{inside}</del>'


def added(inside: str) -> str:
    """Return what came."""
    return f'<span class="said">added: </span><ins dir="auto" lang="">{inside}</ins>'


def tag(words: str) -> str:
    """Return a word of ours beside a text of a page."""
    return f'<span class="tag">{escaped(words)}</span>'


def thing(shown: str, whole: str) -> str:
    """Return an object: an address of the web that is shown whole can be followed."""
    return address(whole, None) if shown == whole else escaped(shown)


def address(url: str, characters: int | None) -> str:
    """Return an address, linked if it is one of the web; whoever is followed to learns nothing of where from."""
    shown = escaped(cut(url, characters))
    link = linked(shown, url)
    return link if link != shown else f'<span dir="ltr">{shown}</span>'


def linked(inside: str, url: str) -> str:
    """Return HTML that leads to an address of the web, or alone for any other address."""
    target = escaped(url)
    if not url.lower().startswith(_WEB) or len(target.encode()) > LONGEST_LINK:
        return inside
    return f'<a href="{target}" rel="noreferrer nofollow">{inside}</a>'


def escaped(text: str) -> str:
    """Return a text that was tamed with the five characters escaped that mean something in HTML."""
    return html.escape(text)


LIST: Final = EditShape("<ul>\n", listed, "</ul>\n")
"""Edits one below the other."""
