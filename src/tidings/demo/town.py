"""The town: a web server for each page on loopback, a log of every edit, and a post office for
messages.

Each page has a host of its own (127.0.0.2 and on; if the system has only 127.0.0.1, a port of its
own). Requests and answers are logged here, not by the service.
"""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
from bisect import bisect_right
from collections.abc import AsyncIterator, Callable, Iterable, Mapping
from dataclasses import field
from datetime import UTC, datetime
from email.utils import format_datetime
from http import HTTPStatus
from itertools import count
from typing import Final

from tidings.clock import SECOND, Clock
from tidings.demo.report import Logged
from tidings.demo.script import ADVERT, CLOCK, DemoPage, ServerTrouble, TownEdit
from tidings.model.interval import Instant
from tidings.record import dataclass

MOST_HEAD: Final = 64 * 1024
MOST_BODY: Final = 1_000_000
IDLE_SECONDS: Final = 120.0
ADVERTS: Final = (
    "Umbrellas",
    "Fresh mussels",
    "Piano lessons",
    "Firewood",
    "Sailing trips",
    "Warm socks",
    "Second-hand bikes",
)
CONTENT_TYPES: Final = {"html": "text/html; charset=utf-8", "feed": "application/atom+xml; charset=utf-8"}

WALL: Final = b"""<!doctype html>
<html lang=en><title>Just a moment...</title>
<p>Verify you are human. Checking your browser before you go on.</p>
</html>
"""

Post = Callable[[Mapping[str, str], bytes], int]
"""Takes a message (headers in lower case, body) and returns the HTTP status of the answer."""


@dataclass(slots=True)
class House:
    """The state of a page: its address, its content, the edits so far, and each poll with the
    number of edits it saw.
    """

    place: DemoPage
    content: str
    url: str = ""
    edited: Instant = 0
    log: list[Logged] = field(default_factory=list)
    seen_at: list[Instant] = field(default_factory=list)
    seen: list[int] = field(default_factory=list)

    def number_at(self, at: Instant) -> int:
        """Return how many edits the last poll before an instant saw."""
        polls = bisect_right(self.seen_at, at)
        return self.seen[polls - 1] if polls else 0


class Town:
    """The pages and their servers. `wake` starts the town's time; `edit` follows the script."""

    def __init__(
        self,
        places: Iterable[DemoPage],
        opening: Mapping[str, str],
        *,
        troubles: Iterable[ServerTrouble],
        clock: Clock,
        post: Post,
    ) -> None:
        self.houses = {place.name: House(place, opening[place.name]) for place in places}
        self.post_url = ""
        self.woke_at: Instant = 0
        self.known = asyncio.Event()
        """set once every page has been polled"""
        self._clock = clock
        self._post = post
        self._troubles = tuple(troubles)
        self._adverts = count()

    @contextlib.asynccontextmanager
    async def open(self) -> AsyncIterator[Town]:
        """Open all servers, on free ports."""
        now = self._clock.now()
        async with contextlib.AsyncExitStack() as stack:
            for number, house in enumerate(self.houses.values(), 2):
                house.edited = now
                house.url = f"{await self._listen(stack, f'127.0.0.{number}', house)}/"
            self.post_url = f"{await self._listen(stack, '127.0.0.1', None)}/news"
            yield self

    def wake(self) -> None:
        """Start the town's time."""
        self.woke_at = self._clock.now()

    def measure_elapsed(self) -> float:
        """Return the seconds since the town woke up."""
        return (self._clock.now() - self.woke_at) / SECOND if self.woke_at else 0.0

    def edit(self, edit: TownEdit) -> None:
        """Put new content on a page, and log it if it is news."""
        house = self.houses[edit.place]
        house.content, house.edited = edit.content, self._clock.now()
        if edit.news:
            house.log.append(Logged(house.edited, edit.text, edit.content))

    def trouble(self, place: str, at: Instant) -> ServerTrouble | None:
        """Return the trouble of a page's server at an instant, if any."""
        seconds = (at - self.woke_at) / SECOND if self.woke_at else -1.0
        return next((t for t in self._troubles if t.place == place and t.holds(seconds)), None)

    # -- servers
    # --------------------------------------------------------------------------------------

    async def _listen(self, stack: contextlib.AsyncExitStack, host: str, house: House | None) -> str:
        async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            await self._serve(reader, writer, house)

        try:
            server = await asyncio.start_server(serve, host, 0, limit=MOST_HEAD)
        except OSError:  # macOS has 127.0.0.1 only
            server = await asyncio.start_server(serve, "127.0.0.1", 0, limit=MOST_HEAD)
        stack.callback(server.close)
        address, port = server.sockets[0].getsockname()[:2]
        return f"http://{address}:{port}"

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, house: House | None) -> None:
        """Answer the requests of one connection in sequence."""
        try:
            async with asyncio.timeout(None) as limit:
                while True:
                    limit.reschedule(asyncio.get_running_loop().time() + IDLE_SECONDS)
                    request = await _read(reader)
                    answer, keeps = self._answer(house, *request) if house is not None else (self._take(*request), True)
                    writer.write(answer)
                    await writer.drain()
                    if not keeps:
                        return
        except (OSError, ValueError, EOFError, TimeoutError, asyncio.LimitOverrunError):
            return  # the client has gone, or does not speak HTTP
        finally:
            writer.close()

    def _take(self, target: str, headers: Mapping[str, str], body: bytes) -> bytes:
        return _response(self._post(headers, body)) if target == "/news" else _response(404)

    def _answer(self, house: House, target: str, headers: Mapping[str, str], body: bytes) -> tuple[bytes, bool]:
        """Return the answer to a poll, and whether the connection stays open."""
        del body
        if target != "/":
            return _response(404, b"there is no such page here"), True
        at = self._clock.now()
        trouble = self.trouble(house.place.name, at)
        if trouble is not None and trouble.kind == "500":
            return _response(500, b"<h1>Internal Server Error</h1>"), True
        if trouble is not None and trouble.kind == "wall":
            return _response(200, WALL, {"content-type": CONTENT_TYPES["html"]}), True
        content = self._show(house).encode()
        more = {"content-type": CONTENT_TYPES[house.place.media]}
        if trouble is not None:
            whole = _response(200, content, more)
            return whole[: -len(content) // 2], False
        house.seen_at.append(at)
        house.seen.append(len(house.log))
        if all(other.seen for other in self.houses.values()):
            self.known.set()
        if house.place.restless:
            return _response(200, content, more), True
        tag = f'"{hashlib.sha256(content).hexdigest()[:16]}"'
        more |= {
            "etag": tag,
            "last-modified": format_datetime(datetime.fromtimestamp(house.edited / SECOND, UTC), usegmt=True),
        }
        if tag in headers.get("if-none-match", ""):
            return _response(304, more=more), True
        return _response(200, content, more), True

    def _show(self, house: House) -> str:
        if not house.place.restless:
            return house.content
        clock = datetime.fromtimestamp(self._clock.now() / SECOND, UTC).strftime("%H:%M:%S.%f")[:-3]
        return house.content.replace(CLOCK, clock).replace(ADVERT, ADVERTS[next(self._adverts) % len(ADVERTS)])


async def _read(reader: asyncio.StreamReader) -> tuple[str, dict[str, str], bytes]:
    """Return target, headers and body of the next request."""
    head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
    first, *lines = head.strip().split("\r\n")
    _, target, _ = first.split(" ", 2)
    pairs = (line.partition(":") for line in lines)
    headers = {name.strip().lower(): value.strip() for name, _, value in pairs}
    length = int(headers.get("content-length", "0"))
    if length > MOST_BODY:
        message = "a message is too long"
        raise ValueError(message)
    return target, headers, await reader.readexactly(length)


def _response(status: int, body: bytes = b"", more: Mapping[str, str] | None = None) -> bytes:
    headers = {**(more or {}), **({} if status == HTTPStatus.NOT_MODIFIED else {"content-length": str(len(body))})}
    lines = "".join(f"{name}: {value}\r\n" for name, value in headers.items())
    return f"HTTP/1.1 {status} {HTTPStatus(status).phrase}\r\n{lines}\r\n".encode("latin-1") + body
