"""Signals accepted by a process that does not poll: they are stored, and the polling process takes
them over at its next step (`Signals.collect`).
"""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING

from tidings.scheduling import index
from tidings.service.sources.signals import (
    API,
    KEYS_FOR,
    NamedPages,
    TakenSignal,
    check_key,
    find_addresses,
)
from tidings.service.watch.page_schedule import is_on_change
from tidings.service.watch.watchlist import load_some_pages
from tidings.storage.observed import hints, pages

if TYPE_CHECKING:
    from tidings.clock import Clock
    from tidings.model.interval import Instant
    from tidings.storage.db.connection import Connection
    from tidings.storage.write.store import Store


class LeftSignals:
    """Accepts signals for the polling process.

    Args:
        store: The database.
        clock: The clock.
        reads: The columns that the policy reads.
        zone: The default time zone of sentinels.
    """

    def __init__(self, store: Store, clock: Clock, *, reads: Collection[str], zone: str) -> None:
        self._store = store
        self._clock = clock
        self._are_heeded = frozenset(reads) >= index.HINTS
        self._zone = zone

    async def find(self, urls: Collection[str], page_ids: Collection[int]) -> NamedPages:
        """Return the watched pages with each of these addresses, and those of these pages that are
        watched.
        """
        return await self._store.read(self._find, urls, page_ids)

    def _find(self, c: Connection, urls: Collection[str], page_ids: Collection[int]) -> NamedPages:
        known = dict(pages.list_addresses(c))
        found = find_addresses(urls, known.items())
        named = {*(i for ids in found.values() for i in ids), *(i for i in page_ids if i in known)}
        loaded = load_some_pages(c, named, zone=self._zone) if self._are_heeded else {}
        return NamedPages(found, named, {page_id for page_id, page in loaded.items() if is_on_change(page)})

    async def take(
        self, page_ids: Collection[int], *, kind: str = API, at: Instant | None = None, key: str = ""
    ) -> TakenSignal:
        """Accept a hint of this kind about watched pages. Durable on return; see `Signals.take`.

        Args:
            page_ids: The pages.
            kind: The kind of hint.
            at: The instant of the change (µs); None for now.
            key: Its idempotency key, empty for none.
        """
        check_key(key)
        now = self._clock.now()
        return await self._store.write(
            _leave, list(dict.fromkeys(page_ids)), kind, key, at=now if at is None else min(at, now), now=now
        )


def _leave(c: Connection, page_ids: list[int], kind: str, key: str, *, at: Instant, now: Instant) -> TakenSignal:
    if key and (before := hints.find_taken(c, key)) is not None:
        return TakenSignal(before, is_new=False)
    hints.leave(c, page_ids, kind, at=at, now=now)
    if key:
        hints.note_key(c, key, pages=len(page_ids), at=now, forget_before=now - KEYS_FOR)
    return TakenSignal(len(page_ids), is_new=True)
