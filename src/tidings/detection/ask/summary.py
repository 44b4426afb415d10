"""A one-line summary of a change, for lists, subjects and consoles."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Literal

from tidings.document.text.excerpts import common_start, excerpts
from tidings.document.text.placed import (
    LinkPair,
    PlacedText,
    join_updates,
    pair_links,
    place_text,
    place_update,
)
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
    "items": ("item", "items"),
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
_IN_SENTENCES = frozenset({"words", "number"})
"""Change types whose texts are shown between the words around them."""
_UPDATED = {"table": ("cell", "cells")}
_LONGEST_TEXT = 60
_LONGEST_NAME = 40
_EXAMPLES = 3
_WEIGHED = 200
"""The texts of each list among which the most important are searched."""
_REST = 1
_PRICE = re.compile(r"[$€£¥₹]|\b(?:USD|EUR|GBP|CHF|JPY)\b")
_COUNTED = frozenset({"status", "header", "price", "availability"})
"""Change types that are named before the texts."""
_NAMED = frozenset({"keywords", "phrases", "regex", "table", "list", "items", "links", "pages", "images", "body"})
"""Things that are named by their type: a link, an item."""
_VALUE = 24
"""A shorter text needs the words around it, in characters."""
_UNIT = 8
"""The longest suffix of a value, such as a currency, in characters."""
_BESIDE = 80
"""The longest surrounding text on each side, in characters: a sentence that fits is whole."""
_AREAS = {"footer": "in the footer", "nav": "in the menu"}
_NO_CONTEXT = EditContext("", 0)
_JOINERS = "\u200c\u200d"


def summary(change: ChangeSet, *, most: int = 200) -> str:
    """Return a summary in at most `most` characters, the most important first: `Status: Database
    "ok" → "degraded"; and 2 more changes`.

    Empty for no change. A text follows its heading and label if they are known; within a sentence
    the new text comes first: `The fee is "7" (was "5") €`. Prices come first; footers and menus are
    left out if something else changed. Of a page with frames it names the frame:
    `menu.html: "5" → "6"`. Things that a page has once are named: `price changed: "129" → "99"`.
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
        texts = (change.updated, change.inserted, change.deleted)
        rest = len(every) - len(examples) + sum(max(0, len(each) - _WEIGHED) for each in texts)
        further = [f"and {rest:,} more change{'' if rest == 1 else 's'}"] if rest > 0 else []
        line = _in_frame(change) + "; ".join([*examples, *further])
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
    """Yield the texts of a change by importance, each as a few words that make sense alone; those
    of footers and menus only if there are no others.
    """
    contexts = {(one.of, one.number): one for one in change.contexts}
    if not _IN_SENTENCES & set(change.kinds):
        contexts = {key: replace(one, above="", before="", after="") for key, one in contexts.items()}
    sentences = [*_updates(change, contexts), *_one_sided(change, contexts)]
    sentences += [(_REST, f"moved {_quote(text)}") for text in change.moved]
    if any(weight <= _REST for weight, _ in sentences):
        sentences = [each for each in sentences if each[0] <= _REST]
    yield from (text for _, text in sorted(sentences, key=lambda each: each[0]))


def _updates(change: ChangeSet, contexts: Mapping[tuple[str, int], EditContext]) -> Iterator[tuple[int, str]]:
    """Yield (weight, text) of updates."""
    notes = {one.number: one for one in change.entries if one.of == "updated"}
    placed: list[PlacedText] = []
    for number, (old, new) in enumerate(change.updated[:_WEIGHED]):
        context = contexts.get(("updated", number), _NO_CONTEXT)
        if (note := notes.get(number)) is not None:
            yield _weight(context, ""), _entry_update(note)
        else:
            placed.append(place_update(old, new, context))
    noun = "phrase " if change.kinds == ("phrases",) else ""
    for one in join_updates(placed):
        text = max(one.old, one.new, key=len) if not one.between else ""
        write = _was if _is_in_sentence(text, one.context) else _became
        shown = "".join(
            write(*map(_quote, excerpts(old, new, _LONGEST_TEXT))) + _put_spaces(between)
            for old, new, between in one.between or ((one.old, one.new, ""),)
        )
        yield _weight(one.context, one.old + one.new), _standing(noun + shown, text, one.context)


def _became(old: str, new: str) -> str:
    """Return an update behind its label."""
    return f"{old} → {new}"


def _was(old: str, new: str) -> str:
    """Return an update between the words of its sentence, which can be read aloud as it is now."""
    return f"{new} (was {old})"


def _is_in_sentence(text: str, context: EditContext) -> bool:
    """Return whether an update is shown between the words of its sentence: a unit is none."""
    is_placed = context.label or (context.above and context.of == "updated") or len(text) > _VALUE
    return not is_placed and bool(context.before.strip() or len(context.after.strip()) > _UNIT)


def _entry_update(note: EntryNote) -> str:
    """Return an updated item: its titles if they differ, else the first part that does; the other
    parts are named.
    """
    if not note.edits:
        return f"changed item {_quote(note.title)}"
    part, old, new = note.edits[0]
    sides = _became(*map(_quote, excerpts(old, new, _LONGEST_TEXT)))
    rest = "".join(f" and its {name}" for name, _, _ in note.edits[1:])
    return f"item {sides}{rest}" if part == "title" else f"item {_quote(note.title)}: {part} {sides}{rest}"


def _one_sided(change: ChangeSet, contexts: Mapping[tuple[str, int], EditContext]) -> Iterator[tuple[int, str]]:
    """Yield (weight, text) of insertions and deletions."""
    rows = {(row.object, row.new > row.old): row for row in change.objects if row.new != row.old}
    notes = {(one.of, one.number): one for one in change.entries}
    names: dict[tuple[str, str], str] = {(place.op, place.object): place.text or "" for place in change.places}
    pairs = _pairs(change, names)
    shown = {(of, context.link) for (of, _), context in contexts.items() if context.link}
    new_texts = [pair for pair in pairs if pair.was == pair.now or ("updated", pair.new) not in shown]
    before = {place.object: place.before for place in change.places if place.op == "insert"}
    yield from ((_REST, _link_update(change, pair, before.get(pair.new, ""))) for pair in new_texts)
    paired = {("deleted", pair.old) for pair in pairs} | {("inserted", pair.new) for pair in pairs}
    for of, texts in (("inserted", change.inserted), ("deleted", change.deleted)):
        for number, text in enumerate(texts[:_WEIGHED]):
            row, context = rows.get((text, of == "inserted")), contexts.get((of, number), _NO_CONTEXT)
            kind = row.kind if row is not None else "phrases" if change.kinds == ("phrases",) else ""
            if row is not None and ((of, text) in paired or (of, text) in shown):
                continue
            noun = _NOUNS[kind][0] if kind in _NAMED else ""
            note = notes.get((of, number))
            if row is not None and row.old and row.new:
                yield _REST, f"{noun} {_quote(text)} {row.old:,} → {row.new:,}".lstrip()
                continue
            name = names.get(("insert" if of == "inserted" else "delete", text)) if kind in _LINKED else ""
            told, context = place_text(text, context)
            sentence = f"{_verb(of, noun)} {_quote(note.title if note is not None else name or told)}"
            yield _weight(context, text), _standing(sentence, told, context)


def _verb(of: str, noun: str) -> str:
    """Return what happened to a text: `added`, `new item`."""
    if noun:
        return f"new {noun}" if of == "inserted" else f"removed {noun}"
    return "added" if of == "inserted" else "removed"


_LINKED = frozenset({"links", "pages"})


def _pairs(change: ChangeSet, names: Mapping[tuple[str, str], str]) -> list[LinkPair]:
    """Return the links and pages that have another address now."""
    rows = {row.object for row in change.objects if row.kind in _LINKED and not (row.old and row.new)}
    old, new = ([text for text in side if text in rows] for side in (change.deleted, change.inserted))
    was, now = ({url: names.get((op, url), "") for url in side} for op, side in (("delete", old), ("insert", new)))
    return pair_links(was, now, is_same="pages" in change.kinds)


def _link_update(change: ChangeSet, pair: LinkPair, before: str) -> str:
    """Return the text for a link with another address, behind the words before it (`before`)."""
    noun = "page" if "pages" in change.kinds else "link"
    if noun == "link" and (lead := _printable(before)):
        noun = f"{lead}: link"
    if pair.was != pair.now:
        return f"{noun} {_quote(pair.was)} → {_quote(pair.now)}"
    old, new = pair.old, pair.new
    folder = old[: common_start(old, new)].rpartition("/")[0]
    if folder.count("/") > 1:  # same scheme and host, which the message names anyway
        old, new = old[len(folder) :], new[len(folder) :]
    old, new = map(_quote, excerpts(old, new, _LONGEST_TEXT))
    return f"{noun} {_quote(pair.was)}: {old} → {new}"


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
        f"{_AREAS[context.area]}: "
        if context.area in _AREAS
        else f"{_printable(context.heading)}: "
        if context.heading
        else ""
    )
    if context.label:
        unit = context.after if len(context.after) <= _UNIT and len(text) <= _VALUE else ""
        colon = "" if shown.startswith('"') else ":"
        return f"{heading}{_printable(context.label)}{colon} {shown}{_put_space_before(unit)}"
    if context.above and context.of == "updated":
        colon = "" if shown.startswith('"') else ":"
        return f"{heading}{_printable(context.above)}{colon} {shown}"
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


def _put_spaces(text: str) -> str:
    """Return a text between two others, with the spaces around it if there are any."""
    return f"{_put_space_before(text)}{' ' if text[-1:].isspace() else ''}" if text else ""


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
