"""Planners that begin a run while they are stopped."""

from __future__ import annotations

import asyncio
from contextlib import closing

import pytest

from tests.stores import own_postgres
from tidings.clock import MINUTE, SystemClock
from tidings.record import replace
from tidings.service.run import leases
from tidings.settings import Settings, StoreSettings
from tidings.storage.db import planners
from tidings.storage.db.database import open_database
from tidings.storage.db.lock import PollerLock
from tidings.storage.write.store import Store


def test_planner_that_is_stopped_while_its_run_begins_leaves_no_run(tmp_path, monkeypatch):
    """The run is stored, and its answer does not arrive. Other planners need not wait for its end."""
    begin = leases._begin
    begun: list[planners.PlannerRun] = []

    async def begin_and_stop(*given):
        begun.extend(filter(None, [await begin(*given)]))
        raise asyncio.CancelledError

    async def stop(store: Store) -> None:
        with pytest.raises(asyncio.CancelledError):
            await leases.begin_run(store, PollerLock(tmp_path), SystemClock(), "one", length=MINUTE)
        await store.close()

    monkeypatch.setattr(leases, "_begin", begin_and_stop)
    with own_postgres() as url:
        settings = replace(Settings(data=tmp_path), store=StoreSettings(url=url))
        asyncio.run(stop(Store(open_database(settings))))
        with closing(open_database(settings)) as database:
            assert [planners.SHARDS] == [len(run.shards) for run in begun]
            assert [] == database.read(planners.listing)
