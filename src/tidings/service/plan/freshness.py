"""What servers say of how long a page stays fresh. Apart from what plans, so that `list` reads no
numpy.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from tidings.model.interval import Duration, Instant
    from tidings.model.observed.page import PageState

UNHEEDED: Final = 5
"""One poll in this many ignores the freshness claim, so that a false one is found out."""


def is_fresh_until(state: PageState, *, most: Duration) -> Instant:
    """Return until when a page is fresh according to its server, at most `most` after the last
    poll; 0: no claim.
    """
    is_heeded = state.fresh_doubt == 0 and state.polls % UNHEEDED != 0
    if not is_heeded or state.fresh_until is None or state.checked_at is None:
        return 0
    return min(state.fresh_until, state.checked_at + most)
