"""The addresses of channels: validation, message limits, and masking of secrets. Pure."""

from __future__ import annotations

import functools
import re
import zlib
from collections.abc import Mapping
from typing import Final
from urllib.parse import unquote

from tidings.errors import AddressError
from tidings.model.watch.notifying import secret_of
from tidings.record import dataclass

LONGEST: Final = 2_000
SHORTEST_SECRET: Final = 3
SHORTEST_WEB_SECRET: Final = 8
_LOCAL: Final = re.compile(r"[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+(?:\.[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+)*")
_LABEL: Final = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?")
_SCHEME: Final = re.compile(r"([A-Za-z0-9]{1,20})://(.*)", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Limit:
    """The limits of one message of a service, in characters; `title` 0: it has none."""

    body: int
    title: int


@functools.cache
def limits() -> Mapping[str, Limit]:
    """Return the limits of each scheme of Apprise."""
    import tomllib  # only when an Apprise address is given; lists only show them
    from importlib import resources

    text = resources.files("tidings.notification").joinpath("apprise_schemas.toml").read_text("utf-8")
    rows = tomllib.loads(text)["limit"]
    return {scheme: Limit(row["body"], row["title"]) for row in rows for scheme in row["schemas"].split()}


def check(kind: str, address: str) -> None:
    """Raise `AddressError` if a channel of this kind cannot have this address (H-106).

    Whether the receiver exists, only a message can show. Addresses of webhooks are checked like
    those of pages.
    """
    if kind == "email":
        ascii_address(address)
    elif kind == "apprise":
        limit_of(address)


def ascii_address(text: str) -> str:
    """Return one mail address as SMTP writes it, its domain in ASCII. Raise `AddressError` for
    anything else.
    """
    local, _, domain = text.rpartition("@")
    try:
        ascii_domain = domain.encode("idna").decode("ascii") if not domain.isascii() else domain
    except UnicodeError:
        ascii_domain = ""
    labels = ascii_domain.split(".")
    whole = (
        _LOCAL.fullmatch(local) is not None
        and len(local) <= 64
        and len(ascii_domain) <= 253
        and all(_LABEL.fullmatch(label) for label in labels)
    )
    if not whole:
        message = (
            f"{text[:80]!r} is not a mail address; write one such as anna@example.org (for several people, several)"
        )
        raise AddressError(message)
    return f"{local}@{ascii_domain}"


UNKNOWN: Final = Limit(body=1_000, title=0)
"""The limits for an unknown service."""


def limit_of_scheme(scheme: str) -> Limit:
    """Return the limits of a service's scheme; low ones if it is unknown."""
    return limits().get(scheme.lower(), UNKNOWN)


def limit_of(address: str) -> Limit:
    """Return the limits of an Apprise address. Raise `AddressError`, which does not repeat its
    secrets.
    """
    found = _SCHEME.fullmatch(address)
    if found is None or len(address) > LONGEST or any(not c.isprintable() or c.isspace() for c in address):
        message = (
            "this is not an Apprise address; such an address is like tgram://token/chat, without spaces and up to "
            "2,000 characters"
        )
        raise AddressError(message)
    scheme = found[1].lower()
    if scheme not in limits():
        from difflib import get_close_matches

        near = get_close_matches(scheme, limits(), n=1)
        hint = f"did you mean {near[0]}://" if near else "https://appriseit.com/services/ lists the services"
        message = f"no service of Apprise is called {scheme}://; {hint}"
        raise AddressError(message)
    if not found[2].strip("/"):
        message = (
            f"{scheme}:// lacks the rest of the address; https://appriseit.com/services/ shows each service's address"
        )
        raise AddressError(message)
    return limits()[scheme]


def mask_address(kind: str, address: str) -> str:
    """Return an address in the form for lists, events, logs and other people's messages.

    An address of Apprise or of a webhook is commonly itself the secret (Slack, Discord): the scheme
    stays, of a webhook the host too, and four digits to distinguish two. For an address that is a
    secret its name is shown, as the language writes it.
    """
    if (name := secret_of(address)) is not None:
        return f'secret "{name}"'
    if kind not in {"apprise", "webhook", "url"}:
        return address
    digits = zlib.crc32(address.encode(errors="backslashreplace")) & 0xFFFF
    scheme, _, rest = address.partition("://")
    if kind == "apprise":
        return f"{scheme}://…{digits:04x}"
    host = re.split(r"[/?#]", rest, maxsplit=1)[0].rpartition("@")[2]
    return f"{scheme}://{host}/…{digits:04x}"


def redact(text: str, address: str) -> str:
    """Return a text without any part of an Apprise address, since each may be a password or a
    token.

    The host of a webhook's address and short words of its path stay.
    """
    scheme, _, rest = address.partition("://")
    is_web = scheme.lower() in {"http", "https"}
    host = re.split(r"[/?#]", rest, maxsplit=1)[0].rpartition("@")[2] if is_web else ""
    parts = re.split(r"[/:@?&=,;#]+", rest.replace(host, "", 1) if host else rest)
    secrets = {address, *parts, *(unquote(part) for part in parts)}
    for secret in sorted(secrets, key=len, reverse=True):
        if len(secret) >= (SHORTEST_WEB_SECRET if is_web else SHORTEST_SECRET):
            text = text.replace(secret, "…")
    return text
