"""Helpers of the fetching tests: one request to a fake server, with settings for loopback."""

from __future__ import annotations

import asyncio
import socket
import ssl
from collections.abc import Mapping
from typing import Any

import trustme
from aiohttp.abc import AbstractResolver, ResolveResult

from tests.fakes import FreePermit
from tidings.fetching.fetcher import Permit
from tidings.fetching.http.client import Client
from tidings.model.observed.outcome import FetchRequest, Outcome
from tidings.settings import FetchSettings


def settings(**changes: object) -> FetchSettings:
    """Return settings that allow 127.0.0.0/8 and ignore robots.txt."""
    given: dict[str, object] = {"allow_networks": ("127.0.0.0/8",), "robots": False, "total_seconds": 5.0}
    return FetchSettings(**{**given, **changes})  # type: ignore[arg-type]


def ask(
    *requests: FetchRequest | str,
    using: FetchSettings | None = None,
    permit: Permit | None = None,
    resolver: AbstractResolver | None = None,
    tls: ssl.SSLContext | None = None,
) -> list[Any]:
    """Make the requests one after the other with one client; return their outcomes."""

    async def run() -> list[Outcome]:
        client = Client(using or settings(), resolver=resolver, tls=tls)
        try:
            return [
                await client.fetch(FetchRequest(url=r) if isinstance(r, str) else r, permit or FreePermit())
                for r in requests
            ]
        finally:
            await client.close()

    return asyncio.run(run())


def tls_pair(authority: trustme.CA, **changes: object) -> tuple[ssl.SSLContext, ssl.SSLContext]:
    """Return the TLS contexts of a server at 127.0.0.1 with a certificate of this authority, and of a client that trusts it."""
    server = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.issue_cert("127.0.0.1", **changes).configure_cert(server)  # type: ignore[arg-type]
    client = ssl.create_default_context()
    authority.configure_trust(client)
    return server, client


class FixedNames(AbstractResolver):
    """A resolver of a few names; each lookup uses the next list of answers, and in the end the last one."""

    def __init__(self, names: Mapping[str, list[list[str]]]) -> None:
        self.names = names
        self.lookups: list[str] = []

    async def resolve(
        self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_INET
    ) -> list[ResolveResult]:
        turn = self.lookups.count(host)
        self.lookups.append(host)
        if host not in self.names:
            raise OSError(f"no such name {host}")
        answers = self.names[host][min(turn, len(self.names[host]) - 1)]
        return [
            ResolveResult(
                hostname=host,
                host=answer,
                port=port,
                family=socket.AF_INET6 if ":" in answer else socket.AF_INET,
                proto=0,
                flags=socket.AI_NUMERICHOST,
            )
            for answer in answers
        ]

    async def close(self) -> None:
        """Nothing is open."""
