"""Terms: what stands in the index for a word, cut by the tokens that detection compares.

A term is a token whose case is folded, and whose marks are left out where the rest is ASCII: `Café`
and `cafe` are one term, and so are `STRASSE` and `Straße`. Each character of Chinese, Japanese and
Thai is a token of its own, so that a word of several is searched for as a phrase. No term
holds white space or a quotation mark.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from functools import lru_cache

from tidings.document.text.canonical import RULES_VERSION, canonical_text
from tidings.document.text.words import fold, spans_of_chunk, tokens_of_chunk

TERMS_VERSION = RULES_VERSION * 100 + 1
"""Grows whenever some text has other terms: an index of other terms is made anew."""

SYMBOLS = ".,-$+<=>|~"
"""The ASCII signs that stand in terms, beside letters and digits."""

_CHUNK = re.compile(r"\S+")


def line_of_terms(text: str) -> str:
    """Return the terms of a text in order, with one space between them."""
    line = fold(canonical_text(text).decode())
    return line if line.isascii() else " ".join(map(term_of, line.split()))


def terms_of(text: str) -> tuple[str, ...]:
    """Return the terms of a text in order."""
    return tuple(line_of_terms(text).split())


@lru_cache(maxsize=32_768)
def term_of(token: str) -> str:
    """Return the term that stands for a token."""
    known = fold(token)
    if known.isascii():
        return known
    plain = "".join(c for c in unicodedata.normalize("NFD", known) if not unicodedata.combining(c))
    return plain if plain and plain.isascii() else known


def places_of_terms(text: str) -> Iterator[tuple[int, int, str]]:
    """Yield each term of a text with the characters that it takes up: from, up to, term."""
    for found in _CHUNK.finditer(text):
        chunk, at = found.group(), found.start()
        for (start, end), token in zip(spans_of_chunk(chunk), tokens_of_chunk(chunk), strict=True):
            yield at + start, at + end, term_of(token)
