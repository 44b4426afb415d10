"""Pricing: at which price the policy bids, so that all looks together cost what the budget can pay (bid_and_defaults §2)."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING

from tidings.clock import SECOND
from tidings.scheduling.policy import Prices
from tidings.service.claims import promised_interval

if TYPE_CHECKING:
    from tidings.model.interval import Duration, Instant
    from tidings.service.proposals import Proposals
    from tidings.service.watchlist import WatchedPage

REPRICED_EVERY: Duration = 600 * SECOND
ANOTHER_PRICE = 1.1
"""Prices further apart than this factor are another price (bid_and_defaults §1)."""


class Pricing:
    """Finds the price of the policy's proposals, every ten minutes. `budget` is what all polls may cost per µs."""

    def __init__(self, proposals: Proposals, budget: float) -> None:
        self._proposals = proposals
        self._budget = budget
        self._renewed_at: Instant = 0

    def renew(self, now: Instant, pages: Mapping[int, WatchedPage]) -> bool:
        """Find the price anew, if it is time; say whether it is another, so that pages are due at other instants."""
        policy = self._proposals.policy
        if not isinstance(policy, Prices) or now < self._renewed_at:
            return False
        self._renewed_at = now + REPRICED_EVERY
        price = policy.price(self._proposals.state, max(self._budget - self._promised(pages), 0.0))
        before = self._proposals.price
        if abs(math.log(max(price, 1e-300) / max(before, 1e-300))) <= math.log(ANOTHER_PRICE):
            return False
        self._proposals.price = price
        return True

    def _promised(self, pages: Mapping[int, WatchedPage]) -> float:
        """Return what the looks at fixed intervals cost per µs: they come first, whatever the price."""
        return sum(
            self._proposals.cost(page) / interval
            for page in pages.values()
            if (interval := promised_interval(page)) is not None
        )
