"""Phrases as the thesis compares them (004 §5.4.1.1, §7.2.2, figure 5.10), with only three slips
corrected.

A: updated when the common part is *larger* than the factor; B: strictly larger; C: the words
between the boxes are searched in the new page (detection §1.5). Rows are signatures with their
counts; only a row that has disappeared is tried as an update. Step 4, the text that two context
boxes enclose, uses a string with one character per word, so that a box is found by substring
search.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence

from rapidfuzz.distance import LCSseq

from tidings.detection.compare.instances import Instance, PhraseEdit, Rules, Span, by_place, is_update


def strict_edits(
    before: Sequence[Instance], after: Sequence[Instance], *, words: Sequence[str], phrase: Sequence[str], rules: Rules
) -> tuple[PhraseEdit, ...]:
    """Return an edit for each changed row; `words` are those of the new page.

    Args:
        before: The occurrences in the old page.
        after: The occurrences in the new page.
        phrase: The words of the phrase.
        rules: How occurrences are paired.
    """
    return by_place(_edits(before, after, words, phrase, rules))


def _edits(
    before: Sequence[Instance], after: Sequence[Instance], words: Sequence[str], phrase: Sequence[str], rules: Rules
) -> Iterator[PhraseEdit]:
    length = len(phrase)
    old_counts = Counter(instance.signature for instance in before)
    new_counts = Counter(instance.signature for instance in after)
    last_old = {instance.signature: instance.start for instance in before}
    last_new = {instance.signature: instance.start for instance in after}
    for signature, count in new_counts.items():
        seen = old_counts[signature]
        start = last_new[signature]
        if count > seen:
            old_start = last_old[signature] + length if seen else 0
            yield PhraseEdit("i+" if seen else "i", (old_start, old_start), (start, start + length))
        elif count < seen:
            old_start = last_old[signature]
            yield PhraseEdit("d-", (old_start, old_start + length), (start + length, start + length))
    gone = {signature: last_old[signature] for signature in old_counts if signature not in new_counts}
    if not gone:
        return
    boxes = Boxes(words, [*phrase, *(word for lower, upper in gone for word in (*lower, *upper))])
    written = boxes.encode(phrase)
    boxes.prepare(boxes.encode(box) for signature in gone for box in signature)
    for (lower, upper), start in gone.items():
        gap = boxes.nearest(boxes.encode(lower), boxes.encode(upper))
        yield _make_deletion(start, gap, boxes, written, rules)


def _make_deletion(start: int, gap: Span | None, boxes: Boxes, phrase: str, rules: Rules) -> PhraseEdit:
    old = (start, start + len(phrase))
    if gap is None:
        return PhraseEdit("d", old, (0, 0))
    common = LCSseq.similarity(phrase, boxes.text[gap[0] : gap[1]])
    if is_update(common, len(phrase), rules):
        return PhraseEdit("u", old, gap)
    return PhraseEdit("d", old, (gap[0], gap[0]))


FEW = 24
"""Up to this number, boxes are searched one by one; more of one size in one pass over all
places.
"""

STEPS = 500_000
"""The search steps for one phrase on one pair of pages; after them nothing more is found."""

_OTHER = "\0"


class Boxes:
    """The new page, to search boxes in. Words outside `known` are in no box: they share one
    character that no box contains.
    """

    def __init__(self, words: Sequence[str], known: Iterable[str]) -> None:
        letters = {word: chr(number) for number, word in enumerate(dict.fromkeys(known), start=1)}
        self._letter = letters.get
        self.text = self.encode(words)
        self._places: dict[str, list[int]] = {"": []}
        self._left = STEPS

    def encode(self, words: Iterable[str]) -> str:
        """Return words as characters of this page."""
        letter = self._letter
        return "".join([letter(word, _OTHER) for word in words])

    def prepare(self, boxes: Iterable[str]) -> None:
        """Search many boxes at once."""
        by_size: defaultdict[int, set[str]] = defaultdict(set)
        for box in boxes:
            if box not in self._places:
                by_size[len(box)].add(box)
        for size, wanted in by_size.items():
            if len(wanted) > FEW:
                self._pass_over(size, wanted)

    def gaps(self, lower: str, upper: str, most: int) -> list[Span]:
        """Return what the boxes enclose, at most `most` words, the shortest first. An empty box is
        the start or the end of the page.
        """
        lowers = self._places_of(lower) if lower else [0]
        uppers = self._places_of(upper) if upper else [len(self.text)]
        found = self._from_lower(lowers, uppers, len(lower), most)
        if len(uppers) < len(lowers):
            found = self._from_upper(lowers, uppers, len(lower), most)
        return sorted(found, key=lambda gap: (gap[1] - gap[0], gap[0]))

    def _from_lower(self, lowers: list[int], uppers: list[int], size: int, most: int) -> Iterator[Span]:
        for end in (place + size for place in lowers):
            at = bisect_left(uppers, end)
            while self._step() and at < len(uppers) and uppers[at] <= end + most:
                yield end, uppers[at]
                at += 1
            if not self._left:
                return

    def _from_upper(self, lowers: list[int], uppers: list[int], size: int, most: int) -> Iterator[Span]:
        for start in uppers:
            at = bisect_left(lowers, start - most - size)
            while self._step() and at < len(lowers) and lowers[at] + size <= start:
                yield lowers[at] + size, start
                at += 1
            if not self._left:
                return

    def nearest(self, lower: str, upper: str) -> Span | None:
        """Return the shortest range that the boxes enclose, of any length; None if there is
        none.
        """
        starts = self._places_of(upper) if upper else [len(self.text)]
        best: Span | None = None
        for place in self._places_of(lower) if lower else [0]:
            end = place + len(lower)
            at = bisect_left(starts, end)
            if at < len(starts) and (best is None or starts[at] - end < best[1] - best[0]):
                best = (end, starts[at])
        return best

    def _step(self) -> bool:
        self._left = max(0, self._left - 1)
        return self._left > 0

    def _places_of(self, box: str) -> list[int]:
        if box not in self._places:
            self._places[box] = _all_places(self.text, box)
        return self._places[box]

    def _pass_over(self, size: int, wanted: set[str]) -> None:
        places: dict[str, list[int]] = {box: [] for box in wanted}
        text = self.text
        for at in range(len(text) - size + 1):
            box = text[at : at + size]
            if box in places:
                places[box].append(at)
        self._places |= places


def _all_places(text: str, box: str) -> list[int]:
    places = []
    at = text.find(box)
    while at >= 0:
        places.append(at)
        at = text.find(box, at + 1)
    return places
