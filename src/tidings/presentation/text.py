"""Changes as plain text, cut at whole changes to a channel's limit (issue A2: Telegram 4096,
Discord 2000); one line per edit in each view.

Deletions are `[-…-]`, insertions `{+…+}`, as in `git diff --word-diff`: readable without colour.
Messages (`MESSAGE`) need no marks: they use words, and say each fact once.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

from tidings.presentation.edits import (
    AREAS,
    LONGEST_TITLE,
    WEB,
    EditLine,
    EntryText,
    PieceKind,
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
from tidings.presentation.hypertext import (
    LONG,
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
from tidings.presentation.presenter import NO_CAPTION, Caption, Form, View
from tidings.presentation.writing import (
    cut_text,
    first_lines,
    length,
    more,
    most_that_fit,
    one_line,
    unsaid_title,
)
from tidings.record import dataclass

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
            return _entry_lines(f"{place}changed item: {cut_text(edit.entry.title, longest)}", edit.entry, longest)
        case "updated":
            return _standing(edit, _pieces(edit, longest) or f"{_went(old)}{_came(new)}", longest)
        case "deleted" if edit.sort:
            old = cut_text(edit.entry.title, longest) if edit.entry is not None else old
            return _entry_lines(
                f"{place}removed {edit.sort}: {old}{_in_brackets(edit.around, longest)}", edit.entry, longest
            )
        case "inserted" if edit.sort:
            new = cut_text(edit.entry.title, longest) if edit.entry is not None else new
            return _entry_lines(
                f"{place}new {edit.sort}: {new}{_in_brackets(edit.around, longest)}", edit.entry, longest
            )
        case "deleted":
            return _standing(edit, _went(old), longest)
        case "inserted":
            return _standing(edit, _came(new), longest)
        case "moved":
            return f"moved: {_standing(edit, new, longest)}"
        case "counted":
            return f"{edit.sort} {old}: {new}{_place_after(edit, longest)}".lstrip()
        case "said":
            return new
        case "hunk":
            return " ".join(_piece(kind, cut_text(text, longest)) for kind, text in edit.pieces)


def _pieces(edit: EditLine, longest: int | None) -> str:
    """Return the changes of one sentence with the text between them."""
    return "".join(
        text
        if kind == "same"
        else _went(cut_text(text, longest))
        if kind == "deleted"
        else _came(cut_text(text, longest))
        for kind, text in edit.pieces
    )


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


def message_line(edit: EditLine, longest: int | None) -> str:
    """Return an edit in words, without marks: `Database: "ok" → "degraded"`, and below it what a
    line on a change does not have.
    """
    return "\n".join([_plain(edit, longest), *details(edit, "", longest)])


def details(edit: EditLine, said: str, longest: int | None) -> list[str]:
    """Return the lines below an edit: the link in which it stands, and the content of an entry;
    without a title that the line above has (`said`).
    """
    entry, link = edit.entry, cut_text(edit.context.link, longest)
    if is_moved_address(edit):
        urls = (("link", edit.new),) if said else (("now", edit.new), ("was", edit.old))
        return [f"  {name}: {cut_text(url, longest)}" for name, url in urls]
    if entry is None:
        return [f"  link: {link}"] if link else []
    parts = [one for one in entry.edits if not (one[0] == "title" and f'"{one[1]}" → "{one[2]}"' in said)]
    lines = [cut_text(part, longest) for part in (entry.by, entry.text) if part]
    lines += [f"{name}: {_spell_words(cut_text(old, longest), cut_text(new, longest))}" for name, old, new in parts]
    return [f"  {line}" for line in (*lines, entry.link) if line]


def _plain(edit: EditLine, longest: int | None) -> str:
    old, new = cut_text(edit.old, longest), cut_text(edit.new, longest)
    one, label = edit.context, edit.context.label or edit.above
    is_label = bool(one.label) and one.before.rstrip(" :：").endswith(one.label)
    before, after = (cut_text(text, longest) for text in ("" if is_label else one.before, one.after))
    value = f'"{old}" → "{new}"'
    if (
        label
        and edit.kind == "updated"
        and not before.strip()
        and not (edit.entry or edit.pieces or is_moved_address(edit))
    ):
        label, value = "", f"{cut_text(label, longest)} {value}"
    place = "".join(f"{cut_text(part, longest)}: " for part in (AREAS.get(one.area, ""), one.heading, label) if part)
    title = cut_text(edit.entry.title, longest) if edit.entry is not None else ""
    match edit.kind:
        case "updated" if edit.entry is not None and edit.entry.edits:
            return f'{place}changed item "{title}"'
        case "updated" if is_moved_address(edit):
            return f"{place}another address"
        case "updated" if edit.pieces:
            return f"{place}{before}{_pieces_in_words(edit, longest)}{after}"
        case "updated" if length(old) + length(new) > LONG:
            place = "".join(f"{part}: " for part in (place.rstrip(" :"), edit.context.label or edit.above) if part)
            return f"{place.rstrip()}\n  was: {old}\n  now: {new}".lstrip("\n")
        case "updated" if before.strip():
            return f'{place}{before}"{new}" (was "{old}"){after}'
        case "updated":
            return f"{place}{before}{value}{after}"
        case "deleted" | "inserted":
            verb = {"deleted": "removed", "inserted": "new" if edit.sort else "added"}[edit.kind]
            where = _in_brackets(edit.around, longest)
            beside = " … ".join(text.strip() for text in (before, after) if text.strip())
            beside = f', in "{beside}"' if beside and not edit.sort else ""
            return f'{place}{" ".join(filter(None, (verb, edit.sort)))} "{title or old or new}"{where}{beside}'
        case "moved":
            return f'{place}moved "{new}"'
        case _:
            return edit_line(edit, longest)


def _pieces_in_words(edit: EditLine, longest: int | None) -> str:
    """Return the changes of one sentence with the text between them."""
    shown, was = "", ""
    for kind, text in edit.pieces:
        if kind == "deleted":
            was = cut_text(text, longest)
        else:
            shown += f'"{cut_text(text, longest)}" (was "{was}")' if kind == "inserted" else text
    return shown


def _spell_words(old: str, new: str) -> str:
    """Return a text in which the words that differ are quoted."""
    start, was, now, end = narrow(old, new)
    changed = f'"{now}" (was "{was}")' if was and now else f'added "{now}"' if now else f'removed "{was}"'
    return " ".join(part for part in (start, changed, end) if part)


def table_line(edit: EditLine, longest: int | None) -> str:
    """Return an edit as a row: what happened, the counts before and now (blank: none), and the
    entry.
    """
    if edit.kind not in CHANGES:
        return edit_line(edit, longest)
    entry = " ".join(part for part in (edit.sort, _entry(edit, longest)) if part)
    return (
        f"{CHANGES[edit.kind]:<8}{_number(edit.before):>6}{_number(edit.now):>6}  {entry}{_place_after(edit, longest)}"
    )


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
                [*([place] if place else []), *(f"{side}{_place_after(edit, longest)}" for side in sides if side)]
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


def _place_after(edit: EditLine, longest: int | None) -> str:
    """Return which occurrence of an object it is, as a suffix."""
    return _in_brackets(edit.where, longest)


def _in_brackets(place: str, longest: int | None) -> str:
    return f" ({cut_text(place, longest)})" if place else ""


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


LEAST_LINE: Final = 6
TAIL: Final = 0.4
"""The share of a message that the lines below its edits may take."""
STEPS: Final = (2_000, 400, 120)
"""Bounds for one text of an edit, tried in turn."""


@dataclass(frozen=True, slots=True)
class ChangesAsText:
    """The edits, each formatted by `line`, with what happened, where and when. Bounds are in units
    of UTF-16, as services count.

    What happened comes first, then the edits; where and when follow if there is room. With `once`,
    for messages, nothing is repeated: an edit that the line on its change has is left out.
    """

    view: View = "changes"
    form: Form = "text"
    least: int = 1
    line: Line = edit_line
    shows_places: bool = False
    once: bool = False

    def size(self, text: str) -> int:
        """Return the units of UTF-16."""
        return length(text)

    def present(self, records: Sequence[Record], caption: Caption = NO_CAPTION, *, most: int | None = None) -> str:
        """Return the changes separated by empty lines; a single change that is too long keeps its
        first edits.
        """
        if not records:
            message = "a message needs at least one change"
            raise ValueError(message)
        records = [in_place(record) for record in records] if self.shows_places else records
        top = [one_line(caption.heading)] if caption.heading and not caption.is_titled else []
        if len(records) == 1:
            return self._one(records[0], top, caption, most)
        shown = records if most is None else records[: most // LEAST_LINE]
        step = None if most is None else STEPS[0]
        pages = [record.get("url") for record in shown]
        blocks = [
            self._block(record, caption, longest=step, room=most, is_first=not self.once or url not in pages[:number])
            for number, (record, url) in enumerate(zip(shown, pages, strict=True))
        ]
        foot = _foot(caption)
        whole = _join(top, [*blocks, *foot], len(records) - len(blocks))
        if most is None or length(whole) <= most:
            return whole
        return self._shorten(records, top, caption, most, blocks)

    def fragment(self, record: Record, *, most: int | None = None) -> str:
        """Return one line per edit."""
        record = in_place(record) if self.shows_places else record
        if most is None:
            return "\n".join(self._lines(record, "", longest=None, room=None))
        number = edits_of(record, most=0)[1]
        return self._fit(record, [], most) or cut_text(more(number) if number else nothing(record), most)

    def _shorten(
        self, records: Sequence[Record], top: Sequence[str], caption: Caption, most: int, blocks: Sequence[str]
    ) -> str:
        """Return the first changes that fit, else the beginning of the first, and how many more
        there are.
        """

        def keep(number: int) -> str:
            return _join(top, blocks[:number], len(records) - number)

        if number := most_that_fit(len(blocks), lambda count: length(keep(count)), most):
            return keep(number)
        rest = more(len(records) - 1, "change")
        room = most - length(rest) - 2
        if room < 1:
            return cut_text(rest, most)
        first = self._one(records[0], [*top, headline(records[0])], caption, room)
        return f"{first}\n\n{rest}"

    def _one(self, record: Record, top: Sequence[str], caption: Caption, most: int | None) -> str:
        """Return one change under its heading: whole, else with shorter edits, else with fewer,
        else without.

        Place and actions are dropped before much of the change is.
        """
        where, foot = _where(record, caption), _foot(caption)
        if self.once:
            return self._message(record, top, caption, most)
        above = [*_apart(top, caption), *_page(record)]
        if most is None:
            lines = self._lines(record, "", longest=None, room=None)
            return "\n".join([*above, *_around(lines, _below(where, foot), caption)])
        whole = _below(where, foot)
        for below in (whole if length("\n".join(whole)) <= most * TAIL else where, where, where[:1]):
            for head in (above, top):
                if text := self._fit(record, head, most, below=below):
                    return text
        return self._least(record, top, where, most)

    def _message(self, record: Record, top: Sequence[str], caption: Caption, most: int | None) -> str:
        """Return the message on one change: what changed, where and when, what can be done."""
        line = headline(record)
        is_line = bool(top) and top[0] == line
        said = line if is_line else caption.said
        if is_line and edits_of(record, most=1)[0]:
            top = first_lines(line)
        page, where, foot = _title(record, caption), _where(record, caption), _foot(caption)
        whole = ["", *page, *where, *(["", *foot] if foot else [])]
        if most is None:
            lines = self._lines(record, said, longest=None, room=None)
            return "\n".join([*top, *lines, *whole]).lstrip("\n")
        tails = [*([whole] if length("\n".join(whole)) <= most * TAIL else []), ["", *page, *where], where, where[:1]]
        for below in tails:
            if text := self._fit(record, top, most, said=said, below=below):
                return text
        return self._least(record, top, where, most)

    def _least(self, record: Record, top: Sequence[str], where: Sequence[str], most: int) -> str:
        """Return a change in a message that has hardly any room."""
        for short in ([*top, *where], [*top, *where[:1]], [*top]) if top else ():
            if length("\n".join(short)) <= most:
                return "\n".join(short)
        if text := self._fit(record, top, most):
            return text
        return cut_text(" ".join(top) or headline(record), most)

    def _fit(
        self, record: Record, above: Sequence[str], most: int, *, said: str = "", below: Sequence[str] = ()
    ) -> str:
        """Return the edits between some lines: whole, else shorter, else fewer; empty if not even
        one fits.
        """
        for longest in STEPS:
            whole = "\n".join([*above, *self._lines(record, said, longest=longest, room=most), *below]).lstrip("\n")
            if length(whole) <= most:
                return whole
        edits, rest = edits_of(record, most=most // LEAST_LINE + 1)
        lines = self._write(edits, said, STEPS[-1])

        def keep(number: int) -> str:
            left = len(lines) - number + rest
            return "\n".join([*above, *lines[:number], *([more(left)] if left else []), *below])

        number = most_that_fit(len(lines), lambda count: length(keep(count)), most)
        return keep(number) if number else ""

    def _block(self, record: Record, caption: Caption, *, longest: int | None, room: int | None, is_first: bool) -> str:
        """Return one change of several; `is_first` if the page is not named above."""
        line, where = headline(record), _where(record, caption)
        if not self.once:
            lines = self._lines(record, "", longest=longest, room=room)
            return "\n".join([line, *_page(record), *_around(lines, where, caption)])
        top = first_lines(line) if edits_of(record, most=1)[0] else [line]
        page = [*_title(record, caption), *where] if is_first else where[1:]
        return "\n".join([*top, *self._lines(record, line, longest=longest, room=room), *page])

    def _lines(self, record: Record, said: str, *, longest: int | None, room: int | None) -> list[str]:
        if room is None:
            edits, rest = edits_of(record, longest=longest)
        else:
            edits, rest = edits_of(record, most=room // LEAST_LINE + 1)
        lines = self._write(edits, said, longest)
        return [line for line in (*lines, more(rest) if rest else "" if edits else nothing(record)) if line]

    def _write(self, edits: Sequence[EditLine], said: str, longest: int | None) -> list[str]:
        """Return the lines of edits; of one that the line above has (`said`) only the details."""
        if not self.once:
            return [self._label(edit, frame, longest) for edit, frame in starts_of_frames(edits)]
        known = first_lines(said) if said else []
        important, less = by_importance(edits)
        lines: list[str] = []
        for edit, frame in starts_of_frames(important):
            if (line := next((one for one in known if is_said(edit, one)), None)) is None:
                lines.append(self._label(edit, frame, longest))
            else:
                known.remove(line)
                lines += ["\n".join(below)] if (below := details(edit, line, longest)) else []
        return lines + [f"Less important – {self.line(one, longest)}" for one in less]

    def _label(self, edit: EditLine, frame: str, longest: int | None) -> str:
        """Return an edit as a line, below the address of its frame at the frame's beginning."""
        line = self.line(edit, longest)
        return f"in {cut_text(frame, longest)}\n{line}" if frame else line


def _join(top: Sequence[str], blocks: Sequence[str], missing: int) -> str:
    return "\n\n".join([*top, *blocks, *([more(missing, "change")] if missing else [])])


def _page(record: Record) -> list[str]:
    """Return the line on the page, for one with a title; otherwise the address suffices."""
    return [page_line(record)] if record.get("title") else []


def _title(record: Record, caption: Caption) -> list[str]:
    """Return the title of the page, else the name of its sentinel, without what is said above."""
    title = one_line(str(record.get("title") or "")[:LONGEST_TITLE]) or (
        f"sentinel {one_line(caption.sentinel)}" if caption.sentinel and not record.get("title") else ""
    )
    said = one_line(caption.heading)
    title = "" if title in said else unsaid_title(title, said)
    return [title] if title else []


def _where(record: Record, caption: Caption) -> list[str]:
    return [line for line in (one_line(str(record["url"])), one_line(caption.between) or times(record)) if line]


def _foot(caption: Caption) -> list[str]:
    """Return the actions: each link in a line, all commands in one."""
    between = "\n" if any(how.startswith(WEB) for _, how in caption.foot) else " · "
    return [between.join(f"{what}: {how}" for what, how in caption.foot)] if caption.foot else []


def _around(lines: Sequence[str], where: Sequence[str], caption: Caption) -> list[str]:
    """Return edits followed by their place; for a comparison on demand it comes first."""
    return [*where, *lines] if caption.between else [*lines, *where]


def _apart(top: Sequence[str], caption: Caption) -> list[str]:
    """Return the heading of a whole message with an empty line below it."""
    return [*top, ""] if top and caption.foot else [*top]


def _below(where: Sequence[str], foot: Sequence[str]) -> list[str]:
    """Return the lines below the edits: the actions after an empty line."""
    return ["", *where, "", *foot] if foot else [*where]


MESSAGE: Final = ChangesAsText(line=message_line, once=True)
"""The text of messages: words instead of marks, each fact once."""
