"""Jitter without chance: the same share for the same key, so that who asks again computes the same and a restart moves nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from xxhash import xxh3_64_intdigest

if TYPE_CHECKING:
    from tidings.model.interval import Duration

MOST: Final = 0.2
"""Largest part of itself by which a wait is lengthened."""


def share(key: str | int, turn: int = 0) -> float:
    """Return a number in [0, 1) that is even over all keys and, for one key, over its turns."""
    return xxh3_64_intdigest(f"{key} {turn}".encode()) / 2.0**64


def lengthen(duration: Duration, key: str | int, turn: int = 0) -> Duration:
    """Return a wait (µs) that is never shorter than it was said to be and up to a fifth longer."""
    return round(duration * (1 + MOST * share(key, turn)))
