"""What sentinels ask for, as far as their health depends on it. Importing this loads the grammar,
so commands import it only where needed.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

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


def list_notifying(owners: Iterable[SentinelRow]) -> dict[tuple[str, str], list[SentinelRow]]:
    """Return the sentinels that notify each endpoint (kind, address).

    Sentinels whose lines about receivers are alike are parsed once: ten thousand alike take no
    longer than one.
    """
    known: dict[tuple[str, ...], tuple[tuple[str, str], ...]] = {}
    found: dict[tuple[str, str], list[SentinelRow]] = {}
    for owner in owners:
        lines = tuple(_OF_RECEIVERS.findall(owner.text))
        if lines not in known and (sentinel := meaning_of(owner)) is not None:
            known[lines] = tuple(dict.fromkeys(channel.endpoint for channel in list_channels(sentinel)))
        for endpoint in known.get(lines, ()):
            found.setdefault(endpoint, []).append(owner)
    return found


_OF_RECEIVERS: Final = re.compile(r"^.*\b(?:Notify|Errors)\b.*$", re.MULTILINE)
"""A line of a stored text that may name receivers: a clause stands on one."""


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
