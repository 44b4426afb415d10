"""Grapheme clusters: what a reader sees as one character, which must not be split (detection §3.3).

Tokens are cut by character categories. They nearly always end with a cluster; where not (Thai and
Lao AM, a joiner or a skin tone after a letter), the displayed text is widened to whole clusters.
"""

from __future__ import annotations

import regex

_CLUSTER = regex.compile(r"\X")
_FLAG_LETTERS = range(0x1F1E6, 0x1F200)
_LONGEST = 32
"""The characters of a cluster that are examined on each side; real ones have ten."""


def whole_clusters(text: str, start: int, end: int) -> tuple[int, int]:
    """Return the span of a token, widened to whole clusters of `text`; the inside of `start:end` is
    not examined.
    """
    if text.isascii():
        return start, end
    first, last = max(0, start - _LONGEST), min(len(text), end + _LONGEST)
    while start > first and _is_one(text, start):
        start -= 1
    while end < last and _is_one(text, end):
        end += 1
    return start, end


def _is_one(text: str, border: int) -> bool:
    """Return whether the characters on both sides of a border belong to one cluster; flags are
    never split by tokens.
    """
    pair = text[border - 1 : border + 1]
    if pair.isascii() or (ord(pair[0]) in _FLAG_LETTERS and ord(pair[1]) in _FLAG_LETTERS):
        return False
    return _CLUSTER.fullmatch(pair) is not None
