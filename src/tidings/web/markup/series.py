"""The history of watched values: a server-side plot of each numeric value, with the same data as a
table.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Final

from markupsafe import Markup

from tidings.record import dataclass
from tidings.storage.watches import values
from tidings.web.markup.catalogue import say

if TYPE_CHECKING:
    from tidings.model.interval import Instant
    from tidings.storage.db.connection import Connection
    from tidings.storage.watches.values import StoredValue

SHOWN: Final = 200
"""Number of a sentinel's newest values that are read."""
ROWS: Final = 30
WIDTH: Final = 1_100
HEIGHT: Final = 140


@dataclass(frozen=True, slots=True)
class Course:
    """The history of one value: its name, its rows newest first with the difference to the one
    before (None: no number), and its plot.
    """

    label: str
    unit: str
    now: str
    rows: Sequence[tuple[StoredValue, float | None]]
    plot: Markup


def courses(c: Connection, sentinel_id: int, now: Instant) -> list[Course]:
    """Return the history of each value that a sentinel watches."""
    found: dict[tuple[int, str], list[StoredValue]] = {}
    for value in values.listing(c, sentinel_id, limit=SHOWN):
        found.setdefault((value.page_id, value.label), []).append(value)
    return [_course(label, rows, now) for (_, label), rows in found.items()]


def _course(label: str, rows: Sequence[StoredValue], now: Instant) -> Course:
    newest = rows[-1]
    differences = [None, *(_difference(before, after) for before, after in pairwise(rows))]
    shown = list(zip(rows, differences, strict=True))[::-1][:ROWS]
    numbers = [(row.at, float(row.amount)) for row in rows if row.amount]
    return Course(
        label, newest.unit, newest.text, shown, _plot(label, numbers, now) if len(numbers) > 1 else Markup("")
    )


def _difference(before: StoredValue, after: StoredValue) -> float | None:
    """Return the relative change of a value; None where it is undefined."""
    if not before.amount or not after.amount or float(before.amount) == 0:
        return None
    return float(after.amount) / float(before.amount) - 1


def _plot(label: str, numbers: Sequence[tuple[Instant, float]], now: Instant) -> Markup:
    """Return a step plot: a value holds until the next one is seen."""
    first, last = numbers[0][0], max(now, numbers[-1][0] + 1)
    lowest, highest = min(one for _, one in numbers), max(one for _, one in numbers)
    room = (highest - lowest) or 1.0

    def x(at: Instant) -> float:
        return 60 + (WIDTH - 80) * (at - first) / (last - first)

    def y(value: float) -> float:
        return 12 + (HEIGHT - 24) * (highest - value) / room

    points = [f"{x(first):.1f},{y(numbers[0][1]):.1f}"]
    for (_, before), (at, value) in pairwise(numbers):
        points += [f"{x(at):.1f},{y(before):.1f}", f"{x(at):.1f},{y(value):.1f}"]
    points.append(f"{x(last):.1f},{y(numbers[-1][1]):.1f}")
    said = say(
        "{label}: from {first} to {last}, lowest {lowest}, highest {highest}; table below",
        label=label,
        first=f"{numbers[0][1]:g}",
        last=f"{numbers[-1][1]:g}",
        lowest=f"{lowest:g}",
        highest=f"{highest:g}",
    )
    return Markup(
        '<svg class="plot xl" viewBox="0 0 {} {}" role="img" aria-label="{}"><path class="g" d="M60 {}H{}M60 {}H{}"/>'
        '<text x="0" y="{}">{}</text><text x="0" y="{}">{}</text><polyline class="c" points="{}"/>'
        '<circle class="f1" cx="{}" cy="{}" r="4"/></svg>'
    ).format(
        WIDTH, HEIGHT, said, 12, WIDTH - 20, HEIGHT - 12, WIDTH - 20, 16, f"{highest:g}", HEIGHT - 8, f"{lowest:g}",
        " ".join(points), f"{x(last):.1f}", f"{y(numbers[-1][1]):.1f}",
    )  # fmt: skip
