"""Conditions that a change must meet to be reported (`where`, sentinels §1.3;
`model.interest.Condition`).

If the change is a list of things (links, rows, items, entries, matches), conditions on texts filter
the reported ones, and the others apply to what is left. Words are counted one by one, everything
else per object. If a run of words became another, the old ones were deleted and the new ones
inserted, and the longer run is what changed; an updated thing changed and was neither. `never seen
before` identifies things and lines by hashes of their texts.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from decimal import Decimal
from itertools import pairwise

import xxhash

from tidings.detection.data.items import MARK, Items
from tidings.detection.data.price import is_state, prices
from tidings.detection.data.tabular import read_cell
from tidings.detection.find.findings import choose_things, finding_of_edits, finding_of_things, narrow
from tidings.detection.find.numerals import INFINITE, holds_of_numbers, number_in, stands, values
from tidings.detection.kinds.aims import aim_expression, aims_of
from tidings.detection.kinds.interests import label_of
from tidings.detection.kinds.number import numbers
from tidings.detection.kinds.registry import row_of
from tidings.document.document import Document
from tidings.document.extract import extract
from tidings.document.html.lines import is_found
from tidings.document.select.extraction import Extraction
from tidings.document.structures.entries import entries_of
from tidings.document.text.words import fold, plain
from tidings.model.observed.change import ChangeSet, Edit
from tidings.model.watch.interest import ON_TEXTS, Condition, Direction, Expression, Interest
from tidings.record import dataclass

_WHOLE_TEXT = 1 << 62
_TEXTS = frozenset({"words", "phrases", "number"})
_ON_THINGS = frozenset({*ON_TEXTS, "never seen"})
_ON_NUMBERS = frozenset({"value", "becomes", "changes", "rises", "drops"})
LISTED = frozenset({"links", "images", "table", "list", "regex", "items"})
"""Change types whose changes are lists of things."""


@dataclass(frozen=True, slots=True)
class Seen:
    """The findings of one interest in one part of a page, in all directions; `size` counts the
    objects of its type.
    """

    old: Document
    new: Document
    findings: Sequence[ChangeSet]
    size: Callable[[Document], int]
    known: frozenset[str] = frozenset()
    """marks of entries that existed before (`items`)"""
    page: Document | None = None
    """the whole page now; None: that is `new`"""
    nth: int = 1
    """which number of the text conditions are about"""


def hold(conditions: Sequence[Condition], seen: Sequence[Seen], direction: Direction | None) -> bool:
    """Return whether all conditions hold of the findings of an interest in all parts of a page
    together.
    """
    return all(_holds(condition, seen, direction) for condition in conditions)


def choose(interest: Interest, seen: Seen) -> Sequence[ChangeSet]:
    """Return the findings of an interest, of a list of things those for which all conditions on
    texts hold.
    """
    asked = [condition for condition in interest.where if _filters(condition, interest)]
    is_new = is_asked(interest)
    if is_new and interest.kind == "words" and not (seen.old.textless or seen.new.textless):
        lines = (lines_never_seen(interest, seen.known, seen.new, finding) for finding in seen.findings)
        return tuple(finding for finding in lines if finding)
    if interest.kind not in LISTED or not asked:
        return seen.findings
    mark = marker(interest)
    was_of = {new: old for finding in seen.findings for old, new in finding.updated} if interest.column else {}

    def fits(condition: Condition, text: str) -> bool:
        if condition.measure == "never seen":
            return mark(text) not in seen.known
        if condition.relation is None:
            return is_stated(condition, (text,))
        return holds_of_numbers(
            condition, *values(*(number_in(read_cell(one)) for one in (was_of.get(text, ""), text)))
        )

    def is_meant(text: str) -> bool:
        return all(fits(condition, text) for condition in asked)

    found = _choose(interest, seen, is_meant)
    return tuple(one for finding in found if (one := as_new(finding))) if is_new else found


def _choose(interest: Interest, seen: Seen, is_meant: Callable[[str], bool]) -> Sequence[ChangeSet]:
    if interest.kind == "items" and not (seen.old.textless or seen.new.textless):
        return Items(seen.known).choose(seen.old, seen.new, interest.direction, is_meant)
    found = (choose_things(finding, interest.direction, is_meant) for finding in seen.findings)
    return tuple(finding for finding in found if finding)


def of_the_whole(interest: Interest) -> tuple[Condition, ...]:
    """Return the conditions on everything reported together, which do not filter single things."""
    if interest.kind not in LISTED:
        return interest.where
    return tuple(condition for condition in interest.where if not _filters(condition, interest))


def _filters(condition: Condition, interest: Interest) -> bool:
    """Return whether a condition is about single things: of texts, or of the cells of a column."""
    is_of_cells = interest.column and condition.measure in _ON_NUMBERS
    return condition.measure in _ON_THINGS or bool(is_of_cells)


def _holds(condition: Condition, seen: Sequence[Seen], direction: Direction | None) -> bool:
    match condition.measure:
        case "page has" | "page lacks":
            return is_stated(condition, ((one.page or one.new).text for one in seen))
        case "never seen":
            return any(one.findings for one in seen)  # things from earlier versions are already left out
        case "contains" | "is" if condition.text and _is_of_states(seen):
            states = [text for one in seen for text in _texts(one, direction)]
            return any(is_state(wanted, text) for wanted in condition.texts for text in states)
        case "contains" | "lacks" | "matches":
            return is_stated(condition, (text for one in seen for text in _texts(one, direction)))
        case "value" | "is" | "becomes" | "changes" | "rises" | "drops":
            return any(_holds_of_number(condition, one) for one in seen if one.findings)
        case _:
            return _holds_of_counts(condition, seen)


def _is_of_states(seen: Sequence[Seen]) -> bool:
    return any(finding.kinds == ("availability",) for one in seen for finding in one.findings)


def is_stated(condition: Condition, texts: Sequence[str] | Iterator[str]) -> bool:
    """Return whether one of the texts contains or matches what a condition asks for; of `lacks`,
    whether none contains it.
    """
    if condition.measure == "matches":
        return any(is_found(condition.text, text) for text in texts)
    wanted = [_fold(text) for text in condition.texts]
    has = any(one in folded for folded in map(_fold, texts) for one in wanted)
    return has != (condition.measure in {"lacks", "page lacks"})


def _fold(text: str) -> str:
    return fold(plain(" ".join(text.split())))


def _texts(seen: Seen, direction: Direction | None) -> Iterator[str]:
    """Yield the full texts that were inserted or updated (deleted, if that is meant); displayed
    texts may be cut.
    """
    for finding in seen.findings:
        if finding.edits and finding.kinds[0] in _TEXTS:
            for edit in finding.edits:
                if direction == "deleted":
                    yield seen.old.get_text(edit.old_start, edit.old_end, most=_WHOLE_TEXT)
                else:
                    yield seen.new.get_text(edit.new_start, edit.new_end, most=_WHOLE_TEXT)
        else:
            rows = finding.objects
            if direction == "deleted":
                yield from (row.object for row in rows if row.new < row.old)
                continue
            if direction != "updated":
                yield from (row.object for row in rows if row.new > row.old)
            if direction != "inserted":
                yield from (new for _, new in finding.updated)


def _holds_of_number(condition: Condition, seen: Seen) -> bool:
    is_price = any(finding.kinds == ("price",) for finding in seen.findings)
    was, now = prices(seen.old, seen.new) if is_price else numbers(seen.old, seen.new, seen.nth)
    return holds_of_numbers(condition, was, now)


def _holds_of_counts(condition: Condition, seen: Sequence[Seen]) -> bool:
    counts = [_count(finding) for one in seen for finding in one.findings]
    inserted, deleted, updated, changed = (
        (sum(column) for column in zip(*counts, strict=True)) if counts else (0, 0, 0, 0)
    )
    sizes = [(one.size(one.old), one.size(one.new)) for one in seen]
    before, after = sum(old for old, _ in sizes), sum(new for _, new in sizes)
    if condition.measure == "share":
        share = Decimal(inserted + deleted + 2 * updated) / max(before + after, 1)
        return stands(condition, min(share, Decimal(1)) * (100 if condition.is_percent else 1))
    number = Decimal({"inserted": inserted, "deleted": deleted}.get(condition.measure, changed))
    if condition.is_percent:
        number = number * 100 / before if before else (INFINITE if number else Decimal(0))
    return stands(condition, number)


def _count(finding: ChangeSet) -> tuple[int, int, int, int]:
    """Return how many objects were inserted, deleted, updated, and how many changed in all."""
    kind = finding.kinds[0]
    if kind == "words":
        lengths = [(edit.new_end - edit.new_start, edit.old_end - edit.old_start) for edit in finding.edits]
        return sum(new for new, _ in lengths), sum(old for _, old in lengths), 0, sum(map(max, lengths))
    if finding.edits and kind == "phrases":
        ops = [edit.op for edit in finding.edits]
        inserted, deleted, updated = ops.count("insert"), ops.count("delete"), ops.count("replace")
        return inserted, deleted, updated, inserted + deleted + updated
    inserted = sum(max(0, row.new - row.old) for row in finding.objects)
    deleted = sum(max(0, row.old - row.new) for row in finding.objects)
    updated = sum(row.old == row.new for row in finding.objects)
    return inserted, deleted, updated, inserted + deleted + updated


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
            yield from map(mark, _texts_of_part(aim.interest, part))


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
    new_lines: list[Edit] = []
    for start, end in _lines(new):
        touching = [edit for edit in edits if edit.new_start < end and edit.new_end > start]
        if touching and mark(_write_line(new, (start, end))) not in known:
            new_lines.append(Edit("insert", touching[0].old_end, touching[0].old_end, start, end))
    return finding_of_edits(tuple(new_lines), Document(media=new.media), new) if new_lines else ChangeSet()


def as_new(finding: ChangeSet) -> ChangeSet:
    """Return the insertions of a finding of things; an item with a text that no version had is new,
    not an update of another.
    """
    if finding.kinds != ("list",):
        return narrow(finding, "inserted")
    return finding_of_things("list", (), (*finding.inserted, *(new for _, new in finding.updated)), ())


def _texts_of_part(interest: Interest, part: Document) -> Iterator[str]:
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
