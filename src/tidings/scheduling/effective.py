"""Effective age: the age at which a page without hints would be as likely stale (scheduling §6).

−ln P(fresh)/Δ = (1 − ρ)·t + Σ ln(γ/ν)/Δ: a page ages by the changes that no source reports
(`unheard`), and each hint makes it older at once (`hinted`). `estimation.evidence` provides both;
policies that weigh hints read them here and nowhere else.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from tidings.model.interval import DAY, Duration
from tidings.scheduling.population import Floats, Instants, Population, Rows

HINTS: Final = frozenset({"hinted", "unheard"})
"""The columns of effective ages."""
MOST: Final[Duration] = 365 * DAY
"""The most by which hints make a page older."""


def is_heard_of(population: Population) -> bool:
    """Return False if no source reports on any page, so that effective ages are ages; constant time
    while no column was written.
    """
    if not population.size:
        return False
    hinted, unheard = population["hinted"], population["unheard"]
    is_plain = hinted.strides == unheard.strides == (0,)
    return not (is_plain and hinted[0] == 0 and unheard[0] == 1)


def age(population: Population, since: Floats, rows: Rows | slice) -> Floats:
    """Return the effective ages (µs) of the pages at `rows`, last polled `since` µs ago."""
    if not is_heard_of(population):
        return since
    return np.asarray(since * population["unheard"][rows] + population["hinted"][rows])


def wait(population: Population, effective: Floats, rows: Rows | slice) -> Floats:
    """Return the time after a poll at which pages have these effective ages (µs; inf for never), 0
    if they have them already.
    """
    if not is_heard_of(population):
        return effective
    return np.asarray(np.maximum(effective - population["hinted"][rows], 0.0) / population["unheard"][rows])


def hint(population: Population, rows: Rows, extra: Instants) -> Population:
    """Return the population after hints that make pages `extra` older (µs)."""
    return population.set(rows, {"hinted": np.minimum(population["hinted"][rows] + np.minimum(extra, MOST), MOST)})


def without_hints(population: Population) -> Population:
    """Return the population in the long run, when polls have consumed the pending hints."""
    return population.set(np.arange(population.size), {"hinted": 0}) if is_heard_of(population) else population
