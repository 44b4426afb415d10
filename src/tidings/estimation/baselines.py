"""Estimators that others are measured against: Cho and Garcia-Molina, and maximum likelihood (scheduling §7)."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from tidings.estimation.gamma import Floats

FASTEST = 1e6
"""What a rate is where every look found a change and likelihood has no maximum: as fast as this per shortest gap."""


def cho_garcia_molina(changed: int, looks: int, interval: float) -> float:
    """Return the bias-corrected rate from `changed` of `looks` at a fixed interval: −ln((n − X + ½)/(n + ½))/I (Cho and Garcia-Molina 2003)."""
    if not 0 <= changed <= looks or interval <= 0:
        message = f"{changed} of {looks} looks cannot have found a change, or the interval {interval} is not above 0"
        raise ValueError(message)
    return -math.log((looks - changed + 0.5) / (looks + 0.5)) / interval


def maximum_likelihood(changed_gaps: Sequence[float], unchanged_gaps: Sequence[float]) -> float:
    """Return the rate that is likeliest given gaps of any lengths: Σ_{changed} τ/(e^{λτ} − 1) = Σ_{unchanged} τ.

    0 if nothing changed, and `FASTEST` per shortest gap if everything did.
    """
    if not changed_gaps:
        return 0.0
    new = np.asarray(changed_gaps, dtype=np.float64)
    rest = float(sum(unchanged_gaps))
    high = FASTEST / float(new.min())
    if rest <= 0:
        return high
    low = 0.0
    for _ in range(200):
        middle = (low + high) / 2
        if _pull(new, middle) > rest:
            low = middle
        else:
            high = middle
    return (low + high) / 2


def pseudo_likelihood(changed_gaps: Sequence[float], unchanged_gaps: Sequence[float], *, pseudo: float) -> float:
    """Return maximum likelihood with one gap of length `pseudo` of either kind added, as LambdaCrawl's learner does (Kolobov et al. 2019)."""
    return maximum_likelihood([*changed_gaps, pseudo], [*unchanged_gaps, pseudo])


def _pull(gaps: Floats, rate: float) -> float:
    with np.errstate(over="ignore", divide="ignore"):
        return float((gaps / np.expm1(rate * gaps)).sum()) if rate > 0 else math.inf
