"""Pages that differ at every poll: counters, nonces, rotating text that no mask catches (bid §4,
guard 6).

Twenty polls in a row that all found a change may just mean a quick page; that some of them directly
followed another shows that polling faster helps nothing. This is reported to users; the policy
decides the pace of such a page.
"""

from __future__ import annotations

from typing import Final

from tidings.model.interval import MINUTE, Duration, Instant
from tidings.model.observed.page import Saturation

POLLS: Final = 20
"""Polls in a row that found the page different."""
SOON: Final[Duration] = 5 * MINUTE
"""A poll directly follows the one before if the gap is at most half as much again."""
SOON_POLLS: Final = 3
"""How many of them must have directly followed another."""
TRIES: Final = 6
"""After so many more polls, no re-poll is asked for: limits of hosts or a budget may prevent it."""
QUIET_POLLS: Final = 2
"""Polls without a change that end the state."""


def add_poll(before: Saturation, *, at: Instant, last: Instant | None, differs: bool, floor: Duration) -> Saturation:
    """Return the counts after a successful poll.

    Args:
        before: The counts before.
        at: When the poll was made (µs).
        last: The poll before (µs); None for the first.
        differs: Whether it found a change.
        floor: The least time between two polls (µs).
    """
    if last is None:
        return Saturation()
    if not differs:
        is_over = before.since is None or before.quiet + 1 >= QUIET_POLLS
        return Saturation() if is_over else Saturation(before.polls, before.soon, before.quiet + 1, before.since)
    is_soon = 2 * (at - last) <= 3 * max(floor, SOON)
    polls = min(before.polls + 1, POLLS + TRIES)
    soon = min(before.soon + is_soon, SOON_POLLS)
    is_saturated = polls >= POLLS and soon >= SOON_POLLS
    return Saturation(polls, soon, before.quiet, before.since if before.since is not None or not is_saturated else at)


def is_doubtful(known: Saturation) -> bool:
    """Return whether one immediate re-poll would decide if a page is saturated: it differs each
    time, but no poll followed directly.
    """
    return known.since is None and POLLS <= known.polls < POLLS + TRIES
