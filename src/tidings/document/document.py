"""A document: what a body says, in the forms that the sciences compare, search and show."""

from __future__ import annotations

from array import array
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from tidings.document.canonical import canonical_text
from tidings.document.media import Media
from tidings.document.walk import BREAK
from tidings.document.words import spans_of_chunk, tokens_of_chunk


@dataclass(frozen=True, kw_only=True)
class Document:
    """One body, read.

    `pieces` are the visible text nodes with `BREAK` between words that do not join; `links` and `images` addresses as written,
    `base` what they are joined with. `charset` is Python's name, `charset_source` what said so. A body without text (PDF,
    pictures) has `textless` set and only its own hash, `sha256`, to be compared by. `problem` says why a body was not read; then
    nothing in the document may be compared.
    """

    media: Media
    charset: str = ""
    charset_source: str = ""
    pieces: tuple[str, ...] = ()
    links: tuple[str, ...] = ()
    images: tuple[str, ...] = ()
    base: str = ""
    title: str = ""
    scripts: int = 0
    password: bool = False
    textless: bool = False
    sha256: str = ""
    problem: str = ""

    @cached_property
    def text(self) -> str:
        """Return the visible text with its own white space, words that do not join kept apart."""
        return "".join(self.pieces)

    @cached_property
    def chunks(self) -> list[str]:
        """Return the text cut at white space."""
        return self.text.split()

    @cached_property
    def canonical(self) -> bytes:
        """Return the tokens joined by spaces, in UTF-8."""
        return canonical_text(self.chunks)

    @cached_property
    def tokens(self) -> list[str]:
        """Return the tokens in order."""
        return self._counted[0]

    @property
    def words(self) -> int:
        """Return how many tokens there are, without making them."""
        return self.canonical.count(b" ") + 1 if self.canonical else 0

    @cached_property
    def _counted(self) -> tuple[list[str], array[int]]:
        """Return the tokens, and for each chunk how many there are up to its end."""
        tokens: list[str] = []
        ends = array("L")
        for chunk in self.chunks:
            tokens.extend(tokens_of_chunk(chunk))
            ends.append(len(tokens))
        return tokens, ends

    def shown(self, start: int, end: int, *, most: int = 4_000) -> str:
        """Return tokens `start:end` as the page writes them, white space collapsed, cut after about `most` characters.

        A number is shown whole: where `19` of `19.99` changed, people read `19.99`.
        """
        if start >= end:
            return ""
        first, left, _ = self._place(start)
        last, _, right = self._place(end - 1)
        if first == last:
            return _cut(self.chunks[first][left:right], most)
        middle: list[str] = [self.chunks[first][left:]]
        length = len(middle[0])
        for number in range(first + 1, last):
            if length > most:
                break
            middle.append(self.chunks[number])
            length += len(self.chunks[number]) + 1
        middle.append(self.chunks[last][:right])
        return _cut(" ".join(middle), most)

    def _place(self, token: int) -> tuple[int, int, int]:
        """Return (number of the chunk, start in it, end in it) of a token, widened to the whole number that it is part of."""
        ends = self._counted[1]
        number = bisect_right(ends, token)
        before = ends[number - 1] if number else 0
        chunk = self.chunks[number]
        if ends[number] - before == 1 and chunk.isalnum():
            return number, 0, len(chunk)
        return number, *_whole_number(chunk, spans_of_chunk(chunk), token - before)

    def places(self) -> Iterator[tuple[int, int]]:
        """Yield for each token (number of its text node, offset in it in characters), in the order of the walk."""
        starts, at = [], 0
        for piece in self.pieces:
            if piece is not BREAK:
                starts.append(at)
            at += len(piece)
        position = 0
        for chunk in self.chunks:
            position = self.text.index(chunk, position)
            for start, _ in spans_of_chunk(chunk):
                node = bisect_right(starts, position + start) - 1
                yield node, position + start - starts[node]
            position += len(chunk)


def _whole_number(chunk: str, spans: list[tuple[int, int]], index: int) -> tuple[int, int]:
    """Return the span of a token, widened over `.`, `,` and `:` between digits."""
    left, right = spans[index]
    while left >= 2 and chunk[left].isdigit() and chunk[left - 1] in ".,:" and chunk[left - 2].isdigit():
        index -= 1
        left = spans[index][0]
    index = next(i for i, span in enumerate(spans) if span[1] == right)
    while (
        right + 1 < len(chunk) and chunk[right - 1].isdigit() and chunk[right] in ".,:" and chunk[right + 1].isdigit()
    ):
        index += 1
        right = spans[index][1]
    return left, right


def _cut(text: str, most: int) -> str:
    return text if len(text) <= most else text[: most - 1].rstrip() + "…"
