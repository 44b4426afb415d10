"""WIC to the letter, to compare: poll where most utility has gathered (000 §2.3, §3; Pandey,
Dhamdhere, Olston, VLDB 2004).

An urgency is the worth of a change by the number of instants until its capture: any function u of t
= 0, 1, 2 … with u(0) = 1 that never rises. All four lives are one form: a change can be captured
while it is no older than `window` instants and fewer than `changes` others have followed; `at` is
the probability of that, for independent changes with the chances π (scheduling §1.1).
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from typing import Protocol, TypeAlias

import numpy as np

from tidings.record import dataclass
from tidings.scheduling.population import Floats, Instants, Rows

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
    """u(t) = ratio^t · Σ_l coefficients[l] · C(t, l) for t ≤ window."""

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


def utility(
    chances: Floats, life: WicLife, urgency: WicUrgency, previous: int, now: int, *, weight: float = 1.0
) -> float:
    """Return g(previous, now) = W Σ_{k = previous+1 … now} u(now − k) · π_k · life_k(now).

    `chances[k − 1]` is π_k, the probability that the page changes in instant k = 1, 2, …. O((now −
    previous)²).

    Args:
        chances: The probability of a change in each instant, from the first on.
        life: How long a change can be captured.
        urgency: Its worth by age.
        previous: The instant of the last poll, 0 if there was none.
        now: The instant of the poll.
        weight: The importance of the page.
    """
    changes = np.arange(previous + 1, now + 1)
    worth = urgency.at(now - changes) * chances[previous:now]
    return weight * sum(
        float(value) * life.at(chances, int(k), now) for value, k in zip(worth, changes, strict=True) if value
    )


Choose: TypeAlias = Callable[[Floats, int], Rows]
"""Chooses pages by their gains at an instant 1, 2, … If it finds a best feasible set, and every
subset of a feasible set is feasible, the schedule earns at least 1/(1 + a) of any other (scheduling
§1.4).
"""


@dataclass(frozen=True, slots=True)
class WicPage:
    """A page as WIC sees it: its probability of change in each instant, and the worth of its
    changes.
    """

    chances: Floats
    life: WicLife
    urgency: WicUrgency
    weight: float = 1.0

    def gain(self, previous: int, now: int) -> float:
        """Return the utility of a poll at `now` after one at `previous` (0: none)."""
        return utility(self.chances, self.life, self.urgency, previous, now, weight=self.weight)


@dataclass(frozen=True, slots=True)
class Schedule:
    """The pages polled at instants 1, 2, … and the utility that they earned."""

    polls: tuple[tuple[int, ...], ...]
    utility: float


def top(capacity: int, *, worthless: bool = True) -> Choose:
    """Return the paper's choice: the `capacity` pages of largest gain, ties to the lower number;
    `worthless` fills up with pages of no gain.
    """

    def choose(gains: Floats, _: int) -> Rows:
        order = np.argsort(-gains, kind="stable")[:capacity]
        return order if worthless else order[gains[order] > 0]

    return choose


def wic(pages: Sequence[WicPage], choose: Choose) -> Schedule:
    """Return WIC's schedule over the instants of the pages' chances. Raise ValueError if these
    differ in number.
    """
    instants = np.array([page.chances for page in pages], dtype=np.float64).shape[1]
    last = [0] * len(pages)
    polls: list[tuple[int, ...]] = []
    total = 0.0
    for instant in range(1, instants + 1):
        gains = np.array([page.gain(before, instant) for page, before in zip(pages, last, strict=True)])
        chosen = choose(gains, instant)
        total += float(gains[chosen].sum())
        polls.append(tuple(sorted(chosen.tolist())))
        for number in chosen.tolist():
            last[number] = instant
    return Schedule(tuple(polls), total)


def best(
    pages: Sequence[WicPage], capacity: int, *, is_feasible: Callable[[Sequence[int]], bool] = lambda _: True
) -> Schedule:
    """Return the optimal schedule by exhaustive search, for small instances and as a reference
    (memoised over the last polls).
    """
    instants = len(pages[0].chances)
    sets = [
        s for size in range(capacity + 1) for s in itertools.combinations(range(len(pages)), size) if is_feasible(s)
    ]
    known: dict[tuple[int, tuple[int, ...]], tuple[float, tuple[tuple[int, ...], ...]]] = {}

    def go_on(instant: int, last: tuple[int, ...]) -> tuple[float, tuple[tuple[int, ...], ...]]:
        if instant > instants:
            return 0.0, ()
        if (instant, last) not in known:
            gains = [page.gain(before, instant) for page, before in zip(pages, last, strict=True)]
            outcomes = []
            for polled in sets:
                after = tuple(instant if number in polled else before for number, before in enumerate(last))
                value, rest = go_on(instant + 1, after)
                outcomes.append((value + sum(gains[number] for number in polled), (polled, *rest)))
            known[instant, last] = max(outcomes, key=lambda outcome: outcome[0])
        return known[instant, last]

    value, polls = go_on(1, (0,) * len(pages))
    return Schedule(polls, value)
