"""Hubs that push news of a feed (W3C WebSub §4)."""

from __future__ import annotations

from typing import Final, NamedTuple

LONGEST: Final = 2_048
"""The longest address, in characters."""


class Hub(NamedTuple):
    """The address of a hub and of the feed's topic at that hub; empty if there is none."""

    address: str = ""
    topic: str = ""
