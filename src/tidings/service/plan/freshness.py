"""Until when a page is fresh, by its server's word."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from tidings.model.interval import Duration, Instant
    from tidings.model.observed.page import PageState

UNHEEDED: Final = 5
"""One look in so many pays no heed to such a claim, else a false one would never be found out."""


def is_fresh_until(state: PageState, *, most: Duration) -> Instant:
    """Return until when a page gains nothing from a look, by its server's word, at most `most` after the last one; 0: nobody says so."""
    is_heeded = state.fresh_doubt == 0 and state.polls % UNHEEDED != 0
    if not is_heeded or state.fresh_until is None or state.checked_at is None:
        return 0
    return min(state.fresh_until, state.checked_at + most)
