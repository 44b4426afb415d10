"""The contract of the store for killed and for concurrent processes (F-01, F-03, F-06, F-10)."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from tests.stores import World
from tidings.storage import secrets
from tidings.storage.db.database import quick_check
from tidings.storage.observed import polls, versions
from tidings.storage.watches import changes, deliveries

REPOSITORY = Path(__file__).parents[2]


def _child(world: World, verb: str, *more: str) -> subprocess.Popen[str]:
    settings = world.settings
    command = [sys.executable, "-m", "tests.store_child", verb, str(settings.data), settings.store.url, *more]
    return subprocess.Popen(command, cwd=REPOSITORY, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def test_killed_writer_loses_no_acknowledged_unit(world: World):
    """After kill -9 at any moment there is at most one unit more, and all invariants hold."""
    acknowledged = 0
    for lines in (1, 7):
        child = _child(world, "units")
        assert child.stdout is not None
        assert child.stderr is not None
        for _ in range(lines):
            acknowledged = int(child.stdout.readline())
        child.kill()
        acknowledged = max([acknowledged, *map(int, child.stdout.read().split())])
        child.communicate()

        stored = world.state().last_seq
        assert acknowledged <= stored <= acknowledged + 1
        assert [] == world.faults()
        assert stored == len(world.read(versions.listing, 1))
        assert stored - 1 == len(world.read(changes.listing)) == len(world.read(deliveries.listing))

    assert len(world.read(polls.open_polls)) <= 2
    assert [] == quick_check(world.database)


def test_concurrent_writers_lose_nothing(world: World):
    """Two processes make 200 writes each (100 on a server) without an error."""
    count = 200 if world.database.dialect == "sqlite" else 100
    children = [_child(world, "secrets", name, str(count)) for name in ("one", "two")]
    endings = [child.communicate(timeout=100)[1] for child in children]

    assert ["", ""] == endings
    assert 2 * count == len(world.read(secrets.names))
    assert [] == quick_check(world.database)
