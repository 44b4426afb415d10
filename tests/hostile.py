"""The stage for the hostile inputs of `docs/design/hostile.md` against the client; `hostile_rows`
is their table.

```
with Stage() as stage:
    result = act(row.scene(stage))
    assert row.expected == row.see(stage, result)
```
A row is what is met, what must come of it, and how it is played: servers of raw sockets on loopback (`Stage`), what is asked of the
client (`Ask`, which may be done in another process), and what is to be seen afterwards. No row may dial anything but its servers.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import ssl
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, Self
from unittest import mock

from tests.fakes import Answer, FreePermit, Seen, SocketRecorder, WebServer
from tests.unit.fetching.asking import FixedNames, settings
from tidings.clock import SECOND
from tidings.errors import UsageError
from tidings.fetching import address
from tidings.fetching.fetcher import PostAnswer
from tidings.fetching.http.client import Client
from tidings.model.observed.outcome import Failed, Fetched, FetchRequest, Outcome
from tidings.model.watch.asking import Asking, Header, Value

Word = Literal["REFUSE", "BLOCK", "FAIL", "SAFE", "LIMIT"]
"""The outcomes of `docs/design/hostile.md`: refused at save; no packet leaves; a fetch error; no effect; stopped inside a cap."""


@dataclass(frozen=True, slots=True)
class Ask:
    """What is asked of one client, in order; can be sent to another process.

    `is_saved` says that each request's address and headers are saved first, as typed. `names` are what names lead to, lookup by lookup,
    `trust` the certificates that are trusted, `posts` makes the requests messages to receivers, `is_restarted` gives each request a client
    of its own.
    """

    requests: tuple[FetchRequest, ...]
    is_saved: bool = False
    settings: Mapping[str, object] = field(default_factory=dict)
    names: Mapping[str, list[list[str]]] = field(default_factory=dict)
    trust: str = ""
    is_restarted: bool = False
    environment: Mapping[str, str] = field(default_factory=dict)
    posts: bool = False


@dataclass(frozen=True, slots=True)
class Result:
    """What came of an `Ask`: how many of its pages could not be saved, how each fetch ended, what was dialled, delays in seconds."""

    refused: int
    outcomes: tuple[Outcome, ...]
    answers: tuple[PostAnswer, ...]
    dials: tuple[tuple[object, ...], ...]
    delays: tuple[float, ...]
    seconds: float


class Stage:
    """The servers of one row; they end with it."""

    def __init__(self) -> None:
        self._open = contextlib.ExitStack()
        self.servers: list[WebServer] = []

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._open.close()

    def server(self, root: Answer | None = None, address: str = "127.0.0.1", **more: object) -> WebServer:
        """Start a server that answers `/` so."""
        server = self._open.enter_context(WebServer(address, **more))  # type: ignore[arg-type]
        if root is not None:
            server.pages["/"] = root
        self.servers.append(server)
        return server

    def requests(self) -> list[Seen]:
        """Return all requests that any server saw."""
        return [seen for server in self.servers for seen in server.seen]


@dataclass(frozen=True, slots=True)
class Row:
    """One hostile input: what its row asks for (`word`), and what is to be seen of it. Limits of one fetch: seconds, MiB of memory."""

    id: str
    what: str
    word: Word
    expected: str
    scene: Callable[[Stage], Ask]
    see: Callable[[Stage, Result], str]
    most_seconds: float = 4.0
    most_mebibytes: int = 64


def act(ask: Ask) -> Result:
    """Do what is asked, by one client, in this process."""
    refused = sum(map(_is_refused, ask.requests)) if ask.is_saved else 0
    tls = ssl.create_default_context(cadata=ask.trust) if ask.trust else None
    delays: list[float] = []

    resolver = FixedNames(ask.names) if ask.names else None

    ended: list[Outcome | PostAnswer] = []

    async def run(
        requests: Sequence[FetchRequest],
    ) -> None:  # returns nothing: what it returned would be printed on the way
        client = Client(
            settings(**ask.settings),
            resolver=resolver,
            tls=tls,
            on_crawl_delay=lambda host, seconds: delays.append(seconds),
        )
        try:
            for request in requests:
                ended.append(await one(client, request))
        finally:
            await client.close()

    async def one(client: Client, request: FetchRequest) -> Outcome | PostAnswer:
        if ask.posts:
            return await client.post(request.url, headers={}, body=b"{}", timeout_seconds=5)
        return await client.fetch(request, FreePermit())

    began = time.monotonic()
    with mock.patch.dict(os.environ, ask.environment), SocketRecorder() as recorder:
        groups = [(request,) for request in ask.requests] if ask.is_restarted else [ask.requests]
        for requests in groups:
            asyncio.run(run(requests))
    return Result(
        refused=refused,
        outcomes=tuple(outcome for outcome in ended if not isinstance(outcome, PostAnswer)),
        answers=tuple(answer for answer in ended if isinstance(answer, PostAnswer)),
        dials=tuple(recorder.dials),
        delays=tuple(delays),
        seconds=time.monotonic() - began,
    )


def _is_refused(request: FetchRequest) -> bool:
    try:
        headers = tuple(Header(name, Value(str(value))) for name, value in request.headers)
        address.identify(request.url, Asking(headers=headers))
    except UsageError:
        return True
    return False


# -- what is seen ------------------------------------------------------------------------------------------------------------------


def kind_of(outcome: Outcome) -> str:
    """Return a fetch's kind of failure, or what it is instead."""
    if isinstance(outcome, Failed):
        return outcome.kind
    framing = " unframed" if isinstance(outcome, Fetched) and outcome.framing == "unframed" else ""
    return type(outcome).__name__.lower() + framing


def outcomes(stage: Stage, result: Result) -> str:
    """Return how it ended, and what was dialled that should not have been."""
    words = ["refused at save"] * (result.refused > 0)
    words += [kind_of(outcome) for outcome in result.outcomes]
    words += ["sent" if answer.status else "not sent" for answer in result.answers]
    ours = {(server.address, server.port) for server in stage.servers}
    words += [f"dialled {dial[0]}" for dial in sorted(set(result.dials) - ours, key=str)]
    return ", ".join(words)


def and_requests(stage: Stage, result: Result) -> str:
    """Return how it ended and how many requests arrived."""
    return f"{outcomes(stage, result)}; {len(stage.requests())} arrived"


def and_paths(stage: Stage, result: Result) -> str:
    """Return how it ended and what was asked for."""
    return f"{outcomes(stage, result)}; asked {' '.join(seen.path for seen in stage.requests())}"


def and_delays(stage: Stage, result: Result) -> str:
    """Return how it ended and the delay that robots.txt is taken to ask for."""
    return f"{outcomes(stage, result)}; delay {' '.join(f'{delay:g} s' for delay in result.delays) or 'none'}"


def and_pause(stage: Stage, result: Result) -> str:
    """Return how it ended and for how long the server is left alone."""
    pauses = [o.retry_after for o in result.outcomes if isinstance(o, Failed)]
    text = " ".join("as usual" if pause is None else f"{pause // SECOND} s" for pause in pauses)
    return f"{outcomes(stage, result)}; pause {text}"


def and_headers(*names: str) -> Callable[[Stage, Result], str]:
    """Return how it ended and which of these headers each request had, in the order of time."""

    def see(stage: Stage, result: Result) -> str:
        requests = sorted(stage.requests(), key=lambda seen: seen.at)
        found = [" ".join(name for name in names if name in seen.headers) or "none" for seen in requests]
        return f"{outcomes(stage, result)}; {', '.join(found)}"

    return see


def and_cookies(stage: Stage, result: Result) -> str:
    """Return how it ended and which cookie each request had."""
    cookies = [seen.headers.get("cookie", "none") for seen in sorted(stage.requests(), key=lambda seen: seen.at)]
    return f"{outcomes(stage, result)}; {', '.join(cookies)}"
