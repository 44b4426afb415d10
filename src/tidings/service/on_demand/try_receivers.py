"""Send a test message to the receivers of a sentinel."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tidings.clock import SystemClock
from tidings.notification.channels import sendable
from tidings.service.notify.rehearse import channels_of, rehearse
from tidings.service.run.senders import senders_alone
from tidings.service.secrets.references import address_of
from tidings.storage.secrets import Vault
from tidings.storage.watches import deliveries, endpoints

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tidings.model.interval import Duration, Instant
    from tidings.model.watch.sentinel import Sentinel
    from tidings.service.notify.rehearse import Rehearsed
    from tidings.settings import Settings
    from tidings.storage.db.connection import Connection
    from tidings.storage.db.database import Database


async def send_test_message(
    database: Database,
    sentinel: Sentinel,
    settings: Settings,
    *,
    patience: Duration,
    only: tuple[str, str] | None = None,
) -> list[Rehearsed]:
    """Send a test message to each receiver of a sentinel and return the results; nothing if it
    has none that can be tested. A receiver that had failed and accepts it gets its messages again.

    Args:
        database: Where the sentinel is stored.
        sentinel: The sentinel.
        settings: The settings in use.
        patience: How long to wait for answers (µs).
        only: The endpoint (kind, address) of the only receiver; None for all.
    """
    channels = channels_of(sentinel, sendable(settings.notify))
    channels = [channel for channel in channels if only in {None, channel.endpoint}]
    if not channels:
        return []
    vault = Vault(settings.data)
    async with senders_alone(settings, database) as senders:
        tested = await rehearse(
            channels,
            senders,
            sentinel=sentinel.name,
            now=SystemClock().now(),
            patience=patience,
            address_of=lambda stored: database.read(address_of, vault, stored),
            worded=sentinel,
        )
    accepted = [channel.endpoint for channel, one in zip(channels, tested, strict=True) if not one.reason]
    if database.read(_list_failing, accepted):
        database.write(_resume_sending, accepted, SystemClock().now())
    return tested


def _list_failing(c: Connection, accepted: Sequence[tuple[str, str]]) -> list[int]:
    """Return the endpoints among these that are switched off or whose last message failed."""
    rows = [endpoints.get(c, id_) for id_ in endpoints.ids(c, accepted).values()]
    return [row.id for row in rows if row is not None and row.is_failing]


def _resume_sending(c: Connection, accepted: Sequence[tuple[str, str]], now: Instant) -> None:
    """Let endpoints that accept messages again get those that wait for them."""
    for id_ in _list_failing(c, accepted):
        endpoints.renew(c, id_)
        deliveries.wake(c, [(id_, now)])
