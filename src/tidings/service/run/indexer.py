"""Open the search index of a data directory, and the indexer that keeps it current.

And open what is searched for, and which pages matter to those who search, for the discovery of
collections.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import AsyncIterator, Mapping
from typing import TYPE_CHECKING, Final

from tidings.clock import SystemClock
from tidings.errors import StoreError, TidingsError
from tidings.search.query import parse
from tidings.search.ranking import single_terms
from tidings.search.sites import shares
from tidings.service.run.from_settings import open_archive, open_runner
from tidings.service.search.appraise import rates
from tidings.service.search.indexing import AFTER_FAULT_SECONDS, Indexer
from tidings.storage.db.database import open_database
from tidings.storage.search.index import SearchIndex
from tidings.storage.search.log import SearchLog

if TYPE_CHECKING:
    from tidings.clock import Clock
    from tidings.model.interval import Instant
    from tidings.service.collections.discover import Worths
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
        log.warning("the value of changes for searches is not measured: %s", error)
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


LEAST: Final = 0.25
MOST: Final = 8.0
"""How much less or more than usual a page can matter: what was measured is of few refreshes."""


def open_worths(settings: Settings, clock: Clock) -> Worths:
    """Return what gives the terms that are searched for, and of each page how much more than usual
    it matters.
    """

    async def read() -> tuple[Mapping[str, float], Mapping[int, float]]:
        if not (settings.search.index and settings.search.log):
            return {}, {}
        try:
            return await asyncio.to_thread(_read, settings, clock.now())
        except TidingsError:
            return {}, {}  # the index is being made, or damaged: health says so

    return read


def _read(settings: Settings, now: Instant) -> tuple[Mapping[str, float], Mapping[int, float]]:
    if not all((settings.data / name).is_file() for name in ("search.db", "searches.db")):
        return {}, {}
    with (
        contextlib.closing(SearchIndex(settings.data)) as index,
        contextlib.closing(SearchLog(settings.data)) as searches,
    ):
        queries = [(parse(one.text), one.weight) for one in searches.queries(at=now)]
        measured = [(page_id, a_day) for page_id, _, a_day in rates(index, at=now)]
    usual = sum(a_day for _, a_day in measured) / len(measured) if measured else 0.0
    matters = {page_id: min(MOST, max(LEAST, a_day / usual)) for page_id, a_day in measured} if usual > 0 else {}
    return shares(single_terms(queries)), matters
