"""Expressions: AND, OR and NOT over the change types, on one pair of versions (sentinels_and_events.md §4.5).

OR: all parts that found something. AND: every positive part must find something, else there is no change. NOT inside AND: what it
names is taken out where a sibling contains it (any change contains words, links and images; words contain keywords and phrases),
else finding it is a veto. Parts are evaluated on the same pair at the same time; nothing waits. Of a page with frames each member has its
pair, and what AND, OR and NOT join may lie in any of them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from tidings.detection.findings import narrowed, union
from tidings.detection.kinds import KINDS
from tidings.detection.pair import Pair
from tidings.detection.terms import distinct, words_of_term
from tidings.model.change import ChangeSet, Edit, ObjectCount
from tidings.model.sentinel import AllOf, AnyOf, Direction, Expression, Interest, Not

DIRECTIONS: tuple[Direction, ...] = ("inserted", "deleted", "updated")


@dataclass(frozen=True, slots=True)
class Part:
    """What one interest found of one sort, of one term if it has any.

    `whole` is all of it, `change` what is left of it in the direction and without what `unwanted` names; it was found on `pair`.
    """

    pair: Pair
    whole: ChangeSet
    direction: Direction | None
    term: str
    change: ChangeSet
    unwanted: tuple[Interest, ...] = ()

    @property
    def sort(self) -> str:
        """Return the change type that this is a change of: words, links, images, body, keywords, phrases."""
        return self.whole.kinds[0]


Parts = tuple[Part, ...]


def evaluate(expression: Expression, pair: Pair) -> ChangeSet:
    """Return what an expression finds on one pair of versions; empty: no change."""
    return union(part.change for part in _parts(expression, (pair,)))


def evaluate_each(expression: Expression, pairs: Sequence[Pair]) -> list[ChangeSet]:
    """Return what an expression finds on the pairs of the members of one page, for each of them."""
    found = _parts(expression, pairs)
    return [union(part.change for part in found if part.pair is pair) for pair in pairs]


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
            return _spelled(expression)
        case Not(part):
            return f"NOT {_bracketed(part)}"
        case AnyOf(parts):
            return " OR ".join(spelled(part) for part in parts)
        case AllOf(parts):
            return " AND ".join(_bracketed(part) for part in parts)


def _bracketed(part: Expression) -> str:
    text = spelled(part)
    return f"({text})" if isinstance(part, (AnyOf, AllOf)) else text


def _spelled(interest: Interest) -> str:
    words = [KINDS[interest.kind].spelled]
    if len(interest.terms) == 1:
        quoted = interest.terms[0].replace("\\", "\\\\").replace('"', '\\"')
        words = [words[0].removesuffix("s"), f'"{quoted}"']
    elif interest.terms:
        words.append(f"<{', '.join(interest.terms)}>")
    return " ".join([*words, *([interest.direction] if interest.direction else [])])


def _parts(expression: Expression, pairs: Sequence[Pair]) -> Parts:
    match expression:
        case Interest():
            return tuple(part for pair in pairs for part in _parts_of(expression, pair))
        case AnyOf(parts):
            return tuple(part for one in parts for part in _parts(one, pairs))
        case AllOf(parts):
            return _all_of(parts, pairs)
        case Not():  # alone it would tell every quiet look; the language refuses it (E26)
            return ()


def _parts_of(interest: Interest, pair: Pair) -> Iterator[Part]:
    for term in distinct(interest.terms) or ("",):
        for finding in pair.compare(interest.kind, term):
            if change := narrowed(finding, interest.direction):
                yield Part(pair, finding, interest.direction, term, change)


def _all_of(parts: Sequence[Expression], pairs: Sequence[Pair]) -> Parts:
    positive = [part for part in parts if not isinstance(part, Not)]
    negative = [part.part for part in parts if isinstance(part, Not)]
    found = [_parts(part, pairs) for part in positive]
    for unwanted in negative:
        holders = [number for number, part in enumerate(positive) if _contains(part, unwanted)]
        if not holders:
            if _parts(unwanted, pairs):
                return ()
            continue
        for number in holders:
            found[number] = _without(found[number], unwanted)
    return tuple(part for parts in found for part in parts) if all(found) else ()


def _contains(whole: Expression, part: Expression) -> bool:
    """Return whether every change of `part` is of a type that `whole` watches, and of terms that it watches."""
    return all(any(_covers(watched, interest) for watched in interests_of(whole)) for interest in interests_of(part))


def _covers(watched: Interest, interest: Interest) -> bool:
    if not watched.terms:
        return interest.kind in KINDS[watched.kind].contains
    return watched.kind == interest.kind and _words(interest) <= _words(watched)


def _words(interest: Interest) -> frozenset[tuple[str, ...]]:
    return frozenset(map(words_of_term, distinct(interest.terms)))


def _without(parts: Parts, unwanted: Expression) -> Parts:
    left = (_less(part, (*part.unwanted, *interests_of(unwanted))) for part in parts)
    return tuple(part for part in left if part.change)


def _less(part: Part, unwanted: tuple[Interest, ...]) -> Part:
    """Return a part without all changes that the unwanted interests name: terms among words first, then whole types."""
    whole = part.whole
    if part.sort == "words":
        whole = _without_terms(whole, unwanted, part.pair)
    for interest in unwanted:
        if whole and _is_about(interest, part):
            whole = _taken_out(whole, interest.direction)
    return replace(part, unwanted=unwanted, change=narrowed(whole, part.direction))


def _without_terms(words: ChangeSet, unwanted: tuple[Interest, ...], pair: Pair) -> ChangeSet:
    named = [(interest.kind, term, interest.direction) for interest in unwanted for term in distinct(interest.terms)]
    if everywhere := [(kind, term) for kind, term, direction in named if direction is None]:
        words = pair.words_without(everywhere)
    for kind, term, direction in named:
        if direction is not None:
            words = pair.without_changes(words, kind, term, direction=direction)
    return words


def _is_about(interest: Interest, part: Part) -> bool:
    if part.sort not in KINDS[interest.kind].contains:
        return False
    return not interest.terms or words_of_term(part.term) in _words(interest)


def _taken_out(finding: ChangeSet, direction: Direction | None) -> ChangeSet:
    """Return a finding of one sort without what goes in a direction (None: all of it)."""
    if direction is None:
        return ChangeSet()
    if finding.kinds[0] == "phrases":  # inserted, deleted or updated, never two of them
        return union(narrowed(finding, other) for other in DIRECTIONS if other != direction)
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
