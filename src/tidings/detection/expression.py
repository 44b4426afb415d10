"""Expressions: AND, OR and NOT over the change types, on one pair of versions (sentinels_and_events.md §4.5).

OR: all parts that found something. AND: every positive part must find something, else there is no change. NOT inside AND: what it
names is taken out where a sibling contains it (any change contains words, links and images), else finding it is a veto. Parts are
evaluated on the same pair at the same time; nothing waits.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from tidings.detection.findings import narrowed, union
from tidings.detection.kinds import KINDS
from tidings.model.change import ChangeSet, Edit, ObjectCount
from tidings.model.sentinel import AllOf, AnyOf, Direction, Expression, Interest, Not

Compare = Callable[[str], tuple[ChangeSet, ...]]
"""From the name of a change type to its findings on the pair, one for each sort."""

Findings = tuple[ChangeSet, ...]


def evaluate(expression: Expression, compare: Compare) -> ChangeSet:
    """Return what an expression finds on one pair of versions; empty: no change."""
    return union(_findings(expression, compare))


def interests_of(expression: Expression) -> Iterator[Interest]:
    """Yield the leaves of an expression, from left to right."""
    match expression:
        case Interest():
            yield expression
        case Not(part):
            yield from interests_of(part)
        case AnyOf(parts) | AllOf(parts):
            for part in parts:
                yield from interests_of(part)


def digests_of(expression: Expression) -> frozenset[str]:
    """Return the names of the digests that decide: where all are equal the expression finds nothing."""
    return frozenset(name for interest in interests_of(expression) for name in KINDS[interest.kind].digests)


def spelled(expression: Expression) -> str:
    """Return an expression as the sentinel language writes it: `all links AND all images`."""
    match expression:
        case Interest():
            terms = f" <{', '.join(expression.terms)}>" if expression.terms else ""
            direction = f" {expression.direction}" if expression.direction else ""
            return f"{KINDS[expression.kind].spelled}{terms}{direction}"
        case Not(part):
            return f"NOT {_bracketed(part)}"
        case AnyOf(parts):
            return " OR ".join(spelled(part) for part in parts)
        case AllOf(parts):
            return " AND ".join(_bracketed(part) for part in parts)


def _bracketed(part: Expression) -> str:
    text = spelled(part)
    return f"({text})" if isinstance(part, (AnyOf, AllOf)) else text


def _findings(expression: Expression, compare: Compare) -> Findings:
    match expression:
        case Interest():
            found = (narrowed(finding, expression.direction) for finding in compare(expression.kind))
            return tuple(finding for finding in found if finding)
        case AnyOf(parts):
            return tuple(finding for part in parts for finding in _findings(part, compare))
        case AllOf(parts):
            return _all_of(parts, compare)
        case Not():  # alone it would tell every quiet look; the language refuses it (E26)
            return ()


def _all_of(parts: Sequence[Expression], compare: Compare) -> Findings:
    positive = [part for part in parts if not isinstance(part, Not)]
    negative = [part.part for part in parts if isinstance(part, Not)]
    found = [_findings(part, compare) for part in positive]
    for unwanted in negative:
        holders = [number for number, part in enumerate(positive) if _contains(part, unwanted)]
        if not holders:
            if _findings(unwanted, compare):
                return ()
            continue
        for number in holders:
            found[number] = _without(found[number], unwanted)
    return tuple(finding for findings in found for finding in findings) if all(found) else ()


def _contains(whole: Expression, part: Expression) -> bool:
    """Return whether every change of `part` is of a type that `whole` watches."""
    watched = frozenset(name for interest in interests_of(whole) for name in KINDS[interest.kind].contains)
    return all(interest.kind in watched for interest in interests_of(part))


def _without(findings: Findings, unwanted: Expression) -> Findings:
    for interest in interests_of(unwanted):
        unwanted_kinds = KINDS[interest.kind].contains
        findings = tuple(
            _taken_out(finding, interest.direction) if finding.kinds[0] in unwanted_kinds else finding
            for finding in findings
        )
    return tuple(finding for finding in findings if finding)


def _taken_out(finding: ChangeSet, direction: Direction | None) -> ChangeSet:
    """Return a finding of one sort without what goes in a direction (None: all of it)."""
    if direction is None:
        return ChangeSet()
    gone = narrowed(finding, direction)
    edits: set[Edit] = set(gone.edits)
    rows: set[ObjectCount] = set(gone.objects)
    left = replace(
        finding,
        edits=tuple(edit for edit in finding.edits if edit not in edits),
        objects=tuple(row for row in finding.objects if row not in rows),
        inserted=() if direction == "inserted" else finding.inserted,
        deleted=() if direction == "deleted" else finding.deleted,
        updated=() if edits else finding.updated,
        moved=() if edits else finding.moved,
    )
    return left or ChangeSet()
