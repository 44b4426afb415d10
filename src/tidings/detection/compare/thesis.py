"""Phrases as the thesis compares them (004 §5.4.1.1, §7.2.2, figure 5.10), with only three slips
corrected.

A: updated when the common part is *larger* than the factor; B: strictly larger; C: the words
between the boxes are searched in the new page (detection §1.5). Rows are signatures with their
counts; only a row that has disappeared is tried as an update.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from rapidfuzz.distance import LCSseq

from tidings.detection.compare.boxes import Boxes
from tidings.detection.compare.signatures import Instance, PhraseEdit, Rules, Span, by_place, is_update


def strict_edits(
    before: Sequence[Instance], after: Sequence[Instance], *, words: Sequence[str], phrase: Sequence[str], rules: Rules
) -> tuple[PhraseEdit, ...]:
    """Return an edit for each changed row; `words` are those of the new page."""
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
