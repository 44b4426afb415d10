"""Which instances of phrases were inserted, deleted or reworded (004 §5.4.1.1; detection §1.5, D to
F).

Instances are paired one by one. Equal signatures are the same instance; then those whose boxes
agree by half, or whose nearest words do (`context`: the surroundings changed, the phrase did not);
so far both pages are treated alike, so that a reverse comparison agrees. An old instance that is
still open is searched between its boxes in the new page, and is *updated* if enough of its words
are left there. The rest was inserted or deleted.

How stable a page is, and the resulting rules for comparing its phrases (004 §5.3.2.1, §5.4.1.1,
§8.1; W-122, W-124).

The thesis fixes both numbers, ten words and 0.6, and names adaptive ones as future work. Here they
follow the history of the page: the share of its words that changed from each version to the next.

*Signature.* A signature is useful while it does not change. It has as many words as stay unchanged
nineteen times in twenty at the page's usual share, between three and ten. *Factor.* If much is
rewritten at a time, less of a reworded phrase is left; the factor falls from 0.6 by five times the
share, to at least 0.4. `bench/phrases.py` measures the gain on real pages. A page without a history
is compared as in the thesis.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections import Counter, deque
from collections.abc import Iterator, Sequence
from dataclasses import field
from typing import Final

from rapidfuzz.distance import LCSseq

from tidings.detection.compare.instances import (
    RESOLVED,
    Instance,
    PhraseEdit,
    Rules,
    Span,
    by_place,
    instances,
    is_update,
    occurrences,
)
from tidings.detection.compare.thesis import Boxes, strict_edits
from tidings.model.observed.version import Digest
from tidings.record import dataclass, replace

MOST_INSTANCES = 10_000
"""Of a phrase that occurs more often on a page, only the count is compared."""

MOST_WORDS = 1_000_000
"""The same on a page of more words."""

MOST_PAIRS = 250_000
"""Pairs of instances whose boxes are compared; beyond that, those near each other in order."""

SMALLER = (7, 5, 3, 2)
"""Sizes of the boxes that are tried when the full ones are not found, in words."""


@dataclass(frozen=True, slots=True)
class PhraseChange:
    """How often a phrase occurred and occurs on a page, and the changed instances.

    `counted`: there were too many to distinguish; only the counts are known.
    """

    old: int
    new: int
    edits: tuple[PhraseEdit, ...] = ()
    counted: bool = False


def compare_phrase(
    old: Sequence[str], new: Sequence[str], phrase: Sequence[str], rules: Rules = RESOLVED
) -> PhraseChange:
    """Return the changes of a phrase between the words of two pages. Words are compared as given:
    fold them before.

    Args:
        old: The words of the old page.
        new: The words of the new page.
        phrase: The words of the phrase.
        rules: How its occurrences are paired.
    """
    before = instances(old, phrase, box=rules.box, most=MOST_INSTANCES + 1)
    after = instances(new, phrase, box=rules.box, most=MOST_INSTANCES + 1)
    if max(len(before), len(after)) > MOST_INSTANCES or max(len(old), len(new)) > MOST_WORDS:
        return PhraseChange(_count(old, phrase), _count(new, phrase), counted=True)
    if rules.resolved:
        edits = _Pairing(before, after, new, phrase, rules).edits()
    else:
        edits = strict_edits(before, after, words=new, phrase=phrase, rules=rules)
    return PhraseChange(len(before), len(after), edits)


def _count(words: Sequence[str], phrase: Sequence[str]) -> int:
    return sum(1 for _ in occurrences(words, phrase))


@dataclass(slots=True)
class _Wrapped:
    """Old boxes of one size to be tried in the new page; `place`: the first enclosed place that is
    not taken.
    """

    gaps: deque[Span]
    place: int | None = None


@dataclass(slots=True)
class _OpenInstance:
    """An unpaired old instance, with its boxes encoded for the new page."""

    instance: Instance
    lower: str = ""
    upper: str = ""


class _Pairing:
    """Instances of one phrase on two pages, paired step by step."""

    def __init__(
        self,
        before: Sequence[Instance],
        after: Sequence[Instance],
        words: Sequence[str],
        phrase: Sequence[str],
        rules: Rules,
    ) -> None:
        self.words = words
        self.phrase = phrase
        self.length = len(phrase)
        self.rules = rules
        self.pairs: list[tuple[Instance, Instance]] = []
        self.context: list[tuple[Instance, Instance]] = []
        self.updates: list[tuple[Instance, Span]] = []
        self.gone: list[tuple[Instance, int]] = []
        self.old = list(before)
        self.new = list(after)

    def edits(self) -> tuple[PhraseEdit, ...]:
        """Return the edit of each instance."""
        everywhere = [instance.start for instance in self.new]
        self.pairs.extend(self._pair_equal(self.rules.box))
        if self.old:
            boxes = Boxes(self.words, self._list_known())
            self._pair_similar(boxes)
            for size in self._sizes():
                self.context.extend(self._pair_equal(size))
            self._find_updates(boxes, everywhere)
        return by_place(self._make_edits())

    def _sizes(self) -> Iterator[int]:
        return (size for size in SMALLER if size < self.rules.box)

    def _list_known(self) -> Iterator[str]:
        yield from self.phrase
        for instance in self.old:
            yield from instance.lower
            yield from instance.upper

    def _pair_equal(self, size: int) -> Iterator[tuple[Instance, Instance]]:
        """Yield instances with the same `size` words on both sides, in page order; the others stay
        open.
        """
        waiting: dict[object, deque[Instance]] = {}
        for instance in self.new:
            waiting.setdefault((instance.lower[-size:], instance.upper[:size]), deque()).append(instance)
        still_open = []
        for instance in self.old:
            same = waiting.get((instance.lower[-size:], instance.upper[:size]))
            if same:
                yield instance, same.popleft()
            else:
                still_open.append(instance)
        self.old = still_open
        self.new = sorted((one for some in waiting.values() for one in some), key=lambda instance: instance.start)

    def _pair_similar(self, boxes: Boxes) -> None:
        """Pair instances whose boxes agree by half, the most similar first, then those nearest in
        order.
        """
        if not self.new:
            return
        lowers = [(boxes.encode(one.lower), boxes.encode(one.upper)) for one in self.old]
        uppers = [(boxes.encode(one.lower), boxes.encode(one.upper)) for one in self.new]
        found = sorted(_similar(lowers, uppers))
        old_free, new_free = set(range(len(self.old))), set(range(len(self.new)))
        for _, _, _, i, j in found:
            if i in old_free and j in new_free:
                old_free.remove(i)
                new_free.remove(j)
                self.context.append((self.old[i], self.new[j]))
        self.old = [self.old[i] for i in sorted(old_free)]
        self.new = [self.new[j] for j in sorted(new_free)]

    def _find_updates(self, boxes: Boxes, everywhere: list[int]) -> None:
        """Search between the boxes of the open instances, with ever smaller boxes."""
        search = _Search(boxes, boxes.encode(self.phrase), self.rules)
        for start in everywhere:
            search.take((start, start + self.length))
        left = [_OpenInstance(one, boxes.encode(one.lower), boxes.encode(one.upper)) for one in self.old]
        for size in (self.rules.box, *self._sizes()):
            left = self._search(left, size, search)
        self.old = [one.instance for one in left]

    def _search(self, left: list[_OpenInstance], size: int, search: _Search) -> list[_OpenInstance]:
        """Try boxes of one size; return the instances whose boxes are not found."""
        wanted = [(one.lower[-size:], one.upper[:size]) for one in left]
        search.boxes.prepare(box for both in wanted for box in both)
        lost = []
        for one, (lower, upper) in zip(left, wanted, strict=True):
            found = search.between(lower, upper)
            if found is not None:
                self.updates.append((one.instance, found))
            elif (place := search.place_of(lower, upper)) is not None:
                self.gone.append((one.instance, place))
            else:
                lost.append(one)
        return lost

    def _make_edits(self) -> Iterator[PhraseEdit]:
        length = self.length
        self._put_in_order()
        spans = [(_span(one, length), _span(other, length)) for one, other in (*self.pairs, *self.context)]
        spans += [(_span(one, length), gap) for one, gap in self.updates]
        ends_there = sorted((old[0], new[1]) for old, new in spans)
        ends_here = sorted((new[0], old[1]) for old, new in spans)
        gone = [*self.gone, *((one, _after(ends_there, one.start)) for one in self.old)]
        moved = min(len(gone), len(self.new))
        for one, other in self.context:
            yield PhraseEdit("context", _span(one, length), _span(other, length))
        for one, gap in self.updates:
            yield PhraseEdit("u", _span(one, length), gap)
        for number, (one, place) in enumerate(sorted(gone, key=lambda both: both[0].start)):
            yield PhraseEdit("d", _span(one, length), (place, place), moved=number < moved)
        for number, one in enumerate(self.new):
            place = _after(ends_here, one.start)
            yield PhraseEdit("i", (place, place), _span(one, length), moved=number < moved)

    def _put_in_order(self) -> None:
        """Reorder instances of equal signature, which were paired arbitrarily, by their order in
        the new page.
        """
        groups: dict[object, list[tuple[Span, int]]] = {}
        for number, (one, gap) in enumerate(self.updates):
            groups.setdefault(one.signature, []).append((gap, number))
        olds: dict[object, list[Instance]] = {}
        for one, _ in self.updates:
            olds.setdefault(one.signature, []).append(one)
        for one, other in self.pairs:
            if one.signature in groups:
                groups[one.signature].append((_span(other, self.length), -1))
                olds[one.signature].append(one)
        for signature, places in groups.items():
            ordered = sorted(olds[signature], key=lambda instance: instance.start)
            for one, (gap, number) in zip(ordered, sorted(places), strict=True):
                if number >= 0:
                    self.updates[number] = (one, gap)


@dataclass(slots=True)
class _Search:
    """The new page, with the ranges that are already taken by an instance."""

    boxes: Boxes
    phrase: str
    rules: Rules
    _taken: bytearray = field(default_factory=bytearray)
    _wrapped: dict[tuple[str, str], _Wrapped] = field(default_factory=dict)

    def take(self, span: Span) -> None:
        """Mark a range as taken."""
        if not self._taken:
            self._taken = bytearray(len(self.boxes.text))
        self._taken[span[0] : span[1]] = b"\1" * (span[1] - span[0])

    def between(self, lower: str, upper: str) -> Span | None:
        """Return and take the shortest free range between the boxes that is the phrase reworded."""
        wrapped = self._between(lower, upper)
        while wrapped.gaps:
            gap = wrapped.gaps.popleft()
            if self._taken.find(1, *gap) >= 0:
                continue
            if wrapped.place is None:
                wrapped.place = gap[0]
            if self._is_reworded(gap):
                self.take(gap)
                return gap
        return None

    def place_of(self, lower: str, upper: str) -> int | None:
        """Return where the boxes enclose something, but nothing like the phrase: it was deleted
        there.
        """
        return self._between(lower, upper).place

    def _between(self, lower: str, upper: str) -> _Wrapped:
        key = (lower, upper)
        if key not in self._wrapped:
            most = 2 * len(self.phrase) + self.rules.box
            self._wrapped[key] = _Wrapped(deque(self.boxes.gaps(lower, upper, most)))
        return self._wrapped[key]

    def _is_reworded(self, gap: Span) -> bool:
        """Return whether enough of the phrase is left, relative to the phrase and to both:
        scattered words do not count.
        """
        found = self.boxes.text[gap[0] : gap[1]]
        common = LCSseq.similarity(self.phrase, found)
        return is_update(common, len(self.phrase), self.rules) and is_update(
            2 * common, len(self.phrase) + len(found), self.rules
        )


def _similar(old: list[tuple[str, str]], new: list[tuple[str, str]]) -> Iterator[tuple[int, int, int, int, int]]:
    """Yield (negative similarity; distance in order; symmetric tie-break; place; place) of pairs
    whose boxes agree by half.
    """
    everyone = range(len(new))
    reach = max(1, MOST_PAIRS // (2 * len(old)))
    step = (len(new) - 1) / max(1, len(old) - 1)
    for i, (lower, upper) in enumerate(old):
        size = len(lower) + len(upper)
        middle = round(i * step)
        near = everyone if len(old) * len(new) <= MOST_PAIRS else everyone[max(0, middle - reach) : middle + reach + 1]
        for j in near:
            other_lower, other_upper = new[j]
            alike = LCSseq.similarity(lower, other_lower) + LCSseq.similarity(upper, other_upper)
            if 2 * alike >= min(size, len(other_lower) + len(other_upper)):
                yield -alike, abs(i - j), i + j, i, j


def _span(instance: Instance, length: int) -> Span:
    return instance.start, instance.start + length


def _after(ends: list[tuple[int, int]], start: int) -> int:
    """Return where the last paired instance before `start` ends on the other page; `ends` are
    (start here, end there).
    """
    at = bisect_left(ends, (start, 0))
    return ends[at - 1][1] if at else 0


SHORTEST: Final = 3
"""The shortest signature, in words."""

UNTOUCHED: Final = 0.95
"""How often a signature is to stay unchanged."""

LEAST_FACTOR: Final = 0.4

SLOPE: Final = 5
"""The slope of the factor against the usual share."""

MOST_SHARES: Final = 8
"""Changes of a page that are stored, the newest first."""

_SHARES: Final = "changed shares"


def measure_changed_share(old: Sequence[str], new: Sequence[str]) -> float:
    """Return the share of words, from 0 to 1, that only one of two versions has; order is
    ignored.
    """
    total = len(old) + len(new)
    if not total:
        return 0.0
    return 1 - 2 * (Counter(old) & Counter(new)).total() / total


def usual(shares: Sequence[float]) -> float:
    """Return the median of a page's shares: one rewritten version does not make a page unstable."""
    ordered = sorted(shares[:MOST_SHARES])
    return ordered[len(ordered) // 2]


def adapt(shares: Sequence[float], rules: Rules) -> Rules:
    """Return the rules for a page with these changed shares, the newest first; unchanged without a
    history, or in thesis mode.
    """
    if not shares or not rules.adaptive:
        return rules
    share = min(max(usual(shares), 0.0), 1.0)
    lasting = math.log(UNTOUCHED) / (2 * math.log1p(-share)) if 0 < share < 1 else (math.inf if share == 0 else 0.0)
    numerator, denominator = rules.factor
    factor = max(numerator / denominator - SLOPE * share, min(LEAST_FACTOR, numerator / denominator))
    box = max(min(SHORTEST, rules.box), int(min(lasting, rules.box)))
    return replace(rules, box=box, factor=(round(1000 * factor), 1000))


def shares_in(digest: Digest | None) -> tuple[float, ...]:
    """Return the shares stored with the digest of a version, the newest first; none if no sentinel
    watched phrases then.
    """
    written = "" if digest is None else digest.objects.get(_SHARES, "")
    return tuple(float(share) for share in written.split())


def shares_as_object(shares: Sequence[float]) -> dict[str, str]:
    """Return shares in the form stored with a digest; they do not affect its decision."""
    return {_SHARES: " ".join(f"{share:.5f}" for share in shares)} if shares else {}
