"""States: a page that goes into an error, out of it or into another one is a change to whoever monitors its status (sentinels §5.3)."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from tidings.detection.ask.summary import summary
from tidings.detection.kinds.states import OK, evaluate_states, state_of, watches_state
from tidings.document.canonical import RULES_VERSION
from tidings.model.unit import ChangeRow, Event
from tidings.service.watch.composite_parts import PART

if TYPE_CHECKING:
    from tidings.model.change import ChangeSet
    from tidings.model.unit import Unit
    from tidings.service.watch.composite_parts import Asked
    from tidings.service.watch.watchlist import Subscription, WatchedPage
    from tidings.storage.db.instance import Instance

STATUS = "status"
"""What stands for the extraction in a change of state: no text is counted in it."""


def with_states(unit: Unit, page: WatchedPage, instance: Instance) -> Unit:
    """Return a unit with a change for each subscription that monitors the status of the page, if its events say that it is another now.

    A change of state is between no two versions: both numbers are the newest one's, 0 if the page has none.
    """
    after = next((event for event in unit.events if event.type in {"page.error", "page.ok"}), None)
    if after is None:
        return unit
    before = page.state
    old = state_of(before.kind, None) if before.health == "error" else OK
    new = OK if after.type == "page.ok" else state_of(after.data["kind"], after.data.get("status"))
    return with_rows(unit, tuple(_changes(page, old, new, unit, instance)))


def with_rows(unit: Unit, rows: tuple[ChangeRow, ...]) -> Unit:
    """Return a unit with changes of what a page was answered with, and the event of each."""
    told = tuple(
        Event(
            type=PART if row.quiet else "change.found",
            at=row.detected_at,
            sentinel_id=row.sentinel_id,
            page_id=row.page_id,
            change_id=row.id,
            data={"summary": row.summary},
        )
        for row in rows
    )
    return replace(unit, changes=(*unit.changes, *rows), events=(*unit.events, *told))


def _changes(page: WatchedPage, old: str, new: str, unit: Unit, instance: Instance) -> Iterator[ChangeRow]:
    for sub in page.subscriptions.values():
        for asked in sub.asked if watches_state(sub.owner.sentinel.monitor) else ():
            if found := evaluate_states(asked.expression, old, new):
                yield answered(page, sub, found, unit, instance, asked=asked, of=STATUS)


def answered(
    page: WatchedPage, sub: Subscription, found: ChangeSet, unit: Unit, instance: Instance, *, asked: Asked, of: str
) -> ChangeRow:
    """Return a change of what a page was answered with; `of` says what, in the place of an extraction. It is between no two versions."""
    seq = page.state.last_seq
    apart = (asked.kind,) if asked.is_part else ()
    named = (instance.id, instance.restore_epoch, sub.row.id, page.state.page_id, seq, unit.at, RULES_VERSION, of)
    parts = (*named, *apart)
    return ChangeRow(
        id=hashlib.sha256("\x00".join(map(str, parts)).encode()).hexdigest()[:32],
        sentinel_id=sub.row.sentinel_id,
        subscription_id=sub.row.id,
        page_id=page.state.page_id,
        revision=sub.row.revision,
        kind=asked.kind,
        from_seq=seq,
        to_seq=seq,
        rules_version=RULES_VERSION,
        extraction=of,
        found=found,
        summary=summary(found),
        quiet=asked.is_part,
        modified_at=None,
        polled_at=unit.at,
        detected_at=unit.at,
    )
