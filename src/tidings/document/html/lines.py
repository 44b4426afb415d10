"""Lines: the text between two word borders, white space collapsed; the unit of Exclude and
Transform (W-20).

A block of a page is a line, whatever line ends its source has; so is a line of plain text or `pre`,
and each value of JSON. Patterns are RE2 and match within one line, so that `^` and `$` are its ends
and no pattern runs away. They match its plain form (`words.plain`), as literal texts do; if that
has no match, the original. Matches are returned as the page writes them.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import groupby
from typing import Any

import re2

from tidings.document.html.walk import BREAK
from tidings.document.text.words import fold, places_of_plain, plain, spans_of_chunk, tokens_of
from tidings.model.watch.interest import Pattern, StopWords, Transform
from tidings.record import dataclass

_GROUP = re.compile(r"\\(?:(\d{1,2})|(\\))")
_CHUNK = re.compile(r"\S+")
_BORDER = "\0"


def lines_of(pieces: Sequence[str]) -> list[str]:
    """Return the non-empty lines of pieces with `BREAK` between them."""
    return [line for part in _cut(pieces) if (line := " ".join(part.split()))]


def chunks_of_lines(pieces: Sequence[str]) -> list[int]:
    """Return the number of chunks of each of the non-empty lines."""
    return [number for part in _cut(pieces) if (number := len(part.split()))]


def _cut(pieces: Sequence[str]) -> list[str]:
    """Return pieces cut at each `BREAK`."""
    text = "".join([_BORDER if piece is BREAK else piece for piece in pieces])
    if text.count(_BORDER) == sum(piece is BREAK for piece in pieces):
        return text.split(_BORDER)
    groups = groupby(pieces, lambda piece: piece is BREAK)  # a text has a border too
    return ["".join(group) for is_break, group in groups if not is_break]


def pieces_of(lines: Iterable[str]) -> tuple[str, ...]:
    """Return lines as pieces of a document."""
    pieces: list[str] = []
    for line in lines:
        pieces.extend((line, BREAK))
    return tuple(pieces)


@dataclass(frozen=True, slots=True)
class Match:
    """A match in a line: its position (in characters), the text, and its groups, None for one that
    took no part.
    """

    start: int
    end: int
    text: str
    groups: tuple[str | None, ...]


def is_found(pattern: str, text: str) -> bool:
    """Return whether an RE2 pattern matches in a text."""
    seen = plain(text)
    if _compile_plain(pattern).search(_bytes(seen)) is not None:
        return True
    return (seen, plain(pattern)) != (text, pattern) and compile_pattern(pattern).search(_bytes(text)) is not None


def matches_of(pattern: str, line: str) -> list[Match]:
    """Return the matches of an RE2 pattern in a line, in order, without overlaps."""
    seen, places = (line, None) if plain(line) == line else places_of_plain(line)
    found = list(_matches(_compile_plain(pattern), seen, line, places))
    if found or (seen, plain(pattern)) == (line, pattern):
        return found
    return list(_matches(compile_pattern(pattern), line, line, None))


def _compile_plain(pattern: str) -> Any:
    """Return a pattern in plain form, or as written if that does not compile (`[a-’]`)."""
    try:
        return compile_pattern(plain(pattern))
    except re2.error:
        return compile_pattern(pattern)


def _matches(pattern: Any, seen: str, line: str, places: Sequence[int] | None) -> Iterator[Match]:
    """Yield the matches in the plain form of a line; `places` maps its characters to the line."""
    data = _bytes(seen)
    is_ascii = len(data) == len(seen)
    byte = character = 0

    def ends(span: tuple[int, int]) -> tuple[int, int]:
        start, end = span
        if not is_ascii:
            start = character + _length(data[byte:start])
            end = start + _length(data[slice(*span)])
        return (start, end) if places is None else (places[start], places[end])

    for match in pattern.finditer(data):
        if not is_ascii:
            character += _length(data[byte : match.start()])
            byte = match.start()
        span = ends(match.span())
        groups = [match.span(number + 1) for number in range(pattern.groups)]
        cut = [line[slice(*ends(group))] if group[0] >= 0 else None for group in groups]
        yield Match(*span, line[slice(*span)], tuple(cut))


def _length(data: bytes) -> int:
    return len(data.decode("utf-8", "replace"))


def without(lines: Sequence[str], excluded: StopWords | Pattern) -> list[str]:
    """Return the lines without words or matches of a pattern; the text around them is not
    joined.
    """
    if isinstance(excluded, Pattern):
        return _collapse_lines(_substitute(excluded.text, line, lambda _: " ") for line in lines)
    words = _Stop(excluded.words)
    return _collapse_lines(map(words.take_out, lines))


def transform(lines: Sequence[str], step: Transform) -> list[str]:
    """Return the lines after one step."""
    match step.verb:
        case "sort":
            return sorted(lines)
        case "unique":
            return list(dict.fromkeys(lines))
        case "fold":
            return [line.lower() for line in lines]
        case "keep":
            return [line for line in lines if _has(step, line)]
        case "drop":
            return [line for line in lines if not _has(step, line)]
        case "replace":
            return _replace(lines, step)
        case "after" | "before":
            return _cut_at(lines, step)


@lru_cache(maxsize=256)
def compile_pattern(pattern: str) -> Any:
    """Return a compiled RE2 pattern for UTF-8; invalid ones were refused when they were written
    (E11).
    """
    options = re2.Options()
    options.log_errors = False
    return re2.compile(pattern, options=options)


def _has(step: Transform, line: str) -> bool:
    if not step.is_pattern:
        return step.match in line or plain(step.match) in plain(line)
    return is_found(step.match, line)


def _cut_at(lines: Sequence[str], step: Transform) -> list[str]:
    """Return what follows or precedes the first place of a text; nothing if it is not there."""
    wanted = plain(step.match).lower()
    for number, line in enumerate(lines):
        at = plain(line).lower().find(wanted)
        if at >= 0 and step.verb == "after":
            return _collapse_lines([line[at + len(wanted) :], *lines[number + 1 :]])
        if at >= 0:
            return _collapse_lines([*lines[:number], line[:at]])
    return []


def _replace(lines: Sequence[str], step: Transform) -> list[str]:
    if not step.is_pattern:
        return (
            _collapse_lines(line.replace(step.match, step.replacement) for line in lines) if step.match else list(lines)
        )
    made = _template(step.replacement)
    return _collapse_lines(_substitute(step.match, line, made) for line in lines)


def _template(replacement: str) -> Callable[[Match], str]:
    r"""Return a function for the replacement: `\1` is a group (empty if it took no part), `\\` a
    backslash, all else literal.
    """
    parts: list[str | int] = []
    at = 0
    for found in _GROUP.finditer(replacement):
        parts += [replacement[at : found.start()], int(found[1]) if found[1] else "\\"]
        at = found.end()
    parts.append(replacement[at:])

    def fill(match: Match) -> str:
        groups = (match.text, *match.groups)
        return "".join(
            part if isinstance(part, str) else (groups[part] or "") if part < len(groups) else "" for part in parts
        )

    return fill


def _substitute(pattern: str, line: str, made: Callable[[Match], str]) -> str:
    parts: list[str] = []
    at = 0
    for match in matches_of(pattern, line):
        if match.start == match.end:
            continue
        parts += [line[at : match.start], made(match)]
        at = match.end
    return "".join([*parts, line[at:]])


def _collapse_lines(lines: Iterable[str]) -> list[str]:
    """Return lines with their white space collapsed, without empty ones."""
    return [line for line in (" ".join(line.split()) for line in lines) if line]


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "replace")


class _Stop:
    """Words to be removed; a term of several words where these are adjacent."""

    def __init__(self, words: Iterable[str]) -> None:
        terms = [tuple(map(fold, tokens_of(word))) for word in words]
        self._single = frozenset(term[0] for term in terms if len(term) == 1)
        self._rows = [term for term in terms if len(term) > 1]

    def take_out(self, line: str) -> str:
        """Return a line without the words."""
        spans: list[tuple[int, int]] = []
        words: list[str] = []
        for chunk in _CHUNK.finditer(line):
            for start, end in spans_of_chunk(chunk.group()):
                spans.append((chunk.start() + start, chunk.start() + end))
                words.append(fold("".join(tokens_of(chunk.group()[start:end]))))
        gone = {number for number, word in enumerate(words) if word in self._single}
        for row in self._rows:
            for start in range(len(words) - len(row) + 1):
                if tuple(words[start : start + len(row)]) == row:
                    gone.update(range(start, start + len(row)))
        if not gone:
            return line
        left = list(line)
        for number in gone:
            start, end = spans[number]
            left[start:end] = " " * (end - start)
        return "".join(left)
