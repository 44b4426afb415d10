"""A change between two versions of a page, or on several pages, as detected, stored and reported
(sentinels §4.5; 001 §2.1).

Edits are authoritative: `(op, old token range, new token range)` over the canonical tokens of one
extraction. The texts beside them are for people; they are stored because a body may be deleted
later (contracts §4).
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

    An insert has an empty old range, a delete an empty new range. A move is text found again
    elsewhere.
    """

    op: Op
    old_start: int
    old_end: int
    new_start: int
    new_end: int


@dataclass(frozen=True, slots=True)
class ObjectCount:
    """An object (a link, an image) seen `old` times before and `new` times now; `kind` is its
    type.
    """

    kind: str
    object: str
    old: int
    new: int


@dataclass(frozen=True, slots=True)
class ObjectPlace:
    """One occurrence of an object that was inserted or deleted (`op`): number `number` of `of` on
    its page.

    `start:end` are its tokens within its frame and part of the page; an image has no tokens, so its
    range is empty. `text` is its visible text (the text of a link), `before` and `after` are a few
    words around it.
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
    """The context of a text of a change set: text `number` (from 0) of its list `of` (`updated`,
    `inserted`, …).

    `heading` is the nearest heading above it. `label` is what it is the value of: the heads of its
    row and column, the term of a definition, or the text before a colon. `above` is the line above
    a short line. `before` and `after` are the rest of its sentence, with the spaces between. `link`
    is the address of the enclosing link, `area` the part of the page that is not content (`footer`,
    `nav`).
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
    """What text `number` (from 0) of list `of` says as an entry of a feed or list; missing parts
    are empty.

    `published` is an instant (µs), None if the entry has none. `text` is the beginning of the
    entry's text without its title. Of an updated entry, `edits` are the parts that differ:
    (`title`, `text`, `link` or `files`, before, now).
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
    """How many entries of each list of a change set belong to one frame, or to the page that holds
    the frames.

    The lists of a change set are in the order of its shares, so the counts split them.
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
    """An edit that is noise: the old text, the new text, and the mask that matched (a value class,
    or the id of a place).
    """

    old: str
    new: str
    mask: str


@dataclass(frozen=True, slots=True)
class ChangeSet:
    """The result of one comparison; empty (false) means no change.

    `kinds` are the change types that contributed. `inserted` and `deleted` are runs of words or
    objects, `updated` pairs (old, new), `moved` texts found elsewhere. `edits` index canonical
    tokens; `objects` are the multiset rows, `places` the known occurrences that were inserted or
    deleted. `frames` splits the set by frame; the tokens of a page with frames are those of its
    members, concatenated. `masked` are further edits that are noise: stored, not reported.
    `contexts` describe the first texts, `entries` the first entries. `title` is the page's title
    now, `snapshot` the watched text now if a message shows it.
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
    """Yield each share of a change set with its part of the set; its edits index the tokens of the
    whole page.
    """
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
    """Yield the notes of the texts from `starts` to `ends` of each list, renumbered from 0."""
    for one in notes:
        if starts[one.of] <= one.number < ends[one.of]:
            yield replace(one, number=one.number - starts[one.of])


Verdict = Literal["complete", "partial", "missed", "undecided"]


@dataclass(frozen=True, slots=True, kw_only=True)
class PagePart:
    """The part of one page in a composite change.

    `changed`: the change `change_id`, between two versions. `unchanged`: the page was polled at
    `at` and still shows version `to_seq`, titled `title`. `missed`: it was not polled; `reason`
    says why. `name` is the page's name in the sentinel, `url` its address as given.
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

    `complete`: every part is there. `partial`: some of the pages that were to be polled were not;
    `missed`: none of them was. `undecided`: a page was not polled in time, so it is unknown whether
    it changed. `reason` is a sentence.
    """

    verdict: Verdict
    parts: tuple[PagePart, ...]
    reason: str = ""
