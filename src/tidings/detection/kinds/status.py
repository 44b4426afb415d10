"""Status and response headers as change types: documents of a page do not hold its answers
(`states`, `headers`).
"""

from __future__ import annotations

from tidings.document.document import Document
from tidings.model.observed.change import ChangeSet
from tidings.record import dataclass


@dataclass(frozen=True, slots=True)
class Status:
    """The state of the page; its documents do not hold it."""

    name: str = "status"
    contains: frozenset[str] = frozenset({"status"})
    digests: tuple[str, ...] = ()

    def size(self, document: Document) -> int:  # noqa: ARG002 - the state of a page is nothing that a document says
        """Return 1: a page has one state."""
        return 1

    def compare(self, old: Document, new: Document) -> tuple[ChangeSet, ...]:  # noqa: ARG002 - likewise
        """Return nothing."""
        return ()


@dataclass(frozen=True, slots=True)
class Headers:
    """A response header; the page's documents do not hold it."""

    name: str = "header"
    contains: frozenset[str] = frozenset({"header"})
    digests: tuple[str, ...] = ()

    def size(self, document: Document) -> int:  # noqa: ARG002 - a header is nothing that a document says
        """Return 1: a header has one value."""
        return 1

    def compare(self, old: Document, new: Document) -> tuple[ChangeSet, ...]:  # noqa: ARG002 - likewise
        """Return nothing."""
        return ()
