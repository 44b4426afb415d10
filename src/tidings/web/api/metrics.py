"""Metrics of the running service for monitoring, for those with read access."""

from __future__ import annotations

import asyncio
import math
from http import HTTPStatus
from typing import TYPE_CHECKING, Final

from starlette.responses import Response

from tidings.service.health.metrics import MEDIA_TYPE, Gauges, read_gauges

if TYPE_CHECKING:
    from starlette.requests import Request

    from tidings.web.inside import Inside

KEPT_SECONDS: Final = 10.0
SHARE: Final = 100


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
            self._fresh_until = begun + max(KEPT_SECONDS, SHARE * took)
        text = inside.meter.write(self._gauges)
        return Response(text, HTTPStatus.OK, {"cache-control": "no-store", "content-type": MEDIA_TYPE})
