"""What went wrong on the wire, in words for people."""

from __future__ import annotations

import errno
import ssl
from typing import cast

import aiohttp
import pytest
from aiohttp.client_reqrep import ConnectionKey

from tidings.fetching.http.connector import Dial
from tidings.fetching.http.faults import fault_of

KEY = ConnectionKey("shop.example", 443, is_ssl=True, ssl=True, proxy=None, proxy_auth=None, proxy_headers_hash=None)


def _tls(reason: str) -> ssl.SSLError:
    error = ssl.SSLError(1, f"[SSL: {reason}] some words (_ssl.c:1006)")
    error.reason = reason
    return error


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (
            aiohttp.ClientConnectorSSLError(KEY, _tls("WRONG_VERSION_NUMBER")),
            "no connection to shop.example (wrong version number: does this server use https?)",
        ),
        (
            aiohttp.ClientConnectorSSLError(KEY, _tls("TLSV1_ALERT_PROTOCOL_VERSION")),
            "no connection to shop.example (tlsv1 alert protocol version)",
        ),
        (
            aiohttp.ClientConnectorError(KEY, OSError(111, "Connection refused")),
            "no connection to shop.example (Connection refused)",
        ),
        (
            aiohttp.ClientConnectorDNSError(KEY, OSError(None, "Domain name not found")),
            "the name shop.example was not found (Domain name not found)",
        ),
        (aiohttp.ClientOSError(104, "Connection reset by peer"), "the connection to shop.example was lost (Connection reset by peer)"),
    ],
    ids=["no-tls", "tls", "refused", "name", "reset"],
)  # fmt: skip
def test_a_fault_is_told_without_numbers_and_places_in_source(error, said):
    """No errno, no `_ssl.c`: the host and what the system says of it."""
    fault = fault_of(cast("Exception", error), "shop.example", Dial())

    assert ("net", said) == (fault.kind, str(fault))


def test_what_this_machine_lacks_is_no_fault_of_a_host():
    """Without a file descriptor or memory no host was reached, and none is held to be away."""
    for code in (errno.EMFILE, errno.ENFILE, errno.ENOMEM, errno.ENOBUFS):
        fault = fault_of(OSError(code, "refused"), "a.example", Dial())

        assert "disk" == fault.kind
        assert "this machine" in str(fault)
