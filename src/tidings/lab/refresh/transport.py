"""EBR's schedule whole: how often, at which instants, and the transportation step by what each move costs (002 §5; Wolf et al., WWW 2002)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy.optimize import linear_sum_assignment

from tidings.lab.refresh.whole import ideal_instants
from tidings.scheduling.population import Floats, Ids


def staler(changes: Floats, gap: Floats, moved: Floats) -> Floats:
    """Return by how much longer pages of these rates of change are stale if one of their evenly spaced polls is moved, those beside it standing.

    A page is stale for g − (1 − e^{−λg})/λ of a gap g on average; moving by m makes one gap longer and the other shorter, which is
    e^{−λ(g − m)}(1 − e^{−λm})²/λ in all. Moves are at most a gap.
    """
    by = np.minimum(np.abs(moved), gap)
    rate = np.maximum(changes, 1e-300)
    return np.asarray(np.exp(-rate * (gap - by)) * np.expm1(-rate * by) ** 2 / rate)


def schedule(
    changes: Floats, weights: Floats, given: Ids, period: float, slots: Sequence[float]
) -> list[tuple[float, int]]:
    """Return (instant, page) of polls in the slots of a period, `given` of them to each page, so that Σ w·(staler by moving) is least; ascending.

    A slot takes one poll; one that takes several is given several times. The costs of moves are those of each poll by itself, so that the problem
    is an assignment, whose optimum is whole. A move by more than a gap costs one by a gap, and a little for what is beyond. Raises ValueError
    if slots are too few.
    """
    ideal = ideal_instants(given, period)
    if len(ideal) > len(slots):
        message = f"{len(ideal)} looks do not fit into {len(slots)} slots"
        raise ValueError(message)
    at = np.array([instant for instant, _ in ideal])
    pages = np.array([page for _, page in ideal], dtype=np.int64)
    gap = (period / np.maximum(given, 1))[pages][:, None]
    moved = np.abs(np.asarray(slots, dtype=np.float64)[None, :] - at[:, None])
    cost = weights[pages][:, None] * (staler(changes[pages][:, None], gap, moved) + np.maximum(moved - gap, 0.0))
    looks, taken = linear_sum_assignment(cost)
    return sorted(
        (float(slots[slot]), int(pages[look])) for look, slot in zip(looks.tolist(), taken.tolist(), strict=True)
    )
