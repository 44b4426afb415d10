"""Effective age: how old a page would have to be, without hints, to be as likely stale as it is (scheduling §6).

−ln P(fresh)/Δ = (1 − ρ)·t + Σ ln(γ/ν)/Δ: a page ages by what no source tells of (`unheard`), and each hint makes it older at once (`hinted`).
Who knows the sources says both (`estimation.evidence`); policies that weigh hints read them here and nowhere else.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from tidings.model.interval import DAY, Duration
from tidings.scheduling.population import Floats, Instants, Population, Rows

HINTS: Final = frozenset({"hinted", "unheard"})
"""Columns that effective ages are made of."""
MOST: Final[Duration] = 365 * DAY
"""Hints make no page older than that."""


def is_heard_of(population: Population) -> bool:
    """Return False if no source speaks of any page, so that effective ages are ages: known at once while no column was ever written to."""
    if not population.size:
        return False
    hinted, unheard = population["hinted"], population["unheard"]
    is_plain = hinted.strides == unheard.strides == (0,)
    return not (is_plain and hinted[0] == 0 and unheard[0] == 1)


def age(population: Population, since: Floats, rows: Rows | slice) -> Floats:
    """Return the effective ages (µs) of the pages at `rows` that were polled so long ago."""
    if not is_heard_of(population):
        return since
    return np.asarray(since * population["unheard"][rows] + population["hinted"][rows])


def wait(population: Population, effective: Floats, rows: Rows | slice) -> Floats:
    """Return how long after a poll pages have these effective ages (µs; inf for never), 0 if they have them already."""
    if not is_heard_of(population):
        return effective
    return np.asarray(np.maximum(effective - population["hinted"][rows], 0.0) / population["unheard"][rows])


def hint(population: Population, rows: Rows, extra: Instants) -> Population:
    """Return the population after hints that make pages so much older (µs)."""
    return population.set(rows, {"hinted": np.minimum(population["hinted"][rows] + np.minimum(extra, MOST), MOST)})


def without_hints(population: Population) -> Population:
    """Return the population as it is in the long run, when polls have answered the hints that wait now."""
    return population.set(np.arange(population.size), {"hinted": 0}) if is_heard_of(population) else population
