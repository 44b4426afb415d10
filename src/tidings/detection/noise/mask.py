"""Masks: which findings are noise, by the value classes and by the page's memory (detection §4).

Prose is compared through a mask, for the whole page, a part, a list, a table or entries; what a
user names (a keyword, a phrase, a number, a pattern, a part that is one value, a condition) is
compared without one. Masked findings are stored beside the reported ones.

Views: what interests select through masks: the whole page, a part of it, or the texts of its
lists, tables or entries (0047).

Noise is learned per view, so that its borders name places too. The texts of a list form a document
of their own, one text per line; their noise is replaced by the old text before lists, tables and
entries are compared.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field
from functools import lru_cache
from itertools import zip_longest

from tidings.detection.data.structured import finding_of_content
from tidings.detection.find.findings import finding_of_objects, without_spans
from tidings.detection.kinds.aims import aim_expression, aims_of
from tidings.detection.kinds.interests import uses_masks
from tidings.detection.noise.addresses import digest_of, family_of, groups_of, keys_in, without_noise
from tidings.detection.noise.memory import ORDER, VALUES, Memory, Sort, Thing
from tidings.detection.noise.places import WordString, find, sides_of
from tidings.detection.noise.template import Neighbours, stretches_of
from tidings.detection.noise.values import Covered, Span, values_between
from tidings.document.document import Document
from tidings.document.extract import extract
from tidings.document.html.lines import pieces_of
from tidings.document.html.links import Resolver
from tidings.document.select.extraction import WHOLE, Extraction
from tidings.document.structures.entries import entries_of
from tidings.document.structures.lists import ListItem, items_of
from tidings.document.structures.tables import Table, tables_of
from tidings.document.text.words import spans_of_chunk
from tidings.model.interval import Instant
from tidings.model.observed.change import ChangeSet, Edit, Masked, ObjectCount
from tidings.model.watch.interest import Expression, Interest
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
class NoiseMask:
    """The noise between versions of one page that were polled at `old_at` and `new_at` (0:
    unknown).

    `switched_off` are the masks (ids of things, value classes, `values`) that a user has switched
    off. `views` names what is selected.
    """

    memory: Memory
    switched_off: frozenset[str] = frozenset()
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
            self._things = tuple(thing for thing in self.memory.masks if thing.id not in self.switched_off)
        return self._things

    def again(self) -> NoiseMask:
        """Return a copy for another comparison: cached results stay, masked findings are reset."""
        return replace(self, masked=[])

    def of_view(self, *views: str) -> NoiseMask:
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
        if VALUES in self.switched_off:
            return []
        asked = (*self.shared.pair(old, new), self.old_at)
        if asked not in self.shared.values:
            self.shared.values[asked] = values_between(edits, old, new, self.old_at, self.new_at)
        return [covered for covered in self.shared.values[asked] if covered.mask not in self.switched_off]

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
        known: dict[Neighbours, list[Thing]] = {}
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
        left_over = [row for row in left if row not in masks]
        named = {row.object for row in left_over}
        places = tuple(place for place in finding.places if place.object in named)
        return replace(finding_of_objects(sort, left_over), places=places) if left_over else ChangeSet()

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
        outside = [_outside(sort, document, span) for document, span in zip((old, new), spans, strict=True)]
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


def with_masked(real: ChangeSet, mask: NoiseMask) -> ChangeSet:
    """Return a change with its masked findings."""
    return replace(real, masked=tuple(dict.fromkeys(mask.masked))) if mask.masked else real


THINGS = frozenset({"list", "table", "items"})
"""The change types on texts of things."""
FEW_WORDS = 6
"""A selected part that is one line of at most so many words is a single value, and compared without
masks.
"""


@dataclass(frozen=True, slots=True)
class NoiseView:
    """What an interest selects: a part of a page, and of it the words, or the texts of its lists,
    tables or entries (`kind`, all or number `ordinal`).
    """

    extraction: Extraction = WHOLE
    kind: str = "words"
    ordinal: int | None = None

    @property
    def name(self) -> str:
        """Return its name in the memory, empty for the words of the whole page."""
        if self.kind == "words" and self.extraction.is_whole:
            return ""
        return f"{self.kind}{self.ordinal or ''} {self.extraction.fingerprint}"

    def document(self, document: Document) -> Document | None:
        """Return its document, None if it is empty or a single value. Raise `RefusedError` if it
        cannot be extracted.
        """
        part = extract(document, self.extraction)
        if part.problem or part.textless or part.missing is not None or is_named(part):
            return None
        return part if self.kind == "words" else document_of(texts_of(self.kind, self.ordinal, part), part)


def view_of(interest: Interest, scope: Extraction) -> NoiseView:
    """Return the view of an interest on a part."""
    return NoiseView(scope, interest.kind, interest.ordinal) if interest.kind in THINGS else NoiseView(scope)


@lru_cache(maxsize=4_096)
def views_of(expression: Expression, extraction: Extraction) -> tuple[NoiseView, ...]:
    """Return the masked views of an expression, in the sentinel's selection."""
    aims = aims_of(aim_expression(expression, extraction))
    return tuple(dict.fromkeys(view_of(aim.interest, aim.scope) for aim in aims if uses_masks(aim.interest)))


def is_named(part: Document) -> bool:
    """Return whether a part is a single value named by a selector."""
    return bool(part.extraction.selectors) and part.words <= FEW_WORDS and len(part.lines) <= 1


def texts_of(kind: str, ordinal: int | None, part: Document) -> list[str]:
    """Return the texts of the lists, tables or entries of a part."""
    match kind:
        case "list":
            return [item.text for item in items_of(part, ordinal)]
        case "table":
            return [cell for table in tables_of(part, ordinal) for row in table.rows for cell in row]
        case _:
            return [text for entry in entries_of(part) for text in (entry.title, entry.text)]


def document_of(texts: Sequence[str], part: Document) -> Document:
    """Return texts as a document of one line each; those without words are left out."""
    return Document(media="text", base=part.base, pieces=pieces_of([line for text in texts if (line := _line(text))]))


def put_back(
    kind: str,
    ordinal: int | None,
    pair: tuple[Document, Document],
    seen: tuple[Document, Document],
    spans: tuple[list[Span], list[Span]],
) -> Document:
    """Return the new part with noise replaced by the old words; `spans` are the tokens of noise in
    the two documents `seen`.

    Args:
        kind: The kind of part.
        ordinal: Its number among parts of this kind; None for all.
        pair: The old and the new part.
    """
    texts = texts_of(kind, ordinal, pair[1])
    lines = [number for number, text in enumerate(texts) if _line(text)]
    for gone, come in sorted(zip(*spans, strict=True), key=lambda both: both[1], reverse=True):
        for (old_line, old_span), (new_line, new_span) in zip(
            _cut_lines(seen[0], gone), _cut_lines(seen[1], come), strict=False
        ):
            number = lines[new_line]
            text, was = _line(texts[number]), seen[0].lines[old_line]
            start, end = _characters(text, new_span)
            first, last = _characters(was, old_span)
            texts[number] = f"{text[:start]}{was[first:last]}{text[end:]}"
    return _with_texts(kind, ordinal, pair[1], iter(texts))


def _line(text: str) -> str:
    return " ".join(text.split())


def _cut_lines(document: Document, span: Span) -> Iterator[tuple[int, Span]]:
    """Yield the lines of a range of tokens, each with its tokens within it."""
    start = 0
    for number, end in enumerate(document.line_ends):
        if (span[0] < end and span[1] > start) or start <= span[0] == span[1] <= end:
            yield number, (max(span[0] - start, 0), min(span[1], end) - start)
            if span[1] <= end:
                return
        start = end


def _characters(line: str, span: Span) -> Span:
    """Return the character positions of tokens `span` of a line."""
    places: list[Span] = []
    position = 0
    for chunk in line.split():
        position = line.index(chunk, position)
        places += [(position + start, position + end) for start, end in spans_of_chunk(chunk)]
        position += len(chunk)
    if span[0] >= len(places):
        return len(line), len(line)
    start = places[span[0]][0]
    return (start, start) if span[0] == span[1] else (start, places[min(span[1], len(places)) - 1][1])


def _with_texts(kind: str, ordinal: int | None, part: Document, texts: Iterator[str]) -> Document:
    """Return a part with the texts of its lists, tables or entries replaced."""
    other = replace(part)
    match kind:
        case "list":
            other.readings[kind, ordinal] = [
                ListItem(next(texts), item.id, item.link, item.is_ranked) for item in items_of(part, ordinal)
            ]
        case "table":
            other.readings[kind, ordinal] = [
                Table(table.columns, tuple(tuple(next(texts) for _ in row) for row in table.rows))
                for table in tables_of(part, ordinal)
            ]
        case _:
            other.readings[kind, None] = [
                replace(entry, title=next(texts), text=next(texts), plain="") for entry in entries_of(part)
            ]
    return other
