"""Changed values and objects as a table: place, name, before, now, and difference (004 Figures 5.12
and 5.13).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

from tidings.model.observed.change import ChangeSet, EditContext
from tidings.presentation.hypertext import escape, thing
from tidings.presentation.views.paragraphs import Drawn
from tidings.presentation.writing import cut_text, more, one_line

MOST_ROWS: Final = 500
LONGEST: Final = 2_000
"""The longest text of a cell, in characters."""
_LISTS: Final = ("updated", "inserted", "deleted", "moved")
_SORTS: Final = {"links": "link", "pages": "page", "images": "image", "keywords": "keyword",
                 "phrases": "phrase", "table": "row", "list": "item",
                 "items": "item", "regex": "match", "body": "body"}  # fmt: skip
_NUMBER: Final = re.compile(r"[-\u2212]?\d+(?:,\d{3})*(?:\.\d+)?")
_KEYED: Final = re.compile(r"([^\s:][^:\n]{0,80}): (.+)", re.DOTALL)
_NOWHERE: Final = EditContext("", 0)


class TableLine(NamedTuple):
    """A line of the table. `place` is its heading, `name` its label or type; `old` or `new` is
    empty if there is none.
    """

    place: str
    name: str
    old: str
    new: str
    difference: str
    unit: str = ""
    is_object: bool = False


def table(found: ChangeSet) -> Drawn:
    """Return all findings of a change as a table; deletions are struck, insertions underlined."""
    lines = list(lines_of(found))
    shown = lines[:MOST_ROWS]
    has = [any(line.place for line in shown), any(line.name for line in shown), True]
    has += [any(line.difference for line in shown), any(line.unit for line in shown)]
    body = "".join(_row(line, has) for line in shown)
    left = max(0, len(lines) - MOST_ROWS)
    rest = f'<p class="small soft">{escape(more(left, "change"))}</p>' if left else ""
    head = "".join(
        f'<th scope="col"{_CLASS.get(name, "")}>{name}</th>'
        for name, is_shown in zip(_HEADS, has, strict=True)
        if is_shown
    )
    return Drawn(
        '<div class="scroll" tabindex="0" role="region" aria-label="Values that changed">'
        f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>{rest}",
        (),
        left,
    )


_HEADS: Final[tuple[str, ...]] = ("where", "what", "was → is", "difference", "unit")
_CLASS: Final = {"difference": ' class="r"'}


def lines_of(found: ChangeSet) -> Iterator[TableLine]:
    """Yield the lines of a change: texts in the order of its lists, then objects that are in no
    list.
    """
    contexts = {(one.of, one.number): one for one in found.contexts}
    rows = {row.object: row for row in found.objects}
    shown: set[str] = set()
    for of in _LISTS:
        for number, text in enumerate(getattr(found, of)):
            context = contexts.get((of, number), _NOWHERE)
            row = rows.get(text) if isinstance(text, str) else None
            if row is not None and row.old != row.new:
                if text not in shown:
                    shown.add(text)
                    yield _write_count(row.kind, text, row.old, row.new)
            else:
                yield _line(of, text, context)
    for row in found.objects:
        if row.object not in shown and row.old != row.new and not _is_reported(found, row.kind):
            yield _write_count(row.kind, row.object, row.old, row.new)


def _is_reported(found: ChangeSet, kind: str) -> bool:
    """Return whether a unique thing is among the updates."""
    return kind in {"status", "body"} and bool(found.updated)


def _write_count(kind: str, name: str, old: int, new: int) -> TableLine:
    sort = _SORTS.get(kind, kind)
    was, now = name if old else "", name if new else ""
    if old and new:
        return TableLine("", sort, name, name, f"{old:,} → {new:,}", "times", is_object=True)
    count = max(old, new)
    return TableLine(
        "", sort, was, now, ("new" if new else "gone") + (f", {count:,} times" if count > 1 else ""), is_object=True
    )


def _line(of: str, text: str | tuple[str, str], context: EditContext) -> TableLine:
    place = context.heading
    name = context.label or context.above
    if isinstance(text, tuple):
        was, now = (_KEYED.fullmatch(one[:LONGEST]) for one in text)
        if was is not None and now is not None and was[1] == now[1]:  # a value of data, after its key
            name, text = was[1], (was[2], now[2])
        difference, unit = difference_of(*text)
        return TableLine(place, name, text[0], text[1], difference, unit or _unit(context))
    match of:
        case "deleted":
            return TableLine(place, name, text, "", "gone")
        case "moved":
            return TableLine(place, name, "", text, "moved")
        case _:
            return TableLine(place, name, "", text, "new")


def _unit(context: EditContext) -> str:
    """Return the word right after a value if it looks like a unit."""
    words = context.after.split()
    return words[0] if words and len(words[0]) <= 4 and not words[0][0].isdigit() and words[0].isupper() else ""


def difference_of(old: str, new: str) -> tuple[str, str]:
    """Return the difference of two numbers in percent, and the text around them; empty unless each
    text has a single number.
    """
    was, now = _NUMBER.findall(old), _NUMBER.findall(new)
    beside = tuple(" ".join(_NUMBER.sub(" ", text).split()) for text in (old, new))
    if len(was) != 1 or len(now) != 1 or beside[0] != beside[1] or len(old) > 60:
        return "", ""
    before, after = (float(one[0].replace(",", "").replace("\u2212", "-")) for one in (was, now))
    if not before or before == after:
        return "", beside[0]
    change = (after - before) / abs(before) * 100
    if abs(change) >= 1_000_000:
        return "", beside[0]
    number = f"{change:+,.1f}".removesuffix(".0") if abs(change) < 1_000 else f"{change:+,.0f}"
    return number.replace("-", "\u2212") + "\u00a0%", beside[0]


def _row(line: TableLine, has: Sequence[bool]) -> str:
    """Return a line of the table, with the columns that have a value in some line."""
    old, new = (escape(cut_text(one_line(text[: 4 * LONGEST]), LONGEST)) for text in (line.old, line.new))
    if line.is_object:
        old, new = (
            thing(cut_text(one_line(text[: 4 * LONGEST]), LONGEST), one_line(text)) for text in (line.old, line.new)
        )
    shown: list[str] = []
    if line.is_object and line.old == line.new:
        shown.append(f"<bdi>{new}</bdi>")
    else:
        if line.old:
            shown.append(f'<span class="sr">was: </span><del>{old}</del>')
        if line.new:
            shown.append(
                f'<span class="sr">is: </span><ins>{new}</ins>' if line.difference != "moved" else f"<bdi>{new}</bdi>"
            )
    cells = " → ".join(shown) if len(shown) > 1 else "".join(shown)
    place, name, unit = (escape(cut_text(one_line(text), 200)) for text in (line.place, line.name, line.unit))
    head = f'<th scope="row" class="b" dir="auto">{place}</th>' if place else "<td></td>"
    columns = (
        head,
        f'<td dir="auto">{name}</td>',
        f'<td dir="auto">{cells}</td>',
        f'<td class="r nw">{escape(line.difference)}</td>',
        f'<td class="soft">{unit}</td>',
    )
    return f"<tr>{''.join(column for column, is_shown in zip(columns, has, strict=True) if is_shown)}</tr>"
