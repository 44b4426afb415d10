"""Aims: the part of a page that each interest of an expression selects (sentinels §4.1: extraction
node).

An interest applies its own selector within the sentinel's selection. What NOT selects is removed
from the page for the siblings that contain it: `any change AND NOT any change in css ".clock"` is
any change of the page without its clock.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache

from tidings.detection.kinds.registry import KINDS, STRUCTURED, row_of, terms_of
from tidings.document.select.extraction import Extraction
from tidings.model.watch.interest import AllOf, AnyOf, Expression, Interest, Not
from tidings.record import dataclass, replace

MOST_TERMS = 16
"""The most keywords of one interest with digests of their own; beyond that, the text's digest
decides.
"""


@dataclass(frozen=True, slots=True)
class Aim:
    """One interest and the part of a page that it selects."""

    interest: Interest
    scope: Extraction


@dataclass(frozen=True, slots=True)
class Either:
    """OR."""

    parts: tuple[Aimed, ...]


@dataclass(frozen=True, slots=True)
class Both:
    """AND: all of `positive` must have findings; `negative` is subtracted, or a veto."""

    positive: tuple[Aimed, ...]
    negative: tuple[Aimed, ...]


Aimed = Aim | Either | Both


@lru_cache(maxsize=4_096)
def aim_expression(expression: Expression, extraction: Extraction) -> Aimed:
    """Return an expression with the part of a page that each interest selects; `extraction` is the
    sentinel's selection.
    """
    match expression:
        case Interest():
            part = extraction.within(expression.selector)
            return Aim(expression, replace(part, transform=(*part.transform, *expression.steps)))
        case AnyOf(parts):
            return Either(tuple(aim_expression(part, extraction) for part in parts))
        case AllOf(parts):
            return _both(parts, extraction)
        case Not():  # alone it would report every quiet poll; the language refuses it (E26)
            return Either(())


def aims_of(aim: Aimed) -> Iterator[Aim]:
    """Yield the leaves, from left to right."""
    match aim:
        case Aim():
            yield aim
        case Either(parts):
            for part in parts:
                yield from aims_of(part)
        case Both(positive, negative):
            for part in (*positive, *negative):
                yield from aims_of(part)


def positive_of(aim: Aimed) -> list[Aim]:
    """Return the positive leaves: those not under NOT."""
    match aim:
        case Aim():
            return [aim]
        case Either(parts) | Both(parts):
            return [one for part in parts for one in positive_of(part)]


@lru_cache(maxsize=4_096)
def scopes_of(expression: Expression, extraction: Extraction) -> tuple[Extraction, ...]:
    """Return the parts of a page that an expression selects, in the order of their tokens."""
    return tuple(dict.fromkeys(aim.scope for aim in aims_of(aim_expression(expression, extraction)))) or (extraction,)


@lru_cache(maxsize=4_096)
def digests_in(expression: Expression, extraction: Extraction, scope: Extraction) -> frozenset[str]:
    """Return the names of the digests that decide in one of these parts: if all are equal, there
    are no findings.
    """
    aims = aims_of(aim_expression(expression, extraction))
    return frozenset(name for aim in aims if aim.scope == scope for name in _digests(aim.interest))


def _digests(interest: Interest) -> Iterator[str]:
    terms = terms_of(interest)
    if len(terms) > MOST_TERMS:
        yield from KINDS[interest.kind].digests
        return
    for term in terms:
        yield from row_of(interest, term).digests


@lru_cache(maxsize=4_096)
def scopes_of_items(expression: Expression, extraction: Extraction) -> tuple[Extraction, ...]:
    """Return the parts of a page whose entries an expression selects (`items`)."""
    aims = aims_of(aim_expression(expression, extraction))
    return tuple(dict.fromkeys(aim.scope for aim in aims if aim.interest.kind == "items"))


@lru_cache(maxsize=4_096)
def needs_nodes(expression: Expression, extraction: Extraction) -> bool:
    """Return whether the parsed page is needed, because parts of it or things in it are
    selected.
    """
    aims = list(aims_of(aim_expression(expression, extraction)))
    return any(not aim.scope.is_whole or aim.interest.kind in STRUCTURED for aim in aims)


def _both(parts: Sequence[Expression], extraction: Extraction) -> Both:
    positive = [part for part in parts if not isinstance(part, Not)]
    negative = [part.part for part in parts if isinstance(part, Not)]
    scopes = [extraction] * len(positive)
    vetoes: list[Expression] = []
    for unwanted in negative:
        holders = [number for number, part in enumerate(positive) if _holds(part, unwanted)]
        if not holders or not isinstance(unwanted, Interest) or unwanted.selector is None:
            vetoes.append(unwanted)
            continue
        for number in holders:
            scopes[number] = scopes[number].without(unwanted.selector)
    return Both(
        tuple(aim_expression(part, scope) for part, scope in zip(positive, scopes, strict=True)),
        tuple(aim_expression(part, extraction) for part in vetoes),
    )


def _holds(whole: Expression, unwanted: Expression) -> bool:
    """Return whether a part under NOT can be removed from the part of another interest."""
    if not isinstance(unwanted, Interest) or unwanted.selector is None or not isinstance(whole, (Interest, AnyOf)):
        return False
    if unwanted.terms or unwanted.direction or unwanted.where:
        return False
    watched = (whole,) if isinstance(whole, Interest) else whole.parts
    return any(
        isinstance(one, Interest) and one.selector != unwanted.selector and unwanted.kind in KINDS[one.kind].contains
        for one in watched
    )
