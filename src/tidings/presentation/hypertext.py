"""Only the changes, as HTML: nothing is loaded from anywhere, everything of the page is escaped once (trust.md R-11, H-077 to H-084).

Additions and removals are `<ins>` and `<del>`, with signs that show and words that screen readers say (WCAG 1.4.1): neither colour nor
style is needed. Texts of pages stand in elements of their own, whose language is unknown (`lang=""`) and whose direction is their own,
so that none is read with our accent or turns what stands beside it.
"""

from __future__ import annotations

import html
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from tidings.presentation.edits import Edit, Record, edits_of, headline, more, nothing, seen_at, starts_of_frames
from tidings.presentation.presenter import NO_CAPTION, Caption, Form, View
from tidings.presentation.sheet import POLICY, STYLE
from tidings.presentation.writing import cut, length, most_that_fit, one_line

STEPS: Final = ((4_000, 200), (1_000, 100), (400, 40), (120, 10), (60, 1))
"""Tried in turn where there is a bound: characters of a text, edits of a change."""
LONGEST_HEADING: Final = 400
LONGEST_SHOWN_ADDRESS: Final = 200
LONGEST_LINK: Final = 4_000
"""Bytes of an address that is linked; a longer one is only shown."""
LONG: Final = 120
"""Characters of an update from which on old and new stand one above the other."""
ENDS: Final = "</ul>\n"
_WEB: Final = ("http://", "https://")


@dataclass(frozen=True, slots=True)
class ChangesAsHtml:
    """A small page, or a list to stand in a letter or another page. Bounds are in bytes of UTF-8."""

    view: View = "changes"
    form: Form = "html"
    least: int = 16_384

    def size(self, text: str) -> int:
        """Return the bytes of UTF-8."""
        return len(text.encode())

    def present(self, records: Sequence[Record], caption: Caption = NO_CAPTION, *, most: int | None = None) -> str:
        """Return a whole document with an article for each change."""
        if not records:
            message = "a page needs at least one change"
            raise ValueError(message)
        if most is None:
            return document(_articles(records, caption, None, None), caption)
        articles: list[str] = []
        for characters, edits in STEPS:
            articles = _articles(records, caption, characters, edits)
            whole = document(articles, caption)
            if self.size(whole) <= most:
                return whole

        def kept(number: int) -> str:
            return document(articles[:number], caption, missing=len(articles) - number)

        return kept(max(1, most_that_fit(len(articles), lambda number: self.size(kept(number)), most)))

    def fragment(self, record: Record, *, most: int | None = None) -> str:
        """Return the list of edits, without a sheet of style: it can be read without one."""
        if most is None:
            return _edits(record, None, None)
        part = ""
        for characters, edits in STEPS:
            part = _edits(record, characters, edits)
            if self.size(part) <= most:
                break
        return part


def document(articles: Sequence[str], caption: Caption, *, missing: int = 0) -> str:
    """Return the page around what is HTML already; `missing` changes are counted after it."""
    title = _escaped(cut(one_line(caption.heading), LONGEST_HEADING)) or "What changed"
    rest = f"<p>{more(missing, 'change')}</p>\n" if missing else ""
    whose = _escaped(cut(one_line(caption.sentinel), LONGEST_HEADING))
    why = f"Told by Tidings: the sentinel <bdi>{whose}</bdi> watches for this." if whose else "Told by Tidings."
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<meta name="color-scheme" content="light dark">\n<meta name="referrer" content="no-referrer">\n'
        f"<title>{title}</title>\n<style>{STYLE}</style>\n</head>\n<body>\n<main>\n"
        f'<h1 dir="auto">{title}</h1>\n{"".join(articles)}{rest}<footer>{why}</footer>\n</main>\n</body>\n</html>\n'
    )


def _articles(records: Sequence[Record], caption: Caption, characters: int | None, most: int | None) -> list[str]:
    titled = len(records) > 1 or not caption.heading
    return [_article(record, caption, characters, most, titled=titled) for record in records]


def _article(record: Record, caption: Caption, characters: int | None, most: int | None, *, titled: bool) -> str:
    shown = _escaped(cut(headline(record), LONGEST_HEADING))
    title = f'<h2 dir="auto">{shown}</h2>\n' if titled else ""
    return f'<article>\n{title}<p class="where">{_where(record, caption)}</p>\n{_edits(record, characters, most)}</article>\n'


def _where(record: Record, caption: Caption) -> str:
    when = one_line(caption.between) or seen_at(record)
    kind = cut(one_line(str(record.get("kind") or "")), LONGEST_HEADING)
    line = " · ".join(_escaped(part) for part in (when, kind) if part)
    address = _address(one_line(str(record["url"])), LONGEST_SHOWN_ADDRESS)
    return f"{address}<br>{line}" if line else address


def _edits(record: Record, characters: int | None, most: int | None) -> str:
    if characters is None:
        edits, rest = edits_of(record, most=most, longest=None)
    else:
        edits, rest = edits_of(record, most=most)
    if not edits and not rest:
        words = nothing(record)
        return f"<p>{words}</p>\n" if words else ""
    lines = "".join(f"{_frame(frame)}{_line(edit, characters)}" for edit, frame in starts_of_frames(edits))
    after = f"<p>{more(rest)}</p>\n" if rest else ""
    begins = "" if edits and edits[0].frame else "<ul>\n"
    return f"{begins}{lines.removeprefix(ENDS)}</ul>\n{after}"


def _frame(url: str) -> str:
    """Return what stands where the edits of a frame begin: the end of the list before, and the frame's address above its own."""
    return f'{ENDS}<p class="where">in {_address(url, LONGEST_SHOWN_ADDRESS)}</p>\n<ul>\n' if url else ""


def _line(edit: Edit, characters: int | None) -> str:
    old, new = cut(edit.old, characters), cut(edit.new, characters)
    sort = f"{_tag(edit.sort)} " if edit.sort else ""
    match edit.kind:
        case "updated":
            kind = ' class="long"' if length(old) + length(new) > LONG else ""
            return f"<li{kind}>{_removed(_escaped(old))} {_added(_escaped(new))}</li>\n"
        case "deleted":
            return f"<li>{sort}{_removed(_object(old, edit.old) if sort else _escaped(old))}</li>\n"
        case "inserted":
            return f"<li>{sort}{_added(_object(new, edit.new) if sort else _escaped(new))}</li>\n"
        case "moved":
            return f'<li>{_tag("moved:")} <bdi class="moved" lang="">{_escaped(new)}</bdi></li>\n'
        case "counted":
            return f'<li>{sort}<bdi lang="">{_object(old, edit.old)}</bdi>: <b>{_escaped(new)}</b></li>\n'
        case "said":
            return f"<li>{_tag(new)}</li>\n"


def _removed(inside: str) -> str:
    return f'<span class="said">removed: </span><del dir="auto" lang="">{inside}</del>'


def _added(inside: str) -> str:
    return f'<span class="said">added: </span><ins dir="auto" lang="">{inside}</ins>'


def _tag(words: str) -> str:
    return f'<span class="tag">{_escaped(words)}</span>'


def _object(shown: str, whole: str) -> str:
    """Return an object: an address of the web that is shown whole can be followed."""
    return _address(whole, None) if shown == whole else _escaped(shown)


def _address(url: str, characters: int | None) -> str:
    """Return an address, linked if it is one of the web; whoever is followed to learns nothing of where from."""
    shown, target = _escaped(cut(url, characters)), _escaped(url)
    if not url.lower().startswith(_WEB) or len(target.encode()) > LONGEST_LINK:
        return f'<span dir="ltr">{shown}</span>'
    return f'<a href="{target}" rel="noreferrer nofollow">{shown}</a>'


def _escaped(text: str) -> str:
    """Return a text that was tamed with the five characters escaped that mean something in HTML."""
    return html.escape(text)
