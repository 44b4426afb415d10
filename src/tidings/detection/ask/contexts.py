"""The context that makes a change readable without opening the page: where texts stand (`Context`),
the title, and what entries say.

Computed once, for a change that is notified, and for its first texts only. Texts that are not found
have no context; nothing fails.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain, islice

from tidings.detection.ask.pair import Pair
from tidings.detection.data.items import resolve_entries
from tidings.document.document import Document
from tidings.document.html.links import links_of
from tidings.document.select.chosen import RefusedError
from tidings.document.select.extraction import Extraction
from tidings.document.structures.entries import Entry
from tidings.document.structures.outline import LONGEST, PlaceOnPage, standings
from tidings.document.structures.tables import Table, tables_of
from tidings.document.text.calendars import LABELS, name_events
from tidings.document.text.excerpts import ELLIPSIS, excerpts
from tidings.document.text.placed import CELLS
from tidings.document.text.words import tokens_of
from tidings.model.observed.change import ChangeSet, Edit, EditContext, EntryNote
from tidings.record import dataclass, replace

FEW = 6
"""Up to this number of texts, each is located separately."""
MOST = 40
"""Texts of a change that have a context."""
AROUND = 80
"""Characters on each side of a text."""
SHORT = 15
"""Words of a text that needs the line above it to be understood."""
LONGEST_LINK = 400
_WINDOW = 8
"""Tokens on each side of a text by which it is located in the whole page."""
_MOST_EDITS = 2_000
"""Edits among which the texts are located."""
SHORT_LINE = 40
"""Characters of a line in which a deletion and an insertion form one update."""
LONGEST_SNAPSHOT = 20_000
"""The longest watched text that a message shows, in characters."""
_THINGS = frozenset({"table", "list", "items"})
_SENTENCE = re.compile(r"[.!?。！？]\s+")
_LABEL = re.compile(r"([^\s:：][^:：]{0,60})[:：]\s*$")


@dataclass(frozen=True, slots=True)
class _Place:
    """A range of tokens of a document."""

    document: Document
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class _Spot:
    """A range of characters of a document, and the pieces in which it begins and ends; `tokens` is
    its length in words.
    """

    document: Document
    start: int
    end: int
    piece: int
    last: int
    tokens: int

    @classmethod
    def of(cls, place: _Place) -> _Spot:
        start, end = place.document.characters_of(place.start, place.end)
        first, last = (place.document.piece_of(at) for at in (start, max(start, end - 1)))
        return cls(place.document, start, end, first, last, place.end - place.start)


def with_contexts(found: ChangeSet, page: Pair, scopes: Sequence[Extraction], *, shows: bool = False) -> ChangeSet:
    """Return a change set with the context of its first texts, the texts of its entries, and the
    title of the page.

    Args:
        found: The findings; unchanged if empty.
        page: The pair of documents.
        scopes: The compared parts of the page, in order.
        shows: Whether a message shows the current watched text.
    """
    if not found:
        return found
    parts = _parts(page, scopes)
    found = replace(found, title=page.new.title, entries=notes_of_entries(found, [part for part, _, _ in parts]))
    if shows:
        found = replace(found, snapshot="\n".join(_text_of(part.new) for part, _, _ in parts)[:LONGEST_SNAPSHOT])
    found = _join_words(replace(found, contexts=_contexts(found, page, parts)))
    return _with_columns(found, [part for part, _, _ in parts])


def _with_columns(found: ChangeSet, parts: Sequence[Pair]) -> ChangeSet:
    """Return a change set whose inserted and deleted rows have the names of their columns as
    label.
    """
    contexts = {(one.of, one.number): one for one in found.contexts}
    sides = (("inserted", found.inserted, [part.new for part in parts]),
             ("deleted", found.deleted, [part.old for part in parts]))  # fmt: skip
    for of, texts, documents in sides:
        rows = {text: number for number, text in enumerate(texts[:MOST]) if CELLS in text}
        for table in chain.from_iterable(map(_tables, documents if rows else ())):
            label = CELLS.join(table.columns)
            for row in table.rows if label.strip(CELLS) else ():
                if (number := rows.pop(CELLS.join(row), None)) is not None:
                    context = contexts.get((of, number), EditContext(of, number))
                    contexts[of, number] = replace(context, label=label)
    return replace(found, contexts=tuple(contexts.values()))


def _tables(document: Document) -> list[Table]:
    try:
        return [] if document.textless else tables_of(document)
    except RefusedError:
        return []


def _text_of(document: Document) -> str:
    lines = (" ".join(line.split()) for line in document.text.splitlines())
    return "\n".join(line for line in lines if line)


def _contexts(found: ChangeSet, page: Pair, parts: Sequence[tuple[Pair, int, int]]) -> tuple[EditContext, ...]:
    places = dict(islice(_places(found, parts), MOST))
    things = dict(islice(_things(found, page, places), FEW))
    known = {key: _in_page(place, page) for key, place in places.items()} | things
    whole = {key: at for key, at in known.items() if not at.document.is_endless(at.start, at.end)}
    if not whole:
        return ()
    if len(whole) > FEW:
        for place in whole.values():
            place.document.note_chunks()
    spots = [_Spot.of(place) for place in whole.values()]
    outlines = {
        id(document): standings(
            document, [piece for spot in spots if spot.document is document for piece in (spot.piece, spot.last)]
        )
        for document in (page.old, page.new)
        if document.marks
    }
    contexts = (_context(*key, spot, outlines) for key, spot in zip(whole, spots, strict=True))
    every = (
        EditContext(one.of, one.number, heading=one.heading, area=one.area) if (one.of, one.number) in things else one
        for one in contexts
    )
    return tuple(one for one in every if one != EditContext(one.of, one.number))


def _things(
    found: ChangeSet, page: Pair, known: Mapping[tuple[str, int], _Place]
) -> Iterator[tuple[tuple[str, int], _Place]]:
    """Yield the places of things that are not compared by place (cells, items), if their words
    occur there once.
    """
    if not page.new.marks or {row.kind for row in found.objects} - _THINGS:
        return
    sides = (("updated", page.new, [new for _, new in found.updated]), ("inserted", page.new, found.inserted),
             ("deleted", page.old, found.deleted))  # fmt: skip
    for of, document, texts in sides:
        for number, text in enumerate(texts[:FEW]):
            if (of, number) in known:
                continue
            words = (
                tokens_of(text.replace(CELLS, " "))
                if of != "updated"
                else tokens_of(re.split(r", |: ", text, maxsplit=1)[0])
            )
            if words and (at := _find_once(document.tokens, words)) is not None:
                yield (of, number), _Place(document, at, at + len(words))


def _join_words(found: ChangeSet) -> ChangeSet:
    """Return a change set in which one deletion and one insertion in the same short line form one
    update of the line.
    """
    contexts = {(one.of, one.number): one for one in found.contexts}
    went, came = contexts.get(("deleted", 0)), contexts.get(("inserted", 0))
    if went is None or came is None or found.objects or not len(found.deleted) == len(found.inserted) == 1:
        return found
    is_one_place = (went.heading, went.label, went.above) == (came.heading, came.label, came.above)
    rest = {(one.before + one.after).strip() for one in (went, came)}
    lines = tuple(
        f"{one.before}{text}{one.after}".strip() for one, text in ((went, found.deleted[0]), (came, found.inserted[0]))
    )
    if not is_one_place or len(rest) > 1 or max(map(len, lines)) > SHORT_LINE:
        return found
    del contexts["deleted", 0], contexts["inserted", 0]
    number = len(found.updated)
    contexts["updated", number] = replace(came, of="updated", number=number, before="", after="")
    updated = (*found.updated, (lines[0], lines[1]))
    return replace(found, inserted=(), deleted=(), updated=updated, contexts=tuple(contexts.values()))


def _parts(page: Pair, scopes: Sequence[Extraction]) -> list[tuple[Pair, int, int]]:
    """Return the compared parts, each with the numbers of its first tokens, (old, new)."""
    parts, old, new = [], 0, 0
    for scope in scopes:
        part = page.part(scope)
        parts.append((part, old, new))
        if len(scopes) == 1:
            break
        old, new = old + part.old.words, new + part.new.words
    return parts


def _places(found: ChangeSet, parts: Sequence[tuple[Pair, int, int]]) -> Iterator[tuple[tuple[str, int], _Place]]:
    """Yield (list, index) and the place of each text that is located."""
    if not found.edits:
        return
    edits = list(_edits(found.edits[:_MOST_EDITS], parts))
    old = _SideTexts([_Place(part.old, edit.old_start, edit.old_end) for part, edit in edits])
    new = _SideTexts([_Place(part.new, edit.new_start, edit.new_end) for part, edit in edits])
    texts = chain(
        (("updated", number, after, new) for number, (_, after) in enumerate(found.updated)),
        (("deleted", number, text, old) for number, text in enumerate(found.deleted)),
        (("inserted", number, text, new) for number, text in enumerate(found.inserted)),
        (("moved", number, text, new) for number, text in enumerate(found.moved)),
    )
    for of, number, text, side in islice(texts, 4 * MOST):
        place = side.take(text)
        if place is not None:
            yield (of, number), place


def _edits(edits: Sequence[Edit], parts: Sequence[tuple[Pair, int, int]]) -> Iterator[tuple[Pair, Edit]]:
    """Yield each edit with its part, its tokens counted from the beginning of that part."""
    for edit in edits:
        part, old, new = next(
            (one for one in reversed(parts) if one[1] <= edit.old_start and one[2] <= edit.new_start), parts[0]
        )
        yield part, Edit(edit.op, edit.old_start - old, edit.old_end - old, edit.new_start - new, edit.new_end - new)


class _SideTexts:
    """The texts of edits on one side, each taken once."""

    def __init__(self, places: Sequence[_Place]) -> None:
        self._places = [place for place in places if place.start < place.end <= len(place.document.tokens)]
        self._by_text: dict[str, list[_Place]] | None = None

    def take(self, text: str) -> _Place | None:
        """Return the place of a text that was not taken yet, None if there is none."""
        if self._by_text is None:
            self._by_text = {}
            for place in reversed(self._places):
                shown = place.document.as_written.get_text(place.start, place.end)
                self._by_text.setdefault(shown, []).append(place)
        if known := self._by_text.get(text):
            return known.pop()
        return None


def _in_page(place: _Place, page: Pair) -> _Place:
    """Return a place of a part as one of the whole page, if the words around it occur there
    once.
    """
    document = place.document
    if document is page.old or document is page.new:
        return place
    whole = page.old if any(document is part for part in page.old.parts.values()) else page.new
    if not whole.marks:
        return _Place(document.as_written, place.start, place.end)
    start, end = max(0, place.start - _WINDOW), place.end + _WINDOW
    tokens, window = whole.tokens, document.tokens[start:end]
    if document.written:
        tokens, window = [token.lower() for token in tokens], [token.lower() for token in window]
    at = _find_once(tokens, window)
    if at is None:
        return _Place(document.as_written, place.start, place.end)
    return _Place(whole, at + place.start - start, at + place.end - start)


def _find_once(tokens: Sequence[str], window: Sequence[str]) -> int | None:
    found, at, first = None, -1, window[0]
    while True:
        try:
            at = tokens.index(first, at + 1)
        except ValueError:
            return found
        if tokens[at : at + len(window)] == window:
            if found is not None:
                return None
            found = at


def _context(of: str, number: int, spot: _Spot, outlines: Mapping[int, Mapping[int, PlaceOnPage]]) -> EditContext:
    document = spot.document
    standing = outlines.get(id(document), {}).get(spot.piece, PlaceOnPage())
    before, after, above = document.line_around(spot.start, spot.end)
    label = standing.label
    if spot.last != spot.piece and standing.columns and outlines[id(document)][spot.last].label != label:
        label = standing.columns  # several cells of a row
    if not label and (match := _LABEL.search(before)):
        label = match[1].strip()
    heading = standing.heading
    if document.media == "text" and (event := name_events(document.text, spot.start, spot.end)):
        heading, name = event, label.partition(";")[0]
        label, before = LABELS.get(name, label), "" if name in LABELS else before
    is_alone = not before.strip() and not after.strip()
    is_short = is_alone and not (label or standing.is_item) and spot.tokens <= SHORT
    return EditContext(
        of,
        number,
        heading=heading,
        label=label,
        above=above if is_short and len(above) <= LONGEST and above != heading else "",
        before=_end_of(before),
        after=_start_of(after),
        link=_link_at(document, spot.piece),
        area=standing.area,
    )


def _end_of(text: str) -> str:
    """Return what precedes a text in its sentence."""
    text = _SENTENCE.split(text)[-1]
    if len(text) <= AROUND:
        return text
    short = text[-AROUND:]
    return short[short.find(" ") + 1 :] if " " in short.rstrip() else short


def _start_of(text: str) -> str:
    """Return what follows a text in its sentence."""
    if end := _SENTENCE.search(text):
        text = text[: end.start() + 1]
    if len(text) <= AROUND:
        return text
    short = text[:AROUND]
    return short[: short.rfind(" ")] if " " in short.lstrip() else short


def _link_at(document: Document, piece: int) -> str:
    """Return the address of the link that contains a piece, empty if none does."""
    number = bisect_right(document.link_places, (piece, len(document.pieces))) - 1
    if number < 0 or not document.link_places[number][0] <= piece < document.link_places[number][1]:
        return ""
    links = links_of([document.links[number]], document.base)
    return links[0] if links and len(links[0]) <= LONGEST_LINK else ""


MOST_NOTES = 40
"""The number of entries with notes."""
LONGEST_NOTE = 280
"""The longest text of an entry, in characters."""
LONGEST_EXCERPT = 200
"""The longest text of each side of an updated part, in characters."""


def notes_of_entries(found: ChangeSet, parts: Sequence[Pair]) -> tuple[EntryNote, ...]:
    """Return the notes of the first entries of a change; `parts` are the compared parts of the
    page, in order.
    """
    if "items" not in found.kinds:
        return ()
    old = [entry for part in parts for entry in _entries(part.old)]
    new = [entry for part in parts for entry in _entries(part.new)]
    return tuple(islice(_notes(found, old, new), MOST_NOTES))


def _entries(document: Document) -> list[Entry]:
    try:
        return [] if document.textless else resolve_entries(document)
    except RefusedError:
        return []


def _notes(found: ChangeSet, old: Sequence[Entry], new: Sequence[Entry]) -> Iterator[EntryNote]:
    went, came = ({entry.label: entry for entry in reversed(side)} for side in (old, new))
    updates = [row.object for row in found.objects if row.kind == "items" and row.old == row.new]
    if len(updates) == len(found.updated):  # else some of these are not entries
        for number, label in enumerate(updates):
            after = came.get(label)
            before = None if after is None else next((one for one in old if _is_same(one, after)), None)
            if after is not None and before is not None:
                yield _note("updated", number, after, edits=tuple(_edits_of_entry(before, after)))
    for of, texts, entries in (("inserted", found.inserted, came), ("deleted", found.deleted, went)):
        for number, text in enumerate(texts):
            if (entry := entries.get(text)) is not None:
                yield _note(of, number, entry)


def _is_same(before: Entry, after: Entry) -> bool:
    return any(name and name == other for name, other in
               ((before.id, after.id), (before.link, after.link), (before.title, after.title)))  # fmt: skip


def _note(of: str, number: int, entry: Entry, *, edits: tuple[tuple[str, str, str], ...] = ()) -> EntryNote:
    entry_text = _write_entry(entry)
    text = (
        entry_text
        if len(entry_text) <= LONGEST_NOTE
        else f"{entry_text[:LONGEST_NOTE].rpartition(' ')[0] or entry_text[:LONGEST_NOTE]}{ELLIPSIS}"
    )
    title = entry.title or text
    return EntryNote(
        of,
        number,
        title=title,
        link=entry.link,
        author=entry.author,
        published=entry.published,
        text="" if text == title or edits else text,
        edits=edits,
    )


def _write_entry(entry: Entry) -> str:
    """Return the text of an entry without its title."""
    return entry.text.removeprefix(entry.title).strip()


def _edits_of_entry(before: Entry, after: Entry) -> Iterator[tuple[str, str, str]]:
    files = [", ".join(entry.enclosures) for entry in (before, after)]
    parts = (("title", before.title, after.title), ("text", _write_entry(before), _write_entry(after)),
             ("link", before.link, after.link), ("files", files[0], files[1]))  # fmt: skip
    for name, old, new in parts:
        if old != new:
            yield (name, *excerpts(old, new, LONGEST_EXCERPT))
