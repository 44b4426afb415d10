"""The contract of message buses between machines
(`docs/decisions/0085-a-poller-is-a-fetcher-over-a-bus.md`).

```
offer(lane, work)   take(lane) -> work        one taker gets a piece of work, or none does
send(box, message)  mailbox(box) -> messages  in order, or lost
```
Nothing on a bus is the only copy: the process that offers work waits for its outcome, up to a
timeout. One suite covers all rows: `tests/contract/test_bus.py`.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager
from typing import Final, Protocol

OFFER_SECONDS: Final = 60.0
"""Work that was not taken for so long is dropped."""
LANES: Final = ("pages", "browser")
"""Rendered pages have a lane of their own, since not every poller has a browser."""
LARGEST_MESSAGE_BYTES: Final = 64 * 1024 * 1024


class Bus(Protocol):
    """Transports work and messages of up to `LARGEST_MESSAGE_BYTES`. Names of lanes and boxes are
    ASCII letters, digits, `-` and `_`.

    Each call raises `BusError` while the server cannot be reached; a later call may succeed.
    """

    async def offer(self, lane: str, work: bytes) -> None:
        """Queue work in a lane. It is dropped after `OFFER_SECONDS`."""
        ...

    async def take(self, lane: str) -> bytes:
        """Wait for work and return it, the oldest of the lane first; no other taker gets it."""
        ...

    async def send(self, box: str, message: bytes) -> None:
        """Send a message to a mailbox. It is lost if the mailbox is not open. Raise `ValueError` if
        it is too large.
        """
        ...

    def mailbox(self, box: str) -> AbstractAsyncContextManager[AsyncIterator[bytes]]:
        """Open a mailbox and yield its messages as they arrive; those of one sender in the order in
        which they were sent. They end, or raise, if messages may be lost with the connection.
        """
        ...

    async def close(self) -> None:
        """Close the connection; waiting calls end with `BusError`."""
        ...


def hide(url: str) -> str:
    """Return an address without user and password."""
    scheme, _, rest = url.partition("://")
    return f"{scheme}://{rest.rpartition('@')[2]}"
