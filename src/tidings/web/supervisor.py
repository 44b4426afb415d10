"""Notify systemd (sd_notify(3)) that the service is ready, alive, and stopping.

Without a supervisor, which names its socket in the environment, nothing is sent.
"""

from __future__ import annotations

import asyncio
import contextlib
import socket
from collections.abc import AsyncIterator
from typing import Final

from tidings.record import dataclass
from tidings.settings import Supervised, read_supervisor

SHARE: Final = 3
"""Watchdog notifications per watchdog interval."""


@dataclass(frozen=True, slots=True)
class Supervisor:
    """The socket of a supervisor, and its watchdog interval (s, 0: none)."""

    address: str
    patience: float

    def notify(self, state: str) -> None:
        """Send a state, such as `READY=1`; errors are ignored."""
        if not self.address:
            return
        name = f"\0{self.address[1:]}" if self.address.startswith("@") else self.address
        with contextlib.suppress(OSError), socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as to:
            to.setblocking(False)
            to.sendto(state.encode(), name)

    @contextlib.asynccontextmanager
    async def watching(self) -> AsyncIterator[None]:
        """Notify that the service is ready, then regularly that it lives, and at the end that it
        stops.
        """

        async def beat() -> None:
            while self.patience:
                await asyncio.sleep(self.patience / SHARE)
                self.notify("WATCHDOG=1")

        self.notify("READY=1")
        beating = asyncio.create_task(beat())
        try:
            yield
        finally:
            beating.cancel()
            self.notify("STOPPING=1")


def find_supervisor(found: Supervised | None = None) -> Supervisor:
    """Return the supervisor named in the environment."""
    found = read_supervisor() if found is None else found
    return Supervisor(found.address, found.watchdog_seconds)
