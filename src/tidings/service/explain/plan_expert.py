"""Appraisal for `plan --expert`: the price and its causes, the parts of each page's bid, and a
certificate of the last days.

Computed from stored data, with the planner of the running service.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from tidings.clock import DAY, SECOND
from tidings.record import dataclass
from tidings.scheduling.bounds.certificate import Certificate, measure_window
from tidings.scheduling.learned import Learned
from tidings.scheduling.price.policy import BidParts, Price, explain
from tidings.scheduling.timetable.expected import RATE
from tidings.service.explain.certificate import Book
from tidings.service.explain.plan_summary import PRICED
from tidings.storage.observed import estimates, polls
from tidings.storage.watches import events

if TYPE_CHECKING:
    from tidings.model.interval import Instant
    from tidings.scheduling.policy import Market
    from tidings.service.plan.planner import Planner
    from tidings.service.watch.needs import Needs
    from tidings.storage.db.connection import Connection

RULES: Final[Mapping[str, str]] = {
    "new": "first look",
    "saturated": "differs each time",
    "shortest": "least interval",
    "longest": "max_age",
    "price": "price",
}


@dataclass(frozen=True, slots=True)
class Bid:
    """The parts of a policy page's bid, and the rule of its due time."""

    parts: BidParts
    due: str

    def record(self) -> dict[str, Any]:
        """Return it for a record; times in seconds."""
        parts = asdict(self.parts)
        del parts["rule"]
        for name in ("half_life", "age", "wait", "gap"):
            parts[name] = None if parts[name] is None else round(parts[name] / SECOND, 3)
        return {**parts, "due_by": self.due}

    def __str__(self) -> str:
        parts = self.parts
        age = "never checked" if parts.age is None else f"age {_hours(parts.age)}"
        wait = "T* never" if parts.wait is None else f"T* {_hours(parts.wait)}"
        return f"{age}, {parts.rate:.3g} changes a day, g {parts.gathered:.3g}, {wait}, index {parts.index:.3g}, waits {_hours(parts.gap)}, due by {self.due}"


@dataclass(frozen=True, slots=True)
class Appraisal:
    """Price and floor per unit of cost; `budget`, how much of it is `promised` to fixed intervals,
    `planned` in all, and `spent` in the last day, all per day; the `bids` by page; the certificate,
    or why there is none.
    """

    price: float
    market: Market
    trim: float
    stretch: float
    budget: float
    promised: float
    spent: float
    bids: Mapping[int, Bid]
    certificate: Certificate | None
    why_not: str
    days: float
    is_wic: bool = False

    @property
    def planned(self) -> float:
        """Return the planned cost of polls per day."""
        return self.promised + self.market.spend * DAY

    def records(self) -> list[dict[str, Any]]:
        """Return the JSON records beside those of polls."""
        price = {
            "record": "plan",
            "kind": "price",
            "price": self.price,
            "floor": self.market.floor,
            "binds": self.market.binds,
            "trim": self.trim,
            "stretch": self.stretch,
            "wic": self.is_wic,
            "budget": self.budget,
            "promised": self.promised,
            "planned": self.planned,
            "spent": self.spent,
        }
        return [price, {"record": "plan", "kind": "certificate", "days": round(self.days, 3), **self._certify()}]

    def lines(self) -> list[str]:
        """Return the lines for experts."""
        made = "the budget decides it" if self.market.binds else "the pace decides it, not the budget"
        certified = self.why_not if self.certificate is None else f"{self.certificate}, in {self.days:.0f} days"
        return [
            f"price        {self.price:.4g}, floor {self.market.floor:.4g} ({made}); trim {self.trim:.3f}, longest waits × {self.stretch:.3g}"
            + ("; WIC bids in this epoch, which earns more in the model" if self.is_wic else ""),
            f"budget       {self.budget:,.0f} a day, {self.promised:,.0f} of these for fixed intervals; {self.planned:,.0f} planned, {self.spent:,.0f} spent in the last 24 hours",
            f"certificate  {certified}",
            *(
                []
                if self.certificate is None or self.certificate.kept is None
                else [f"in the past  {self.certificate.kept}"]
            ),
        ]

    def _certify(self) -> dict[str, Any]:
        found = self.certificate
        if found is None:
            return {"share": None, "reason": self.why_not}
        reason = "model off" if found.is_off else ""
        return {"share": found.share, "reason": reason, **asdict(found)}


def appraise(
    connection: Connection, planner: Planner, needs: Needs, *, policy: str, budget: float, now: Instant
) -> Appraisal | None:
    """Return a planner's appraisal of all watched pages; None if its policy has no price.

    Args:
        planner: A planner that has only the watched pages.
        needs: The open complex needs.
        policy: The name under which its memory is stored.
        budget: Polls a day.
        now: The present (µs).
    """
    _recall(connection, planner, policy, now)
    market = planner.pricing.market
    if market is None:
        return None
    certificate, why_not, days = _certificate(connection, planner, now)
    return Appraisal(
        planner.proposals.price,
        market,
        planner.pricing.trim.factor,
        planner.pricing.stretch,
        budget,
        planner.pricing.promised * DAY,
        polls.sum_costs(connection, now - DAY),
        _bids(planner, needs, now),
        certificate,
        why_not,
        days,
        planner.pricing.rival is not None,
    )


def turns(connection: Connection, planner: Planner, *, policy: str, now: Instant) -> dict[int, Instant]:
    """Return when a planner's policy would poll each page that is left to it.

    Args:
        planner: A planner that has only the watched pages.
        policy: The name under which its memory is stored.
        now: The present (µs).
    """
    _recall(connection, planner, policy, now)
    dues = {i: planner.proposals.due(i) for i in planner.proposals.state.population.ids.tolist()}
    return {page_id: due for page_id, due in dues.items() if due is not None}


def _recall(connection: Connection, planner: Planner, policy: str, now: Instant) -> None:
    """Restore the service's learned state in a planner, and find the present price."""
    planner.recall(estimates.load_all(connection, policy))
    if (priced := events.newest(connection, PRICED)) is not None:
        planner.recall_price(priced.data, now - priced.at)
    planner.due_pages(now)


def _inner(planner: Planner) -> tuple[Price, Any] | None:
    """Return the policy beneath the learner with its state, None if it is not a price policy."""
    policy, state = planner.proposals.policy, planner.proposals.state
    if isinstance(policy, Learned):
        policy, state = policy.policy, state.inner
    return (policy, state) if isinstance(policy, Price) else None


def _bids(planner: Planner, needs: Needs, now: Instant) -> dict[int, Bid]:
    if (inner := _inner(planner)) is None:
        return {}
    found = {}
    parts = explain(*inner, now, planner.proposals.price)
    for page_id, each in zip(inner[1].population.ids.tolist(), parts, strict=True):
        rule = RULES[each.rule]
        begins, due = needs.begins(page_id), planner.due_at(page_id)
        if begins is not None and due is not None and begins >= due:
            rule = "need"
        elif planner.has_tick(page_id):
            rule = "promise"
        found[page_id] = Bid(each, rule)
    return found


def _certificate(connection: Connection, planner: Planner, now: Instant) -> tuple[Certificate | None, str, float]:
    """Return the certificate of the last days, or why there is none, and the number of days it
    covers.
    """
    inner = _inner(planner)
    known = {} if inner is None else {i: planner.proposals.memory(i) for i in inner[1].population.ids.tolist()}
    rates = {i: memory[RATE] for i, memory in known.items() if memory and RATE in memory}
    if inner is None or not rates:
        return None, "none: no rates are learned under this policy", 0.0
    policy, state = inner
    window = measure_window(policy.gaps(state, planner.proposals.price).astype(np.float64))
    book = Book.of(connection, state, rates, planner.proposals.price, now - window, now)
    days = window / DAY
    if not book.before.keys() & rates.keys():
        first = min((at for _, at, _ in book.looks), default=now)
        return None, f"none yet: it needs {days:.0f} days of checks, there are {(now - first) / DAY:.1f}", days
    return book.certificate(), "", days


def _hours(duration: float) -> str:
    return f"{duration / DAY * 24:.3g} h"
