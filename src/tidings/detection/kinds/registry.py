"""The table of all change types (004 §3.4.2): any change, words, links, images, keywords, phrases,
tables, lists, patterns, the first number, entries, the page's state and headers, and the price and
availability of its product.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Final

from tidings.detection.compare.instances import STRICT, as_before, compare_objects
from tidings.detection.compare.words import compare_sequences
from tidings.detection.data.itemised import Lists
from tidings.detection.data.items import Items
from tidings.detection.data.price import Availability, PriceKind
from tidings.detection.data.structured import finding_of_content
from tidings.detection.data.tabular import Tables
from tidings.detection.find.findings import finding_of_body, finding_of_edits, finding_of_objects, places_of
from tidings.detection.kinds.keywords import Keywords, Phrases, distinct, words_of
from tidings.detection.kinds.kind import Kind, PlacedKind, Span, StatedKind, TermKind
from tidings.detection.kinds.number import Number, Regex
from tidings.detection.kinds.status import Headers, Status
from tidings.document.document import Document
from tidings.document.html.images import Image
from tidings.document.html.links import Identity, Resolver
from tidings.document.html.walk import Place
from tidings.model.observed.change import ChangeSet, Edit, ObjectCount
from tidings.model.watch.interest import Interest
from tidings.record import dataclass
from tidings.registry import Registry

_EACH: Final[dict[str, Callable[[Resolver, Document], Sequence[str | None]]]] = {
    "links": lambda resolver, document: resolver.each_link(document.links),
    "images": lambda resolver, document: resolver.each_image(document.images),
}
_PLACES: Final[dict[str, Callable[[Document], Sequence[Place]]]] = {
    "links": lambda document: document.link_places,
    "images": lambda document: document.image_places,
}


@dataclass(frozen=True, slots=True)
class WordChanges:
    """All words, in order (004 §5.4); of data, by its structure (`structured`)."""

    name: str = "words"
    contains: frozenset[str] = frozenset({"words", "keywords", "phrases"})
    digests: tuple[str, ...] = ("text", "structure")

    def size(self, document: Document) -> int:
        """Return the number of words."""
        return document.words

    def compare(self, old: Document, new: Document) -> tuple[ChangeSet, ...]:
        """Return the edits between the words of two documents."""
        words = finding_of_content(old, new)
        return (*((words,) if words else ()), *finding_of_body(old, new))


@dataclass(frozen=True, slots=True)
class StrictWords:
    """All words as in the thesis: symbols are not words, and the signs of numbers separate (004
    §5.3.1).
    """

    name: str = "words"
    contains: frozenset[str] = frozenset({"words", "keywords", "phrases"})
    digests: tuple[str, ...] = ("text",)

    def size(self, document: Document) -> int:
        """Return the number of words."""
        return len(words_of(document, exact=True).words)

    def compare(self, old: Document, new: Document) -> tuple[ChangeSet, ...]:
        """Return the edits between the words of two documents, over their tokens."""
        before, after = (words_of(document, exact=True) for document in (old, new))
        edits = dict.fromkeys(
            Edit(edit.op, *before.tokens(edit.old_start, edit.old_end), *after.tokens(edit.new_start, edit.new_end))
            for edit in compare_sequences(before.words, after.words)
        )
        words = finding_of_edits(tuple(edits), old, new)
        return (*((words,) if words else ()), *finding_of_body(old, new))


@dataclass(frozen=True, slots=True)
class AddressChanges:
    """Links or images, as a multiset of addresses (004 §5.3.2.2)."""

    name: str
    identity: Identity
    digests: tuple[str, ...]

    @property
    def contains(self) -> frozenset[str]:
        """Return its own name."""
        return frozenset({self.name})

    def size(self, document: Document) -> int:
        """Return the number of addresses."""
        return len(_there(self._each(document)))

    def compare(self, old: Document, new: Document) -> tuple[ChangeSet, ...]:
        """Return the addresses whose counts differ."""
        return (*self.addresses(old, new), *finding_of_body(old, new))

    def addresses(self, old: Document, new: Document) -> tuple[ChangeSet, ...]:
        """Return the finding of the addresses alone."""
        if old.base == new.base and getattr(old, self.name) == getattr(new, self.name):
            return ()
        resolver = Resolver(old.base, self.identity)
        each = (self._each(old, resolver), self._each(new, resolver if new.base == old.base else None))
        rows = compare_objects(self.name, *map(_there, each))
        if rows and self.name == "images":
            sizes = (self._sizes(old), self._sizes(new))
            if any(sizes[0]) or any(sizes[1]):
                each = (each[0], as_before(rows, each, sizes))
                rows = compare_objects(self.name, *map(_there, each))
        if not rows:
            return ()
        spans = (self._spans(old, each[0], rows), self._spans(new, each[1], rows))
        places, _ = places_of(rows, (old, new), spans)
        return (finding_of_objects(self.name, rows, places),)

    def _each(self, document: Document, resolver: Resolver | None = None) -> Sequence[str | None]:
        return _EACH[self.name](resolver or Resolver(document.base, self.identity), document)

    def _sizes(self, document: Document) -> list[frozenset[str]]:
        """Return for each image the addresses of its sizes, empty for one of a single size."""
        resolver = Resolver(document.base, self.identity)
        each = (image.sizes if isinstance(image, Image) else () for image in document.images)
        return [frozenset(resolver.images(sizes)) if sizes else frozenset() for sizes in each]

    def _spans(
        self, document: Document, each: Sequence[str | None], rows: Sequence[ObjectCount]
    ) -> dict[str, list[Span]]:
        """Return the places of the objects of the rows, as far as the document knows them."""
        found: dict[str, list[Span]] = {row.object: [] for row in rows}
        for name, place in zip(each, _PLACES[self.name](document), strict=False):
            if name in found:
                found[name].append(document.tokens_in(place))
        return found


def _there(each: Iterable[str | None]) -> list[str]:
    return [name for name in each if name is not None]


@dataclass(frozen=True, slots=True)
class AnyChange:
    """Any word, link or image (004 §5.4). Addresses are compared without their query: a new session
    id is no change.
    """

    name: str = "any"
    contains: frozenset[str] = frozenset({"any", "words", "links", "images", "keywords", "phrases"})
    digests: tuple[str, ...] = ("text", "structure", "links.plain", "images.plain", "body")

    def size(self, document: Document) -> int:
        """Return the number of words, links and images."""
        return document.words + _PLAIN_LINKS.size(document) + _PLAIN_IMAGES.size(document)

    def compare(self, old: Document, new: Document) -> tuple[ChangeSet, ...]:
        """Return the changes of words, links and images; addresses in data are words already."""
        if old.media in _DATA and new.media in _DATA:
            return WordChanges().compare(old, new)
        return (*WordChanges().compare(old, new), *_PLAIN_LINKS.addresses(old, new), *_PLAIN_IMAGES.addresses(old, new))


_DATA: Final = frozenset({"json", "xml"})
_PLAIN_LINKS = AddressChanges("links", "plain", ("links.plain", "body"))
_PLAIN_IMAGES = AddressChanges("images", "plain", ("images.plain", "body"))

TERM_KINDS: Final[Registry[TermKind]] = Registry(
    "change type with terms", {"keywords": Keywords(), "phrases": Phrases()}
)

PLACED_KINDS: Final[Registry[PlacedKind]] = Registry(
    "change type with places", {"table": Tables(), "list": Lists(), "number": Number()}
)

STATED_KINDS: Final[Registry[StatedKind]] = Registry(
    "change type of what a page may not say", {"price": PriceKind(), "availability": Availability()}
)

KINDS: Final[Registry[Kind]] = Registry(
    "change type",
    {
        "any": AnyChange(),
        "words": WordChanges(),
        "links": AddressChanges("links", "resolved", ("links", "body")),
        "images": AddressChanges("images", "resolved", ("images", "body")),
        **TERM_KINDS,
        **PLACED_KINDS,
        "regex": Regex(),
        "items": Items(),
        "status": Status(),
        "header": Headers(),
        **STATED_KINDS,
    },
)

STRUCTURED: Final = frozenset({"table", "list", "items", "price", "availability"})
"""The types that read the nodes of a page, not only its text."""


_STRICT: Final[dict[str, TermKind]] = {"keywords": Keywords(exact=True), "phrases": Phrases(rules=STRICT)}


def terms_of(interest: Interest) -> tuple[str, ...]:
    """Return the search terms of an interest; one empty term for a type without terms."""
    return distinct(interest.terms, exact=interest.form == "strict") or ("",)


def row_of(interest: Interest, term: str = "") -> Kind:
    """Return the change type of an interest, for one of its terms if it has any."""
    if term:
        return (_STRICT if interest.form else TERM_KINDS)[interest.kind].for_term(term)
    if interest.form:
        return _make_kind(interest)
    if interest.kind == "number" and interest.nth != 1:
        return PLACED_KINDS["number"].for_ordinal(interest.nth)
    if interest.column:
        return Tables(interest.ordinal, interest.column)
    if interest.ordinal is not None:
        return PLACED_KINDS[interest.kind].for_ordinal(interest.ordinal)
    if interest.pattern:
        return Regex(interest.pattern)
    return KINDS[interest.kind]


def _make_kind(interest: Interest) -> Kind:
    match interest.form:
        case "raw" | "resolved" | "canonical":
            return AddressChanges(interest.kind, interest.form, (interest.kind, "body"))
        case _:
            return StrictWords() if interest.kind == "words" else _STRICT[interest.kind]


def can_lack(interest: Interest) -> bool:
    """Return whether a page may lack what an interest selects, whatever its selector matches: a
    numbered thing, a price.
    """
    return interest.ordinal is not None or bool(interest.column) or interest.kind in STATED_KINDS


def is_there(interest: Interest, document: Document) -> bool:
    """Return whether a document has the numbered thing of an interest (`table 2`), or its optional
    one; all else exists.
    """
    if interest.kind in STATED_KINDS:
        return STATED_KINDS[interest.kind].is_there(document)
    if interest.column:
        return Tables(interest.ordinal, interest.column).is_there(document)
    return interest.ordinal is None or PLACED_KINDS[interest.kind].for_ordinal(interest.ordinal).is_there(document)


def describe_lack(interest: Interest, part: Document) -> str:
    """Return the part that an interest selects and a part of a page lacks, in words of the
    language; empty if it exists.

    Raises `RefusedError` if that cannot be decided.
    """
    if part.problem:
        return ""
    if part.missing is not None:
        return f'{part.missing.language} "{part.missing.text}"'
    if is_there(interest, part):
        return ""
    column = f' column "{interest.column}"' if interest.column else ""
    return f"{interest.kind}{'' if interest.ordinal is None else f' {interest.ordinal}'}{column}"


def size_of(interest: Interest, document: Document) -> int:
    """Return how many objects of its type an interest has in a document; a body without text is
    one.
    """
    if document.textless:
        return 1
    return sum(row_of(interest, term).size(document) for term in terms_of(interest))
