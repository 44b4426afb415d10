"""Expressions: AND, OR and NOT over the change types, on one pair of versions (sentinels §4.5).

OR: all parts with findings. AND: every positive part must have findings, else there is no change.
NOT inside AND: its findings are subtracted where a sibling contains them (any change contains
words, links and images; words contain keywords and phrases), else they are a veto. All parts are
evaluated on the same pair. Of a page with frames each member has its pair, and the parts of AND, OR
and NOT may lie in any of them.

Each interest is evaluated on its part of the page (`aims`) and counts if its conditions hold. If an
expression covers several parts, the tokens of each are numbered after those of the parts before it,
in the order of `scopes_of`.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from tidings.detection.ask.conditions import Seen, choose, hold, of_the_whole
from tidings.detection.ask.pair import Pair
from tidings.detection.find.findings import narrow, union
from tidings.detection.kinds.aims import Aim, Aimed, Both, Either, aim_expression, aims_of, scopes_of
from tidings.detection.kinds.interests import interests_of
from tidings.detection.kinds.keywords import distinct, words_of_term
from tidings.detection.kinds.registry import KINDS, row_of, size_of, terms_of
from tidings.document.select.extraction import WHOLE, Extraction
from tidings.model.observed.change import ChangeSet, Edit, ObjectCount, ObjectPlace
from tidings.model.watch.sentinel import Direction, Expression, Interest
from tidings.record import dataclass, replace

DIRECTIONS: tuple[Direction, ...] = ("inserted", "deleted", "updated")


@dataclass(frozen=True, slots=True)
class FoundPart:
    """The findings of one interest of one sort, for one term if it has any.

    `whole` is all of it, `change` what is left in the direction and without `unwanted`; it was
    found on `pair`, the part `scope` of `page`.
    """

    page: Pair
    pair: Pair
    scope: Extraction
    whole: ChangeSet
    direction: Direction | None
    term: str
    change: ChangeSet
    unwanted: tuple[Unwanted, ...] = ()

    @property
    def sort(self) -> str:
        """Return the change type: words, links, images, body, keywords, phrases, table, list, …."""
        return self.whole.kinds[0]


Parts = tuple[FoundPart, ...]


@dataclass(frozen=True, slots=True)
class Unwanted:
    """An interest under NOT; `chosen` are its findings, if its conditions filter a list of things
    (else all of its type is meant).
    """

    interest: Interest
    chosen: Parts | None = None


def evaluate(expression: Expression, pair: Pair, extraction: Extraction = WHOLE) -> ChangeSet:
    """Return the findings of an expression on one pair of versions, in the sentinel's selection;
    empty: no change.

    Raises `RefusedError` if a part cannot be extracted or compared.
    """
    return evaluate_each(expression, (pair,), extraction)[0]


def evaluate_each(expression: Expression, pairs: Sequence[Pair], extraction: Extraction = WHOLE) -> list[ChangeSet]:
    """Return the findings of an expression on the pairs of the members of one page, for each of
    them.
    """
    found = _parts(aim_expression(expression, extraction), pairs)
    scopes = scopes_of(expression, extraction)
    if len(scopes) > 1:
        found = tuple(_count_on(part, scopes) for part in found)
    return [union(part.change for part in found if part.page is pair) for pair in pairs]


def digests_of(expression: Expression) -> frozenset[str]:
    """Return the names of the digests that decide: if all are equal, there are no findings."""
    return frozenset(name for interest in interests_of(expression) for name in row_of(interest).digests)


def _count_on(part: FoundPart, scopes: Sequence[Extraction]) -> FoundPart:
    old = new = 0
    for scope in scopes[: scopes.index(part.scope)]:
        before = part.page.part(scope)
        old += before.old.words
        new += before.new.words
    edits = tuple(
        Edit(e.op, e.old_start + old, e.old_end + old, e.new_start + new, e.new_end + new) for e in part.change.edits
    )
    return replace(part, change=replace(part.change, edits=edits))


def _parts(aim: Aimed, pairs: Sequence[Pair]) -> Parts:
    match aim:
        case Aim():
            return _parts_of_aim(aim, pairs)
        case Either(parts):
            return tuple(part for one in parts for part in _parts(one, pairs))
        case Both():
            return _both(aim, pairs)


def _parts_of_aim(aim: Aim, pairs: Sequence[Pair]) -> Parts:
    interest = aim.interest
    found: list[FoundPart] = []
    seen: list[Seen] = []
    for page in pairs:
        pair = page.part(aim.scope)
        if not pair.has(interest):
            continue
        findings = [(term, finding) for term in terms_of(interest) for finding in pair.compare(interest, term)]
        if interest.where:
            what = Seen(
                pair.old,
                pair.new,
                [one for _, one in findings],
                partial(size_of, interest),
                pair.seen,
                page.new,
                interest.nth,
            )
            chosen = choose(interest, what)
            findings = findings if chosen is what.findings else [("", finding) for finding in chosen]
            seen.append(replace(what, findings=chosen))
        for term, finding in findings:
            if change := narrow(finding, interest.direction):
                found.append(FoundPart(page, pair, aim.scope, finding, interest.direction, term, change))
    if interest.where and found and not hold(of_the_whole(interest), seen, interest.direction):
        return ()
    return tuple(found)


def _both(both: Both, pairs: Sequence[Pair]) -> Parts:
    found = [_parts(part, pairs) for part in both.positive]
    for unwanted in both.negative:
        holders = [number for number, part in enumerate(both.positive) if _contains(part, unwanted)]
        if not holders:
            if _parts(unwanted, pairs):
                return ()
            continue
        meant = tuple(one for aim in aims_of(unwanted) if (one := _find_excluded(aim, pairs)) is not None)
        for number in holders:
            found[number] = _without(found[number], meant)
    return tuple(part for parts in found for part in parts) if all(found) else ()


def _find_excluded(aim: Aim, pairs: Sequence[Pair]) -> Unwanted | None:
    """Return an interest under NOT, None if its conditions do not hold."""
    interest = aim.interest
    found = _parts(aim, pairs) if interest.where else ()
    if interest.where and not found:
        return None
    return Unwanted(interest, found if of_the_whole(interest) != interest.where else None)


def _contains(whole: Aimed, part: Aimed) -> bool:
    """Return whether every change of `part` is also a change of `whole`: of its type, its terms and
    its parts of the page.
    """
    return all(any(_covers(watched, aim) for watched in aims_of(whole)) for aim in aims_of(part))


def _covers(whole: Aim, part: Aim) -> bool:
    watched, interest = whole.interest, part.interest
    if interest.selector not in {None, watched.selector} or interest.kind not in KINDS[watched.kind].contains:
        return False
    if (interest.pattern, interest.ordinal, interest.column) != (watched.pattern, watched.ordinal, watched.column):
        return False
    if not watched.terms:
        return interest.kind in KINDS[watched.kind].contains
    return watched.kind == interest.kind and _words(interest) <= _words(watched)


def _words(interest: Interest) -> frozenset[tuple[str, ...]]:
    return frozenset(map(words_of_term, distinct(interest.terms)))


def _without(parts: Parts, unwanted: Sequence[Unwanted]) -> Parts:
    left = (_less(part, (*part.unwanted, *unwanted)) for part in parts)
    return tuple(part for part in left if part.change)


def _less(part: FoundPart, unwanted: tuple[Unwanted, ...]) -> FoundPart:
    """Return a part without the changes of the unwanted interests: terms among words first, then
    whole types.
    """
    whole = part.whole
    if part.sort == "words":
        whole = _without_terms(whole, [one.interest for one in unwanted], part.pair)
    for one in unwanted:
        if whole and _is_about(one.interest, part):
            named = () if one.chosen is None else [other for other in one.chosen if other.page is part.page]
            whole = _take_out(whole, one.interest.direction) if one.chosen is None else _things_out(whole, named)
    return replace(part, unwanted=unwanted, change=narrow(whole, part.direction))


def _without_terms(words: ChangeSet, unwanted: Sequence[Interest], pair: Pair) -> ChangeSet:
    named = [(interest.kind, term, interest.direction) for interest in unwanted for term in distinct(interest.terms)]
    if everywhere := [(kind, term) for kind, term, direction in named if direction is None]:
        words = pair.words_without(everywhere)
    for kind, term, direction in named:
        if direction is not None:
            words = pair.without_changes(words, kind, term, direction=direction)
    return words


def _is_about(interest: Interest, part: FoundPart) -> bool:
    if part.sort not in KINDS[interest.kind].contains:
        return False
    return not interest.terms or words_of_term(part.term) in _words(interest)


def _things_out(finding: ChangeSet, named: Sequence[FoundPart]) -> ChangeSet:
    """Return a finding of things without those that others found."""
    out = union(part.change for part in named)
    rows = set(out.objects)
    left = replace(
        finding,
        inserted=tuple(text for text in finding.inserted if text not in out.inserted),
        deleted=tuple(text for text in finding.deleted if text not in out.deleted),
        updated=tuple(pair for pair in finding.updated if pair not in out.updated),
        moved=tuple(text for text in finding.moved if text not in out.moved),
        objects=tuple(row for row in finding.objects if row not in rows),
        places=tuple(place for place in finding.places if place not in out.places),
    )
    return left or ChangeSet()


def _take_out(finding: ChangeSet, direction: Direction | None) -> ChangeSet:
    """Return a finding of one sort without those of a direction (None: all of it)."""
    if direction is None:
        return ChangeSet()
    if finding.kinds[0] == "phrases":  # inserted, deleted or updated, exactly one
        return union(narrow(finding, other) for other in DIRECTIONS if other != direction)
    gone = narrow(finding, direction)
    edits: set[Edit] = set(gone.edits)
    rows: set[ObjectCount] = set(gone.objects)
    places: set[ObjectPlace] = set(gone.places)
    left = replace(
        finding,
        edits=tuple(edit for edit in finding.edits if edit not in edits),
        objects=tuple(row for row in finding.objects if row not in rows),
        places=tuple(place for place in finding.places if place not in places),
        inserted=() if direction == "inserted" else finding.inserted,
        deleted=() if direction == "deleted" else finding.deleted,
        updated=() if edits else finding.updated,
        moved=() if edits else finding.moved,
    )
    return left or ChangeSet()
