"""Status as a change type: two documents of a page say nothing of its state (`states`)."""

from __future__ import annotations

from dataclasses import dataclass

from tidings.document.document import Document
from tidings.model.change import ChangeSet


@dataclass(frozen=True, slots=True)
class Status:
    """The state of the page; two of its documents say nothing of it."""

    name: str = "status"
    contains: frozenset[str] = frozenset({"status"})
    digests: tuple[str, ...] = ()

    def size(self, document: Document) -> int:  # noqa: ARG002 - the state of a page is nothing that a document says
        """Return 1: a page has one state."""
        return 1

    def compare(self, old: Document, new: Document) -> tuple[ChangeSet, ...]:  # noqa: ARG002 - likewise
        """Return nothing."""
        return ()
