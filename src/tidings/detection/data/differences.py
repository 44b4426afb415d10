"""Differences between two versions of data (JSON, XML, CSV), each with its path, and the resulting
finding.

They are reported as changes of words: a difference covers the words at its place, so that keywords
in it can be excluded, conditions count its words and every view finds it in the text. People read
the path with the old and the new value.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence

from tidings.document.document import Document
from tidings.document.text.words import canonical_text
from tidings.model.observed.change import ChangeSet, Edit
from tidings.record import dataclass

MOST_DIFFERENCES = 20_000
"""With more differences the whole is reported as one: nobody reads them one by one."""

DEEPEST = 40
"""The deepest path; deeper differences are reported as the value or element that contains them."""

LONGEST = 4_000
"""The longest displayed value, in characters."""

LONGEST_COMPARED = 300_000
"""The most characters of two values that are searched for their first difference."""

_LONGEST_PATH = 400
_LONG = 400
_LEAD = 40
_SURROGATE = re.compile("[\ud800-\udfff]")

Span = tuple[int, int]


class TooManyError(Exception):
    """There are more differences than `MOST_DIFFERENCES`, or they cannot be found in bounded time:
    the whole is reported as one.
    """


@dataclass(frozen=True, slots=True)
class Difference:
    """A difference at one place.

    `path` names the place for people, `old` and `new` its content, None if the place does not
    exist. `gone` and `come` are the pieces of the two documents that hold it (start, end); if the
    place does not exist, an empty span where it would be. `is_moved`: it is otherwise the same at
    another place among its neighbours.
    """

    path: str
    old: str | None
    new: str | None
    gone: Span
    come: Span
    is_moved: bool = False

    def texts(self) -> tuple[str, str]:
        """Return the displayed texts of both sides, empty for a missing one: the path and the
        content.

        Of two long texts with a common start, they begin shortly before the first difference.
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
    text_of = _SURROGATE.sub("\ufffd", f"{path}: {text[:LONGEST]}" if path and text else path or text[:LONGEST])
    return text_of if len(text_of) < LONGEST else f"{text_of[: LONGEST - 1].rstrip()}…"


class Differences:
    """A bounded list of differences."""

    def __init__(self) -> None:
        self.found: list[Difference] = []

    def add(self, difference: Difference) -> None:
        """Add one. Raise `TooManyError` if there are too many."""
        if len(self.found) >= MOST_DIFFERENCES:
            raise TooManyError
        self.found.append(difference)


def compare_arrangements(old: Document, new: Document) -> list[Difference]:
    """Return the one difference of two versions with the same words in different places."""
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

    Tokens in the spans of `unwanted` (of `old`, of `new`) are ignored: values that differ only in
    them are equal.
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
    """Maps pieces of a document to tokens, for many spans in one pass over the text."""

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
    """Return whether the words of a place differ only in unwanted ones, of which it has some."""
    before, after = _list_left(old, gone, unwanted[0]), _list_left(new, come, unwanted[1])
    return before == after and len(before) + len(after) < gone[1] - gone[0] + come[1] - come[0]


def _list_left(document: Document, span: Span, unwanted: Collection[int]) -> list[str]:
    return [document.tokens[at] for at in range(*span) if at not in unwanted]
