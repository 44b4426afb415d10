"""The contract of a change type (004 §3.4.2): what it takes from a document, and how it compares two."""

from __future__ import annotations

from typing import Protocol

from tidings.document.document import Document
from tidings.model.change import ChangeSet
from tidings.model.sentinel import Direction

Span = tuple[int, int]


class Kind(Protocol):
    """One change type.

    `name` is what `Interest.kind` calls it, `spelled` how the language writes it. `contains` are the types whose every change is a
    change of this one too. `digests` are the names of the digests that decide: where all of them are equal, `compare` finds nothing.
    """

    @property
    def name(self) -> str:
        """Return the name in the table of kinds."""
        ...

    @property
    def spelled(self) -> str:
        """Return the words of the sentinel language."""
        ...

    @property
    def contains(self) -> frozenset[str]:
        """Return the names of the types that are part of this one, itself among them."""
        ...

    @property
    def digests(self) -> tuple[str, ...]:
        """Return the names of the digests that decide."""
        ...

    def compare(self, old: Document, new: Document) -> tuple[ChangeSet, ...]:
        """Return what changed: a non-empty finding for each sort of thing (words, links, images, body), none if nothing did."""
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
