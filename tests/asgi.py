"""Requests to an ASGI application without a network: one reads the whole answer, the other follows
an endless one.

```
answer = await ask(application, "/healthz", headers={"host": "127.0.0.1"})
async with following(application, "/api/v1/stream") as reader:
    await reader.until(3)
```
"""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections.abc import AsyncIterator, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

HOST = "127.0.0.1:8780"
PATIENCE_SECONDS = 30.0


@dataclass
class Answer:
    """What came back."""

    status: int = 0
    headers: dict[str, str] = field(default_factory=dict)
    body: bytes = b""

    def json(self) -> Any:
        """Return the body, read as JSON."""
        return json.loads(self.body)


def scope_of(path: str, method: str, headers: Iterable[tuple[str, str]]) -> dict[str, Any]:
    """Return what a server says of a request."""
    path, _, query = path.partition("?")
    return {
        "type": "http",
        "asgi": {"version": "3.0", "spec_version": "2.3"},
        "http_version": "1.1",
        "method": method,
        "scheme": "http",
        "path": path,
        "raw_path": path.encode(),
        "query_string": query.encode(),
        "root_path": "",
        "headers": [(name.lower().encode("latin-1"), value.encode("latin-1")) for name, value in headers],
        "client": ("127.0.0.1", 50_000),
        "server": ("127.0.0.1", 8780),
    }


async def ask(
    application: Any,
    path: str,
    method: str = "GET",
    *,
    headers: Mapping[str, str] | Iterable[tuple[str, str]] = (),
    body: bytes | Iterable[bytes] = b"",
) -> Answer:
    """Return the answer to one request; a body may come in parts."""
    given = list(headers.items()) if isinstance(headers, Mapping) else list(headers)
    if not any(name.lower() == "host" for name, _ in given):
        given.append(("host", HOST))
    parts = [body] if isinstance(body, bytes) else list(body)
    answer = Answer()

    async def receive() -> dict[str, Any]:
        if not parts:
            return {"type": "http.disconnect"}
        return {"type": "http.request", "body": parts.pop(0), "more_body": bool(parts)}

    async def send(message: Mapping[str, Any]) -> None:
        if message["type"] == "http.response.start":
            answer.status = message["status"]
            answer.headers = {name.decode(): value.decode("latin-1") for name, value in message["headers"]}
        else:
            answer.body += message.get("body", b"")

    await application(scope_of(path, method, given), receive, send)
    return answer


class Reader:
    """One who follows a stream of server-sent events; `records` are (id, data) as a browser would hand them on."""

    def __init__(self) -> None:
        self.status = 0
        self.text = ""
        self.last_id = ""
        self.records: list[tuple[str, Any]] = []
        self.is_ended = False
        self._more = asyncio.Event()

    def take(self, message: Mapping[str, Any]) -> None:
        """Take a piece of the answer."""
        if message["type"] == "http.response.start":
            self.status = message["status"]
        else:
            self.text += message["body"].decode()
            self.is_ended = not message.get("more_body")
            self._read()
        self._more.set()

    def _read(self) -> None:
        """Read what is whole, as the standard says (WHATWG HTML §9.2.6)."""
        while "\n\n" in self.text:
            block, _, self.text = self.text.partition("\n\n")
            fields = [line.partition(": ") for line in block.split("\n")]
            data = [value for name, _, value in fields if name == "data"]
            self.last_id = next((value for name, _, value in fields if name == "id"), self.last_id)
            if data:
                self.records.append((self.last_id, json.loads("\n".join(data))))

    async def until(self, count: int) -> None:
        """Return once so many records have come, or the stream has ended."""
        async with asyncio.timeout(PATIENCE_SECONDS):
            while len(self.records) < count and not self.is_ended:
                self._more.clear()
                await self._more.wait()

    async def until_ended(self) -> None:
        """Return once the stream has ended."""
        async with asyncio.timeout(PATIENCE_SECONDS):
            while not self.is_ended:
                self._more.clear()
                await self._more.wait()

    async def until_begun(self) -> None:
        """Return once the answer has begun."""
        async with asyncio.timeout(PATIENCE_SECONDS):
            while not self.last_id and not self.is_ended:
                self._more.clear()
                await self._more.wait()


@contextlib.asynccontextmanager
async def following(application: Any, path: str, *, headers: Mapping[str, str] | None = None) -> AsyncIterator[Reader]:
    """Follow a stream; whoever leaves the block is gone."""
    reader, gone = Reader(), asyncio.Event()
    first = [{"type": "http.request", "body": b"", "more_body": False}]

    async def receive() -> dict[str, Any]:
        if first:
            return first.pop()
        await gone.wait()
        return {"type": "http.disconnect"}

    async def send(message: Mapping[str, Any]) -> None:
        reader.take(message)

    given = [("host", HOST), *(headers or {}).items()]
    answering = asyncio.create_task(application(scope_of(path, "GET", given), receive, send))
    try:
        await reader.until_begun()
        yield reader
    finally:
        gone.set()
        await asyncio.wait_for(answering, PATIENCE_SECONDS)
