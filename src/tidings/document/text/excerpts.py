"""Excerpts: two long texts, cut around their differences; and what two sequences share at both
ends.
"""

from __future__ import annotations

from collections.abc import Sequence

ELLIPSIS = "…"


def excerpts(old: str, new: str, most: int) -> tuple[str, str]:
    """Return two texts, each in at most `most` (3 or more) characters, cut around the first
    difference, with an ellipsis at each cut.

    Texts that fit stay whole. Different texts have different excerpts.
    """
    if max(len(old), len(new)) <= most:
        return old, new
    same = common_start(old, new)
    end = max(len(old), len(new)) - common_end(old, new, same)
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


def common_start(old: Sequence[object], new: Sequence[object]) -> int:
    """Return the length of the common start.

    Slices are compared instead of single items: they double while they are equal, and halve where
    they are not.
    """
    equal, left, step = 0, min(len(old), len(new)), 64
    while left:
        end = equal + min(step, left)
        if old[equal:end] == new[equal:end]:
            left -= end - equal
            equal, step = end, step * 2
        elif end == equal + 1:
            break
        else:
            left = end - equal
            step = left // 2
    return equal


def common_end(old: Sequence[object], new: Sequence[object], head: int) -> int:
    """Return the length of the common end outside the common start."""
    last, other = len(old), len(new)
    equal, left, step = 0, min(last, other) - head, 64
    while left:
        end = equal + min(step, left)
        if old[last - end : last - equal] == new[other - end : other - equal]:
            left -= end - equal
            equal, step = end, step * 2
        elif end == equal + 1:
            break
        else:
            left = end - equal
            step = left // 2
    return equal


def common_ends(old: Sequence[object], new: Sequence[object]) -> tuple[int, int]:
    """Return the lengths of the common start and of the common end outside it."""
    head = common_start(old, new)
    return head, common_end(old, new, head)
