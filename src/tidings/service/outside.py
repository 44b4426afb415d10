"""Outside: events of other origin are taken, once for each key, and nothing of them is lost after the commit.

Taking an event is one transaction: its row in the log of events, which rules follow, the key that it came with, and the lives of the
sentinels that waited for it. Looks that hang on it are a behaviour of rules (`summons`).
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from tidings.clock import DAY
from tidings.errors import UnknownNameError, UsageError
from tidings.model.secret import Secret
from tidings.notification.webhook import make_secret
from tidings.storage import outside, secrets

if TYPE_CHECKING:
    from tidings.clock import Clock
    from tidings.model.interval import Instant
    from tidings.storage.connection import Connection
    from tidings.storage.store import Store
    from tidings.storage.vault import Vault

MOST_PARAMS: Final = 16_384
"""bytes of an event's params, as compact JSON"""
LONGEST_KEY: Final = 200
KEYS_FOR: Final = 30 * DAY
"""how long it is remembered which keys were taken"""


@dataclass(frozen=True, slots=True)
class Taken:
    """An event that was taken: its number in the log; `is_new` is False if it had been taken with that key before."""

    seq: int
    is_new: bool


class Outside:
    """The way in for events of other origin. `on_taken` hears of each that was new, once it is durable."""

    def __init__(self, store: Store, vault: Vault, clock: Clock) -> None:
        self._store = store
        self._vault = vault
        self._clock = clock
        self.on_taken: Callable[[str], Any] = lambda _: None

    async def admit(self, name: str, proves: Callable[[Secret], bool]) -> None:
        """Return if whoever brings a webhook `proves` that it has its token.

        Raises `UnknownNameError` if there is no webhook of that name or its token is another (nobody is told which), `SecretError` if the
        token cannot be opened.
        """
        held = await self._store.read(token_of, self._vault, name)
        if not proves(held or Secret(make_secret())) or held is None:
            message = f'there is no webhook "{name}" with this token; `tidings show {name}` shows its token'
            raise UnknownNameError(message)

    async def take(self, name: str, params: Mapping[str, Any], *, key: str = "") -> Taken:
        """Take an event now. `key` is its idempotency key (empty: it comes once).

        Raises `UnknownNameError` if there is none of that name, `UsageError` for params that are no object or too large.
        """
        result = await self._store.write(take, name, params, at=self._clock.now(), key=key)
        if result.is_new:
            self.on_taken(name)
        return result


def take(c: Connection, name: str, params: Mapping[str, Any], *, at: Instant, key: str = "") -> Taken:
    """Take an event, inside the caller's writing transaction; raises what `Outside.take` does."""
    row = outside.find(c, name)
    check_params(params)
    if len(key) > LONGEST_KEY:
        message = f"an idempotency key has at most {LONGEST_KEY} characters"
        raise UsageError(message)
    if key and (before := outside.taken(c, row.id, key)) is not None:
        return Taken(before, is_new=False)
    outside.forget_keys(c, before=at - KEYS_FOR)
    return Taken(outside.happen(c, row, params, at=at, key=key), is_new=True)


def check_params(params: Mapping[str, Any]) -> None:
    """Raise `UsageError` unless params are an object of plain JSON that is not too large."""
    if not isinstance(params, Mapping):
        message = 'the params of an event are a JSON object, such as {"version": "1.2"}'
        raise UsageError(message)
    try:
        size = len(json.dumps(dict(params), allow_nan=False, separators=(",", ":")))
    except (TypeError, ValueError, RecursionError) as error:
        message = f"the params of an event are plain JSON: {error}"
        raise UsageError(message) from error
    if size > MOST_PARAMS:
        message = (
            f"the params of an event have at most {MOST_PARAMS:,} bytes as JSON, not {size:,}; send what names the rest"
        )
        raise UsageError(message)


def token_of(c: Connection, vault: Vault, name: str) -> Secret | None:
    """Return the token of a webhook, None if there is no webhook of that name; raises `SecretError` if it does not open."""
    opened = vault.open(c, secret_name(name))
    return None if opened is None or opened.kind != "hook" else opened.value


def give_token(c: Connection, vault: Vault, name: str, *, at: Instant) -> None:
    """Make the token of a webhook, inside the caller's writing transaction: it can be shown, or sign as Standard Webhooks do."""
    vault.put(c, secret_name(name), Secret(make_secret()), kind="hook", at=at)


def take_token(c: Connection, name: str) -> None:
    """Forget the token of a webhook."""
    secrets.drop(c, secret_name(name))


def secret_name(name: str) -> str:
    """Return the name under which the token of a webhook is kept; no secret of a user can be called so."""
    return f"hook:{name}"
