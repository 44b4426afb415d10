"""The contract of a change type (004 §3.4.2): what it takes from a document, and how it compares
two.
"""

from __future__ import annotations

from typing import Protocol

from tidings.document.document import Document
from tidings.model.observed.change import ChangeSet
from tidings.model.watch.sentinel import Direction

Span = tuple[int, int]


class Kind(Protocol):
    """One change type.

    `name` is the value of `Interest.kind`. `contains` are the types whose every change is a change
    of this one too. `digests` are the names of the deciding digests: if all of them are equal,
    `compare` finds nothing.
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
        """Return the names of the deciding digests."""
        ...

    def size(self, document: Document) -> int:
        """Return how many objects of this type a document has: words, addresses, occurrences, rows,
        entries.
        """
        ...

    def compare(self, old: Document, new: Document) -> tuple[ChangeSet, ...]:
        """Return the changes: a non-empty finding for each sort of thing (words, links, images,
        body), empty if there are none.

        Raises `RefusedError` if the documents cannot be compared so.
        """
        ...


class TermKind(Kind, Protocol):
    """A change type with a search term of the user: a keyword, a phrase. Its row without a term
    finds nothing.
    """

    @property
    def term(self) -> str:
        """Return the term, as the user wrote it."""
        ...

    def for_term(self, term: str) -> TermKind:
        """Return this type for another term."""
        ...

    def spans(self, old: Document, new: Document, direction: Direction | None) -> tuple[list[Span], list[Span]]:
        """Return the token ranges of the old and the new document that belong to the term, and to
        its changes in a direction.
        """
        ...


class PlacedKind(Kind, Protocol):
    """A change type that can select one of several things of a page by number: the second table.
    Its row without a number selects all.
    """

    @property
    def ordinal(self) -> int | None:
        """Return the number, from 1."""
        ...

    def for_ordinal(self, ordinal: int | None) -> PlacedKind:
        """Return this type for another number."""
        ...

    def is_there(self, document: Document) -> bool:
        """Return whether a document has the thing."""
        ...


class StatedKind(Kind, Protocol):
    """A change type on something that a page may not state: its price. A version without it lacks
    it (`absence`).
    """

    def is_there(self, document: Document) -> bool:
        """Return whether a document states it."""
        ...
