"""A change in one line, for lists, subjects and consoles."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from tidings.document.text.excerpts import excerpts
from tidings.document.text.words import shown as as_read
from tidings.model.observed.change import ChangeSet, Context

_NOUNS = {
    "words": ("text", "texts"),
    "phrases": ("phrase", "phrases"),
    "keywords": ("keyword", "keywords"),
    "links": ("link", "links"),
    "images": ("image", "images"),
    "body": ("body", "bodies"),
    "number": ("number", "numbers"),
    "table": ("row", "rows"),
    "list": ("item", "items"),
    "items": ("entry", "entries"),
    "regex": ("match", "matches"),
    "status": ("status", "statuses"),
}
_ANSWERED = {
    "status": "status changed",
    "header": "header changed",
    "price": "price changed",
    "availability": "availability changed",
}
"""What a change of one thing is called that a page has once."""
_THINGS = ("table", "list", "items")
_UPDATED = {"table": ("cell", "cells")}
_LONGEST_TEXT = 60
_LONGEST_NAME = 40
_EXAMPLES = 3
_VALUE = 24
"""Characters of a text that says little without the words around it."""
_UNIT = 8
"""Characters of what stands behind a value, such as a currency."""
_BESIDE = 30
"""Characters of these words on each side."""
_NO_CONTEXT = Context("", 0)
_JOINERS = "\u200c\u200d"


def summary(change: ChangeSet, *, most: int = 200) -> str:
    """Return counts and the first texts in at most `most` characters: `1 text updated: "5" → "6"`. Empty for no change.

    Of a page with frames it says in which: `1 text updated in menu.html: "5" → "6"`. A text stands behind its heading and label as far as they
    are known, and one that is all that was updated stands alone: `Status: Database "ok" → "degraded"`.
    """
    if not change:
        return ""
    if _is_one_update(change) and (line := next(_examples(change))) and not line.startswith('"'):
        return line if len(line) <= most else line[: most - 1].rstrip() + "…"
    counts = ", ".join(_counts(change)) + _where(change)
    examples = "; ".join(text for _, text in zip(range(_EXAMPLES), _examples(change), strict=False))
    line = f"{counts}: {examples}" if examples else counts
    return line if len(line) <= most else line[: most - 1].rstrip() + "…"


def _is_one_update(change: ChangeSet) -> bool:
    """Return whether one text was updated and nothing else happened."""
    others = (*change.inserted, *change.deleted, *change.moved, *change.objects, *change.frames)
    return change.kinds == ("words",) and len(change.updated) == 1 and not others


def _where(change: ChangeSet) -> str:
    if len(change.frames) > 1:
        return f" in {len(change.frames)} parts of the page"
    return f" in {_name(change.frames[0].url)}" if change.frames else ""


def _name(url: str) -> str:
    """Return the last part of an address, by which people know a frame."""
    place = url.partition("?")[0].rstrip("/").rpartition("/")[2]
    return place if len(place) <= _LONGEST_NAME else f"{place[: _LONGEST_NAME - 1]}…"


def _counts(change: ChangeSet) -> Iterator[str]:
    texts = "words" if "words" in change.kinds else "phrases"
    has_texts = texts in change.kinds
    for kind in change.kinds:
        if kind in _ANSWERED:
            yield _ANSWERED[kind]
    if not set(change.kinds) - _ANSWERED.keys():
        return
    rows = [row for row in change.objects if row.kind != "phrases"]
    added, removed = ([row for row in rows if row.new > row.old], [row for row in rows if row.new < row.old])
    things = [row for row in rows if row.new == row.old]
    if sum(row.kind == "body" for row in rows) == 2:
        yield "another body"
        added, removed = ([row for row in side if row.kind != "body"] for side in (added, removed))
    if "number" in change.kinds:
        yield "number changed" if change.updated else "number added" if change.inserted else "number removed"
    yield from _counted("updated", {texts: len(change.updated) - len(things) if has_texts else 0})
    for kind in _THINGS:
        number = sum(row.kind == kind for row in things) - (0 if has_texts or kind != "list" else len(change.moved))
        if number:
            one, many = _UPDATED.get(kind, _NOUNS[kind])
            yield f"{number:,} {one if number == 1 else many} updated"
    yield from _counted("added", {texts: len(change.inserted) - len(added) if has_texts else 0})
    yield from _counted("removed", {texts: len(change.deleted) - len(removed) if has_texts else 0})
    yield from _counted("moved", {texts if has_texts else "list": len(change.moved)})
    for kind in ("keywords", "regex", *_THINGS, "links", "images", "body"):
        yield from _counted("added", {kind: sum(row.kind == kind for row in added)})
        yield from _counted("removed", {kind: sum(row.kind == kind for row in removed)})


def _counted(verb: str, counts: dict[str, int]) -> Iterator[str]:
    for kind, count in counts.items():
        if count > 0:
            one, many = _NOUNS[kind]
            yield f"{count:,} {one if count == 1 else many} {verb}"


def _examples(change: ChangeSet) -> Iterator[str]:
    numbers = {
        row.object: row
        for row in change.objects
        if row.kind in {"keywords", "regex", "links", "images"} and row.old and row.new
    }
    is_words = "words" in change.kinds
    contexts = {
        (one.of, one.number): one if is_words else replace(one, above="", before="", after="")
        for one in change.contexts
    }
    areas = {one.number for one in change.contexts if one.area and one.of == "updated"}
    for number, (old, new) in sorted(enumerate(change.updated), key=lambda each: each[0] in areas):
        update = " → ".join(_quoted(side) for side in excerpts(old, new, _LONGEST_TEXT))
        yield _standing(update, max(old, new, key=len), contexts.get(("updated", number), _NO_CONTEXT))
    for sign, of, texts in (("+", "inserted", change.inserted), ("-", "deleted", change.deleted)):
        for number, text in enumerate(texts):
            row = numbers.get(text)
            if row is not None:
                yield f"{_quoted(text)} {row.old:,} → {row.new:,}"
                continue
            yield _standing(f"{sign}{_quoted(text)}", text, contexts.get((of, number), _NO_CONTEXT))
    for text in change.moved:
        yield f"moved {_quoted(text)}"


def _standing(shown: str, text: str, context: Context) -> str:
    """Return a text as it is shown behind its heading and label, a short one without a label between the words around it."""
    heading = f"{_printable(context.heading)}: " if context.heading else f"{context.area}: " if context.area else ""
    if context.label:
        unit = context.after if len(context.after) <= _UNIT and len(text) <= _VALUE else ""
        return f"{heading}{_printable(context.label)} {shown}{_spaced(unit)}"
    if context.above and context.of == "updated":
        return f"{heading}{_printable(context.above)} / {shown}"
    if len(text) > _VALUE:
        return heading + shown
    lead, tail = context.before, context.after
    if len(lead) > _BESIDE:
        near = lead[-_BESIDE:].partition(" ")[2]
        lead = f"…{near}" if near.strip() else ""
    if len(tail) > _BESIDE:
        near = tail[:_BESIDE].rpartition(" ")[0]
        tail = f"{near}…" if near.strip() else ""
    return f"{heading}{f'{_printable(lead)} ' if lead.strip() else ''}{shown}{_spaced(tail)}"


def _spaced(text: str) -> str:
    """Return what stands behind a text, with the space before it if there is one."""
    return f"{' ' if text[:1].isspace() else ''}{_printable(text)}"


def _printable(text: str) -> str:
    kept = (character if character.isprintable() or character in _JOINERS else " " for character in as_read(text))
    return " ".join("".join(kept).split())


def _quoted(text: str) -> str:
    shown = _printable(text[: 2 * _LONGEST_TEXT])
    return f'"{shown}"' if len(shown) <= _LONGEST_TEXT else f'"{shown[: _LONGEST_TEXT - 1].rstrip()}…"'
