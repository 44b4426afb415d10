"""What changed between two versions of a page, as detection says it and as it is stored and told.

Edits are the truth: `(op, old token range, new token range)` over the canonical tokens of one extraction. The texts beside them
are what people read, kept because a body may be gone one day (contracts §4).

What a change is made of that was found on several pages, or that other pages were polled for (sentinels §4.5; 001 §2.1).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import field
from typing import Literal, TypeVar

from tidings.model.interval import Instant
from tidings.record import dataclass, replace

Op = Literal["insert", "delete", "replace", "move"]


@dataclass(frozen=True, slots=True)
class Edit:
    """Tokens `old_start:old_end` of the old text became tokens `new_start:new_end` of the new one.

    An insert has an empty old range, a delete an empty new range. A move is text found again elsewhere.
    """

    op: Op
    old_start: int
    old_end: int
    new_start: int
    new_end: int


@dataclass(frozen=True, slots=True)
class ObjectCount:
    """An object (a link, an image) seen `old` times before and `new` times now; `kind` says of what sort."""

    kind: str
    object: str
    old: int
    new: int


@dataclass(frozen=True, slots=True)
class ObjectPlace:
    """One occurrence of an object that came (`op` insert) or went (delete): number `number` of `of` on the page where it stands.

    `start:end` are its tokens there, of its own frame and part of the page; of an image, which has none, the place between two.
    `text` is what stands there (of a link, what one clicks), `before` and `after` some words around it.
    """

    kind: str
    object: str
    op: Op
    number: int
    of: int
    start: int
    end: int
    before: str = ""
    text: str = ""
    after: str = ""


@dataclass(frozen=True, slots=True)
class EditContext:
    """Where a text of a change set stands: text `number` (from 0) of its list `of` (`updated`, `inserted`, …).

    `heading` is the nearest heading above it, `label` what it is the value of (the heads of its row and column, the term of a definition, what
    stands before a colon), `above` the line above a text that is a short line by itself. `before` and `after` are what stands beside it in its sentence, with the spaces between.
    `link` is the address of the link that it stands in, `area` the part of the page that is no content (`footer`, `nav`).
    """

    of: str
    number: int
    heading: str = ""
    label: str = ""
    above: str = ""
    before: str = ""
    after: str = ""
    link: str = ""
    area: str = ""


@dataclass(frozen=True, slots=True)
class EntryNote:
    """What text `number` (from 0) of list `of` says as an entry of a feed or a list: each part is empty if the entry has none.

    `published` is an instant (µs), None if the entry does not say. `text` is the beginning of what the entry says beside its title. Of an
    updated entry `edits` are its parts that are others now: (`title`, `text`, `link` or `files`, before, now).
    """

    of: str
    number: int
    title: str = ""
    link: str = ""
    author: str = ""
    published: Instant | None = None
    text: str = ""
    edits: tuple[tuple[str, str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class FrameShare:
    """How much of a change set lies in one frame of a page, or in the page that holds the frames: so many entries of each list.

    The lists of a change set are in the order of its shares, so that the shares cut them up again.
    """

    url: str
    inserted: int = 0
    deleted: int = 0
    updated: int = 0
    moved: int = 0
    edits: int = 0
    objects: int = 0
    places: int = 0


@dataclass(frozen=True, slots=True)
class Masked:
    """An edit that is noise: what stood there, what stands there now, and the mask that says so (a value class, or the id of a place)."""

    old: str
    new: str
    mask: str


@dataclass(frozen=True, slots=True)
class ChangeSet:
    """All that one comparison found; empty means no change (`bool(change_set)` says so).

    `kinds` are the change types that contributed. `inserted` and `deleted` are runs of words or objects, `updated` pairs
    (old, new), `moved` texts found elsewhere. `edits` index canonical tokens; `objects` are the multiset rows, `places` which occurrences
    of them came or went, as far as is known. `frames` says what lies
    in which frame, if the page has any; the tokens of such a page are those of its members, one after the other. `masked` are edits
    beside these that are noise: kept, and not told. `contexts` say of the first texts where they stand, as far as is known, `entries` what the
    first entries say. `title` is that of the page now, `snapshot` the text that is watched now if a message shows it.
    """

    kinds: tuple[str, ...] = ()
    inserted: tuple[str, ...] = ()
    deleted: tuple[str, ...] = ()
    updated: tuple[tuple[str, str], ...] = ()
    moved: tuple[str, ...] = ()
    edits: tuple[Edit, ...] = ()
    objects: tuple[ObjectCount, ...] = ()
    frames: tuple[FrameShare, ...] = ()
    masked: tuple[Masked, ...] = ()
    places: tuple[ObjectPlace, ...] = ()
    contexts: tuple[EditContext, ...] = ()
    entries: tuple[EntryNote, ...] = ()
    title: str = field(default="", compare=False)
    snapshot: str = field(default="", compare=False)

    def __bool__(self) -> bool:
        return bool(self.edits or self.objects)


def shares(found: ChangeSet) -> Iterator[tuple[FrameShare, ChangeSet]]:
    """Yield each share of a change set with what lies in it; its edits index the tokens of the whole page."""
    names = ("inserted", "deleted", "updated", "moved", "edits", "objects", "places")
    at = dict.fromkeys(names, 0)
    for share in found.frames:
        part = {}
        starts = dict(at)
        for name in names:
            at[name] += getattr(share, name)
            part[name] = getattr(found, name)[starts[name] : at[name]]
        contexts = tuple(_shift(found.contexts, starts, at))
        entries = tuple(_shift(found.entries, starts, at))
        yield share, ChangeSet(found.kinds, **part, contexts=contexts, entries=entries)


Note = TypeVar("Note", EditContext, EntryNote)


def _shift(notes: Iterable[Note], starts: Mapping[str, int], ends: Mapping[str, int]) -> Iterator[Note]:
    """Yield the notes of the texts from `starts` to `ends` of each list, numbered from the start."""
    for one in notes:
        if starts[one.of] <= one.number < ends[one.of]:
            yield replace(one, number=one.number - starts[one.of])


Verdict = Literal["complete", "partial", "missed", "undecided"]


@dataclass(frozen=True, slots=True, kw_only=True)
class PagePart:
    """What one page has to do with it.

    `changed`: the change `change_id`, between two versions. `unchanged`: the page was polled, at `at`, and shows version `to_seq`, titled `title`, as
    before. `missed`: it was not polled, `reason` says why. `name` is the page's in the sentinel, `url` its address as it was given.
    """

    page_id: int
    url: str
    name: str
    status: Literal["changed", "unchanged", "missed"]
    at: Instant | None = None
    change_id: str | None = None
    from_seq: int = 0
    to_seq: int = 0
    found: ChangeSet = ChangeSet()
    summary: str = ""
    title: str = ""
    modified_at: Instant | None = None
    reason: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Composite:
    """The parts of a change, in the order of the sentinel's pages.

    `complete`: all that was asked for is there. `partial`: some of the pages that were to be polled were not; `missed`: none of them
    was. `undecided`: whether a page that may not have changed did is not known, for nobody polled it in time. `reason` is a sentence.
    """

    verdict: Verdict
    parts: tuple[PagePart, ...]
    reason: str = ""
