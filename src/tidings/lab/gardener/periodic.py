"""From any schedule that keeps every window, one that repeats: Properties 2 and 3 (003 §3)."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from tidings.lab.gardener.garden import Cycle, Garden


def extract(garden: Garden, schedule: Sequence[Collection[int]]) -> Cycle | None:
    """Return the periodic schedule with the least average workload that two equal stretches of `schedule` prove, None if none do.

    Where the same `max(w)` days come twice, what lies from the first to the second can be repeated for ever: any window across the
    seam stands so in the schedule itself (Property 2); among all such pieces one is no dearer than the whole (Property 3). Its peak is
    no higher than the schedule's.
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
