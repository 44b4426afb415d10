"""A pair of versions: two documents and what was found on them so far, each change type and each term once (sentinels §4.3)."""

from __future__ import annotations

from tidings.detection.findings import without_spans
from tidings.detection.kinds import KINDS, TERM_KINDS
from tidings.document.document import Document
from tidings.model.change import ChangeSet
from tidings.model.sentinel import Direction


class Pair:
    """An old and a new document of one page, compared in as many ways as somebody asks for."""

    def __init__(self, old: Document, new: Document) -> None:
        self.old = old
        self.new = new
        self._found: dict[tuple[str, str], tuple[ChangeSet, ...]] = {}

    def compare(self, kind: str, term: str = "") -> tuple[ChangeSet, ...]:
        """Return the findings of a change type, of one of its terms if it has any."""
        asked = (kind, term)
        if asked not in self._found:
            row = TERM_KINDS[kind].for_term(term) if term else KINDS[kind]
            self._found[asked] = row.compare(self.old, self.new)
        return self._found[asked]

    def without_term(self, words: ChangeSet, kind: str, term: str, *, direction: Direction | None) -> ChangeSet:
        """Return a finding of words without those that belong to a term, or to its changes in a direction."""
        spans = TERM_KINDS[kind].for_term(term).spans(self.old, self.new, direction)
        return without_spans(words, self.old, self.new, spans)
