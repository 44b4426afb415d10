"""Hubs: who tells of a feed's news (W3C WebSub §4)."""

from __future__ import annotations

from typing import Final, NamedTuple

LONGEST: Final = 2_048
"""Characters of an address."""


class Hub(NamedTuple):
    """The address of a hub and that of the feed as the hub knows it; empty where there is none."""

    address: str = ""
    topic: str = ""
