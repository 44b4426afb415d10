"""Durations and the execution intervals of fixed-interval polling (paper 001: EI)."""

from __future__ import annotations

from dataclasses import dataclass  # noqa: TID251 - the one with an order
from typing import Final

Instant = int
Duration = int

SECOND: Final[Duration] = 1_000_000
MINUTE: Final[Duration] = 60 * SECOND
HOUR: Final[Duration] = 60 * MINUTE
DAY: Final[Duration] = 24 * HOUR
WEEK: Final[Duration] = 7 * DAY
"""Units of time (µs) for rooms that must not import `clock`."""

NEVER: Final[Instant] = 2**63 - 1
"""An instant that never comes: no event, no upper bound. It fits into 64 bits, as every instant
does.
"""

UNITS: tuple[tuple[str, Duration], ...] = (
    ("week", WEEK),
    ("day", DAY),
    ("hour", HOUR),
    ("min", MINUTE),
    ("s", SECOND),
)


@dataclass(frozen=True, slots=True, order=True)
class ExecutionInterval:
    """A page is to be polled once at or after `start` and not after `end` (instants in µs, 001
    §2.1).
    """

    start: Instant
    end: Instant


def spell_duration(duration: Duration) -> str:
    """Return a duration in the largest unit that divides it, as the language writes it: `2 day`,
    `90 min`.

    A part below one second is printed as a fraction of a second.
    """
    for name, size in UNITS:
        if duration % size == 0 and duration >= size:
            return f"{duration // size} {name}"
    return f"{duration / 1_000_000:.6f}".rstrip("0").rstrip(".") + " s"


def say_duration(duration: Duration) -> str:
    """Return a duration as a sentence says it: `2 days`, `1 hour`, `90 min`."""
    spelled = spell_duration(duration)
    return spelled if spelled.startswith("1 ") or not spelled.endswith(("hour", "day", "week")) else f"{spelled}s"
