"""Keep the index current: new versions, deleted ones, removed pages.

It has its own connection and process, and no poll waits for it: it reads what is committed, in
order of version numbers, and stores its position in the index itself. So a running service and
`tidings search` may both update it; of two that add the same, one does.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import Callable
from typing import TYPE_CHECKING, Final

from tidings.clock import HOUR
from tidings.errors import BlobError, TidingsError
from tidings.isolation.runner import Died
from tidings.model.url import split_url
from tidings.record import dataclass, replace
from tidings.service.examine.stored_versions import read_body, read_parts
from tidings.service.search.appraise import FRESH, Appraiser, appraiser
from tidings.service.search.read_text import UNREAD, ReadText, read_texts
from tidings.storage.db.connection import UNREADABLE, plain
from tidings.storage.observed import indexed, pages, versions
from tidings.storage.search.index import IndexEntry, SearchIndex

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tidings.archive.archive import Archive
    from tidings.detection.job.contract import Body
    from tidings.isolation.runner import Runner
    from tidings.model.interval import Duration, Instant
    from tidings.storage.db.connection import Connection
    from tidings.storage.db.database import Database
    from tidings.storage.observed.indexed import NumberedVersion
    from tidings.storage.search.log import SearchLog

log = logging.getLogger("tidings.service.search")
BATCH: Final = 40
"""Versions added per transaction of the index."""
JOB_BYTES: Final = 256 * 1024
"""Most bytes of bodies that one job reads together; a larger version has a job of its own."""
EVERY_SECONDS: Final = 2.0
"""Approximate delay from a write to the update of the index."""
IDLE_SECONDS: Final = 300.0
"""How long the process that parses pages stays alive when idle."""
AFTER_FAULT_SECONDS: Final = 60.0
SMALL_BYTES: Final = 64 * 1024 * 1024
"""An index of this size is rewritten within a second."""
FORGETS_EVERY: Final[Duration] = HOUR


@dataclass(frozen=True, slots=True)
class _Version:
    """A version to be added, with its bodies; none if it has nothing new."""

    row: NumberedVersion
    url: str
    bodies: tuple[Body, ...]


class Indexer:
    """Updates the index from what is stored.

    Args:
        database: A connection of its own.
        archive: Where the bodies are.
        index: The index.
        open_runner: Opens the runner of jobs on page content.
        at_once: Jobs that read versions concurrently.
        log: The log of searches, to appraise refreshes; None: no appraisal.
        now: Returns the time (µs).
    """

    def __init__(
        self,
        database: Database,
        archive: Archive,
        index: SearchIndex,
        open_runner: Callable[[], Runner],
        *,
        at_once: int = 1,
        log: SearchLog | None = None,
        now: Callable[[], Instant] = lambda: 0,
    ) -> None:
        self._database = database
        self._archive = archive
        self._index = index
        self._open_runner = open_runner
        self._runner: Runner | None = None
        self._log = log
        self._now = now
        self._appraiser: Appraiser | None = None
        self._at_once = asyncio.Semaphore(at_once)

    async def behind(self) -> int:
        """Return how many versions are to be added."""
        return await asyncio.to_thread(self._behind)

    async def catch_up(self, on_progress: Callable[[int], None] | None = None) -> int:
        """Add all missing versions and remove deleted ones; return the number of versions added.

        Raises `StoreError` if the index cannot be written.
        """
        await asyncio.to_thread(self._recognise)
        if self._log is not None and await self.behind():
            await asyncio.to_thread(self._learn, self._log)
        added = 0
        while count := await self._add():
            added += count
            if on_progress is not None:
                on_progress(added)
        await asyncio.to_thread(self._clean)
        return added

    async def rebuild(self) -> None:
        """Clear the index and rebuild it from everything stored."""
        await asyncio.to_thread(lambda: self._index.begin(self._database.read(indexed.source), at=self._now()))

    async def keep_up(self) -> None:
        """Follow what is stored until cancelled; errors are logged and retried."""
        loop = asyncio.get_running_loop()
        is_new, used_at = True, loop.time()
        while True:
            wait = EVERY_SECONDS
            try:
                if is_new or await asyncio.to_thread(self._database.has_changed):
                    is_new = False
                    if await self.catch_up():
                        used_at = loop.time()
            except TidingsError as error:
                log.warning("the search index is behind: %s", error)
                is_new, wait = True, AFTER_FAULT_SECONDS
            if self._runner is not None and loop.time() - used_at > IDLE_SECONDS:
                await self._end_runner()
            await asyncio.sleep(wait)

    async def close(self) -> None:
        """End the process that parses pages, if it was started."""
        await self._end_runner()

    async def _end_runner(self) -> None:
        if self._runner is not None:
            await self._runner.close()
            self._runner = None

    def _recognise(self) -> None:
        """Start over if the index belongs to another database, or to one restored from a copy."""
        source = self._database.read(indexed.source)
        if self._index.read_note("source") != source:
            self._index.begin(source, at=self._now())

    def _may_forget(self) -> bool:
        """Return whether to rewrite both term tables now: at once if it is quick, else once an
        hour.
        """
        last = int(self._index.read_note("forgot_at") or 0)
        return self._index.size() <= SMALL_BYTES or self._now() - last >= FORGETS_EVERY

    def _learn(self, log: SearchLog) -> None:
        """Update the workload and its answers, at most once an hour."""
        now = self._now()
        if self._appraiser is None or not 0 <= now - self._appraiser.at < FRESH:
            self._appraiser = appraiser(self._index, log, at=now)

    def _behind(self) -> int:
        return self._database.read(indexed.count_behind, *self._index.progress())

    async def _add(self) -> int:
        """Add some versions; return how many were read, 0 once there are no more."""
        cursor, found = await asyncio.to_thread(self._next)
        if not found:
            return 0
        groups = await asyncio.gather(*(self._read(group) for group in _group(found)))
        read = [text for group in groups for text in group]
        entries = [_entry(one, text) for one, text in zip(found, read, strict=True)]
        await asyncio.to_thread(self._put, entries, cursor, [one.row.id for one in found])
        return len(found)

    def _put(self, entries: Sequence[IndexEntry], cursor: int, ids: Sequence[int]) -> None:
        """Add versions by their numbers; if one of them cannot be added, each by itself, and that
        one without a text: nothing behind it waits.
        """
        try:
            self._index.put(entries, cursor=cursor, moved_to=ids[-1], appraise=self._appraiser)
        except UNREADABLE as error:
            if len(entries) > 1:
                for entry, before, id_ in zip(entries, (cursor, *ids), ids, strict=False):
                    self._put([entry], before, [id_])
                return
            (entry,) = entries
            log.warning("version %d of page %d cannot be searched: %s", entry.seq, entry.page_id, error)
            unread = replace(entry, kind="", host="", title="", address="", text="")
            self._index.put([unread], cursor=cursor, moved_to=ids[-1])

    def _next(self) -> tuple[int, list[_Version]]:
        cursor = int(self._index.read_note("cursor") or 0)
        return cursor, self._database.read(_read_versions, self._archive, cursor)

    async def _read(self, group: Sequence[_Version]) -> list[ReadText]:
        """Return the texts of some versions; if their job dies, each has another job."""
        if not any(version.bodies for version in group):
            return [UNREAD] * len(group)
        async with self._at_once:
            if self._runner is None:
                self._runner = self._open_runner()
            answer = await self._runner.run(read_texts, [version.bodies for version in group])
        if not isinstance(answer, Died):
            return answer.value
        if len(group) > 1:
            return [text for version in group for text in await self._read([version])]
        version = group[0]
        log.warning("version %d of %s cannot be searched: %s", version.row.seq, version.url, answer.reason)
        return [UNREAD]

    def _clean(self) -> None:
        """Remove the texts of deleted versions; update removed and returned pages in the index."""
        counts, gone = self._database.read(indexed.count_collected), self._database.read(indexed.list_gone)
        known = self._index.read_collected()
        for page_id, collected in counts.items():
            if known.get(page_id, 0) != collected:
                seqs = self._database.read(indexed.seqs, page_id)
                self._index.keep_only(page_id, seqs, collected=collected)
        if self._index.read_note("removed") and self._may_forget():
            self._index.forget(self._now())
        for page_id, at in gone.items():
            self._index.retire(page_id, at, appraise=self._appraiser)
        for page_id in self._index.list_retired() - gone.keys():
            newest = self._database.read(versions.newest, page_id)
            if newest is not None:
                self._index.revive(page_id, newest.seq)


def _read_versions(c: Connection, archive: Archive, cursor: int) -> list[_Version]:
    """Return the next versions after a number, with their bodies."""
    return [_bodies(c, archive, row) for row in indexed.after(c, cursor, limit=BATCH)]


def _group(versions: Sequence[_Version]) -> list[list[_Version]]:
    """Return versions in their order, those together that one job reads."""
    groups: list[list[_Version]] = []
    volume = 0
    for version in versions:
        size = sum(len(body.data) for body in version.bodies)
        if groups and volume + size <= JOB_BYTES:
            groups[-1].append(version)
            volume += size
        else:
            groups.append([version])
            volume = size
    return groups


def _bodies(c: Connection, archive: Archive, row: NumberedVersion) -> _Version:
    """Return a version with its bodies; without them if it was deleted meanwhile, is damaged, or
    its page is not watched.
    """
    url = ""
    with contextlib.suppress(BlobError, *UNREADABLE):
        identity = pages.identity(c, row.page_id)
        url = identity.given
        if not row.is_watched or row.is_same:
            return _Version(row, url, ())
        body = read_body(c, archive, row.page_id, row.seq)
        version = versions.get(c, row.page_id, row.seq)
        if version is None or not version.frames:
            return _Version(row, url, (body,))
        parts = read_parts(c, archive, identity, version, body)
        return _Version(row, url, tuple(part.body for part in parts))
    return _Version(row, url, ())


def _entry(version: _Version, read: ReadText) -> IndexEntry:
    row = version.row
    return IndexEntry(
        page_id=row.page_id,
        seq=row.seq,
        at=row.fetched_at,
        is_same=row.is_same,
        kind=read.kind,
        host=plain(split_url(version.url).hostname or ""),
        title=plain(read.title),
        address=plain(version.url),
        text=plain(read.text),
    )
