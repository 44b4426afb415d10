"""Windows: which versions a subscription compares, and which of them it still needs (004 §3.4.2;
sentinels §4.4).

Versions are counted in the subscription's *own* sequence: the k-th that it has taken, whatever poll
found it and whatever came between. It retains exactly the versions needed for future comparisons.
"""

from __future__ import annotations

from tidings.model.watch.sentinel import Compare
from tidings.record import dataclass

TO_BEGIN = -1
"""The number of a window that begins with the newest taken version at that time."""


@dataclass(frozen=True, slots=True)
class Window:
    """The state of a subscription: how many versions it has taken, and those (numbers of the page)
    that it still needs, oldest first.
    """

    number: int = 0
    needed: tuple[int, ...] = ()


def reference(compare: Compare, window: Window) -> int:
    """Return the version that the next one is compared with, 0 for none."""
    if not window.needed:
        return 0
    match compare.mode:
        case "moving":
            return window.needed[-compare.n :][0]
        case "every":
            return window.needed[-1] if window.number % compare.n == 0 else 0
        case "first":
            return window.needed[0]
        case "pairwise":
            return window.needed[-1]


def is_partial(compare: Compare, window: Window) -> bool:
    """Return whether the next comparison spans fewer versions than `moving n` asks for: the window
    is still filling.
    """
    return compare.mode == "moving" and window.number < compare.n


def after(compare: Compare, window: Window, seq: int) -> Window:
    """Return the window after version `seq` was taken."""
    number, needed = window.number + 1, window.needed
    match compare.mode:
        case "moving":
            return Window(number, (*needed, seq)[-compare.n :])
        case "every":
            return Window(number, needed if needed and window.number % compare.n else (seq,))
        case "first":
            return Window(number, needed[:1] or (seq,))
        case "pairwise":
            return Window(number, (seq,))


def begin(window: Window, seen: int) -> Window:
    """Return the window with the newest taken version (`seen`) as its first, if its number is
    `TO_BEGIN`.
    """
    return Window(1, (seen,)) if window.number == TO_BEGIN else window


def switch(before: Compare, now: Compare, window: Window, seen: int) -> Window:
    """Return the window after Compare was altered: nothing is reported twice, and nothing is lost.

    A window with the number `TO_BEGIN` begins with the newest version at the next check (`begin`):
    a running check may still add one, and reports it as before.

    Args:
        before: Compare until now.
        now: Compare from now on.
        window: The window until now; what remains of it starts a new sequence.
        seen: The newest version that was taken.
    """
    if before == now or not window.needed:
        return window
    if before.mode == "first":
        return Window(TO_BEGIN, (seen,))
    needed = window.needed[-now.n :] if now.mode == "moving" else window.needed[-1:]
    return Window(len(needed), needed)
