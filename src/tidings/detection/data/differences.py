"""Differences: places of two versions of data (JSON, XML, CSV) that are not the same, each with its path, and the finding they make.

They are told as changes of words: a difference covers the words that stand at its place, so that keywords in it can be taken out, conditions
count its words and every view finds it in the text. What people read is the path with the value as it was and as it is.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

from tidings.document.document import Document
from tidings.document.text.canonical import canonical_text
from tidings.model.observed.change import ChangeSet, Edit

MOST_DIFFERENCES = 20_000
"""With more differences than this the whole is told as one: nobody reads them one by one."""

DEEPEST = 40
"""How deep a difference is named by its path; what lies deeper is told as the value or element that holds it."""

LONGEST = 4_000
"""Characters of a value that are kept to be read."""

LONGEST_COMPARED = 300_000
"""Characters of two values that are looked at to find where they part."""

_LONGEST_PATH = 400
_LONG = 400
_LEAD = 40
_SURROGATE = re.compile("[\ud800-\udfff]")

Span = tuple[int, int]


class TooManyError(Exception):
    """There are more differences than `MOST_DIFFERENCES`, or they cannot be found in bounded time: the whole is told as one."""


@dataclass(frozen=True, slots=True)
class Difference:
    """What is not the same at one place.

    `path` is the place as people name it, `old` and `new` what stands there, None where there is no such place. `gone` and `come` are the
    pieces of the two documents that hold it (start, end); where there is no such place, an empty span where it would be. What is at
    another place among its neighbours, and else the same, `is_moved`.
    """

    path: str
    old: str | None
    new: str | None
    gone: Span
    come: Span
    is_moved: bool = False

    def texts(self) -> tuple[str, str]:
        """Return what people read of both sides, empty for one that is not there: the path and what stands there.

        Of two long texts that begin alike, what they say from a little before they part.
        """
        old, new = self.old or "", self.new or ""
        if self.old is not None and self.new is not None and not self.is_moved:
            old, new = _from_where_they_part(old, new)
        path = self.path if len(self.path) <= _LONGEST_PATH else f"…{self.path[1 - _LONGEST_PATH :]}"
        return _describe(path, old), _describe(path, new)


def _from_where_they_part(old: str, new: str) -> tuple[str, str]:
    if max(len(old), len(new)) <= _LONG:
        return old, new
    same = next((at for at, (a, b) in enumerate(zip(old, new, strict=False)) if a != b), min(len(old), len(new)))
    if old == new:
        return f"{old[:_LONG]}…", f"{new[:_LONG]}… (other after {len(new):,} characters)"
    start = max(0, old.rfind(" ", 0, max(0, same - _LEAD)) + 1)
    return (f"… {old[start:]}", f"… {new[start:]}") if start else (old, new)


def _describe(path: str, text: str) -> str:
    said = _SURROGATE.sub("\ufffd", f"{path}: {text[:LONGEST]}" if path and text else path or text[:LONGEST])
    return said if len(said) < LONGEST else f"{said[: LONGEST - 1].rstrip()}…"


class Differences:
    """Differences as they are found, so many at most."""

    def __init__(self) -> None:
        self.found: list[Difference] = []

    def add(self, difference: Difference) -> None:
        """Add one; raises `TooManyError`."""
        if len(self.found) >= MOST_DIFFERENCES:
            raise TooManyError
        self.found.append(difference)


def compare_arrangements(old: Document, new: Document) -> list[Difference]:
    """Return the one difference of two versions that have the same words, but not in the same places."""
    texts = [f"{document.words:,} words as {document.media}" for document in (old, new)]
    return [
        Difference("content", texts[0], f"{texts[1]}, arranged otherwise", (0, len(old.pieces)), (0, len(new.pieces)))
    ]


def finding_of_differences(
    differences: Sequence[Difference],
    old: Document,
    new: Document,
    unwanted: tuple[Sequence[Span], Sequence[Span]] = ((), ()),
) -> ChangeSet:
    """Return the finding of differences in the words of two documents; empty without any.

    Tokens in the spans of `unwanted` (of `old`, of `new`) mean nothing: where two values are the same but for them there is no difference.
    """
    places = (
        _TokenPlaces(old, (difference.gone for difference in differences)),
        _TokenPlaces(new, (difference.come for difference in differences)),
    )
    out = [{token for span in spans for token in range(*span)} for spans in unwanted]
    inserted: list[str] = []
    deleted: list[str] = []
    updated: list[tuple[str, str]] = []
    moved: list[str] = []
    edits: list[Edit] = []
    for one in differences:
        gone, come = places[0].tokens(one.gone), places[1].tokens(one.come)
        if any(out) and _is_unwanted(old, gone, new, come, (out[0], out[1])):
            continue
        before, after = one.texts()
        if one.is_moved:
            moved.append(after)
            edits.append(Edit("move", *gone, *come))
        elif one.old is None:
            inserted.append(after)
            edits.append(Edit("insert", *gone, *come))
        elif one.new is None:
            deleted.append(before)
            edits.append(Edit("delete", *gone, *come))
        else:
            updated.append((before, after))
            edits.append(Edit("replace", *gone, *come))
    return ChangeSet(
        kinds=("words",) if edits else (),
        inserted=tuple(inserted),
        deleted=tuple(deleted),
        updated=tuple(updated),
        moved=tuple(moved),
        edits=tuple(sorted(edits, key=lambda edit: (edit.old_start, edit.new_start))),
    )


class _TokenPlaces:
    """Which tokens of a document some of its pieces hold, for many spans in one pass over the text."""

    def __init__(self, document: Document, spans: Iterable[Span]) -> None:
        self._before = {0: 0}
        count = at = 0
        for border in sorted({border for span in spans for border in span} - {0}):
            text = canonical_text("".join(document.pieces[at:border]))
            count += text.count(b" ") + 1 if text else 0
            self._before[border] = count
            at = border

    def tokens(self, span: Span) -> Span:
        return self._before[span[0]], self._before[span[1]]


def _is_unwanted(
    old: Document, gone: Span, new: Document, come: Span, unwanted: tuple[Collection[int], Collection[int]]
) -> bool:
    """Return whether the words of a place are the same but for those that are unwanted, of which it has some."""
    before, after = _list_left(old, gone, unwanted[0]), _list_left(new, come, unwanted[1])
    return before == after and len(before) + len(after) < gone[1] - gone[0] + come[1] - come[0]


def _list_left(document: Document, span: Span, unwanted: Collection[int]) -> list[str]:
    return [document.tokens[at] for at in range(*span) if at not in unwanted]
