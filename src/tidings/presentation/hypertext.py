"""Changes as HTML: nothing is loaded, all page content is escaped once (R-11, H-077 to H-084).

Single edits are marked by elements and words, without need for colour or style (WCAG 1.4.1); an
`EditShape` says how edits are arranged. Additions and removals are `<ins>` and `<del>`, with words
for screen readers. Page texts are in elements of their own, of unknown language (`lang=""`) and
with their own direction, so that they are not read with our accent and do not reverse their
surroundings.
"""

from __future__ import annotations

import base64
import hashlib
import html
from collections.abc import Callable, Sequence
from typing import Final

from tidings.presentation.edits import (
    LONGEST_TITLE,
    WEB,
    EditLine,
    EntryText,
    Piece,
    Record,
    by_importance,
    edits_of,
    headline,
    in_place,
    is_moved_address,
    is_said,
    narrow,
    nothing,
    page_line,
    starts_of_frames,
    times,
)
from tidings.presentation.presenter import NO_CAPTION, Caption, Form, View
from tidings.presentation.writing import cut_text, first_lines, length, more, most_that_fit, one_line
from tidings.record import dataclass, replace

LONG: Final = 120
"""The length of an update from which old and new are stacked, in characters."""
LONGEST_LINK: Final = 4_000
"""The longest linked address, in bytes; a longer one is only shown."""


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
    sort = f"{tag(_word(edit))} " if edit.sort else ""
    match edit.kind:
        case "updated" if edit.entry is not None and edit.entry.edits:
            title = f'<bdi lang="">{_entry_title(edit.entry, edit.entry.title, characters)}</bdi>'
            return f"<li>{write_place(edit, characters)}{tag('changed item')} {title}{_entry(edit.entry, characters)}</li>\n"
        case "updated":
            kind = ' class="long"' if length(old) + length(new) > LONG else ""
            shown = inline(edit.pieces, characters) or f"{mark_removed(escape(old))} {mark_added(escape(new))}"
            return f"<li{kind}>{standing(edit, shown, characters)}</li>\n"
        case "deleted":
            went = mark_removed(_thing(edit, old, edit.old, characters) if sort else escape(old))
            ends = f"{where(edit, characters, is_titled=True)}{_below(edit, characters)}"
            return f"<li>{sort}{standing(edit, went, characters)}{ends}</li>\n"
        case "inserted":
            came = mark_added(_thing(edit, new, edit.new, characters) if sort else escape(new))
            ends = f"{where(edit, characters, is_titled=True)}{_below(edit, characters)}"
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


def _word(edit: EditLine) -> str:
    """Return what an object is, and whether it is new: `new item`."""
    return {"inserted": "new ", "deleted": "removed "}.get(edit.kind, "") + edit.sort


def _thing(edit: EditLine, shown: str, whole: str, characters: int | None) -> str:
    return thing(shown, whole) if edit.entry is None else _entry_title(edit.entry, edit.entry.title, characters)


def _entry_title(entry: EntryText, title: str, characters: int | None) -> str:
    """Return the title of an entry, linked to the entry."""
    shown = escape(cut_text(title, characters))
    return make_link(shown, entry.link) if entry.link else shown


def _below(edit: EditLine, characters: int | None) -> str:
    """Return the lines below an object: the address of a link, the content of an item."""
    if edit.sort == "link" and edit.entry is not None:
        return f"<br>{address(edit.entry.link, characters)}"
    return _entry(edit.entry, characters)


def _entry(entry: EntryText | None, characters: int | None) -> str:
    """Return the content of an entry below its title, and its changed parts."""
    if entry is None:
        return ""
    lines = [tag(cut_text(entry.by, characters))] if entry.by else []
    lines += [f'<bdi lang="">{escape(cut_text(entry.text, characters))}</bdi>'] if entry.text else []
    lines += [
        f"{tag(f'{name}:')} {_mark_words(cut_text(old, characters), cut_text(new, characters))}"
        for name, old, new in entry.edits
    ]
    return "".join(f"<br>{line}" for line in lines)


def _mark_words(old: str, new: str) -> str:
    """Return a text in which the words that differ are marked."""
    start, was, now, end = narrow(old, new)
    parts = (
        _beside(start, None),
        was and mark_removed(escape(was)),
        now and mark_added(escape(now)),
        _beside(end, None),
    )
    return " ".join(filter(None, parts))


def where(edit: EditLine, characters: int | None, *, is_titled: bool = False) -> str:
    """Return which occurrence of an object it is, as a suffix; `is_titled`: beside its title."""
    place = edit.around if is_titled else edit.where
    return f' <span class="tag"><bdi lang="">{escape(cut_text(place, characters))}</bdi></span>' if place else ""


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
    if not url.lower().startswith(WEB) or len(target.encode()) > LONGEST_LINK:
        return inside
    return f'<a href="{target}" rel="noreferrer nofollow">{inside}</a>'


def escape(text: str) -> str:
    """Return a tamed text with the five special characters of HTML escaped."""
    return html.escape(text)


LIST: Final = EditShape("<ul>\n", list_edit, "</ul>\n")
"""Edits as a list."""


STYLE: Final = r"""
:root{color-scheme:light dark}
body{margin:0;padding:20px 16px;background:#fff;color:#1f2328;font:16px/1.5 system-ui,-apple-system,"Segoe UI",Roboto,sans-serif}
main{max-width:44em;margin:0 auto}
h1{font-size:22px;line-height:1.3;margin:0 0 12px}
h2{font-size:18px;line-height:1.3;margin:0 0 4px}
h1,h2,p,li{overflow-wrap:anywhere;word-break:break-word}
article{margin:0 0 24px;padding:0 0 16px;border-bottom:1px solid #d1d9e0}
article h1{line-height:1.6}
p.less{margin:0}
p{margin:0 0 12px}
.where,footer,.less{color:#59636e;font-size:14px}
code{font:13px/1.6 ui-monospace,SFMono-Regular,Menlo,Consolas,monospace;overflow-wrap:anywhere}
a{color:#0550ae}
a:focus-visible{outline:2px solid;outline-offset:2px}
ul{list-style:none;margin:0;padding:0}
li{margin:0 0 8px}
del,ins,.moved{padding:2px 5px;border-radius:4px;-webkit-box-decoration-break:clone;box-decoration-break:clone}
del{text-decoration:line-through;background:#fff1e5;color:#953800}
ins{text-decoration:underline 2px #54aeff;text-underline-offset:4px;background:#ddf4ff;color:#0a3069}
del a{color:inherit}
del,ins{position:relative;padding-inline-start:1.25em}
del::before,ins::before{position:absolute;inset-inline-start:.3em;font-weight:700}
del::before{content:"\2212";content:"\2212" / ""}
ins::before{content:"+";content:"+" / ""}
.long del,.long ins{display:block;padding-block:6px}
.long ins{margin-top:4px}
.moved{border:1px dashed}
b{white-space:nowrap}
table{width:100%;border-collapse:collapse;margin:0 0 8px}
th,td{text-align:start;vertical-align:top;padding:4px 8px;border-bottom:1px solid #d1d9e0}
td:first-child,td:nth-child(2):last-child{overflow-wrap:anywhere}
.tag{font-size:13px;color:#59636e}
.place{font-weight:600}
footer{line-height:1.7}
.said{position:absolute;width:1px;height:1px;overflow:hidden;clip-path:inset(50%);white-space:nowrap}
@media(prefers-color-scheme:dark){
body{background:#0d1117;color:#e6edf3}
article,th,td{border-color:#3d444d}
.where,footer,.tag,.less{color:#9198a1}
a{color:#79c0ff}
del{background:#3d1f00;color:#ffb77c}
ins{background:#0c2d4f;color:#cae8ff;text-decoration-color:#388bfd}
}
@media print{article{break-inside:avoid-page}}
"""

POLICY: Final = (
    "default-src 'none'; base-uri 'none'; form-action 'none'; style-src 'sha256-"
    + base64.b64encode(hashlib.sha256(STYLE.encode()).digest()).decode()
    + "'"
)
"""The Content-Security-Policy of such a page: apply this one style sheet, nothing else."""


STEPS: Final = ((4_000, 200), (1_000, 100), (400, 40), (120, 10), (60, 1))
"""Bounds tried in turn: characters of a text, edits of a change."""
LONGEST_HEADING: Final = 400
LONGEST_SHOWN_ADDRESS: Final = 200


@dataclass(frozen=True, slots=True)
class ChangesAsHtml:
    """A small page, or its edits for a letter or another page. Bounds are in bytes of UTF-8.

    With `once`, for letters, the first edit is the heading of a change if the edits have all that
    the line on the change has.
    """

    view: View = "changes"
    form: Form = "html"
    least: int = 16_384
    shape: EditShape = LIST
    shows_places: bool = False
    once: bool = False

    def size(self, text: str) -> int:
        """Return the bytes of UTF-8."""
        return len(text.encode())

    def present(self, records: Sequence[Record], caption: Caption = NO_CAPTION, *, most: int | None = None) -> str:
        """Return a whole document with an article for each change."""
        if not records:
            message = "a page needs at least one change"
            raise ValueError(message)
        if most is None:
            return document(self._articles(records, caption, None, None), caption)
        articles: list[str] = []
        for characters, edits in STEPS:
            articles = self._articles(records, caption, characters, edits)
            whole = document(articles, caption)
            if self.size(whole) <= most:
                return whole

        def keep(number: int) -> str:
            return document(articles[:number], caption, missing=len(articles) - number)

        return keep(max(1, most_that_fit(len(articles), lambda number: self.size(keep(number)), most)))

    def fragment(self, record: Record, *, most: int | None = None) -> str:
        """Return the list of edits, readable without a style sheet."""
        if most is None:
            return self._edits(record, None, None)
        part = ""
        for characters, edits in STEPS:
            part = self._edits(record, characters, edits)
            if self.size(part) <= most:
                break
        return part

    def _articles(
        self, records: Sequence[Record], caption: Caption, characters: int | None, most: int | None
    ) -> list[str]:
        if self.once:
            is_own = len(records) == 1 and one_line(caption.heading) in {"", headline(records[0])}
            heads = ["h1" if is_own else "h2" if len(records) > 1 else "" for _ in records]
            return [
                self._letter(record, caption, characters, most, head)
                for record, head in zip(records, heads, strict=True)
            ]
        titled = len(records) > 1 or not caption.heading
        return [self._article(record, caption, characters, most, titled=titled) for record in records]

    def _letter(self, record: Record, caption: Caption, characters: int | None, most: int | None, head: str) -> str:
        """Return a change with each fact once; `head` is the element of its heading, empty for
        none.
        """
        line = headline(record)
        edits, rest = edits_of(record, most=most, **({} if characters is not None else {"longest": None}))
        important, less = by_importance(edits)
        shown, heading, below = important, escape(cut_text(line, LONGEST_HEADING)), ""
        if head and (first := _head(important, line, characters)) is not None:
            shown, (heading, below) = important[1:], first
        title = f'<{head} dir="auto">{heading}</{head}>\n' if head else ""
        lists = f"<p>{below}</p>\n{_list(shown, characters)}" if below else _list(shown, characters)
        lists += f'<p class="less">Less important:</p>\n{_list(less, characters, "less")}' if less else ""
        last = more(rest) if rest else "" if edits else nothing(record)
        lists += f"<p>{last}</p>\n" if last else ""
        name = one_line(str(record.get("title") or "")[:LONGEST_TITLE])
        page = f"<bdi>{escape(name)}</bdi><br>" if name else ""
        return f'<article>\n{title}{lists}<p class="where">{page}{_where(record, caption)}</p>\n</article>\n'

    def _article(
        self, record: Record, caption: Caption, characters: int | None, most: int | None, *, titled: bool
    ) -> str:
        shown = escape(cut_text(headline(record), LONGEST_HEADING))
        title = f'<h2 dir="auto">{shown}</h2>\n' if titled else ""
        page = escape(page_line(record)) if record.get("title") else ""
        page = f'<p class="where"><bdi>{page}</bdi></p>\n' if page else ""
        where, edits = _where(record, caption), self._edits(record, characters, most)
        where = f'<p class="where">{where}</p>\n'
        around = (where, edits) if caption.between else (edits, where)
        return f"<article>\n{title}{page}{''.join(around)}</article>\n"

    def _edits(self, record: Record, characters: int | None, most: int | None) -> str:
        record = in_place(record) if self.shows_places else record
        if characters is None:
            edits, rest = edits_of(record, most=most, longest=None)
        else:
            edits, rest = edits_of(record, most=most)
        if not edits and not rest:
            words = nothing(record)
            return f"<p>{words}</p>\n" if words else ""
        begins, ends = self.shape.begins, self.shape.ends
        lines = ""
        for edit, frame in starts_of_frames(edits):
            if frame:  # close the list before, and begin the frame's below its address
                lines += f'{ends}<p class="where">in {address(frame, LONGEST_SHOWN_ADDRESS)}</p>\n{begins}'
            lines += self.shape.write(edit, characters)
        after = f"<p>{more(rest)}</p>\n" if rest else ""
        is_framed = bool(edits and edits[0].frame)
        return f"{'' if is_framed else begins}{lines.removeprefix(ends) if is_framed else lines}{ends}{after}"


def _head(edits: Sequence[EditLine], line: str, characters: int | None) -> tuple[str, str] | None:
    """Return the first edit as a heading and what is below it; None if it is too long for one, or
    if the edits do not have all that the line on their change has.
    """
    parts, first = first_lines(line), edits[0] if edits else None
    if first is None or not any(is_said(first, part) for part in parts):
        return None
    for edit in edits:
        if (part := next((one for one in parts if is_said(edit, one)), None)) is not None:
            parts.remove(part)
    item = list_edit(replace(first, context=replace(first.context, link="")), characters).strip()
    if parts or first.kind == "counted" or not item.startswith("<li>"):
        return None
    if is_moved_address(first):
        *lead, old, _, new, _ = next(part for part in first_lines(line) if is_said(first, part)).split('"')
        before = escape('"'.join(lead))
        marks = f"{mark_removed(escape(old))} {mark_added(escape(new))}"
        return f"{before}{marks}", f"{tag('link')} {address(first.new, characters)}"
    heading, _, below = item.removeprefix("<li>").removesuffix("</li>").partition("<br>")
    link = first.context.link
    return heading, below or (f"{tag('link')} {address(link, characters)}" if link else "")


def _list(edits: Sequence[EditLine], characters: int | None, name: str = "") -> str:
    """Return edits as lists, one for each frame."""
    lines = ""
    for edit, frame in starts_of_frames(edits):
        if frame:
            lines += f'</ul>\n<p class="where">in {address(frame, LONGEST_SHOWN_ADDRESS)}</p>\n<ul>\n'
        lines += list_edit(edit, characters)
    kind = f' class="{name}"' if name else ""
    return f"<ul{kind}>\n{lines}</ul>\n".replace(f"<ul{kind}>\n</ul>\n", "") if lines else ""


def document(articles: Sequence[str], caption: Caption, *, missing: int = 0) -> str:
    """Return the page around HTML articles; `missing` changes are counted after them."""
    title = escape(cut_text(one_line(caption.heading), LONGEST_HEADING)) or "What changed"
    rest = f"<p>{more(missing, 'change')}</p>\n" if missing else ""
    whose = escape(cut_text(one_line(caption.sentinel), LONGEST_HEADING))
    why = f"Sent by Tidings: the sentinel <bdi>{whose}</bdi> reports this." if whose else "Sent by Tidings."
    links = [make_link(escape(what), how) for what, how in caption.foot if how.startswith(WEB)]
    commands = [
        f'{escape(what)}: <code dir="ltr">{escape(how)}</code>' for what, how in caption.foot if not how.startswith(WEB)
    ]
    why += "".join(f"<br>{' · '.join(actions)}" for actions in (links, commands) if actions)
    own = "" if articles and "<h1 " in articles[0] else f'<h1 dir="auto">{title}</h1>\n'
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<meta name="color-scheme" content="light dark">\n<meta name="referrer" content="no-referrer">\n'
        f"<title>{title}</title>\n<style>{STYLE}</style>\n</head>\n<body>\n<main>\n"
        f"{own}{''.join(articles)}{rest}<footer>{why}</footer>\n</main>\n</body>\n</html>\n"
    )


def _where(record: Record, caption: Caption) -> str:
    when = one_line(caption.between) or times(record)
    kind = cut_text(one_line(str(record.get("kind") or "")), LONGEST_HEADING) if caption.between else ""
    line = " · ".join(escape(part) for part in (when, kind) if part)
    url = address(one_line(str(record["url"])), LONGEST_SHOWN_ADDRESS)
    return "<br>".join(part for part in (url if record["url"] else "", line) if part)


LETTER: Final = ChangesAsHtml(once=True)
"""The HTML of letters: each fact once."""
