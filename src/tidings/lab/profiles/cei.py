"""Execution intervals, complex execution intervals, and the number of probes per instant (001 §2.1;
scheduling §2.1).

Instants ("chronons") are 1, 2, … A probe of a resource captures every open interval of that
resource, for all CEIs.
"""

from __future__ import annotations

from typing import NamedTuple

from tidings.record import dataclass


class Interval(NamedTuple):
    """An execution interval (EI): the resource is to be probed at `start`, at `end` or between."""

    resource: int
    start: int
    end: int

    @property
    def length(self) -> int:
        """Return |I| in chronons."""
        return self.end - self.start + 1


@dataclass(frozen=True, slots=True)
class Cei:
    """A complex execution interval: intervals that are needed together.

    `needed` of them (default: all) capture it, and that is worth `weight`; an `additive` one is
    worth its share for each captured interval. It is known from `revealed` on, by default from the
    start of its first interval. `rank` is the rank of its profile, by default its own.
    """

    intervals: tuple[Interval, ...]
    weight: float = 1.0
    needed: int | None = None
    additive: bool = False
    revealed: int | None = None
    rank: int | None = None

    def __post_init__(self) -> None:
        if not self.intervals or any(interval.end < interval.start for interval in self.intervals):
            message = "a CEI has intervals, and none ends before it starts"
            raise ValueError(message)
        if not 1 <= self.threshold <= len(self.intervals) or self.weight <= 0:
            message = f"a CEI of {len(self.intervals)} intervals cannot need {self.needed} at a weight of {self.weight}"
            raise ValueError(message)

    @property
    def threshold(self) -> int:
        """Return how many intervals must be captured."""
        return len(self.intervals) if self.needed is None else self.needed

    @property
    def known_from(self) -> int:
        """Return the first instant at which a policy may know of it."""
        return min(interval.start for interval in self.intervals) if self.revealed is None else self.revealed

    def worth(self, captured: int) -> float:
        """Return its worth with `captured` intervals captured."""
        if self.additive:
            return self.weight * captured / len(self.intervals)
        return self.weight if captured >= self.threshold else 0.0


def cei(*intervals: tuple[int, int, int], **more: object) -> Cei:
    """Return the CEI with these (resource, start, end)."""
    return Cei(tuple(Interval(*interval) for interval in intervals), **more)  # type: ignore[arg-type]
