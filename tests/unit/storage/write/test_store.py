from __future__ import annotations

import asyncio
import threading
from collections.abc import Sequence
from dataclasses import replace

import pytest

from tests.stores import World
from tidings.errors import StaleEpochError, StoreBusyError, UnitError
from tidings.model.observed.poll_reason import PollReason, Why
from tidings.model.observed.unit import Grant, Unit
from tidings.settings import Settings, StoreSettings
from tidings.storage import secrets
from tidings.storage.db import lock
from tidings.storage.db.connection import Connection
from tidings.storage.db.database import Database, open_database
from tidings.storage.observed import polls, versions
from tidings.storage.watches import changes, events
from tidings.storage.write import store
from tidings.storage.write.commit import Committed, Keep, commit
from tidings.storage.write.store import Store


def _commit(world: World, *groups: Sequence[Unit]) -> list[list[Committed | Exception]]:
    async def run() -> list[list[Committed | Exception]]:
        opened = Store(world.reopen(), gather_seconds=0.001)
        results = await asyncio.gather(*(opened.commit(group) for group in groups))
        await opened.close()
        return list(results)

    return asyncio.run(run())


def test_reads_writes_and_charges_return_their_results(world: World):
    """The calls run in the thread of the store. A change by another process is noticed."""
    world.watch()
    grant = Grant(page_id=1, host="h", cost=1.0, reason=PollReason(Why.INTERVAL))

    async def run() -> tuple[str | None, int, bool]:
        opened = Store(world.reopen())
        await opened.write(secrets.put, "a", "b")
        charged = await opened.charge([grant, grant], at=world.at, epoch=world.epoch)
        await opened.has_changed()
        world.write(secrets.put, "a", "c")
        changed = await opened.has_changed()
        found = await opened.read(secrets.get, "a")
        await opened.close()
        return found, len([entry for entry in charged if entry]), changed

    assert ("c", 2, True) == asyncio.run(run())


def _inverse(c: Connection, number: int) -> int:
    return int(c.value("SELECT 60")) // number


def test_waiting_reads_share_a_transaction(world: World, monkeypatch: pytest.MonkeyPatch):
    """Twenty reads that wait for the thread are one transaction. One that fails gets its own error,
    the others their values.
    """

    async def run() -> tuple[list[int | BaseException], list[int]]:
        database = world.reopen()
        opened = Store(database)
        groups: list[int] = []
        whole = store.read_together

        def count(database: Database, reads: Sequence[store._Read]) -> None:
            groups.append(len(reads))
            whole(database, reads)

        monkeypatch.setattr(store, "read_together", count)
        begun, busy = asyncio.Event(), threading.Event()
        loop = asyncio.get_running_loop()

        def hold(_: Connection) -> bool:
            loop.call_soon_threadsafe(begun.set)
            return busy.wait(10)

        first = asyncio.create_task(opened.read(hold))
        await begun.wait()
        rest = asyncio.gather(*(opened.read(_inverse, n) for n in range(20)), return_exceptions=True)
        await asyncio.sleep(0)
        busy.set()
        found = await rest
        await first
        await opened.close()
        return found, groups

    (failed, *values), groups = asyncio.run(run())

    assert isinstance(failed, ZeroDivisionError)
    assert [60 // n for n in range(1, 20)] == values
    assert [1, 20] == groups


def test_cancelled_read_does_not_affect_others(world: World):
    """The read beside it gets its result."""

    async def run() -> int:
        opened = Store(world.reopen())
        gone = asyncio.create_task(opened.read(lambda c: c.value("SELECT 1")))
        other = asyncio.create_task(opened.read(lambda c: c.value("SELECT 2")))
        await asyncio.sleep(0)
        gone.cancel()
        found = await other
        await opened.close()
        return int(found)

    assert 2 == asyncio.run(run())


def test_units_of_many_callers_share_a_transaction(world: World, monkeypatch: pytest.MonkeyPatch):
    """Thirty callers with one unit each are one transaction. Sixty units are two, each of at most
    fifty.
    """
    world.watch("news", *(f"p{i}" for i in range(60)))
    groups: list[int] = []

    def count(c: Connection, units: Sequence[Unit], keep: Keep | None) -> list[Committed]:
        groups.append(len(units))
        return commit(c, units, keep)

    monkeypatch.setattr(store, "commit", count)
    units = [world.make_unchanged(page_id) for page_id in range(1, 61)]
    _commit(world, *([unit] for unit in units[:30]))
    assert [30] == groups
    groups.clear()
    rest = [world.make_unchanged(page_id) for page_id in range(1, 61)]
    results = _commit(world, rest)

    assert [50, 10] == groups
    assert [Committed()] * 60 == results[0]


def test_broken_unit_is_recorded_and_the_others_are_committed(world: World):
    """The broken unit gives its exception and an event `problem.unit`."""
    world.watch("news", "a", "b", "c")
    good = [world.make_unchanged(page_id) for page_id in (1, 3)]
    broken = replace(world.make_unchanged(2), cursors=(world.cursor(99),))
    before = world.read(events.last_seq)
    (results,) = _commit(world, [good[0], broken, good[1]])

    assert Committed() == results[0] == results[2]
    assert isinstance(results[1], UnitError)
    assert [1, 0, 1] == [world.state(page_id).polls for page_id in (1, 2, 3)]
    (problem,) = world.read(events.listing, after=before)
    assert ("problem.unit", 2, str(results[1])) == (problem.type, problem.page_id, problem.data["error"])
    assert broken.poll is not None
    assert [broken.poll.poll_id] == [poll.id for poll in world.read(polls.open_polls)]


def test_unit_with_invalid_values_does_not_stop_the_store(world: World):
    """The unit gives an exception, and the next one is committed."""
    world.watch()
    nonsense = replace(world.make_unchanged(), cursors=(world.cursor(base=2**70), world.cursor(base=object())))
    (results,) = _commit(world, [nonsense, world.make_unchanged()])

    assert isinstance(results[0], Exception)
    assert Committed() == results[1]


def test_stale_epoch_writes_nothing(world: World):
    """Each unit gets the error, and the problem is not recorded either (I-7)."""
    world.watch("news", "a", "b")
    units = [world.make_unchanged(1), world.make_unchanged(2)]
    world.write(lock.acquire_lease, "poller", "test", at=world.at, until=world.at)
    before = world.read(events.last_seq)
    (results,) = _commit(world, units)

    assert [StaleEpochError, StaleEpochError] == [type(result) for result in results]
    assert before == world.read(events.last_seq)


def test_busy_store_is_an_error_for_each_unit(world: World):
    """Afterwards the same units can be committed."""
    world.watch("news", "a", "b")
    units = [world.make_unchanged(1), world.make_unchanged(2)]
    impatient = Settings(data=world.settings.data, store=StoreSettings(busy_seconds=0.02))

    async def run() -> list[Committed | Exception]:
        opened = Store(open_database(impatient), gather_seconds=0.0)
        loop = asyncio.get_running_loop()
        results: list[Committed | Exception] = []

        def while_held(c: object) -> None:
            pending = asyncio.run_coroutine_threadsafe(opened.commit(units), loop)
            results.extend(pending.result(timeout=10))

        await asyncio.to_thread(world.write, while_held)
        results.extend(await opened.commit(units))
        await opened.close()
        return results

    kinds = [type(result) for result in asyncio.run(run())]
    assert [StoreBusyError, StoreBusyError, Committed, Committed] == kinds


def test_close_commits_waiting_units(world: World):
    """Units still wait for others to share their transaction."""
    world.watch()
    unit = world.make_stored(b"one")

    async def run() -> list[Committed | Exception]:
        opened = Store(world.reopen(), gather_seconds=60.0)
        task = asyncio.create_task(opened.commit([unit]))
        await asyncio.sleep(0)
        await opened.close()
        return await task

    assert [Committed()] == asyncio.run(run())
    assert 1 == len(world.read(versions.listing, 1))


def test_empty_list_is_answered_at_once(world: World):
    """No transaction is made."""
    assert [[]] == _commit(world, [])


def test_event_numbers_are_consecutive_over_a_group(world: World):
    """Each unit gets its own numbers."""
    world.report_change()
    rows = [world.change(id=f"c{i}") for i in range(3)]
    endpoint = world.endpoint()
    (results,) = _commit(world, [world.unit(**world.news(row, endpoint)) for row in rows])

    seqs = [result.event_seqs for result in results if isinstance(result, Committed)]
    assert [(3,), (4,), (5,)] == seqs
    stored = [world.read(changes.get, row.id) for row in rows]
    assert [3, 4, 5] == [change.event_seq for change in stored if change]
