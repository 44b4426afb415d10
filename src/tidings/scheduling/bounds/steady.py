"""The most that pages of steady rate can earn: the program of each page at a price, exact and in
closed form.

Since the last poll a page has gathered G(t) = A(1 − e^{−κt}). G is concave, and so is the value of
the backlog left at the end (h of bid §1, as a function of its age: ρ·t up to T*, G(t) − cL beyond).
So of all schedules of a page with n polls the best has equal gaps, except for a first poll at once
if the initial backlog is older than that, and n is next to the number that the price implies.
"""

from __future__ import annotations

import numpy as np

from tidings.record import dataclass
from tidings.scheduling.index import wait
from tidings.scheduling.population import Floats, Rows


@dataclass(frozen=True, slots=True, eq=False)
class Steady:
    """Pages: A, κ (per µs) and the cost of a poll, all above 0; `level` is the price L that values
    the backlog left at the end.
    """

    most: Floats
    kappa: Floats
    cost: Floats
    level: float

    @property
    def size(self) -> int:
        """Return the number of pages."""
        return len(self.most)

    def gather(self, age: Floats, rows: Rows | slice = slice(None)) -> Floats:
        """Return G of some pages (rows may repeat) at an age (µs)."""
        return np.asarray(self.most[rows] * -np.expm1(-self.kappa[rows] * age))

    def appraise_age(self, age: Floats) -> Floats:
        """Return h: the value at the end of a backlog of that age (µs)."""
        due = self.waits(self.level)
        with np.errstate(invalid="ignore"):
            reward = np.where(np.isfinite(due), self.most * self.kappa * np.exp(-self.kappa * due), 0.0)
        return np.where(age < due, reward * age, self.gather(age) - self.cost * self.level)

    def appraise_backlog(self, backlog: Floats) -> Floats:
        """Return h of a backlog, however it gathered: a ripe one is worth a poll, another one the
        time that it saves.
        """
        due = self.waits(self.level)
        share = np.minimum(backlog / np.maximum(self.most, 1e-300), 1 - 1e-12)
        age = np.minimum(-np.log1p(-share) / self.kappa, np.where(np.isfinite(due), due, 0.0))
        reward = self.most * self.kappa * np.exp(-self.kappa * np.where(np.isfinite(due), due, 0.0))
        ripe = backlog - self.cost * self.level
        is_ripe = backlog >= self.gather(np.where(np.isfinite(due), due, 0.0))
        return np.where(np.isfinite(due), np.where(is_ripe, ripe, reward * age), np.maximum(ripe, 0.0))

    def waits(self, price: float) -> Floats:
        """Return T* (µs): the gap at which one more poll is worth its price, inf if it never is."""
        with np.errstate(divide="ignore", invalid="ignore"):
            share = np.where(self.most > 0, self.cost * price / self.most, np.inf)
        return np.where(share < 1, wait(np.minimum(share, 1 - 1e-16)) / self.kappa, np.inf)

    def best(self, price: float, age: Floats, length: Floats) -> tuple[Floats, Floats]:
        """Return the most that each page earns in `length` µs, net of `price` per unit of cost, and
        with how many polls.

        `age` is the age of its backlog at the start (µs).
        """
        value, polls = self.appraise_age(age + length), np.zeros(self.size)
        for due in (self.waits(price), self.waits(self.level)):
            near = np.floor(np.where(age > due, 1 + length / due, (age + length) / due))
            for step in (-1, 0, 1):
                number = np.maximum(near + step, 1.0)
                earned = self._with(number, age, length) - number * self.cost * price
                polls = np.where(earned > value, number, polls)
                value = np.maximum(value, earned)
        return value, polls

    def _with(self, polls: Floats, age: Floats, length: Floats) -> Floats:
        """Return the most that each page gathers with so many polls, at least one, and what is then
        left.
        """
        whole, gap = self._evenly(polls, age + length)
        rest, _ = self._evenly(polls - 1, length)
        return np.where(gap >= age, whole, self.gather(age) + rest)

    def _evenly(self, polls: Floats, length: Floats) -> tuple[Floats, Floats]:
        """Return the value of equal gaps over that time, with what is left after the last of them,
        and the gap.
        """
        due = self.waits(self.level)
        gap = np.clip(due, length / (polls + 1), length / np.maximum(polls, 1))
        return polls * self.gather(gap) + self.appraise_age(np.maximum(length - polls * gap, 0.0)), gap
