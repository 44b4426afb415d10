"""Utility as the paper defines it, by its sum (000 §2.4): what the recurrences are held to."""

from __future__ import annotations

import numpy as np

from tidings.scheduling.population import Floats
from tidings.scheduling.wic.life import Life
from tidings.scheduling.wic.urgency import Urgency


def utility(chances: Floats, life: Life, urgency: Urgency, previous: int, now: int, *, weight: float = 1.0) -> float:
    """Return g(previous, now) = W Σ_{k = previous+1 … now} u(now − k) · π_k · life_k(now).

    `chances[k − 1]` is π_k, how likely the page changes in instant k = 1, 2, …; `previous` is the instant of the last poll, 0 if there
    was none. O((now − previous)²).
    """
    changes = np.arange(previous + 1, now + 1)
    worth = urgency.at(now - changes) * chances[previous:now]
    return weight * sum(
        float(value) * life.at(chances, int(k), now) for value, k in zip(worth, changes, strict=True) if value
    )
