"""The HTTP server: uvicorn's, with deadlines for those who send or read too slowly (slowloris), and stopped by its owner."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Final, Literal

import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol

if TYPE_CHECKING:
    from starlette.types import ASGIApp
    from uvicorn.protocols.http.h11_impl import RequestResponseCycle

HEAD_SECONDS: Final = 10.0
"""From a connection, or the first byte of a further request, to the end of its headers."""
STALL_SECONDS: Final = 30.0
"""How long a reader may leave what is sent to it untouched."""
IDLE_SECONDS: Final = 15
MOST_CONNECTIONS: Final = 256
MOST_HEAD_BYTES: Final = 16_384
GRACE_SECONDS: Final = 1


class Connection(H11Protocol):
    """A connection that is dropped when its other end does not get on."""

    _deadline: asyncio.TimerHandle | None = None
    _stalled: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Wait for a request, not for ever."""
        super().connection_made(transport)
        self._watch()

    def data_received(self, data: bytes) -> None:
        """Take what has come; an unfinished head has until its deadline."""
        super().data_received(data)
        self._watch()

    def connection_lost(self, exc: Exception | None) -> None:
        """Forget the deadlines."""
        self._disarm("_deadline")
        self._disarm("_stalled")
        super().connection_lost(exc)

    def pause_writing(self) -> None:
        """Hear that the other end reads too slowly."""
        super().pause_writing()
        if self._stalled is None:
            self._stalled = self.loop.call_later(STALL_SECONDS, self.transport.abort)

    def resume_writing(self) -> None:
        """Hear that it has read on."""
        self._disarm("_stalled")
        super().resume_writing()

    def _watch(self) -> None:
        answering: RequestResponseCycle | None = self.cycle  # none before the first request
        if answering is not None and not answering.response_complete:
            self._disarm("_deadline")
        elif self._deadline is None:
            self._deadline = self.loop.call_later(HEAD_SECONDS, self.transport.abort)

    def _disarm(self, name: Literal["_deadline", "_stalled"]) -> None:
        timer: asyncio.TimerHandle | None = getattr(self, name)
        if timer is not None:
            timer.cancel()
            setattr(self, name, None)


class Server(uvicorn.Server):
    """A server inside a process of ours: signals are its owner's, and nothing ticks while nobody asks."""

    def __init__(self, application: ASGIApp) -> None:
        super().__init__(_configuration(application))
        self._ending = asyncio.Event()
        self.listens = asyncio.Event()
        """set once whoever connects is answered"""

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Leave signals alone."""
        yield

    async def main_loop(self) -> None:
        """Wait until it is over."""
        self.listens.set()
        await self._ending.wait()

    def end(self) -> None:
        """Take nothing more, give what is under way a moment."""
        self._ending.set()


def _configuration(application: Any) -> uvicorn.Config:
    return uvicorn.Config(
        application,
        http=Connection,
        ws="none",
        lifespan="off",
        log_config=None,
        log_level="error",
        access_log=False,
        proxy_headers=False,
        server_header=False,
        date_header=False,
        limit_concurrency=MOST_CONNECTIONS,
        timeout_keep_alive=IDLE_SECONDS,
        timeout_graceful_shutdown=GRACE_SECONDS,
        h11_max_incomplete_event_size=MOST_HEAD_BYTES,
    )
