"""Find a run of words in a page, overlaps included: Knuth, Morris and Pratt over words (004
§5.4.1.1, step 1).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence


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
