"""A change in one line, for lists, subjects and consoles."""

from __future__ import annotations

from collections.abc import Iterator

from tidings.document.excerpts import excerpts
from tidings.document.words import shown as as_read
from tidings.model.change import ChangeSet

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
_JOINERS = "\u200c\u200d"


def summary(change: ChangeSet, *, most: int = 200) -> str:
    """Return counts and the first texts in at most `most` characters: `1 text updated: "5" → "6"`. Empty for no change.

    Of a page with frames it says in which: `1 text updated in menu.html: "5" → "6"`.
    """
    if not change:
        return ""
    counts = ", ".join(_counts(change)) + _where(change)
    examples = "; ".join(text for _, text in zip(range(_EXAMPLES), _examples(change), strict=False))
    line = f"{counts}: {examples}" if examples else counts
    return line if len(line) <= most else line[: most - 1].rstrip() + "…"


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
    for old, new in change.updated:
        yield " → ".join(_quoted(side) for side in excerpts(old, new, _LONGEST_TEXT))
    for sign, texts in (("+", change.inserted), ("-", change.deleted)):
        for text in texts:
            row = numbers.get(text)
            yield f"{sign}{_quoted(text)}" if row is None else f"{_quoted(text)} {row.old:,} → {row.new:,}"
    for text in change.moved:
        yield f"moved {_quoted(text)}"


def _quoted(text: str) -> str:
    kept = (
        character if character.isprintable() or character in _JOINERS else " "
        for character in as_read(text[: 2 * _LONGEST_TEXT])
    )
    shown = " ".join("".join(kept).split())
    return f'"{shown}"' if len(shown) <= _LONGEST_TEXT else f'"{shown[: _LONGEST_TEXT - 1].rstrip()}…"'
