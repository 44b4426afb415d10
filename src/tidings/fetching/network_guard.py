"""Which addresses may be asked: public ones, and those that `fetch.allow_networks` names (R-01,
R-03); also for libraries that open their own connections, mail and chat services.

The registries are embedded (`special_networks.toml`), because `ipaddress.is_global` lets multicast,
NAT64 and others through (H-010). IPv6 is allowed only inside 2000::/3, the allocated global
unicast. An IPv4 address embedded in an IPv6 address is checked too, so that allowing a translation
prefix does not open the private networks behind it. If it only seems embedded (`::1`, or any
address that ends like ISATAP's), an allowed network is trusted.

Such libraries run in a guarded process, so their address check and TLS context can be pickled.
"""

from __future__ import annotations

import functools
import importlib.resources
import ipaddress
import ssl
import tomllib
from collections.abc import Iterable, Iterator

from tidings.record import dataclass

IPAddress = ipaddress.IPv4Address | ipaddress.IPv6Address
IPNetwork = ipaddress.IPv4Network | ipaddress.IPv6Network

_GLOBAL_UNICAST = ipaddress.IPv6Network("2000::/3")
_NAT64 = (ipaddress.IPv6Network("64:ff9b::/96"), ipaddress.IPv6Network("64:ff9b:1::/48"))
_COMPATIBLE = ipaddress.IPv6Network("::/96")
_ISATAP = (0x0000_5EFE, 0x0200_5EFE)
_IPV4_MASK = 0xFFFF_FFFF


class Guard:
    """Checks addresses; immutable. `allow_networks` are special networks that may be asked."""

    def __init__(self, allow_networks: Iterable[str] = ()) -> None:
        self._allowed: tuple[IPNetwork, ...] = tuple(ipaddress.ip_network(network) for network in allow_networks)
        self._fault = functools.lru_cache(maxsize=4_096)(self._judge)

    def allows(self, address: str | IPAddress) -> bool:
        """Return whether the address may be dialled; false for anything that is no address."""
        return not self.fault(address)

    def fault(self, address: str | IPAddress) -> str:
        """Return why the address may not be dialled (`10.0.0.1 is private use`), or an empty text
        if it may.
        """
        return self._fault(str(address))

    def _judge(self, text: str) -> str:
        try:
            address = ipaddress.ip_address(text.partition("%")[0])
        except ValueError:
            return f"{text[:60]!r} is not an IP address"
        carried = list_translated(address) if self._is_allowed(address) else list_embedded(address)
        return self._fault_of(address) or next(filter(None, map(self._fault_of, carried)), "")

    def _is_allowed(self, address: IPAddress) -> bool:
        return any(address in network for network in self._allowed)

    def _fault_of(self, address: IPAddress) -> str:
        if self._is_allowed(address):
            return ""
        for network, name in special_networks():
            if address in network:
                return f"{address} is {name}"
        if address.version == 6 and address not in _GLOBAL_UNICAST:
            return f"{address} is not in the global unicast space"
        return ""


class HomeGuard(Guard):
    """Checks addresses of pages on private networks of `fetch.allow_networks`: only these may be
    asked.
    """

    def _judge(self, text: str) -> str:
        fault = super()._judge(text)
        if fault or self._is_allowed(ipaddress.ip_address(text.partition("%")[0])):
            return fault
        return f"{text[:60]} is outside the networks of fetch.allow_networks, where this page began"


@functools.cache
def special_networks() -> tuple[tuple[IPNetwork, str], ...]:
    """Return the embedded registries: blocks and their purpose."""
    text = importlib.resources.files("tidings.fetching").joinpath("special_networks.toml").read_text(encoding="utf-8")
    tables = tomllib.loads(text)
    return tuple((ipaddress.ip_network(row["network"]), row["name"]) for table in tables.values() for row in table)


def list_embedded(address: IPAddress) -> Iterator[ipaddress.IPv4Address]:
    """Yield the IPv4 addresses that are, or may be, embedded in an IPv6 address.

    Those of `list_translated`, and by its form compatible or ISATAP.
    """
    if isinstance(address, ipaddress.IPv4Address):
        return
    yield from list_translated(address)
    number = int(address)
    if address in _COMPATIBLE or (number >> 32) & _IPV4_MASK in _ISATAP:
        yield ipaddress.IPv4Address(number & _IPV4_MASK)


def list_translated(address: IPAddress) -> Iterator[ipaddress.IPv4Address]:
    """Yield the IPv4 addresses embedded in an IPv6 address by its prefix: mapped, NAT64, 6to4,
    Teredo.
    """
    if isinstance(address, ipaddress.IPv4Address):
        return
    if address.ipv4_mapped is not None:
        yield address.ipv4_mapped
    elif any(address in network for network in _NAT64):
        yield ipaddress.IPv4Address(int(address) & _IPV4_MASK)
    if address.sixtofour is not None:
        yield address.sixtofour
    if address.teredo is not None:
        yield from address.teredo


@dataclass(frozen=True, slots=True)
class OutboundDoor:
    """The guard of fetches. `allow_networks` are special networks that may be dialled."""

    allow_networks: tuple[str, ...] = ()

    def fault(self, address: str) -> str:
        """Return why the address may not be dialled, or an empty text if it may. A name is not an
        address.
        """
        return _guard(self.allow_networks).fault(address)

    def tls(self) -> ssl.SSLContext:
        """Return a context that verifies certificates and host names with the system's
        authorities.
        """
        return ssl.create_default_context()


@functools.cache
def _guard(allow_networks: tuple[str, ...]) -> Guard:
    return Guard(allow_networks)
