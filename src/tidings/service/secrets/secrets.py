"""Secrets as their owner manages them: set, list, drop, change the key.

The users of a secret are found from the pages; a page in error is polled again as soon as one of
its secrets is set. Also `doctor`'s findings: the key file, secrets that cannot be decrypted,
receivers without an address.
"""

from __future__ import annotations

import base64
import re
from typing import TYPE_CHECKING, Any, Final

from tidings.errors import SecretError, UnknownNameError, UsageError
from tidings.model.secret import Secret
from tidings.model.watch.asking import secret_names
from tidings.model.watch.notifying import secret_of
from tidings.record import dataclass
from tidings.service.show.finding import Finding, fail, ok, shorten, warn
from tidings.service.show.records import rfc3339
from tidings.storage import secrets
from tidings.storage.observed import pages, polls
from tidings.storage.secrets import SESSION, SIGNING
from tidings.storage.watches import deliveries, endpoints, sentinels, subscriptions
from tidings.storage.watches.events import OWNER

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from tidings.model.interval import Instant
    from tidings.model.secret import SecretKind
    from tidings.storage.db.connection import Connection
    from tidings.storage.secrets import Vault
    from tidings.storage.watches.sentinels import SentinelRow

MOST_BYTES: Final = 65_536
_NAME = re.compile(r"[A-Za-z_][\w.\-]{0,99}")
_NAMED = re.compile(r'secret "([A-Za-z_][\w.\-]{0,99})"')
"""A secret named in a stored text; within quotes its quotes have a backslash."""


@dataclass(frozen=True, slots=True)
class Named:
    """A secret, or one that sentinels name and that is not set (`set_at` is None). `fault` is why
    it cannot be decrypted.
    """

    name: str
    kind: SecretKind | str
    set_at: Instant | None
    sentinels: tuple[str, ...]
    fault: str = ""

    def record(self) -> dict[str, Any]:
        """Return it as a record, without the value."""
        return {
            "record": "secret",
            "name": self.name,
            "kind": self.kind,
            "set_at": rfc3339(self.set_at),
            "sentinels": list(self.sentinels),
            "opens": None if self.set_at is None else not self.fault,
            "fault": self.fault,
        }


def check_name(name: str) -> None:
    """Raise `UsageError` for a name that the language does not allow."""
    if not _NAME.fullmatch(name):
        message = (
            "this is not the name of a secret; use letters, digits, -, _ and dots, beginning with a letter, such as "
            "api-token"
        )
        raise UsageError(message)


def set_(
    c: Connection, vault: Vault, name: str, value: Secret, *, jar: bool = False, owner_id: int = OWNER, at: Instant
) -> list[str]:
    """Encrypt a value under a name; return the sentinels of which a page is polled again because of
    it.

    Messages that wait for this receiver address are sent at once. `list_unusable` returns the
    cookies of a jar that cannot be sent. Raises `UsageError`, for an address `AddressError`, for an
    invalid value, without repeating it.

    Args:
        vault: Where secrets are stored.
        name: Its name.
        value: The plain value.
        jar: Whether it is a `cookies.txt`.
        owner_id: Whose sentinels use it.
        at: When it is set (µs).
    """
    check_name(name)
    # `list` reads this module too, and needs no parser of addresses
    from tidings.fetching.http import cookies
    from tidings.notification.webhook import read_secrets
    from tidings.service.secrets import references

    text = value.reveal()
    if not text or len(text.encode(errors="surrogatepass")) > MOST_BYTES:
        message = f"a secret has at least one character and at most {MOST_BYTES:,} bytes; nothing was set"
        raise UsageError(message)
    is_signing = name == SIGNING and owner_id == OWNER
    kind: SecretKind = "cookies" if jar else "signing" if is_signing else "text"
    receivers = endpoints.referring(c, name) if owner_id == OWNER else []
    for kind_of_channel in dict.fromkeys(row.kind for row in receivers):
        references.check_value(kind_of_channel, name, text)
    if (
        (before := secrets.find_row(c, name, owner_id=owner_id)) is not None
        and before.kind == "address"
        and kind == "text"
    ):
        kind = "address"
    if kind == "cookies":
        cookies.read(text)
    if is_signing:
        if jar:
            message = f"{SIGNING} is the secret that signs webhooks; use another name for cookies"
            raise UsageError(message)
        read_secrets(text)
    vault.seal_plain(c)
    vault.put(c, name, value, kind=kind, owner_id=owner_id, at=at)
    references.note_schemes(c, vault, name=name)
    for row in receivers:
        endpoints.renew(c, row.id)
    deliveries.wake(c, [(row.id, at) for row in receivers])
    return _request_polls(c, name, owner_id, at)


def basic(user: str, password: Secret) -> Secret:
    """Return the text of the header `Authorization` that logs a user in (RFC 7617)."""
    return Secret(f"Basic {base64.b64encode(f'{user}:{password.reveal()}'.encode()).decode()}")


def list_unusable(value: Secret) -> tuple[str, ...]:
    """Return a message for each cookie of a `cookies.txt` that no request can carry."""
    from tidings.fetching.http import cookies  # as in `set_`

    return cookies.list_unusable(value.reveal())


def listing(c: Connection, vault: Vault, *, owner_id: int = OWNER) -> list[Named]:
    """Return the stored secrets and the missing ones, by name."""
    used = users(c, owner_id=owner_id)
    rows = {row.name: row for row in secrets.listing(c, owner_id=owner_id) if row.kind != "session"}
    found = []
    for name in sorted(rows.keys() | used.keys()):
        row = rows.get(name)
        if row is None:
            found.append(Named(name, "", None, used[name]))
        else:
            found.append(Named(name, row.kind, row.set_at, used.get(name, ()), vault.fault(row)))
    return found


def drop(c: Connection, name: str, *, owner_id: int = OWNER, force: bool = False) -> tuple[str, ...]:
    """Delete a secret; return the sentinels that now lack it.

    Raises `UnknownNameError` if there is none, `UsageError` while a sentinel uses it, unless
    `force`.

    Args:
        name: Its name.
        owner_id: Whose it is.
        force: Whether it is deleted also while a sentinel uses it.
    """
    using = users(c, owner_id=owner_id).get(name, ())
    row = secrets.find_row(c, name, owner_id=owner_id)
    if row is None:
        message = f"there is no secret {name}; `tidings secret list` shows all"
        raise UnknownNameError(message)
    if row.kind == "hook":
        message = f"{name} is the token of an event, and is dropped with it: Drop Event {name.partition(':')[2]}"
        raise UsageError(message)
    if using and not force:
        message = f"{', '.join(using)} would lose the secret {name}; first drop what uses it, or add --force"
        raise UsageError(message)
    secrets.drop(c, name, owner_id=owner_id)
    for name_left in secrets.names(c, owner_id=owner_id):
        if name_left.startswith(f"{SESSION}{name}:"):
            secrets.drop(c, name_left, owner_id=owner_id)
    return using


def users(c: Connection, *, owner_id: int = OWNER) -> dict[str, tuple[str, ...]]:
    """Return, by secret name, the living sentinels and defaults of tags that use it."""
    living = {row.id: row for row in sentinels.listing(c)}
    needs = {
        state.page_id: (identity.owner_id or OWNER, names)
        for identity, state in pages.listing(c)
        if (names := secret_names(identity))
    }
    found: dict[str, set[str]] = {}
    others: dict[int, set[str]] = {}
    """the names that stand for secrets of other owners, by sentinel"""
    for sub in subscriptions.listing(c):
        whose, names = needs.get(sub.page_id, (owner_id, ()))
        if whose != owner_id:
            others.setdefault(sub.sentinel_id, set()).update(names)
        elif sub.sentinel_id in living:
            for name in names:
                found.setdefault(name, set()).add(living[sub.sentinel_id].name)
    if owner_id == OWNER:  # receivers and defaults name no other owner's
        for who, text, elsewhere in _list_texts(c, living.values(), others):
            for name in {*_NAMED.findall(text)} - elsewhere:
                found.setdefault(name, set()).add(who)
    return {name: tuple(sorted(using)) for name, using in found.items()}


def _list_texts(
    c: Connection, rows: Iterable[SentinelRow], others: Mapping[int, set[str]]
) -> Iterator[tuple[str, str, set[str]]]:
    """Yield the texts that may name secrets: whose they are, and the names of other owners in
    them.
    """
    for row in rows:
        yield row.name, row.text, others.get(row.id, set())
    for tag, text in sentinels.list_tag_defaults(c).items():
        yield f"the defaults of {tag}", text, set()


def _request_polls(c: Connection, name: str, owner_id: int, at: Instant) -> list[str]:
    """Request a poll of the pages in error that need this secret, ending their back-off."""
    living = {row.id: row.name for row in sentinels.listing(c)}
    ill = [
        s.page_id
        for i, s in pages.population(c)
        if s.kind and (i.owner_id or OWNER) == owner_id and name in secret_names(i)
    ]
    polls.request_polls(c, ill, at)
    return sorted({living[s.sentinel_id] for s in subscriptions.listing(c, active=True) if s.page_id in ill})


def findings(c: Connection, vault: Vault) -> Iterator[Finding]:
    """Yield the findings: permissions of the key file, unused keys, each secret that cannot be
    decrypted.
    """
    rows = [row for row in secrets.listing(c) if row.kind != "session"]  # a lost session is created again
    path = vault.key_file.path
    try:
        keys = vault.key_file.keys()
    except SecretError as error:
        yield fail("secrets", str(error), f"ls -l {path}")
        return
    if keys and not vault.key_file.is_private():
        yield fail("secrets", f"{path} can be read by other users", f"chmod 600 {path}")
    faults = [fail("secret", fault, f"tidings secret set {row.name}") for row in rows if (fault := vault.fault(row))]
    yield from shorten(faults, mend="tidings secret list")
    missing = _missing_receivers(c, {row.name for row in rows})
    yield from shorten(missing, mend="tidings secret list")
    if plain := [row.name for row in rows if not row.key_id]:
        yield warn("secrets", f"not encrypted yet: {', '.join(plain)}", "tidings secret rotate")
    if len(keys) > 1 and not faults:
        yield warn(
            "secrets", f"{path} has {len(keys)} keys, because a rotation was interrupted", "tidings secret rotate"
        )
    if not faults and not missing:
        yield ok("secrets", f"{len(rows)} stored, each can be decrypted" if rows else "none stored")


def _missing_receivers(c: Connection, known: set[str]) -> list[Finding]:
    """Return a finding for each receiver of a living sentinel whose address is a secret that is not
    set.
    """
    named = {secret_of(row.address) for row in endpoints.listing(c)} - known - {None}
    if not named:
        return []
    using = users(c)
    return [
        fail(
            "secret",
            f"the secret {name} is not set: messages of {', '.join(using[name])} wait",
            f"tidings secret set {name}",
        )
        for name in sorted(using.keys() & named)
    ]
