"""Deterministic jitter: the same share for the same key, so that a recomputation or restart moves
nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from xxhash import xxh3_64_intdigest

if TYPE_CHECKING:
    from tidings.model.interval import Duration

MOST: Final = 0.2
"""Longest extension of a wait, as a share of it."""


def share(key: str | int, turn: int = 0) -> float:
    """Return a number in [0, 1), uniform over keys and, for one key, over turns."""
    return xxh3_64_intdigest(f"{key} {turn}".encode()) / 2.0**64


def lengthen(duration: Duration, key: str | int, turn: int = 0) -> Duration:
    """Return a wait (µs) extended by up to a fifth, never shortened."""
    return round(duration * (1 + MOST * share(key, turn)))
