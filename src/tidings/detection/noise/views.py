"""Views: what interests select through masks: the whole page, a part of it, or the texts of its
lists, tables or entries (0047).

Noise is learned per view, so that its borders name places too. The texts of a list form a document
of their own, one text per line; their noise is replaced by the old text before lists, tables and
entries are compared.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache

from tidings.detection.kinds.aims import aim_expression, aims_of
from tidings.detection.kinds.interests import looks_through
from tidings.document.document import Document
from tidings.document.extract import extract
from tidings.document.html.lines import pieces_of
from tidings.document.select.extraction import WHOLE, Extraction
from tidings.document.structures.entries import entries_of
from tidings.document.structures.lists import ListItem, items_of
from tidings.document.structures.tables import Table, tables_of
from tidings.document.text.words import spans_of_chunk
from tidings.model.watch.interest import Expression, Interest
from tidings.record import dataclass, replace

THINGS = frozenset({"list", "table", "items"})
"""The change types on texts of things."""
FEW_WORDS = 6
"""A selected part that is one line of at most so many words is a single value, and compared without
masks.
"""

Span = tuple[int, int]


@dataclass(frozen=True, slots=True)
class NoiseView:
    """What an interest selects: a part of a page, and of it the words, or the texts of its lists,
    tables or entries (`kind`, all or number `ordinal`).
    """

    extraction: Extraction = WHOLE
    kind: str = "words"
    ordinal: int | None = None

    @property
    def name(self) -> str:
        """Return its name in the memory, empty for the words of the whole page."""
        if self.kind == "words" and self.extraction.is_whole:
            return ""
        return f"{self.kind}{self.ordinal or ''} {self.extraction.fingerprint}"

    def document(self, document: Document) -> Document | None:
        """Return its document, None if it is empty or a single value. Raise `RefusedError` if it
        cannot be extracted.
        """
        part = extract(document, self.extraction)
        if part.problem or part.textless or part.missing is not None or is_named(part):
            return None
        return part if self.kind == "words" else document_of(texts_of(self.kind, self.ordinal, part), part)


def view_of(interest: Interest, scope: Extraction) -> NoiseView:
    """Return the view of an interest on a part."""
    return NoiseView(scope, interest.kind, interest.ordinal) if interest.kind in THINGS else NoiseView(scope)


@lru_cache(maxsize=4_096)
def views_of(expression: Expression, extraction: Extraction) -> tuple[NoiseView, ...]:
    """Return the masked views of an expression, in the sentinel's selection."""
    aims = aims_of(aim_expression(expression, extraction))
    return tuple(dict.fromkeys(view_of(aim.interest, aim.scope) for aim in aims if looks_through(aim.interest)))


def is_named(part: Document) -> bool:
    """Return whether a part is a single value named by a selector."""
    return bool(part.extraction.selectors) and part.words <= FEW_WORDS and len(part.lines) <= 1


def texts_of(kind: str, ordinal: int | None, part: Document) -> list[str]:
    """Return the texts of the lists, tables or entries of a part."""
    match kind:
        case "list":
            return [item.text for item in items_of(part, ordinal)]
        case "table":
            return [cell for table in tables_of(part, ordinal) for row in table.rows for cell in row]
        case _:
            return [text for entry in entries_of(part) for text in (entry.title, entry.text)]


def document_of(texts: Sequence[str], part: Document) -> Document:
    """Return texts as a document of one line each; those without words are left out."""
    return Document(media="text", base=part.base, pieces=pieces_of([line for text in texts if (line := _line(text))]))


def put_back(
    kind: str,
    ordinal: int | None,
    pair: tuple[Document, Document],
    seen: tuple[Document, Document],
    spans: tuple[list[Span], list[Span]],
) -> Document:
    """Return the new part with noise replaced by the old words; `spans` are the tokens of noise in
    the two documents `seen`.

    Args:
        kind: The kind of part.
        ordinal: Its number among parts of this kind; None for all.
        pair: The old and the new part.
    """
    texts = texts_of(kind, ordinal, pair[1])
    lines = [number for number, text in enumerate(texts) if _line(text)]
    for gone, come in sorted(zip(*spans, strict=True), key=lambda both: both[1], reverse=True):
        for (old_line, old_span), (new_line, new_span) in zip(
            _cut_lines(seen[0], gone), _cut_lines(seen[1], come), strict=False
        ):
            number = lines[new_line]
            text, was = _line(texts[number]), seen[0].lines[old_line]
            start, end = _characters(text, new_span)
            first, last = _characters(was, old_span)
            texts[number] = f"{text[:start]}{was[first:last]}{text[end:]}"
    return _with_texts(kind, ordinal, pair[1], iter(texts))


def _line(text: str) -> str:
    return " ".join(text.split())


def _cut_lines(document: Document, span: Span) -> Iterator[tuple[int, Span]]:
    """Yield the lines of a range of tokens, each with its tokens within it."""
    start = 0
    for number, end in enumerate(document.line_ends):
        if (span[0] < end and span[1] > start) or start <= span[0] == span[1] <= end:
            yield number, (max(span[0] - start, 0), min(span[1], end) - start)
            if span[1] <= end:
                return
        start = end


def _characters(line: str, span: Span) -> Span:
    """Return the character positions of tokens `span` of a line."""
    places: list[Span] = []
    position = 0
    for chunk in line.split():
        position = line.index(chunk, position)
        places += [(position + start, position + end) for start, end in spans_of_chunk(chunk)]
        position += len(chunk)
    if span[0] >= len(places):
        return len(line), len(line)
    start = places[span[0]][0]
    return (start, start) if span[0] == span[1] else (start, places[min(span[1], len(places)) - 1][1])


def _with_texts(kind: str, ordinal: int | None, part: Document, texts: Iterator[str]) -> Document:
    """Return a part with the texts of its lists, tables or entries replaced."""
    other = replace(part)
    match kind:
        case "list":
            other.readings[kind, ordinal] = [
                ListItem(next(texts), item.id, item.link, item.is_ranked) for item in items_of(part, ordinal)
            ]
        case "table":
            other.readings[kind, ordinal] = [
                Table(table.columns, tuple(tuple(next(texts) for _ in row) for row in table.rows))
                for table in tables_of(part, ordinal)
            ]
        case _:
            other.readings[kind, None] = [
                replace(entry, title=next(texts), text=next(texts), plain="") for entry in entries_of(part)
            ]
    return other
