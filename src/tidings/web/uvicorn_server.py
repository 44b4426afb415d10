"""The HTTP server: uvicorn with deadlines for slow senders and readers (slowloris), stopped by its
owner.
"""

from __future__ import annotations

import asyncio
import contextlib
import itertools
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Final, Literal

import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol

if TYPE_CHECKING:
    from starlette.types import ASGIApp
    from uvicorn.protocols.http.h11_impl import RequestResponseCycle

HEAD_SECONDS: Final = 10.0
"""Deadline from a connection, or the first byte of a further request, to the end of its headers."""
BODY_SECONDS: Final = 30.0
"""Deadline from the end of the headers to the end of the body."""
STALL_SECONDS: Final = 30.0
"""How long a reader may not read what was sent."""
IDLE_SECONDS: Final = 15
MOST_CONNECTIONS: Final = 1_200
"""A thousand stream followers and room for other requests (`bench/followers.py` measures it); fewer
where the system limits open files.
"""
OPEN_FILES: Final = 4_096
"""Number of open files to request from the system."""
MOST_WAITING: Final = 32
"""Most connections of one address without a complete request; the oldest of more is dropped, as is
the oldest of all once places run out.
"""
MOST_HEAD_BYTES: Final = 16_384
GRACE_SECONDS: Final = 1


_NUMBERS = itertools.count(1)


class ClientConnection(H11Protocol):
    """A connection that is dropped when the client makes no progress."""

    _deadline: asyncio.TimerHandle | None = None
    _body: asyncio.TimerHandle | None = None
    _stalled: asyncio.TimerHandle | None = None
    _number = 0

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Start the deadline for a request."""
        super().connection_made(transport)
        self._number = next(_NUMBERS)
        self._watch()
        self._make_room()

    @property
    def is_waiting(self) -> bool:
        """Return whether no complete request is being processed: none yet, a part of one, or none
        after the last answer.
        """
        answering: RequestResponseCycle | None = self.cycle
        return answering is None or answering.response_complete or answering.more_body

    def _make_room(self) -> None:
        """Drop the oldest idle connection, of its address if that has too many, of all if all
        places are taken.
        """
        waiting = [c for c in self.connections if isinstance(c, ClientConnection) and c is not self and c.is_waiting]
        own = [c for c in waiting if self.client is not None and c.client is not None and c.client[0] == self.client[0]]
        if len(own) >= MOST_WAITING:
            min(own, key=lambda c: c._number).transport.abort()  # noqa: SLF001 - another of the same kind
        elif waiting and len(self.connections) >= (self.limit_concurrency or MOST_CONNECTIONS):
            min(waiting, key=lambda c: c._number).transport.abort()  # noqa: SLF001 - another of the same kind

    def data_received(self, data: bytes) -> None:
        """Receive data; incomplete headers have until their deadline."""
        super().data_received(data)
        self._watch()

    def connection_lost(self, exc: Exception | None) -> None:
        """Cancel the deadlines."""
        self._disarm("_deadline")
        self._disarm("_body")
        self._disarm("_stalled")
        super().connection_lost(exc)

    def pause_writing(self) -> None:
        """Start the deadline of a slow reader."""
        super().pause_writing()
        if self._stalled is None:
            self._stalled = self.loop.call_later(STALL_SECONDS, self.transport.abort)

    def resume_writing(self) -> None:
        """Cancel the deadline of a slow reader."""
        self._disarm("_stalled")
        super().resume_writing()

    def _watch(self) -> None:
        answering: RequestResponseCycle | None = self.cycle  # none before the first request
        if answering is not None and not answering.response_complete:
            self._disarm("_deadline")
            if not answering.more_body:
                self._disarm("_body")
            elif self._body is None:
                self._body = self.loop.call_later(BODY_SECONDS, self.transport.abort)
        elif self._deadline is None:
            self._disarm("_body")
            self._deadline = self.loop.call_later(HEAD_SECONDS, self.transport.abort)

    def _disarm(self, name: Literal["_deadline", "_body", "_stalled"]) -> None:
        timer: asyncio.TimerHandle | None = getattr(self, name)
        if timer is not None:
            timer.cancel()
            setattr(self, name, None)


class Server(uvicorn.Server):
    """A server within our process: signals are the owner's, and nothing ticks while idle."""

    def __init__(self, application: ASGIApp) -> None:
        super().__init__(_configuration(application))
        self._ending = asyncio.Event()
        self.listens = asyncio.Event()
        """set once connections are answered"""

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Leave signals to the owner."""
        yield

    async def main_loop(self) -> None:
        """Wait for the end."""
        self.listens.set()
        await self._ending.wait()

    def end(self) -> None:
        """Accept nothing more; give requests in progress a moment."""
        self._ending.set()


def places() -> int:
    """Return the most connections: half of the process's open files, since the database, pages and
    workers need some too, and at most `MOST_CONNECTIONS`.
    """
    try:
        import resource  # not on every platform
    except ImportError:
        return min(MOST_CONNECTIONS, 256)
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = OPEN_FILES if hard == resource.RLIM_INFINITY else min(OPEN_FILES, hard)
    if soft != resource.RLIM_INFINITY and soft < wanted:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
        soft = wanted
    return MOST_CONNECTIONS if soft == resource.RLIM_INFINITY else max(1, min(MOST_CONNECTIONS, soft // 2))


def _configuration(application: Any) -> uvicorn.Config:
    return uvicorn.Config(
        application,
        http=ClientConnection,
        ws="none",
        lifespan="off",
        log_config=None,
        log_level="error",
        access_log=False,
        proxy_headers=False,
        server_header=False,
        date_header=False,
        limit_concurrency=places(),
        timeout_keep_alive=IDLE_SECONDS,
        timeout_graceful_shutdown=GRACE_SECONDS,
        h11_max_incomplete_event_size=MOST_HEAD_BYTES,
    )
