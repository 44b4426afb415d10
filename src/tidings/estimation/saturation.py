"""Pages that look different each time: counters, nonces, rotating text that no mask catches (bid §4, guard 6).

Twenty polls in a row that all found something new say little of a page that is quick; that some of them came right after another one says
that looking closer shows no more of it. This is what people are told; the pace at which such a page is polled is its policy's.
"""

from __future__ import annotations

from typing import Final

from tidings.model.interval import MINUTE, Duration, Instant
from tidings.model.observed.page import Saturation

LOOKS: Final = 20
"""Polls in a row that found the page different."""
SOON: Final[Duration] = 5 * MINUTE
"""A poll no later than half as much again after the one before came right after it."""
SOON_LOOKS: Final = 3
"""So many of them must have come right after another."""
TRIES: Final = 6
"""After so many polls more nobody asks for another one right away: limits of hosts or a budget may be in its way."""
QUIET_LOOKS: Final = 2
"""Polls that found nothing new after which the page is like others again."""


def add_poll(before: Saturation, *, at: Instant, last: Instant | None, differs: bool, floor: Duration) -> Saturation:
    """Return what is known after a good poll; `last` is the one before (None: this is the first), `floor` the least time between two.

    Args:
        before: What was known.
        at: When the poll was made (µs).
        last: The poll before (µs); None for the first.
        differs: Whether it found a change.
        floor: The least time between two polls (µs).
    """
    if last is None:
        return Saturation()
    if not differs:
        is_over = before.since is None or before.quiet + 1 >= QUIET_LOOKS
        return Saturation() if is_over else Saturation(before.looks, before.soon, before.quiet + 1, before.since)
    is_soon = 2 * (at - last) <= 3 * max(floor, SOON)
    looks = min(before.looks + 1, LOOKS + TRIES)
    soon = min(before.soon + is_soon, SOON_LOOKS)
    is_saturated = looks >= LOOKS and soon >= SOON_LOOKS
    return Saturation(looks, soon, before.quiet, before.since if before.since is not None or not is_saturated else at)


def is_doubtful(known: Saturation) -> bool:
    """Return whether one more look right away would tell if a page is saturated: it differs each time, and nobody looked soon again."""
    return known.since is None and LOOKS <= known.looks < LOOKS + TRIES
