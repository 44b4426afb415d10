"""Urgency and life: the worth of a change by the number of instants until its capture, and how long
it can be captured (000 §2.3, with the corrections of scheduling §1.1).

An urgency is any function u of t = 0, 1, 2 … with u(0) = 1 that never rises. Those of the form r^t
· Σ c_l · C(t, l), cut off after a window, gather by a recurrence of constant cost per instant
(`Accrual`): uniform, exponential, sliding window, the chord (1 − t/D)⁺ and polynomials times an
exponential. Any other is a table and gathers by its sum.

All four lives are one form: a change can be captured while it is no older than `window` instants
and fewer than `changes` others have followed. `at` is the probability of that, for independent
changes with the chances π.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from typing import Protocol

import numpy as np

from tidings.record import dataclass
from tidings.scheduling.population import Floats, Instants

FOREVER = None
"""As a window: no end."""


class WicUrgency(Protocol):
    """The worth of a change by its age in instants."""

    @property
    def window(self) -> int | None:
        """Return the last age at which a change is worth anything, None if it always is."""
        ...

    def at(self, ages: Instants) -> Floats:
        """Return u at ages of 0 and more."""
        ...


@dataclass(frozen=True, slots=True)
class PolyExponential:
    """u(t) = ratio^t · Σ_l coefficients[l] · C(t, l) for t ≤ window. With binomials, ageing is a
    sum of neighbours.
    """

    ratio: float = 1.0
    coefficients: tuple[float, ...] = (1.0,)
    window: int | None = FOREVER

    def at(self, ages: Instants) -> Floats:
        """Return u at ages of 0 and more."""
        t = np.asarray(ages, dtype=np.float64)
        binomial = np.ones_like(t)
        worth = np.zeros_like(t)
        for power, coefficient in enumerate(self.coefficients):
            worth += coefficient * binomial
            binomial = binomial * (t - power) / (power + 1)
        worth *= self.ratio**t
        return np.asarray(np.where(t <= (np.inf if self.window is None else self.window), worth, 0.0))


@dataclass(frozen=True, slots=True)
class UrgencyTable:
    """u(t) = values[t], 0 beyond."""

    values: tuple[float, ...]

    @property
    def window(self) -> int:
        """Return the last age in the table."""
        return len(self.values) - 1

    def at(self, ages: Instants) -> Floats:
        """Return u at ages of 0 and more."""
        padded = np.array([*self.values, 0.0])
        return np.asarray(padded[np.minimum(ages, len(self.values))])


def uniform() -> PolyExponential:
    """Return the urgency that ignores delay."""
    return PolyExponential()


def exponential(ratio: float) -> PolyExponential:
    """Return u(t) = ratio^t, ratio in [0, 1]; 0^0 is 1. Raises ValueError."""
    if not 0 <= ratio <= 1:
        message = f"the ratio of an urgency must be from 0 to 1, it is {ratio}"
        raise ValueError(message)
    return PolyExponential(ratio)


def sliding_window(width: int) -> PolyExponential:
    """Return u(t) = 1 for t ≤ width, else 0; with width 0 only the instant of the change counts.
    Raises ValueError.
    """
    if width < 0:
        message = f"a window must be 0 instants or more, it is {width}"
        raise ValueError(message)
    return PolyExponential(window=width)


def chordal(width: int) -> PolyExponential:
    """Return u(t) = (1 − t/width)⁺, width 1 or more. Raises ValueError."""
    if width < 1:
        message = f"a chord must be 1 instant or longer, it is {width}"
        raise ValueError(message)
    return PolyExponential(coefficients=(1.0, -1.0 / width), window=width)


def erlang(ratio: float, order: int) -> PolyExponential:
    """Return u(t) = ratio^t · Σ_{l < order} (−t·ln ratio)^l / l!: nearly flat at first, then as
    steep as `exponential`. Raises ValueError.

    The polynomial is rewritten in binomials by its finite differences.
    """
    if not 0 < ratio <= 1 or order < 1:
        message = (
            f"this urgency needs a ratio above 0, at most 1, and an order of 1 or more; they are {ratio} and {order}"
        )
        raise ValueError(message)
    rate = -math.log(ratio)
    values = [sum((rate * t) ** power / math.factorial(power) for power in range(order)) for t in range(order)]
    coefficients = []
    while values:
        coefficients.append(values[0])
        values = [later - earlier for earlier, later in itertools.pairwise(values)]
    return PolyExponential(ratio, tuple(coefficients))


def table(values: Sequence[float]) -> UrgencyTable:
    """Return the urgency with these values: 1 first, never rising, 0 or more. Raises ValueError."""
    if not values or values[0] != 1 or min(values) < 0 or any(b > a for a, b in itertools.pairwise(values)):
        message = "an urgency begins with 1, never rises and is never below 0"
        raise ValueError(message)
    return UrgencyTable(tuple(values))


def steepness(urgency: WicUrgency, horizon: int) -> float:
    """Return a = max u(t + 1)/u(t) over ages up to `horizon`, with 0/0 = 0: WIC earns at least 1/(1
    + a) of the optimum (000 §3.3).
    """
    worth = urgency.at(np.arange(horizon + 2))
    with np.errstate(invalid="ignore", divide="ignore"):
        ratios = np.where(worth[:-1] > 0, worth[1:] / worth[:-1], 0.0)
    return float(ratios.max())


@dataclass(frozen=True, slots=True)
class WicLife:
    """How long a change can be captured: for `window` instants after it (None: for ever), until
    `changes` others (None: unlimited).
    """

    window: int | None = None
    changes: int | None = None

    def __post_init__(self) -> None:
        if (self.window is not None and self.window < 0) or (self.changes is not None and self.changes < 1):
            message = f"a life lasts 0 instants or more and 1 change or more; it is {self}"
            raise ValueError(message)

    def at(self, chances: Floats, change: int, now: int) -> float:
        """Return the probability that a change at the instant `change` can be captured at `now`;
        `chances[j]` is π of instant j + 1.
        """
        if self.window is not None and now - change > self.window:
            return 0.0
        if self.changes is None:
            return 1.0
        return float(few_changes(chances[change:now], self.changes).sum())


def forever() -> WicLife:
    """Return the life of content that is appended and stays (Unbounded-Append)."""
    return WicLife()


def time_window(width: int) -> WicLife:
    """Return the life of content that stays for `width` instants (Time-window-Append); 0 is the
    instant of change alone.
    """
    return WicLife(window=width)


def change_window(number: int) -> WicLife:
    """Return the life of content that stays until `number` further changes
    (Change-window-Append).
    """
    return WicLife(changes=number)


def overwrite() -> WicLife:
    """Return the life of content that the next change replaces (Overwrite)."""
    return WicLife(changes=1)


def few_changes(chances: Floats, most: int) -> Floats:
    """Return the probabilities of 0, 1, … `most` − 1 changes in instants with these chances
    (Poisson-binomial), shape (most, …).

    `chances` has the instants along its first axis; further axes are pages.
    """
    likely = np.zeros((most, *chances.shape[1:]))
    likely[0] = 1.0
    for chance in chances:
        likely[1:] = likely[1:] * (1 - chance) + likely[:-1] * chance
        likely[0] *= 1 - chance
    return likely
