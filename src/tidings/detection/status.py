"""Status: the state of a page as content (sentinels_and_events.md §5.3).

What a page answers is no text of it, so that no pair of documents holds it: the service knows when a page goes into an error, out of it or into
another one, and asks here what that is to an expression. Repetitions of an error are no change.
"""

from __future__ import annotations

from dataclasses import dataclass

from tidings.document.document import Document
from tidings.model.change import ChangeSet, ObjectCount

OK = "ok"


def state_of(kind: str, status: int | None) -> str:
    """Return a state in words: `ok`, `404`, `503 busy`, `403 blocked`, `net`; `kind` is that of the error, empty for none."""
    if not kind:
        return OK
    if status is None or status < 400 or str(status) == kind:
        return kind
    return str(status) if kind == f"{status // 100}xx" else f"{status} {kind}"


def finding_of_states(old: str, new: str) -> ChangeSet:
    """Return the change from one state of a page to another; empty if they are the same."""
    if old == new:
        return ChangeSet()
    rows = (ObjectCount("status", new, 0, 1), ObjectCount("status", old, 1, 0))
    return ChangeSet(kinds=("status",), inserted=(new,), deleted=(old,), objects=rows)


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
