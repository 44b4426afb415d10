"""The receivers of messages: what each accepted, and what keeps it from more."""

from __future__ import annotations

import statistics
from typing import TYPE_CHECKING, Literal

from tidings.clock import SECOND
from tidings.model.watch.notifying import secret_of
from tidings.notification.addresses import mask_address
from tidings.record import dataclass
from tidings.service.health.intents import list_notifying
from tidings.service.show.records import rfc3339
from tidings.storage.watches import endpoints, sentinels
from tidings.storage.watches.endpoints import MessageCounts

if TYPE_CHECKING:
    from tidings.model.interval import Duration
    from tidings.service.show.records import Record
    from tidings.storage.db.connection import Connection
    from tidings.storage.watches.endpoints import EndpointRow
    from tidings.storage.watches.sentinels import SentinelRow


def name_receiver(kind: str, address: str) -> str:
    """Return the address of a receiver without anything secret; empty for one without an
    address.
    """
    return secret_of(address) or mask_address(kind, address)


@dataclass(frozen=True, slots=True)
class Receiver:
    """A receiver with what became of its messages; `users` are the sentinels that notify it."""

    row: EndpointRow
    counts: MessageCounts
    users: tuple[SentinelRow, ...]

    @property
    def name(self) -> str:
        """Return its name."""
        return name_receiver(self.row.kind, self.row.address)

    @property
    def state(self) -> Literal["on", "failing", "off"]:
        """Return whether it gets messages: `failing` if it did not accept the last one."""
        if not self.row.enabled:
            return "off"
        return "failing" if self.row.is_failing else "on"

    @property
    def median(self) -> Duration | None:
        """Return the median time from the creation of a message to its delivery (µs)."""
        return round(statistics.median(self.counts.times)) if self.counts.times else None

    def record(self) -> Record:
        """Return the receiver as a record."""
        return {
            "record": "receiver",
            "id": self.row.id,
            "channel": self.row.kind,
            "address": mask_address(self.row.kind, self.row.address),
            "state": self.state,
            "failing_since": rfc3339(self.row.failing_since),
            "reason": self.row.reason,
            "delivered": self.counts.delivered,
            "median_seconds": None if self.median is None else self.median / SECOND,
            "last_delivered_at": rfc3339(self.counts.last_at),
            "waiting": self.counts.waiting,
            "dead": self.counts.dead,
            "sentinels": [row.name for row in self.users],
        }


def list_receivers(c: Connection, *, viewer: int | None = None) -> list[Receiver]:
    """Return the receivers of the sentinels that `viewer` sees (None: of all), in the order of
    their numbers, with the messages of these sentinels; those that nobody notifies any more only
    if messages wait.
    """
    notifying = list_notifying(sentinels.listing(c, viewer=viewer, is_brief=True))
    tallies = endpoints.count_messages(c, viewer=viewer)
    found = (
        Receiver(row, tallies.get(row.id, MessageCounts()), tuple(notifying.get((row.kind, row.address), ())))
        for row in endpoints.listing(c)
    )
    return [one for one in found if one.users or one.counts.waiting]
