"""Things and lines that no version had before (`never seen before`), identified by hashes of their
texts.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise

import xxhash

from tidings.detection.data.items import MARK
from tidings.detection.find.findings import finding_of_edits, narrow
from tidings.detection.find.keyed import finding_of_things
from tidings.detection.kinds.aims import aim_expression, aims_of
from tidings.detection.kinds.interests import label_of
from tidings.detection.kinds.registry import row_of
from tidings.document.document import Document
from tidings.document.extract import extract
from tidings.document.select.extraction import Extraction
from tidings.document.structures.entries import entries_of
from tidings.model.observed.change import ChangeSet, Edit
from tidings.model.watch.interest import Expression, Interest

Line = tuple[int, int]
"""The tokens of a line."""


def is_asked(interest: Interest) -> bool:
    """Return whether an interest has the condition `never seen`."""
    return any(condition.measure == "never seen" for condition in interest.where)


def marks_of(expression: Expression, extraction: Extraction, document: Document) -> Iterator[str]:
    """Yield the marks of a version for an expression with the condition `never seen`.

    Raises `RefusedError` if a part cannot be extracted.

    Args:
        expression: The expression.
        extraction: The sentinel's selection on the page.
        document: The version.
    """
    for aim in aims_of(aim_expression(expression, extraction)):
        part = extract(document, aim.scope) if is_asked(aim.interest) else document
        if is_asked(aim.interest) and not (part.problem or part.textless or part.missing is not None):
            mark = marker(aim.interest)
            yield from map(mark, _texts(aim.interest, part))


def marker(interest: Interest) -> Callable[[str], str]:
    """Return the function that makes marks of the texts of an interest."""
    label = label_of(interest)
    return lambda text: xxhash.xxh3_64_hexdigest(f"{label}\x00{text}".encode("utf-8", "replace"))[:MARK]


def lines_never_seen(interest: Interest, known: frozenset[str], new: Document, found: ChangeSet) -> ChangeSet:
    """Return the changed lines that no version had before, each whole.

    Args:
        interest: The interest.
        known: The marks of earlier versions.
        new: The new version.
        found: The changes in its words.
    """
    mark = marker(interest)
    edits = [edit for edit in found.edits if edit.new_start < edit.new_end]
    told: list[Edit] = []
    for start, end in _lines(new):
        touching = [edit for edit in edits if edit.new_start < end and edit.new_end > start]
        if touching and mark(_write_line(new, (start, end))) not in known:
            told.append(Edit("insert", touching[0].old_end, touching[0].old_end, start, end))
    return finding_of_edits(tuple(told), Document(media=new.media), new) if told else ChangeSet()


def as_new(finding: ChangeSet) -> ChangeSet:
    """Return the insertions of a finding of things; an item with a text that no version had is new,
    not an update of another.
    """
    if finding.kinds != ("list",):
        return narrow(finding, "inserted")
    return finding_of_things("list", (), (*finding.inserted, *(new for _, new in finding.updated)), ())


def _texts(interest: Interest, part: Document) -> Iterator[str]:
    if interest.kind == "words":
        yield from (_write_line(part, line) for line in _lines(part))
    elif interest.kind == "items":
        yield from (entry.text for entry in entries_of(part))
    else:
        nothing = Document(media=part.media, base=part.base)
        found: Sequence[ChangeSet] = row_of(interest, "").compare(nothing, part)
        yield from (row.object for one in found for row in one.objects if row.new > row.old)


def _lines(document: Document) -> Iterator[Line]:
    yield from (line for line in pairwise((0, *document.line_ends)) if line[0] < line[1])


def _write_line(document: Document, line: Line) -> str:
    return " ".join(document.tokens[line[0] : line[1]])
