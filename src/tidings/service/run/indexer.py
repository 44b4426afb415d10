"""Open the search index of a data directory, and the indexer that keeps it current."""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import AsyncIterator
from typing import TYPE_CHECKING

from tidings.clock import SystemClock
from tidings.errors import StoreError, TidingsError
from tidings.service.run.from_settings import open_archive, open_runner
from tidings.service.search.indexing import AFTER_FAULT_SECONDS, Indexer
from tidings.storage.db.database import open_database
from tidings.storage.search.index import SearchIndex
from tidings.storage.search.log import SearchLog

if TYPE_CHECKING:
    from tidings.settings import Settings

log = logging.getLogger("tidings.service.search")


@contextlib.asynccontextmanager
async def open_indexer(settings: Settings, *, at_once: int = 1) -> AsyncIterator[tuple[SearchIndex, Indexer]]:
    """Yield the search index and its indexer, on a connection of its own.

    Args:
        settings: The settings.
        at_once: Number of versions read concurrently.
    """
    with contextlib.ExitStack() as stack:
        database = stack.enter_context(contextlib.closing(open_database(settings, create=False)))
        index = stack.enter_context(contextlib.closing(SearchIndex(settings.data)))
        indexer = Indexer(
            database,
            open_archive(settings, dialect=database.dialect),
            index,
            lambda: open_runner(settings),
            at_once=at_once,
            log=_open_log(settings, stack),
            now=SystemClock().wall,
        )
        try:
            yield index, indexer
        finally:
            await indexer.close()


def _open_log(settings: Settings, stack: contextlib.ExitStack) -> SearchLog | None:
    """Return the log of searches, or None if it is off or cannot be opened; search works without
    it.
    """
    if not settings.search.log:
        return None
    try:
        return stack.enter_context(contextlib.closing(SearchLog(settings.data)))
    except StoreError as error:
        log.warning("the worth of changes to searches is not measured: %s", error)
        return None


@contextlib.asynccontextmanager
async def indexing(settings: Settings) -> AsyncIterator[None]:
    """Update the index in the background while the context is open, if the settings say so."""
    if not settings.search.index:
        yield
        return

    async def follow() -> None:
        while True:
            try:
                async with open_indexer(settings) as (_, indexer):
                    await indexer.keep_up()
            except TidingsError as error:
                log.warning("the search index is not updated: %s", error)
            except Exception:  # any error: retried, and health reports the lag
                log.exception("the search index is not updated")
            await asyncio.sleep(AFTER_FAULT_SECONDS)

    following = asyncio.create_task(follow())
    try:
        yield
    finally:
        following.cancel()
        await asyncio.wait({following})
