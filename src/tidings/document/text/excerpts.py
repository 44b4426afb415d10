"""Excerpts: two long texts, cut around their differences."""

from __future__ import annotations

ELLIPSIS = "…"


def excerpts(old: str, new: str, most: int) -> tuple[str, str]:
    """Return two texts, each in at most `most` (3 or more) characters, cut around the first
    difference, with an ellipsis at each cut.

    Texts that fit stay whole. Different texts have different excerpts.
    """
    if max(len(old), len(new)) <= most:
        return old, new
    same = common_start(old, new)
    end = max(len(old), len(new)) - _common_end(old, new, same)
    room = most - 2
    start = max(0, same - max(room // 3, (room - (end - same)) // 2))
    start = max(0, min(start, same, max(len(old), len(new)) - (most - 1)))
    return _window(old, start, most), _window(new, start, most)


def _window(text: str, start: int, most: int) -> str:
    if start == 0:
        return text if len(text) <= most else text[: most - 1] + ELLIPSIS
    rest = text[start:]
    return ELLIPSIS + (rest if len(rest) < most else rest[: most - 2] + ELLIPSIS)


SHORT_LINE = 40
"""The longest line that is shown whole around changed words, in characters."""
LONGEST_LABEL = 80
"""The longest label that `label_of` accepts, in characters."""


def line_of(text: str, after: str, *, beside: str) -> str:
    """Return a text with the rest of its line, `Out of stock` for `Out of`, if it is words at the
    start of a short line; else empty.

    `after` is the text after it, `beside` its counterpart in the other version.
    """
    has_digit = any(character.isdigit() for character in text + beside)
    line = " ".join(f"{text}{after}".split())
    is_short = max(len(text), len(beside)) + len(line) - len(text) <= SHORT_LINE
    return line if after.strip() and is_short and not has_digit else ""


def label_of(old: str, new: str) -> str:
    """Return the common label of two data texts, `service.state` of `service.state: green`; empty
    if there is none.
    """
    label, colon, _ = new[: common_start(old, new)].rpartition(": ")
    return label if colon and len(label) <= LONGEST_LABEL and old != new else ""


def common_start(old: str, new: str) -> int:
    """Return the length of the common start, in characters."""
    low, high = 0, min(len(old), len(new))
    while low < high:
        middle = (low + high + 1) // 2
        if old[low:middle] == new[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low


def _common_end(old: str, new: str, start: int) -> int:
    low, high = 0, min(len(old), len(new)) - start
    while low < high:
        middle = (low + high + 1) // 2
        if old[len(old) - middle : len(old) - low] == new[len(new) - middle : len(new) - low]:
            low = middle
        else:
            high = middle - 1
    return low
