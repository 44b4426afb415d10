"""What is searched for, and which pages matter to those who search, for the discovery of
collections.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Mapping
from typing import TYPE_CHECKING, Final

from tidings.errors import TidingsError
from tidings.search.query import parse
from tidings.search.unseen import shares
from tidings.search.valuation import single_terms
from tidings.service.search.appraise import rates
from tidings.storage.search.index import SearchIndex
from tidings.storage.search.log import SearchLog

if TYPE_CHECKING:
    from tidings.clock import Clock
    from tidings.model.interval import Instant
    from tidings.service.collections.discover import Worths
    from tidings.settings import Settings

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
