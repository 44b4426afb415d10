"""The processes that share one database in `tidings cluster`, doctor and metrics."""

from __future__ import annotations

import asyncio
import contextlib

import pytest

from tests.stores import own_postgres
from tidings.clock import SECOND
from tidings.errors import StoreLostError, StoreNewerError
from tidings.record import replace
from tidings.service.health.cluster import count_roles, list_members, spell_processes, spell_roles
from tidings.service.health.metrics import read_gauges
from tidings.service.health.reading import HealthReading
from tidings.service.health.sources import SOURCES
from tidings.service.run import only_poller
from tidings.service.run.notifier import notifier
from tidings.service.run.web_only import web_only
from tidings.settings import Settings, StoreSettings
from tidings.storage.db import lock
from tidings.storage.db.database import open_database


@pytest.fixture
def shared(tmp_path):
    """Yield the settings and an open PostgreSQL database."""
    with own_postgres() as url:
        settings = replace(Settings(data=tmp_path), store=StoreSettings(url=url))
        with contextlib.closing(open_database(settings)) as database:
            yield settings, database


def work(c, role: str, name: str) -> None:
    """Enrol a process in a role."""
    lock.enrol(c, role, name, length=30 * SECOND)


def test_processes_are_listed_with_their_leases(shared):
    """A planner without a notifier is a trouble. A process that died is listed but not counted."""
    settings, database = shared
    now = database.read(lock.server_time)
    database.write(lock.acquire_lease, lock.POLLER, "a:1", at=now, until=now + 30 * SECOND)
    for role, name in (("planner", "a:1"), ("stand-by", "b:1"), ("web", "c:1")):
        database.write(work, role, name)

    def troubles(c):
        reading = HealthReading(c=c, settings=settings, now=now, is_polled=True)
        return [trouble.brief for trouble in SOURCES["processes"].find(reading)], spell_processes(reading)

    assert (["no notifier"], "1 planner, 1 stand-by, 1 web") == database.read(troubles)
    database.write(work, "notifier", "d:1")
    database.write(lock.claim, [1, 2], "d:1", length=30 * SECOND)
    database.write(lock.enrol, "web", "c:2", length=-SECOND)
    assert ([], "1 planner, 1 stand-by, 1 notifier, 1 web") == database.read(troubles)
    members = database.read(list_members)

    assert ["planner a:1", "stand-by b:1", "notifier d:1", "web c:1", "web c:2"] == [
        f"{m.role} {m.name}" for m in members
    ]
    assert ["the lease, epoch 1", "", "2 endpoints", "", ""] == [m.holds for m in members]
    assert [True, True, True, True, False] == [m.is_working for m in members]
    assert "1 planner, 1 stand-by, 1 notifier, 1 web" == spell_roles(members)
    assert count_roles(members) == database.read(read_gauges, settings, now=now).roles


@pytest.mark.parametrize("opening", [notifier, web_only])
def test_role_of_an_older_version_is_refused(shared, opening):
    """The process must not read or write tables that it does not know."""
    settings, database = shared
    database.write(lambda c: c.execute("UPDATE alembic_version SET version_num = '9999'"))

    async def start() -> None:
        async with opening(settings):
            pass

    with pytest.raises(StoreNewerError, match="newer Tidings"):
        asyncio.run(start())


@pytest.mark.parametrize(("opening", "role"), [(notifier, "1 notifier"), (web_only, "1 web")])
def test_role_waits_for_its_database_server(shared, opening, role, monkeypatch: pytest.MonkeyPatch):
    """After a restart of the machine a process may start before PostgreSQL does."""
    settings, database = shared
    refusals = [StoreLostError("the server does not answer")] * 2

    def refuse_twice(settings):
        if refusals:
            raise refusals.pop()
        return open_database(settings)

    monkeypatch.setattr(only_poller, "open_database", refuse_twice)

    async def start() -> str:
        async with opening(settings):
            return spell_roles(database.read(list_members))

    assert role == asyncio.run(start())
    assert [] == refusals
