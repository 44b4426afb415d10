"""Random instances like those of the papers (001 §5.1; scheduling §10)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

import numpy as np

from tidings.lab.profiles import Cei, Interval
from tidings.lab.traces import Series
from tidings.model.interval import DAY, HOUR, MINUTE, WEEK

FEED: Final = "generated feed"
BURSTS: Final = 1 / 4
"""the share of entries of a generated feed that another one follows at once"""


def poisson_updates(resources: int, instants: int, mean: float, rng: np.random.Generator) -> dict[int, list[int]]:
    """Return the instants of 1 … `instants` at which each resource is updated: a Poisson number
    with this mean, uniform, distinct.

    Args:
        resources: The number of resources.
        mean: Updates of each resource, on average.
        rng: The source of random numbers.
    """
    counts = np.minimum(rng.poisson(mean, resources), instants)
    return {
        resource: sorted((rng.choice(instants, int(count), replace=False) + 1).tolist())
        for resource, count in enumerate(counts.tolist())
    }


def watch(
    updates: Mapping[int, Sequence[int]],
    chosen: Sequence[int],
    *,
    window: int | None,
    instants: int,
    rank: int | None = None,
) -> list[Cei]:
    """Return the CEIs of a profile that watches these resources together (AuctionWatch(k) of 001
    §5.1).

    The q-th CEI has an interval for the q-th update of each resource that has so many: from the
    update on for `window` further chronons, or with None until its next update (overwrite).

    Args:
        updates: The instants of the updates of each resource.
        chosen: The resources that are watched together.
        window: How many chronons a capture may wait; None until the next update.
        instants: The number of chronons.
        rank: How many captures complete a need; None for all.
    """
    made = []
    for q in range(max((len(updates[resource]) for resource in chosen), default=0)):
        intervals = []
        for resource in chosen:
            times = updates[resource]
            if q >= len(times):
                break
            after = times[q + 1] - 1 if q + 1 < len(times) else instants
            end = after if window is None else min(times[q] + window, instants)
            intervals.append(Interval(resource, times[q], end))
        else:
            made.append(Cei(tuple(intervals), rank=rank))
    return made


def profiles(
    updates: Mapping[int, Sequence[int]],
    number: int,
    *,
    most: int,
    window: int | None,
    instants: int,
    rng: np.random.Generator,
    skew: float = 0.0,
    fixed: bool = False,
) -> list[Cei]:
    """Return the CEIs of `number` profiles, each of 1 … `most` resources (exactly `most` if
    `fixed`), popular by rank^−skew.

    Args:
        updates: When each resource is updated.
        window: How many chronons a capture may wait; None until the next update.
        instants: The number of instants.
        rng: The source of random numbers.
        skew: How much more popular the first resources are; 0 for all alike.
    """
    resources = np.array(sorted(updates))
    popularity = np.arange(1, len(resources) + 1, dtype=np.float64) ** -skew
    popularity /= popularity.sum()
    made: list[Cei] = []
    for _ in range(number):
        rank = most if fixed else int(rng.integers(1, most + 1))
        chosen = rng.choice(resources, rank, replace=False, p=popularity).tolist()
        made += watch(updates, chosen, window=window, instants=instants, rank=rank)
    return made


def feeds(count: int, days: int, rng: np.random.Generator, *, middle: float = 0.5, spread: float = 1.5) -> list[Series]:
    """Return `count` diverse feeds of publishers, whose sources were polled every half hour.

    A feed's rate (entries a day) is lognormal about `middle` with deviation `spread` of its
    logarithm. Entries follow a Poisson process whose rate follows the week: nine times as likely in
    the ten working hours of the feed's own zone as at other times, a fifth of that at weekends; one
    entry of four is followed by another after about a quarter of an hour, as publishers post in
    bursts.

    Args:
        days: How many days they are observed.
        rng: The source of random numbers.
    """
    return [
        _feed(page, days, float(rng.lognormal(np.log(middle), spread)) / (1 + BURSTS), rng)
        for page in range(1, count + 1)
    ]


def _feed(page: int, days: int, rate: float, rng: np.random.Generator) -> Series:
    zone, end = int(rng.integers(24)), days * DAY
    wanted = rng.integers(0, end, rng.poisson(rate * days * 5))  # five times too many, to be thinned
    hours = (wanted + zone * HOUR) % WEEK // HOUR
    weight = np.where(hours % 24 < 10, 9.0, 1.0) * np.where(hours // 24 < 5, 1.0, 0.2)
    mean = (10 * 9 + 14) / 24 * (5 + 2 * 0.2) / 7
    first = wanted[rng.random(len(wanted)) < weight / mean / 5]
    burst = first[rng.random(len(first)) < BURSTS]
    more = burst + rng.exponential(15 * MINUTE, len(burst)).astype(np.int64) + 1
    changes = np.unique(np.concatenate([first, more]))
    return Series(page, page, FEED, changes[changes < end], 0, end, 30 * MINUTE)
