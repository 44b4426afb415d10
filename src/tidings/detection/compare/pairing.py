"""Pair edited things of two versions (detection §1.4, §3.3).

Two things are paired if they share more than half of their features (fields with their values,
children, attributes). A feature that many things have is ignored, so that the work is bounded by
the number of features.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Hashable, Mapping, Sequence

from tidings.detection.compare.words import compare_sequences
from tidings.record import dataclass

LEAST_SHARED = 0.5
"""Share of the features of the richer of two things that both must have."""

MOST_WITH_A_FEATURE = 16
"""A feature of more things than this is ignored."""

_NUMBERING = re.compile(r"[#(\[№]?\s?([0-9]{1,6})(?:[.:)\]]|st|nd|rd|th|º|ª)?")

_MOVE = 2
"""The cost of a move in changed fields: a deletion and an insertion."""

Pair = tuple[int, int]
Record = Mapping[Hashable, Hashable]
"""A thing by its fields, without its number."""


@dataclass(frozen=True, slots=True)
class Numbered:
    """Things of one version: their running numbers, their remaining content, and their identity
    then (empty: none).
    """

    numbers: Sequence[int]
    records: Sequence[Record]
    names: Sequence[Hashable] = ()


def running_number(text: str) -> int:
    """Return the number that a text is, with its usual decoration (`3.`, `#3`, `3rd`); -1 for
    another text.
    """
    found = _NUMBERING.fullmatch(text.strip())
    return -1 if found is None else int(found[1])


def running_numbers(texts: Sequence[str]) -> list[int]:
    """Return texts as numbers if they run from 0 or 1 without a gap, in any order; else empty."""
    numbers = [*map(running_number, texts)]
    first = min(numbers, default=-1)
    return numbers if first in {0, 1} and sorted(numbers) == [*range(first, first + len(texts))] else []


def without_numbers(old: Numbered, new: Numbered) -> tuple[list[Pair], frozenset[Pair]] | None:
    """Return which things are paired if their running numbers are positions and not names, and
    which of them really moved.

    None if the numbers explain the two versions with no more changed fields: then they are names.
    """
    places = {number: i for i, number in enumerate(old.numbers)}
    named = [(places[number], j) for j, number in enumerate(new.numbers) if number in places]
    pairs = _by_name(old, new) if old.names and new.names else _in_order(old, new)
    pairs.sort(key=lambda pair: old.numbers[pair[0]])
    moved = frozenset(pairs[at] for at in least_moved([new.numbers[j] for _, j in pairs]))
    changed = _count_changed(old, new, pairs) + _MOVE * len(moved)
    return (pairs, moved) if changed < _count_changed(old, new, named) else None


def _by_name(old: Numbered, new: Numbered) -> list[Pair]:
    places = {name: i for i, name in enumerate(old.names)}
    return [(places[name], j) for j, name in enumerate(new.names) if name in places]


def _in_order(old: Numbered, new: Numbered) -> list[Pair]:
    """Pair things in the order of their numbers: the longest alignment, and where as many were
    deleted as inserted, one by one.
    """
    was, now = (sorted(range(len(side.numbers)), key=side.numbers.__getitem__) for side in (old, new))
    edits = compare_sequences(*([repr(sorted(side.records[at].items(), key=repr)) for at in order]
                                for side, order in ((old, was), (new, now))))  # fmt: skip
    pairs: list[Pair] = []
    i = j = 0
    for edit in edits:
        pairs += zip(was[i : edit.old_start], now[j : edit.new_start], strict=True)
        i, j = edit.old_end, edit.new_end
        if i - edit.old_start == j - edit.new_start:
            pairs += zip(was[edit.old_start : i], now[edit.new_start : j], strict=True)
    return [*pairs, *zip(was[i:], now[j:], strict=True)]


def _count_changed(old: Numbered, new: Numbered, pairs: Sequence[Pair]) -> int:
    """Return how many fields change under these pairs; a deleted or inserted thing counts with all
    its fields.
    """
    gone, come = {*range(len(old.records))} - {i for i, _ in pairs}, {*range(len(new.records))} - {j for _, j in pairs}
    changed = sum(len(old.records[i]) for i in gone) + sum(len(new.records[j]) for j in come)
    for i, j in pairs:
        one, other = old.records[i], new.records[j]
        changed += sum(one.get(field) != other.get(field) for field in {*one, *other}) if one != other else 0
    return changed


def pair_alike(old: Sequence[frozenset[Hashable]], new: Sequence[frozenset[Hashable]]) -> list[tuple[int, int]]:
    """Return pairs (place in old, place in new) of things that share at least half of the features
    of the richer one, best first.

    Each thing is in one pair at most. Of equally good ones the nearest go first.
    """
    holders: dict[Hashable, list[int]] = {}
    for i, features in enumerate(old):
        for feature in features:
            holders.setdefault(feature, []).append(i)
    rated: list[tuple[float, int, int, int]] = []
    for j, features in enumerate(new):
        votes: Counter[int] = Counter()
        for feature in features:
            if len(waiting := holders.get(feature, ())) <= MOST_WITH_A_FEATURE:
                votes.update(waiting)
        for i in votes:
            rate = len(old[i] & features) / max(len(old[i]), len(features))
            if rate >= LEAST_SHARED:
                rated.append((-rate, abs(i - j), i, j))
    taken_old: set[int] = set()
    taken_new: set[int] = set()
    pairs: list[tuple[int, int]] = []
    for _, _, i, j in sorted(rated):
        if i not in taken_old and j not in taken_new:
            taken_old.add(i)
            taken_new.add(j)
            pairs.append((i, j))
    return pairs


def least_moved(places: Sequence[int]) -> list[int]:
    """Return the fewest positions of `places` without which the rest increases: those outside a
    longest increasing subsequence.
    """
    tails: list[int] = []
    ends: list[int] = []
    before: list[int] = []
    for at, place in enumerate(places):
        length = bisect_left(tails, place)
        if length == len(tails):
            tails.append(place)
            ends.append(at)
        else:
            tails[length] = place
            ends[length] = at
        before.append(ends[length - 1] if length else -1)
    stays: set[int] = set()
    at = ends[-1] if ends else -1
    while at >= 0:
        stays.add(at)
        at = before[at]
    return [at for at in range(len(places)) if at not in stays]
