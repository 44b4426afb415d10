"""The stream: what the `stream` channel has received, as server-sent events (WHATWG HTML §9.2),
each with its number in the event log.

Nothing is buffered in memory: each follower reads the database from its number on. A slow reader
lags, one that is too slow is disconnected (`connection`), and one that returns with `Last-Event-ID`
continues where it was.
"""

from __future__ import annotations

import asyncio
from abc import ABC, abstractmethod
from collections.abc import AsyncIterator, Callable, Coroutine, Hashable
from http import HTTPStatus
from typing import TYPE_CHECKING, Any, Final, TypeVar

from starlette.responses import Response

from tidings.record import dataclass
from tidings.service.notify.deliver import STREAMED
from tidings.storage.watches import deliveries, events
from tidings.storage.watches.events import OWNER
from tidings.storage.write import old_rows
from tidings.web.problems import ProblemError

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.types import Receive, Scope, Send

    from tidings.storage.db.connection import Connection
    from tidings.web.inside import Arrivals, Inside, StreamRight

T = TypeVar("T")
HEARTBEAT_SECONDS: Final = 15.0
RETRY_MILLISECONDS: Final = 3_000
MOST_FOLLOWERS: Final = 1_000
BATCH: Final = 100
"""Records read at a time, the most one follower has in memory."""
SPAN: Final = 50_000
"""Events scanned at a time."""
_HEADERS: Final = {"cache-control": "no-store", "x-accel-buffering": "no"}
_TYPE: Final = "text/event-stream"


@dataclass(frozen=True, slots=True)
class Batch:
    """Records with their numbers, in order; all up to `upto` were scanned, and `is_all`: there are
    no more.
    """

    records: tuple[tuple[int, bytes], ...]
    upto: int
    is_all: bool


def batch_after(c: Connection, after: int, *, limit: int = BATCH, span: int = SPAN) -> Batch:
    """Return the first records of the stream above a number.

    Args:
        after: The number.
        limit: How many records at most.
        span: How many events are read at most.
    """
    newest = events.last_seq(c)
    upto = min(newest, after + span)
    found = events.listing(c, after=after, upto=upto, types=(STREAMED,), limit=limit)
    bodies = deliveries.bodies(c, [row.data["delivery"] for row in found])
    lines = {id_: body.split(b"\n") for id_, body in bodies.items()}
    records = tuple(
        (row.seq, lines[row.data["delivery"]][row.data["line"]]) for row in found if row.data["delivery"] in lines
    )
    reached = found[-1].seq if len(found) == limit else max(after, upto)
    return Batch(records, reached, is_all=reached >= newest)


class SharedReads:
    """Shares reads among followers at the same position and time."""

    def __init__(self) -> None:
        self._under_way: dict[Hashable, asyncio.Task[Any]] = {}

    async def at(self, place: Hashable, read: Callable[[], Coroutine[Any, Any, T]]) -> T:
        """Return what is read at a position, which includes the number of arrivals: a read that
        began before the last arrival may lack what its caller was woken for.
        """
        reading = self._under_way.get(place)
        if reading is None:
            reading = asyncio.create_task(read())
            reading.add_done_callback(lambda _: self._under_way.pop(place))
            self._under_way[place] = reading
        found: T = await asyncio.shield(reading)
        return found


class Batches:
    """Reads records of the stream for followers."""

    def __init__(self) -> None:
        self._readings = SharedReads()

    async def after(self, number: int, inside: Inside) -> Batch:
        """Return the first records above a number."""
        return await self._readings.at((number, inside.arrivals.count), lambda: inside.store.read(batch_after, number))


async def answer(request: Request, inside: Inside, batches: Batches) -> Response:
    """Return the stream from the client's last number or, without one, from now on."""
    newest, deleted = await inside.store.read(_read_range)
    after = _number(request.headers.get("last-event-id"), newest, deleted)
    if request.method == "HEAD":
        return Response(headers=_HEADERS, media_type=_TYPE)
    admission: StreamRight = request.state.stream_right
    check_room(inside.arrivals, admission)
    return EventStream(StreamFollower(inside, batches, after, admission))


def check_room(arrivals: Arrivals, admission: StreamRight) -> None:
    """Raise `ProblemError` unless one more may follow a stream: one account has a tenth of all
    places, and what belongs to no account has half of them.
    """
    if arrivals.is_over:
        message = "the service ends"
    elif len(arrivals) >= MOST_FOLLOWERS:
        message = f"{MOST_FOLLOWERS} streams are open already"
    else:
        most = max(1, MOST_FOLLOWERS // (2 if admission.owner_id == OWNER else 10))
        if arrivals.count_of(admission.owner_id) < most:
            return
        message = f"{most} streams of yours are open already"
    raise ProblemError(HTTPStatus.SERVICE_UNAVAILABLE, message, headers={"retry-after": "30"})


def _read_range(c: Connection) -> tuple[int, int]:
    """Return the number of the newest event, and of the newest record that was deleted."""
    return events.last_seq(c), old_rows.stream_deleted(c)


def _number(given: str | None, newest: int, deleted: int) -> int:
    """Return the number after which to begin. Raises `ProblemError` for an invalid or
    future one, and for one after which records were deleted.
    """
    if not given:
        return newest
    if not (given.isascii() and given.isdecimal() and len(given) < 19):
        message = "Last-Event-ID is not the number of an event"
        raise ProblemError(HTTPStatus.BAD_REQUEST, message, hint="0 gives all stored events")
    if int(given) > newest:
        message = f"Last-Event-ID is {given}, and the newest event has the number {newest}: this is not the service, or an older state of it"
        raise ProblemError(
            HTTPStatus.CONFLICT, message, hint="begin again: without Last-Event-ID, or with 0 for all stored events"
        )
    if 0 < int(given) < deleted:
        message = f"Last-Event-ID is {given}, and the records up to number {deleted} were deleted, as old as store.messages_days says"
        raise ProblemError(
            HTTPStatus.GONE,
            message,
            hint="begin again: with 0 for all stored records, or without Last-Event-ID; /api/v1/events has all changes",
        )
    return int(given)


class Follower(ABC):
    """A client that is written what has arrived, then what arrives, until it leaves, the service
    ends, or its admission does: that is checked again at each heartbeat, and as often if there is
    none because much arrives.
    """

    def __init__(
        self,
        arrivals: Arrivals,
        admission: StreamRight,
        *,
        begin: bytes,
        heartbeat: bytes = b":\n\n",
        follows: bool = True,
    ) -> None:
        self.arrivals = arrivals
        self._admission = admission
        self._begin = begin
        self._heartbeat = heartbeat
        self._follows = follows
        self._stirred = asyncio.Event()
        self._is_gone = False

    def leave(self) -> None:
        """Mark the client as gone."""
        self._is_gone = True
        self._stirred.set()

    async def pieces(self) -> AsyncIterator[bytes]:
        """Yield what is to be written and, while nothing arrives, a heartbeat from time to time to
        keep the connection open.
        """
        self._stirred = self.arrivals.join(self._admission.owner_id)
        passing = asyncio.get_running_loop().time
        checked = passing()
        try:
            if self._begin:
                yield self._begin
            while not (self._is_gone or self.arrivals.is_over):
                if passing() - checked >= HEARTBEAT_SECONDS:
                    if not await self._admission.stands():
                        return
                    checked = passing()
                self._stirred.clear()
                piece, is_all = await self._read()
                if piece:
                    yield piece
                if is_all:
                    if not self._follows:
                        return
                    if not await self._rest():
                        yield self._heartbeat
        finally:
            self.arrivals.leave(self._stirred)

    @abstractmethod
    async def _read(self) -> tuple[bytes, bool]:
        """Return what is to be written next, and whether that is all for now."""

    async def _rest(self) -> bool:
        """Wait for an arrival or the end; return False if only a heartbeat is due."""
        try:
            await asyncio.wait_for(self._stirred.wait(), HEARTBEAT_SECONDS)
        except TimeoutError:
            return False
        return True


class StreamFollower(Follower):
    """A follower of the stream.

    The first piece has the starting number, so that a client cut off before the first record misses
    none.
    """

    def __init__(self, inside: Inside, batches: Batches, after: int, admission: StreamRight) -> None:
        super().__init__(inside.arrivals, admission, begin=begin_at(after))
        self._inside = inside
        self._batches = batches
        self._after = after

    async def _read(self) -> tuple[bytes, bool]:
        batch = await self._batches.after(self._after, self._inside)
        self._after = batch.upto
        return b"".join(b"id: %d\ndata: %s\n\n" % (seq, line) for seq, line in batch.records), batch.is_all


def begin_at(number: int) -> bytes:
    """Return the first piece of a stream of server-sent events, from which a client that is cut off
    continues after `number`.
    """
    return f"retry: {RETRY_MILLISECONDS}\nid: {number}\n\n".encode()


class EventStream(Response):
    """A streaming response that ends when its reader leaves or the service stops."""

    def __init__(self, follower: Follower, *, media_type: str = _TYPE) -> None:
        super().__init__(headers=_HEADERS, media_type=media_type)
        del self.headers["content-length"]
        self._follower = follower

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Write until the client leaves."""
        del scope
        leaving = asyncio.create_task(self._wait_for_disconnect(receive))
        try:
            await send({"type": "http.response.start", "status": self.status_code, "headers": self.raw_headers})
            async for piece in self._follower.pieces():
                await send({"type": "http.response.body", "body": piece, "more_body": True})
            await send({"type": "http.response.body", "body": b"", "more_body": False})
        finally:
            leaving.cancel()

    async def _wait_for_disconnect(self, receive: Receive) -> None:
        while (await receive())["type"] != "http.disconnect":
            pass
        self._follower.leave()
