"""Rehearse: send one test message to each channel of a sentinel, so that a mistyped address is
found now and not at the first change.

A test is not a delivery: it is not stored, tried once, and belongs to no event.
"""

from __future__ import annotations

import asyncio
import secrets as randomness
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Final

from tidings.clock import SECOND
from tidings.errors import SecretError
from tidings.notification.addresses import mask_address
from tidings.notification.channel import PULLED, Answer, Message, Refused
from tidings.notification.rendering import rehearsal
from tidings.record import dataclass
from tidings.service.watch.watchlist import list_channels

if TYPE_CHECKING:
    from tidings.model.interval import Duration, Instant
    from tidings.model.watch.notifying import Wording
    from tidings.model.watch.sentinel import Channel, Sentinel
    from tidings.notification.channel import Sender
    from tidings.notification.rendering import Rendered


UNTESTED: Final = PULLED | {"console"}
"""The kinds of channels that get no test message."""


@dataclass(frozen=True, slots=True)
class Rehearsed:
    """The result of a test message; the address is shown without its secrets, `reason` is empty if
    it was accepted.
    """

    kind: str
    address: str
    reason: str


def channels_of(sentinel: Sentinel, sendable: frozenset[str]) -> list[Channel]:
    """Return the distinct channels of a sentinel that a test message can be sent to; not the
    console, nor channels that are pulled.
    """
    tested = sendable - UNTESTED
    return [channel for channel in dict.fromkeys(list_channels(sentinel)) if channel.kind in tested]


def wordings_of(sentinel: Sentinel) -> dict[Channel, Wording]:
    """Return the wording of each channel of a sentinel that has its own."""
    found: dict[Channel, Wording | None] = {}
    for clause in sentinel.notify:
        for channel in clause.channels:
            found.setdefault(channel, clause.wording)
    return {channel: wording for channel, wording in found.items() if wording is not None}


async def rehearse(
    channels: Sequence[Channel],
    senders: Mapping[str, Sender],
    *,
    sentinel: str,
    now: Instant,
    patience: Duration,
    address_of: Callable[[str], str] = str,
    worded: Sentinel | None = None,
) -> list[Rehearsed]:
    """Send a test message to each channel, concurrently, and return the results within `patience`
    (µs).

    Args:
        channels: The receivers.
        senders: A sender for each kind.
        sentinel: The sentinel's name in the message.
        now: The present (µs).
        patience: How long to wait for answers (µs).
        address_of: Returns the real address for a stored one, which may refer to a secret. Raises
            `SecretError` where that cannot be decrypted.
        worded: The sentinel whose wording is used; None for the usual message.
    """
    wordings = {} if worded is None else wordings_of(worded)
    tags = () if worded is None else worded.tags

    async def test(channel: Channel) -> Answer:
        try:
            address = address_of(channel.endpoint[1])
        except SecretError as error:
            return Refused(reason=str(error))
        scheme = address.partition("://")[0]
        content = rehearsal(channel.kind, sentinel, at=now, wording=wordings.get(channel), tags=tags, scheme=scheme)
        return await _test(channel.kind, address, content, senders, sentinel=sentinel, now=now, patience=patience)

    answers = map(test, channels)
    return [
        _make_rehearsed(channel, answer)
        for channel, answer in zip(channels, await asyncio.gather(*answers), strict=True)
    ]


async def _test(
    kind: str,
    address: str,
    content: Rendered,
    senders: Mapping[str, Sender],
    *,
    sentinel: str,
    now: Instant,
    patience: Duration,
) -> Answer:
    message = Message(
        id=f"test_{randomness.token_hex(8)}",
        address=address,
        subject=content.subject,
        content_type=content.content_type,
        body=content.body,
        attempt=1,
        sent_at=now,
        sequence=0,
        sentinel=sentinel,
    )
    try:
        return await asyncio.wait_for(senders[kind].send(message), patience / SECOND)
    except TimeoutError:
        return Refused(reason=f"no answer within {patience / SECOND:.2g} s; it may still arrive")


def _make_rehearsed(channel: Channel, answer: Answer) -> Rehearsed:
    reason = answer.reason if isinstance(answer, Refused) else ""
    return Rehearsed(channel.kind, mask_address(*channel.endpoint), reason)
