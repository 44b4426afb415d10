"""Small charts in HTML and SVG: the checks of 30 days, the history of a watched value, and the
hours of the week in which changes were found, and what other budgets would bring.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Final

from markupsafe import Markup

from tidings.clock import DAY, HOUR, MINUTE, SECOND
from tidings.record import dataclass
from tidings.storage.observed import polls
from tidings.storage.observed.polls import Beats
from tidings.storage.watches import subscriptions, values
from tidings.web.markup.formats import ago, count, number, span
from tidings.web.markup.translations import sentences, translate

if TYPE_CHECKING:
    from tidings.model.interval import Instant
    from tidings.service.on_demand.what_if import BudgetPoint
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
    label = translate("{days} days: ", days=DAYS) + ", ".join(
        [
            count(beats.polls, "check"),
            count(beats.changes, "change"),
            *([translate("{failures} failed", failures=f"{beats.failures:,}")] if beats.failures else []),
        ]
    )
    drawn = Markup('<path class="g" d="M0 9h144"/>') + Markup("").join(
        Markup('<path class="{}" d="{}"/>').format(name, path) for name, path in paths.items() if path
    )
    return Markup('<svg class="beat" viewBox="0 0 144 18" role="img" aria-label="{}"><title>{}</title>{}</svg>').format(
        label, label, drawn
    )


SHOWN: Final = 200
"""Number of a sentinel's newest values that are read."""
ROWS: Final = 30
WIDTH: Final = 1_100
HEIGHT: Final = 140
DATES: Final = 16
"""Height of the line below a plot that says when it begins and ends."""


@dataclass(frozen=True, slots=True)
class Course:
    """The history of one value: its name, its rows newest first with the difference to the one
    before (None: no number), its plot, and its page if values of several have this name.
    """

    label: str
    unit: str
    now: str
    rows: Sequence[tuple[StoredValue, float | None]]
    plot: Markup
    url: str


def courses(c: Connection, sentinel_id: int, now: Instant) -> list[Course]:
    """Return the history of each value that a sentinel watches; a page continues those that it
    has replaced.
    """
    replaced = subscriptions.find_replaced(c, sentinel_id)
    now_at = {one.page_id: page_id for page_id, left in replaced.items() for one in left}
    found: dict[tuple[int, str], list[StoredValue]] = {}
    for value in values.listing(c, sentinel_id, limit=SHOWN):
        found.setdefault((now_at.get(value.page_id, value.page_id), value.label), []).append(value)
    names = Counter(label for _, label in found)
    return [_course(label, rows, now, is_named=names[label] > 1) for (_, label), rows in found.items()]


def _course(label: str, rows: Sequence[StoredValue], now: Instant, *, is_named: bool) -> Course:
    newest = rows[-1]
    differences = [None, *(_difference(before, after) for before, after in pairwise(rows))]
    shown = list(zip(rows, differences, strict=True))[::-1][:ROWS]
    numbers = [(row.at, float(row.amount)) for row in rows if row.amount]
    plot = _plot(label, numbers, now) if len(numbers) > 1 else Markup("")
    return Course(label, newest.unit, newest.text, shown, plot, newest.url if is_named else "")


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
    description = translate(
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
        '<circle class="f1" cx="{}" cy="{}" r="4"/><text x="60" y="{}">{}</text><text x="{}" y="{}" text-anchor="end">{}</text></svg>'
    ).format(
        WIDTH, HEIGHT + DATES, description, 12, WIDTH - 20, HEIGHT - 12, WIDTH - 20, 16, f"{highest:g}", HEIGHT - 8, f"{lowest:g}",
        " ".join(points), f"{x(last):.1f}", f"{y(numbers[-1][1]):.1f}",
        HEIGHT + DATES - 4, ago(first, now), WIDTH - 20, HEIGHT + DATES - 4, translate("now"),
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
        Markup('<text x="0" y="{}">{}</text>').format(DAY_HEIGHT * k + 12, translate(day))
        for k, day in enumerate(WEEKDAYS)
    )
    clock = Markup("").join(
        Markup('<text x="{}" y="132">{}</text>').format(34 + HOUR_WIDTH * hour, hour) for hour in (0, 6, 12, 18)
    )
    label = translate("{changes} by day and hour of the week", changes=count(sum(hours.values()), "change"))
    return Markup('<svg class="plot hours" viewBox="0 0 492 136" role="img" aria-label="{}">{}{}{}</svg>').format(
        label, names, cells, clock
    )


CURVE: Final = (640, 236)
"""Width and height of a curve."""
_LEFT, _TOP, _RIGHT, _BOTTOM = 64, 16, 622, 190
_DELAYS: Final = (SECOND, 10 * SECOND, MINUTE, 10 * MINUTE, HOUR, 6 * HOUR, DAY, 7 * DAY)


def draw_curve(points: Sequence[BudgetPoint], now: float) -> Sequence[tuple[str, Markup]]:
    """Return what budgets bring, over the checks made with them, as curves with their headings: the
    share of changes found, and the delay; nothing for fewer than two points.

    Args:
        points: The results, by budget.
        now: The present budget.
    """
    shown = [one for one in points if one.made > 0]
    present = next((one.made for one in shown if one.budget == now), 0.0)
    if len({one.made for one in shown}) < 2:
        return []
    shares = [(one.made, one.found) for one in shown]
    quarters = [(share / 4, f"{25 * share}\N{NO-BREAK SPACE}%") for share in range(5)]
    drawn = [(translate("Changes found"), _draw_curve(translate("Changes found"), shares, quarters, present))]
    delays = [(one.made, one.delay) for one in shown if one.delay]
    edges = [edge for edge in _DELAYS if min(dict(delays).values(), default=0) / 8 < edge]
    edges = [edge for edge in edges if edge < 8 * max(dict(delays).values(), default=0)]
    if len({made for made, _ in delays}) > 1 and len(edges) > 1:
        low, high = math.log(edges[0]), math.log(edges[-1])
        heights = [(made, (math.log(delay) - low) / (high - low)) for made, delay in delays]
        ticks = [((math.log(edge) - low) / (high - low), span(edge)) for edge in edges]
        label = translate("Half of them seen within")
        drawn.append((label, _draw_curve(label, heights, ticks, present)))
    return drawn


def _draw_curve(
    label: str, heights: Sequence[tuple[float, float]], ticks: Sequence[tuple[float, str]], now: float
) -> Markup:
    """Return one curve over the logarithm of the checks; heights and ticks are from 0 to 1."""
    heights = sorted(heights)
    low, high = math.log(heights[0][0]), math.log(heights[-1][0])

    def x(made: float) -> float:
        return _LEFT + (_RIGHT - _LEFT) * (math.log(made) - low) / (high - low)

    def y(height: float) -> float:
        return _BOTTOM - (_BOTTOM - _TOP) * min(max(height, 0.0), 1.0)

    lines = Markup("").join(
        Markup('<path class="g" d="M{} {:.1f}H{}"/><text x="{}" y="{:.1f}" text-anchor="end">{}</text>').format(
            _LEFT, y(height), _RIGHT, _LEFT - 8, y(height) + 4, words
        )
        for height, words in ticks
    )
    spots = Markup("").join(
        Markup('<circle class="f1" cx="{:.1f}" cy="{:.1f}" r="{}"/>').format(
            x(made), y(height), 6 if made == now else 3
        )
        for made, height in heights
    )
    feet: dict[float, str] = {}
    for made, _ in sorted(heights, key=lambda one: (one[0] != now, -one[0])):
        if all(abs(x(made) - other) > _FOOT for other in feet):
            feet[x(made)] = translate("{checks}, now", checks=number(made)) if made == now else number(made)
    words = Markup("").join(
        Markup('<text x="{:.1f}" y="{}" text-anchor="{}">{}</text>').format(
            place, _BOTTOM + 20, "end" if place > _RIGHT - _FOOT / 2 else "middle", tick_label
        )
        for place, tick_label in feet.items()
    )
    points = " ".join(f"{x(made):.1f},{y(height):.1f}" for made, height in heights)
    name = translate("{curve}, by checks a day; table below", curve=label)
    return Markup(
        '<svg class="plot xl" viewBox="0 0 {} {}" role="img" aria-label="{}">{}<polyline class="c" points="{}"/>{}{}'
        '<text x="{}" y="{}" text-anchor="end">{}</text></svg>'
    ).format(*CURVE, name, lines, points, spots, words, _RIGHT, _BOTTOM + 38, translate("checks a day"))


_FOOT: Final = 70
"""Least distance between two numbers under a curve."""
