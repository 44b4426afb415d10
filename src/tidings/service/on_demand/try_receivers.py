"""Send a test message to the receivers of a sentinel."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tidings.clock import SystemClock
from tidings.notification.channels import sendable
from tidings.service.notify.rehearse import channels_of, rehearse
from tidings.service.run.senders import senders_alone
from tidings.service.secrets.references import address_of
from tidings.storage.secrets import Vault

if TYPE_CHECKING:
    from tidings.model.interval import Duration
    from tidings.model.watch.sentinel import Sentinel
    from tidings.service.notify.rehearse import Rehearsed
    from tidings.settings import Settings
    from tidings.storage.db.database import Database


async def send_test_message(
    database: Database, sentinel: Sentinel, settings: Settings, *, patience: Duration
) -> list[Rehearsed]:
    """Send a test message to each receiver of a sentinel and return the results; nothing if it
    has none that can be tested.

    Args:
        database: Where the sentinel is stored.
        sentinel: The sentinel.
        settings: The settings in use.
        patience: How long to wait for answers (µs).
    """
    channels = channels_of(sentinel, sendable(settings.notify))
    if not channels:
        return []
    vault = Vault(settings.data)
    async with senders_alone(settings, database) as senders:
        return await rehearse(
            channels,
            senders,
            sentinel=sentinel.name,
            now=SystemClock().now(),
            patience=patience,
            address_of=lambda stored: database.read(address_of, vault, stored),
            worded=sentinel,
        )
