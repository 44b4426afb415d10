"""Instances like those of the papers, from a generator of chance that is handed in (001 §5.1; study §10)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from tidings.scheduling.profiles.cei import Cei, Interval


def poisson_updates(resources: int, instants: int, mean: float, rng: np.random.Generator) -> dict[int, list[int]]:
    """Return the instants of 1 … `instants` at which each resource is updated: a Poisson number of them with this mean, uniform, distinct."""
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
    """Return the CEIs of a profile that watches these resources together (AuctionWatch(k) of 001 §5.1).

    The q-th CEI has an interval for the q-th update of each resource that has so many: from the update on for `window` further chronons,
    or with None until its next update (overwrite).
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
    """Return the CEIs of so many profiles, each of 1 … `most` resources (exactly `most` if `fixed`), popular by rank^−skew."""
    resources = np.array(sorted(updates))
    popularity = np.arange(1, len(resources) + 1, dtype=np.float64) ** -skew
    popularity /= popularity.sum()
    made: list[Cei] = []
    for _ in range(number):
        rank = most if fixed else int(rng.integers(1, most + 1))
        chosen = rng.choice(resources, rank, replace=False, p=popularity).tolist()
        made += watch(updates, chosen, window=window, instants=instants, rank=rank)
    return made
