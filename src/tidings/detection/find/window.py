"""Windows: which versions a subscription compares, and which of them it still needs (004 §3.4.2; sentinels §4.4).

Versions are counted in the subscription's *own* sequence: the k-th that it has taken, whoever's look brought it and whatever came between.
What is kept is enough for all comparisons to come, and no version more.
"""

from __future__ import annotations

from dataclasses import dataclass

from tidings.model.watch.sentinel import Compare

TO_BEGIN = -1
"""The number of a window that begins with the newest version that was taken, whichever that is by then."""


@dataclass(frozen=True, slots=True)
class Window:
    """Where a subscription stands: how many versions it has taken, and those (numbers of the page) that it still needs, oldest first."""

    number: int = 0
    kept: tuple[int, ...] = ()


def reference(compare: Compare, window: Window) -> int:
    """Return the version that the next one is compared with, 0 if with none."""
    if not window.kept:
        return 0
    match compare.mode:
        case "moving":
            return window.kept[-compare.n :][0]
        case "every":
            return window.kept[-1] if window.number % compare.n == 0 else 0
        case "first":
            return window.kept[0]
        case "pairwise":
            return window.kept[-1]


def is_partial(compare: Compare, window: Window) -> bool:
    """Return whether the next comparison goes back less far than `moving n` asks for: the window is still filling."""
    return compare.mode == "moving" and window.number < compare.n


def after(compare: Compare, window: Window, seq: int) -> Window:
    """Return the window after version `seq` was taken."""
    number, kept = window.number + 1, window.kept
    match compare.mode:
        case "moving":
            return Window(number, (*kept, seq)[-compare.n :])
        case "every":
            return Window(number, kept if kept and window.number % compare.n else (seq,))
        case "first":
            return Window(number, kept[:1] or (seq,))
        case "pairwise":
            return Window(number, (seq,))


def begin(window: Window, seen: int) -> Window:
    """Return the window with the newest version taken (`seen`) as its first, if it is one that begins with that (`switched`)."""
    return Window(1, (seen,)) if window.number == TO_BEGIN else window


def switch(before: Compare, now: Compare, window: Window, seen: int) -> Window:
    """Return the window once Compare is altered: what was told is not told again, and what was not yet told is not lost.

    `seen` is the newest version that was taken. The versions that are left are the first of a new sequence. One whose
    number is `TO_BEGIN` begins with the newest version at the next check (`begun`): one that is under way may bring it, and tells it as it began.
    """
    if before == now or not window.kept:
        return window
    if before.mode == "first":
        return Window(TO_BEGIN, (seen,))
    kept = window.kept[-now.n :] if now.mode == "moving" else window.kept[-1:]
    return Window(len(kept), kept)
