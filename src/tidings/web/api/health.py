"""Health and metrics of the running service. `/healthz` says whether it holds its lease and its
database answers, and the number of troubles; nothing of what is watched is revealed. `/metrics`
needs read access.
"""

from __future__ import annotations

import asyncio
import json
import math
from http import HTTPStatus
from typing import TYPE_CHECKING, Final

from starlette.responses import Response

from tidings.errors import StoreError
from tidings.service.health.metrics import MEDIA_TYPE, Gauges, read_gauges
from tidings.service.health.sources import health_of_service
from tidings.service.show.records import rfc3339
from tidings.storage.db import lock
from tidings.storage.db.database import REVISIONS

if TYPE_CHECKING:
    from starlette.requests import Request

    from tidings.web.inside import Inside

ANSWER_SECONDS: Final = 2.0
COUNTED_FOR_SECONDS: Final = 60.0
SHARE: Final = 100


class Pulse:
    """The number of troubles, counted on request: at most once a minute, in at most a hundredth of
    the time.
    """

    def __init__(self) -> None:
        self._counted: dict[str, object] = {}
        self._fresh_until = -math.inf

    async def answer(self, request: Request, inside: Inside) -> Response:
        """Return 200 while the service works, with or without troubles, else 503 and the reason."""
        del request
        if inside.store.outage is not None:
            return _answer("database lost", None)
        try:
            async with asyncio.timeout(ANSWER_SECONDS):
                lease = await inside.store.read(lock.current_lease, lock.POLLER)
        except (TimeoutError, StoreError):
            return _answer("busy", None)
        is_own = lease is not None and (lease.holder, lease.epoch) == (inside.holder, inside.epoch)
        if inside.holder and (lease is None or not is_own or lease.until <= inside.clock.now()):
            return _answer("lease lost", None)
        lease_data: dict[str, object] = {} if lease is None else {"epoch": lease.epoch, "until": rfc3339(lease.until)}
        return _answer("ready", lease_data, **await self._count(inside))

    async def _count(self, inside: Inside) -> dict[str, object]:
        begun = asyncio.get_running_loop().time()
        if begun >= self._fresh_until:
            self._fresh_until = begun + COUNTED_FOR_SECONDS  # later requests get the last count meanwhile
            now = inside.clock.wall()
            try:
                found = await inside.store.read(health_of_service, inside.settings, now=now)
                self._counted = {"health": found.status, "troubles": len(found.troubles)}
            except StoreError:
                self._counted = {"health": "unknown"}
            took = asyncio.get_running_loop().time() - begun
            self._fresh_until = begun + max(COUNTED_FOR_SECONDS, SHARE * took)
        return self._counted


def _answer(status: str, lease: dict[str, object] | None, **more: object) -> Response:
    code = HTTPStatus.OK if lease is not None else HTTPStatus.SERVICE_UNAVAILABLE
    body = json.dumps({"status": status, "schema": REVISIONS[-1], "lease": lease, **more})
    return Response(body, code, {"cache-control": "no-store"}, "application/json")


ANSWER_CACHED_SECONDS: Final = 10.0


class Metrics:
    """Answers scrapers; gauges are read at most every ten seconds, in at most a hundredth of the
    time.
    """

    def __init__(self) -> None:
        self._gauges: Gauges | None = None
        self._fresh_until = -math.inf

    async def answer(self, request: Request, inside: Inside) -> Response:
        """Return all metrics."""
        del request
        begun = asyncio.get_running_loop().time()
        if self._gauges is None or begun >= self._fresh_until:
            self._gauges = await inside.store.read(read_gauges, inside.settings, now=inside.clock.wall())
            took = asyncio.get_running_loop().time() - begun
            self._fresh_until = begun + max(ANSWER_CACHED_SECONDS, SHARE * took)
        text = inside.meter.write(self._gauges)
        return Response(text, HTTPStatus.OK, {"cache-control": "no-store", "content-type": MEDIA_TYPE})
