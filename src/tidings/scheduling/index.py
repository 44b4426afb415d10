"""The index of a page whose backlog saturates: what a poll has gathered beyond what waiting would
have gathered at the same pace.

G(t) − t·G'(t) with G = A(1 − e^{−κt}) is A·worth(κt), worth(x) = 1 − (1 + x)e^{−x}: freshness
(Olston and Pandey 2008), decaying interest and overwritten changes alike (scheduling §9). Polling
when it reaches the price of a poll is optimal at a fixed price.
"""

from __future__ import annotations

import numpy as np

from tidings.scheduling.population import Floats

_SMALL = 1e-3
_TINY = 1e-150
_START = (0.08449, 0.16739)
"""Of x = s + s²(⅓ + as)/(1 + bs), s = √(2w): within 0.06 % of the root for every double w; least
squares.
"""


def worth(x: Floats) -> Floats:
    """Return 1 − (1 + x)e^{−x} for x ≥ 0, accurate for small x too."""
    gone = np.expm1(-x)
    found = -gone - x * (1 + gone)
    if (small := x < _SMALL).any():
        found = np.where(small, x * x * (0.5 - x * (1 / 3 - x / 8)), found)
    return np.asarray(found)


def wait(share: Floats) -> Floats:
    """Return x with worth(x) = share, for shares from 0 up (1 and more: as just below 1).

    One Halley step on x − ln(1 + x) = w, w = −ln(1 − share), from a start so close that it is
    enough.
    """
    low = np.log1p(-np.minimum(share, 1 - 1e-16))
    root = np.sqrt(-2 * low)
    x = root * (1 + root * (1 / 3 + _START[0] * root) / (1 + _START[1] * root)) + _TINY
    over = x - np.log1p(x) + low
    return np.asarray(x - 2 * over * x * (1 + x) / (2 * x * x - over))
