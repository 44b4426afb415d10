"""Life: how long a change can be captured (000 §2.3, with the corrections of scheduling §1.1).

All four are one form: a change can be captured while it is no older than `window` instants and
fewer than `changes` others have followed. `at` is the probability of that, for independent changes
with the chances π.
"""

from __future__ import annotations

import numpy as np

from tidings.record import dataclass
from tidings.scheduling.population import Floats


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
