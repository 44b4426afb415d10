"""Phrases: which of their occurrences were inserted, deleted, moved or reworded (004 §5.3.2.1,
§5.4.1.1).
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property

from tidings.detection.compare.instances import RESOLVED, PhraseEdit, Rules, Span, occurrences
from tidings.detection.compare.phrases import PhraseChange, compare_phrase
from tidings.detection.compare.stability import adapt
from tidings.detection.find.findings import finding_of_body
from tidings.detection.find.terms import TermWords, words_of, words_of_term
from tidings.document.document import Document
from tidings.model.observed.change import ChangeSet, Edit, ObjectCount, Op
from tidings.model.watch.sentinel import Direction
from tidings.record import dataclass, replace

_OPS: dict[str, Op] = {"i": "insert", "i+": "insert", "d": "delete", "d-": "delete", "u": "replace"}
_DIRECTIONS: dict[str, Direction] = {"insert": "inserted", "delete": "deleted", "replace": "updated"}


@dataclass(frozen=True)
class Phrases:
    """One phrase. A change of its surroundings only is no change; `rules` define the comparison,
    and adapt to the stability of the page (W-122, W-124).
    """

    term: str = ""
    rules: Rules = RESOLVED
    name: str = "phrases"
    contains: frozenset[str] = frozenset({"phrases"})
    digests: tuple[str, ...] = ("text",)

    def for_term(self, term: str) -> Phrases:
        """Return this type for another phrase."""
        return replace(self, term=term)

    @cached_property
    def _wanted(self) -> tuple[str, ...]:
        return words_of_term(self.term, exact=self.rules.exact)

    def size(self, document: Document) -> int:
        """Return how often it occurs."""
        return sum(1 for _ in occurrences(self._words(document).words, self._wanted))

    def compare(self, old: Document, new: Document) -> tuple[ChangeSet, ...]:
        """Return the changes of the phrase; of a body without text, that it differs."""
        if old.textless or new.textless:
            return finding_of_body(old, new)
        before, after = self._words(old), self._words(new)
        change = compare_phrase(before.words, after.words, self._wanted, self._rules(old))
        finding = self._finding(change, _PhrasePages(old, new, before, after))
        return (finding,) if finding else ()

    def spans(self, old: Document, new: Document, direction: Direction | None) -> tuple[list[Span], list[Span]]:
        """Return the tokens of both pages that belong to the phrase, and to changes of it in a
        direction.
        """
        before, after = self._words(old), self._words(new)
        edits = _edits(compare_phrase(before.words, after.words, self._wanted, self._rules(old)), before, after)
        meant = [edit for edit in edits if direction is None or _DIRECTIONS[edit.op] == direction]
        gone = [(edit.old_start, edit.old_end) for edit in meant if edit.op != "insert"]
        come = [(edit.new_start, edit.new_end) for edit in meant if edit.op != "delete"]
        if direction is None:
            gone += self._everywhere(before)
            come += self._everywhere(after)
        return gone, come

    def _rules(self, old: Document) -> Rules:
        return adapt(old.changed_shares, self.rules)

    def _words(self, document: Document) -> TermWords:
        return words_of(document, exact=self.rules.exact)

    def _everywhere(self, wording: TermWords) -> list[Span]:
        length = len(self._wanted)
        return [wording.tokens(start, start + length) for start in occurrences(wording.words, self._wanted)]

    def _finding(self, change: PhraseChange, pages: _PhrasePages) -> ChangeSet:
        rows = (ObjectCount(self.name, self.term, change.old, change.new),) if change.old != change.new else ()
        if change.counted:
            return ChangeSet(
                kinds=(self.name,),
                inserted=(self.term,) if change.new > change.old else (),
                deleted=(self.term,) if change.new < change.old else (),
                objects=rows,
            )
        return ChangeSet(
            kinds=(self.name,),
            inserted=tuple(
                pages.new_text(edit) for edit in change.edits if edit.status in {"i", "i+"} and not edit.moved
            ),
            deleted=tuple(
                pages.old_text(edit) for edit in change.edits if edit.status in {"d", "d-"} and not edit.moved
            ),
            updated=tuple((pages.old_text(edit), pages.new_text(edit)) for edit in change.edits if edit.status == "u"),
            moved=tuple(pages.new_text(edit) for edit in change.edits if edit.status == "i" and edit.moved),
            edits=tuple(_edits(change, pages.before, pages.after)),
            objects=rows,
        )


@dataclass(frozen=True, slots=True)
class _PhrasePages:
    """Two documents and their words, to show occurrences as the pages write them."""

    old: Document
    new: Document
    before: TermWords
    after: TermWords

    def old_text(self, edit: PhraseEdit) -> str:
        return self.old.get_text(*self.before.tokens(*edit.old))

    def new_text(self, edit: PhraseEdit) -> str:
        return self.new.get_text(*self.after.tokens(*edit.new))


def _edits(change: PhraseChange, before: TermWords, after: TermWords) -> Iterator[Edit]:
    for edit in change.edits:
        if op := _OPS.get(edit.status):
            yield Edit(op, *before.tokens(*edit.old), *after.tokens(*edit.new))
