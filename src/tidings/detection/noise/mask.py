"""Masks: which findings are noise, by the value classes and by the page's memory (detection §4).

Prose is compared through a mask, for the whole page, a part, a list, a table or entries; what a
user names (a keyword, a phrase, a number, a pattern, a part that is one value, a condition) is
compared without one. Masked findings are stored beside the reported ones.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field
from itertools import zip_longest

from tidings.detection.data.structured import finding_of_content
from tidings.detection.find.findings import finding_of_objects, without_spans
from tidings.detection.noise.addresses import digest_of, family_of, groups_of, keys_in, without_noise
from tidings.detection.noise.memory import ORDER, VALUES, Memory, Sort, Thing
from tidings.detection.noise.places import WordString, find, sides_of
from tidings.detection.noise.template import Beside, stretches_of
from tidings.detection.noise.values import Covered, Span, values_between
from tidings.document.document import Document
from tidings.document.html.links import Resolver
from tidings.model.interval import Instant
from tidings.model.observed.change import ChangeSet, Edit, Masked, ObjectCount
from tidings.model.watch.interest import Interest
from tidings.record import dataclass, replace

SEVERAL = 2
"""Places at which words must stand beside noise, so that what stands beside them elsewhere is noise
too.
"""
WITHIN = "within"
"""The mask of an address within words that are noise."""
MOST_MASKED = 40
LONGEST_MASKED = 160

_SORTS: dict[str, tuple[Sort, Sort]] = {"links": ("links", "links.query"), "images": ("images", "images.query")}


@dataclass(slots=True)
class MaskCache:
    """Cached results of the masks of one job, by the identities of its documents, which it keeps
    alive.
    """

    documents: dict[int, Document] = field(default_factory=dict)
    words: dict[int, WordString] = field(default_factory=dict)
    values: dict[tuple[int, int, Instant], list[Covered]] = field(default_factory=dict)
    """the values between two documents, by the time of the old one"""
    left: dict[tuple[int, int, tuple[Covered, ...]], ChangeSet] = field(default_factory=dict)
    """the words of two documents without what is covered"""

    def pair(self, old: Document, new: Document) -> tuple[int, int]:
        """Return the key of two documents."""
        self.documents |= {id(old): old, id(new): new}
        return id(old), id(new)

    def words_of(self, document: Document) -> WordString:
        """Return the words of a document, to locate places in."""
        if id(document) not in self.words:
            self.words[id(document)] = WordString(document)
        return self.words[id(document)]


@dataclass(slots=True)
class Mask:
    """The noise between versions of one page that were polled at `old_at` and `new_at` (0:
    unknown).

    `kept` are the masks (ids of things, value classes, `values`) that a user has switched off.
    `views` names what is selected.
    """

    memory: Memory
    kept: frozenset[str] = frozenset()
    old_at: Instant = 0
    new_at: Instant = 0
    shared: MaskCache = field(default_factory=MaskCache)
    views: frozenset[str] = frozenset({""})
    masked: list[Masked] = field(default_factory=list)
    _covered: dict[tuple[int, int], list[Covered]] = field(default_factory=dict)
    _things: tuple[Thing, ...] | None = None

    @property
    def things(self) -> tuple[Thing, ...]:
        """Return the learned noise that is not switched off."""
        if self._things is None:
            self._things = tuple(thing for thing in self.memory.masks if thing.id not in self.kept)
        return self._things

    def again(self) -> Mask:
        """Return a copy for another comparison: cached results stay, masked findings are reset."""
        return replace(self, masked=[])

    def of_view(self, *views: str) -> Mask:
        """Return a copy for other views of the page; its masked findings are recorded here too."""
        return replace(self, views=frozenset(views), _covered={})

    def real(self, interest: Interest, finding: ChangeSet, old: Document, new: Document) -> ChangeSet:
        """Return the part of a finding between two documents that is not noise; the rest is added
        to `masked`.

        Args:
            interest: What was asked for.
            finding: What was found.
            old: The old page.
            new: The new page.
        """
        match finding.kinds[:1]:
            case ("words",):
                return self._words(interest, finding, old, new)
            case (("links" | "images") as sort,):
                return self._addresses(sort, finding, old, new, is_any=interest.kind == "any")
            case _:
                return finding

    def _words(self, interest: Interest, finding: ChangeSet, old: Document, new: Document) -> ChangeSet:
        spans = self.spans(finding.edits, old, new)
        if not any(spans):
            return finding
        if interest.form:  # the form defines what a word is
            return without_spans(finding, old, new, spans)
        pair = self.shared.pair(old, new)
        asked = (*pair, tuple(self._covered[pair]))
        if asked not in self.shared.left:
            self.shared.left[asked] = finding_of_content(old, new, spans)
        return self.shared.left[asked]

    def spans(self, edits: Sequence[Edit], old: Document, new: Document) -> tuple[list[Span], list[Span]]:
        """Return the tokens of two documents that are noise, given the edits between them; the same
        number on both sides.
        """
        pair = self.shared.pair(old, new)
        if pair not in self._covered:
            places = self._places(old, new)
            self._covered[pair] = [*self._values(edits, old, new), *places, *self._alike(edits, old, new)]
        covered = self._covered[pair]
        self._note(covered, old, new)
        return [one.old for one in covered], [one.new for one in covered]

    def _values(self, edits: Sequence[Edit], old: Document, new: Document) -> list[Covered]:
        if VALUES in self.kept:
            return []
        asked = (*self.shared.pair(old, new), self.old_at)
        if asked not in self.shared.values:
            self.shared.values[asked] = values_between(edits, old, new, self.old_at, self.new_at)
        return [covered for covered in self.shared.values[asked] if covered.mask not in self.kept]

    def _places(self, old: Document, new: Document) -> list[Covered]:
        covered = []
        for thing in self.things:
            if thing.sort != "words" or thing.place is None or thing.view not in self.views:
                continue
            before, after = self.shared.words_of(old), self.shared.words_of(new)
            gone, come = find(thing.place, before), find(thing.place, after)
            if gone is None or come is None:
                continue
            if thing.name == ORDER and before.sort_words(gone) != after.sort_words(come):
                continue
            was, now = before.digest(gone), after.digest(come)
            if was != now and thing.covers(was, now):
                covered += _holes(thing, (before, gone), (after, come))
        return covered

    def _alike(self, edits: Sequence[Edit], old: Document, new: Document) -> list[Covered]:
        """Return the edits between words that stand beside noise at several places: if the visits
        of each entry are noise, so are those of a new one.
        """
        known: dict[Beside, list[Thing]] = {}
        for thing in self.things:
            if thing.verdict == "volatile" and thing.view in self.views:
                for sides in sides_of(thing):
                    known.setdefault(sides, []).append(thing)
        proved = {
            sides: min(thing.id for thing in things)
            for sides, things in known.items()
            if len(things) >= SEVERAL or any(thing.is_spread for thing in things)
        }
        if not proved:
            return []
        words = self.shared.words_of(old), self.shared.words_of(new)
        return [
            Covered((edit.old_start, edit.old_end), (edit.new_start, edit.new_end), proved[name])
            for edit in edits
            if (name := words[1].beside(edit.new_start, edit.new_end)) in proved
            and words[0].beside(edit.old_start, edit.old_end) == name
        ]

    def _note(self, covered: Sequence[Covered], old: Document, new: Document) -> None:
        for one in covered[: MOST_MASKED - len(self.masked)]:
            was, now = (
                document.get_text(*span, most=LONGEST_MASKED) for document, span in ((old, one.old), (new, one.new))
            )
            self.masked.append(Masked(was, now, one.mask))

    def _addresses(self, sort: str, finding: ChangeSet, old: Document, new: Document, *, is_any: bool) -> ChangeSet:
        families, keys = (self._groups(name, old, new) for name in _SORTS[sort])
        names = {thing.name: thing.id for thing in families}
        queries = {thing.name: thing.id for thing in keys}
        left: Sequence[ObjectCount] = without_noise(finding.objects, names, queries)
        masks = {row: _mask_of(row.object, names, queries) for row in {*finding.objects} - {*left}}
        if is_any:
            masks |= {row: names[family] for row in left if (family := family_of(row.object)) in names}
            masks |= dict.fromkeys(self._within(sort, left, old, new), WITHIN)
        if not masks:
            return finding
        for row in [row for row in finding.objects if row in masks][: MOST_MASKED - len(self.masked)]:
            shown = row.object[:LONGEST_MASKED]
            self.masked.append(
                Masked(shown if row.new < row.old else "", shown if row.new > row.old else "", masks[row])
            )
        kept = [row for row in left if row not in masks]
        named = {row.object for row in kept}
        places = tuple(place for place in finding.places if place.object in named)
        return replace(finding_of_objects(sort, kept), places=places) if kept else ChangeSet()

    def _groups(self, sort: Sort, old: Document, new: Document) -> list[Thing]:
        """Return the groups of addresses whose changes are noise: new content in a rotating one is
        not.
        """
        things = [thing for thing in self.things if thing.sort == sort]
        if all(thing.verdict == "volatile" for thing in things):
            return things
        before, after = groups_of(old, sort), groups_of(new, sort)
        return [
            thing
            for thing in things
            if thing.covers(digest_of(before.get(thing.name, ())), digest_of(after.get(thing.name, ())))
        ]

    def _within(self, sort: str, rows: Sequence[ObjectCount], old: Document, new: Document) -> Iterator[ObjectCount]:
        """Yield the rows whose addresses on one side all lie within words that are noise."""
        covered = self._covered.get((id(old), id(new)), [])
        if not covered:
            return
        spans = [one.old for one in covered], [one.new for one in covered]
        outside = [_outside(sort, document, held) for document, held in zip((old, new), spans, strict=True)]
        yield from (row for row in rows if outside[0][row.object] == outside[1][row.object])


def _holes(thing: Thing, old: tuple[WordString, Span], new: tuple[WordString, Span]) -> list[Covered]:
    """Return the ranges of a place that are noise: all of it, or the holes of its template."""
    if not thing.template:
        return [Covered(old[1], new[1], thing.id)]
    gone, come = stretches_of(thing.template, old[0].of(old[1])), stretches_of(thing.template, new[0].of(new[1]))
    before, after = old[1][0], new[1][0]
    return [
        Covered((before + was[0], before + was[1]), (after + now[0], after + now[1]), thing.id)
        for was, now in zip(gone, come, strict=True)
        if was is not None and now is not None
    ]


def _mask_of(address: str, families: Mapping[str, str], keys: Mapping[str, str]) -> str:
    """Return the mask of an address: that of its family, or of its first query key that has one."""
    named = (keys[key] for key in keys_in([address]) if key in keys)
    return families.get(family_of(address)) or next(named, "")


def _outside(sort: str, document: Document, spans: Sequence[Span]) -> Counter[str]:
    """Return how often each address, in the form of `any`, occurs outside ranges of words."""
    resolver = Resolver(document.base, "plain")
    if sort == "links":
        addresses, places = resolver.each_link(document.links), document.link_places
    else:
        addresses, places = resolver.each_image(document.images), document.image_places
    found = Counter[str]()
    for address, place in zip_longest(addresses, places):
        if address is None:
            continue
        start, end = document.tokens_in(place) if place is not None else (-1, -1)
        found[address] += not any(first <= start and end <= last and first < last for first, last in spans)
    return found


def with_masked(real: ChangeSet, mask: Mask) -> ChangeSet:
    """Return a change with its masked findings."""
    return replace(real, masked=tuple(dict.fromkeys(mask.masked))) if mask.masked else real
