"""Reports: one change for several pages, made of the changes found on each (sentinels §4.5, 001
§2.1).
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from tidings.document.text.words import RULES_VERSION
from tidings.language import expressions
from tidings.model.event_type import EventType
from tidings.model.observed.change import ChangeSet, Composite, PagePart, Verdict
from tidings.model.observed.unit import ChangeRow, DeliveryDraft, Event, SentinelMove
from tidings.record import dataclass, replace
from tidings.service.behaviour import NO_EFFECTS, Effects
from tidings.service.notify.news import draft
from tidings.service.show.records import COMPOSITE, change_record
from tidings.service.watch.lifespan import REPORTED
from tidings.storage.observed import pages
from tidings.storage.watches import changes, subscriptions

if TYPE_CHECKING:
    from tidings.model.interval import Instant
    from tidings.service.watch.watchlist import WatchedSentinel
    from tidings.storage.db.connection import Connection
    from tidings.storage.db.instance import DatabaseInstance
    from tidings.storage.watches.changes import StoredChange
    from tidings.storage.watches.subscriptions import SubscriptionRow
    from tidings.storage.write.store import Store


@dataclass(frozen=True, slots=True, kw_only=True)
class JointReport:
    """A joint report: the ids of its changes, what other pages showed, how it ended, and `cause`,
    which distinguishes a sentinel's reports of the same changes.
    """

    changes: Sequence[str]
    others: Sequence[PagePart] = ()
    verdict: Verdict = "complete"
    reason: str = ""
    cause: str = ""


class Reporter:
    """Builds reports. `instance` makes ids unique across installations."""

    def __init__(self, store: Store, instance: DatabaseInstance) -> None:
        self._store = store
        self._instance = instance

    async def effects(self, watched: WatchedSentinel, report: JointReport, *, at: Instant) -> Effects:
        """Return the change, its event and the messages written with it; empty if its changes no
        longer exist.
        """
        found, subs = await self._store.read(_evidence, watched.row.id, report.changes)
        if not found:
            return NO_EFFECTS
        row = self._row(watched, report, found, subs, at)
        event = Event(
            type=EventType.CHANGE_FOUND,
            at=at,
            sentinel_id=watched.row.id,
            page_id=row.page_id,
            change_id=row.id,
            data={"summary": row.summary},
        )
        ends = watched.ends_with_report and report.verdict != "undecided"
        moves = (SentinelMove(sentinel_id=watched.row.id, state="ended", at=at, reason=REPORTED, before="enabled"),)
        return Effects(
            events=(event,),
            changes=(row,),
            deliveries=tuple(_drafts(watched, row, found[-1].url, at)),
            sentinels=moves if ends else (),
            texts=((watched.row.id, watched.row.revision),),
        )

    def _row(
        self,
        watched: WatchedSentinel,
        report: JointReport,
        found: Sequence[StoredChange],
        subs: Mapping[int, SubscriptionRow],
        at: Instant,
    ) -> ChangeRow:
        latest = found[-1].row
        order = {page.name or "": place for place, page in enumerate(watched.sentinel.pages)}
        own = [_part(stored, subs[stored.row.subscription_id].label) for stored in found]
        parts = tuple(sorted((*own, *report.others), key=lambda part: order.get(part.name, len(order))))
        named = (
            self._instance.id,
            self._instance.restore_epoch,
            watched.row.id,
            COMPOSITE,
            report.cause,
            *report.changes,
        )
        return replace(
            latest,
            id=hashlib.sha256("\x00".join(map(str, named)).encode()).hexdigest()[:32],
            kind=expressions.to_text(watched.sentinel.monitor),
            rules_version=RULES_VERSION,
            found=_texts(part.found for part in parts),
            summary=_summary(report, parts),
            quiet=False,
            modified_at=max((p.modified_at for p in parts if p.modified_at is not None), default=None),
            polled_at=max(part.at for part in parts if part.at is not None),
            detected_at=at,
            composite=Composite(verdict=report.verdict, reason=report.reason, parts=parts),
        )


def _evidence(
    connection: Connection, sentinel_id: int, ids: Sequence[str]
) -> tuple[list[StoredChange], dict[int, SubscriptionRow]]:
    """Return the changes with these ids, the latest last, and the sentinel's subscriptions
    by id.
    """
    found = [stored for i in dict.fromkeys(ids) if (stored := changes.get(connection, i)) is not None]
    found.sort(key=lambda stored: (stored.row.polled_at, stored.event_seq or 0))
    subs = {sub.id: sub for sub in subscriptions.listing(connection, sentinel_id=sentinel_id)}
    return found, subs


def list_named_pages(connection: Connection, sentinel_id: int) -> dict[str, list[tuple[int, str]]]:
    """Return (id, address as given) of a sentinel's pages by their names in it."""
    found: dict[str, list[tuple[int, str]]] = {}
    for sub in subscriptions.listing(connection, sentinel_id=sentinel_id):
        found.setdefault(sub.label, []).append((sub.page_id, pages.identity(connection, sub.page_id).given))
    return found


def _part(stored: StoredChange, name: str) -> PagePart:
    row = stored.row
    return PagePart(
        page_id=row.page_id,
        url=stored.url,
        name=name,
        status="changed",
        at=row.polled_at,
        change_id=row.id,
        from_seq=row.from_seq,
        to_seq=row.to_seq,
        found=row.found,
        summary=row.summary,
        modified_at=row.modified_at,
    )


def _texts(found: Iterable[ChangeSet]) -> ChangeSet:
    """Return the texts and counts of all; token numbers of different pages are unrelated."""
    all_ = tuple(found)
    return ChangeSet(
        kinds=tuple(dict.fromkeys(kind for one in all_ for kind in one.kinds)),
        inserted=tuple(text for one in all_ for text in one.inserted),
        deleted=tuple(text for one in all_ for text in one.deleted),
        updated=tuple(pair for one in all_ for pair in one.updated),
        moved=tuple(text for one in all_ for text in one.moved),
        objects=tuple(count for one in all_ for count in one.objects),
        places=tuple(place for one in all_ for place in one.places),
    )


def _summary(report: JointReport, parts: Sequence[PagePart]) -> str:
    parts_text = "; ".join(f"{part.name or part.url}: {part.summary}" for part in parts)
    if report.verdict == "complete":
        return parts_text
    return f"{report.verdict}: {report.reason}; {parts_text}" if report.reason else f"{report.verdict}: {parts_text}"


def _drafts(
    watched: WatchedSentinel, row: ChangeRow, url: str, at: Instant, *, place: int = 0
) -> Iterable[DeliveryDraft]:
    record = change_record(row, sentinel=watched.row.name, url=url)
    for target in watched.at_once():
        yield draft(target, watched, [record], at, events=(place,))


def notify_anew(connection: Connection, watched: WatchedSentinel, effects: Effects) -> Effects:
    """Return effects with the messages about their reports that a newer text asks for."""
    places = {event.change_id: place for place, event in enumerate(effects.events) if event.change_id is not None}
    made = [draft for draft in effects.deliveries if not draft.events]  # of events that were stored before
    for row in effects.changes:
        place = places[row.id]
        url = pages.identity(connection, row.page_id).given
        made += _drafts(watched, row, url, effects.events[place].at, place=place)
    texts = ((watched.row.id, watched.row.revision),) if effects.changes else ()
    return replace(effects, deliveries=tuple(made), texts=texts)
