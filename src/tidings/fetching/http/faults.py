"""Errors on the wire in our words: an aiohttp error becomes a readable `FetchError`.

The texts name the host, never path or query, which may hold secrets.
"""

from __future__ import annotations

import errno
import os
import ssl
from typing import Final

from tidings.fetching.fetcher import FetchError
from tidings.fetching.http.connector import Dial, HostileAnswerError, RefusedAddressError
from tidings.fetching.http.routes import aiohttp

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
