"""A document: the content of a body, in the forms that are compared, searched and shown."""

from __future__ import annotations

import re
from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import field
from functools import cached_property, lru_cache
from itertools import accumulate, chain, islice
from operator import add
from typing import Any

from tidings.document.data.media import Media
from tidings.document.html.frames import FrameElement
from tidings.document.html.lines import chunks_of_lines, lines_of
from tidings.document.html.walk import BREAK, Mark, Place
from tidings.document.select.extraction import WHOLE, Extraction
from tidings.document.select.trees import Tree
from tidings.document.text.excerpts import common_ends
from tidings.document.text.words import (
    SHORT_CHUNK,
    canonical_text,
    fold,
    spans_of_chunk,
    tokens_of_chunk,
    tokens_of_short_chunk,
    whole_clusters,
    with_digits_alike,
)
from tidings.model.interval import Instant
from tidings.model.observed.version import Hub
from tidings.model.watch.interest import Selector
from tidings.record import dataclass, replace

_SHORT = 48
"""The longest chunk whose tokens are quickly located, in characters."""

_CHUNK = re.compile(r"\S+")

_ENDLESS = 65_536
"""A chunk of more characters is not searched for tokens."""

_NEAR = 400
"""The most characters of a line that are read on each side of a text."""

_PARTS = 4
"""The most parts of a number, a date or a time shown on each side of a changed one."""


@dataclass(frozen=True, kw_only=True)
class Document:
    """A parsed body.

    `pieces` are the visible text nodes with `BREAK` between words that do not join; `links` and
    `images` are addresses as written, `link_places` and `image_places` the pieces of each (empty if
    unknown), `marks` the starts and ends of its headings, cells and labels, `base` the base of its
    addresses; `frames` are its frames and iframes. `charset` is Python's name, `charset_source` its
    origin. A body without text (pictures, scanned PDF) has `textless` set and is compared by its
    hash `sha256` only; `form` is its name. `note` is a remark for its watchers, `hub` the feed's
    hub, `updated` the newest date of its entries. `problem` says why a body was not read; then
    nothing in the document may be compared.

    `written` are the pieces as the page writes them, if `pieces` are without case (`as_written`).
    `tree` is the parse tree, if it was kept, so that parts can be extracted (`extract`).
    `extraction` says which part this is, `missing` which of its selectors matched nothing.
    `changed_shares`: the share of words that changed from version to version up to this one, the
    newest first, as far as known.
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
    written: tuple[str, ...] = ()
    tree: Tree | None = field(default=None, repr=False, compare=False)
    extraction: Extraction = WHOLE
    missing: Selector | None = None
    changed_shares: tuple[float, ...] = ()

    @cached_property
    def text(self) -> str:
        """Return the visible text with its own white space, with breaks between words that do not
        join.
        """
        return "".join(self.pieces)

    @property
    def as_written(self) -> Document:
        """Return the document whose texts are displayed: with the letters of the page, where it is
        compared without case. It has the same number of tokens.
        """
        other = self._with_letters if self.written else self
        return other if len(other.tokens) == len(self.tokens) else self

    @cached_property
    def _with_letters(self) -> Document:
        return replace(self, pieces=self.written, written=())

    @cached_property
    def chunks(self) -> list[str]:
        """Return the text cut at white space."""
        return self.text.split()

    @cached_property
    def canonical(self) -> bytes:
        """Return the tokens joined by spaces, in UTF-8."""
        if "_counted" in self.__dict__:
            return " ".join(self.tokens).encode("utf-8", "replace")
        return canonical_text(self.text, self._tokens_of)

    @cached_property
    def with_digits_alike(self) -> bytes:
        """Return the canonical text with each number of one digit, so that a place is known by the
        words around it whatever its numbers.
        """
        if self._made_of is not None:
            other, head, tail = self._made_of
            own, others = (" ".join(d.tokens[head : len(d.tokens) - tail]) for d in (self, other))
            if with_digits_alike(own.encode("utf-8", "replace")) == with_digits_alike(
                others.encode("utf-8", "replace")
            ):
                return other.with_digits_alike
        return with_digits_alike(self.canonical)

    @cached_property
    def lines(self) -> list[str]:
        """Return the visible text in lines, white space collapsed (`lines`)."""
        if self.media == "text" and self.extraction.is_whole:
            return [line for line in (" ".join(line.split()) for line in self.text.splitlines()) if line]
        return lines_of(self.pieces)

    @cached_property
    def line_ends(self) -> list[int]:
        """Return for each of the `lines` the number of tokens up to its end."""
        ends = self._counted[1]
        return [ends[chunks - 1] for chunks in self._chunks_to_line_ends]

    @cached_property
    def _chunks_to_line_ends(self) -> list[int]:
        """Return for each of the `lines` the number of chunks up to its end."""
        if self.media == "text" and self.extraction.is_whole:
            return list(accumulate(filter(None, (len(line.split()) for line in self.text.splitlines()))))
        return list(accumulate(chunks_of_lines(self.pieces)))

    @cached_property
    def _made_of(self) -> tuple[Document, int, int] | None:
        """Return the document that this one was made of, and how many of its tokens it has in
        common with it at least, at the beginning and at the end.
        """
        return None

    @cached_property
    def parts(self) -> dict[Extraction, Document]:
        """Return the cached parts; for `extract`."""
        return {}

    @cached_property
    def readings(self) -> dict[tuple[str, int | None], list[Any]]:
        """Return the cached lists, tables and entries; for `items_of`, `tables_of` and
        `entries_of`.
        """
        return {}

    @cached_property
    def tokens(self) -> list[str]:
        """Return the tokens in order."""
        return self._counted[0]

    @cached_property
    def folded_text(self) -> str:
        """Return the tokens, case folded, with a space around each: terms are searched as
        substrings.
        """
        return f" {fold(self.canonical.decode())} "

    @cached_property
    def folded(self) -> list[str]:
        """Return the tokens in order, case folded, for keywords and phrases (contracts §11)."""
        return self.folded_text.split()

    @cached_property
    def index(self) -> dict[str, list[int]]:
        """Return where in `folded_text` each token occurs, from the space before it: one pass for
        all terms.
        """
        found: dict[str, list[int]] = {}
        place = 0
        for token in self.folded:
            found.setdefault(token, []).append(place)
            place += len(token) + 1
        return found

    @cached_property
    def sought(self) -> dict[tuple[str, ...], list[int]]:
        """Return where in `folded_text` the terms searched so far occur; for `keywords`."""
        return {}

    @cached_property
    def words(self) -> int:
        """Return the number of tokens, without making them."""
        return self.canonical.count(b" ") + 1 if self.canonical else 0

    @cached_property
    def _counted(self) -> tuple[list[str], array[int]]:
        """Return the tokens, and for each chunk the number of tokens up to its end."""
        cut, remembered = self._tokens_of, tokens_of_short_chunk  # a page has thousands of chunks, nearly all short
        if self._longest <= SHORT_CHUNK:
            parts = list(map(remembered, self.chunks))
        else:
            parts = [remembered(c) if len(c) <= SHORT_CHUNK else cut(c) for c in self.chunks]
        return list(chain.from_iterable(parts)), array("L", accumulate(map(len, parts)))

    def tokens_at(self, start: int, end: int) -> tuple[int, int]:
        """Return the tokens that overlap characters `start:end` of `text`."""
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
        """Return the range of tokens that begin in pieces `place`."""
        starts = self._piece_starts
        first, last = (self._token_at(starts[piece]) for piece in place)
        return first, max(first, last)

    def characters_of(self, start: int, end: int) -> tuple[int, int]:
        """Return the characters of `text` that `get_text` shows of tokens `start:end`, at least
        one.
        """
        first, left, _ = self._place(start)
        last, _, right = self._place(end - 1)
        begins = self._start_of_chunk(first)
        return begins + left, (begins if first == last else self._start_of_chunk(last)) + right

    def span_of(self, token: int) -> tuple[int, int]:
        """Return the characters of `text` of a token, unwidened, unlike `characters_of`."""
        ends = self._counted[1]
        number = bisect_right(ends, token)
        starts, stops = self._spans(number)
        place, begins = token - self._before(number), self._chunk_starts[number]
        return begins + starts[place], begins + stops[place]

    def _start_of_chunk(self, number: int) -> int:
        """Return the start of a chunk in `text`; quick for one, while `_chunk_starts` is for
        many.
        """
        if "_chunk_starts" in self.__dict__:
            return self._chunk_starts[number]
        return len(self.text) - len(self.text.split(None, number)[number])

    def note_chunks(self) -> None:
        """Compute the starts of all chunks, since many are needed."""
        _ = self._chunk_starts

    def piece_of(self, character: int) -> int:
        """Return the piece that contains a character of `text`."""
        return bisect_right(self._piece_starts, character) - 1

    def text_of(self, first: int, last: int) -> str:
        """Return the text of pieces `first:last` in one line."""
        return " ".join("".join(self.pieces[first:last]).split())

    def line_around(self, start: int, end: int) -> tuple[str, str, str]:
        """Return what precedes and follows characters `start:end` in their lines, white space
        collapsed, and the line above (empty if none).

        Of long lines only the nearby part.
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
        """Return the first token that begins at or after a character of `text`."""
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
        starts.pop()  # the start of one after the last
        return starts

    def get_text(self, start: int, end: int, *, most: int = 4_000) -> str:
        """Return tokens `start:end` as the page writes them, white space collapsed, cut after about
        `most` characters.

        Numbers are shown whole: if `19` of `19.99` changed, people read `19.99`. So are grapheme
        clusters. Very long text without white space is shown as its tokens.
        """
        if start >= end:
            return ""
        end = min(end, start + most + 1)  # a token has at least one character
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
        """Return tokens `start:end` widened to whole numbers, as `get_text` shows them."""
        if start >= end or self.is_endless(start, end):
            return start, end
        first, left, _ = self._place(start)
        last, _, right = self._place(end - 1)
        return self._before(first) + bisect_left(self._spans(first)[0], left), self._before(last) + bisect_right(
            self._spans(last)[1], right
        )

    def _before(self, number: int) -> int:
        """Return the number of tokens before a chunk."""
        return self._counted[1][number - 1] if number else 0

    def with_piece(self, number: int, text: str, shares: tuple[float, ...] = ()) -> Document:
        """Return the same document with another text in piece `number` and with `shares` as its
        `changed_shares`.

        What is known of the other pieces (chunks, tokens, lines) is taken over.
        """
        pieces = (*self.pieces[:number], text, *self.pieces[number + 1 :])
        other = replace(self, pieces=pieces, written=(), changed_shares=shares)
        start, end = self._piece_starts[number], self._piece_starts[number + 1]
        left, right = start, end
        while left > 0 and not self.text[left - 1].isspace():
            left -= 1
        while right < len(self.text) and not self.text[right].isspace():
            right += 1
        head = len(self.text[:left].split())
        tail = head + len(self.text[left:right].split())
        middle = f"{self.text[left:start]}{text}{self.text[end:right]}".split()
        tokens, ends = self._counted
        parts = [tokens_of_short_chunk(c) if len(c) <= SHORT_CHUNK else self._tokens_of(c) for c in middle]
        first, behind = ends[head - 1] if head else 0, ends[tail - 1] if tail else 0
        moved = first + sum(map(len, parts)) - behind
        new_ends = ends[:head]
        new_ends.extend(islice(accumulate(map(len, parts), initial=first), 1, None))
        new_ends.extend(ends[tail:] if not moved else (end + moved for end in ends[tail:]))
        new_tokens = [*tokens[:first], *chain.from_iterable(parts), *tokens[behind:]]
        other.__dict__.update(
            chunks=[*self.chunks[:head], *middle, *self.chunks[tail:]],
            _longest=max((self._longest, *map(len, middle))),
            _counted=(new_tokens, new_ends),
            canonical=" ".join(new_tokens).encode("utf-8", "replace"),
            _made_of=(self, first, len(tokens) - behind),
        )
        if middle and tail > head and self.media != "text":  # the number of lines stays
            line_ends, more = self._chunks_to_line_ends, len(middle) - (tail - head)
            line = bisect_right(line_ends, head)
            moved_ends = [*line_ends[:line], *(end + more for end in line_ends[line:])] if more else line_ends
            other.__dict__["_chunks_to_line_ends"] = moved_ends
        return other

    @cached_property
    def _longest(self) -> int:
        """Return a length that no chunk exceeds."""
        return max(map(len, self.chunks), default=0)

    def is_endless(self, start: int, end: int) -> bool:
        """Return whether tokens `start:end`, at least one, begin or end in a chunk that is too long
        to search.
        """
        if self._longest <= _ENDLESS:
            return False
        ends = self._counted[1]
        return any(len(self.chunks[bisect_right(ends, token)]) > _ENDLESS for token in (start, end - 1))

    def chunks_around(self, start: int, end: int) -> tuple[int, list[str]]:
        """Return (the first of their tokens, the chunks that contain tokens `start:end`, each
        whole).
        """
        ends = self._counted[1]
        first, last = bisect_right(ends, start), bisect_right(ends, end - 1)
        return (ends[first - 1] if first else 0), self.chunks[first : last + 1]

    def _place(self, token: int) -> tuple[int, int, int]:
        """Return (number of the chunk, start in it, end in it) of a token, widened to its whole
        number.
        """
        ends = self._counted[1]
        number = bisect_right(ends, token)
        before = ends[number - 1] if number else 0
        chunk = self.chunks[number]
        if ends[number] - before == 1 and chunk.isalnum():
            return number, 0, len(chunk)
        return number, *whole_clusters(chunk, *_whole_number(chunk, *self._spans(number), token - before))

    def _spans(self, number: int) -> tuple[Sequence[int], Sequence[int]]:
        """Return the starts and ends of the tokens of a chunk; cached for long chunks."""
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
        """Return the tokens of a chunk; cached for long chunks."""
        if len(chunk) <= _SHORT or chunk.isascii():
            return tokens_of_chunk(chunk)
        if chunk not in self._tokens_of_long:
            self._tokens_of_long[chunk] = tokens_of_chunk(chunk)
        return self._tokens_of_long[chunk]

    def places(self) -> Iterator[tuple[int, int]]:
        """Yield for each token (number of its text node, offset in it in characters), in the order
        of the walk.
        """
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


def common_tokens(old: Document, new: Document) -> tuple[int, int]:
    """Return how many tokens two documents have in common at the beginning, and at the end outside
    it.
    """
    made_of = old._made_of  # noqa: SLF001 - of this module
    if made_of is None or made_of[0] is not new:
        return common_ends(old.tokens, new.tokens)
    head, tail = made_of[1:]
    was, now = (document.tokens[head : len(document.tokens) - tail] for document in (old, new))
    first, last = common_ends(was, now)
    if first == min(len(was), len(now)):  # it reaches into the common end
        return common_ends(old.tokens, new.tokens)
    return head + first, tail + last


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
    """Return whether two tokens are separated by a single sign between digits."""
    return start - end == 1 and chunk[end] in ".,:" and chunk[end - 1].isdigit() and chunk[start].isdigit()


def _collapse(text: str) -> str:
    """Return a text with its white space collapsed, keeping one space at each end."""
    inner = " ".join(text.split())
    return f"{' ' if inner and text[:1].isspace() else ''}{inner}{' ' if inner and text[-1:].isspace() else ''}"


def _cut_text(text: str, most: int) -> str:
    return text if len(text) <= most else text[: most - 1].rstrip() + "…"
