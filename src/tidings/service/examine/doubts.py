"""Doubts: a change that is found on a page which is hardly known yet waits for a second poll, so that noise is not notified before it is learned."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from tidings.detection.kinds.interests import interests_of, looks_through
from tidings.model.watch.sentinel import FetchOnDemand
from tidings.service.watch.cursors import is_unconfirmed, unconfirmed

if TYPE_CHECKING:
    from collections.abc import Collection

    from tidings.service.examine.detect import Compared
    from tidings.service.examine.look import Look
    from tidings.service.watch.watchlist import Subscription

FIRST_POLLS: Final = 5
"""In so many polls after a page's baseline a change waits for a second poll that confirms it."""


def waiting(compared: Compared, look: Look, eager: Collection[int]) -> Compared:
    """Return what was found without the changes that wait for a second poll; the cursors of these subscriptions stand still until then.

    The second poll compares with what the first one was compared with: what is back as it was is no change, all else is notified. The sentinels
    `eager` asked for the poll and do not wait.
    """
    news = {row.subscription_id for row in compared.changes if not row.quiet}
    said = {event.sentinel_id for event in compared.events if not event.change_id}
    waits = {
        sub.row.id: sub
        for sub in look.takers
        if sub.row.id in news and sub.row.sentinel_id not in {*eager, *said} and may_wait(sub)
    }
    held = {row.id for row in compared.changes if row.subscription_id in waits}
    return replace(
        compared,
        cursors=tuple(
            unconfirmed(waits[move.subscription_id], look.at) if move.subscription_id in waits else move
            for move in compared.cursors
        ),
        changes=tuple(row for row in compared.changes if row.id not in held),
        events=tuple(event for event in compared.events if event.change_id not in held),
    )


def may_wait(sub: Subscription) -> bool:
    """Return whether changes of a subscription may wait: it takes what it is shown as a whole, names no value, and has not waited already."""
    if (
        is_unconfirmed(sub)
        or sub.missing is not None
        or isinstance(sub.fetch, FetchOnDemand)
        or sub.owner.sentinel.then
    ):
        return False
    return not any(asked.is_part for asked in sub.asked) and all(
        looks_through(interest) and interest.kind != "items"
        for asked in sub.asked
        for interest in interests_of(asked.expression)
    )
