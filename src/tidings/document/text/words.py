"""Words: the tokens of every comparison and search, and the canonical text that they form
(contracts §8).

A token is a maximal run of letters, digits and marks. Each Han, Hiragana, Katakana, Thai, Lao and
Khmer character, with its marks, is a token of its own, so that a sequence of tokens finds a text. A
symbol (emoji, currency, arrow; categories So, Sc, Sm) is a token of one grapheme cluster.
Everything else separates.

A number is one token with its signs: `.` and `,` between digits belong to it (`19.99`, `1,234.50`,
`10.0.0.1`), and so does a leading minus (`-5`, but not `A-5` or `10-20`), since `1,5` → `1.5` and
`-5` → `5` are meaningful changes. A minus before a currency and its digits is a token (`-$5`).
Decision 0030; `thesis_words` is the alternative.

Soft hyphen, zero-width space, word joiner, byte-order mark and the marks of bidirectional text are
dropped and join the text around them; ZWJ and ZWNJ inside a word stay. Tokens are in NFC.

A *chunk* is the text between white space. Tokens do not cross white space, so a text can be split
into chunks first, and most chunks are ASCII and cheap.

Two versions with the same canonical text have the same words in the same order; markup, white space
and punctuation are left out. Its digest includes the version of the rules, since a better tokenizer
must never look like a change of every page (detection §2.3 b).

Tokens nearly always end with a grapheme cluster; where not (Thai and Lao AM, a joiner or a skin
tone after a letter), the displayed text is widened to whole clusters (detection §3.3).
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable
from functools import lru_cache

import regex
import xxhash

_ALONE = r"\p{Han}\p{Hiragana}\p{Katakana}\p{Thai}\p{Lao}\p{Khmer}"
_DROPPED = "\u00ad\u061c\u200b\u200e\u200f\u202a-\u202e\u2060\u2066-\u2069\ufeff"
_JOINERS = "\u200c\u200d"
_FLAG = "[\U0001f1e6-\U0001f1ff]"
_WORD = rf"[[\p{{L}}\p{{N}}\p{{M}}]--[{_ALONE}]]"
_BETWEEN = f"[{_DROPPED}{_JOINERS}]"
_POINTS = ".,\u066b\u066c"
_MINUS = "\u2212"
_POINT = rf"[{_POINTS}](?<=\p{{Nd}}.)(?=\p{{Nd}})"
_SIGN = rf"(?<![\p{{L}}\p{{N}}\p{{M}}][{_DROPPED}]*)[\-{_MINUS}]"
_TOKEN = regex.compile(
    rf"(?:{_SIGN}[{_DROPPED}]*+(?=\p{{Nd}}))?+{_WORD}++(?:(?:{_BETWEEN}++|{_POINT}){_WORD}++)*+"
    rf"|{_SIGN}(?=\p{{Sc}}\p{{Nd}})"
    rf"|[{_ALONE}](?:{_BETWEEN}*+\p{{M}}++)*+"
    rf"|{_FLAG}{{1,2}}+\p{{M}}*+"  # before \X, which looks back over all adjacent flags
    r"|(?=[\p{So}\p{Sc}\p{Sm}])\X",
    regex.VERSION1,
)
_BARE = rf"[[{_ALONE}]--\p{{M}}]"
_RUN_OR_TOKEN = regex.compile(rf"((?:{_BARE}(?={_BARE}))++)|({_TOKEN.pattern})", regex.VERSION1)
"""A run of one-character tokens, the last of which may carry marks; or a token."""
_SPECIAL = re.compile(f"[{_DROPPED}{_JOINERS}{_MINUS}]")
_DROP = re.compile(f"[{_DROPPED}]")
_ALIKE = str.maketrans(
    {"\u2018": "'", "\u2019": "'", "\u201b": "'", "\u2010": "-", "\u2011": "-", _MINUS: "-", "\xa0": " ", "\u202f": " "}
)
"""Typographic apostrophes, hyphens and spaces, and their keyboard equivalents."""
_ASCII_TOKEN = re.compile(
    r"(?:-(?<![A-Za-z0-9]-)(?=[0-9]))?[A-Za-z0-9]+(?:[.,](?<=[0-9].)(?=[0-9])[A-Za-z0-9]+)*"
    r"|-(?<![A-Za-z0-9]-)(?=\$[0-9])"
    r"|[$+<=>|~]"
)
_SIGNS = re.compile(f"[{_POINTS}-]+")

_CLUSTER = regex.compile(r"\X")
_ONE_I = re.compile("i\u0307|\u0131")
"""The capital İ is folded to an i and a dot above (U+0307); ı is folded to itself."""

SHORT_CHUNK = 48
"""The longest chunk whose tokens are cached, in characters."""
_MANY = 1_000


def tokens_of(text: str) -> list[str]:
    """Return the tokens of a text, in order."""
    found: list[str] = []
    for chunk in text.split():
        found.extend(tokens_of_chunk(chunk))
    return found


def tokens_of_chunk(chunk: str) -> tuple[str, ...]:
    """Return the tokens of a text without white space."""
    return tokens_of_short_chunk(chunk) if len(chunk) <= SHORT_CHUNK else _tokens(chunk)


def spans_of_chunk(chunk: str) -> list[tuple[int, int]]:
    """Return the span of each token of a chunk: (start, end) in characters."""
    pattern = _ASCII_TOKEN if chunk.isascii() else _TOKEN
    return [match.span() for match in pattern.finditer(chunk)]


def fold(token: str) -> str:
    """Return a token for comparison without case: case folded, in NFC (`STRASSE` and `straße` are
    equal).

    The dotted and the dotless i of Turkish are one letter: the language of capitals is unknown.
    """
    return token.lower() if token.isascii() else unicodedata.normalize("NFC", _ONE_I.sub("i", token.casefold()))


def plain(text: str) -> str:
    """Return a text for conditions and patterns: in NFC, without invisible characters, with the
    keyboard's apostrophe, hyphen and space.
    """
    if text.isascii():
        return text
    return unicodedata.normalize("NFC", _DROP.sub("", text)).translate(_ALIKE)


def show(text: str) -> str:
    """Return a text of a page for display: in NFC, without invisible characters except joiners."""
    return text if text.isascii() else unicodedata.normalize("NFC", _DROP.sub("", text))


def places_of_plain(text: str) -> tuple[str, list[int]]:
    """Return the plain text, and the position in `text` of each of its characters and of its
    end.
    """
    visible = [place for place, character in enumerate(text) if not _DROP.match(character)]
    parts: list[str] = []
    places: list[int] = []
    for cluster in _CLUSTER.finditer(_DROP.sub("", text)):
        made = plain(cluster.group())
        parts.append(made)
        places.extend([visible[cluster.start()]] * len(made))
    return "".join(parts), [*places, len(text)]


def thesis_words(token: str) -> list[str]:
    """Return the words of a token as in the thesis: symbols are not words, and the signs of a
    number separate (004 §5.3.1).
    """
    if token.isalnum():
        return [token]
    if unicodedata.category(token[0]).startswith("S"):
        return []
    return [word for word in _SIGNS.split(token) if word]


def _tokens(chunk: str) -> tuple[str, ...]:
    if chunk.isascii():
        return (chunk,) if chunk.isalnum() else tuple(_ASCII_TOKEN.findall(chunk))
    found = _TOKEN.findall(chunk) if len(chunk) <= SHORT_CHUNK else _find_in_rows(chunk)
    if _SPECIAL.search(chunk) or not unicodedata.is_normalized("NFC", chunk):
        found = [_clean(token) for token in found]
    if len(found) < _MANY:
        return tuple(found)
    shared: dict[str, str] = {}
    return tuple(shared.setdefault(token, token) for token in found)


def _find_in_rows(chunk: str) -> list[str]:
    """Return the matches of `_TOKEN`; text without spaces is handled run by run, which is
    faster.
    """
    found: list[str] = []
    for row, token in _RUN_OR_TOKEN.findall(chunk):
        if row:
            found.extend(row)
        else:
            found.append(token)
    return found


class _Remembered(dict[str, tuple[str, ...]]):
    """The tokens of short chunks: a third of what `lru_cache` costs for each of a page's chunks."""

    def __missing__(self, chunk: str) -> tuple[str, ...]:
        if len(self) >= MOST_REMEMBERED:
            self.clear()
        made = self[chunk] = _tokens(chunk)
        return made


MOST_REMEMBERED = 32_768
tokens_of_short_chunk: Callable[[str], tuple[str, ...]] = _Remembered().__getitem__
"""The same for chunks of at most `SHORT_CHUNK` characters, cached."""


def _clean(token: str) -> str:
    plain = unicodedata.normalize("NFC", _DROP.sub("", token).rstrip(_JOINERS))
    return f"-{plain[1:]}" if plain[0] == _MINUS and plain[1:2].isdecimal() else plain


RULES_VERSION = 4
"""Raised whenever walk, tokens or canonical forms change their result for some page."""

ASCII_SYMBOLS = b"$+<=>|~"
"""The ASCII characters of the categories Sc and Sm; ASCII has none of So."""

_IN_NUMBERS = b".,-"
_PLACEHOLDERS = bytes(range(1, 1 + len(_IN_NUMBERS)))
"""Placeholders for the signs of numbers while other signs are removed."""
_SEPARATED = bytes(
    byte if byte >= 128 or chr(byte).isalnum() or byte in ASCII_SYMBOLS + _IN_NUMBERS else 32 for byte in range(256)
)
_RELEASED = bytes.maketrans(_PLACEHOLDERS + _IN_NUMBERS, _IN_NUMBERS + b" " * len(_IN_NUMBERS))
_PROTECTED_SIGNS = tuple(
    (sign, re.compile(pattern), placeholder)
    for sign, pattern, placeholder in (
        (b".", rb"\.(?<=[0-9\x80-\xff].)(?=[0-9\x80-\xff])", _PLACEHOLDERS[0:1]),
        (b",", rb",(?<=[0-9\x80-\xff].)(?=[0-9\x80-\xff])", _PLACEHOLDERS[1:2]),
        (b"-", rb"-(?<![A-Za-z0-9].)(?=\$?[0-9\x80-\xff])", _PLACEHOLDERS[2:3]),
    )
)
"""Signs that may belong to a number. Beside non-ASCII characters the tokenizer decides."""
_LONGEST_REMEMBERED = 64
_SYMBOLS = tuple((bytes([symbol]), b" %c " % symbol) for symbol in ASCII_SYMBOLS)


def canonical_text(text: str, cut: Callable[[str], Iterable[str]] | None = None) -> bytes:
    """Return the tokens of a text, joined by spaces, in UTF-8.

    Equal to joining the results of `cut` for each chunk, in a tenth of the time: as bytes, all at
    once, with separate handling only of non-ASCII text. ASCII separators are never part of a token,
    so the text may be cut there first.
    """
    whole = text.encode("utf-8", "replace").translate(_SEPARATED)
    for sign, pattern, placeholder in _PROTECTED_SIGNS:
        if sign in whole:
            whole = pattern.sub(placeholder, whole)
    parts = whole.translate(_RELEASED).split()
    if not text.isascii():
        parts = [new for part in parts if (new := part if part.isascii() else _recut(part, cut))]
    data = b" ".join(parts)
    found = [pair for pair in _SYMBOLS if pair[0] in data]
    if not found:
        return data
    for symbol, spaced in found:
        data = data.replace(symbol, spaced)
    return b" ".join(data.split())


def _recut(part: bytes, cut: Callable[[str], Iterable[str]] | None) -> bytes:
    if len(part) <= _LONGEST_REMEMBERED or cut is None:
        return _recut_short(part)
    return " ".join(cut(part.decode())).encode()


@lru_cache(maxsize=32_768)
def _recut_short(part: bytes) -> bytes:
    return " ".join(tokens_of(part.decode())).encode()


_ZEROS = bytes.maketrans(b"123456789", b"0" * 9)


def with_digits_alike(text: bytes) -> bytes:
    """Return a text with each run of digits replaced by one 0."""
    text = text.translate(_ZEROS)
    while b"00" in text:
        text = text.replace(b"00", b"0")
    return text


def text_digest(canonical: bytes, *, seed: int = 0) -> str:
    """Return the digest of a canonical text: 32 hexadecimal digits of xxh3-128; `seed` is the
    installation's.
    """
    return xxhash.xxh3_128_hexdigest(b"%d\n" % RULES_VERSION + canonical, seed=seed)


def multiset_digest(objects: Iterable[str], *, seed: int = 0) -> str:
    """Return a digest of the objects and their counts, independent of their order."""
    joined = "\0".join(sorted(objects))
    return xxhash.xxh3_128_hexdigest(b"%d\n" % RULES_VERSION + joined.encode("utf-8", "replace"), seed=seed)


_FLAG_LETTERS = range(0x1F1E6, 0x1F200)
_LONGEST = 32
"""The characters of a cluster that are examined on each side; real ones have ten."""


def whole_clusters(text: str, start: int, end: int) -> tuple[int, int]:
    """Return the span of a token, widened to whole clusters of `text`; the inside of `start:end` is
    not examined.
    """
    if text.isascii():
        return start, end
    first, last = max(0, start - _LONGEST), min(len(text), end + _LONGEST)
    while start > first and _is_one(text, start):
        start -= 1
    while end < last and _is_one(text, end):
        end += 1
    return start, end


def _is_one(text: str, border: int) -> bool:
    """Return whether the characters on both sides of a border belong to one cluster; flags are
    never split by tokens.
    """
    pair = text[border - 1 : border + 1]
    if pair.isascii() or (ord(pair[0]) in _FLAG_LETTERS and ord(pair[1]) in _FLAG_LETTERS):
        return False
    return _CLUSTER.fullmatch(pair) is not None
