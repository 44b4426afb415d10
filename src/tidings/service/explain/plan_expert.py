"""Appraisal for `plan --expert`: the price and its causes, the parts of each page's bid, and a
certificate of the last days (bid §6).

Computed from stored data, with the planner of the running service. The certificate compares the
polls of the last days with an optimal schedule. Both sides assume the rates of change estimated at
the end: constant ones, or, where hours of the week are known of a page (`price_hours`), periodic
ones.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from tidings.clock import DAY, HOUR, MINUTE, SECOND, WEEK
from tidings.estimation.learner import Gamma
from tidings.record import dataclass
from tidings.scheduling.bounds.certificate import (
    Backlogs,
    Certificate,
    CertifiedPages,
    ModelledPolls,
    by_instants,
    certify,
    measure_window,
    steadily,
)
from tidings.scheduling.bounds.lookback import WindowPolls
from tidings.scheduling.bounds.steady import Steady
from tidings.scheduling.learned import Learned
from tidings.scheduling.price.hours import HoursState
from tidings.scheduling.price.lookahead import Gathering, Ticks, backlog
from tidings.scheduling.price.policy import BidParts, Price, PriceState, explain
from tidings.scheduling.price.value import Values, values
from tidings.scheduling.timetable import RATE
from tidings.service.explain.plan_summary import PRICED
from tidings.storage.observed import estimates, polls
from tidings.storage.watches import events

if TYPE_CHECKING:
    from tidings.model.interval import Instant
    from tidings.scheduling.policy import Floats, Instants, Market
    from tidings.service.plan.planner import Planner
    from tidings.service.watch.page_schedule import Needs
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
                if self.certificate is None or self.certificate.value_share is None
                else [f"in the past  {self.certificate.value_share}"]
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
        first = min((at for _, at, _ in book.recorded), default=now)
        return None, f"none yet: it needs {days:.0f} days of checks, there are {(now - first) / DAY:.1f}", days
    return book.certificate(), "", days


def _hours(duration: float) -> str:
    return f"{duration / DAY * 24:.3g} h"


TICK: Final = 30 * MINUTE
HALF_HOURS: Final = 2
MOST_TIMED: Final = 64
"""Most pages with hours of the week that are certified, evenly chosen, the rest of them omitted:
their programs take time.
"""


@dataclass(frozen=True, slots=True)
class Book:
    """The polls of a window: the policy's state, its estimated rates, the price, the last polls
    before the window, and the polls from `begin` to `end`.
    """

    state: PriceState
    rates: Mapping[int, Mapping[str, float]]
    price: float
    before: Mapping[int, Instant]
    recorded: Sequence[tuple[int, Instant, bool]]
    begin: Instant
    end: Instant

    @classmethod
    def of(
        cls,
        connection: Connection,
        state: PriceState,
        rates: Mapping[int, Mapping[str, float]],
        price: float,
        begin: Instant,
        end: Instant,
    ) -> Book:
        """Return the stored polls from `begin` to `end` of the pages with known rates.

        Args:
            state: The state of the policy.
            rates: The estimated rate of each page.
            price: The price of a poll.
            begin: The beginning of the window (µs).
            end: Its end (µs).
        """
        recorded = [poll for poll in polls.list_successes(connection, begin) if poll[0] in rates]
        return cls(state, rates, price, polls.last_before(connection, begin), recorded, begin, end)

    def certificate(self) -> Certificate:
        """Return the certificate of all polls, each page under its policy's model."""
        ids = [i for i in self.state.population.ids.tolist() if i in self.rates]
        hours = _hours_of(self.state)
        timed = [i for i in ids if i in hours and i in self.before]
        groups: dict[tuple[float, ...], list[int]] = {}
        for page_id in timed[:: -(-len(timed) // MOST_TIMED) or 1]:
            groups.setdefault(hours[page_id], []).append(page_id)
        parts = [self.by_hours(weights, pages) for weights, pages in groups.items()]
        steady = self.steadily([i for i in ids if i not in hours])
        return certify(steadily(*steady), *parts, polls=self.polls(ids, hours))

    def polls(self, ids: Sequence[int], hours: Mapping[int, Sequence[float]]) -> WindowPolls:
        """Return the polls of pages for the certificate; `hours` are the weights of the hours of
        the week of those that have some.
        """
        worth, steady = self._worth(ids)
        hosts = self.state.population["host"][self.state.population.rows(ids)]
        row = {page_id: number for number, page_id in enumerate(ids)}
        last: dict[int, Instant] = dict(self.before)
        made: list[tuple[int, Instant, Instant, bool]] = []
        for page_id, at, is_new in self.recorded:
            if page_id in row and page_id in last:
                made.append((row[page_id], at, at - last[page_id], is_new))
            last[page_id] = at
        made.sort(key=lambda each: each[:2])
        page, when, gap = (np.array([each[k] for each in made], np.int64) for k in range(3))
        hazard = worth.rate[page] * gap
        sums = {key: np.concatenate([[0.0], np.cumsum(key)]) for key in {tuple(hours[i]) for i in ids if i in hours}}
        for number, page_id in enumerate(ids):
            if page_id in hours:
                mine = page == number
                total = sums[tuple(hours[page_id])]
                hazard[mine] = (
                    worth.rate[number] * HOUR * (_weigh(total, when[mine]) - _weigh(total, (when - gap)[mine]))
                )
        value = worth.importance[page]
        changed = np.array([each[3] for each in made], np.bool_)
        return WindowPolls(page, hosts[page], when, gap.astype(np.float64), changed, hazard, value, steady.kappa[page])

    def steadily(self, ids: Sequence[int]) -> tuple[Backlogs, ModelledPolls]:
        """Return the window of pages with constant rates, and their polls; one without a poll
        before starts at its first one.
        """
        _, steady = self._worth(ids)
        start: dict[int, Instant] = {}
        for page_id, at, _ in self.recorded:
            if page_id not in self.before:
                start.setdefault(page_id, at)
        age = np.array([0 if i in start else self.begin - self.before.get(i, self.begin) for i in ids], np.float64)
        known = start.keys() | self.before.keys()
        length = np.array([self.end - start.get(i, self.begin) if i in known else 0 for i in ids], np.float64)
        found = self._find_polls(ids, lambda page_id, at: float(at - start.get(page_id, self.begin)))
        return Backlogs(steady, age, length), found

    def by_hours(self, weights: Sequence[float], ids: Sequence[int]) -> CertifiedPages:
        """Return the part of pages with these hours of the week, at a resolution of half an
        hour.
        """
        worth, steady = self._worth(ids)
        profile = np.repeat(np.array(weights), HALF_HOURS)
        gathering = Gathering.of(profile, worth.inflow * TICK, worth.decay * TICK, worth.overwritten * TICK)
        first, last = self.begin // TICK, np.array([self.before[i] // TICK for i in ids])

        def gather(begins: Ticks, end: int) -> Floats:
            at = np.where(begins[:, None] == 0, last, first + begins[:, None])
            return backlog(gathering.read(at), gathering.read(np.full(len(ids), first + end)))

        def credit(begins: Ticks, end: int) -> Floats:
            return steady.appraise_backlog(gather(begins, end))

        times = self._find_polls(ids, lambda _, at: float(max(-(-at // TICK) - first, 1)))
        instants = max(-(-self.end // TICK) - first, 1)
        return by_instants(gather, credit, worth.cost, instants, times)

    def _worth(self, ids: Sequence[int]) -> tuple[Values, Steady]:
        """Return the worth of pages' changes at the present rates."""
        population = self.state.population
        rows = population.rows(ids)
        worth = values(population.set(rows, {RATE: self._posterior(ids).mean}), rows)
        kappa = worth.decay + worth.overwritten
        return worth, Steady(worth.inflow / kappa, kappa, worth.cost, self.price)

    def _posterior(self, ids: Sequence[int]) -> Gamma:
        return Gamma.of([self.rates[i]["shape"] for i in ids], [self.rates[i]["scale"] for i in ids])

    def _find_polls(self, ids: Sequence[int], place: Callable[[int, Instant], float]) -> ModelledPolls:
        """Return the polls of pages after their first one, each with its time and its probability
        of finding a change.
        """
        row = {page_id: number for number, page_id in enumerate(ids)}
        last: dict[int, Instant] = dict(self.before)
        made = []
        for page_id, at, is_new in self.recorded:
            if page_id in row and page_id in last:
                made.append((row[page_id], place(page_id, at), is_new, (at - last[page_id]) / DAY))
            last[page_id] = at
        rows = np.array([each[0] for each in made], np.intp)
        changed = np.array([each[2] for each in made], np.bool_)
        chance = self._posterior(ids).at(rows).chance([each[3] for each in made]) if made else np.zeros(0)
        return ModelledPolls(rows, np.array([each[1] for each in made], np.float64), changed, chance)


def _weigh(total: Floats, at: Instants) -> Floats:
    """Return the cumulative weights of the hours of the week from 1970 to each instant; `total` are
    those of one week, cumulated from its start.
    """
    weeks, rest = np.divmod(at, WEEK)
    inside = np.interp(rest / HOUR, np.arange(len(total)), total)
    return np.asarray(weeks * total[-1] + inside)


def _hours_of(state: PriceState) -> dict[int, tuple[float, ...]]:
    """Return the hours of the week of the pages that have some."""
    if not isinstance(state, HoursState):
        return {}
    profiles = [tuple(row) for row in state.weights.tolist()]
    pairs = zip(state.population.ids.tolist(), state.which.tolist(), strict=True)
    return {page_id: profiles[number] for page_id, number in pairs if number >= 0}
