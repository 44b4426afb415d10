"""Lines: the text between two borders of words, white space collapsed; what Exclude and Transform work on (W-20).

A block of a page is a line, whatever line ends its source has; a line of plain text, of `pre` and each value of JSON is one too. Patterns
are RE2 and see one line at a time, so that `^` and `$` are its ends and no pattern runs away.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache
from typing import Any

import re2

from tidings.document.walk import BREAK
from tidings.document.words import folded, spans_of_chunk, tokens_of
from tidings.model.extract import Pattern, StopWords, Transform

_GROUP = re.compile(r"\\(?:(\d{1,2})|(\\))")
_CHUNK = re.compile(r"\S+")


def lines_of(pieces: Iterable[str]) -> list[str]:
    """Return the lines of pieces with `BREAK` between them; none is empty."""
    lines: list[str] = []
    held: list[str] = []
    for piece in pieces:
        if piece is not BREAK:
            held.append(piece)
        elif held:
            lines.append("".join(held))
            held = []
    lines.append("".join(held))
    return [line for line in (" ".join(line.split()) for line in lines) if line]


def pieces_of(lines: Iterable[str]) -> tuple[str, ...]:
    """Return lines as pieces of a document."""
    pieces: list[str] = []
    for line in lines:
        pieces.extend((line, BREAK))
    return tuple(pieces)


def without(lines: Sequence[str], excluded: StopWords | Pattern) -> list[str]:
    """Return the lines without the words or the matches of a pattern; what stood around them does not join."""
    if isinstance(excluded, Pattern):
        pattern = compiled(excluded.text)
        return _kept(_substituted(pattern, line, lambda _: b" ") for line in lines)
    words = _Stop(excluded.words)
    return _kept(map(words.taken_out, lines))


def transformed(lines: Sequence[str], step: Transform) -> list[str]:
    """Return the lines after one step."""
    match step.verb:
        case "sort":
            return sorted(lines)
        case "unique":
            return list(dict.fromkeys(lines))
        case "keep":
            return [line for line in lines if _has(step, line)]
        case "drop":
            return [line for line in lines if not _has(step, line)]
        case "replace":
            return _replaced(lines, step)


@lru_cache(maxsize=256)
def compiled(pattern: str) -> Any:
    """Return an RE2 pattern, to be used on UTF-8; one that cannot be compiled was refused when it was written (E11)."""
    options = re2.Options()
    options.log_errors = False
    return re2.compile(pattern, options=options)


def _has(step: Transform, line: str) -> bool:
    if not step.is_pattern:
        return step.match in line
    return compiled(step.match).search(_bytes(line)) is not None


def _replaced(lines: Sequence[str], step: Transform) -> list[str]:
    if not step.is_pattern:
        return _kept(line.replace(step.match, step.replacement) for line in lines) if step.match else list(lines)
    made = _template(step.replacement)
    pattern = compiled(step.match)
    return _kept(_substituted(pattern, line, made) for line in lines)


def _template(replacement: str) -> Callable[[Any], bytes]:
    r"""Return what a match becomes: `\1` is a group (nothing if it took no part), `\\` a backslash, all else is itself."""
    parts: list[bytes | int] = []
    at = 0
    for found in _GROUP.finditer(replacement):
        parts += [_bytes(replacement[at : found.start()]), int(found[1]) if found[1] else b"\\"]
        at = found.end()
    parts.append(_bytes(replacement[at:]))

    def made(match: Any) -> bytes:
        groups = (match.group(), *match.groups(default=b""))
        return b"".join(
            part if isinstance(part, bytes) else groups[part] if part < len(groups) else b"" for part in parts
        )

    return made


def _substituted(pattern: Any, line: str, made: Callable[[Any], bytes]) -> str:
    data = _bytes(line)
    parts: list[bytes] = []
    at = 0
    for match in pattern.finditer(data):
        start, end = match.span()
        if start == end:
            continue
        parts += [data[at:start], made(match)]
        at = end
    if not at:
        return line
    return b"".join([*parts, data[at:]]).decode("utf-8", "replace")


def _kept(lines: Iterable[str]) -> list[str]:
    """Return lines with their white space collapsed; those that have become empty are none."""
    return [line for line in (" ".join(line.split()) for line in lines) if line]


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "replace")


class _Stop:
    """Words that are taken out; a term of several words where these stand in a row."""

    def __init__(self, words: Iterable[str]) -> None:
        terms = [tuple(map(folded, tokens_of(word))) for word in words]
        self._single = frozenset(term[0] for term in terms if len(term) == 1)
        self._rows = [term for term in terms if len(term) > 1]

    def taken_out(self, line: str) -> str:
        """Return a line without them."""
        spans: list[tuple[int, int]] = []
        words: list[str] = []
        for chunk in _CHUNK.finditer(line):
            for start, end in spans_of_chunk(chunk.group()):
                spans.append((chunk.start() + start, chunk.start() + end))
                words.append(folded("".join(tokens_of(chunk.group()[start:end]))))
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
