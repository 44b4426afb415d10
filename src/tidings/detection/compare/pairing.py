"""Pairing: which things of one version are those of another, edited (detection.md §1.4, §3.3).

Two things belong together if they share more than half of their features (fields with their values, children, attributes). A feature that
many things have tells nothing and is passed over, so that the work is bounded by the number of features.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Hashable, Sequence

LEAST_SHARED = 0.5
"""Share of the features of the richer of two things that both must have."""

MOST_WITH_A_FEATURE = 16
"""A feature that more things have than this says nothing of which is which."""


def pair_alike(old: Sequence[frozenset[Hashable]], new: Sequence[frozenset[Hashable]]) -> list[tuple[int, int]]:
    """Return pairs (place in old, place in new) of things that share at least half of the features of the richer one, best first.

    Each thing is in one pair at most. Of equally good ones those that stand nearest to their place go first.
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
    """Return the fewest positions of `places` without which the rest rises: those outside a longest rising subsequence."""
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


def common_ends(old: Sequence[object], new: Sequence[object]) -> tuple[int, int]:
    """Return how many members two sequences have in common at their starts, and at their ends beyond these."""
    most = min(len(old), len(new))
    head = next((at for at in range(most) if old[at] != new[at]), most)
    tail = next((at for at in range(most - head) if old[-1 - at] != new[-1 - at]), most - head)
    return head, tail
