"""Purses: how the budgets stand, in words: that of all polls, and the classes within it that sentinels name."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from tidings.model.watch.weight import WHOLE
from tidings.record import dataclass
from tidings.service.show.records import rfc3339
from tidings.storage.write import charge

if TYPE_CHECKING:
    from tidings.model.interval import Instant
    from tidings.settings import Settings
    from tidings.storage.db.connection import Connection


@dataclass(frozen=True, slots=True)
class Purse:
    """A budget as it stands: what it `allows`, how many requests of it are `left` now of those that it saves up (`burst`).

    It pays again `at` (now, if it does already; None: never). `allows` is empty for a class that is not set up (any more).
    """

    name: str
    allows: str
    left: float = 0.0
    burst: float = 0.0
    at: Instant | None = None
    is_spent: bool = False

    @property
    def is_missing(self) -> bool:
        """Say whether there is no such class."""
        return not self.allows

    def __str__(self) -> str:
        if self.is_missing:
            return "is not set up (budget.classes): the budget of all polls pays"
        if self.is_spent:
            when = (
                "never again" if self.at is None else f"again at {(rfc3339(self.at) or '')[:19].replace('T', ' ')} UTC"
            )
            return f"{self.allows}; spent, it pays {when}"
        return f"{self.allows}; {math.floor(self.left):,} can be spent now"

    def record(self) -> dict[str, Any]:
        """Return it as a record."""
        return {
            "class": self.name,
            "allows": self.allows,
            "left": round(self.left, 3),
            "burst": self.burst,
            "pays_at": rfc3339(self.at),
        }


def purse_of(connection: Connection, settings: Settings, name: str, *, now: Instant) -> Purse:
    """Return how the budget of a class stands; one that no process has used yet is full."""
    wanted = settings.budget.map_names().get(name)
    if wanted is None and name != WHOLE:
        return Purse(name, "")
    allows = f"{settings.budget.polls_per_day:,.10g} per day" if wanted is None else str(wanted)
    known = charge.budgets(connection).get(name)
    if known is None:
        burst = settings.budget.burst if wanted is None else wanted.burst
        return Purse(name, allows, burst, burst, now)
    row = known.refill(now)
    if row.level >= 1:
        return Purse(name, allows, row.level, row.burst, now)
    return Purse(name, allows, row.level, row.burst, row.available_at(1.0), is_spent=True)


def purses(connection: Connection, settings: Settings, *, now: Instant) -> list[Purse]:
    """Return all budgets: that of all polls, then the classes, the most generous first."""
    return [purse_of(connection, settings, name, now=now) for name in (WHOLE, *settings.budget.map_names())]


def render_cost(settings: Settings, budget: str = WHOLE) -> float:
    """Return what a rendered poll costs a budget: what is set, but never more than the budget of all polls, and its class, can save up."""
    dear = min(settings.fetch.browser_cost, settings.budget.burst)
    paying = settings.budget.map_names().get(budget)
    return dear if paying is None else min(dear, paying.burst)
