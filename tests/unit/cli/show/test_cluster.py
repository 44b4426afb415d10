"""`tidings cluster`: the processes on the database, and the waiting work."""

from __future__ import annotations

import contextlib

from tests.stores import own_postgres
from tidings.clock import HOUR, SECOND
from tidings.settings import load
from tidings.storage.db import lock
from tidings.storage.db.database import open_database


def test_on_sqlite_no_process_is_listed_before_the_start(tidings):
    """With SQLite one process does everything."""
    tidings("add", "--url", "http://127.0.0.1:1/", "--no-check")

    assert "no process checks pages" in tidings("cluster").out


def test_processes_are_listed_with_the_waiting_work(tidings, monkeypatch, tmp_path):
    """The output is lines or records. A process that ended stays in the list for a day."""
    with own_postgres() as url:
        monkeypatch.setenv("TIDINGS_STORE_URL", url)
        tidings("add", "--url", "http://127.0.0.1:1/", "--no-check")
        assert "no process checks pages" in tidings("cluster").out
        with contextlib.closing(open_database(load(tmp_path))) as database:
            database.write(lock.enrol, "web", "c:1", length=30 * SECOND)
            database.write(lock.enrol, "notifier", "d:1", length=-2 * HOUR)
        ran = tidings("cluster")
        records = tidings("cluster", "--json").records

    assert ["ROLE", "web", "notifier"] == [line.split()[0] for line in ran.out.splitlines()[:3]]
    assert "ended 2 h ago" in ran.out.splitlines()[2]
    assert ran.out.endswith("messages: none waits\n")
    assert ["process", "process", "cluster"] == [record["record"] for record in records]
    assert [True, False] == [record["working"] for record in records[:2]]
    assert {"messages_waiting": 0, "messages_due": 0}.items() <= records[2].items()
