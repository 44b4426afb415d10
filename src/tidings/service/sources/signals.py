"""Signals: accept and store hints that pages may have changed (W-5; contracts §5).

Accepting a signal is one transaction: the pending hints, and the key. Hints change no page, charge
nothing and request no poll: the policy gets them as extra age of their pages (`hints`). What polls
teach of sources is stored every few seconds, like all that is learned: a crash loses no more than
that, and repeats one poll.

A process that does not poll only stores the signals that it accepts (`LeftSignals`); the polling
process takes them over at its next step (`Signals.collect`).
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection, Coroutine, Iterable, Mapping
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from tidings.clock import DAY, SECOND
from tidings.errors import AddressError, StoreError, UsageError
from tidings.fetching import address
from tidings.model.observed.unit import Estimate
from tidings.record import dataclass
from tidings.service.watch.hints import DATES, UPDATED, Drained, HintTracker
from tidings.service.watch.page_schedule import GOOD, is_on_change
from tidings.service.watch.shards import ALL
from tidings.service.watch.watchlist import load_some_pages
from tidings.storage.db import lock
from tidings.storage.observed import estimates, hints, pages

if TYPE_CHECKING:
    from tidings.clock import Clock
    from tidings.detection.job.contract import Examination
    from tidings.model.interval import Instant
    from tidings.model.observed.unit import Unit
    from tidings.service.watch.shards import Shards
    from tidings.service.watch.watchlist import WatchedPage
    from tidings.storage.db.connection import Connection
    from tidings.storage.observed.hints import HintRow
    from tidings.storage.write.store import Store

API: Final = "api"
"""the default kind of hints"""
LONGEST_KEY: Final = 200
KEYS_FOR: Final = 30 * DAY
"""how long accepted keys are stored"""
COLLECT_EVERY: Final = SECOND
"""Least time between two searches for hints that other processes have stored."""
MOST_KINDS: Final = 16
"""most kinds of hints per page; further kinds count as `api`"""


def estimates_of(page_id: int, seen: Examination | None, at: Instant) -> tuple[Estimate, ...]:
    """Return the estimate to store of the dates of a new version."""
    if seen is None or seen.updated is None:
        return ()
    return (Estimate(page_id=page_id, name=UPDATED, state={"at": seen.updated}, at=at),)


def find_updated(unit: Unit) -> Instant | None:
    """Return the newest date of a new version's entries, None without one."""
    return next((each.state["at"] for each in unit.estimates if each.name == UPDATED), None)


@dataclass(frozen=True, slots=True)
class TakenSignal:
    """An accepted signal: how many watched pages it names; `is_new` is False if its key was
    accepted before.
    """

    pages: int
    is_new: bool


def check_key(key: str) -> None:
    """Raise `UsageError` for an idempotency key that is too long."""
    if len(key) > LONGEST_KEY:
        message = f"an idempotency key has at most {LONGEST_KEY} characters"
        raise UsageError(message)


class NamedPages(NamedTuple):
    """The watched pages that a signal names: by address, all, and those for which hints count."""

    by_url: Mapping[str, Collection[int]]
    watched: Collection[int]
    weighed: Collection[int]


def find_addresses(urls: Collection[str], pages: Iterable[tuple[int, str]]) -> dict[str, list[int]]:
    """Return the pages, given as (number, normalised address), with each of these addresses; none
    for an unwatched or invalid one.
    """
    wanted: dict[str, list[str]] = {}
    for url in urls:
        try:
            wanted.setdefault(address.rebuild(url), []).append(url)
        except AddressError:
            continue
    found: dict[str, list[int]] = {url: [] for url in urls}
    for page_id, known in pages:
        for url in wanted.get(known, ()):
            found[url].append(page_id)
    return found


class Signals:
    """Accepts signals and stores them. `pages` is the watchlist's own table, `reads` are the
    columns that the policy reads.

    `on_hint` is called with the named pages, once the signal is durable. Hints about pages of other
    `shards` are left to their planners.
    """

    def __init__(
        self,
        store: Store,
        pages: Mapping[int, WatchedPage],
        clock: Clock,
        *,
        epoch: int,
        reads: Collection[str],
        on_hint: Callable[[Iterable[int]], None],
        shards: Shards = ALL,
    ) -> None:
        self._store = store
        self._shards = shards
        self._pages = pages
        self._clock = clock
        self._epoch = epoch
        self._lock = asyncio.Lock()
        self.are_heeded = _weighs_hints(reads)
        """whether the policy uses hints"""
        self.tracker = HintTracker(self._host_of)
        self._updated: dict[int, Instant] = {}
        """of each feed the newest date of its entries"""
        self._on_hint = on_hint
        self._collected_at: Instant = 0
        self.next_due: Instant | None = None
        """when hints that other processes have stored are to be taken over"""

    async def load(self) -> None:
        """Load the stored state."""
        sources, rows = await self._store.read(hints.load)
        self.tracker.load(sources, [row for row in rows if self._shards.is_all or row.page_id in self._pages])
        known = await self._store.read(estimates.of_newest_versions, UPDATED)
        self._updated = {page_id: at for page_id, state in known.items() if isinstance(at := state.get("at"), int)}

    async def find(self, urls: Collection[str], page_ids: Collection[int]) -> NamedPages:
        """Return the watched pages with each of these addresses, and those of these pages that are
        watched.
        """
        found = find_addresses(urls, ((page_id, page.identity.url) for page_id, page in self._pages.items()))
        named = {*(i for ids in found.values() for i in ids), *(i for i in page_ids if i in self._pages)}
        return NamedPages(found, named, {page_id for page_id in named if self.is_weighed(page_id)})

    def is_weighed(self, page_id: int) -> bool:
        """Return whether a hint about a page has an effect: the policy schedules it, and uses
        hints.
        """
        page = self._pages.get(page_id)
        return self.are_heeded and page is not None and is_on_change(page)

    async def take(
        self, page_ids: Collection[int], *, kind: str = API, at: Instant | None = None, key: str = ""
    ) -> TakenSignal:
        """Accept a hint of this kind about watched pages. Durable on return.

        Raises `UsageError` for a key that is too long, `StoreError`.

        Args:
            page_ids: The pages.
            kind: The kind of hint.
            at: The instant of the change (µs); None for now.
            key: Its idempotency key, empty for none.
        """
        check_key(key)
        async with self._lock:
            if key and (before := await self._store.read(hints.find_taken, key)) is not None:
                return TakenSignal(before, is_new=False)
            now = self._clock.now()
            watched = [page_id for page_id in dict.fromkeys(page_ids) if page_id in self._pages]
            for page_id in watched:
                self._hear(page_id, kind, now if at is None else min(at, now))
            rows = self.tracker.take_unstored(watched)  # also a hint whose storing failed before
            if rows or key:
                owed = Drained([], rows, [])
                await self._write(owed, _take, rows, key, pages=len(watched), at=now, epoch=self._epoch)
        if rows:
            self._on_hint({row.page_id for row in rows})
        return TakenSignal(len(watched), is_new=True)

    async def _write(self, owed: Drained, fn: Callable[..., None], *args: Any, **kw: Any) -> None:
        """Write drained state; if the store refuses, take it back."""
        try:
            await self._store.write(fn, *args, **kw)
        except StoreError:
            self.tracker.owe(owed)
            raise

    def note_written(self) -> None:
        """Signal that other processes have written, perhaps hints."""
        if self.next_due is None:
            self.next_due = self._collected_at + COLLECT_EVERY

    async def due(self, now: Instant) -> list[Coroutine[Any, Any, None]]:
        """Return the task that takes over hints, if it is due."""
        if self.next_due is None or now < self.next_due:
            return []
        self.next_due, self._collected_at = None, now
        return [self.collect()]

    async def collect(self) -> None:
        """Take over the hints that other processes have stored."""
        async with self._lock:
            left = await self._list_left()
            if not left:
                return
            for row in left:
                for at in row.waiting if row.page_id in self._pages else ():
                    self._hear(row.page_id, row.kind.removeprefix(hints.LEFT), at)
            rows = self.tracker.take_unstored({row.page_id for row in left})
            await self._write(Drained([], rows, []), _take_left, rows, left, epoch=self._epoch)
        self._on_hint({row.page_id for row in rows})

    async def _list_left(self) -> list[HintRow]:
        """Return the hints that others have stored about pages of this planner."""
        left = await self._store.read(hints.list_left)
        if self._shards.is_all or not left:
            return left
        hosts = await self._store.read(pages.list_hosts, {row.page_id for row in left})
        return [row for row in left if self._shards.owns(hosts[row.page_id])]

    def _hear(self, page_id: int, kind: str, at: Instant) -> None:
        known = self.tracker.kinds(page_id)
        own = kind if kind in known or len(known) < MOST_KINDS else API
        self.tracker.note(page_id, own, at, seen=self._pages[page_id].state.checked_at)

    def observe(self, unit: Unit) -> None:
        """Record a unit before the watchlist does: whether a poll saw its page at all, and whether
        the page's dates changed with its content.

        Only full answers count: a 304 only says that the date is the same.
        """
        if unit.poll is not None and unit.poll.outcome not in GOOD:
            self.tracker.miss(unit.poll.page_id)
        page = None if unit.page is None else self._pages.get(unit.page.page_id)
        if page is None or unit.page is None or unit.poll is None or unit.page.audited_at != unit.at:
            return
        page_id, validators = unit.page.page_id, unit.page.validators
        updated = self._updated.get(page_id)
        newest = updated if unit.version is None else find_updated(unit)
        if page.state.checked_at is not None and unit.poll.outcome in {"unchanged", "changed"}:
            self._date(page, unit, DATES, page.state.validators.last_modified, validators.last_modified)
            self._date(page, unit, UPDATED, updated, newest)
        if newest is not None:
            self._updated[page_id] = newest
        else:
            self._updated.pop(page_id, None)

    def _date(self, page: WatchedPage, unit: Unit, kind: str, before: object, after: object) -> None:
        if before and after and unit.poll is not None:
            moved, changed = before != after, unit.poll.text_changed
            self.tracker.date(page.identity.host, unit.at, date_moved=moved, content_moved=changed, kind=kind)

    async def remember(self) -> None:
        """Store what was learned and recorded since the last call."""
        async with self._lock:
            drained = self.tracker.drain()
            if any(drained):
                await self._write(drained, _remember, drained, epoch=self._epoch)

    def _host_of(self, page_id: int) -> str:
        page = self._pages.get(page_id)
        return "" if page is None else page.identity.host


def _take(c: Connection, rows: list[HintRow], key: str, *, pages: int, at: Instant, epoch: int) -> None:
    lock.check_epoch(c, epoch)
    hints.put(c, [], rows)
    if key:
        hints.note_key(c, key, pages=pages, at=at, forget_before=at - KEYS_FOR)


def _take_left(c: Connection, rows: list[HintRow], left: list[HintRow], *, epoch: int) -> None:
    lock.check_epoch(c, epoch)
    hints.put(c, [], rows)
    hints.take_left(c, left)


def _remember(c: Connection, drained: Drained, *, epoch: int) -> None:
    lock.check_epoch(c, epoch)
    hints.put(c, drained.sources, drained.hints)
    hints.drop(c, drained.left)


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
        self._are_heeded = _weighs_hints(reads)
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


def _weighs_hints(reads: Iterable[str]) -> bool:
    """Return whether a policy that reads these columns weighs hints."""
    from tidings.scheduling import index  # it loads numpy, which a reader of versions does not need

    return frozenset(reads) >= index.HINTS
