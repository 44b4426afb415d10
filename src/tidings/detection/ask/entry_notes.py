"""The content of changed entries, for people: title, link, date, author and the beginning of their
text, or the parts that differ.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice

from tidings.detection.ask.pair import Pair
from tidings.detection.data.items import resolve_entries
from tidings.document.document import Document
from tidings.document.select.chosen import RefusedError
from tidings.document.structures.entries import Entry
from tidings.document.text.excerpts import ELLIPSIS, excerpts
from tidings.model.observed.change import ChangeSet, EntryNote

MOST = 40
"""The number of entries with notes."""
LONGEST = 280
"""The longest text of an entry, in characters."""
EXCERPT = 200
"""The longest text of each side of an updated part, in characters."""


def notes_of_entries(found: ChangeSet, parts: Sequence[Pair]) -> tuple[EntryNote, ...]:
    """Return the notes of the first entries of a change; `parts` are the compared parts of the
    page, in order.
    """
    if "items" not in found.kinds:
        return ()
    old = [entry for part in parts for entry in _entries(part.old)]
    new = [entry for part in parts for entry in _entries(part.new)]
    return tuple(islice(_notes(found, old, new), MOST))


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
                yield _note("updated", number, after, edits=tuple(_edits(before, after)))
    for of, texts, entries in (("inserted", found.inserted, came), ("deleted", found.deleted, went)):
        for number, text in enumerate(texts):
            if (entry := entries.get(text)) is not None:
                yield _note(of, number, entry)


def _is_same(before: Entry, after: Entry) -> bool:
    return any(name and name == other for name, other in
               ((before.id, after.id), (before.link, after.link), (before.title, after.title)))  # fmt: skip


def _note(of: str, number: int, entry: Entry, *, edits: tuple[tuple[str, str, str], ...] = ()) -> EntryNote:
    said = _write_entry(entry)
    text = said if len(said) <= LONGEST else f"{said[:LONGEST].rpartition(' ')[0] or said[:LONGEST]}{ELLIPSIS}"
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


def _edits(before: Entry, after: Entry) -> Iterator[tuple[str, str, str]]:
    files = [", ".join(entry.enclosures) for entry in (before, after)]
    parts = (("title", before.title, after.title), ("text", _write_entry(before), _write_entry(after)),
             ("link", before.link, after.link), ("files", files[0], files[1]))  # fmt: skip
    for name, old, new in parts:
        if old != new:
            yield (name, *excerpts(old, new, EXCERPT))
