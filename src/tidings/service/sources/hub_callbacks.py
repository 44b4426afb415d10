"""The callbacks of hubs: whether a request belongs to a subscription, and what it changes (W3C
WebSub §5.2, §7).
"""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Final

from tidings.clock import DAY, HOUR, SECOND
from tidings.record import replace
from tidings.storage.observed import hints

if TYPE_CHECKING:
    from tidings.clock import Clock
    from tidings.model.interval import Duration, Instant
    from tidings.service.sources.left_signals import LeftSignals
    from tidings.storage.db.connection import Connection
    from tidings.storage.observed.hints import HubRow
    from tidings.storage.write.store import Store

KIND: Final = "websub"
"""The kind of the hints that hubs give."""
LEASE: Final[Duration] = 10 * DAY
"""The requested lease; a hub may grant less or more."""
LEASE_LEAST, LEASE_MOST = HOUR, 30 * DAY
LONGEST_CHALLENGE: Final = 1_024
METHODS: Final = frozenset({"sha1", "sha256", "sha384", "sha512"})
"""Signature methods of hubs (W3C WebSub §7.1); the signature keeps forged hints out, and many still
use sha1.
"""


class LeftCallbacks:
    """Answers the callbacks of hubs in a process that does not poll.

    Args:
        store: The database.
        signals: Accepts hints.
        clock: The clock.
        keys: The keys of the installation.
    """

    def __init__(self, store: Store, signals: LeftSignals, clock: Clock, *, keys: Sequence[bytes]) -> None:
        self._store = store
        self._signals = signals
        self._clock = clock
        self._keys = keys

    async def knows(self, token: str) -> bool:
        """Return whether a callback token belongs to an active subscription."""
        return is_known(find_row(await self._store.read(hints.list_hubs), token))

    async def verify(self, token: str, params: Mapping[str, str]) -> str | None:
        """Return the challenge if the hub verifies a request of ours, else None; record its refusal
        (W3C WebSub §5.2, §5.3).
        """
        return await self._store.write(_verify, token, params, now=self._clock.now())

    async def deliver(self, token: str, body: bytes, signature: str) -> bool:
        """Record a hub's notification as a hint; return whether its signature is valid. Others are
        ignored (W3C WebSub §7.1).
        """
        row = find_row(await self._store.read(hints.list_hubs), token)
        if row is None or not is_signed(token, body, signature, self._keys):
            return False
        await self._signals.take([row.page_id], kind=KIND)
        return True


def find_row(rows: Iterable[HubRow], token: str) -> HubRow | None:
    """Return the subscription with a callback token, or None."""
    shown = token.encode(errors="replace")
    return next((row for row in rows if hmac.compare_digest(row.token.encode(), shown)), None)


def is_known(row: HubRow | None) -> bool:
    """Return whether a subscription is active, or may become so."""
    return row is not None and row.state in {"asked", "active"}


def secret_of(token: str, key: bytes) -> str:
    """Return the secret of one subscription, derived from a key of the installation and not
    stored.
    """
    return hmac.new(key, b"websub " + token.encode(), hashlib.sha256).hexdigest()


def is_signed(token: str, body: bytes, signature: str, keys: Iterable[bytes]) -> bool:
    """Return whether a notification has a valid signature of its subscription.

    Args:
        token: The token of the callback.
        body: The notification.
        signature: Method and digest, as the hub gives them.
        keys: The keys of the installation.
    """
    method, _, given = signature.strip().partition("=")
    if method not in METHODS:
        return False
    shown = given.lower().encode("ascii", "replace")
    expected = (hmac.new(secret_of(token, key).encode(), body, method).hexdigest() for key in keys)
    return any(hmac.compare_digest(each.encode(), shown) for each in expected)


def judge_callback(row: HubRow | None, params: Mapping[str, str], now: Instant) -> tuple[str | None, HubRow | None]:
    """Return the answer to a hub's request, None if it is refused; and the subscription after it,
    None if it has ended.

    Args:
        row: The subscription with the token of the request; None if there is none.
        params: The parameters of the request.
        now: The present (µs).
    """
    if row is None or params.get("hub.topic") != row.topic:
        return None, row
    challenge, mode = params.get("hub.challenge", ""), params.get("hub.mode", "")
    if mode == "denied":
        reason = f"the hub refuses: {params.get('hub.reason', 'it gives no reason')[:200]}"
        return "", replace(row, state="refused", problem=reason, due_at=now + DAY)
    if not 0 < len(challenge) <= LONGEST_CHALLENGE:
        return None, row
    if mode == "unsubscribe" and row.state == "leaving":
        return challenge, None
    if mode == "subscribe" and row.state != "leaving":
        seconds = params.get("hub.lease_seconds", "")
        lease = int(seconds[:12]) * SECOND if seconds.isascii() and seconds.isdecimal() else LEASE
        lease = min(max(lease, LEASE_LEAST), LEASE_MOST)
        until = now + lease
        return challenge, replace(row, state="active", until=until, due_at=now + lease * 2 // 3, attempts=0, problem="")
    return None, row


def _verify(c: Connection, token: str, params: Mapping[str, str], *, now: Instant) -> str | None:
    row = find_row(hints.list_hubs(c), token)
    challenge, answered = judge_callback(row, params, now)
    if row is None or challenge is None:
        return None
    if answered is None:
        hints.drop_hub(c, row.page_id)
    else:
        hints.put_hub(c, answered)
    return challenge
