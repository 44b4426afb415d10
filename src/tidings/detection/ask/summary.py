"""A one-line summary of a change, for lists, subjects and consoles."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Literal

from tidings.document.text.excerpts import common_start, excerpts, label_of, line_of
from tidings.model.observed.change import ChangeSet, EditContext, EntryNote
from tidings.record import replace

_NOUNS = {
    "words": ("text", "texts"),
    "phrases": ("phrase", "phrases"),
    "keywords": ("keyword", "keywords"),
    "links": ("link", "links"),
    "pages": ("page", "pages"),
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
"""The names of changes of things that a page has once."""
_THINGS = ("table", "list", "items")
_UPDATED = {"table": ("cell", "cells")}
_LONGEST_TEXT = 60
_LONGEST_NAME = 40
_EXAMPLES = 3
_WEIGHED = 200
"""The texts of each list among which the most important are searched."""
_REST = 1
_PRICE = re.compile(r"[$€£¥₹]|\b(?:USD|EUR|GBP|CHF|JPY)\b")
_COUNTED = frozenset({"status", "header", "price", "availability", "number"})
"""Change types that are named before the texts."""
_NAMED = frozenset({"keywords", "phrases", "regex", "table", "list", "items", "links", "pages", "images", "body"})
"""Things that are named by their type: a link, an entry."""
_VALUE = 24
"""A shorter text needs the words around it, in characters."""
_UNIT = 8
"""The longest suffix of a value, such as a currency, in characters."""
_BESIDE = 30
"""The longest surrounding text on each side, in characters."""
_AREAS = {"footer": "in the footer", "nav": "in the menu"}
_NO_CONTEXT = EditContext("", 0)
_JOINERS = "\u200c\u200d"


def summary(change: ChangeSet, *, most: int = 200) -> str:
    """Return a summary in at most `most` characters, the most important first: `Status: Database
    "ok" → "degraded"; and 2 more`.

    Empty for no change. A text follows its heading and label if they are known. Prices come first,
    footers last. Of a page with frames it names the frame: `menu.html: "5" → "6"`. Things that a
    page has once are named: `price changed: "129" → "99"`.
    """
    if not change:
        return ""
    every = list(_examples(change))
    examples = every[:1] if len(every) == 1 else [line.removesuffix(".") for line in every[:_EXAMPLES]]
    if set(change.kinds) & _COUNTED or not examples:
        counts = ", ".join(_counts(change))
        line = f"{counts}: {'; '.join(examples)}" if examples else counts
        line += _where(change)
    else:
        texts = len(change.updated) + len(change.inserted) + len(change.deleted) + len(change.moved)
        rest = (texts if len(every) > _EXAMPLES else len(every)) - len(examples)
        line = _in_frame(change) + "; ".join([*examples, *([f"and {rest:,} more"] if rest > 0 else [])])
    return line if len(line) <= most else line[: most - 1].rstrip() + "…"


def of_listing(change: ChangeSet) -> ChangeSet:
    """Return what changed in the list of a collection: its links are pages, each with its title."""
    titles = {(place.op, place.object): place.text for place in change.places}
    sides: tuple[tuple[str, Literal["insert", "delete"], tuple[str, ...]], ...] = (
        ("inserted", "insert", change.inserted),
        ("deleted", "delete", change.deleted),
    )
    notes = tuple(
        EntryNote(of, number, title=titles.get((op, url), ""), link=url)
        for of, op, urls in sides
        for number, url in enumerate(urls[:_WEIGHED])
    )
    return replace(
        change,
        kinds=tuple("pages" if kind == "links" else kind for kind in change.kinds),
        objects=tuple(replace(row, kind="pages") if row.kind == "links" else row for row in change.objects),
        entries=tuple(note for note in notes if note.title),
    )


def _in_frame(change: ChangeSet) -> str:
    """Return the frame that contains the whole change, or the number of parts of the page."""
    if len(change.frames) > 1:
        return f"in {len(change.frames)} parts of the page: "
    return f"in {_name(change.frames[0].url)}: " if change.frames else ""


def _where(change: ChangeSet) -> str:
    if len(change.frames) > 1:
        return f" in {len(change.frames)} parts of the page"
    return f" in {_name(change.frames[0].url)}" if change.frames else ""


def _name(url: str) -> str:
    """Return the last part of an address, the name of a frame."""
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
    yield from _count("updated", {texts: len(change.updated) - len(things) if has_texts else 0})
    for kind in _THINGS:
        number = sum(row.kind == kind for row in things) - (0 if has_texts or kind != "list" else len(change.moved))
        if number:
            one, many = _UPDATED.get(kind, _NOUNS[kind])
            yield f"{number:,} {one if number == 1 else many} updated"
    yield from _count("added", {texts: len(change.inserted) - len(added) if has_texts else 0})
    yield from _count("removed", {texts: len(change.deleted) - len(removed) if has_texts else 0})
    yield from _count("moved", {texts if has_texts else "list": len(change.moved)})
    for kind in ("keywords", "regex", *_THINGS, "links", "pages", "images", "body"):
        yield from _count("added", {kind: sum(row.kind == kind for row in added)})
        yield from _count("removed", {kind: sum(row.kind == kind for row in removed)})


def _count(verb: str, counts: dict[str, int]) -> Iterator[str]:
    for kind, count in counts.items():
        if count > 0:
            one, many = _NOUNS[kind]
            yield f"{count:,} {one if count == 1 else many} {verb}"


def _examples(change: ChangeSet) -> Iterator[str]:
    """Yield the texts of a change by importance, each as a few words that make sense alone."""
    contexts = {(one.of, one.number): one for one in change.contexts}
    if "words" not in change.kinds:
        contexts = {key: replace(one, above="", before="", after="") for key, one in contexts.items()}
    told = [*_updates(change, contexts), *_one_sided(change, contexts)]
    told += [(_REST, f"moved {_quote(text)}") for text in change.moved]
    yield from (text for _, text in sorted(told, key=lambda each: each[0]))


def _updates(change: ChangeSet, contexts: Mapping[tuple[str, int], EditContext]) -> Iterator[tuple[int, str]]:
    """Yield (weight, text) of updates."""
    notes = {one.number: one for one in change.entries if one.of == "updated"}
    for number, pair in enumerate(change.updated[:_WEIGHED]):
        context = contexts.get(("updated", number), _NO_CONTEXT)
        if (note := notes.get(number)) is not None:
            yield _weight(context, ""), _entry_update(note)
            continue
        old, new = pair
        if not context.label and (label := label_of(old, new)):
            old, new = (side[len(label) + 2 :] for side in pair)
            context = replace(context, label=label, before="", after="")
        elif not (context.label or context.before) and (line := line_of(new, context.after, beside=old)):
            old, new = line_of(old, context.after, beside=new), line
            context = replace(context, after="")
        noun = "phrase " if change.kinds == ("phrases",) else ""
        update = noun + " → ".join(_quote(side) for side in excerpts(old, new, _LONGEST_TEXT))
        yield _weight(context, old + new), _standing(update, max(old, new, key=len), context)


def _entry_update(note: EntryNote) -> str:
    """Return an updated entry: its titles if they differ, else the first part that does."""
    if not note.edits:
        return f"entry updated {_quote(note.title)}"
    part, old, new = note.edits[0]
    sides = " → ".join(map(_quote, excerpts(old, new, _LONGEST_TEXT)))
    return f"entry {sides}" if part == "title" else f"entry {_quote(note.title)}: {part} {sides}"


def _one_sided(change: ChangeSet, contexts: Mapping[tuple[str, int], EditContext]) -> Iterator[tuple[int, str]]:
    """Yield (weight, text) of insertions and deletions."""
    rows = {(row.object, row.new > row.old): row for row in change.objects if row.new != row.old}
    notes = {(one.of, one.number): one for one in change.entries}
    if (line := _link_update(change)) is not None:
        yield _REST, line
        return
    for verb, of, texts in (("added", "inserted", change.inserted), ("removed", "deleted", change.deleted)):
        for number, text in enumerate(texts[:_WEIGHED]):
            row, context = rows.get((text, of == "inserted")), contexts.get((of, number), _NO_CONTEXT)
            kind = row.kind if row is not None else "phrases" if change.kinds == ("phrases",) else ""
            noun = _NOUNS[kind][0] if kind in _NAMED else ""
            note = notes.get((of, number))
            shown = _quote(note.title if note is not None else text)
            if row is not None and row.old and row.new:
                yield _REST, f"{noun} {shown} {row.old:,} → {row.new:,}".lstrip()
                continue
            weight, said = _weight(context, text), f"{noun} {verb} {shown}".lstrip()
            yield weight, _standing(said, text, context)


def _link_update(change: ChangeSet) -> str | None:
    """Return the text for a single link with a new target; None if anything else changed."""
    sides = change.deleted, change.inserted
    if change.kinds not in {("links",), ("pages",)} or any(len(side) != 1 for side in sides) or change.updated:
        return None
    names = {(place.op, place.object): place.text for place in change.places}
    was, now = names.get(("delete", sides[0][0])), names.get(("insert", sides[1][0]))
    if not was or was != now:
        return None
    old, new = sides[0][0], sides[1][0]
    folder = old[: common_start(old, new)].rpartition("/")[0]
    if folder.count("/") > 1:  # same scheme and host, which the message names anyway
        old, new = old[len(folder) :], new[len(folder) :]
    old, new = map(_quote, excerpts(old, new, _LONGEST_TEXT))
    return f"{_NOUNS[change.kinds[0]][0]} {_quote(was)}: {old} → {new}"


def _weight(context: EditContext, text: str) -> int:
    """Return the rank of a text: prices first, footers and menus last."""
    if context.area:
        return _REST + 1
    return _REST - 1 if _PRICE.search(f"{text}{context.before[-4:]}{context.after[:4]}") else _REST


def _standing(shown: str, text: str, context: EditContext) -> str:
    """Return a text behind its heading and label, a short one without a label between the words
    around it.
    """
    heading = (
        f"{_printable(context.heading)}: "
        if context.heading
        else f"{_AREAS.get(context.area, '')}: "
        if context.area
        else ""
    )
    if context.label:
        unit = context.after if len(context.after) <= _UNIT and len(text) <= _VALUE else ""
        return f"{heading}{_printable(context.label)} {shown}{_put_space_before(unit)}"
    if context.above and context.of == "updated":
        return f"{heading}{_printable(context.above)}: {shown}"
    if len(text) > _VALUE:
        return heading + shown
    lead, tail = context.before, context.after
    if len(lead) > _BESIDE:
        near = lead[-_BESIDE:].partition(" ")[2]
        lead = f"…{near}" if near.strip() else ""
    if len(tail) > _BESIDE:
        near = tail[:_BESIDE].rpartition(" ")[0]
        tail = f"{near}…" if near.strip() else ""
    return f"{heading}{f'{_printable(lead)} ' if lead.strip() else ''}{shown}{_put_space_before(tail)}"


def _put_space_before(text: str) -> str:
    """Return what follows a text, with the space before it if there is one."""
    return f"{' ' if text[:1].isspace() else ''}{_printable(text)}"


def _printable(text: str) -> str:
    if text.isascii() and text.isprintable():
        return " ".join(text.split())
    from tidings.document.text.words import show as as_read

    read = as_read(text)
    if not read.isprintable():
        read = "".join(character if character.isprintable() or character in _JOINERS else " " for character in read)
    return " ".join(read.split())


def _quote(text: str) -> str:
    shown = _printable(text[: 2 * _LONGEST_TEXT])
    return f'"{shown}"' if len(shown) <= _LONGEST_TEXT else f'"{shown[: _LONGEST_TEXT - 1].rstrip()}…"'
