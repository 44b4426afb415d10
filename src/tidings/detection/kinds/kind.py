"""The contract of a change type (004 §3.4.2): what it takes from a document, and how it compares two."""

from __future__ import annotations

from typing import Protocol

from tidings.document.document import Document
from tidings.model.observed.change import ChangeSet
from tidings.model.watch.sentinel import Direction

Span = tuple[int, int]


class Kind(Protocol):
    """One change type.

    `name` is what `Interest.kind` calls it. `contains` are the types whose every change is a change of this one too. `digests` are the names of the digests that decide: where all of them are equal, `compare` finds nothing.
    """

    @property
    def name(self) -> str:
        """Return the name in the table of kinds."""
        ...

    @property
    def contains(self) -> frozenset[str]:
        """Return the names of the types that are part of this one, itself among them."""
        ...

    @property
    def digests(self) -> tuple[str, ...]:
        """Return the names of the digests that decide."""
        ...

    def size(self, document: Document) -> int:
        """Return how many objects of this type a document has: words, addresses, occurrences, rows, entries."""
        ...

    def compare(self, old: Document, new: Document) -> tuple[ChangeSet, ...]:
        """Return what changed: a non-empty finding for each sort of thing (words, links, images, body), none if nothing did.

        Raises `RefusedError` if the documents cannot be compared so.
        """
        ...


class TermKind(Kind, Protocol):
    """A change type that looks for something that the user writes: a keyword, a phrase. The row without a term finds nothing."""

    @property
    def term(self) -> str:
        """Return what is looked for, as the user wrote it."""
        ...

    def for_term(self, term: str) -> TermKind:
        """Return this type for another term."""
        ...

    def spans(self, old: Document, new: Document, direction: Direction | None) -> tuple[list[Span], list[Span]]:
        """Return the token ranges of the old and the new document that belong to the term, and to its changes in a direction."""
        ...


class PlacedKind(Kind, Protocol):
    """A change type that looks at one of several things of a page by its place: the second table. The row without a place looks at all."""

    @property
    def ordinal(self) -> int | None:
        """Return the place, the first is 1."""
        ...

    def for_ordinal(self, ordinal: int | None) -> PlacedKind:
        """Return this type for another place."""
        ...

    def is_there(self, document: Document) -> bool:
        """Return whether a document has the thing."""
        ...


class SaidKind(Kind, Protocol):
    """A change type that looks at something a page may not say at all: its price. A version without it lacks it (`absence`)."""

    def is_there(self, document: Document) -> bool:
        """Return whether a document says it."""
        ...
