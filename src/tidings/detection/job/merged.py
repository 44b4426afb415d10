"""Two versions merged into one text: passages with deletions and insertions in place (004 §5.5,
single and dual frame).

A passage is a group of nearby changes, with the words around them; the text between passages is
left out and counted.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import pairwise
from typing import NamedTuple

from tidings.detection.ask.expression import evaluate
from tidings.detection.ask.pair import Pair
from tidings.detection.job.contract import Body, Target
from tidings.detection.job.examiner import parse_body
from tidings.detection.job.selectors import use
from tidings.detection.kinds.aims import needs_nodes, scopes_of
from tidings.document.document import Document
from tidings.document.select.chosen import RefusedError
from tidings.document.select.extraction import Extraction
from tidings.model.observed.change import ChangeSet, Edit
from tidings.model.watch.sentinel import Expression

AROUND = 12
"""Words shown before and after a change."""

Piece = tuple[str, str]
"""`same`, `deleted`, `inserted` or `moved`, and the words."""


def merge_bodies(
    old: Body, new: Body, expression: Expression, extraction: Extraction, targets: Sequence[Target] = ()
) -> tuple[tuple[Piece, ...], ...]:
    """Return the passages of two bodies around the words that changed for an expression.

    None if they cannot be compared, if no words changed, or if the expression selects several parts
    of the page.

    Args:
        old: The old body.
        new: The new body.
        expression: What is asked for.
        extraction: Which part of the page.
        targets: The replacements of lost selectors.
    """
    seen = compare_one_part(old, new, expression, extraction, targets)
    return () if seen is None else merge(seen[1].old, seen[1].new, seen[0].edits)


def compare_one_part(
    old: Body,
    new: Body,
    expression: Expression,
    extraction: Extraction,
    targets: Sequence[Target] = (),
    found: ChangeSet | None = None,
) -> tuple[ChangeSet, Pair] | None:
    """Return the findings of an expression between two bodies, and the part of them whose words its
    edits index.

    None if they cannot be compared, or if the expression selects several parts of the page.

    Args:
        old: The body before.
        new: The body now.
        expression: The expression.
        extraction: The sentinel's selection.
        targets: The replacements of lost selectors.
        found: The findings stored with the change, without its noise; None to compare now.
    """
    scopes = scopes_of(expression, extraction)
    before, after = (parse_body(body, keep_tree=needs_nodes(expression, extraction)) for body in (old, new))
    use(before, targets)
    use(after, targets)
    if before.problem or after.problem or len(scopes) != 1:
        return None
    whole = Pair(before, after)
    try:
        return evaluate(expression, whole, extraction) if found is None else found, whole.part(scopes[0])
    except RefusedError:
        return None


def merge(old: Document, new: Document, edits: Iterable[Edit]) -> tuple[tuple[Piece, ...], ...]:
    """Return the passages of two documents around edits of their words."""
    ordered = _of_whole_numbers(old, new, sorted(_once(edits), key=lambda edit: (edit.new_start, edit.old_start)))
    groups: list[list[Edit]] = []
    for before, edit in pairwise([None, *ordered]):
        if before is not None and edit is not None and edit.new_start - before.new_end <= 2 * AROUND:
            groups[-1].append(edit)
        elif edit is not None:
            groups.append([edit])
    stretches, shown = [], 0
    for group in groups:
        stretch, until = _stretch(old, new, group, shown)
        stretches.append(stretch)
        shown = until
    return tuple(stretches)


def _of_whole_numbers(old: Document, new: Document, edits: Sequence[Edit]) -> list[Edit]:
    """Return edits (in order) extended to whole numbers: one that changes a part of a number covers
    all of it, and several are merged.
    """
    found: list[Edit] = []
    behind = _cut_edits(old, new, None, edits[0] if edits else None)
    for place, edit in enumerate(edits):
        before, behind = behind, _cut_edits(old, new, edit, edits[place + 1] if place + 1 < len(edits) else None)
        is_joined = before.is_all and bool(found)
        first = found.pop() if is_joined else edit
        lead = 0 if is_joined else before.right
        wide = (
            first.old_start - lead, edit.old_end + behind.left, first.new_start - lead, edit.new_end + behind.left,
        )  # fmt: skip
        is_same = wide == (edit.old_start, edit.old_end, edit.new_start, edit.new_end)
        found.append(edit if is_same else Edit("replace", *wide))
    return found


class _CutOff(NamedTuple):
    """How many unchanged words at the `left` and at the `right` of a gap belong to numbers that the
    adjacent edits cut.
    """

    left: int = 0
    right: int = 0
    is_all: bool = False
    """whether no word is left between two edits, which are then merged"""


def _cut_edits(old: Document, new: Document, before: Edit | None, behind: Edit | None) -> _CutOff:
    """Return what edits cut off the text between them (None: the start or end of the page)."""
    was, now = (before.old_end, before.new_end) if before else (0, 0)
    until, end = (behind.old_start, behind.new_start) if behind else (len(old.tokens), len(new.tokens))
    length = end - now
    if until - was != length or "move" in {edit.op for edit in (before, behind) if edit}:
        return _CutOff()
    left = right = 0
    while before and left < length and (_is_cut(old, was + left) or _is_cut(new, now + left)):
        left += 1
    while behind and right < length - left and (_is_cut(old, until - right) or _is_cut(new, end - right)):
        right += 1
    is_all = left + right == length and (length > 0 or _is_cut(old, was) or _is_cut(new, now))
    return _CutOff(left, right, is_all and before is not None and behind is not None)


def _is_cut(document: Document, token: int) -> bool:
    """Return whether a token continues the number of the token before it."""
    return 0 < token < len(document.tokens) and document.whole(token, token + 1)[0] < token


def _once(edits: Iterable[Edit]) -> list[Edit]:
    """Return edits without those inside others: if words and a keyword among them are watched, both
    report it.
    """
    found = list(edits)
    gone = _outermost((edit for edit in found if edit.op != "insert"), lambda edit: (edit.old_start, edit.old_end))
    come = _outermost((edit for edit in found if edit.op != "delete"), lambda edit: (edit.new_start, edit.new_end))
    return [edit for edit in found if edit.op in {"replace", "move"} or edit in (gone if edit.op == "delete" else come)]


def _outermost(edits: Iterable[Edit], span: Callable[[Edit], tuple[int, int]]) -> set[Edit]:
    """Return edits whose words lie in no other edit; of two with the same words the replace."""
    outermost: set[Edit] = set()
    until = -1
    for edit in sorted(edits, key=lambda one: (span(one)[0], -span(one)[1], one.op in {"insert", "delete"})):
        if span(edit)[1] > until:
            outermost.add(edit)
            until = span(edit)[1]
    return outermost


def _stretch(old: Document, new: Document, edits: list[Edit], shown: int) -> tuple[tuple[Piece, ...], int]:
    """Return a passage, and the word of the new version at which it ends; `shown` words were shown
    before it.
    """
    at = max(shown, edits[0].new_start - AROUND)
    until = min(len(new.tokens), edits[-1].new_end + AROUND)
    pieces: list[Piece] = [("same", f"… ({at - shown:,} word{'' if at - shown == 1 else 's'})")] if at > shown else []
    for edit in edits:
        pieces.append(("same", new.as_written.get_text(at, edit.new_start)))
        if edit.op == "move":
            pieces.append(("moved", new.as_written.get_text(edit.new_start, edit.new_end)))
        else:
            pieces.append(("deleted", old.as_written.get_text(edit.old_start, edit.old_end)))
            pieces.append(("inserted", new.as_written.get_text(edit.new_start, edit.new_end)))
        at = max(at, edit.new_end)
    pieces.append(("same", new.as_written.get_text(at, until)))
    return tuple(piece for piece in pieces if piece[1]), until
