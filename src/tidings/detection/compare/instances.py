"""Which of several occurrences of one object were inserted or deleted, by the words around them
(004 §8.1 for phrases; W-121).

An object that occurs three times and then twice has lost one; its surroundings say which. As many
as possible are paired, equal surroundings first, then the most similar; unpaired ones were inserted
or deleted. So exactly the difference of the counts is reported.
"""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Sequence

from rapidfuzz.distance import LCSseq

from tidings.detection.compare.signatures import Span
from tidings.record import dataclass

BOX = 10
"""Words on each side that identify an occurrence, as of a phrase."""

MOST_COMPARED = 40_000
"""Pairs of occurrences whose surroundings are compared; beyond that, they are paired in order."""


@dataclass(frozen=True, slots=True)
class Surrounded:
    """An occurrence of an object: its words `start:end` in a page, and those before, in and after
    it.
    """

    start: int
    end: int
    lower: tuple[str, ...] = ()
    inner: tuple[str, ...] = ()
    upper: tuple[str, ...] = ()


Pairs = list[tuple[int, int]]


def surround(words: Sequence[str], span: Span, *, box: int = BOX) -> Surrounded:
    """Return an occurrence with up to `box` words on each side."""
    start, end = span
    return Surrounded(
        start, end, tuple(words[max(0, start - box) : start]), tuple(words[start:end]), tuple(words[end : end + box])
    )


def pair_occurrences(old: Sequence[Surrounded], new: Sequence[Surrounded]) -> Pairs:
    """Return (place in old, place in new) of equal occurrences; the smaller side is used up. In
    order of `old`.
    """
    found, left_old, left_new = _equal(old, new)
    if left_old and left_new:
        found += _alike(old, new, left_old, left_new)
    return sorted(found)


def _equal(old: Sequence[Surrounded], new: Sequence[Surrounded]) -> tuple[Pairs, list[int], list[int]]:
    waiting: defaultdict[tuple[tuple[str, ...], ...], deque[int]] = defaultdict(deque)
    for place, one in enumerate(new):
        waiting[one.lower, one.inner, one.upper].append(place)
    found: Pairs = []
    left: list[int] = []
    for place, one in enumerate(old):
        same = waiting[one.lower, one.inner, one.upper]
        if same:
            found.append((place, same.popleft()))
        else:
            left.append(place)
    return found, left, sorted(place for places in waiting.values() for place in places)


def _alike(
    old: Sequence[Surrounded], new: Sequence[Surrounded], left_old: Sequence[int], left_new: Sequence[int]
) -> Pairs:
    if len(left_old) * len(left_new) > MOST_COMPARED:
        return list(zip(left_old, left_new, strict=False))
    scored = sorted(
        (-_likeness(old[i], new[j]), abs(p - q), p + q, i, j)
        for p, i in enumerate(left_old)
        for q, j in enumerate(left_new)
    )
    free_old, free_new = set(left_old), set(left_new)
    found: Pairs = []
    for _, _, _, i, j in scored:
        if i in free_old and j in free_new:
            free_old.remove(i)
            free_new.remove(j)
            found.append((i, j))
    return found


def _likeness(one: Surrounded, other: Surrounded) -> int:
    return sum(
        LCSseq.similarity(part, counterpart)
        for part, counterpart in (
            (one.lower, other.lower),
            (one.inner, other.inner),
            (one.upper, other.upper),
        )
    )
