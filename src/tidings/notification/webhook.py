"""Webhooks by the Standard Webhooks specification.

`webhook-id` is the delivery and constant over retries, `webhook-timestamp` the second of the
attempt, `webhook-signature` a list of `v1,` and base64 of HMAC-SHA256 over `id.timestamp.body`, one
for each secret, so that a secret can be replaced without a gap.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import secrets as chance
from collections.abc import Sequence
from http import HTTPStatus
from typing import Final

from tidings.clock import MINUTE, SECOND, Instant
from tidings.errors import SettingError
from tidings.notification.addresses import redact
from tidings.notification.channel import Message, MessagePoster, Refused, Sent
from tidings.record import dataclass

PREFIX: Final = "whsec_"
LEAST_BYTES: Final = 24
MOST_BYTES: Final = 64
FINAL: Final = frozenset({400, 401, 403, 404, 405, 410, 413, 422})
"""Answers that the same message would get again."""
HOLDING: Final = frozenset({408, 429})
"""Answers, beside those of 500 and above, on the receiver rather than the message: later messages
wait too.
"""
TOLERANCE: Final = 5 * MINUTE
"""How far the time of an incoming webhook may be off, against replays."""


@dataclass(frozen=True, slots=True)
class Webhook:
    """Posts a message, signed with every key. `timeout_seconds` bounds the whole attempt.

    Without a key nothing leaves: no message is unsigned. `unsigned` is why there is none.
    """

    poster: MessagePoster
    keys: tuple[bytes, ...]
    timeout_seconds: float = 20.0
    unsigned: str = ""

    async def send(self, message: Message) -> Sent | Refused:
        """Post once. 2xx is accepted; answers that a retry would not change are final, and 410
        switches the endpoint off too.
        """
        if not self.keys:
            return Refused(reason=f"it cannot be signed: {self.unsigned or 'there is no key'}", is_ours=True)
        answer = await self.poster.post(
            message.address,
            headers=sign_headers(message, self.keys),
            body=message.body,
            timeout_seconds=self.timeout_seconds,
        )
        if answer.status is None:
            reason = redact(answer.error or "no answer came", message.address)
            return Refused(reason=reason, retry_after=answer.retry_after)
        return _judge(answer.status, answer.retry_after)


def _judge(status: int, retry_after: int | None) -> Sent | Refused:
    if 200 <= status < 300:
        return Sent(status)
    if status == HTTPStatus.GONE:
        return Refused(reason="410: the receiver is gone", retry=False, disable=True)
    if 300 <= status < 400:
        reason = f"{status}: the receiver has moved; Tidings follows no redirects of webhooks, so give its new address"
    else:
        reason = f"{status}{_phrase(status)}"
    return Refused(
        reason=reason,
        retry=status not in FINAL,
        retry_after=retry_after,
        busy=status == HTTPStatus.TOO_MANY_REQUESTS,
        holds=status in HOLDING or status >= 500,
    )


def _phrase(status: int) -> str:
    try:
        return f" {HTTPStatus(status).phrase}"
    except ValueError:
        return ""


def sign_headers(message: Message, keys: Sequence[bytes]) -> dict[str, str]:
    """Return the headers of an attempt; `tidings-sequence` lets a receiver order deliveries."""
    return {
        "content-type": message.content_type,
        "webhook-id": message.id,
        "webhook-timestamp": str(message.sent_at // SECOND),
        "webhook-signature": signature(message.id, message.sent_at, body=message.body, keys=keys),
        "tidings-sequence": str(message.sequence),
    }


def signature(delivery_id: str, sent_at: Instant, *, body: bytes, keys: Sequence[bytes]) -> str:
    """Return the value of `webhook-signature`: one signature for each key, separated by spaces.

    Args:
        delivery_id: The id, constant over attempts.
        sent_at: The instant of this attempt (µs).
        body: The bytes that are sent.
        keys: The signing keys, newest first.
    """
    signed = f"{delivery_id}.{sent_at // SECOND}.".encode() + body
    digests = (hmac.new(key, signed, hashlib.sha256).digest() for key in keys)
    return " ".join(f"v1,{base64.b64encode(digest).decode()}" for digest in digests)


def is_genuine(
    webhook_id: str, timestamp: str, signatures: str, *, body: bytes, keys: Sequence[bytes], now: Instant
) -> bool:
    """Return whether an incoming webhook is signed with one of the keys, and its `timestamp` is at
    most five minutes off.

    Args:
        webhook_id: The header `webhook-id`.
        timestamp: The header `webhook-timestamp`, seconds since 1970.
        signatures: The header `webhook-signature`.
        body: The received bytes.
        keys: The accepted keys.
        now: The present (µs).
    """
    if not (webhook_id and timestamp.isascii() and timestamp.isdecimal() and len(timestamp) < 12):
        return False
    if abs(int(timestamp) * SECOND - now) > TOLERANCE:
        return False
    expected = signature(webhook_id, int(timestamp) * SECOND, body=body, keys=keys).split()
    given = [one.encode(errors="surrogatepass") for one in signatures.split()]
    return any(hmac.compare_digest(mine.encode(), one) for mine in expected for one in given)


def read_secrets(text: str) -> tuple[bytes, ...]:
    """Return the keys of one or more secrets, separated by spaces or commas, newest first.

    Raises `SettingError` if there is none or one is not `whsec_` and the base64 of 24 to 64 bytes;
    the secret is not printed.
    """
    words = text.replace(",", " ").split()
    if not words:
        message = "notify.webhook_secret is empty; make one with `tidings secret`"
        raise SettingError(message)
    return tuple(_read_secret(word, place) for place, word in enumerate(words, 1))


def _read_secret(text: str, place: int) -> bytes:
    try:
        key = base64.b64decode(text.removeprefix(PREFIX), validate=True)
    except (binascii.Error, ValueError):
        key = b""
    if not text.startswith(PREFIX) or not LEAST_BYTES <= len(key) <= MOST_BYTES:
        message = f"secret {place} of notify.webhook_secret is not {PREFIX} followed by the base64 of {LEAST_BYTES} to {MOST_BYTES} bytes"
        raise SettingError(message)
    return key


def make_secret() -> str:
    """Return a new secret of 32 random bytes, as `read_secrets` reads it."""
    return PREFIX + base64.b64encode(chance.token_bytes(32)).decode()
