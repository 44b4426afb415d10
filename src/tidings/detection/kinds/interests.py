"""Interests: the leaves of an expression, and its part for one page of its sentinel (sentinels
§4.5).

Nothing here parses pages, so the service can use it too.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

from tidings.model.watch.interest import ON_PAGE, AllOf, AnyOf, Expression, Interest, Not

ANSWERED = frozenset({"status", "header"})
"""Change types on the answer to a request, not on the content of versions."""
_THROUGH = frozenset({"any", "words", "links", "images", "list", "table", "items"})
LONGEST: Final = 160
"""The longest text that is shown, in characters."""
TERMS_SHOWN: Final = 3
"""The most terms in a label."""


class Subject(NamedTuple):
    """What one comparison is about: a page by its name (None: each), by its content or its
    answer.
    """

    page: str | None
    is_answer: bool


def subjects_of(expression: Expression) -> frozenset[Subject]:
    """Return what must be compared to decide an expression; if there are several, none decides it
    alone.
    """
    return frozenset(Subject(one.of, one.kind in ANSWERED) for one in interests_of(expression))


def on_page(expression: Expression, page: str | None) -> Expression | None:
    """Return the part of an expression for one page of its sentinel, None if there is none; `page`
    is the page's name there.

    An interest without `of` applies to every page. Parts joined with those of other pages stand
    alone here: the caller combines the changes of each page. So do parts under NOT: `any change of
    A AND NOT any change of B` is a change of B on B.
    """
    match expression:
        case Interest():
            return expression if expression.of in {None, page} else None
        case Not(part):
            found = on_page(part, page)
            return None if found is None else Not(found)
        case AnyOf(parts):
            return _join(AnyOf, [on_page(part, page) for part in parts])
        case AllOf(parts):
            return _join(AllOf, [on_page(part, page) for part in parts])


def is_across(expression: Expression) -> bool:
    """Return whether an AND joins parts of several pages, or content with an answer: no single
    comparison decides it.
    """
    match expression:
        case Interest():
            return False
        case Not(part):
            return is_across(part)
        case AnyOf(parts):
            return any(map(is_across, parts))
        case AllOf(parts):
            return len(subjects_of(expression)) > 1 or any(map(is_across, parts))


def uses_masks(interest: Interest) -> bool:
    """Return whether an interest uses masks; others are explicit, by their type or a condition."""
    return interest.kind in _THROUGH and all(
        condition.measure in {*ON_PAGE, "never seen"} for condition in interest.where
    )


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


def _join(form: type[AnyOf | AllOf], parts: Sequence[Expression | None]) -> Expression | None:
    left = tuple(part for part in parts if part is not None)
    if not any(not isinstance(part, Not) for part in left):
        left = tuple(part.part if isinstance(part, Not) else part for part in left)
        form = AnyOf
    return left[0] if len(left) == 1 else form(left) if left else None


def label_of(interest: Interest) -> str:
    """Return the label of an interest, in words of the language: `table 2 in css "#results"`."""
    what = {"any": "text", "words": "text"}.get(interest.kind, interest.kind)
    if interest.terms:
        what = f"{what} {', '.join(f'{chr(34)}{term}{chr(34)}' for term in interest.terms[:TERMS_SHOWN])}"
    if interest.pattern:
        what = f'{what} "{interest.pattern}"'
    if interest.ordinal is not None:
        what = f"{what} {interest.ordinal}"
    if interest.column:
        what = f'{what} column "{interest.column}"'
    if interest.steps:
        what = f"{what} {' '.join(f'{step.verb} {chr(34)}{step.match}{chr(34)}' for step in interest.steps)}"
    if interest.selector is not None:
        what = f'{what} in {interest.selector.language} "{interest.selector.text}"'
    return what[:LONGEST]
