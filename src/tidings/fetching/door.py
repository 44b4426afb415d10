"""Guarded connections for libraries that open their own: mail and chat services (R-01).

They run in a guarded process, so everything here can be pickled: the address check and a TLS
context.
"""

from __future__ import annotations

import functools
import ssl

from tidings.fetching.guard import Guard
from tidings.record import dataclass


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
