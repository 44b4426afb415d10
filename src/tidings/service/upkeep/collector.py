"""Collect: delete the versions that are no longer needed, and their bodies (sentinels §6.1).

`storage.write.retention` decides which; this module deletes them: page by page, rows first, then
each body that no row names. A body with deltas on it goes after these were rewritten. Only the
planner that leads collects. A plan holds only for the rows that it was made from: other planners
store bodies meanwhile.
"""

from __future__ import annotations

import asyncio
import logging
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

from tidings.archive.archive import WritePlan
from tidings.clock import DAY, HOUR, MINUTE
from tidings.errors import BlobError, UnreadableTextError
from tidings.record import dataclass
from tidings.service.sentinels.register import UNDO
from tidings.service.watch.watchlist import meaning
from tidings.storage.observed import versions
from tidings.storage.write import old_rows, retention
from tidings.storage.write.retention import Terms

if TYPE_CHECKING:
    from tidings.archive.archive import Archive
    from tidings.model.interval import Instant
    from tidings.model.observed.version import Blob
    from tidings.model.watch.sentinel import History
    from tidings.settings import StoreSettings
    from tidings.storage.db.connection import Connection
    from tidings.storage.write.store import Store

log = logging.getLogger("tidings.service.upkeep.collector")
YOUNG = DAY
"""No version is deleted before it is a day old."""
VERSIONS_A_COMMIT = 20
ORPHANS_AT_ONCE = 100
PAGES_A_ROUND = 50
ROUND_EVERY = 10 * MINUTE
"""How often the running service collects a few pages: all of 50,000 in a week."""
ROWS_A_COMMIT = 500
COMMITS_A_ROUND = 20
"""Of each kind of old rows, 10,000 a round: 28 times as many as the default budget allows checks.
"""
PASS_EVERY = HOUR
"""Wait from the last page to the first again; retention is measured in days."""


@dataclass(frozen=True, slots=True)
class Collected:
    """What was deleted; `size` is the decoded size of the bodies, in bytes, `rows` how many old
    checks, requests, events and texts of messages.
    """

    pages: int = 0
    versions: int = 0
    withheld: int = 0
    bodies: int = 0
    size: int = 0
    rows: int = 0

    def __add__(self, other: Collected) -> Collected:
        """Return the sum of both."""
        return Collected(
            self.pages + other.pages,
            self.versions + other.versions,
            self.withheld + other.withheld,
            self.bodies + other.bodies,
            self.size + other.size,
            self.rows + other.rows,
        )


def terms(settings: StoreSettings, at: Instant) -> Terms:
    """Return the retention terms as of an instant."""
    return Terms(
        at=at,
        undo=UNDO,
        young=YOUNG,
        age=round(settings.history_days * DAY),
        afterlife=round(settings.afterlife_days * DAY),
        values=round(settings.values_days * DAY),
        history=_history,
    )


def foresee(connection: Connection, settings: StoreSettings, at: Instant) -> Collected:
    """Return what would be deleted now, without deleting it; bodies are not counted, since others
    may need them.
    """
    found, after = Collected(), 0
    terms_of_settings = terms(settings, at)
    while pages := retention.pages(connection, after=after, limit=PAGES_A_ROUND):
        after = pages[-1]
        for page_id in pages:
            gone, withheld = (
                len(retention.dead(connection, page_id, terms_of_settings)),
                retention.withheld(connection, page_id, terms_of_settings),
            )
            found += Collected(pages=int(bool(gone or withheld)), versions=gone, withheld=withheld)
    return found


class Collector:
    """Deletes what is not needed, for the one poller of `epoch`."""

    def __init__(self, store: Store, archive: Archive, settings: StoreSettings, *, epoch: int) -> None:
        self._store = store
        self._archive = archive
        self._settings = settings
        self._epoch = epoch
        self._after = 0
        self._next: Instant | None = None

    def is_due(self, now: Instant) -> bool:
        """Return whether another round is due; the first call starts the interval."""
        if self._next is None:  # a process that takes one step starts elsewhere each time
            self._after, self._next = -(now // ROUND_EVERY), now
        if now < self._next:
            return False
        self._next = now + ROUND_EVERY
        return True

    async def round(self, now: Instant) -> Collected:
        """Collect the next few pages; after the last one, what a crash left over."""
        if self._after < 0:
            self._after = await self._store.read(_somewhere, -self._after)
        pages = await self._store.read(retention.pages, after=self._after, limit=PAGES_A_ROUND)
        self._after = pages[-1] if len(pages) == PAGES_A_ROUND else 0
        found = Collected(rows=await self._forget(now, most=COMMITS_A_ROUND))
        for page_id in pages:
            found += await self.page(page_id, now)
        if not self._after:
            found += await self._rest(now)
            self._next = now + PASS_EVERY
        return found

    async def everything(self, now: Instant) -> Collected:
        """Collect all pages, and what a crash left over."""
        found, after = Collected(), 0
        while pages := await self._store.read(retention.pages, after=after, limit=PAGES_A_ROUND):
            after = pages[-1]
            for page_id in pages:
                found += await self.page(page_id, now)
        found += Collected(rows=await self._forget(now))
        return found + await self._rest(now)

    async def _forget(self, now: Instant, *, most: int | None = None) -> int:
        """Delete rows that nobody asks for any more, in `most` transactions; return how many they
        were.
        """
        kept, found, commits = self._settings, 0, 0
        ages = old_rows.Ages(now, round(kept.polls_days * DAY), round(kept.messages_days * DAY))
        while most is None or commits < most:
            gone = await self._store.write(old_rows.forget, ages, epoch=self._epoch, limit=ROWS_A_COMMIT)
            found, commits = found + gone, commits + 1
            if not gone:
                break
        return found

    async def page(self, page_id: int, now: Instant) -> Collected:
        """Delete what is not needed of a page."""
        found = Collected()
        terms_now = terms(self._settings, now)
        if not await self._store.read(_has_any, page_id, terms_now):
            return found
        while gone := await self._store.write(
            retention.let_go, page_id, terms_now, epoch=self._epoch, limit=VERSIONS_A_COMMIT
        ):
            found += Collected(versions=gone.versions, withheld=gone.withheld)
            for sha256 in gone.named:
                found += await self._body(sha256, now)
        return found + Collected(pages=1)

    async def _rest(self, now: Instant) -> Collected:
        """Delete what was learned of unwatched pages, and bodies without a reference; leave no text
        in the journal.
        """
        await self._store.write(retention.forget_learned, terms(self._settings, now), epoch=self._epoch)
        found = await self.orphans(now)
        await self._store.clear_journal()
        return found

    async def orphans(self, now: Instant) -> Collected:
        """Delete the bodies without a reference."""
        found = Collected()
        while names := await self._store.read(retention.orphans, ORPHANS_AT_ONCE):
            some = Collected()
            for sha256 in names:
                some += await self._body(sha256, now)
            if not some.bodies:
                break
            found += some
        return found

    async def _body(self, sha256: str, now: Instant) -> Collected:
        """Delete a body unless it is referenced; deltas on it are rewritten onto its own base."""
        stands = await self._store.read(_find_standing, sha256)
        if stands is None:
            return Collected()
        async with self._archive.hold(*stands.names):
            try:
                plan = await self._store.read(self._plan, stands)
            except BlobError as error:
                log.error("%s; the deltas on it stay unchanged", error)  # noqa: TRY400 - users can fix the disk
                return Collected()
            if plan is None:
                return Collected()
            if plan.files:
                await asyncio.to_thread(self._archive.write_files, plan)
            is_gone = await self._store.write(self._remove, stands, plan, now)
            unused = plan.garbage if is_gone else tuple(name for name, _ in plan.files)
            if unused:
                await asyncio.to_thread(self._archive.remove, unused)
                await self._store.write(retention.clear, unused)
        return Collected(bodies=1, size=stands.blob.size) if is_gone else Collected()

    def _plan(self, connection: Connection, stands: _Standing) -> WritePlan | None:
        """Return the plan for storing the deltas on a body without it; None if it is needed, or any
        of them has changed.
        """
        blob = stands.blob
        if _find_standing(connection, blob.sha256) != stands or retention.is_named(connection, blob.sha256):
            return None

        def lookup(name: str) -> Blob | None:
            return versions.blob(connection, name)

        base = stands.base if stands.leaning else None
        under = (base, self._archive.restore(base.sha256, lookup)) if base is not None else None
        plans = [self._archive.lean(row, self._archive.restore(row.sha256, lookup), under) for row in stands.leaning]
        return WritePlan(
            blobs=tuple(row for plan in plans for row in plan.blobs),
            garbage=(*(name for plan in plans for name in plan.garbage), *([blob.file] if blob.file else [])),
            files=tuple(file for plan in plans for file in plan.files),
        )

    def _remove(self, connection: Connection, stands: _Standing, plan: WritePlan, now: Instant) -> bool:
        """Delete a body by a plan, unless what it was made from has changed: another planner may
        have based these bodies on each other.
        """
        name = stands.blob.sha256
        if _find_standing(connection, name) != stands:
            return False
        if not retention.remove_body(connection, name, [row.sha256 for row in stands.leaning], epoch=self._epoch):
            return False
        versions.put_blobs(connection, plan.blobs)
        retention.add(connection, plan.garbage, at=now)
        return True


class _Standing(NamedTuple):
    """How a body is stored: its row, that of its base, if any, and those of the deltas on it."""

    blob: Blob
    base: Blob | None
    leaning: tuple[Blob, ...]

    @property
    def names(self) -> set[str]:
        """Return the hashes of all."""
        return {row.sha256 for row in (self.blob, self.base, *self.leaning) if row is not None}


def _find_standing(connection: Connection, sha256: str) -> _Standing | None:
    """Return how a body is stored now, None if it is not."""
    blob = versions.blob(connection, sha256)
    if blob is None:
        return None
    leaning = (versions.blob(connection, name) for name in sorted(versions.dependents(connection, sha256)))
    base = versions.blob(connection, blob.base) if blob.base else None
    return _Standing(blob, base, tuple(row for row in leaning if row is not None))


def _has_any(connection: Connection, page_id: int, terms_now: Terms) -> bool:
    return bool(retention.dead(connection, page_id, terms_now) or retention.withheld(connection, page_id, terms_now))


def _somewhere(connection: Connection, turn: int) -> int:
    """Return the page after which a process begins, another one at each turn."""
    last = connection.value("SELECT max(id) FROM page") or 0
    return turn * PAGES_A_ROUND % (last + PAGES_A_ROUND)


@lru_cache(maxsize=10_000)
def _history(text: str) -> History | None:
    try:
        return meaning(text).history
    except UnreadableTextError:
        return None
