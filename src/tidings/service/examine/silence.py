"""Silence: notify users of what masks leave out (0044).

If masks left out everything a sentinel would have reported in its last ten polls, its owner is
notified, once for the masks and at most once a day per recipient. Masked content that then stays
unchanged has settled: it is reported once.
"""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Final

from tidings.clock import DAY
from tidings.detection.ask.summary import summary
from tidings.model.observed.change import ChangeSet
from tidings.model.observed.unit import Event
from tidings.presentation.writing import cut_text
from tidings.record import replace
from tidings.service.examine.detect import event_of
from tidings.service.show.notices import SILENCED
from tidings.service.watch.noise import read
from tidings.storage.observed.estimates import LEARNED
from tidings.storage.watches import changes, events

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence

    from tidings.detection.noise.memory import Memory
    from tidings.model.interval import Instant
    from tidings.model.observed.change import Masked
    from tidings.model.observed.unit import ChangeRow, Unit
    from tidings.service.examine.findings import Findings
    from tidings.service.watch.watchlist import Subscription, WatchedPage
    from tidings.storage.db.connection import Connection
    from tidings.storage.write.store import Store

MOST_WORDS: Final = 5
"""Most places whose words are named to the owner."""
LATEST: Final = 60
"""Most recent changes of a page searched for a settled one."""
NEVER: Final = 0
LONGEST: Final = 160
"""Characters stored of an excerpt of a page that differs at each poll."""


class Silence:
    """Writes the notices, and knows when masked content will have settled."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._settles: dict[int, int] = {}
        """poll number of a page at which masked content will have settled if unchanged until then;
        0: none
        """

    async def settles(self, page: WatchedPage) -> bool:
        """Return whether something will have settled at this poll, which found the page
        unchanged.
        """
        page_id = page.state.page_id
        if page_id not in self._settles:
            self._settles[page_id] = (await self._store.read(read, page_id)).memory.settles_at
        return NEVER < self._settles[page_id] <= page.state.polls + 1

    def note(self, unit: Unit) -> None:
        """Record a committed unit: what is known of a page's noise is read again when needed."""
        for each in unit.estimates:
            if each.name == LEARNED:
                self._settles.pop(each.page_id, None)

    async def review(self, findings: Findings) -> Findings:
        """Return findings with the notices of silence and with what has settled. If others decide
        on such notices before these are stored, it is to be called again.
        """
        page, compared, memory, at = findings.turn.page, findings.compared, findings.memory, findings.turn.at
        if memory is None:
            return findings
        events: list[Event] = []
        notified: dict[int, Instant] = {}
        last: int | None = None
        for found in compared.examination.found if compared.examination is not None else ():
            if not found.silenced or (sub := page.subscriptions.get(found.key)) is None:
                continue
            if last is None:
                notified, last = await self._store.read(_find_last_notified, at - DAY)
            if (event := _notice(sub, found.silenced, notified, at)) is not None:
                events.append(event)
                notified |= dict.fromkeys(event.data["endpoints"], at)
                masks = {*memory.reported.get(found.key, ()), *event.data["masks"]}
                memory = replace(memory, reported={**memory.reported, found.key: tuple(sorted(masks))})
        rows: Sequence[ChangeRow] = ()
        if memory.settled:
            rows = await self._store.read(find_settled, page, memory.settled, at)
        compared = replace(
            compared,
            changes=(*compared.changes, *rows),
            events=(*compared.events, *map(event_of, rows), *events),
        )
        decided = ((SILENCED, last),) if events and last is not None else ()
        return replace(findings, compared=compared, memory=memory, decided=decided)


def _notice(sub: Subscription, masked: Sequence[Masked], notified: Mapping[int, Instant], at: Instant) -> Event | None:
    """Return the event to notify the owner with, None if a recipient was notified of silence less
    than a day ago.
    """
    owner = sub.owner
    targets = owner.error_targets() if owner.sentinel.errors else owner.everybody()
    endpoints = [target.endpoint_id for target in targets]
    if any(at - notified.get(endpoint, at - DAY) < DAY for endpoint in endpoints):
        return None
    return Event(
        type=SILENCED,
        at=at,
        sentinel_id=sub.row.sentinel_id,
        page_id=sub.row.page_id,
        data={
            "masks": list(dict.fromkeys(one.mask for one in masked)),
            "words": [[one.old, one.new] for one in masked[:MOST_WORDS]],
            "endpoints": endpoints,
        },
    )


def _find_last_notified(connection: Connection, since: Instant) -> tuple[dict[int, Instant], int]:
    """Return when recipients were notified last, and the number of the newest event."""
    found = {
        endpoint: event.at
        for event in events.since(connection, SILENCED, since)
        for endpoint in event.data["endpoints"]
    }
    return found, events.last_seq(connection)


def find_settled(connection: Connection, page: WatchedPage, masks: Collection[str], at: Instant) -> list[ChangeRow]:
    """Return the changes that masks left out and that have settled since, the newest of each
    subscription and mask.

    Args:
        page: The page.
        masks: The masks that left out something that has settled.
        at: When the poll ended (µs).
    """
    switched_off = read(connection, page.state.page_id).switched_off
    wanted = {
        (sub_id, mask)
        for sub_id, sub in page.subscriptions.items()
        if not any(asked.is_part for asked in sub.asked)
        for mask in masks
        if mask not in switched_off
    }
    rows: list[ChangeRow] = []
    for stored in changes.listing(connection, page_id=page.state.page_id, quiet=True, limit=LATEST):
        row = stored.row
        for mask in dict.fromkeys(one.mask for one in row.found.masked):
            if (row.subscription_id, mask) in wanted:
                wanted.discard((row.subscription_id, mask))
                rows.append(_settle(row, mask, at))
    return rows


def _settle(row: ChangeRow, mask: str, at: Instant) -> ChangeRow:
    found = _subtract_mask(row.found, [one for one in row.found.masked if one.mask == mask])
    return replace(
        row,
        id=hashlib.sha256(f"{row.id}\x00{mask}\x00{at}".encode()).hexdigest()[:32],
        found=found,
        summary=f"{summary(found)} (ignored as noise at first, but unchanged since then)",
        quiet=False,
        noise=False,
        polled_at=at,
        detected_at=at,
    )


def _subtract_mask(whole: ChangeSet, masked: Iterable[Masked]) -> ChangeSet:
    """Return what a mask left out of a change, as a change."""
    masked = list(masked)
    return replace(
        whole,
        kinds=("words",) if whole.edits else whole.kinds,
        inserted=tuple(one.new for one in masked if not one.old),
        deleted=tuple(one.old for one in masked if not one.new),
        updated=tuple((one.old, one.new) for one in masked if one.old and one.new),
        moved=(),
        objects=() if whole.edits else whole.objects,
        places=(),
        frames=(),
        masked=(),
    )


def evidence(connection: Connection, page_id: int, memory: Memory | None) -> dict[str, str]:
    """Return what a page showed before and shows now, and the mask that would leave it out, "" if
    none would.

    Prefers a place known to differ at nearly every poll that can be masked; else the news in the
    newest change.
    """
    if memory is not None and memory.offers:
        thing = max(memory.offers, key=lambda one: one.changed)
        return {"showed": thing.examples[0], "shows": thing.examples[1], "mask": thing.id}
    old = new = ""
    for stored in changes.listing(connection, page_id=page_id, limit=1):
        found = stored.row.found
        old, new = (*found.updated, (next(iter(found.deleted), ""), next(iter(found.inserted), "")))[0]
    return {"showed": cut_text(old, LONGEST), "shows": cut_text(new, LONGEST), "mask": ""}
