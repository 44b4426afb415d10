"""Keywords: how often words occur on a page, in any place (004 §5.3.2.3, §5.4); and phrases, which
are compared with what stands around them.

Terms: keywords and phrases of a user, split into words like the page (004 §5.3.2.3; detection
§1.2).

`ALGOR&DATASTRUC` is two words, and matches where these two are adjacent, whatever separates them.
Case is folded; in thesis mode (`exact`) it matters, and symbols are not words.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property, lru_cache
from typing import Final

from tidings.detection.compare.instances import RESOLVED, PhraseEdit, Rules, Span, compare_objects, occurrences
from tidings.detection.compare.phrases import PhraseChange, adapt, compare_phrase
from tidings.detection.find.findings import finding_of_body, finding_of_objects, places_of
from tidings.document.document import Document
from tidings.document.text.words import fold, thesis_words, tokens_of
from tidings.model.observed.change import ChangeSet, Edit, ObjectCount, Op
from tidings.model.watch.sentinel import Direction
from tidings.record import dataclass, replace

MANY = 32
"""Fewer terms are searched one by one; from then on one pass over the page finds all words."""

COUNT: Final = "keyword "
"""The prefix of the name of a digest of a keyword's count; the words follow."""


@dataclass(frozen=True)
class Keywords:
    """One keyword, counted. A keyword of several words counts where they are adjacent.

    `exact`: case matters and symbols are not words, as in the thesis. Moving is no change.
    """

    term: str = ""
    exact: bool = False
    name: str = "keywords"
    contains: frozenset[str] = frozenset({"keywords"})

    @property
    def digests(self) -> tuple[str, ...]:
        """Return the deciding digests: the count of the keyword; without a term, the text."""
        return (f"{COUNT}{' '.join(self._wanted)}", "body") if self.term and not self.exact else ("text",)

    def for_term(self, term: str) -> Keywords:
        """Return this type for another keyword."""
        return replace(self, term=term)

    @cached_property
    def _wanted(self) -> tuple[str, ...]:
        return words_of_term(self.term, exact=self.exact)

    def size(self, document: Document) -> int:
        """Return how often it occurs."""
        return sum(1 for _ in self._spans(document)) if self.exact else len(_places(document, self._wanted))

    def compare(self, old: Document, new: Document) -> tuple[ChangeSet, ...]:
        """Return the row of the keyword, if its count differs, and which occurrences were inserted
        or deleted; of a body without text, that it differs.
        """
        if old.textless or new.textless:
            return finding_of_body(old, new)
        rows = compare_objects(self.name, *([self.term] * self.size(document) for document in (old, new)))
        if not rows:
            return ()
        spans = [{self.term: list(self._spans(document))} for document in (old, new)]
        return (finding_of_objects(self.name, rows, *places_of(rows, (old, new), (spans[0], spans[1]))),)

    def spans(self, old: Document, new: Document, direction: Direction | None) -> tuple[list[Span], list[Span]]:
        """Return the tokens of both pages that belong to the keyword, and to changes of it in a
        direction.
        """
        return (
            list(self._spans(old)) if direction in {None, "deleted"} else [],
            list(self._spans(new)) if direction in {None, "inserted"} else [],
        )

    def _spans(self, document: Document) -> Iterator[Span]:
        length = len(self._wanted)
        if not self.exact:
            yield from ((start, start + length) for start in _starts(document, self._wanted))
            return
        wording = words_of(document, exact=True)
        for start in occurrences(wording.words, self._wanted):
            yield wording.tokens(start, start + length)


def count_digest(name: str, document: Document) -> str:
    """Return the digest input of a keyword's count; `name` is the name of its digest."""
    return str(len(_places(document, tuple(name.removeprefix(COUNT).split(" ")))))


def _places(document: Document, wanted: tuple[str, ...]) -> list[int]:
    """Return where a term occurs in the folded text, overlaps included; cached, and found with all
    others once there are many.
    """
    known = document.sought
    if wanted not in known:
        is_many = len(known) >= MANY and len(wanted) == 1
        known[wanted] = document.index.get(wanted[0], []) if is_many else [*_find(document.folded_text, wanted)]
    return known[wanted]


def _find(text: str, wanted: tuple[str, ...]) -> Iterator[int]:
    """Yield where a term occurs in a text with a space around each word."""
    if not wanted:
        return
    piece = f" {' '.join(wanted)} "
    place = text.find(piece)
    while place >= 0:
        yield place
        place = text.find(piece, place + 1)


def _starts(document: Document, wanted: tuple[str, ...]) -> Iterator[int]:
    """Yield the numbers of the words at which a term begins."""
    text = document.folded_text
    number = at = 0
    for place in _places(document, wanted):
        number += text.count(" ", at, place)
        yield number
        at = place


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
        return self.old.as_written.get_text(*self.before.tokens(*edit.old))

    def new_text(self, edit: PhraseEdit) -> str:
        return self.new.as_written.get_text(*self.after.tokens(*edit.new))


def _edits(change: PhraseChange, before: TermWords, after: TermWords) -> Iterator[Edit]:
    for edit in change.edits:
        if op := _OPS.get(edit.status):
            yield Edit(op, *before.tokens(*edit.old), *after.tokens(*edit.new))


_REMEMBERED = 4_096


@dataclass(frozen=True, slots=True)
class TermWords:
    """The words of a document for the search of terms; word `k` is token `places[k]` of the
    document.
    """

    words: Sequence[str]
    places: Sequence[int]

    def tokens(self, start: int, end: int) -> tuple[int, int]:
        """Return the token range of the words `start:end`."""
        if start >= end:
            at = self.places[start] if start < len(self.places) else (self.places[-1] + 1 if self.places else 0)
            return at, at
        return self.places[start], self.places[end - 1] + 1


def words_of(document: Document, *, exact: bool = False) -> TermWords:
    """Return the words of a document: folded, or `exact` as in the thesis."""
    if not exact:
        return TermWords(document.folded, range(len(document.folded)))
    words: list[str] = []
    places: list[int] = []
    for place, token in enumerate(document.tokens):
        for word in thesis_words(token):
            words.append(word)
            places.append(place)
    return TermWords(words, places)


@lru_cache(maxsize=_REMEMBERED)
def words_of_term(term: str, *, exact: bool = False) -> tuple[str, ...]:
    """Return the words of a term; empty if it has no letter, digit or symbol: it then matches
    nowhere.
    """
    tokens = tokens_of(term)
    return tuple(word for token in tokens for word in thesis_words(token)) if exact else tuple(map(fold, tokens))


def distinct(terms: Iterable[str], *, exact: bool = False) -> tuple[str, ...]:
    """Return the terms that have words, without equivalent ones; the first spelling wins."""
    found: dict[tuple[str, ...], str] = {}
    for term in terms:
        if words := words_of_term(term, exact=exact):
            found.setdefault(words, term)
    return tuple(found.values())
