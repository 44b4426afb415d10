"""What sentinels ask for, as far as their health depends on it. Importing this loads the grammar,
so commands import it only where needed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tidings.errors import StoreDamagedError
from tidings.service.sources import outside_events
from tidings.service.watch.composite_parts import composite_parts_of
from tidings.service.watch.subscription_memory import list_healed
from tidings.service.watch.watchlist import list_channels, meaning

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from tidings.model.watch.sentinel import Sentinel
    from tidings.storage.db.connection import Connection
    from tidings.storage.watches.sentinels import SentinelRow
    from tidings.storage.watches.subscriptions import SubscriptionRow


def meaning_of(owner: SentinelRow) -> Sentinel | None:
    """Parse a sentinel's text, None if it cannot be read."""
    try:
        return meaning(owner.text)
    except StoreDamagedError:
        return None


def is_only_shown(sentinel: Sentinel, label: str) -> bool:
    """Return whether a page is polled again only when Then needs it."""
    return bool(sentinel.then) and label in composite_parts_of(sentinel).shown


def notifying(owners: Iterable[SentinelRow], kind: str, address: str) -> tuple[str, ...]:
    """Return the names of the sentinels that notify an endpoint."""
    meant = ((owner.name, meaning_of(owner)) for owner in owners)
    return tuple(
        name
        for name, sentinel in meant
        if sentinel is not None and any(c.endpoint == (kind, address) for c in list_channels(sentinel))
    )


def list_mailing(owners: Iterable[SentinelRow]) -> tuple[str, ...]:
    """Return the names of the sentinels that notify by e-mail."""
    meant = ((owner.name, meaning_of(owner)) for owner in owners)
    return tuple(n for n, s in meant if s is not None and any(c.kind == "email" for c in list_channels(s)))


def describe_healed(owner: SentinelRow, sub: SubscriptionRow) -> list[tuple[str, str]]:
    """Return the selectors that no longer find anything, each with its replacement, in words of the
    language.
    """
    sentinel = meaning_of(owner)
    parts = [] if sentinel is None else list_healed(sub.remembered, sentinel)
    return [(part["selector"], part["stand_in"]) for part in parts]


def waiting(connection: Connection, viewer: int | None) -> Mapping[str, list[str]]:
    """Return the names of the sentinels that wait for each external event, as far as an owner sees
    them.
    """
    return outside_events.names(connection, viewer=viewer)
