"""The address of the server, and whether others can reach it (R-13)."""

from __future__ import annotations

import errno
import ipaddress
import socket
from collections.abc import Callable
from typing import TYPE_CHECKING, Final

from tidings.errors import ListenError, SettingError

if TYPE_CHECKING:
    from tidings.settings import ServeSettings

LEAST_TOKEN: Final = 24
"""Shortest token, in characters, that cannot be guessed."""
_REASONS: Final = {
    errno.EADDRINUSE: "is taken, perhaps by another `tidings serve`; --port N names another, --port 0 takes any that is free",
    errno.EACCES: "is only given to root; --port N names another, 1024 or more",
    errno.EADDRNOTAVAIL: "is not an address of this machine; give one with --host, usually 127.0.0.1",
}


def check(serve: ServeSettings, *, has_accounts: Callable[[], bool] = lambda: False) -> None:
    """Raise `SettingError` for a public server without authentication.

    One that others can reach needs a long token, or accounts.
    """
    for one in serve.proxies:
        try:
            ipaddress.ip_address(one)
        except ValueError as error:
            message = f"serve.proxies has {one!r}, which is not an address; name each proxy, e.g. 127.0.0.1"
            raise SettingError(message) from error
    for name, token in (("serve.token", serve.token), ("serve.edit_token", serve.edit_token)):
        if token and (len(token) < LEAST_TOKEN or not token.isascii() or not token.isprintable()):
            message = f"{name} has at least {LEAST_TOKEN} characters, all of them printable ASCII; `openssl rand -hex 24` makes one"
            raise SettingError(message)
    if serve.edit_token and serve.edit_token == serve.token:
        message = "serve.edit_token is the same as serve.token: everybody who may read could then alter sentinels; choose another token"
        raise SettingError(message)
    if not serve.token and not is_loopback(serve.host) and not has_accounts():
        message = (
            f"serve.host is {serve.host or 'empty'}, which others can reach, and serve.token is not set: everybody could read what is"
            " watched here. Set it (`openssl rand -hex 24` makes one; TIDINGS_SERVE_TOKEN, or token in [serve]"
            " of tidings.toml), let people sign in (`tidings user add NAME --role admin`), or"
            " leave serve.host at 127.0.0.1 and let a proxy stand before it"
        )
        raise SettingError(message)


def is_loopback(host: str) -> bool:
    """Return whether only this machine can reach an address; of names, only localhost counts."""
    if host.lower() == "localhost":
        return True
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False


def listen(serve: ServeSettings) -> socket.socket:
    """Return a socket bound to the address, not listening yet. Raises `ListenError` with advice."""
    where = f"{serve.host}:{serve.port}"
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(
            serve.host.strip("[]") or None, serve.port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )[0]
        bound = socket.socket(family, kind, protocol)
    except (OSError, UnicodeError) as error:
        message = f"serve.host {serve.host} cannot be looked up: {error}; 127.0.0.1 is usual"
        raise ListenError(message) from error
    try:
        bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        bound.bind(address)
    except OSError as error:
        bound.close()
        reason = _REASONS.get(error.errno or 0, f"cannot be had: {error.strerror or error}")
        message = f"{where} {reason}"
        raise ListenError(message) from error
    return bound


def url_of(bound: socket.socket) -> str:
    """Return the URL of a bound socket."""
    return url(*bound.getsockname()[:2])


def url(host: str, port: int) -> str:
    """Return the URL of a host, which may be an IPv6 address with or without brackets, and
    a port.
    """
    bare = host.strip("[]")
    return f"http://[{bare}]:{port}" if ":" in bare else f"http://{bare}:{port}"
