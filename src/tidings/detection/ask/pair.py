"""A pair of versions: two documents, their parts, and the cached findings on them (sentinels
§4.3).
"""

from __future__ import annotations

from collections.abc import Iterable

from tidings.detection.compare.instances import Span
from tidings.detection.data.items import Items
from tidings.detection.data.structured import finding_of_content
from tidings.detection.find.findings import without_spans
from tidings.detection.kinds.interests import uses_masks
from tidings.detection.kinds.kind import Kind
from tidings.detection.kinds.registry import TERM_KINDS, describe_lack, row_of
from tidings.detection.noise.mask import (
    THINGS,
    NoiseMask,
    NoiseView,
    document_of,
    is_named,
    put_back,
    texts_of,
    view_of,
)
from tidings.document.document import Document
from tidings.document.extract import extract
from tidings.document.select.chosen import RefusedError
from tidings.document.select.extraction import Extraction
from tidings.model.observed.change import ChangeSet
from tidings.model.watch.sentinel import Direction, Interest


class Pair:
    """An old and a new document of one page, compared on demand."""

    def __init__(self, old: Document, new: Document) -> None:
        self.old = old
        self.new = new
        self._found: dict[tuple[str, str, int | None, str], tuple[ChangeSet, ...]] = {}
        self._parts: dict[Extraction, Pair] = {}
        self._knowing: dict[frozenset[str], Pair] = {}
        self.seen: frozenset[str] = frozenset()
        """marks of the entries of older versions (`items`)"""
        self.doubted: frozenset[str] = frozenset()
        """parts that the old version lacks (`describe_lack`), but perhaps wrongly: their return is
        not reported
        """
        self._mask: NoiseMask | None = None

    def doubting(self, names: frozenset[str]) -> Pair:
        """Return the same pair with doubts about the absence of these names in the old version."""
        if names == self.doubted:
            return self
        other = Pair(self.old, self.new)
        other.seen, other._found, other._mask, other.doubted = self.seen, self._found, self._mask, names
        return other

    def through(self, mask: NoiseMask) -> Pair:
        """Return the same pair seen through a mask: without a selector, comparisons ignore its
        noise.
        """
        masked = Pair(self.old, self.new)
        masked.seen, masked._found, masked._mask = self.seen, self._found, mask  # findings are shared
        masked.doubted = self.doubted
        return masked

    def part(self, scope: Extraction) -> Pair:
        """Return the pair of the parts that an extraction selects. Raise `RefusedError` if one
        cannot be extracted.
        """
        if scope.is_whole:
            return self
        if scope not in self._parts:
            old, new = extract(self.old, scope), extract(self.new, scope)
            if problem := old.problem or new.problem:
                raise RefusedError(problem)
            part = Pair(old, new)
            part.seen, part.doubted = self.seen, self.doubted
            if self._mask is not None and not (is_named(old) or is_named(new)):
                own = NoiseView(scope).name  # the rest of a page without a selection has its own places too
                part = part.through(self._mask.of_view(own) if scope.selectors else self._mask.of_view(own, ""))
            self._parts[scope] = part
        return self._parts[scope]

    def knowing(self, seen: frozenset[str]) -> Pair:
        """Return the same pair with entries of these marks known: they are not new."""
        if not seen:
            return self
        if seen not in self._knowing:
            self._knowing[seen] = Pair(self.old, self.new)
            self._knowing[seen].seen, self._knowing[seen].doubted = seen, self.doubted
        return self._knowing[seen]

    @property
    def compared(self) -> int:
        """Return how many comparisons were made, including those of parts."""
        return len(self._found) + sum(pair.compared for pair in (*self._parts.values(), *self._knowing.values()))

    def has(self, interest: Interest) -> bool:
        """Return whether the new version has the part that an interest selects; a missing part is
        not an empty one.

        If the old version lacks it, it is compared as empty, unless its absence is in doubt.
        """
        if describe_lack(interest, self.new):
            return False
        missing = describe_lack(interest, self.old)
        return not missing or missing not in self.doubted

    def compare(self, interest: Interest, term: str = "") -> tuple[ChangeSet, ...]:
        """Return the findings of a change type, for one of its terms if it has any."""
        found = self._compare(interest, term)
        if self._mask is None or not uses_masks(interest):
            return found
        mask = self._mask
        if interest.kind in THINGS:
            return self._things(interest, found, mask)
        real = (mask.real(interest, finding, self.old, self.new) for finding in found)
        return tuple(finding for finding in real if finding)

    def _things(self, interest: Interest, found: tuple[ChangeSet, ...], mask: NoiseMask) -> tuple[ChangeSet, ...]:
        """Return the findings of a list, a table or entries with noise in their texts replaced by
        the old text.
        """
        kind, ordinal = interest.kind, interest.ordinal
        if not found or self.old.textless or self.new.textless:
            return found
        seen = tuple(document_of(texts_of(kind, ordinal, part), part) for part in (self.old, self.new))
        edits = [edit for finding in Pair(*seen).compare(Interest("words")) for edit in finding.edits]
        spans = mask.of_view(view_of(interest, self.new.extraction).name).spans(edits, *seen)
        if not any(spans):
            return found
        return self._row(interest, "").compare(
            self.old, put_back(kind, ordinal, (self.old, self.new), (seen[0], seen[1]), spans)
        )

    def _compare(self, interest: Interest, term: str) -> tuple[ChangeSet, ...]:
        asked = (
            interest.kind,
            term,
            interest.ordinal,
            f"{interest.form} {interest.pattern} {interest.nth} {interest.column}",
        )
        if asked not in self._found:
            self._found[asked] = self._row(interest, term).compare(self.old, self.new)
        return self._found[asked]

    def _row(self, interest: Interest, term: str) -> Kind:
        return Items(self.seen) if self.seen and interest.kind == "items" else row_of(interest, term)

    def words_without(self, terms: Iterable[tuple[str, str]]) -> ChangeSet:
        """Return the changed words, excluding the occurrences of some (change type, term)."""
        gone: list[Span] = []
        come: list[Span] = []
        for kind, term in terms:
            spans = self._spans(kind, term, None)
            gone += spans[0]
            come += spans[1]
        if self._mask is not None:
            edits = [edit for finding in self._compare(Interest("words"), "") for edit in finding.edits]
            masked = self._mask.spans(edits, self.old, self.new)
            gone, come = gone + masked[0], come + masked[1]
        return finding_of_content(self.old, self.new, (gone, come))

    def without_changes(self, words: ChangeSet, kind: str, term: str, *, direction: Direction) -> ChangeSet:
        """Return a finding of words without the changes of a term in a direction.

        Args:
            words: The finding.
            kind: The kind of change of the term.
            term: The word or phrase.
            direction: Which of its changes are left out.
        """
        return without_spans(words, self.old, self.new, self._spans(kind, term, direction))

    def _spans(self, kind: str, term: str, direction: Direction | None) -> tuple[list[Span], list[Span]]:
        return TERM_KINDS[kind].for_term(term).spans(self.old, self.new, direction)
