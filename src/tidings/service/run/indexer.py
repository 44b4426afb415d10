"""The search index of a data directory, opened with what brings it up to date."""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import AsyncIterator
from typing import TYPE_CHECKING

from tidings.clock import SystemClock
from tidings.errors import TidingsError
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
    """Give the search index and what brings it up to date, on a connection of its own.

    Args:
        settings: The settings in use.
        at_once: Versions that are read at the same time.
    """
    database = open_database(settings, create=False)
    index = SearchIndex(settings.data)
    archive = open_archive(settings, dialect=database.dialect)
    searches = SearchLog(settings.data) if settings.search.log else None
    indexer = Indexer(
        database,
        archive,
        index,
        lambda: open_runner(settings),
        at_once=at_once,
        log=searches,
        now=SystemClock().wall,
    )
    try:
        yield index, indexer
    finally:
        await indexer.close()
        index.close()
        if searches is not None:
            searches.close()
        database.close()


@contextlib.asynccontextmanager
async def indexing(settings: Settings) -> AsyncIterator[None]:
    """Keep the index up to date meanwhile, if the settings say so."""
    if not settings.search.index:
        yield
        return

    async def follow() -> None:
        while True:
            try:
                async with open_indexer(settings) as (_, indexer):
                    await indexer.keep_up()
            except TidingsError as error:
                log.warning("the search index is not kept: %s", error)
                await asyncio.sleep(AFTER_FAULT_SECONDS)

    following = asyncio.create_task(follow())
    try:
        yield
    finally:
        following.cancel()
        await asyncio.wait({following})
