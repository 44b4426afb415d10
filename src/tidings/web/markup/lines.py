"""A change in one self-contained line, for lists: what changed, where, and how much."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from markupsafe import Markup

from tidings.presentation.edits import AREAS, EditLine, edits_of, headline
from tidings.presentation.views.table import difference_of
from tidings.web.markup import formats
from tidings.web.markup.translations import draw, translate

if TYPE_CHECKING:
    from tidings.service.show.records import Record

LONGEST: Final = 160
"""Most characters of one text in a line."""
SHOWN: Final = 3
"""Most edits listed in a line."""
_WAS: Final = re.compile(r' \(was ("[^"]*")\)')
"""The old text of an update within its sentence (`detection.ask.summary`)."""
_DIGEST: Final = re.compile(r" \(sha256 [0-9a-f]{12}\)$")
"""What tells two binary bodies of one size apart."""
_INS: Final = Markup("<ins>")
_DEL: Final = Markup("<del>")


def line(record: Record) -> Markup:
    """Return what changed: `Database: ok → degraded`, `New entry: Record catch`, at most three
    edits and the number of others.
    """
    if record.get("parts"):
        return _text(headline(record))
    edits, rest = edits_of(record, most=SHOWN)
    is_price = str(record.get("kind", "")).startswith("price")
    before, pieces = "", []
    for edit in edits:
        label = edit.context.label or edit.context.heading
        pieces.append(_edit(edit, "" if label == before else label, is_price=is_price))
        before = label
    if not pieces:
        return _text(headline(record))
    more = (
        Markup(' <span class="soft">{}</span>').format(translate("and {rest} more", rest=f"{rest:,}"))
        if rest
        else Markup("")
    )
    return Markup("; ").join(pieces) + more


def is_cut(record: Record) -> bool:
    """Return whether the line lacks something of a change: further edits, or the end of a text."""
    edits, rest = edits_of(record, most=SHOWN)
    return bool(record.get("parts") or rest) or any(len(text) > LONGEST for one in edits for text in (one.old, one.new))


def plain(record: Record) -> str:
    """Return the line without marks, for labels."""
    return _WAS.sub(lambda found: f" ({translate('was {old}', old=found[1])})", headline(record)[:LONGEST])


def context(record: Record) -> Markup:
    """Return the context of the first edit, with the words around it; empty if unknown."""
    edits, _ = edits_of(record, most=1)
    if not edits:
        return Markup("")
    one = edits[0]
    around = one.context
    parts: list[Markup] = [_place(one.place)] if one.place else []
    core = one.new or one.old
    if around.before or around.after:
        parts.append(
            Markup("{}<q>{}</q>{}").format(
                _text(around.before, most=100), _text(core, most=60), _text(around.after, most=100)
            )
        )
    elif one.where:
        parts.append(_text(one.where))
    return Markup(" · ").join(parts)


def _place(place: str) -> Markup:
    """Return a place on a page; its heading and label are texts of the page."""
    area, joint, rest = place.partition(" › ")
    if area not in AREAS.values():
        return _text(place)
    return Markup("{}{}{}").format(translate(area), joint, _text(rest))


def words(record: Record) -> int:
    """Return the number of words added or removed."""
    lists: Sequence[Mapping[str, Any]] = record.get("parts") or (record,)
    return sum(
        sum(len(str(text).split()) for name in ("inserted", "deleted", "moved") for text in one.get(name) or ())
        + sum(_differing(str(pair["old"]), str(pair["new"])) for pair in one.get("updated") or ())
        for one in lists
    )


def _differing(old: str, new: str) -> int:
    before, after = set(old.split()), set(new.split())
    return max(1, len(before ^ after))


def edit_line(edit: EditLine) -> Markup:
    """Return one edit after its label."""
    return _edit(edit, edit.context.label or edit.context.heading, is_price=False)


def _edit(edit: EditLine, label: str, *, is_price: bool) -> Markup:
    """Return an edit after its label, which the edit before may have given."""
    named = Markup("{}: ").format(_text(label, most=60)) if label else Markup("")
    match edit.kind:
        case "updated" if is_price:
            difference, _ = difference_of(edit.old, edit.new)
            return draw(
                "Price: {old} → {new}{difference}",
                old=Markup("<del>{}</del>").format(_text(edit.old)),
                new=Markup("<ins>{}</ins>").format(_text(edit.new)),
                difference=Markup(', <span class="nw">{}</span>').format(difference) if difference else "",
            )
        case "updated":
            old, new = (_DIGEST.sub("", text) for text in (edit.old, edit.new))
            old, new = (old, new) if old != new else (edit.old, edit.new)
            return named + Markup("<del>{}</del> → <ins>{}</ins>").format(_text(old), _text(new))
        case "inserted":
            return draw(
                "New{sort}: <1>{new}</1>",
                sort=f" {translate(edit.sort)}" if edit.sort else "",
                _1=_INS,
                new=_text(edit.new),
            )
        case "deleted":
            return draw(
                "Gone{sort}: <1>{old}</1>",
                sort=f" {translate(edit.sort)}" if edit.sort else "",
                _1=_DEL,
                old=_text(edit.old),
            )
        case "moved":
            return draw("Moved: {new}", new=_text(edit.new))
        case "counted":
            return Markup("{}: {}").format(_text(edit.old), edit.new)
        case _:
            return _text(edit.new)


def _text(value: str, *, most: int = LONGEST) -> Markup:
    return formats.text(value, most=most)
