"""Is the service well: whether it holds its lease and its database answers; nothing else is told to whoever asks (trust.md §6)."""

from __future__ import annotations

import asyncio
import json
from http import HTTPStatus
from typing import TYPE_CHECKING, Final

from starlette.responses import Response

from tidings.errors import StoreError
from tidings.service.records import rfc3339
from tidings.storage import leases
from tidings.storage.database import REVISIONS

if TYPE_CHECKING:
    from starlette.requests import Request

    from tidings.web.inside import Inside

ANSWER_SECONDS: Final = 2.0


async def answer(request: Request, inside: Inside) -> Response:
    """Return 200 while the service does its work, 503 and why it does not otherwise."""
    del request
    try:
        async with asyncio.timeout(ANSWER_SECONDS):
            lease = await inside.store.read(leases.current, leases.POLLER)
    except (TimeoutError, StoreError):
        return _told("busy", None)
    is_held = lease is not None and (lease.holder, lease.epoch) == (inside.holder, inside.epoch)
    if lease is None or not is_held or lease.until <= inside.clock.now():
        return _told("lease lost", None)
    return _told("ready", {"epoch": lease.epoch, "until": rfc3339(lease.until)})


def _told(status: str, lease: dict[str, object] | None) -> Response:
    code = HTTPStatus.OK if lease is not None else HTTPStatus.SERVICE_UNAVAILABLE
    body = json.dumps({"status": status, "schema": REVISIONS[-1], "lease": lease})
    return Response(body, code, {"cache-control": "no-store"}, "application/json")
