"""The log of changes as numbered CloudEvents: the stored ones since a number, then new ones while
the client listens.

As server-sent events or JSON lines, by the Accept header. Unlike the channel `stream` it has every
change, whether or not a clause notifies anybody of it.
"""

from __future__ import annotations

import asyncio
import json
from http import HTTPStatus
from typing import TYPE_CHECKING, Any, Final

from tidings.model.event_type import EventType
from tidings.service.show.records import change_record, rfc3339
from tidings.storage.db import instance
from tidings.storage.watches import changes, events
from tidings.storage.watches.sentinels import is_seen
from tidings.web.api.stream import HEARTBEAT_SECONDS, RETRY_MILLISECONDS, EventStream
from tidings.web.problems import ProblemError

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from tidings.storage.db.connection import Connection
    from tidings.web.resources.operation import Call

TYPE: Final = "tidings.change.found.v1"
SSE: Final = "text/event-stream"
LINES: Final = "application/x-ndjson"
MOST_FOLLOWERS: Final = 1_000
BATCH: Final = 100
SPAN: Final = 50_000


def cloud_event(c: Connection, seq: int, change_id: str) -> dict[str, Any] | None:
    """Return the CloudEvent (1.0) of a change, None if the change is no longer stored."""
    found = changes.get(c, change_id)
    if found is None:
        return None
    return {
        "specversion": "1.0",
        "id": found.row.id,
        "source": f"urn:tidings:{instance.load(c).id}",
        "type": TYPE,
        "subject": found.sentinel,
        "time": rfc3339(found.row.detected_at),
        "datacontenttype": "application/json",
        "sequence": str(seq),
        "data": change_record(found.row, sentinel=found.sentinel, url=found.url),
    }


def after(c: Connection, number: int, viewer: int | None) -> tuple[list[tuple[int, str]], int, bool]:
    """Return the first events above a number that an owner sees, as lines of JSON, the last number
    scanned, and whether that was all.
    """
    newest = events.last_seq(c)
    upto = min(newest, number + SPAN)
    rows = events.listing(c, after=number, upto=upto, types=(EventType.CHANGE_FOUND,), limit=BATCH)
    found = []
    for row in rows:
        if row.change_id is None or row.sentinel_id is None or not is_seen(c, row.sentinel_id, viewer):
            continue
        if (event := cloud_event(c, row.seq, row.change_id)) is not None:
            found.append((row.seq, json.dumps(event, ensure_ascii=True, separators=(",", ":"))))
    reached = rows[-1].seq if len(rows) == BATCH else max(number, upto)
    return found, reached, reached >= newest


async def stream(call: Call) -> EventStream:
    """Return the stream from the requested number or, without one, from now on."""
    newest = await call.read(events.last_seq)
    given = call.request.headers.get("last-event-id", "")
    begin = call.query.after
    if given.isascii() and given.isdecimal() and len(given) < 19:
        begin = int(given)
    if begin is not None and begin > newest:
        message = (
            f"the newest event has the number {newest}: {begin} is of another service, or of an older state of this one"
        )
        raise ProblemError(HTTPStatus.CONFLICT, message, hint="begin again: with after=0 for all stored events")
    arrivals = call.desk.arrivals
    if len(arrivals) >= MOST_FOLLOWERS or arrivals.is_over:
        message = "too many follow already" if not arrivals.is_over else "the service ends"
        raise ProblemError(HTTPStatus.SERVICE_UNAVAILABLE, message, headers={"retry-after": "30"})
    is_sse = LINES not in call.request.headers.get("accept", "")
    listener = Listener(call, newest if begin is None else begin, is_sse=is_sse, follows=call.query.follow)
    return EventStream(listener, media_type=SSE if is_sse else LINES)


class Listener:
    """One client reading the log from a number on; `leave` says that it has left."""

    def __init__(self, call: Call, begin: int, *, is_sse: bool, follows: bool) -> None:
        self._call = call
        self._arrivals = call.desk.arrivals
        self._after = begin
        self._is_sse = is_sse
        self._follows = follows
        self._stirred = asyncio.Event()
        self._is_gone = False

    def leave(self) -> None:
        """Mark the client as gone."""
        self._is_gone = True
        self._stirred.set()

    async def pieces(self) -> AsyncIterator[bytes]:
        """Yield the events in order and, for a follower, a heartbeat from time to time."""
        self._stirred = self._arrivals.join()
        try:
            if self._is_sse:
                yield f"retry: {RETRY_MILLISECONDS}\nid: {self._after}\n\n".encode()
            while not (self._is_gone or self._arrivals.is_over):
                self._stirred.clear()
                found, self._after, is_all = await self._read(self._after, self._call.asker.viewer)
                if found:
                    yield b"".join(self._write(seq, line) for seq, line in found)
                if is_all:
                    if not self._follows:
                        return
                    if not await self._rest():
                        yield b":\n\n" if self._is_sse else b"\n"
        finally:
            self._arrivals.leave(self._stirred)

    async def _read(self, number: int, viewer: int | None) -> tuple[list[tuple[int, str]], int, bool]:
        place = (number, viewer, self._arrivals.count)
        return await self._call.desk.readings.at(place, lambda: self._call.read(after, number, viewer))

    def _write(self, seq: int, line: str) -> bytes:
        return (f"id: {seq}\nevent: {TYPE}\ndata: {line}\n\n" if self._is_sse else f"{line}\n").encode()

    async def _rest(self) -> bool:
        """Wait for events; return False if only a heartbeat is due."""
        try:
            await asyncio.wait_for(self._stirred.wait(), HEARTBEAT_SECONDS)
        except TimeoutError:
            return False
        return True
