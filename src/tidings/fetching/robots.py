"""robots.txt by RFC 9309: per origin, cached for a day, obeyed before each request to a page (P-1).

2xx: its rules hold. 4xx: there are none. 5xx, 429 or no answer: nothing may be asked, unless an
older answer is known (30 days). The cache of a host's origins is packed into its `HostState`, so
that a restart fetches nothing again.
"""

from __future__ import annotations

import asyncio
import json
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Iterable, Iterator
from typing import Any, Final, Literal

from protego import Protego

from tidings import zstd
from tidings.clock import DAY, HOUR, Clock, Instant
from tidings.fetching import address
from tidings.fetching.fetcher import FetchError
from tidings.model.interval import Duration
from tidings.model.observed.page import HostState
from tidings.record import dataclass, replace

MAX_ROBOTS_BYTES = 500 * 1024
MAX_REDIRECTS = 5
MAX_CRAWL_DELAY_SECONDS = 300.0
"""The longest Crawl-delay that is honoured (H-115)."""

MOST_SITEMAPS = 20
CACHED: Final = DAY
"""How long a fetched robots.txt is used."""
_AGAIN: Duration = HOUR
_EXPIRES_AFTER: Duration = 30 * DAY
_MOST_ORIGINS = 8
_OPEN = 1_024

_NAMING = ("user-agent", "user agent", "useragent")
_RULING = ("allow", "disallow", "dissallow", "dissalow", "disalow", "diasllow", "disallaw", "crawl", "request", "visit")
_SITE_WIDE = ("sitemap", "site-map", "host")
_LARGE = 65_536

Status = Literal["2xx", "4xx", "5xx"]
Get = Callable[[str], Awaitable[bytes]]
"""Fetches a robots.txt and returns its body. Raises `FetchError`: with a status if the server gave
one.
"""


@dataclass(frozen=True, slots=True)
class Record:
    """The last conclusive answer of one origin; `tried_at` is the last attempt, `at` the last
    success.
    """

    status: Status
    body: bytes
    at: Instant
    tried_at: Instant


@dataclass(frozen=True, slots=True)
class _Open:
    record: Record
    rules: Protego | None


class Robots:
    """The rules of origins. `agent` is our product token, `on_crawl_delay(host, seconds)` is called
    with delays.
    """

    def __init__(
        self,
        *,
        agent: str,
        clock: Clock,
        on_crawl_delay: Callable[[str, float], None] | None = None,
    ) -> None:
        self._agent = agent
        self._clock = clock
        self._on_crawl_delay = on_crawl_delay
        self._packed: dict[str, HostState] = {}
        self._open: OrderedDict[str, _Open] = OrderedDict()

    async def check(self, url: str, get: Get, *, is_ignored: bool = False) -> None:
        """Raise `FetchError` unless the rebuilt URL may be asked: `robots` if it is disallowed,
        else why robots.txt was not readable.

        If it `is_ignored`, everything may be asked; it is still read, since its Crawl-delay holds.
        """
        try:
            await self._check(url, get)
        except FetchError:
            if not is_ignored:
                raise

    async def sitemaps(self, url: str) -> list[str]:
        """Return the sitemaps in the cached robots.txt of a URL's origin, as written; nothing is
        fetched.
        """
        known = await self._look_up(address.parse(url).origin, address.host_of(url))
        return [] if known is None or known.record.status != "2xx" else sitemaps_in(known.record.body)

    async def _check(self, url: str, get: Get) -> None:
        origin = address.parse(url).origin
        host = address.host_of(url)
        known = await self._look_up(origin, host)
        if known is None or not self._is_usable(known.record):
            known = await self._ask(origin, host, known, get)
        if known.record.status == "5xx":
            raise FetchError("robots", f"robots.txt of {host} cannot be read, so no page of it is fetched for now")
        if known.rules is not None and not known.rules.can_fetch(url, self._agent):
            raise FetchError("robots", f"robots.txt of {host} forbids this page to {self._agent}")

    def restore(self, states: Iterable[HostState]) -> None:
        """Restore the state before a restart."""
        for state in states:
            if state.robots is not None:
                self._packed[state.name] = HostState(
                    name=state.name, robots=state.robots, robots_status=state.robots_status, robots_at=state.robots_at
                )

    async def learn(self, states: Iterable[HostState]) -> None:
        """Merge what another process has read since; a Crawl-delay in it holds from then on."""
        for state in states:
            known = self._packed.get(state.name)
            if state.robots is None or (known is not None and (known.robots_at or 0) >= (state.robots_at or 0)):
                continue
            self.restore([state])
            for origin, record in self._unpack(state.name).items():
                await self._open_up(origin, state.name, record)

    def export(self, state: HostState) -> HostState:
        """Return a host's state with its packed robots.txt, for the store."""
        known = self._packed.get(state.name)
        if known is None:
            return state
        return replace(state, robots=known.robots, robots_status=known.robots_status, robots_at=known.robots_at)

    def _is_usable(self, record: Record) -> bool:
        now = self._clock.now()
        if record.tried_at > now:  # by a clock that was ahead: its age is unknown
            return False
        fresh = record.status != "5xx" and now - record.at < CACHED
        return fresh or now - record.tried_at < _AGAIN

    async def _ask(self, origin: str, host: str, known: _Open | None, get: Get) -> _Open:
        status: Status = "2xx"
        body = b""
        try:
            body = await get(f"{origin}/robots.txt")
        except FetchError as error:
            answered = error.status is not None
            if error.kind == "redirect" or (answered and 400 <= (error.status or 0) < 500 and error.status != 429):
                status = "4xx"
            elif answered and (error.status or 0) < 400:
                status = "4xx"  # 204 and the like: an answer without rules
            else:
                return await self._unreachable(origin, host, known, error)
        now = self._clock.now()
        return await self._keep(origin, host, Record(status, body, now, now))

    async def _unreachable(self, origin: str, host: str, known: _Open | None, error: FetchError) -> _Open:
        now = self._clock.now()
        if known is not None and known.record.status != "5xx" and now - known.record.at <= _EXPIRES_AFTER:
            return await self._keep(origin, host, replace(known.record, at=min(known.record.at, now), tried_at=now))
        if error.status is not None:
            return await self._keep(origin, host, Record("5xx", b"", now, now))
        if error.kind in {"net", "address"}:  # so is the page: people need not know which file was asked for first
            raise FetchError(error.kind, str(error), reached=error.reached) from None
        raise FetchError("robots", f"robots.txt could not be read: {error}", reached=error.reached) from None

    async def _look_up(self, origin: str, host: str) -> _Open | None:
        known = self._open.get(origin)
        if known is not None:
            self._open.move_to_end(origin)
            return known
        record = self._unpack(host).get(origin)
        return None if record is None else await self._open_up(origin, host, record)

    async def _open_up(self, origin: str, host: str, record: Record) -> _Open:
        rules = None
        if len(record.body) > _LARGE:
            rules = await asyncio.to_thread(parse, record.body, self._agent)
        elif record.status == "2xx":
            rules = parse(record.body, self._agent)
        known = self._open[origin] = _Open(record, rules)
        self._open.move_to_end(origin)
        if len(self._open) > _OPEN:
            self._open.popitem(last=False)
        delay = crawl_delay(rules, self._agent) if rules is not None else None
        if delay is not None and self._on_crawl_delay is not None:
            self._on_crawl_delay(host, delay)
        return known

    async def _keep(self, origin: str, host: str, record: Record) -> _Open:
        records = self._unpack(host)
        records[origin] = record
        newest = sorted(records.items(), key=lambda item: item[1].tried_at)[-_MOST_ORIGINS:]
        self._packed[host] = HostState(
            name=host, robots=_pack(dict(newest)), robots_status=record.status, robots_at=record.at
        )
        return await self._open_up(origin, host, record)

    def _unpack(self, host: str) -> dict[str, Record]:
        known = self._packed.get(host)
        return {} if known is None or known.robots is None else _unpack(known.robots)


def parse(body: bytes, agent: str) -> Protego:
    """Return the rules for an agent, read leniently from at most 500 KiB; a byte order mark
    invalidates no group.
    """
    text = body[:MAX_ROBOTS_BYTES]
    if len(body) > MAX_ROBOTS_BYTES:
        text = text[: max(text.rfind(b"\n"), text.rfind(b"\r")) + 1]  # drop an incomplete rule
    lines = text.decode("utf-8", "replace").lstrip("\ufeff").replace("\0", " ").splitlines()
    return Protego.parse("\n".join(_relevant(lines, agent.lower())))


def sitemaps_in(body: bytes) -> list[str]:
    """Return the addresses on `Sitemap:` lines, without duplicates, limited to a few: they hold for
    all agents (sitemaps.org).
    """
    lines = body[:MAX_ROBOTS_BYTES].decode("utf-8", "replace").lstrip("\ufeff").splitlines()
    named = (line.split("#")[0].partition(":") for line in lines if line.lstrip().lower().startswith("sitemap"))
    found = dict.fromkeys(
        value.strip() for name, _, value in named if name.strip().lower() == "sitemap" and value.strip()
    )
    return list(found)[:MOST_SITEMAPS]


def _relevant(lines: list[str], agent: str) -> Iterator[str]:
    """Yield the groups that name the agent or `*`, without other names.

    A file of 20,000 names over 20,000 rules is small, but its product is not: the parser stores
    each rule for each name.
    """
    names: set[str] = set()
    naming = False
    for line in lines:
        stripped = line.partition("#")[0].strip()
        first = stripped.lower()
        if first.startswith(_NAMING):
            names = names if naming else set()
            naming = True
            value = _value(first)
            if value == "*" or (value and agent.startswith(value)):
                names.add(value)
        elif first.startswith(_SITE_WIDE):
            continue
        elif ":" in first or first.startswith(_RULING):
            if naming:
                yield from (f"User-agent: {name}" for name in sorted(names))
                naming = False
            if names:
                yield stripped


def _value(line: str) -> str:
    """Return the name on a lower-case `user-agent` line, in any spelling, without the `*` that some
    add.
    """
    value = line.partition(":")[2].strip() if ":" in line else line.rsplit(maxsplit=1)[-1]
    return value if value == "*" else value.replace("*", "")


def crawl_delay(rules: Protego, agent: str) -> float | None:
    """Return the Crawl-delay for an agent in seconds, clamped to [0, 300]; None if none is
    given.
    """
    delay = rules.crawl_delay(agent)
    return None if delay is None else min(max(delay, 0.0), MAX_CRAWL_DELAY_SECONDS)


def _pack(records: dict[str, Record]) -> bytes:
    rows = {origin: [r.status, r.body.decode("latin-1"), r.at, r.tried_at] for origin, r in records.items()}
    return zstd.compress(json.dumps(rows, separators=(",", ":")).encode())


def _unpack(data: bytes) -> dict[str, Record]:
    rows: dict[str, list[Any]] = json.loads(zstd.decompress(data))
    return {
        origin: Record(status, body.encode("latin-1"), at, tried) for origin, (status, body, at, tried) in rows.items()
    }
