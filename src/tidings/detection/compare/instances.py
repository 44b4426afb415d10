"""Occurrences of objects and phrases, identified by the words around them: which were inserted or
deleted (004 §5.3.2.1, §5.4.1.1, §8.1; W-121).

An object that occurs three times and then twice has lost one; its surroundings say which. As many
as possible are paired, equal surroundings first, then the most similar; unpaired ones were inserted
or deleted. So exactly the difference of the counts is reported. A run of words is found by Knuth,
Morris and Pratt, overlaps included.

Links, images and whatever else is countable are compared as multisets (004 §5.4.1). The thesis
sorts by hash and compares windows; the result is the difference of two counts, computed here
directly. Strings are compared as strings: two with the same hash differ (detection §1.3). An image
that shares a size with an old image is the same one (W-97).
"""

from __future__ import annotations

from collections import Counter, defaultdict, deque
from collections.abc import Iterable, Iterator, Sequence
from collections.abc import Set as AbstractSet
from itertools import islice
from typing import Literal

from rapidfuzz.distance import LCSseq

from tidings.model.observed.change import ObjectCount
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


Span = tuple[int, int]
"""Words start:end; an empty span marks the place where a missing side would be."""

Status = Literal["i", "d", "i+", "d-", "u", "context"]
"""The thesis' marks of a row: inserted, deleted, more and fewer of it, updated; and `context`: only
the surroundings changed.
"""


@dataclass(frozen=True, slots=True)
class Rules:
    """How phrases are compared.

    `box` is the number of words on each side that make a signature (004 §5.3.2.1). A phrase is
    updated when *more* than `factor` of its words, (numerator, denominator), are left in order.
    `exact`: case matters and symbols are not words. `resolved`: the six defects of the thesis are
    corrected (detection §1.5); without it only A to C are. `adaptive`: box and factor follow the
    page's `stability`.
    """

    box: int = 10
    factor: tuple[int, int] = (3, 5)
    exact: bool = False
    resolved: bool = True
    adaptive: bool = True


RESOLVED = Rules()
STRICT = Rules(exact=True, resolved=False, adaptive=False)


@dataclass(frozen=True, slots=True)
class Instance:
    """One occurrence of a phrase, from word `start`, with the boxes below and above it: its
    signature.
    """

    start: int
    lower: tuple[str, ...]
    upper: tuple[str, ...]

    @property
    def signature(self) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Return what distinguishes this occurrence from others."""
        return self.lower, self.upper


@dataclass(frozen=True, slots=True)
class PhraseEdit:
    """The edit of an instance. `moved`: the same phrase was deleted in one place and inserted in
    another; it stays two edits.
    """

    status: Status
    old: Span
    new: Span
    moved: bool = False


def instances(words: Sequence[str], phrase: Sequence[str], *, box: int, most: int) -> list[Instance]:
    """Return the first `most` occurrences of a phrase, overlaps included.

    Args:
        words: The words of a page.
        phrase: The words of the phrase.
        box: The number of words on each side that make its signature.
    """
    return [_instance(words, start, len(phrase), box) for start in islice(occurrences(words, phrase), most)]


def _instance(words: Sequence[str], start: int, length: int, box: int) -> Instance:
    end = start + length
    return Instance(start, tuple(words[max(0, start - box) : start]), tuple(words[end : end + box]))


def is_update(common: int, length: int, rules: Rules) -> bool:
    """Return whether `common` words of `length` make the phrase updated, not deleted (B of
    detection §1.5).
    """
    numerator, denominator = rules.factor
    return common * denominator > numerator * length


def by_place(edits: Iterator[PhraseEdit]) -> tuple[PhraseEdit, ...]:
    """Return edits in the order of the new page."""
    return tuple(sorted(edits, key=lambda edit: (edit.new, edit.old)))


def occurrences(words: Sequence[str], wanted: Sequence[str]) -> Iterator[int]:
    """Yield where `wanted` begins in `words`, in order. An empty run occurs nowhere.

    Linear in both. Where no word has matched, the next first word is found at the speed of C.
    """
    if not wanted:
        return
    fall = _fall(wanted)
    first, last = wanted[0], len(wanted)
    matched = at = 0
    end = len(words)
    while at < end:
        if not matched:
            try:
                at = words.index(first, at)
            except ValueError:
                return
        while matched and words[at] != wanted[matched]:
            matched = fall[matched - 1]
        if words[at] == wanted[matched]:
            matched += 1
        at += 1
        if matched == last:
            yield at - last
            matched = fall[-1]


def _fall(wanted: Sequence[str]) -> list[int]:
    """Return for each length the longest proper border: how many words still match after a
    mismatch.
    """
    fall = [0] * len(wanted)
    matched = 0
    for at in range(1, len(wanted)):
        while matched and wanted[at] != wanted[matched]:
            matched = fall[matched - 1]
        if wanted[at] == wanted[matched]:
            matched += 1
        fall[at] = matched
    return fall


def compare_objects(kind: str, old: Iterable[str], new: Iterable[str]) -> tuple[ObjectCount, ...]:
    """Return a row for each object whose count differs.

    In the order of first occurrence in `new`, then in `old`. A missing object counts 0.
    """
    before, after = Counter(old), Counter(new)
    rows = [ObjectCount(kind, name, before[name], count) for name, count in after.items() if count != before[name]]
    rows += [ObjectCount(kind, name, count, 0) for name, count in before.items() if name not in after]
    return tuple(rows)


def as_before(
    rows: Sequence[ObjectCount],
    each: tuple[Sequence[str | None], Sequence[str | None]],
    sizes: tuple[Sequence[AbstractSet[str]], Sequence[AbstractSet[str]]],
) -> list[str | None]:
    """Return the new images, with the old names of those that are old images in other sizes.

    `rows` are the images whose counts differ, `each` the old and the new images in order, `sizes`
    the sizes of each. Only deleted and inserted images are matched, each once.
    """
    went = {row.object: row.old - row.new for row in rows if row.old > row.new}
    came = {row.object: row.new - row.old for row in rows if row.new > row.old}
    by_size: defaultdict[str, dict[str, None]] = defaultdict(dict)
    for name, its in zip(each[0], sizes[0], strict=True):
        if name in went:
            for size in {name, *its}:
                by_size[size][name] = None
    named: list[str | None] = []
    for name, its in zip(each[1], sizes[1], strict=True):
        old = None
        if name is not None and came.get(name):
            shared = (one for size in (name, *sorted(its)) for one in by_size.get(size, ()) if went[one])
            old = next(shared, None)
        if name is not None and old is not None:
            went[old] -= 1
            came[name] -= 1
        named.append(old or name)
    return named
