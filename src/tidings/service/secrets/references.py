"""References: the address of a webhook or Apprise service may contain a token, so it is stored as a
secret and everything else refers to it (0049).

A literal address in a statement becomes a named secret when the statement is stored. The name is
the host or scheme plus a keyed digest of the address: equal addresses have equal names, and
addresses cannot be guessed from names. The key of the digest is itself in the vault, so that names
survive a new master key. References are resolved, and addresses decrypted, for each attempt to
send.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import re
import secrets as chance
from typing import TYPE_CHECKING, Any, Final

from tidings.errors import AddressError, SecretError, SentinelError
from tidings.fetching import address as web
from tidings.model.secret import Secret
from tidings.model.url import split_url
from tidings.model.watch.notifying import REFERENCE, SEALED, Channel, secret_of
from tidings.model.watch.sentinel import Alter, Clauses, Defaults, Sentinel
from tidings.notification.addresses import mask_address, redact
from tidings.notification.apprise_channel import check_service
from tidings.record import replace
from tidings.storage.watches import endpoints, sentinels

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tidings.model.interval import Instant
    from tidings.model.watch.notifying import Notify
    from tidings.model.watch.sentinel import Statement
    from tidings.storage.db.connection import Connection
    from tidings.storage.secrets import Vault

KEY: Final = "addresses:key"
"""The secret that keys the names of addresses; no statement can use its name."""
_DIGITS: Final = 8
_WRITTEN_OUT: Final = re.compile(r"^ *(?:Notify by|Errors to) .*://", re.MULTILINE)
"""A line of a stored text that may contain an address of a webhook or Apprise service."""


class References:
    """Replaces the addresses of statements by references to secrets, inside one write transaction,
    in which it stores new ones.
    """

    def __init__(self, c: Connection, vault: Vault, *, at: Instant) -> None:
        self._c = c
        self._vault = vault
        self._at = at
        self._key = b""
        self._names: dict[tuple[str, str], str] = {}

    def store_addresses(self, statement: Statement) -> Statement:
        """Return a statement without literal addresses of webhooks or Apprise. Raises `SecretError`
        without the naming key.
        """
        match statement:
            case Sentinel():
                return self.sentinel(statement)
            case Alter(sentinel=Sentinel() as after, clauses=clauses):
                return replace(statement, sentinel=self.sentinel(after), clauses=self._replace_addresses(clauses))
            case Defaults():
                return self.defaults(statement)
        return statement

    def sentinel(self, sentinel: Sentinel) -> Sentinel:
        """Return a sentinel without literal addresses, as `store_addresses` does."""
        notify = tuple(map(self._clause, sentinel.notify))
        return replace(sentinel, notify=notify, errors=self._channels(sentinel.errors))

    def defaults(self, defaults: Defaults) -> Defaults:
        """Return the defaults of tags without literal addresses, as `store_addresses` does."""
        return replace(defaults, clauses=self._replace_addresses(defaults.clauses))

    def name(self, kind: str, address: str) -> str:
        """Return the name of the secret that holds an address; set it if it is not."""
        if (found := self._names.get((kind, address))) is not None:
            return found
        digest = hmac.digest(self._naming(), f"{kind}\0{address}".encode(errors="surrogatepass"), hashlib.sha256)
        stem = f"{_stem(kind, address)}-{digest.hex()[:_DIGITS]}"
        name, number = stem, 2
        while not self._claim(name, address):  # that secret has another address now
            name, number = f"{stem}-{number}", number + 1
        self._names[kind, address] = name
        return name

    def _claim(self, name: str, address: str) -> bool:
        """Set a secret to an address if it is not set; return whether it then holds this
        address.
        """
        try:
            opened = self._vault.open(self._c, name)
        except SecretError:
            opened = None  # cannot be decrypted: set again, since the value is known
        if opened is not None:
            return opened.value.reveal() == address
        self._vault.put(self._c, name, Secret(address), kind="address", at=self._at)
        return True

    def _naming(self) -> bytes:
        if not self._key:
            try:
                opened = self._vault.open(self._c, KEY)
            except SecretError as error:
                message = (
                    f"addresses of receivers cannot be encrypted: {str(error).partition('; ')[0]}; put your copy of {self._vault.key_file.path}"
                    f" back, or, if you have none, let Tidings make new names: tidings secret drop {KEY}"
                )
                raise SecretError(message) from error
            if opened is None:
                self._vault.put(self._c, KEY, Secret(chance.token_hex(32)), kind="naming", at=self._at)
                opened = self._vault.open(self._c, KEY)
            self._key = b"" if opened is None else bytes.fromhex(opened.value.reveal())
        return self._key

    def _clause(self, notify: Notify) -> Notify:
        return replace(notify, channels=self._channels(notify.channels))

    def _channels(self, channels: Iterable[Channel]) -> tuple[Channel, ...]:
        return tuple(dict.fromkeys(map(self._channel, channels)))

    def _channel(self, channel: Channel) -> Channel:
        if channel.kind not in SEALED or channel.is_secret:
            return channel
        return Channel(channel.kind, self.name(channel.kind, channel.address), is_secret=True)

    def _replace_addresses(self, clauses: Clauses) -> Clauses:
        def replace_meaning(word: str, meaning: Any) -> Any:
            if word == "notify":
                return tuple(map(self._clause, meaning))
            return self._channels(meaning) if word == "errors" else meaning

        return Clauses(tuple((word, replace_meaning(word, meaning)) for word, meaning in clauses.stated))


def seal_older(c: Connection, vault: Vault, *, at: Instant) -> int:
    """Encrypt the addresses that earlier versions stored as plain text, and replace them by
    references; return their number.

    Endpoints keep their ids, so that pending messages are still sent. Raises `SecretError` where
    nothing can be encrypted.
    """
    plain = [row for row in endpoints.listing(c) if row.kind in SEALED and secret_of(row.address) is None]
    defaults = {tag: text for tag, text in sentinels.list_tag_defaults(c).items() if _WRITTEN_OUT.search(text)}
    if not plain and not defaults:
        return 0
    references = References(c, vault, at=at)
    for row in plain:
        reference = f"{REFERENCE}{references.name(row.kind, row.address)}"
        _forget(c, row.kind, row.address, reference)
        endpoints.refer(c, row.id, reference)
    for id_, number, text in sentinels.texts(c):
        if _WRITTEN_OUT.search(text) and (stored := _store_addresses_of(references, text)):
            sentinels.rewrite(c, id_, number, stored)
    for tag, text in defaults.items():
        if stored := _store_addresses_of(references, text):
            sentinels.put_tag_default(c, tag, stored)
    note_schemes(c, vault)
    return len(plain)


def _forget(c: Connection, kind: str, address: str, reference: str) -> None:
    """Remove an address from the notes on attempts to send there."""
    reason = mask_address(kind, reference)
    endpoints.forget(c, address, reason)
    endpoints.forget_in_events(c, json.dumps(address)[1:-1], json.dumps(reason)[1:-1])


def _store_addresses_of(references: References, text: str) -> str:
    """Return a stored text with references; "" for an unreadable one, which `doctor` reports."""
    from tidings.language import parser  # verbs that list parse no statement
    from tidings.language.write import printer

    try:
        return printer.to_text(references.store_addresses(parser.recall(text)))
    except (SentinelError, ValueError):
        return ""


def _stem(kind: str, address: str) -> str:
    """Return the beginning of an address's name: only what listings may show."""
    stem = address.partition("://")[0].lower() if kind == "apprise" else split_url(address).hostname or ""
    stem = re.sub(r"[^a-z0-9.\-]+", "-", stem).strip("-.")[:60]
    return stem if stem[:1].isalpha() else f"webhook-{stem}".rstrip("-")


def address_of(c: Connection, vault: Vault, address: str) -> str:
    """Return the address to send to: an endpoint's stored address, or the content of the secret it
    refers to.

    Raises `SecretError` for a secret that is not set or cannot be decrypted.
    """
    name = secret_of(address)
    if name is None:
        return address
    opened = vault.open(c, name)
    if opened is None:
        raise SecretError(f"the secret {name} is not set; `tidings secret set {name}` sets it")
    return opened.value.reveal()


def check_value(kind: str, name: str, address: str) -> None:
    """Raise `AddressError` if a secret is not a valid address for a channel of this kind; the value
    is not repeated.
    """
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
    """Raise `AddressError` for a channel whose secret is set and not a valid address for it."""
    for channel in dict.fromkeys(channel for channel in channels if channel.is_secret):
        try:
            text = address_of(c, vault, channel.endpoint[1])
        except SecretError:
            continue  # reported by the language if unset, by `doctor` if not decryptable
        check_value(channel.kind, channel.address, text)


def note_schemes(c: Connection, vault: Vault, *, name: str | None = None) -> None:
    """Store the scheme of each Apprise endpoint without a known one; it limits what fits into a
    message.

    With the `name` of a secret, update all endpoints that refer to it.
    """
    rows = endpoints.without_scheme(c) if name is None else endpoints.referring(c, name)
    for row in rows:
        if row.kind == "apprise":
            try:
                text = address_of(c, vault, row.address)
            except SecretError:
                continue
            endpoints.set_scheme(c, row.id, text.partition("://")[0].lower())
