"""The sockets of the client: names resolved under the guard, addresses checked again at the dial,
and heads of answers repaired.

aiohttp never asks a resolver for an IP literal, and hides the type of an error of `socket_factory`
when several addresses fail; so the factory checks each address and records its verdict in the
`Dial` of the fetch (contracts §6).

Small faults in a head that browsers accept are repaired before the parser gets it, which would
refuse the answer. A 304, a 204 or an answer to HEAD has no body (RFC 9112 §6.3): bytes after its
head are discarded, with the connection. Duplicate equal lengths are one length (RFC 9110 §8.6).

An aiohttp error becomes a readable `FetchError`. The texts name the host, never path or query,
which may hold secrets.
"""

from __future__ import annotations

import errno
import functools
import os
import re
import socket
import ssl
from contextvars import ContextVar
from typing import Any, Final

from tidings.fetching.fetcher import FetchError
from tidings.fetching.http.routes import aiohttp
from tidings.fetching.network_guard import Guard
from tidings.record import dataclass

LONGEST_HEAD: Final = 65_536
"""Bytes of a head after which it goes to the parser unchanged, whose own limits are lower."""

_END = re.compile(rb"\r?\n\r?\n")
_STATUS_LINE = re.compile(rb"HTTP/\d\.\d (\d{3})")
_LENGTH = re.compile(rb"(?im)^Content-Length:[ \t]*([0-9, \t]*?)[ \t]*\r?\n")
_NAMES_BODY = re.compile(rb"(?im)^(?:Content-Length:[ \t]*0*[1-9]|Transfer-Encoding:)")
_START = b"HTTP/"
_BODILESS = frozenset({204, 304})
_SWITCHING = 101


class Head:
    """Takes the bytes of one answer and returns those for the parser. With `is_bodiless` no body
    follows, whatever the status.
    """

    def __init__(self, *, is_bodiless: bool) -> None:
        self.is_last = False
        """set once this connection can send no further request"""
        self._is_bodiless = is_bodiless
        self._drops = False
        self._is_read = False
        self._buffer = bytearray()

    def take(self, data: bytes) -> bytes:
        """Return the bytes for the parser: none until a head is complete."""
        if self._drops:
            self.is_last = True
            return b""
        if self._is_read:
            return data
        ready, is_whole = b"", False
        scanned = max(0, len(self._buffer) - 3)
        self._buffer += data
        while not is_whole and (end := _END.search(self._buffer, scanned)):
            head = bytes(self._buffer[: end.end()])
            del self._buffer[: end.end()]
            mended, is_whole = self._mend(head)
            ready += mended
            scanned = 0
        if is_whole or len(self._buffer) > LONGEST_HEAD or not self._may_be_head():
            ready += self.end()
        return ready

    def end(self) -> bytes:
        """Return the buffered bytes: the connection has ended, or this is no head."""
        self._is_read = True
        received = bytes(self._buffer)
        self._buffer.clear()
        return received

    def _may_be_head(self) -> bool:
        return self._buffer.startswith(_START) or _START.startswith(self._buffer)

    def _mend(self, head: bytes) -> tuple[bytes, bool]:
        """Return a repaired head, and whether it is the final one, not an informational one."""
        match = _STATUS_LINE.match(head)
        status = int(match[1]) if match else 0
        if 100 <= status < 200 and status != _SWITCHING:
            return head, False
        if match and (self._is_bodiless or status in _BODILESS):
            self._drops = True
            self.is_last = bool(self._buffer) or (status in _BODILESS and _NAMES_BODY.search(head) is not None)
            self._buffer.clear()
        return _with_one_length(head), True


def _with_one_length(head: bytes) -> bytes:
    """Return a head with equal duplicate lengths merged."""
    found = list(_LENGTH.finditer(head))
    values = [value.strip() for match in found for value in match[1].split(b",")]
    if len(values) < 2 or len(set(values)) > 1 or not values[0].isdigit():
        return head
    first, line_end, rest = _LENGTH.sub(b"", head).partition(b"\n")
    return first + line_end + b"Content-Length: " + values[0] + b"\r\n" + rest


MAX_INFORMATIONAL = 20
MAX_HEADERS = 100
MAX_HEADER_BYTES = 65_536
MAX_FIELD_BYTES = 32_768


class RefusedAddressError(OSError):
    """The guard refused an address; no packet left."""


class HostileAnswerError(aiohttp.ClientPayloadError):
    """A server exceeded a limit that no honest answer comes near."""


@dataclass(slots=True)
class Dial:
    """The socket events of one fetch: whether anything was dialled, what the guard refused."""

    dialled: bool = False
    refused: str = ""


DIAL: ContextVar[Dial] = ContextVar("dial")


class GuardedResolver(aiohttp.abc.AbstractResolver):
    """Resolves names; one forbidden address refuses the name altogether (R-03)."""

    def __init__(self, guard: Guard, inner: aiohttp.abc.AbstractResolver) -> None:
        self._guard = guard
        self._inner = inner

    async def resolve(
        self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_INET
    ) -> list[aiohttp.abc.ResolveResult]:
        """Return all addresses of a name. Raise `RefusedAddressError` if any of them may not be
        dialled.
        """
        answers = await self._inner.resolve(host, port, family)
        for answer in answers:
            if fault := self._guard.fault(answer["host"]):
                raise RefusedAddressError(fault)
        return answers

    async def close(self) -> None:
        """Close the underlying resolver."""
        await self._inner.close()


class ServerConnection(aiohttp.client_proto.ResponseHandler):
    """One connection to a server. Counts informational answers and header bytes; a reset inside a
    body is an error.

    The head of each answer is processed before the parser gets it (`Head`), since the parser
    refuses what browsers accept.
    """

    _informational = 0
    _given_up = False
    _head: Head | None = None

    def set_response_params(self, **given: Any) -> None:
        """Prepare for the answer to a request."""
        self._head = Head(is_bodiless=given.get("skip_payload", False))
        super().set_response_params(**given)

    def data_received(self, data: bytes) -> None:
        """Process bytes from the socket; bytes after a head without a body are discarded, and the
        connection is closed.
        """
        if self._head is None or self._parser is None:
            super().data_received(data)
            return
        if ready := self._head.take(data):
            super().data_received(ready)
        if self._head.is_last:
            self._should_close = True
            if self.transport is not None:
                self.transport.close()

    def feed_data(self, data: Any, size: int = 0) -> None:
        """Process one parsed message head; close the connection if the server sends too many."""
        if self._given_up:
            return
        message = data[0]
        self._informational = self._informational + 1 if message.code < 200 else 0
        if self._informational > MAX_INFORMATIONAL:
            self._give_up(f"more than {MAX_INFORMATIONAL} informational answers")
        elif len(message.raw_headers) > 1 and sum(map(_length, message.raw_headers)) > MAX_HEADER_BYTES:
            self._give_up(f"headers of more than {MAX_HEADER_BYTES:,} bytes")
        else:
            super().feed_data(data, size)

    def connection_lost(self, exc: BaseException | None) -> None:
        """End the current body: with an error if the connection was reset, however the body is
        framed.
        """
        if self._head is not None and (rest := self._head.end()):
            super().data_received(rest)
        payload = self._payload
        if exc is not None and payload is not None and not payload.is_eof():
            payload.set_exception(aiohttp.ClientPayloadError("the connection was reset inside the body"))
        super().connection_lost(exc)

    def _give_up(self, reason: str) -> None:
        self._given_up = True
        self.set_exception(HostileAnswerError(reason))
        if self.transport is not None:
            self.transport.abort()


class GuardedConnector(aiohttp.TCPConnector):
    """A connection pool that dials only what the guard allows."""

    def __init__(
        self, guard: Guard, *, resolver: aiohttp.abc.AbstractResolver | None = None, tls: ssl.SSLContext | None = None
    ) -> None:
        super().__init__(
            ssl=tls or True,
            resolver=GuardedResolver(guard, resolver or aiohttp.resolver.DefaultResolver()),
            socket_factory=functools.partial(_open_socket, guard),
            limit=0,
            ttl_dns_cache=60,
            keepalive_timeout=15,
        )
        self._factory = functools.partial(ServerConnection, loop=self._loop)  # type: ignore[assignment]

    def _get_ssl_context(self, req: aiohttp.ClientRequest) -> ssl.SSLContext | None:
        """Return the TLS context of a request; the first call reads the system's certificates."""
        if req.is_ssl() and self._ssl is True:
            self._ssl = ssl.create_default_context()
            self._ssl.set_alpn_protocols(("http/1.1",))
        return super()._get_ssl_context(req)

    async def _create_connection(self, req: Any, *rest: Any) -> Any:
        """Open a connection; of a plain GET the whole request is made for it."""
        if not isinstance(req, aiohttp.ClientRequest):
            req = req.make_whole()
        return await super()._create_connection(req, *rest)

    async def close(self, *, abort_ssl: bool = False) -> None:
        """Close all connections, and the own resolver."""
        await super().close(abort_ssl=abort_ssl)
        await self._resolver.close()


def _open_socket(guard: Guard, address_info: Any) -> socket.socket:
    family, kind, protocol, _, address = address_info
    dial = DIAL.get(None) or Dial()
    if fault := guard.fault(address[0]):
        dial.refused = fault
        raise RefusedAddressError(fault)
    dial.dialled = True
    return socket.socket(family=family, type=kind, proto=protocol)


def _length(field: tuple[bytes, bytes]) -> int:
    return len(field[0]) + len(field[1])


WIRE_ERRORS = (aiohttp.ClientError, OSError)
"""aiohttp's errors for external causes: its own tree and the operating system's."""
OUR_OWN: Final = frozenset({errno.EMFILE, errno.ENFILE, errno.ENOMEM, errno.ENOBUFS})
"""Errors that say nothing about a host: no file descriptor or memory is left here."""
NO_TLS: Final = frozenset({"WRONG_VERSION_NUMBER", "HTTP_REQUEST", "RECORD_LAYER_FAILURE"})
"""OpenSSL's names for an answer that is not TLS."""


def fault_of(error: Exception, host: str, dial: Dial, *, proxy: str = "") -> FetchError:
    """Return the failure for a wire error of a request to `host`.

    Args:
        error: The library's error.
        host: The host that was asked.
        dial: The guard's record of dialled addresses.
        proxy: The proxy in between, empty for none.
    """
    if (code := _errno(error)) in OUR_OWN:
        return FetchError("disk", f"this machine lacks what a request needs: {os.strerror(code)} (ulimit -a)")
    if proxy and isinstance(error, aiohttp.ClientHttpProxyError):
        return _explain_proxy_refusal(error.status, host, proxy)
    refused = dial.refused or _refusal(error)
    if proxy and (refused or isinstance(error, aiohttp.ClientConnectorDNSError | aiohttp.ClientProxyConnectionError)):
        host = proxy  # nothing else is resolved or dialled
    if refused:
        return FetchError("address", f"requests to {host} are refused: {refused}; fetch.allow_networks can allow it")
    if isinstance(error, aiohttp.ClientConnectorDNSError):
        return FetchError("net", f"the name {host} was not found ({_clean_message(error.os_error)})")
    if isinstance(error, aiohttp.ClientConnectorCertificateError):
        return FetchError("net", f"the certificate of {host} is not accepted: {_certificate(error)}", reached=True)
    if isinstance(error, aiohttp.ClientConnectorError):
        spoke = isinstance(error.os_error, ssl.SSLError)
        return FetchError("net", f"no connection to {host} ({_clean_message(error.os_error)})", reached=spoke)
    if isinstance(error, TimeoutError):
        return FetchError("net", f"no connection to {host} in time")
    if isinstance(error, aiohttp.ServerDisconnectedError):
        return FetchError("net", f"{host} closed the connection without an answer", reached=True)
    if isinstance(error, HostileAnswerError):
        return FetchError("size", f"{host} sent {error}")
    if isinstance(error, aiohttp.ClientResponseError):
        return _explain_malformed(error, host)
    if isinstance(error, aiohttp.ClientPayloadError):
        return FetchError("framing", f"the body from {host} ended before its end")
    if isinstance(error, aiohttp.ClientOSError):
        return FetchError("net", f"the connection to {host} was lost ({_clean_message(error)})")
    return FetchError("net", f"the request to {host} failed ({type(error).__name__})")


def _errno(error: BaseException) -> int:
    cause = getattr(error, "os_error", None) or error
    return cause.errno or 0 if isinstance(cause, OSError) else 0


def _explain_proxy_refusal(status: int, host: str, proxy: str) -> FetchError:
    """Return the failure for a proxy's answer to CONNECT."""
    if status in {401, 403, 407}:
        return FetchError("denied", f"{proxy} refuses a connection to {host}: it answered {status}", status=status)
    return FetchError("net", f"{proxy} could not reach {host}: it answered {status}")


def _refusal(error: BaseException) -> str:
    cause = getattr(error, "os_error", None) or error
    return str(cause) if isinstance(cause, RefusedAddressError) else ""


def _certificate(error: aiohttp.ClientConnectorCertificateError) -> str:
    return str(getattr(error.certificate_error, "verify_message", "") or error.certificate_error)


def _explain_malformed(error: aiohttp.ClientResponseError, host: str) -> FetchError:
    cause: BaseException | None = error
    while cause is not None:
        if isinstance(cause, aiohttp.http_exceptions.LineTooLong) or "Too many headers" in str(cause):
            return FetchError("size", f"{host} sent headers that are too long or too many")
        cause = cause.__cause__
    return FetchError(
        "framing", f"{host} sent an answer that is not HTTP or contradicts itself ({_first_line(error.message)})"
    )


def _clean_message(error: OSError) -> str:
    """Return the system's message of an error, without numbers and source positions."""
    if isinstance(error, ssl.SSLError) and error.reason:
        spelt = error.reason.replace("_", " ").lower()
        return f"{spelt}: does this server use https?" if error.reason in NO_TLS else spelt
    return _first_line(error.strerror or error)


def _first_line(text: object) -> str:
    lines = str(text).splitlines()
    return lines[0].rstrip(": ")[:120] if lines else ""
