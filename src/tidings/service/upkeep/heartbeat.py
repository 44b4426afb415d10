"""A dead-man's switch: while the service works it requests a URL, whose monitor raises the alarm
when requests stop.

Requests are part of steps: none while the lease is lost, the database is unreachable or nothing can
be stored. An answer that refuses them is logged once.
"""

from __future__ import annotations

import logging
from collections.abc import Coroutine
from typing import TYPE_CHECKING, Any, Final

from tidings.clock import MINUTE

if TYPE_CHECKING:
    from tidings.fetching.fetcher import Poster
    from tidings.model.interval import Instant
    from tidings.settings import ServeSettings

log = logging.getLogger("tidings.service")
EVERY: Final = MINUTE
TIMEOUT_SECONDS: Final = 10.0


class Heartbeat:
    """Requests `serve.ping_url` once a minute."""

    def __init__(self, poster: Poster, serve: ServeSettings, agent: str) -> None:
        self._poster = poster
        self._url = serve.ping_url
        self._headers = {"User-Agent": agent, "Content-Type": "text/plain"}
        self._error = ""
        self.next_due: Instant | None = 0 if self._url else None

    async def due(self, now: Instant) -> list[Coroutine[Any, Any, None]]:
        """Return the request that is due, if one is."""
        if self.next_due is None or now < self.next_due:
            return []
        self.next_due = now + EVERY
        return [self._ping()]

    async def _ping(self) -> None:
        answer = await self._poster.post(self._url, headers=self._headers, body=b"", timeout_seconds=TIMEOUT_SECONDS)
        if answer.error and answer.error != self._error:
            log.warning("serve.ping_url accepts no pings: %s", answer.error)
        elif self._error and not answer.error:
            log.info("serve.ping_url accepts pings again")
        self._error = answer.error
