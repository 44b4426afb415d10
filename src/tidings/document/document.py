"""A document: what a body says, in the forms that the sciences compare, search and show."""

from __future__ import annotations

import re
from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from itertools import accumulate, chain
from operator import add
from typing import Any

from tidings.document.data.media import Media
from tidings.document.html.frames import FrameElement
from tidings.document.html.lines import lines_of
from tidings.document.html.walk import BREAK, Mark, Place
from tidings.document.select.extraction import WHOLE, Extraction
from tidings.document.select.trees import Tree
from tidings.document.text.canonical import canonical_text
from tidings.document.text.graphemes import whole_clusters
from tidings.document.text.words import SHORT_CHUNK, fold, spans_of_chunk, tokens_of_chunk, tokens_of_short_chunk
from tidings.model.interval import Instant
from tidings.model.observed.hub import Hub
from tidings.model.watch.interest import Selector

_SHORT = 48
"""Characters of a chunk whose tokens are quickly found again."""

_CHUNK = re.compile(r"\S+")

_ENDLESS = 65_536
"""Characters of a chunk in which no token is looked for any more."""

_NEAR = 400
"""Most characters of a line that are read on each side of a text."""

_PARTS = 4
"""Most parts of a number, a date or a time that are shown on each side of the one that changed."""


@dataclass(frozen=True, kw_only=True)
class Document:
    """One body, read.

    `pieces` are the visible text nodes with `BREAK` between words that do not join; `links` and `images` addresses as written,
    `link_places` and `image_places` the pieces that each of them takes up (empty where that is not known),
    `marks` where its headings, cells and labels begin and end, `base` what addresses are joined with; `frames` are its frames and iframes. `charset` is Python's name, `charset_source` what said so.
    A body without text (pictures, scanned PDF) has `textless` set and only a hash, `sha256`, to be compared by; `form` says what it is, in
    words. `note` is what people should know who watch it, `hub` who a feed says tells of its news, `updated` the newest
    date of its entries. `problem` says why a body was not read; then nothing in the document may be compared.

    `tree` is what was parsed, if it was kept, so that parts can be taken (`extract`). `extraction` says which part this is, `missing` which
    of its selectors found nothing. `changed_shares`: which part of the words changed from version to version up to this one, the newest first,
    as far as is known.
    """

    media: Media
    charset: str = ""
    charset_source: str = ""
    pieces: tuple[str, ...] = ()
    links: tuple[str, ...] = ()
    images: tuple[str, ...] = ()
    link_places: tuple[Place, ...] = ()
    image_places: tuple[Place, ...] = ()
    marks: tuple[Mark, ...] = field(default=(), repr=False, compare=False)
    frames: tuple[FrameElement, ...] = ()
    base: str = ""
    title: str = ""
    scripts: int = 0
    password: bool = False
    textless: bool = False
    sha256: str = ""
    form: str = ""
    note: str = ""
    hub: Hub = Hub()
    updated: Instant | None = None
    problem: str = ""
    tree: Tree | None = field(default=None, repr=False, compare=False)
    extraction: Extraction = WHOLE
    missing: Selector | None = None
    changed_shares: tuple[float, ...] = ()

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
        return canonical_text(self.text, self._tokens_of)

    @cached_property
    def lines(self) -> list[str]:
        """Return the visible text in lines, white space collapsed (`lines`)."""
        if self.media == "text" and self.extraction.is_whole:
            return [line for line in (" ".join(line.split()) for line in self.text.splitlines()) if line]
        return lines_of(self.pieces)

    @cached_property
    def line_ends(self) -> list[int]:
        """Return for each of the `lines` how many tokens there are up to its end."""
        ends = self._counted[1]
        return [ends[chunks - 1] for chunks in accumulate(line.count(" ") + 1 for line in self.lines)]

    @cached_property
    def parts(self) -> dict[Extraction, Document]:
        """Return the parts that were taken so far; for `extract`."""
        return {}

    @cached_property
    def readings(self) -> dict[tuple[str, int | None], list[Any]]:
        """Return the lists, tables and entries that were read so far; for `items_of`, `tables_of` and `entries_of`."""
        return {}

    @cached_property
    def tokens(self) -> list[str]:
        """Return the tokens in order."""
        return self._counted[0]

    @cached_property
    def folded_text(self) -> str:
        """Return the tokens, case folded, with a space before and behind each: a term is looked for as a piece of this text."""
        return f" {fold(self.canonical.decode())} "

    @cached_property
    def folded(self) -> list[str]:
        """Return the tokens in order, case folded: what keywords and phrases are looked for in (contracts §11)."""
        return self.folded_text.split()

    @cached_property
    def index(self) -> dict[str, list[int]]:
        """Return where in `folded_text` each token stands, from the space before it: one pass, however many are looked for."""
        found: dict[str, list[int]] = {}
        place = 0
        for token in self.folded:
            found.setdefault(token, []).append(place)
            place += len(token) + 1
        return found

    @cached_property
    def sought(self) -> dict[tuple[str, ...], list[int]]:
        """Return where in `folded_text` the terms stand that were looked for so far; for `keywords`."""
        return {}

    @cached_property
    def words(self) -> int:
        """Return how many tokens there are, without making them."""
        return self.canonical.count(b" ") + 1 if self.canonical else 0

    @cached_property
    def _counted(self) -> tuple[list[str], array[int]]:
        """Return the tokens, and for each chunk how many there are up to its end."""
        cut, remembered = self._tokens_of, tokens_of_short_chunk  # a page has thousands of chunks, nearly all are short
        if max(map(len, self.chunks), default=0) <= SHORT_CHUNK:
            parts = list(map(remembered, self.chunks))
        else:
            parts = [remembered(c) if len(c) <= SHORT_CHUNK else cut(c) for c in self.chunks]
        return list(chain.from_iterable(parts)), array("L", accumulate(map(len, parts)))

    def tokens_at(self, start: int, end: int) -> tuple[int, int]:
        """Return the tokens of which characters `start:end` of `text` hold a part."""
        ends = self._counted[1]
        first, last, position = len(self.tokens), 0, 0
        for number, chunk in enumerate(self.chunks):
            position = self.text.index(chunk, position)
            if position >= end:
                break
            before = ends[number - 1] if number else 0
            for place, (left, right) in enumerate(zip(*self._spans(number), strict=True)):
                if position + right > start and position + left < end:
                    first, last = min(first, before + place), max(last, before + place + 1)
            position += len(chunk)
        return (first, last) if first < last else (first, first)

    def tokens_in(self, place: Place) -> tuple[int, int]:
        """Return the tokens that begin in pieces `place`, from and up to."""
        starts = self._piece_starts
        first, last = (self._token_at(starts[piece]) for piece in place)
        return first, max(first, last)

    def characters_of(self, start: int, end: int) -> tuple[int, int]:
        """Return the characters of `text` that `shown` shows of tokens `start:end`, of which there is one at least."""
        first, left, _ = self._place(start)
        last, _, right = self._place(end - 1)
        begins = self._start_of_chunk(first)
        return begins + left, (begins if first == last else self._start_of_chunk(last)) + right

    def span_of(self, token: int) -> tuple[int, int]:
        """Return the characters of `text` that a token takes up, from and up to; no wider, unlike `characters_of`."""
        ends = self._counted[1]
        number = bisect_right(ends, token)
        starts, stops = self._spans(number)
        place, begins = token - self._before(number), self._chunk_starts[number]
        return begins + starts[place], begins + stops[place]

    def _start_of_chunk(self, number: int) -> int:
        """Return where a chunk begins in `text`; quick for one, while `_chunk_starts` is for many."""
        if "_chunk_starts" in self.__dict__:
            return self._chunk_starts[number]
        return len(self.text) - len(self.text.split(None, number)[number])

    def note_chunks(self) -> None:
        """Find out where all chunks begin, since many are asked for."""
        _ = self._chunk_starts

    def piece_of(self, character: int) -> int:
        """Return the piece that holds a character of `text`."""
        return bisect_right(self._piece_starts, character) - 1

    def text_of(self, first: int, last: int) -> str:
        """Return the text of pieces `first:last` in one line."""
        return " ".join("".join(self.pieces[first:last]).split())

    def line_around(self, start: int, end: int) -> tuple[str, str, str]:
        """Return what stands before and behind characters `start:end` in their lines, white space collapsed, and the line above (empty if there is none).

        Of long lines only what is near.
        """
        first, last = self._line_begins(start), self._line_ends(end)
        before = _collapse(self.text[max(first, start - _NEAR) : start]).lstrip()
        after = _collapse(self.text[end : min(last, end + _NEAR)]).rstrip()
        above = self.text[max(0, first - _NEAR) : first].rstrip()
        begins = max(0, first - _NEAR)
        return (
            before,
            after,
            _collapse(above[max(0, self._line_begins(begins + len(above)) - begins) :]).strip() if above else "",
        )

    def _line_begins(self, character: int) -> int:
        if self.media == "text":
            return max(self.text.rfind("\n", 0, character), self.text.rfind("\r", 0, character)) + 1
        piece = self.piece_of(max(0, character - 1))
        while piece >= 0 and self.pieces[piece] is not BREAK:
            piece -= 1
        return self._piece_starts[piece + 1]

    def _line_ends(self, character: int) -> int:
        if self.media == "text":
            return min(
                (at for at in (self.text.find(end, character) for end in "\r\n") if at >= 0), default=len(self.text)
            )
        piece = self.piece_of(character)
        while piece < len(self.pieces) and self.pieces[piece] is not BREAK:
            piece += 1
        return self._piece_starts[piece]

    def _token_at(self, character: int) -> int:
        """Return the first token that begins at a character of `text` or behind it."""
        starts, ends = self._chunk_starts, self._counted[1]
        number = bisect_right(starts, character) - 1
        if number < 0:
            return 0
        before = ends[number - 1] if number else 0
        return before + bisect_left(self._spans(number)[0], character - starts[number])

    @cached_property
    def _piece_starts(self) -> array[int]:
        return array("L", accumulate(map(len, self.pieces), initial=0))

    @cached_property
    def _chunk_starts(self) -> array[int]:
        gaps = map(len, _CHUNK.split(self.text))
        starts = array("L", accumulate(map(add, gaps, chain((0,), map(len, self.chunks)))))
        starts.pop()  # where one behind the last would begin
        return starts

    def get_text(self, start: int, end: int, *, most: int = 4_000) -> str:
        """Return tokens `start:end` as the page writes them, white space collapsed, cut after about `most` characters.

        A number is shown whole: where `19` of `19.99` changed, people read `19.99`. So is a grapheme cluster. What stands in a text that
        goes on for very long without white space is shown as its tokens.
        """
        if start >= end:
            return ""
        end = min(end, start + most + 1)  # a token has a character at least
        if self.is_endless(start, end):
            return _cut_text(" ".join(self.tokens[start:end]), most)
        first, left, _ = self._place(start)
        last, _, right = self._place(end - 1)
        if first == last:
            return _cut_text(self.chunks[first][left:right], most)
        middle: list[str] = [self.chunks[first][left:]]
        length = len(middle[0])
        for number in range(first + 1, last):
            if length > most:
                break
            middle.append(self.chunks[number])
            length += len(self.chunks[number]) + 1
        middle.append(self.chunks[last][:right])
        return _cut_text(" ".join(middle), most)

    def whole(self, start: int, end: int) -> tuple[int, int]:
        """Return the tokens that `shown` shows of tokens `start:end`: also the rest of a number that begins before or ends behind them."""
        if start >= end or self.is_endless(start, end):
            return start, end
        first, left, _ = self._place(start)
        last, _, right = self._place(end - 1)
        return self._before(first) + bisect_left(self._spans(first)[0], left), self._before(last) + bisect_right(
            self._spans(last)[1], right
        )

    def _before(self, number: int) -> int:
        """Return how many tokens there are before a chunk."""
        return self._counted[1][number - 1] if number else 0

    @cached_property
    def _has_endless(self) -> bool:
        return max(map(len, self.chunks), default=0) > _ENDLESS

    def is_endless(self, start: int, end: int) -> bool:
        """Return whether tokens `start:end`, of which there is one at least, begin or end in a chunk in which none is looked for."""
        if not self._has_endless:
            return False
        ends = self._counted[1]
        return any(len(self.chunks[bisect_right(ends, token)]) > _ENDLESS for token in (start, end - 1))

    def chunks_around(self, start: int, end: int) -> tuple[int, list[str]]:
        """Return (the first token of them, the chunks that hold tokens `start:end`, each whole)."""
        ends = self._counted[1]
        first, last = bisect_right(ends, start), bisect_right(ends, end - 1)
        return (ends[first - 1] if first else 0), self.chunks[first : last + 1]

    def _place(self, token: int) -> tuple[int, int, int]:
        """Return (number of the chunk, start in it, end in it) of a token, widened to the whole number that it is part of."""
        ends = self._counted[1]
        number = bisect_right(ends, token)
        before = ends[number - 1] if number else 0
        chunk = self.chunks[number]
        if ends[number] - before == 1 and chunk.isalnum():
            return number, 0, len(chunk)
        return number, *whole_clusters(chunk, *_whole_number(chunk, *self._spans(number), token - before))

    def _spans(self, number: int) -> tuple[Sequence[int], Sequence[int]]:
        """Return where the tokens of a chunk start and end in it; kept for a chunk that is long, since it is asked for often."""
        chunk = self.chunks[number]
        if len(chunk) <= _SHORT:
            return _bounds_of_short(chunk)
        if number not in self._bounds_of_long:
            self._bounds_of_long[number] = _bounds(chunk)
        return self._bounds_of_long[number]

    @cached_property
    def _bounds_of_long(self) -> dict[int, tuple[Sequence[int], Sequence[int]]]:
        return {}

    @cached_property
    def _tokens_of_long(self) -> dict[str, tuple[str, ...]]:
        return {}

    def _tokens_of(self, chunk: str) -> tuple[str, ...]:
        """Return the tokens of a chunk; a long one is cut once only."""
        if len(chunk) <= _SHORT or chunk.isascii():
            return tokens_of_chunk(chunk)
        if chunk not in self._tokens_of_long:
            self._tokens_of_long[chunk] = tokens_of_chunk(chunk)
        return self._tokens_of_long[chunk]

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


def _bounds(chunk: str) -> tuple[Sequence[int], Sequence[int]]:
    starts, ends = array("L"), array("L")
    for start, end in spans_of_chunk(chunk):
        starts.append(start)
        ends.append(end)
    return starts, ends


_bounds_of_short = lru_cache(maxsize=16_384)(_bounds)


def _whole_number(chunk: str, starts: Sequence[int], ends: Sequence[int], index: int) -> tuple[int, int]:
    """Return the span of a token, widened over `.`, `,` and `:` between digits."""
    first = last = index
    while first > max(0, index - _PARTS) and _joins(chunk, ends[first - 1], starts[first]):
        first -= 1
    while last < min(len(starts) - 1, index + _PARTS) and _joins(chunk, ends[last], starts[last + 1]):
        last += 1
    return starts[first], ends[last]


def _joins(chunk: str, end: int, start: int) -> bool:
    """Return whether one sign between digits is all that parts two tokens."""
    return start - end == 1 and chunk[end] in ".,:" and chunk[end - 1].isdigit() and chunk[start].isdigit()


def _collapse(text: str) -> str:
    """Return a text with its white space collapsed, a space at an end where there was some."""
    inner = " ".join(text.split())
    return f"{' ' if inner and text[:1].isspace() else ''}{inner}{' ' if inner and text[-1:].isspace() else ''}"


def _cut_text(text: str, most: int) -> str:
    return text if len(text) <= most else text[: most - 1].rstrip() + "…"
