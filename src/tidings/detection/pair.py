"""A pair of versions: two documents and what was found on them so far, each change type and each term once (sentinels §4.3)."""

from __future__ import annotations

from collections.abc import Iterable

from tidings.detection.findings import Span, finding_of_words_without, without_spans
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

    def words_without(self, terms: Iterable[tuple[str, str]]) -> ChangeSet:
        """Return what changed in the words, those that belong to a (change type, term) left out: as if they stood nowhere."""
        gone: list[Span] = []
        come: list[Span] = []
        for kind, term in terms:
            spans = self._spans(kind, term, None)
            gone += spans[0]
            come += spans[1]
        return finding_of_words_without(self.old, self.new, (gone, come))

    def without_changes(self, words: ChangeSet, kind: str, term: str, *, direction: Direction) -> ChangeSet:
        """Return a finding of words without the changes of a term that go in a direction."""
        return without_spans(words, self.old, self.new, self._spans(kind, term, direction))

    def _spans(self, kind: str, term: str, direction: Direction | None) -> tuple[list[Span], list[Span]]:
        return TERM_KINDS[kind].for_term(term).spans(self.old, self.new, direction)
