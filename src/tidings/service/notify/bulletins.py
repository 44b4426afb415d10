"""Bulletins: what concerns the whole service is announced once to each recipient, however many sentinels notify them.

A bulletin is for states in which no page of its own is at fault: this machine's network, clock, disk or database. It waits for no rate,
quiet hours or cap of a Notify clause.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tidings.model.observed.unit import Unit
from tidings.service.notify.news import draft, draft_for
from tidings.service.show.records import bulletin_record
from tidings.service.watch.watchlist import NotifyTarget
from tidings.storage.watches import deliveries, sentinels

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Sequence

    from tidings.model.observed.unit import DeliveryDraft, Event
    from tidings.service.watch.watchlist import Watchlist
    from tidings.storage.db.connection import Connection
    from tidings.storage.watches.sentinels import SentinelRow


class Bulletins:
    """Writes bulletins for the sentinels of a watchlist."""

    def __init__(self, watchlist: Watchlist) -> None:
        self._watchlist = watchlist

    def unit(
        self,
        event: Event,
        *,
        epoch: int,
        concerned: Collection[int] | None = None,
        unread: Iterable[tuple[SentinelRow, Sequence[NotifyTarget]]] = (),
    ) -> Unit:
        """Return what stores an event of the whole service (`records.BULLETINS`) and notifies each recipient of it.

        `concerned` are the sentinels whose recipients are notified; None: of all. `unread` are those whose text makes no sense, with the recipients
        that they had before.

        Args:
            event: The event of the whole service.
            epoch: The poller's epoch.
            concerned: The sentinels whose receivers are notified; None for all.
            unread: Sentinels whose text makes no sense, with the receivers that they had.
        """
        drafts = list(self.drafts(event, concerned=concerned))
        notified = {draft.endpoint_id for draft in drafts}
        for row, targets in unread:
            drafts += [
                draft_for(target, row, [bulletin_record(event)], event.at, events=(0,))
                for target in targets
                if target.endpoint_id not in notified
            ]
            notified.update(target.endpoint_id for target in targets)
        return Unit(at=event.at, epoch=epoch, events=(event,), deliveries=tuple(drafts))

    def drafts(
        self, event: Event, *, place: int = 0, concerned: Collection[int] | None = None
    ) -> Iterator[DeliveryDraft]:
        """Yield a message to each recipient of enabled sentinels; the event is at `place` of the unit that it is written with."""
        record = bulletin_record(event)
        notified: set[int] = set()
        for held in self._watchlist.sentinels.values():
            if held.row.state != "enabled" or (concerned is not None and held.row.id not in concerned):
                continue
            for target in held.error_targets() or held.everybody():
                if target.endpoint_id not in notified:
                    notified.add(target.endpoint_id)
                    yield draft(target, held, [record], event.at, events=(place,))


def recipients_before(
    connection: Connection, sentinel_ids: Iterable[int]
) -> list[tuple[SentinelRow, tuple[NotifyTarget, ...]]]:
    """Return sentinels with the endpoints that each has sent to."""
    return [
        (
            sentinels.get(connection, id_),
            tuple(NotifyTarget(kind, at, scheme) for at, kind, scheme in deliveries.endpoints_of(connection, id_)),
        )
        for id_ in sorted(sentinel_ids)
    ]
