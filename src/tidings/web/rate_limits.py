"""Rate limits: a token bucket per name, against runaway senders."""

from __future__ import annotations

import ipaddress
from typing import Final

from tidings.clock import HOUR, MINUTE, SECOND, Duration, Instant
from tidings.storage.people import accounts


class Pace:
    """Allows `burst` at once, then `per_second`; remembers at most `most` names."""

    def __init__(self, *, per_second: float, burst: int, most: int = 1_000) -> None:
        self._per_second = per_second
        self._burst = burst
        self._most = most
        self._levels: dict[str, tuple[float, Instant]] = {}

    def wait(self, name: str, now: Instant) -> Duration:
        """Take a token and return 0, or return the time until there is one (µs)."""
        level, at = self._levels.pop(name, (float(self._burst), now))
        level = min(self._burst, level + max(0, now - at) / SECOND * self._per_second)
        is_free = level >= 1
        self._levels[name] = (level - 1 if is_free else level, max(now, at))
        if len(self._levels) > self._most:
            del self._levels[next(iter(self._levels))]
        return 0 if is_free else round((1 - level) / self._per_second * SECOND)

    def give_back(self, name: str) -> None:
        """Return a token that was taken."""
        if name in self._levels:
            level, at = self._levels[name]
            self._levels[name] = (min(self._burst, level + 1), at)


PER_NAME: Final = 5
PER_ADDRESS: Final = 20
"""Wrong passwords for one name, and from one address, before attempts are limited to this number
per minute.
"""


class Tries:
    """Limits wrong passwords, by name and address together, by address, and by name per hour."""

    def __init__(self) -> None:
        minute, hour = MINUTE / SECOND, HOUR / SECOND
        self._pair = Pace(per_second=PER_NAME / minute, burst=PER_NAME)
        self._address = Pace(per_second=PER_ADDRESS / minute, burst=PER_ADDRESS)
        self._hour = Pace(per_second=PER_ADDRESS / hour, burst=PER_ADDRESS)
        self._name = Pace(per_second=PER_ADDRESS * 5 / hour, burst=PER_ADDRESS * 5)

    def wait(self, name: str, address: str, now: Instant) -> Duration:
        """Take a token and return 0, or return the time until there is one (µs). All
        spellings that sign in to one account count as one name.

        Attempts from one address do not lock out the owner at another: they are at most a fifth of
        those for the name.

        Args:
            name: The name of the account.
            address: Where the attempt comes from.
            now: When (µs).
        """
        key, place = accounts.fold(name), _place(address)
        pair = f"{place} {key}"
        return (
            self._pair.wait(pair, now)
            or self._address.wait(place, now)
            or self._hour.wait(pair, now)
            or self._name.wait(key, now)
        )

    def succeed(self, name: str, address: str) -> None:
        """Return what `wait` took: the password was right.

        Args:
            name: The name of the account.
            address: Where the attempt came from.
        """
        key, place = accounts.fold(name), _place(address)
        pair = f"{place} {key}"
        for pace, of in ((self._pair, pair), (self._address, place), (self._hour, pair), (self._name, key)):
            pace.give_back(of)


def _place(address: str) -> str:
    """Return the place that an address stands for: of IPv6 the network of 64 bits, all of whose
    addresses one machine can use.
    """
    try:
        found = ipaddress.ip_address(address.partition("%")[0])
    except ValueError:
        return address
    if isinstance(found, ipaddress.IPv4Address):
        return str(found)
    if found.ipv4_mapped is not None:
        return str(found.ipv4_mapped)
    return str(ipaddress.ip_network((int(found), 64), strict=False))
