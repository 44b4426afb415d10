"""The stored state of the watched pages and their sentinels, read once for all health checks."""

from __future__ import annotations

import re
from functools import cached_property
from typing import TYPE_CHECKING

from tidings.record import dataclass
from tidings.storage.observed import pages
from tidings.storage.watches import sentinels, subscriptions

if TYPE_CHECKING:
    from tidings.model.interval import Instant
    from tidings.model.observed.page import PageIdentity, PageState
    from tidings.model.watch.sentinel import Sentinel
    from tidings.settings import Settings
    from tidings.storage.db.connection import Connection
    from tidings.storage.watches.sentinels import SentinelRow
    from tidings.storage.watches.subscriptions import SubscriptionRow


@dataclass(frozen=True, kw_only=True)
class HealthReading:
    """One consistent state of the database. `now` is wall time in µs, `is_polled` whether a process
    polls now.
    """

    c: Connection
    settings: Settings
    now: Instant
    is_polled: bool

    @cached_property
    def population(self) -> list[tuple[PageIdentity, PageState]]:
        """Return the watched pages."""
        return pages.population(self.c)

    @cached_property
    def ailing(self) -> list[tuple[PageIdentity, PageState]]:
        """Return the watched pages with something to report."""
        return pages.ailing(self.c)

    @cached_property
    def identities(self) -> dict[int, PageIdentity]:
        """Return the identity of each watched page."""
        return {state.page_id: identity for identity, state in self.population}

    @cached_property
    def owners(self) -> dict[int, SentinelRow]:
        """Return the sentinels that have not ended."""
        return {row.id: row for row in sentinels.listing(self.c)}

    @cached_property
    def subscriptions(self) -> list[SubscriptionRow]:
        """Return the active subscriptions of these sentinels."""
        return [sub for sub in subscriptions.listing(self.c, active=True) if sub.sentinel_id in self.owners]

    @cached_property
    def remarkable(self) -> list[SubscriptionRow]:
        """Return the active subscriptions of these sentinels with something to report."""
        found = subscriptions.remarkable(self.c)
        return [sub for sub in found if sub.sentinel_id in self.owners]

    @cached_property
    def _names(self) -> dict[int, tuple[str, ...]]:
        found: dict[int, dict[str, None]] = {}
        for sub in self.subscriptions:
            found.setdefault(sub.page_id, {})[self.owners[sub.sentinel_id].name] = None
        return {page_id: tuple(names) for page_id, names in found.items()}

    def names(self, page_id: int) -> tuple[str, ...]:
        """Return the names of the sentinels that watch a page."""
        return self._names.get(page_id, ())

    @cached_property
    def _meanings(self) -> dict[str, Sentinel | None]:
        return {}

    def timing(self, owner: SentinelRow) -> Sentinel | None:
        """Return a sentinel with the same timing as this one; None if its text has no timing or
        cannot be read.

        Sentinels that differ only in name and first page are parsed once: ten thousand alike take
        no longer than one.
        """
        clauses = owner.text.partition("\n")[2] or owner.text
        if _OF_TIMES.search(clauses) is None:
            return None
        if clauses not in self._meanings:
            from tidings.service.health.intents import (
                meaning_of,
            )  # it loads the grammar, and most sentinels leave times to the policy

            self._meanings[clauses] = meaning_of(owner)
        return self._meanings[clauses]


_OF_TIMES = re.compile(r"\b(Fetch|During|Then)\b")
"""Occurs in stored texts that say when pages are polled."""
