"""The index of a page whose backlog saturates: what a look has gathered beyond what waiting would have gathered at the same pace.

G(t) − t·G'(t) with G = A(1 − e^{−κt}) is A·worth(κt), worth(x) = 1 − (1 + x)e^{−x}: freshness (Olston and Pandey 2008), decaying interest
and overwritten changes alike (study of scheduling §0, 2). Looking when it reaches the price of a look is optimal at a fixed price.
"""

from __future__ import annotations

import numpy as np

from tidings.scheduling.population import Floats

_SMALL = 1e-3
_STEPS = 4
"""Newton's steps from √(2w) + w: three bring it to what double precision holds, everywhere."""


def worth(x: Floats) -> Floats:
    """Return 1 − (1 + x)e^{−x} for x of 0 and more, exact for small x too."""
    small = x * x * (0.5 - x * (1 / 3 - x / 8))
    return np.asarray(np.where(x < _SMALL, small, -np.expm1(-x) - x * np.exp(-x)))


def wait(share: Floats) -> Floats:
    """Return x with worth(x) = share, for shares from 0 to below 1: Newton on x − ln(1 + x) = −ln(1 − share), which is convex."""
    wanted = -np.log1p(-np.minimum(share, 1 - 1e-16))
    root = np.sqrt(2 * wanted)
    x = root + wanted
    for _ in range(_STEPS):
        x = x - (x - np.log1p(x) - wanted) * (1 + x) / np.maximum(x, 1e-12)
    return np.asarray(np.where(root < _SMALL, root * (1 + root * (1 / 3 + root / 36)), x))
