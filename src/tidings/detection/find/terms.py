"""Terms: keywords and phrases of a user, split into words like the page (004 §5.3.2.3; detection
§1.2).

`ALGOR&DATASTRUC` is two words, and matches where these two are adjacent, whatever separates them.
Case is folded; in thesis mode (`exact`) it matters, and symbols are not words.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import lru_cache

from tidings.document.document import Document
from tidings.document.text.words import fold, thesis_words, tokens_of
from tidings.record import dataclass

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
