"""Exact schedules of small gardens, periodic ones from any schedule that keeps every window (003
§3, Properties 2 and 3), and the density below which pinwheels have a schedule.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import TypeAlias

from tidings.errors import TidingsError
from tidings.lab.gardener.garden import Cycle, Garden

PINWHEEL_DENSITY = 5 / 6
"""Visits of one unit, one a day: up to this density Σ 1/w there always is a schedule (Kawamura
2024). It proves that one exists, not that a rule finds it.
"""

_Left: TypeAlias = tuple[int, ...]
_EVEN = 1e-9


class UndecidedError(TidingsError):
    """The search was stopped before it had a result."""


def is_pinwheel_guaranteed(garden: Garden) -> bool:
    """Return whether a garden of equal costs, one visit a day, has a schedule by its density
    alone.
    """
    unit = float(garden.costs[0])
    return bool((garden.costs == unit).all()) and garden.density / unit <= PINWHEEL_DENSITY + _EVEN


def schedule_exactly(garden: Garden, capacity: float, *, most: int = 200_000) -> Cycle | None:
    """Return a schedule that keeps every window within `capacity` a day, None if there is none.

    A state is how many days each plant can still wait; a walk that returns to a state is a
    schedule. Visits never hurt, so only maximal sets are tried. Raises UndecidedError after `most`
    states: the problem is NP-hard (Theorem 3.1).
    """
    start: _Left = tuple(garden.windows.tolist())
    if garden.density > capacity + _EVEN:
        return None
    path: dict[_Left, int] = {}
    chosen: list[tuple[int, ...]] = []
    dead: set[_Left] = set()
    walk: list[tuple[_Left, Iterator[tuple[int, ...]]]] = []

    def enter(left: _Left) -> None:
        path[left] = len(walk)
        walk.append((left, _choices(garden, left, capacity)))

    enter(start)
    while walk:
        left, choices = walk[-1]
        day = next(choices, None)
        if day is None:
            walk.pop()
            del path[left]
            dead.add(left)
            if chosen:
                chosen.pop()
            continue
        if len(path) + len(dead) > most:
            message = f"no schedule was found among the first {most} states, and none was ruled out; ask for more, or construct one"
            raise UndecidedError(message)
        after = _next(garden, left, day)
        if after in path:
            return Cycle((*chosen[path[after] :], day))
        if after not in dead:
            chosen.append(day)
            enter(after)
    return None


def _next(garden: Garden, left: _Left, day: tuple[int, ...]) -> _Left:
    visited = set(day)
    return tuple(int(garden.windows[plant]) if plant in visited else days - 1 for plant, days in enumerate(left))


def _choices(garden: Garden, left: _Left, capacity: float) -> Iterator[tuple[int, ...]]:
    """Yield the sets of plants of a day: all that cannot wait, maximal; the most urgent first."""
    costs = garden.costs.tolist()
    must = [plant for plant, days in enumerate(left) if days == 1]
    room = capacity - sum(costs[plant] for plant in must)
    if room < -_EVEN:
        return
    others = sorted((plant for plant, days in enumerate(left) if days > 1), key=lambda plant: (left[plant], plant))

    def extend(first: int, taken: tuple[int, ...], room: float, skipped: float) -> Iterator[tuple[int, ...]]:
        if first == len(others):
            if skipped > room + _EVEN:
                yield tuple(sorted((*must, *taken)))
            return
        plant = others[first]
        if costs[plant] <= room + _EVEN:
            yield from extend(first + 1, (*taken, plant), room - costs[plant], skipped)
        yield from extend(first + 1, taken, room, min(skipped, costs[plant]))

    yield from extend(0, (), room, float("inf"))


def extract(garden: Garden, schedule: Sequence[Collection[int]]) -> Cycle | None:
    """Return the periodic schedule with the least average workload between two equal stretches of
    `schedule`, None if there are none.

    Where the same `max(w)` days occur twice, the part from the first to the second can be repeated
    for ever: any window across the seam occurs in the schedule itself (Property 2); among all such
    parts one is no more expensive than the whole (Property 3). Its peak is no higher than the
    schedule's.
    """
    days = [tuple(sorted(day)) for day in schedule]
    block = int(garden.windows.max())
    spent = [0.0]
    for day in days:
        spent.append(spent[-1] + garden.workload(day))
    seen: dict[tuple[tuple[int, ...], ...], list[int]] = {}
    best: tuple[float, int, int] | None = None
    for end in range(len(days) - block + 1):
        earlier = seen.setdefault(tuple(days[end : end + block]), [])
        for begin in earlier[-1:] + earlier[:1]:
            found = ((spent[end] - spent[begin]) / (end - begin), end - begin, begin)
            best = found if best is None or found < best else best
        earlier.append(end)
    if best is None:
        return None
    _, period, begin = best
    return Cycle(tuple(days[begin : begin + period]))
