"""The contract of a change type (004 §3.4.2): what it takes from a document, and how it compares two."""

from __future__ import annotations

from typing import Protocol

from tidings.document.document import Document
from tidings.model.change import ChangeSet


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
