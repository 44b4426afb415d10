"""Small charts in HTML and SVG: the checks of 30 days, the history of a watched value, and the
hours of the week in which changes were found.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Final

from markupsafe import Markup

from tidings.clock import DAY
from tidings.record import dataclass
from tidings.storage.observed import polls
from tidings.storage.observed.polls import Beats
from tidings.storage.watches import values
from tidings.web.markup.formats import count
from tidings.web.markup.translations import say, sentences

if TYPE_CHECKING:
    from tidings.model.interval import Instant
    from tidings.storage.db.connection import Connection
    from tidings.storage.watches.values import StoredValue

SLOTS: Final = 48
DAYS: Final = 30
SLOT: Final = DAYS * DAY // SLOTS
_STROKES: Final = {"hs": "7v4", "hc": "1v16", "hf": "1v6m0 4v6"}
NONE: Final = Beats({}, 0, 0, 0)


def read_beats(c: Connection, page_ids: Collection[int], now: Instant) -> Mapping[int, Beats]:
    """Return the check results of the last 30 days, for each page that was checked."""
    return polls.beats(c, page_ids, since=now - DAYS * DAY, width=SLOT)


def merge_beats(found: Collection[Beats]) -> Beats:
    """Return the merged beats of several pages."""
    slots: dict[int, str] = {}
    for beats in found:
        for slot, kind in beats.slots.items():
            if kind == "changed" or slot not in slots or (kind == "failed" and slots[slot] == "seen"):
                slots[slot] = kind
    return Beats(slots, sum(b.polls for b in found), sum(b.changes for b in found), sum(b.failures for b in found))


def draw_beats(beats: Beats) -> Markup:
    """Return the bar; its label has the totals."""
    paths = {"hs": "", "hc": "", "hf": ""}
    for slot, kind in sorted(beats.slots.items()):
        if 0 <= slot < SLOTS:
            name = {"seen": "hs", "changed": "hc", "failed": "hf"}[kind]
            paths[name] += f"M{1 + 3 * slot} {_STROKES[name]}"
    said = say("{days} days: ", days=DAYS) + ", ".join(
        [
            count(beats.polls, "check"),
            count(beats.changes, "change"),
            *([say("{failures} failed", failures=f"{beats.failures:,}")] if beats.failures else []),
        ]
    )
    drawn = Markup("").join(
        Markup('<path class="{}" d="{}"/>').format(name, path) for name, path in paths.items() if path
    )
    return Markup('<svg class="beat" viewBox="0 0 144 18" role="img" aria-label="{}"><title>{}</title>{}</svg>').format(
        said, said, drawn
    )


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


WEEKDAYS: Final = sentences("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")
HOUR_WIDTH: Final = 19
DAY_HEIGHT: Final = 17


def draw_week(hours: Mapping[tuple[int, int], int]) -> Markup:
    """Return the picture of a week.

    Args:
        hours: Changes by day (0: Monday) and hour.
    """
    most = max(hours.values(), default=1)
    cells = Markup("").join(
        Markup('<rect class="f1" x="{}" y="{}" width="17" height="14" rx="2" fill-opacity="{:.2f}"/>').format(
            34 + HOUR_WIDTH * hour, DAY_HEIGHT * day, 0.06 + 0.94 * hours.get((day, hour), 0) / most
        )
        for day in range(7)
        for hour in range(24)
    )
    names = Markup("").join(
        Markup('<text x="0" y="{}">{}</text>').format(DAY_HEIGHT * k + 12, say(day)) for k, day in enumerate(WEEKDAYS)
    )
    clock = Markup("").join(
        Markup('<text x="{}" y="132">{}</text>').format(34 + HOUR_WIDTH * hour, hour) for hour in (0, 6, 12, 18)
    )
    said = say("{changes} by day and hour of the week", changes=count(sum(hours.values()), "change"))
    return Markup('<svg class="plot hours" viewBox="0 0 492 136" role="img" aria-label="{}">{}{}{}</svg>').format(
        said, names, cells, clock
    )
