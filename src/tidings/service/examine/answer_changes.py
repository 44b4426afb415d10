"""Changes of a page's status and response headers (sentinels §5.3).

Such a change is not between versions: both numbers are the newest version's, 0 if the page has
none.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Final

from tidings.detection.ask.summary import summary
from tidings.detection.kinds.status import (
    OK,
    evaluate_headers,
    evaluate_states,
    header_names,
    keep_headers,
    state_of,
    watches_state,
)
from tidings.document.text.words import RULES_VERSION
from tidings.model.event_type import EventType
from tidings.model.observed.outcome import SECRET_HEADERS, Fetched
from tidings.model.observed.unit import ChangeRow
from tidings.record import replace
from tidings.service.watch.cursors import standing_still, takes
from tidings.service.watch.subscription_memory import Remembered

if TYPE_CHECKING:
    from tidings.model.observed.change import ChangeSet
    from tidings.model.observed.outcome import Unchanged
    from tidings.model.observed.unit import CursorMove, Event
    from tidings.service.examine.judge import PollResult
    from tidings.service.watch.composite_parts import AskedComparison
    from tidings.service.watch.watchlist import Subscription, WatchedPage
    from tidings.storage.db.instance import DatabaseInstance

STATUS: Final = "status"
"""Stands for the extraction in a change of status, which has no text."""
HEADERS: Final = "headers"
"""Stands for the extraction in a change of headers."""


def watches_headers(page: WatchedPage) -> bool:
    """Return whether a sentinel watches a header of the page. Then requests are unconditional,
    since a 304 need not repeat the headers.
    """
    return any(header_names(sub.owner.sentinel.monitor) for sub in page.subscriptions.values())


def changes_of_status(result: PollResult, events: Sequence[Event], instance: DatabaseInstance) -> tuple[ChangeRow, ...]:
    """Return a change for each subscription to the page's status if `events` say that the status
    changed: into an error, out of it or into another one.
    """
    after = next((event for event in events if event.type in {EventType.PAGE_ERROR, EventType.PAGE_OK}), None)
    if after is None:
        return ()
    before = result.page.state
    old = state_of(before.kind, None) if before.health == "error" else OK
    new = OK if after.type == EventType.PAGE_OK else state_of(after.data["kind"], after.data.get("status"))
    return tuple(_changes(result, old, new, instance))


def _changes(result: PollResult, old: str, new: str, instance: DatabaseInstance) -> Iterator[ChangeRow]:
    for sub in result.page.subscriptions.values():
        for asked in sub.asked if watches_state(sub.owner.sentinel.monitor) else ():
            if found := evaluate_states(asked.expression, old, new):
                yield _row(result, sub, found, instance, asked=asked, of=STATUS)


def changes_of_headers(
    result: PollResult, answer: Unchanged | Fetched, instance: DatabaseInstance
) -> tuple[tuple[ChangeRow, ...], tuple[CursorMove, ...]]:
    """Return the changes of headers in a good answer, and the cursors with the stored headers.

    A subscription's first answer is its baseline.
    """
    rows: list[ChangeRow] = []
    moves: list[CursorMove] = []
    for sub in result.page.subscriptions.values():
        names = header_names(sub.owner.sentinel.monitor)
        if not names or not takes(sub, result.at, result.eager):
            continue
        known = Remembered.of(sub.row.remembered)
        wanted = [name for name in names if name not in SECRET_HEADERS]
        new = keep_headers(wanted, answer.headers, known.headers, whole=isinstance(answer, Fetched))
        if new == dict(known.headers):
            continue
        moves.append(replace(standing_still(sub), remembered=replace(known, headers=new).text))
        for asked in sub.asked:
            if found := evaluate_headers(asked.expression, known.headers, new):
                rows.append(_row(result, sub, found, instance, asked=asked, of=HEADERS))
    return tuple(rows), tuple(moves)


def _row(
    result: PollResult,
    sub: Subscription,
    found: ChangeSet,
    instance: DatabaseInstance,
    *,
    asked: AskedComparison,
    of: str,
) -> ChangeRow:
    """Return a change of an answer; `of` replaces the extraction's name."""
    state, at = result.page.state, result.at
    seq = state.last_seq
    apart = (asked.kind,) if asked.is_part else ()
    named = (instance.id, instance.restore_epoch, sub.row.id, state.page_id, seq, at, RULES_VERSION, of)
    parts = (*named, *apart)
    return ChangeRow(
        id=hashlib.sha256("\x00".join(map(str, parts)).encode()).hexdigest()[:32],
        sentinel_id=sub.row.sentinel_id,
        subscription_id=sub.row.id,
        page_id=state.page_id,
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
        polled_at=at,
        detected_at=at,
    )
