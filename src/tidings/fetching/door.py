"""What fetching lends to libraries that open connections of their own, mail and chat services (R-01).

They run in a guarded process, so what is lent can be pickled: the judgement of addresses and a context for TLS.
"""

from __future__ import annotations

import functools
import ssl

from tidings.fetching.guard import Guard
from tidings.record import dataclass


@dataclass(frozen=True, slots=True)
class OutboundDoor:
    """The same guard that judges fetches. `allow_networks` are networks that may be dialled although they are special."""

    allow_networks: tuple[str, ...] = ()

    def fault(self, address: str) -> str:
        """Return why the address may not be dialled, or an empty text if it may. A name is no address."""
        return _guard(self.allow_networks).fault(address)

    def tls(self) -> ssl.SSLContext:
        """Return a context that verifies certificates and host names with the system's authorities."""
        return ssl.create_default_context()


@functools.cache
def _guard(allow_networks: tuple[str, ...]) -> Guard:
    return Guard(allow_networks)
