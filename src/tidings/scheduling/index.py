"""The index of a page (what a poll has gathered beyond what waiting would have), and its effective
age, which hints increase (scheduling §6).

G(t) − t·G'(t) with G = A(1 − e^{−κt}) is A·worth(κt), worth(x) = 1 − (1 + x)e^{−x}: freshness
(Olston and Pandey 2008), decaying interest and overwritten changes alike (scheduling §9). Polling
when it reaches the price of a poll is optimal at a fixed price.

−ln P(fresh)/Δ = (1 − ρ)·t + Σ ln(γ/ν)/Δ: a page ages by the changes that no source reports
(`unannounced`), and each hint makes it older at once (`hinted`). `estimation.evidence` provides
both; policies that weigh hints read them here and nowhere else.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from tidings.model.interval import DAY, Duration
from tidings.scheduling.population import Floats, Instants, Population, Rows

_SMALL = 1e-3
_TINY = 1e-150
_START = (0.08449, 0.16739)
"""Of x = s + s²(⅓ + as)/(1 + bs), s = √(2w): within 0.06 % of the root for every double w; least
squares.
"""


def worth(x: Floats) -> Floats:
    """Return 1 − (1 + x)e^{−x} for x ≥ 0, accurate for small x too."""
    gone = np.expm1(-x)
    found = -gone - x * (1 + gone)
    if (small := x < _SMALL).any():
        found = np.where(small, x * x * (0.5 - x * (1 / 3 - x / 8)), found)
    return np.asarray(found)


def wait(share: Floats) -> Floats:
    """Return x with worth(x) = share, for shares from 0 up (1 and more: as just below 1).

    One Halley step on x − ln(1 + x) = w, w = −ln(1 − share), from a start so close that it is
    enough.
    """
    low = np.log1p(-np.minimum(share, 1 - 1e-16))
    root = np.sqrt(-2 * low)
    x = root * (1 + root * (1 / 3 + _START[0] * root) / (1 + _START[1] * root)) + _TINY
    over = x - np.log1p(x) + low
    return np.asarray(x - 2 * over * x * (1 + x) / (2 * x * x - over))


HINTS: Final = frozenset({"hinted", "unannounced"})
"""The columns of effective ages."""
MOST: Final[Duration] = 365 * DAY
"""The most by which hints make a page older."""


def has_hints(population: Population) -> bool:
    """Return False if no source reports on any page, so that effective ages are ages; constant time
    while no column was written.
    """
    if not population.size:
        return False
    hinted, unannounced = population["hinted"], population["unannounced"]
    is_plain = hinted.strides == unannounced.strides == (0,)
    return not (is_plain and hinted[0] == 0 and unannounced[0] == 1)


def effective_age(population: Population, since: Floats, rows: Rows | slice) -> Floats:
    """Return the effective ages (µs) of the pages at `rows`, last polled `since` µs ago."""
    if not has_hints(population):
        return since
    return np.asarray(since * population["unannounced"][rows] + population["hinted"][rows])


def wait_to_age(population: Population, effective: Floats, rows: Rows | slice) -> Floats:
    """Return the time after a poll at which pages have these effective ages (µs; inf for never), 0
    if they have them already.
    """
    if not has_hints(population):
        return effective
    return np.asarray(np.maximum(effective - population["hinted"][rows], 0.0) / population["unannounced"][rows])


def hint(population: Population, rows: Rows, extra: Instants) -> Population:
    """Return the population after hints that make pages `extra` older (µs)."""
    return population.set(rows, {"hinted": np.minimum(population["hinted"][rows] + np.minimum(extra, MOST), MOST)})


def without_hints(population: Population) -> Population:
    """Return the population in the long run, when polls have consumed the pending hints."""
    return population.set(np.arange(population.size), {"hinted": 0}) if has_hints(population) else population
