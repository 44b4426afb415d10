"""Parse a query as typed, and split texts into terms.

```
price list            both words, in any place
"price list"          one after the other
price AND list        the same as both words
price OR tariff       one of them, or both
-shoes                not this one
shop*                 words with this prefix
site:example.org      of this site and its subdomains; also sentinel: tag: kind:
```

Whatever cannot be an operator is a word, so that only an empty query is refused.

A term is the index form of a word: a case-folded token, without its marks if the rest is ASCII.
`Café` and `cafe` are one term, and so are `STRASSE` and `Straße`. Each character of Chinese,
Japanese and Thai is a token of its own, so that a longer word is searched as a phrase. Terms
contain no white space or quotation marks.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import field
from functools import lru_cache
from typing import Final

from rapidfuzz import process
from rapidfuzz.distance import OSA

from tidings.document.text.words import RULES_VERSION, canonical_text, fold, spans_of_chunk, tokens_of_chunk
from tidings.errors import UsageError
from tidings.record import dataclass, replace

LONGEST: Final = 1_000
"""The longest query, in characters."""
MOST_TERMS: Final = 32
"""The most terms of a query."""
SHORTEST_CORRECTED: Final = 4
"""The shortest term for which others are suggested."""
FILTERS: Final = ("site", "sentinel", "tag", "kind")
KINDS: Final = ("html", "feed", "json", "xml", "csv", "pdf", "text", "binary")
"""Kinds of documents, by content rather than by declaration."""
_PART: Final = re.compile(r'(?P<minus>-(?=["\w]))?(?:(?P<filter>[a-z]+):(?=\S))?(?:"(?P<quoted>[^"]*)"?|(?P<bare>\S+))')
_OR: Final = "OR"
_AND: Final = "AND"
"""The default operator."""


@dataclass(frozen=True, slots=True)
class Phrase:
    """Adjacent terms; with `is_prefix` the last is a prefix."""

    terms: tuple[str, ...]
    is_prefix: bool = False

    def __str__(self) -> str:
        """Return the phrase as typed."""
        text = " ".join(self.terms) + ("*" if self.is_prefix else "")
        return f'"{text}"' if len(self.terms) > 1 or text.startswith("-") else text


@dataclass(frozen=True, slots=True)
class Query:
    """A query: at least one phrase of each group, none of `without`, and the filters."""

    groups: tuple[tuple[Phrase, ...], ...]
    without: tuple[Phrase, ...] = ()
    filters: Mapping[str, str] = field(default_factory=dict)

    @property
    def phrases(self) -> tuple[Phrase, ...]:
        """Return the positive phrases, without duplicates."""
        return tuple(dict.fromkeys(phrase for group in self.groups for phrase in group))

    @property
    def terms(self) -> tuple[str, ...]:
        """Return the positive terms, without duplicates."""
        return tuple(dict.fromkeys(term for phrase in self.phrases for term in phrase.terms))

    def __str__(self) -> str:
        """Return the canonical form of the query, which is counted."""
        wanted = sorted(" OR ".join(sorted(map(str, group))) for group in self.groups)
        return " ".join([*wanted, *sorted(f"-{phrase}" for phrase in self.without)])


def parse(text: str) -> Query:
    """Return the parsed query. Raise `UsageError` for an empty or too long one."""
    if len(text) > LONGEST:
        raise UsageError(f"a query has {LONGEST:,} characters at most, and this one has {len(text):,}")
    groups: list[list[Phrase]] = []
    without: list[Phrase] = []
    filters: dict[str, str] = {}
    joins = False
    for part in _PART.finditer(text):
        content = part["quoted"] if part["quoted"] is not None else part["bare"]
        if part["filter"] in FILTERS and not part["minus"]:
            filters[part["filter"]] = content
            continue
        if part.group() in {_OR, _AND}:
            joins = part.group() == _OR and bool(groups)
            continue
        words = f"{part['filter']}:{content}" if part["filter"] else content
        terms = terms_of(words)
        if not terms:
            continue
        phrase = Phrase(terms, is_prefix=words.endswith("*"))
        if part["minus"]:
            without.append(phrase)
        elif joins:
            groups[-1].append(phrase)
        else:
            groups.append([phrase])
        joins = False
    query = Query(tuple(map(tuple, groups)), tuple(without), filters)
    _check(query)
    return query


def _check(query: Query) -> None:
    if not query.groups:
        raise UsageError('say a word to search for, such as: price, or "price list"')
    if len(query.terms) > MOST_TERMS:
        raise UsageError(f"a query has {MOST_TERMS} words at most, and this one has {len(query.terms)}")
    check_kind(query.filters.get("kind", ""))


def check_kind(kind: str) -> None:
    """Raise `UsageError` for a kind of document that does not exist; "" is any."""
    if kind and kind not in KINDS:
        raise UsageError(f"there are no documents of the kind {kind[:40]}; there are {', '.join(KINDS)}")


def is_of_site(host: str, site: str) -> bool:
    """Return whether a host is a site or a subdomain of it; `www.` is ignored in both."""
    host, site = (name.lower().removeprefix("www.") for name in (host, site))
    return host == site or host.endswith(f".{site}")


def holds(phrase: Phrase, terms: Sequence[str]) -> int:
    """Return the number of occurrences of a phrase in terms."""
    wanted, many = phrase.terms, len(phrase.terms)
    last = wanted[-1]
    count = 0
    for place, term in enumerate(terms):
        is_last = term.startswith(last) if phrase.is_prefix else term == last
        if is_last and tuple(terms[max(0, place - many + 1) : place]) == wanted[:-1] and place + 1 >= many:
            count += 1
    return count


MOST_SIMILAR: Final = 8


def find_similar(term: str, known: Iterable[tuple[str, int]]) -> list[str]:
    """Return terms that are spelled like a term, the likeliest first: one letter is wrong, missing,
    one too many or in the wrong place, or two if it has eight letters or more.

    Args:
        term: The term as typed.
        known: The terms to choose from, and in how many texts each is.
    """
    documents = dict(known)
    near = process.extract(term, documents.keys(), scorer=OSA.distance, score_cutoff=count_errors(term), limit=None)
    found = sorted((errors, -documents[other], other) for other, errors, _ in near if errors)
    return [other for _, _, other in found[:MOST_SIMILAR]]


def count_errors(term: str) -> int:
    """Return in how many letters a term that means the same may differ: 0 for a short one."""
    return 0 if len(term) < SHORTEST_CORRECTED or not term.isalpha() else 1 if len(term) < 8 else 2


def replace_term(query: Query, old: str, new: str) -> Query:
    """Return a query with another term in place of one."""

    def change(phrase: Phrase) -> Phrase:
        return replace(phrase, terms=tuple(new if term == old else term for term in phrase.terms))

    return replace(query, groups=tuple(tuple(map(change, group)) for group in query.groups))


TERMS_VERSION = RULES_VERSION * 100 + 1
"""Raised whenever some text gets other terms: the index is then rebuilt."""

SYMBOLS = ".,-$+<=>|~"
"""The ASCII signs in terms, beside letters and digits."""

_CHUNK = re.compile(r"\S+")
_SPACE = re.compile(r"\s")


def line_of_terms(text: str) -> str:
    """Return the terms of a text in order, separated by one space."""
    line = fold(canonical_text(text).decode())
    return line if line.isascii() else " ".join(map(term_of, line.split()))


def terms_of(text: str) -> tuple[str, ...]:
    """Return the terms of a text in order."""
    return tuple(line_of_terms(text).split())


@lru_cache(maxsize=32_768)
def term_of(token: str) -> str:
    """Return the term of a token."""
    known = fold(token)
    if known.isascii():
        return known
    plain = "".join(c for c in unicodedata.normalize("NFD", known) if not unicodedata.combining(c))
    return plain if plain and plain.isascii() else known


def places_of_terms(text: str) -> Iterator[tuple[int, int, str]]:
    """Yield each term of a text with its characters: start, end, term."""
    for found in _CHUNK.finditer(text):
        yield from _places_of_chunk(found.group(), found.start())


def _places_of_chunk(chunk: str, at: int) -> Iterator[tuple[int, int, str]]:
    for (start, end), token in zip(spans_of_chunk(chunk), tokens_of_chunk(chunk), strict=True):
        yield at + start, at + end, term_of(token)


def places_that_matter(text: str, phrases: Sequence[Phrase]) -> Iterator[tuple[int, int, str]]:
    """Yield terms of a text as `places_of_terms` does, without those that cannot be part of a
    phrase: most of them are not even made into terms.
    """
    low = text.lower()
    if len(low) != len(text) or any(len(phrase.terms) > 1 for phrase in phrases):
        yield from places_of_terms(text)
        return
    done = 0
    for found in _find_possible(tuple(phrase.terms[-1] for phrase in phrases), is_ascii=text.isascii()).finditer(low):
        start, end = found.span()
        if start < done:
            continue
        while start and not text[start - 1].isspace():
            start -= 1
        space = _SPACE.search(text, end)
        done = space.start() if space else len(text)
        yield from _places_of_chunk(text[start:done], start)


@lru_cache(maxsize=64)
def _find_possible(terms: tuple[str, ...], *, is_ascii: bool) -> re.Pattern[str]:
    """Return what a chunk with one of these terms has: the term itself, or letters with marks."""
    return re.compile("|".join([*map(re.escape, terms), *(() if is_ascii else [r"[^\x00-\x7f]"])]))
