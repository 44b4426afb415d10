"""Keywords: how often words stand on a page, wherever they stand (004 §5.3.2.3, §5.4)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property

from tidings.detection.compare.objects import compare_objects
from tidings.detection.compare.signatures import Span
from tidings.detection.findings import finding_of_body, finding_of_objects
from tidings.detection.occurrences import occurrences
from tidings.detection.terms import words_of, words_of_term
from tidings.document.document import Document
from tidings.model.change import ChangeSet
from tidings.model.sentinel import Direction

MANY = 8
"""So many terms are looked for one by one; from then on one pass over the page finds all words."""


@dataclass(frozen=True)
class Keywords:
    """One keyword, counted. A keyword of several words is counted where they stand in a row.

    `exact`: case counts and symbols are no words, as in the thesis. Which occurrence came or went is not told: they have no place.
    """

    term: str = ""
    exact: bool = False
    name: str = "keywords"
    contains: frozenset[str] = frozenset({"keywords"})
    digests: tuple[str, ...] = ("text",)

    def for_term(self, term: str) -> Keywords:
        """Return this type for another keyword."""
        return replace(self, term=term)

    @cached_property
    def _wanted(self) -> tuple[str, ...]:
        return words_of_term(self.term, exact=self.exact)

    def size(self, document: Document) -> int:
        """Return how often it stands there."""
        return sum(1 for _ in self._spans(document))

    def compare(self, old: Document, new: Document) -> tuple[ChangeSet, ...]:
        """Return the row of the keyword, if it stands there more or less often; of a body without text, that it is another."""
        if old.textless or new.textless:
            return finding_of_body(old, new)
        counts = ([self.term] * sum(1 for _ in self._spans(document)) for document in (old, new))
        rows = compare_objects(self.name, *counts)
        return (finding_of_objects(self.name, rows),) if rows else ()

    def spans(self, old: Document, new: Document, direction: Direction | None) -> tuple[list[Span], list[Span]]:
        """Return the tokens of both pages that belong to the keyword, and to changes of it in a direction."""
        return (
            list(self._spans(old)) if direction in {None, "deleted"} else [],
            list(self._spans(new)) if direction in {None, "inserted"} else [],
        )

    def _spans(self, document: Document) -> Iterator[Span]:
        wording = words_of(document, exact=self.exact)
        starts = occurrences(wording.words, self._wanted) if self.exact else _starts(document, self._wanted)
        for start in starts:
            yield wording.tokens(start, start + len(self._wanted))


def _starts(document: Document, wanted: tuple[str, ...]) -> list[int]:
    """Return where a folded term begins; looked for once, and together with all others once there are many."""
    known = document.sought
    if wanted not in known:
        is_many = len(known) >= MANY and len(wanted) == 1
        known[wanted] = document.index.get(wanted[0], []) if is_many else [*occurrences(document.folded, wanted)]
    return known[wanted]
