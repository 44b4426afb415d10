"""Certificate: the polls of the last days compared with an optimal schedule, from stored data (bid
§6).

Both sides assume the rates of change estimated at the end: constant ones, or, where hours of the
week are known of a page (`price_hours`), periodic ones.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Final

import numpy as np

from tidings.clock import DAY, HOUR, MINUTE, WEEK
from tidings.estimation.gamma import Gamma
from tidings.record import dataclass
from tidings.scheduling.bounds.certificate import (
    Backlogs,
    Certificate,
    CertifiedPages,
    Looks,
    by_instants,
    certify,
    steadily,
)
from tidings.scheduling.bounds.lookback import WindowPolls
from tidings.scheduling.bounds.steady import Steady
from tidings.scheduling.price.hours import HoursState
from tidings.scheduling.price.lookahead import Gathering, Ticks, backlog
from tidings.scheduling.price.policy import PriceState
from tidings.scheduling.price.value import Values, values
from tidings.scheduling.timetable.expected import RATE
from tidings.storage.observed import polls

if TYPE_CHECKING:
    from tidings.model.interval import Instant
    from tidings.scheduling.policy import Floats, Instants
    from tidings.storage.db.connection import Connection

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
    looks: Sequence[tuple[int, Instant, bool]]
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
        looks = [look for look in polls.list_successes(connection, begin) if look[0] in rates]
        return cls(state, rates, price, polls.last_before(connection, begin), looks, begin, end)

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
        for page_id, at, is_new in self.looks:
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

    def steadily(self, ids: Sequence[int]) -> tuple[Backlogs, Looks]:
        """Return the window of pages with constant rates, and their polls; one without a poll
        before starts at its first one.
        """
        _, steady = self._worth(ids)
        start: dict[int, Instant] = {}
        for page_id, at, _ in self.looks:
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

        looks = self._find_polls(ids, lambda _, at: float(max(-(-at // TICK) - first, 1)))
        instants = max(-(-self.end // TICK) - first, 1)
        return by_instants(gather, credit, worth.cost, instants, looks)

    def _worth(self, ids: Sequence[int]) -> tuple[Values, Steady]:
        """Return the worth of pages' changes at the present rates."""
        population = self.state.population
        rows = population.rows(ids)
        worth = values(population.set(rows, {RATE: self._posterior(ids).mean}), rows)
        kappa = worth.decay + worth.overwritten
        return worth, Steady(worth.inflow / kappa, kappa, worth.cost, self.price)

    def _posterior(self, ids: Sequence[int]) -> Gamma:
        return Gamma.of([self.rates[i]["shape"] for i in ids], [self.rates[i]["scale"] for i in ids])

    def _find_polls(self, ids: Sequence[int], place: Callable[[int, Instant], float]) -> Looks:
        """Return the polls of pages after their first one, each with its time and its probability
        of finding a change.
        """
        row = {page_id: number for number, page_id in enumerate(ids)}
        last: dict[int, Instant] = dict(self.before)
        made = []
        for page_id, at, is_new in self.looks:
            if page_id in row and page_id in last:
                made.append((row[page_id], place(page_id, at), is_new, (at - last[page_id]) / DAY))
            last[page_id] = at
        rows = np.array([each[0] for each in made], np.intp)
        changed = np.array([each[2] for each in made], np.bool_)
        chance = self._posterior(ids).at(rows).chance([each[3] for each in made]) if made else np.zeros(0)
        return Looks(rows, np.array([each[1] for each in made], np.float64), changed, chance)


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
