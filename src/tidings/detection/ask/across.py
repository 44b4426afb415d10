"""Expressions over several pages: what each page decides alone, and how AND, OR and NOT combine
that (sentinels §4.5).

A *leaf* is the largest part of an expression that one page decides by itself: its interests are
evaluated on one pair of versions of that page, or on one answer and its predecessor. All positive
leaves of a `Meeting` must change within a window, and none of its negative ones around it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import lru_cache

from tidings.detection.kinds.interests import Subject, interests_of, is_across, on_page, subjects_of
from tidings.model.watch.interest import AllOf, AnyOf, Expression, Interest, Not
from tidings.record import dataclass, replace


@dataclass(frozen=True, slots=True)
class Leaf:
    """The part that one page decides; `page` is its name in the sentinel."""

    page: str
    expression: Expression


@dataclass(frozen=True, slots=True)
class Alternatives:
    """OR: any of the parts."""

    parts: tuple[Joined, ...]


@dataclass(frozen=True, slots=True)
class Meeting:
    """AND: all of `positive` within the window, none of `negative` near it."""

    positive: tuple[Joined, ...]
    negative: tuple[Joined, ...] = ()


Joined = Leaf | Alternatives | Meeting


@lru_cache(maxsize=1_024)
def join(expression: Expression, pages: tuple[str, ...]) -> Alternatives:
    """Return an expression over the pages of these names as alternatives, each decided by one page
    or by a meeting of several.
    """
    if not is_across(expression):
        parts = ((page, on_page(expression, page)) for page in pages)
        return Alternatives(tuple(Leaf(page, part) for page, part in parts if part is not None))
    whole = _join(_spread(expression, pages))
    return whole if isinstance(whole, Alternatives) else Alternatives((whole,))


@lru_cache(maxsize=1_024)
def leaves(whole: Joined) -> tuple[Leaf, ...]:
    """Return the leaves, each once, from left to right; their index is their number."""
    return tuple(dict.fromkeys(_leaves(whole)))


def meetings(whole: Joined) -> Iterator[Meeting]:
    """Yield the meetings, inner ones first."""
    match whole:
        case Alternatives(parts):
            for part in parts:
                yield from meetings(part)
        case Meeting(positive, negative):
            for part in (*positive, *negative):
                yield from meetings(part)
            yield whole


def has_changed(whole: Joined, changed: Collection[Leaf]) -> bool:
    """Return whether an alternative is true when exactly these leaves have changed."""
    match whole:
        case Leaf():
            return whole in changed
        case Alternatives(parts):
            return any(has_changed(part, changed) for part in parts)
        case Meeting(positive, negative):
            return all(has_changed(part, changed) for part in positive) and not any(
                has_changed(part, changed) for part in negative
            )


def _leaves(whole: Joined) -> Iterator[Leaf]:
    match whole:
        case Leaf():
            yield whole
        case Alternatives(parts):
            for part in parts:
                yield from _leaves(part)
        case Meeting(positive, negative):
            for part in (*positive, *negative):
                yield from _leaves(part)


def _spread(expression: Expression, pages: Sequence[str]) -> Expression:
    """Return an expression whose interests all name their page: one without a name applies to any
    page, and so does AND if no part names one.
    """
    match expression:
        case Interest(of=None) | AllOf() if all(one.of is None for one in interests_of(expression)):
            every = tuple(dict.fromkeys(_name_pages(expression, page or None) for page in pages))
            return every[0] if len(every) == 1 else AnyOf(every)
        case Interest():
            return expression
        case Not(part):
            return Not(_spread(part, pages))
        case AnyOf(parts) | AllOf(parts):
            return type(expression)(tuple(_spread(part, pages) for part in parts))


def _name_pages(expression: Expression, page: str | None) -> Expression:
    match expression:
        case Interest():
            return replace(expression, of=page)
        case Not(part):
            return Not(_name_pages(part, page))
        case AnyOf(parts) | AllOf(parts):
            return type(expression)(tuple(_name_pages(part, page) for part in parts))


def _join(expression: Expression) -> Joined:
    subject = _subject_of(expression)
    if subject is not None:
        return Leaf(subject.page or "", expression.part if isinstance(expression, Not) else expression)
    match expression:
        case AnyOf(parts):
            alone, rest = _by_subject(parts)
            apart = [Leaf(subject.page or "", _one(AnyOf, own)) for subject, own in alone.items()]
            return Alternatives((*apart, *(inner for part in rest for inner in _choices(_join(part)))))
        case AllOf(parts):
            return _meeting(parts)
        case Not(part):
            return _join(part)
        case Interest():
            message = "an interest without a page: `_spread` gives each its own"
            raise TypeError(message)


def _meeting(parts: Sequence[Expression]) -> Meeting:
    alone, rest = _by_subject(parts)
    positive: list[Joined] = []
    negative: list[Joined] = []
    for subject, own in alone.items():
        if all(isinstance(part, Not) for part in own):
            negative += [Leaf(subject.page or "", part.part) for part in own if isinstance(part, Not)]
        else:
            positive.append(Leaf(subject.page or "", _one(AllOf, own)))
    for part in rest:
        (negative if isinstance(part, Not) else positive).append(_join(part))
    return Meeting(tuple(dict.fromkeys(positive)), tuple(dict.fromkeys(negative)))


def _by_subject(parts: Sequence[Expression]) -> tuple[Mapping[Subject, tuple[Expression, ...]], list[Expression]]:
    """Return the parts that one comparison decides, by its subject, and those that need several."""
    alone: dict[Subject, tuple[Expression, ...]] = {}
    rest = []
    for part in parts:
        subject = _subject_of(part)
        if subject is None:
            rest.append(part)
        else:
            alone[subject] = (*alone.get(subject, ()), part)
    return alone, rest


def _subject_of(expression: Expression) -> Subject | None:
    """Return the common subject of all interests of an expression, None if there are several."""
    subjects = subjects_of(expression)
    return next(iter(subjects)) if len(subjects) == 1 else None


def _one(form: type[AnyOf | AllOf], parts: tuple[Expression, ...]) -> Expression:
    return parts[0] if len(parts) == 1 else form(parts)


def _choices(whole: Joined) -> tuple[Joined, ...]:
    return whole.parts if isinstance(whole, Alternatives) else (whole,)
