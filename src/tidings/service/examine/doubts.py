"""Doubts: a change on a page that is hardly known yet waits for a second poll, so that noise is not
notified before it is learned.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tidings.detection.kinds.interests import interests_of, uses_masks
from tidings.model.watch.sentinel import FetchOnDemand
from tidings.record import replace
from tidings.service.watch.cursors import is_unconfirmed, standing_still, wait_for_second
from tidings.service.watch.subscription_memory import PendingChange, Remembered

if TYPE_CHECKING:
    from collections.abc import Collection

    from tidings.model.interval import Instant
    from tidings.model.observed.unit import CursorMove
    from tidings.service.examine.detect import Compared
    from tidings.service.examine.to_compare import PolledVersion
    from tidings.service.watch.watchlist import Subscription

FIRST_POLLS: Final = 5
"""For this many polls after a page's baseline a change waits for a confirming poll."""


def waiting(compared: Compared, polled: PolledVersion, eager: Collection[int]) -> Compared:
    """Return the findings without the changes that wait for a second poll; the cursors of these
    subscriptions do not move until then.

    The second poll compares with the same version as the first: what is back is no change,
    everything else is notified. The sentinels `eager` requested the poll and do not wait.
    """
    waits = find_waiting(compared, polled, eager)
    pending_ids = {row.id for row in compared.changes if row.subscription_id in waits}
    return replace(
        compared,
        cursors=tuple(
            wait_for_second(waits[move.subscription_id], polled.at) if move.subscription_id in waits else move
            for move in compared.cursors
        ),
        changes=tuple(row for row in compared.changes if row.id not in pending_ids),
        events=tuple(event for event in compared.events if event.change_id not in pending_ids),
    )


def find_waiting(compared: Compared, polled: PolledVersion, eager: Collection[int]) -> dict[int, Subscription]:
    """Return the subscriptions, by id, whose changes may wait for a second poll; see `waiting`."""
    news = {row.subscription_id for row in compared.changes if not row.quiet}
    reported = {event.sentinel_id for event in compared.events if not event.change_id}
    return {
        sub.row.id: sub
        for sub in polled.takers
        if sub.row.id in news and sub.row.sentinel_id not in {*eager, *reported} and may_wait(sub)
    }


def hold_back(compared: Compared, polled: PolledVersion) -> Compared:
    """Return the findings without changes that must persist before they are reported (`for at
    least`).

    The cursors of these subscriptions do not move, so that the next poll compares with the same
    version; a change that has gone by then is dropped.
    """
    news = {row.subscription_id for row in compared.changes if not row.noise}
    waits: dict[int, PendingChange] = {}
    moves: list[CursorMove] = []
    subs = {sub.row.id: sub for sub in polled.takers if sub.owner.sentinel.lasting is not None or sub.holds_changes}
    if not subs:
        return compared
    for move in compared.cursors:
        sub = subs.get(move.subscription_id)
        if sub is None:
            moves.append(move)
            continue
        before = Remembered.of(sub.row.remembered)
        pending = _measure_pending(sub, before.pending, polled.at) if sub.row.id in news else None
        if pending is not None:
            waits[sub.row.id] = pending
            moves.append(_waiting(sub, move, pending))
        else:
            known = before if move.remembered is None else Remembered.of(move.remembered)
            moves.append(replace(move, remembered=replace(known, pending=None).text))
    gone = {row.id for row in compared.changes if row.subscription_id in waits and not row.noise}
    return replace(
        compared,
        cursors=tuple(moves),
        changes=tuple(row for row in compared.changes if row.id not in gone),
        events=tuple(event for event in compared.events if event.change_id not in gone),
    )


def _waiting(sub: Subscription, move: CursorMove, pending: PendingChange) -> CursorMove:
    """Return the cursor of a subscription whose change is held back; a first version still becomes
    its baseline.
    """
    move = move if pending.is_first else standing_still(sub)
    known = Remembered.of(sub.row.remembered if move.remembered is None else move.remembered)
    return replace(move, remembered=replace(known, pending=pending).text)


def _measure_pending(sub: Subscription, before: PendingChange | None, at: Instant) -> PendingChange | None:
    """Return how long a change found by a poll at `at` has persisted; None once it is to be
    reported.
    """
    lasting = sub.owner.sentinel.lasting
    if lasting is None:
        return None
    now = PendingChange(at, is_first=not sub.row.taken) if before is None else replace(before, checks=before.checks + 1)
    is_news = now.checks >= lasting.checks if lasting.checks else at - now.since >= lasting.duration
    return None if is_news else now


def may_wait(sub: Subscription) -> bool:
    """Return whether changes of a subscription may wait: it takes whole pages, names no value, and
    has not waited already.
    """
    if (
        is_unconfirmed(sub)
        or sub.missing is not None
        or isinstance(sub.fetch, FetchOnDemand)
        or sub.owner.sentinel.then
        or sub.owner.sentinel.lasting is not None
    ):
        return False
    return not any(asked.is_part for asked in sub.asked) and all(
        uses_masks(interest) and interest.kind != "items"
        for asked in sub.asked
        for interest in interests_of(asked.expression)
    )
