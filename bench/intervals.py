"""Means of seeds with their confidence intervals, as tables of figures print them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy.stats import t as student


def interval(values: Sequence[float], digits: int = 3) -> str:
    """Return the mean and half of its 95 % confidence interval (Student's t); the mean alone of a single value."""
    mean = f"{np.mean(values):.{digits}f}"
    if len(values) < 2:
        return mean
    half = student.ppf(0.975, len(values) - 1) * np.std(values, ddof=1) / len(values) ** 0.5
    return f"{mean}±{half:.{digits}f}"
