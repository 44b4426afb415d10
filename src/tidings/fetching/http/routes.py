"""The route of a request: additional trusted certificates, and its proxy; and the import of aiohttp
without system certificates.

A proxy resolves names itself, so only its own address can be checked at the dial; of a target
behind it the literal address is checked, and names that mean the proxy's own machine are refused.
Proxies are never taken from the environment (H-030).

On import aiohttp creates two TLS contexts and reads the system's certificates for both, which takes
longer than the rest. `GuardedConnector` creates its own when first needed; those of the library
trust no one, so that they cannot be used.
"""

from __future__ import annotations

import contextlib
import ssl
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import unquote

from yarl import URL

from tidings.errors import AddressError
from tidings.fetching import address
from tidings.fetching.fetcher import FetchError
from tidings.fetching.network_guard import Guard
from tidings.model.observed.outcome import FetchRequest
from tidings.model.secret import Secret, reveal

_CONTEXTS = 64
_LOCAL = "127.0.0.1"


class Route(NamedTuple):
    """The route of a request. `login` is the header Proxy-Authorization, `proxy_name` the proxy's
    name in messages.
    """

    tls: ssl.SSLContext | None = None
    proxy: URL | None = None
    login: Secret | None = None
    proxy_name: str = ""


DIRECT = Route()


class Routes:
    """Finds the route of each request. A certificate file is read again when it has changed."""

    def __init__(self, guard: Guard) -> None:
        self._guard = guard
        self._contexts: dict[str, tuple[tuple[int, int], ssl.SSLContext]] = {}

    def find(self, request: FetchRequest) -> Route:
        """Return the route of a request. Raise `FetchError` for a file or a proxy that cannot be
        used.
        """
        if not request.trust and not request.proxy:
            return DIRECT
        tls = self._context(request.trust) if request.trust else None
        return self._by_proxy(reveal(request.proxy), tls) if request.proxy else Route(tls)

    def refuse_local(self, route: Route, name: str) -> None:
        """Raise `FetchError` for a name that means the proxy's own machine (RFC 6761 §6.3), unless
        loopback is allowed.
        """
        if route.proxy is None or not (name == "localhost" or name.endswith(".localhost")):
            return
        if fault := self._guard.fault(_LOCAL):
            raise FetchError("address", f"requests to {name} are refused: {fault}; fetch.allow_networks can allow it")

    def _context(self, trust: str) -> ssl.SSLContext:
        path = Path(trust)
        try:
            stat = path.stat()
            stamp = (stat.st_mtime_ns, stat.st_size)
            known = self._contexts.get(trust)
            if known is not None and known[0] == stamp:
                return known[1]
            context = ssl.create_default_context()
            context.load_verify_locations(cafile=path)
        except ssl.SSLError:
            message = f"Trust: {path} has no certificate in PEM form (-----BEGIN CERTIFICATE-----)"
            raise FetchError("request", message) from None
        except OSError as error:
            raise FetchError("request", f"Trust: {path} cannot be read: {error.strerror}") from None
        if len(self._contexts) >= _CONTEXTS:
            self._contexts.clear()
        self._contexts[trust] = (stamp, context)
        return context

    def _by_proxy(self, proxy: str, tls: ssl.SSLContext | None) -> Route:
        scheme, _, rest = proxy.strip().partition("://")
        authority = rest.partition("/")[0]
        login, at, place = authority.rpartition("@")
        try:
            parts = address.parse(f"{scheme}://{place}/")
        except AddressError:  # its text may show a secret
            message = "the proxy has no usable address; write http://HOST:PORT, or http://USER:PASSWORD@HOST:PORT"
            raise FetchError("request", message) from None
        bare = parts.host.strip("[]")
        is_literal = parts.host[0] == "[" or address.is_ipv4(bare)
        if is_literal and (fault := self._guard.fault(bare)):
            message = f"requests to the proxy {bare} are refused: {fault}; fetch.allow_networks can allow it"
            raise FetchError("address", message)
        user, _, password = (unquote(part) for part in login.partition(":"))
        name = f"the proxy {bare}"
        if ":" in user:
            raise FetchError("request", f"the user name for {name} has a colon, which is not allowed in a login")
        basic = Secret(aiohttp.encode_basic_auth(user, password)) if at else None
        return Route(tls, URL(parts.origin, encoded=True), basic, name)


def content_type_for(body: str) -> str:
    """Return the default Content-Type of a body: JSON if it is JSON, else form fields, as curl
    does.
    """
    import json

    try:
        is_json = body.lstrip()[:1] in {"{", "["} and json.loads(body) is not None
    except ValueError:
        is_json = False
    return "application/json" if is_json else "application/x-www-form-urlencoded"


__all__ = ["aiohttp"]


@contextlib.contextmanager
def without_certificates() -> Iterator[None]:
    """Create TLS contexts meanwhile without system authorities."""
    contexts: Any = ssl.SSLContext
    usual = contexts.set_default_verify_paths
    contexts.set_default_verify_paths = lambda _: None
    try:
        yield
    finally:
        contexts.set_default_verify_paths = usual


with without_certificates():
    import aiohttp
    import aiohttp.abc
    import aiohttp.client_proto
    import aiohttp.http_exceptions
    import aiohttp.resolver
