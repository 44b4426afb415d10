import asyncio
import hashlib
import random
from dataclasses import replace
from pathlib import Path

import pytest

from tests.planner import make_watched
from tests.stores import World
from tidings.archive.archive import Archive
from tidings.clock import HOUR, MINUTE
from tidings.model.event_type import EventType
from tidings.model.observed.outcome import Failed
from tidings.model.observed.page import HostState
from tidings.model.observed.poll_reason import PollReason, Why
from tidings.model.observed.unit import Charged, ComparisonRow, Event, Grant, Missing, Unit
from tidings.model.observed.version import NewBody
from tidings.service.examine.detect import Compared
from tidings.service.examine.findings import Findings
from tidings.service.examine.judge import PollResult, Turn
from tidings.service.poll.unit import UnitWriter, keeping, may_report_once, unit_of
from tidings.service.watch.cursors import take, wait_for_second
from tidings.storage.write.store import Store

AT = HOUR
FAILED = Failed(kind="net", reason="no route", requests=2)
HOST = HostState(name="h1.example")


def make_poll(**more) -> PollResult:
    """Return a poll of page 1, which sentinel 1 watches on change."""
    page = make_watched(1, "Fetch on change")
    grant = Grant(page_id=1, host="h1.example", cost=1.0, reason=PollReason(Why.CHANGE))
    charged = Charged(poll_id=7, grant=grant, at=AT - 1, epoch=3)
    return PollResult(page=page, at=AT, epoch=3, charged=charged, outcome=FAILED, **more)


def test_poll_ends_in_its_unit():
    """The unit has the answered requests, the host state, and the epoch of the poller."""
    result = make_poll(answered=(4, 5), hosts=(HOST,))
    record = result.record("error", reason=FAILED.reason, kind=FAILED.kind)

    unit = unit_of(Findings(turn=result, state=result.page.state, record=record))

    assert (AT, 3, record) == (unit.at, unit.epoch, unit.poll)
    assert ((4, 5), (HOST,)) == (unit.answered, unit.hosts)
    assert (7, 1, AT, "no route", 2) == (
        record.poll_id,
        record.page_id,
        record.finished_at,
        record.reason,
        record.requests,
    )


def test_turn_without_a_poll_has_no_record():
    """The turn answers no requests and has no host states."""
    turn = Turn(page=make_watched(1), at=AT, epoch=3)

    unit = unit_of(Findings(turn=turn, state=turn.page.state))

    assert None is unit.poll
    assert ((), ()) == (unit.answered, unit.hosts)


def test_finished_comparison_is_no_longer_pending():
    """A comparison that died again stays pending. Without a poll, one whose cursor did not move was
    made by an earlier turn.
    """
    turn = Turn(page=make_watched(1), at=AT, epoch=3, owed={1: 2, 9: 1})
    moved = Compared(cursors=(take(turn.page.subscriptions[1], 4),))
    died = replace(
        moved,
        comparisons=(ComparisonRow(subscription_id=1, page_id=1, from_seq=3, to_seq=4, revision=1, status="pending"),),
    )

    made = unit_of(Findings(turn=turn, state=turn.page.state, compared=moved)).comparisons
    again = unit_of(Findings(turn=turn, state=turn.page.state, compared=died)).comparisons
    stood = unit_of(Findings(turn=turn, state=turn.page.state)).comparisons

    assert [(1, "done")] == [(row.subscription_id, row.status) for row in made]
    assert [(1, "pending")] == [(row.subscription_id, row.status) for row in again]
    assert [(1, "done")] == [(row.subscription_id, row.status) for row in stood]


def test_doubt_causes_a_second_poll_within_a_minute():
    """A page in error keeps its retry time."""
    result = make_poll()
    doubt = Compared(cursors=(wait_for_second(result.page.subscriptions[1], AT),))
    well, failing = result.page.state, replace(result.page.state, health="error", retry_at=AT + HOUR)

    soon = unit_of(Findings(turn=result, state=well, compared=doubt)).page
    later = unit_of(Findings(turn=result, state=failing, compared=doubt)).page

    assert soon is not None
    assert later is not None
    assert AT < (soon.retry_at or 0) <= AT + MINUTE
    assert AT + HOUR == later.retry_at


def test_killed_job_is_the_problem_of_its_page():
    """The problem is shown until a version can be compared again."""
    result = make_poll()
    known = replace(result.page.state, problem="too deep")

    died = unit_of(Findings(turn=result, state=known, compared=Compared(died="killed"))).page
    quiet = unit_of(Findings(turn=result, state=known)).page

    assert ("killed", "too deep") == (died and died.problem, quiet and quiet.problem)


def test_remembered_headers_are_merged_into_the_cursor_move():
    """Each subscription has one move, the last one, with all that is remembered."""
    result = make_poll()
    (sub,) = result.page.subscriptions.values()
    remembered = replace(take(sub, 1), remembered="headers")
    moved = replace(take(sub, 2), missing=Missing(seq=2, revision=1, names=("a",)))

    unit = unit_of(
        Findings(turn=result, state=result.page.state, remembered=(remembered,), compared=Compared(cursors=(moved,)))
    )

    assert (replace(moved, remembered="headers"),) == unit.cursors


def test_events_of_the_page_come_before_those_of_its_content():
    """A receiver reads them in this order."""
    result = make_poll()
    well = Event(type=EventType.PAGE_OK, at=AT, page_id=1)
    lost = Event(type=EventType.PART_LOST, at=AT, page_id=1, sentinel_id=1, data={"part": "css", "version": 1})

    unit = unit_of(Findings(turn=result, state=result.page.state, events=(well,), compared=Compared(events=(lost,))))

    assert (well, lost) == unit.events


FILE_BYTES = 2_000


def new_body(size: int, former_size: int = 0) -> NewBody:
    body = random.Random(size).randbytes(size)
    return NewBody(body, hashlib.sha256(body).hexdigest(), "f" * 64 if former_size else "", former_size)


def commit_kept(world: World, folder: Path, *bodies: NewBody) -> Unit:
    """Return the unit that is passed to the commit."""
    committed: list[Unit] = []

    async def commit(unit: Unit) -> None:
        committed.append(unit)

    async def run() -> None:
        store = Store(world.reopen())
        archive = Archive(folder, file_bytes=FILE_BYTES, chain_length=8)
        await UnitWriter(store, archive, commit).keep(Unit(at=1, epoch=1, bodies=bodies))
        await store.close()

    asyncio.run(run())
    (unit,) = committed
    return unit


def test_small_bodies_are_left_to_the_commit(world: World, tmp_path: Path):
    """Small bodies fit into a row even without compression. Nothing is written to the disk."""
    unit = commit_kept(world, tmp_path / "blobs", new_body(1_000), new_body(FILE_BYTES - 64, former_size=50))

    assert (2, 0) == (len(unit.bodies), len(unit.blobs))
    assert [] == [*(tmp_path / "blobs").rglob("*")]


@pytest.mark.parametrize("large", [new_body(FILE_BYTES + 1), new_body(10, former_size=FILE_BYTES)])
def test_bodies_that_may_need_a_file_are_planned_before_the_commit(world: World, tmp_path: Path, large: NewBody):
    """The new body or its former version is large. The whole unit is planned then."""
    unit = commit_kept(world, tmp_path / "blobs", new_body(1_000), large)

    assert () == unit.bodies
    assert [new_body(1_000).sha256, large.sha256] == [blob.sha256 for blob in unit.blobs]
    files = {blob.file for blob in unit.blobs if blob.file}
    assert files == {
        path.relative_to(tmp_path / "blobs").as_posix() for path in (tmp_path / "blobs").rglob("*.*") if path.is_file()
    }
    assert bool(files) == (len(large.body) > FILE_BYTES)


def test_large_body_within_a_commit_is_refused(world: World, tmp_path: Path):
    """The file would be younger than its row."""
    keep = keeping(Archive(tmp_path / "blobs", file_bytes=FILE_BYTES, chain_length=8))

    with pytest.raises(ValueError, match="before the commit"):
        world.read(keep, new_body(FILE_BYTES * 2))


def test_only_report_is_recognised_and_changes_no_memory(world: World):
    """Turns that may make it wait for each other, since a unit may be refused."""
    page = make_watched(1, "To first change")
    turn = Turn(page=page, at=AT, epoch=3)
    (sub,) = page.subscriptions.values()
    world.watch("news", "1")
    row = world.change(subscription_id=sub.row.id, sentinel_id=sub.row.sentinel_id)
    found = Findings(turn=turn, state=page.state, compared=Compared(changes=(row,)))

    ends = [unit_of(found).sentinels, unit_of(found).sentinels]

    assert may_report_once(found)
    assert [sub.row.sentinel_id] * 2 == [step.sentinel_id for (step,) in ends]
    assert not may_report_once(replace(found, compared=Compared()))
    assert not sub.owner.has_reported
