"""Resolving: from what an endpoint refers to, to the address that a message goes to (0049)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tidings.errors import AddressError, SecretError
from tidings.fetching import address as web
from tidings.model.watch.telling import secret_of
from tidings.notification.addresses import redact
from tidings.notification.apprise_channel import check_service
from tidings.storage.watches import endpoints

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tidings.model.watch.telling import Channel
    from tidings.storage.db.connection import Connection
    from tidings.storage.secrets.vault import Vault


def address_of(c: Connection, vault: Vault, address: str) -> str:
    """Return where to send to: the stored address of an endpoint, or what the secret holds that it refers to.

    Raises `SecretError` for a secret that is not set or does not open.
    """
    name = secret_of(address)
    if name is None:
        return address
    opened = vault.open(c, name)
    if opened is None:
        raise SecretError(f"the secret {name} is not set; `tidings secret set {name}` sets it")
    return opened.value.reveal()


def check_value(kind: str, name: str, address: str) -> None:
    """Raise `AddressError` for a secret that is named as the receiver of a channel of this kind and holds no address of one; it is not repeated."""
    try:
        if kind == "apprise":
            check_service(address)
        else:
            web.rebuild(address)
    except AddressError as error:
        needed = (
            "an address of Apprise such as tgram://token/chat"
            if kind == "apprise"
            else "an http:// or https:// address"
        )
        why = f": {redact(str(error), address)}" if kind == "apprise" else ""
        raise AddressError(f"the secret {name} must hold {needed}{why}") from None


def check_secrets(c: Connection, vault: Vault, channels: Iterable[Channel]) -> None:
    """Raise `AddressError` for a channel whose secret is set and holds no address that the channel can have."""
    for channel in dict.fromkeys(channel for channel in channels if channel.is_secret):
        try:
            text = address_of(c, vault, channel.endpoint[1])
        except SecretError:
            continue  # the language has warned that it is not set, `doctor` says that it does not open
        check_value(channel.kind, channel.address, text)


def note_schemes(c: Connection, vault: Vault, *, name: str | None = None) -> None:
    """Remember of each endpoint of Apprise whose scheme is not known which it has: what fits into a message depends on it.

    With the `name` of a secret, do so for the endpoints that refer to it, whatever was known.
    """
    rows = endpoints.without_scheme(c) if name is None else endpoints.referring(c, name)
    for row in rows:
        if row.kind == "apprise":
            try:
                text = address_of(c, vault, row.address)
            except SecretError:
                continue
            endpoints.set_scheme(c, row.id, text.partition("://")[0].lower())
