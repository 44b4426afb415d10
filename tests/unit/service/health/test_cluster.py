"""The processes that share one database in `tidings cluster`, doctor and metrics."""

from __future__ import annotations

import asyncio
import contextlib
from collections import Counter

import pytest

from tests.stores import own_postgres
from tidings.clock import SECOND
from tidings.errors import StoreLostError, StoreNewerError
from tidings.model.observed.unit import PollRecord, Unit
from tidings.record import replace
from tidings.service.health.cluster import count_roles, list_members, spell_processes, spell_roles
from tidings.service.health.metrics import Meter, read_gauges
from tidings.service.health.sources import SOURCES
from tidings.service.health.trouble import HealthReading
from tidings.service.run import only_poller
from tidings.service.run.notifier import notifier
from tidings.service.run.web_only import web_only
from tidings.settings import Settings, StoreSettings
from tidings.storage.db import lock, planners
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
    for name in ("a:1", "b:1"):
        database.write(planners.begin, name, seen=None, length=30 * SECOND)
    for role, name in (("planner", "a:1"), ("stand-by", "b:1"), ("web", "c:1")):
        database.write(work, role, name)

    def troubles(c):
        reading = HealthReading(c=c, settings=settings, now=now, is_polled=True)
        return [trouble.brief for trouble in SOURCES["processes"].find(reading)], spell_processes(reading)

    def spell_lease(c):
        return SOURCES["lease"].well(HealthReading(c=c, settings=settings, now=now, is_polled=True))

    assert "shared by 2 planners, epoch 2" == database.read(spell_lease)
    assert (["no notifier"], "1 planner, 1 stand-by, 1 web") == database.read(troubles)
    database.write(work, "notifier", "d:1")
    database.write(lock.claim, [1, 2], "d:1", length=30 * SECOND)
    database.write(lock.enrol, "web", "c:2", length=-SECOND)
    assert ([], "1 planner, 1 stand-by, 1 notifier, 1 web") == database.read(troubles)
    members = database.read(list_members)

    assert ["planner a:1", "stand-by b:1", "notifier d:1", "web c:1", "web c:2"] == [
        f"{m.role} {m.name}" for m in members
    ]
    assert ["64 of 64 parts of the pages, epoch 1, leads", "", "2 endpoints", "", ""] == [m.holds for m in members]
    assert [True, True, True, True, False] == [m.is_working for m in members]
    assert "1 planner, 1 stand-by, 1 notifier, 1 web" == spell_roles(members)
    assert count_roles(members) == database.read(read_gauges, settings, now=now).roles


def test_process_that_serves_shows_the_counters_of_all(shared):
    """Each has its role and name. Those of a process that ended are left out."""
    settings, database = shared
    planner, sender = Meter(pollers=Counter({"far:1": 4})), Meter(sent=2)
    planner.note(
        Unit(
            at=1,
            epoch=1,
            poll=PollRecord(
                poll_id=1, page_id=1, finished_at=3 * SECOND, outcome="new", text_changed=False, charged_at=SECOND
            ),
        )
    )
    for role, name, meter in (("planner", "a:1", planner), ("notifier", "b:1", sender), ("planner", "gone:1", sender)):
        length = -SECOND if name == "gone:1" else 30 * SECOND
        database.write(lock.enrol, role, name, length=length, note=meter.export())

    text = Meter(counts=False).write(database.read(read_gauges, settings, now=database.read(lock.server_time)))

    assert 'tidings_polls_total{role="planner",process="a:1",outcome="new"} 1\n' in text
    assert 'tidings_poll_duration_seconds_bucket{role="planner",process="a:1",le="2.5"} 1\n' in text
    assert 'tidings_deliveries_total{role="notifier",process="b:1"} 2\n' in text
    assert 'tidings_poller_checks_total{role="planner",process="a:1",poller="far:1"} 4\n' in text
    assert "gone:1" not in text


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
