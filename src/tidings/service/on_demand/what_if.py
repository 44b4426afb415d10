"""What other budgets would have brought: the simulation, one budget at a time."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final

from tidings.clock import DAY, HOUR
from tidings.record import dataclass
from tidings.service.on_demand.simulation import PageHistory, other_settings, read_history, simulate

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tidings.model.interval import Duration, Instant
    from tidings.settings import Settings
    from tidings.storage.db.connection import Connection

DAYS: Final = 7
"""Days of recorded changes that are simulated."""
PAGES: Final = 40
"""Most pages simulated, evenly chosen."""
FEWER, MORE = (0.125, 0.25, 0.5), (2.0, 4.0)
"""What is tried, as parts and multiples of the checks that are planned."""
BINDS: Final = 0.8
"""Where more than this part of the budget is planned, a larger one is tried, too."""
DIGITS: Final = 2
MOST: Final = 10_000_000.0
"""The largest budget that is tried, in checks a day."""


@dataclass(frozen=True, slots=True)
class BudgetTrial:
    """A budget (checks a day) to try on the history of a `share` of the pages."""

    budget: float
    history: PageHistory
    share: float
    settings: Settings


@dataclass(frozen=True, slots=True)
class BudgetPoint:
    """The simulated result of a budget (checks a day): checks made per day, changes found of all,
    their median delay (µs; None if none was found), the share seen within an hour.
    """

    budget: float
    made: float
    captured: int
    changes: int
    delay: Duration | None
    soon: float

    @property
    def found(self) -> float:
        """Return the share of changes found."""
        return self.captured / self.changes if self.changes else 1.0


def read_sample(c: Connection, settings: Settings, now: Instant) -> tuple[PageHistory, float]:
    """Return the history of the last days of some pages, and their share of all. It begins with the
    first page.
    """
    found = read_history(c, settings, begin=now - DAYS * DAY, end=now)
    if (first := min(found.since.values(), default=found.begin)) > found.begin:
        found = read_history(c, settings, begin=min(first, now - 1), end=now)
    return found.part(PAGES)


def try_budget(trial: BudgetTrial) -> BudgetPoint:
    """Return the result of a budget; of all pages in proportion."""
    settings = other_settings(trial.settings, budget=max(1.0, trial.budget * trial.share))
    found = simulate(trial.history, settings)
    delay = found.ledger.delay_quantile(0.5)
    return BudgetPoint(
        trial.budget,
        found.checks_a_day / trial.share,
        found.captured,
        found.changes,
        None if math.isnan(delay) else round(delay),
        found.within(HOUR),
    )


def choose_budgets(planned: float, budget: float, wanted: Iterable[float] = ()) -> list[float]:
    """Return the budgets that are tried: parts and multiples of what is planned, the present one,
    and what somebody wants to know of.

    Args:
        planned: Checks a day that are planned.
        budget: The present budget.
        wanted: Further budgets.
    """
    factors = (*FEWER, *MORE) if planned > BINDS * budget else FEWER
    tried = {_round(factor * min(planned, budget)) for factor in factors}
    return sorted({one for one in (*tried, budget, *wanted) if 1 <= one <= MOST})


def _round(value: float) -> float:
    """Return a number with two digits, which reads better."""
    return round(value, DIGITS - 1 - math.floor(math.log10(value))) if value > 0 else 0.0
