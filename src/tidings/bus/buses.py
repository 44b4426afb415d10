"""The buses, by the scheme of their address."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final
from urllib.parse import parse_qs, urlsplit

from tidings.bus.bus import LANES, hide
from tidings.bus.nats import NatsBus
from tidings.bus.postgres import PostgresBus
from tidings.errors import SettingError

if TYPE_CHECKING:
    from tidings.bus.bus import Bus
    from tidings.settings import BusSettings

_ENCRYPTED: Final = {"require", "verify-ca", "verify-full"}
LEAST_SECRET: Final = 16
"""characters of `bus.secret`"""


def open_bus(settings: BusSettings) -> Bus:
    """Return the bus at `bus.url`; it connects on first use.

    Raises `SettingError` for an unknown scheme, for an address on another machine without TLS, and
    without a secret.
    """
    parts = urlsplit(settings.url)
    if not re.fullmatch("[a-z][a-z0-9_]{0,30}", settings.name):
        raise SettingError(
            f'bus.name may have small letters, digits and "_", and begins with a letter; found "{settings.name}"'
        )
    if len(settings.secret) < LEAST_SECRET:
        raise SettingError(
            f"bus.secret must have at least {LEAST_SECRET} characters and be the same on all machines;"
            " make one: openssl rand -base64 32"
        )
    if not settings.lanes or not set(settings.lanes) <= set(LANES):
        raise SettingError(f'bus.lanes is {" or ".join(LANES)}, or both; found "{", ".join(settings.lanes)}"')
    match parts.scheme:
        case "nats" | "tls":
            if not _is_here(parts.hostname or "") and parts.scheme != "tls":
                raise SettingError(f"{hide(settings.url)} leaves this machine without TLS; write tls://… in bus.url")
            return NatsBus(settings.url, name=settings.name)
        case "postgresql" | "postgres":
            if is_exposed(settings.url):
                raise SettingError(
                    f"{hide(settings.url)} leaves this machine without TLS; add ?sslmode=verify-full to bus.url"
                )
            return PostgresBus(settings.url, name=settings.name)
    raise SettingError(f'bus.url is nats://, tls:// or postgresql://; found "{hide(settings.url)}"')


def is_exposed(url: str) -> bool:
    """Return whether an address of PostgreSQL leads to another machine and does not require TLS."""
    parts = urlsplit(url)
    written = {name: values[-1] for name, values in parse_qs(parts.query).items()}
    if "service" in written:  # a file says where the server is
        return written.get("sslmode") not in _ENCRYPTED
    query = {**_read_defaults(), **written}
    own = written.get("host") or re.sub(r":\d+$", "", parts.netloc.rpartition("@")[2])
    named = query.get("hostaddr") or own or query.get("host", "")
    hosts = (re.sub(r":\d+$", "", one) for one in named.split(","))
    return query.get("sslmode") not in _ENCRYPTED and not all(map(_is_here, hosts))


def _read_defaults() -> dict[str, str]:
    """Return what the library of PostgreSQL takes from its environment (PGHOST, PGSERVICE, …)."""
    try:
        from psycopg import pq
    except ImportError:  # then nothing connects
        return {}
    return {each.keyword.decode(): each.val.decode() for each in pq.Conninfo.get_defaults() if each.val}


def _is_here(host: str) -> bool:
    """Return whether a host is this machine; a path is that of a socket."""
    bare = host.strip("[]")
    return not bare or bare.startswith("/") or bare in {"localhost", "::1"} or bool(re.fullmatch(r"127\.[0-9.]+", bare))
