"""`price` where looks at some pages are needed together: what such a look serves is added to its bid (bid §1; scheduling §9).

A look at a page serves all waits (EIs) for it that are open: each is worth w/(residual·slack) more, w what its need weighs, the residual how many
looks the need still lacks, the slack how many looks could still be made in time. That stands on the side of looking now alone, never in what
waiting is worth, else waiting always wins. The live planner does not bid for needs: it serves them before all bids, in an order of their own
(`scheduling.needs`). This is for the laboratory, where needs and news share one price.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from tidings.model.interval import Instant
from tidings.scheduling.beside import widened
from tidings.scheduling.lateness import due_after
from tidings.scheduling.needs import Sought
from tidings.scheduling.policy import Columns, Floats, Ids, Instants, Mask, Observation, Population, Rows
from tidings.scheduling.price.policy import Price, PriceState


@dataclass(frozen=True, slots=True, eq=False)
class Waits:
    """Open waits: of which page, until when (µs), and what a look is worth to the need, w over its residual."""

    page: Ids
    end: Instants
    worth: Floats

    @classmethod
    def of(cls, sought: Iterable[Sought]) -> Waits:
        """Return the waits of looks that are sought."""
        columns = list(zip(*((one.page, one.end, one.weight / max(one.left, 1)) for one in sought), strict=True))
        page, end, worth = columns or ((), (), ())
        return cls(np.array(page, dtype=np.int64), np.array(end, dtype=np.int64), np.array(worth, dtype=np.float64))

    def at(self, places: Mask) -> Waits:
        """Return some of the waits."""
        return Waits(self.page[places], self.end[places], self.worth[places])


@dataclass(frozen=True, slots=True, eq=False)
class NeedsState(PriceState):
    """What `price` knows, and the waits that are open."""

    waits: Waits


@dataclass(frozen=True, slots=True)
class PriceNeeds(Price):
    """`Price`, with looks that are needed. At the floor price nothing speaks against a look that is needed: it is due at once."""

    def on_needs(self, state: PriceState, sought: Iterable[Sought]) -> NeedsState:
        """Return the state with these looks sought, which have begun, and no others. A look at a page serves all of them that are for it."""
        return _waiting(state, Waits.of(sought))

    def begin(self, population: Population, rng: np.random.Generator) -> NeedsState:
        """Return the state in which nothing is sought."""
        return _waiting(Price.begin(self, population, rng), Waits.of(()))

    def on_update(self, state: PriceState, ids: ArrayLike, columns: Columns) -> NeedsState:
        """Return the state with other pages or values; nothing is sought of pages that have left."""
        after, waits = Price.on_update(self, state, ids, columns), _own(state).waits
        return _waiting(after, waits.at(after.population.has(waits.page)))

    def on_poll(self, state: PriceState, ids: ArrayLike, observation: Observation) -> NeedsState:
        """Return the state after looks, which have served what was sought of their pages."""
        waits = _own(state).waits
        return _waiting(Price.on_poll(self, state, ids, observation), waits.at(~np.isin(waits.page, ids)))

    def bonus(self, state: PriceState, now: ArrayLike, rows: Rows | slice = slice(None)) -> Floats:
        """Return Σ w/(residual·slack) over the open waits of each page; `now` is an instant, or one a row."""
        population, waits = state.population, _own(state).waits
        wanted = population.ids[rows]
        bonus = np.zeros(len(wanted))
        if not (len(waits.page) and len(wanted)):
            return bonus
        order = np.argsort(wanted, kind="stable")
        places = order[np.minimum(np.searchsorted(wanted, waits.page, sorter=order), len(wanted) - 1)]
        spacing = np.maximum(population["shortest"][rows], self.shortest)[places]
        left = waits.end - np.broadcast_to(np.asarray(now, dtype=np.int64), len(wanted))[places]
        is_open = (wanted[places] == waits.page) & (left >= 0)
        np.add.at(bonus, places[is_open], (waits.worth / (1 + np.maximum(left, 0) // spacing))[is_open])
        return bonus

    def bid(self, state: PriceState, now: Instant, price: float, *, rows: Rows | None = None) -> Floats:
        """Return the bids of `price`, and of a page that is needed its index and what the look serves, where these reach the price together."""
        where: Rows | slice = slice(None) if rows is None else rows
        bids = Price.bid(self, state, now, price, rows=rows)
        if not len(_own(state).waits.page):
            return bids
        level = max(price, self.floor)
        needed = self._needed(state, np.full(len(bids), now), level, where)
        passes = (needed >= level) | ((level <= self.floor) & (needed > 0))
        return np.where(passes & (self._may(state, where) <= now), np.maximum(bids, np.maximum(needed, level)), bids)

    def next_due(self, state: PriceState, ids: ArrayLike, now: Instant, price: float) -> Instants:
        """Return when the wait of each page is over, or what is needed of it reaches the price, or can be reached no more."""
        due = Price.next_due(self, state, ids, now, price)
        waits, level = _own(state).waits, max(price, self.floor)
        waits = waits.at(waits.end >= now)
        pages = np.asarray(ids, dtype=np.int64)
        sought = np.flatnonzero(np.isin(pages, waits.page))
        if not len(sought):
            return due
        rows = state.population.rows(pages[sought])
        first = np.maximum(self._may(state, rows), now)
        over = np.maximum([waits.end[waits.page == page].min() + 1 for page in pages[sought].tolist()], first)
        reached = first if level <= self.floor else self._reached(state, level, rows, first, over)
        sooner = due.copy()
        sooner[sought] = np.minimum(due[sought], reached)
        return sooner

    def _may(self, state: PriceState, rows: Rows | slice) -> Instants:
        """Return from when on pages may be looked at, whatever for."""
        return due_after(state.population, state.population["shortest"][rows], rows)

    def _reached(self, state: PriceState, level: float, rows: Rows, low: Instants, high: Instants) -> Instants:
        """Return the first instant from `low` on at which what is needed is worth the price, `high` if none before it is: it only grows until then."""
        while (low < high).any():
            middle = low + (high - low) // 2
            passes = self._needed(state, middle, level, rows) >= level
            low, high = np.where(passes, low, np.minimum(middle + 1, high)), np.where(passes, middle, high)
        return high

    def _needed(self, state: PriceState, now: Instants, level: float, rows: Rows | slice) -> Floats:
        """Return the index and the bonus of each page at an instant of its own, per unit of cost; 0 where nothing is sought."""
        bonus = self.bonus(state, now, rows)
        worth, age = self.worth(state, level, rows), self.age(state.population, now, rows)
        return np.where(bonus > 0, self.gathered(worth, age, level) + bonus / worth.cost, 0.0)


def _own(state: PriceState) -> NeedsState:
    if not isinstance(state, NeedsState):
        message = f"needs have a state of their own, not {type(state).__name__}"
        raise TypeError(message)
    return state


def _waiting(state: PriceState, waits: Waits) -> NeedsState:
    return widened(NeedsState, state, waits=waits)
