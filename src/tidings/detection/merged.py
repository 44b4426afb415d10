"""Two versions in one text: stretches of a page with what went and what came where it stood (004 §5.5, single and dual frame).

A stretch is some changes that are near one another, with the words around them; what lies between stretches is left out and counted.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import pairwise

from tidings.detection.aims import needs_nodes, scopes_of
from tidings.detection.examiner import parsed
from tidings.detection.expression import evaluate
from tidings.detection.healing import use
from tidings.detection.job import Body, Target
from tidings.detection.pair import Pair
from tidings.document.chosen import RefusedError
from tidings.document.document import Document
from tidings.document.extraction import Extraction
from tidings.model.change import Edit
from tidings.model.sentinel import Expression

AROUND = 12
"""Words that are shown before and after a change."""

Piece = tuple[str, str]
"""`same`, `deleted`, `inserted` or `moved`, and the words."""


def merge_bodies(
    old: Body, new: Body, expression: Expression, extraction: Extraction, targets: Sequence[Target] = ()
) -> tuple[tuple[Piece, ...], ...]:
    """Return the stretches of two bodies around the words that changed for an expression.

    None if they cannot be compared, if no words changed, or if the expression looks at several parts of the page.
    """
    scopes = scopes_of(expression, extraction)
    before, after = (parsed(body, keep_tree=needs_nodes(expression, extraction)) for body in (old, new))
    use(before, targets)
    use(after, targets)
    if before.problem or after.problem or len(scopes) != 1:
        return ()
    whole = Pair(before, after)
    try:
        found, pair = evaluate(expression, whole, extraction), whole.part(scopes[0])
    except RefusedError:
        return ()
    return merge(pair.old, pair.new, found.edits)


def merge(old: Document, new: Document, edits: Iterable[Edit]) -> tuple[tuple[Piece, ...], ...]:
    """Return the stretches of two documents around edits of their words."""
    ordered = sorted(_once(edits), key=lambda edit: (edit.new_start, edit.old_start))
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


def _once(edits: Iterable[Edit]) -> list[Edit]:
    """Return edits without those of words that another edit has too: where words and a keyword among them are watched, both tell it."""
    found = list(edits)
    gone = _outermost((edit for edit in found if edit.op != "insert"), lambda edit: (edit.old_start, edit.old_end))
    come = _outermost((edit for edit in found if edit.op != "delete"), lambda edit: (edit.new_start, edit.new_end))
    return [edit for edit in found if edit.op in {"replace", "move"} or edit in (gone if edit.op == "delete" else come)]


def _outermost(edits: Iterable[Edit], span: Callable[[Edit], tuple[int, int]]) -> set[Edit]:
    """Return edits whose words lie in no other edit; of two with the same words the one that replaces them."""
    kept: set[Edit] = set()
    until = -1
    for edit in sorted(edits, key=lambda one: (span(one)[0], -span(one)[1], one.op in {"insert", "delete"})):
        if span(edit)[1] > until:
            kept.add(edit)
            until = span(edit)[1]
    return kept


def _stretch(old: Document, new: Document, edits: list[Edit], shown: int) -> tuple[tuple[Piece, ...], int]:
    """Return a stretch, and the word of the new version up to which it goes; `shown` words were shown before it."""
    at = max(shown, edits[0].new_start - AROUND)
    until = min(len(new.tokens), edits[-1].new_end + AROUND)
    pieces: list[Piece] = [("same", f"… ({at - shown:,} word{'' if at - shown == 1 else 's'})")] if at > shown else []
    for edit in edits:
        pieces.append(("same", new.shown(at, edit.new_start)))
        if edit.op == "move":
            pieces.append(("moved", new.shown(edit.new_start, edit.new_end)))
        else:
            pieces.append(("deleted", old.shown(edit.old_start, edit.old_end)))
            pieces.append(("inserted", new.shown(edit.new_start, edit.new_end)))
        at = max(at, edit.new_end)
    pieces.append(("same", new.shown(at, until)))
    return tuple(piece for piece in pieces if piece[1]), until
