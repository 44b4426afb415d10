"""Snippets: the lines of a text that answer a query best, cut, with each hit marked."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from tidings.document.text.words import fold
from tidings.record import dataclass, replace
from tidings.search.query import places_that_matter

if TYPE_CHECKING:
    from tidings.search.query import Phrase

Stretch = tuple[str, bool]
"""A piece of a text, and whether it is a hit."""

MOST: Final = 240
"""The approximate length of a snippet, in characters."""
_LINES: Final = 2
"""The most lines of a snippet."""
_WEIGHED: Final = 6
"""The most candidate lines that are compared."""
_READ: Final = 30
"""The most lines that are tokenized for it: a substring may be only part of a word."""
_LONGEST_LINE: Final = 1_200
"""The longest line that is searched, in characters; of a longer one, the part from the first hit
on.
"""


@dataclass(frozen=True, slots=True)
class _Line:
    """A line with the places of phrases: (start, end, phrase)."""

    text: str
    hits: tuple[tuple[int, int, int], ...]
    after: str = ""
    """The text behind it, of a line that is nothing but a phrase, such as a heading."""

    @property
    def found(self) -> frozenset[int]:
        return frozenset(which for _, _, which in self.hits)


def snippet(text: str, phrases: Sequence[Phrase], *, most: int = MOST) -> list[Stretch]:
    """Return the best part of a text for phrases, in stretches; its beginning if none occurs.

    Args:
        text: The text, in lines.
        phrases: The phrases of the query.
        most: The approximate length, in characters.
    """
    lines = _lines(text, phrases)
    if not lines:
        first = " ".join(text[:_LONGEST_LINE].split())
        return [(first if len(first) <= most else first[: most - 1].rstrip() + "…", False)] if first else []
    best = max(lines, key=lambda line: (len(line.found), len(line.hits) < 12, min(len(line.text), 80)))
    shown, found = [best], best.found
    for line in lines:
        if len(shown) < _LINES and line.found - found:
            shown.append(line)
            found |= line.found
    room = most // len(shown)
    stretches: list[Stretch] = []
    for line in shown:
        if stretches:
            stretches.append((" … ", False))
        stretches += _cut(line, room)
        if line.after and (rest := _line(line.after, phrases)) is not None:
            shorter = max(1, room - len(line.text))
            stretches.append((" … ", False))
            stretches += _cut(rest, shorter) if rest.hits else [(_shorten(line.after, shorter), False)]
    return stretches


def _shorten(text: str, most: int) -> str:
    """Return a text, of a long one its beginning up to a space."""
    return text if len(text) <= most else text[: _at_space(text, most, max(0, most - 20))].rstrip() + "…"


def mark(text: str, phrases: Sequence[Phrase]) -> list[Stretch]:
    """Return a short text whole, in stretches."""
    line = _line(text, phrases)
    return _cut(line, len(text)) if line.hits else [(text, False)]


def _lines(text: str, phrases: Sequence[Phrase]) -> list[_Line]:
    """Return lines with a phrase, in order; of many those with most words."""
    lines = text.split("\n")
    keys = {phrase.terms[-1] for phrase in phrases}
    found: dict[int, _Line] = {}
    for place in _find_candidates(lines, keys):
        line = _line(_from_first(lines[place], keys), phrases)
        if line.hits:
            if not any(not is_hit and any(map(str.isalnum, piece)) for piece, is_hit in _cut(line, len(line.text))):
                line = replace(line, after=" ".join(" ".join(lines[place + 1 : place + 4]).split())[:_LONGEST_LINE])
            found[place] = line
            if len(found) >= _WEIGHED:
                break
    return [found[place] for place in sorted(found)]


def _find_candidates(lines: Sequence[str], keys: set[str]) -> list[int]:
    """Return the places of lines that may have a phrase, those with most keys first: at most as
    many as are read, so that of a long text only the beginning is searched if it has them.
    """
    whole: list[int] = []
    parts: list[tuple[int, int]] = []
    for place, line in enumerate(lines):
        known = line.lower() if line.isascii() else _plain(line)
        many = 0
        for key in keys:
            many += key in known
        if many == len(keys):
            whole.append(place)
            if len(whole) == _READ:
                break
        elif many:
            parts.append((-many, place))
    return [*whole, *(place for _, place in sorted(parts))][:_READ]


def _from_first(line: str, keys: set[str]) -> str:
    """Return a line, of a long one the piece around the first possible hit."""
    if len(line) <= _LONGEST_LINE:
        return line
    known = _plain(line)
    first = min(place for key in keys if (place := known.find(key)) >= 0)
    return line[max(0, first - _LONGEST_LINE // 4) :][:_LONGEST_LINE]


def _plain(line: str) -> str:
    """Return a line in the form in which terms are searched as substrings."""
    known = fold(line)
    if known.isascii():
        return known
    return f"{unicodedata.normalize('NFD', known).encode('ascii', 'ignore').decode()}\n{known}"


def _line(text: str, phrases: Sequence[Phrase]) -> _Line:
    """Return a line with the places of phrases."""
    places = list(places_that_matter(text, phrases))
    terms = [term for _, _, term in places]
    hits: list[tuple[int, int, int]] = []
    for which, phrase in enumerate(phrases):
        many, last = len(phrase.terms), phrase.terms[-1]
        for end in range(many, len(terms) + 1):
            is_last = terms[end - 1].startswith(last) if phrase.is_prefix else terms[end - 1] == last
            if is_last and tuple(terms[end - many : end - 1]) == phrase.terms[:-1]:
                hits.append((places[end - many][0], places[end - 1][1], which))
    return _Line(text, tuple(sorted(hits)))


def _cut(line: _Line, most: int) -> list[Stretch]:
    """Return a line in stretches, cut at spaces around the densest hits."""
    text = line.text
    start, end = 0, len(text)
    if end > most:
        centre = max(line.hits, key=lambda hit: len({w for s, e, w in line.hits if hit[0] <= s and e <= hit[0] + most}))
        start = max(0, min(centre[0] - most // 4, len(text) - most))
        end = min(len(text), start + most)
        start = _at_space(text, start, min(centre[0], start + 20)) if start else 0
        end = _at_space(text, end, max(centre[1], end - 20)) if end < len(text) else end
    stretches: list[Stretch] = [("…", False)] if start else []
    at = start
    for left, right, _ in line.hits:
        if left < at or right > end:
            continue
        if left > at:
            stretches.append((text[at:left], False))
        stretches.append((text[left:right], True))
        at = right
    if at < end:
        stretches.append((text[at:end], False))
    return [*stretches, ("…", False)] if end < len(text) else stretches


def _at_space(text: str, place: int, towards: int) -> int:
    """Return the nearest space from `place` on in a direction, `place` itself if there is none."""
    step = 1 if towards >= place else -1
    for at in range(place, towards, step):
        if text[at].isspace():
            return at + (step > 0)
    return place
