"""Promise: limits of hosts and budgets are kept, and a page that cannot be compared is never
reported as unchanged.
"""

from __future__ import annotations

import asyncio
import itertools
import unittest.mock
from collections.abc import Sequence
from typing import Any

import pytest

from tests.world import World, play, serve
from tidings.archive.files import BlobFiles
from tidings.clock import DAY, HOUR, MINUTE, SECOND
from tidings.errors import StoreFullError
from tidings.isolation.runner import Died
from tidings.model.observed.poll_reason import PollReason, Why
from tidings.model.observed.unit import Grant, Unit
from tidings.model.watch.sentinel import share_of
from tidings.service.people import accounts as accounts_of
from tidings.service.run.monitor import Monitor
from tidings.service.upkeep.save_learned import REMEMBER_EVERY
from tidings.storage.db.connection import Connection
from tidings.storage.db.database import open_database
from tidings.storage.observed import estimates, pages, polls
from tidings.storage.people import accounts as accounts_rows
from tidings.storage.watches import sentinels, subscriptions
from tidings.storage.write.store import Store


@pytest.mark.roles
def test_host_gap_is_kept_across_a_restart(make_world):
    """Twenty due pages of a host: one request each five seconds, before and after."""
    world: World = make_world(fetch__host_gap_seconds="5")
    for n in range(20):
        world.page(f"/{n}", f"<p>{n}</p>")
        world.add(f"Create Sentinel s{n} Using {{/{n}}} Monitor any change Fetch every 1 hour")

    play(world, lambda monitor: world.pass_time(monitor, 47 * SECOND))
    play(world, lambda monitor: world.pass_time(monitor, 2 * MINUTE))
    starts = sorted(p.charged_at for p in world.polls())

    assert 20 == len(starts)
    assert all(later - earlier >= 5 * SECOND for earlier, later in itertools.pairwise(starts))
    assert 1 == world.server.most_at_once()


def test_budget_is_kept_and_no_page_starves(make_world):
    """With one request an hour, ten pages take turns."""
    world: World = make_world(
        budget__polls_per_day="24", budget__burst="1", schedule__policy="round_robin", schedule__pace_seconds="60"
    )
    for n in range(10):
        world.page(f"/{n}", f"<p>{n}</p>")
        world.add(f"Create Sentinel s{n} Using {{/{n}}} Monitor any change")

    play(world, lambda monitor: world.pass_time(monitor, DAY))
    all_polls = world.polls()

    assert 23 <= len(all_polls) <= 25
    assert {2, 3} >= {sum(p.page_id == n for p in all_polls) for n in range(1, 11)}


def test_page_that_needs_more_than_the_budget_saves_up_delays_no_other_page(make_world):
    """One request can be saved up, and a redirected page needs two: it is in error, and the other
    page is polled all day.
    """
    world: World = make_world(
        budget__polls_per_day="48", budget__burst="1", schedule__policy="round_robin", schedule__pace_seconds="60"
    )
    world.page("/old", "", status=301, headers={"Location": "/new"})
    world.page("/new", "<p>new</p>")
    world.page("/other", "<p>other</p>")
    world.add("Create Sentinel moved Using {/old} Monitor any change")
    world.add("Create Sentinel other Using {/other} Monitor any change")

    play(world, lambda monitor: world.pass_time(monitor, DAY))
    (moved, _) = world.read(pages.population)

    assert moved[1].lacks_budget
    assert sum(p.page_id == 2 for p in world.polls()) > 20


def test_class_budget_is_kept_across_restarts_and_delays_no_other_page(make_world):
    """One an hour for three hourly pages: at most 24 a day, all used in turn; a page without a
    class keeps its interval.
    """
    world: World = make_world(budget__classes="gentle: 24 per day")
    for n in range(3):
        world.page(f"/{n}", f"<p>{n}</p>")
        world.add(f"Create Sentinel s{n} Using {{/{n}}} Monitor any change Fetch every 1 hour Class gentle")
    world.page("/free", "<p>free</p>")
    world.add("Create Sentinel free Using {/free} Monitor any change Fetch every 1 hour")

    for _ in range(3):
        play(world, lambda monitor: world.pass_time(monitor, 10 * HOUR))
    paid = [p.charged_at for p in world.polls() if p.budget == "gentle"]
    most = max(sum(start <= at < start + DAY for at in paid) for start in paid)

    assert 24 == most
    assert 30 == sum(p.budget == "default" for p in world.polls()) - 1
    assert {9, 10, 11} >= {sum(p.page_id == n for p in world.polls()) for n in (1, 2, 3)}


def own(world: World, name: str, *sentinels_of: str, checks: float = 0.0) -> int:
    """Create an account with a share of the budget and sentinels."""

    def write(c: Connection) -> int:
        if not accounts_rows.exist(c):
            accounts_of.add(c, "admin", "admin", "", at=world.clock.wall())
        row = accounts_of.add(c, name, "editor", "", at=world.clock.wall())
        accounts_of.set_share(c, name, checks)
        for each in sentinels_of:
            sentinels.give(c, sentinels.find(c, each).id, row.id)
        return row.id

    made: int = world.write(write)
    return made


@pytest.mark.roles
def test_share_of_a_user_is_kept_and_affects_nobody_else(make_world):
    """Anna's three hourly pages get 24 checks a day together, across restarts and classes; bob's
    are not affected.
    """
    world: World = make_world(budget__classes="dear: 1000 per day")
    for n in range(4):
        world.page(f"/{n}", f"<p>{n}</p>")
        clause = " Class dear" if n == 0 else ""
        world.add(f"Create Sentinel s{n} Using {{/{n}}} Monitor any change Fetch every 1 hour{clause}")
    anna = share_of(own(world, "anna", "s0", "s1", "s2", checks=24))
    own(world, "bob", "s3")

    for _ in range(3):
        play(world, lambda monitor: world.pass_time(monitor, 10 * HOUR))
    paid = [p.charged_at for p in world.polls() if p.budget == anna]

    assert 24 == max(sum(start <= at < start + DAY for at in paid) for start in paid)
    assert {anna, "default"} == {p.budget for p in world.polls()}
    assert 30 == len(world.polls(4)) - 1
    assert {9, 10, 11} >= {sum(p.page_id == n for p in world.polls()) for n in (1, 2, 3)}


def test_shared_page_is_not_paid_by_a_share(make_world):
    """A page of a user whose share was removed is not either."""
    world: World = make_world()
    for path in ("/a", "/b"):
        world.page(path, "<p>one</p>")
    for name, path in (("mine", "/a"), ("theirs", "/a"), ("alone", "/b")):
        world.add(f"Create Sentinel {name} Using {{{path}}} Monitor any change Fetch every 1 hour")
    anna = share_of(own(world, "anna", "mine", "alone", checks=1))

    play(world, lambda monitor: world.pass_time(monitor, 5 * HOUR))
    assert {"default"} == {p.budget for p in world.polls(1)}
    assert [anna] == [p.budget for p in world.polls() if p.page_id != 1]

    world.write(lambda c: accounts_of.set_share(c, "anna", 0))
    play(world, lambda monitor: world.pass_time(monitor, 5 * HOUR))
    assert 5 <= len([p for p in world.polls() if p.page_id != 1 and p.budget == "default"])


def test_page_with_an_unclassed_sentinel_uses_the_common_budget(make_world):
    """A class that was removed delays nobody."""
    world: World = make_world(budget__classes="gentle: 1 per week")
    for path in ("/a", "/b"):
        world.page(path, "<p>one</p>")
    world.add("Create Sentinel a Using {/a} Monitor any change Fetch every 1 hour Class gentle")
    world.add("Create Sentinel b Using {/b} Monitor any change Fetch every 1 hour Class gentle")
    world.add("Create Sentinel c Using {/a} Monitor any change Fetch every 3 hour")

    play(world, lambda monitor: world.pass_time(monitor, 5 * HOUR))
    before = len(world.polls(2))
    world.flags["budget.classes"] = ""
    play(world, lambda monitor: world.pass_time(monitor, 5 * HOUR))

    assert {"default"} == {p.budget for p in world.polls(1)}
    assert (1, "gentle") == (before, world.polls(2)[0].budget)
    assert 5 <= len([p for p in world.polls(2) if p.budget == "default"])


def test_named_check_of_an_exhausted_class_says_so(make_world):
    """The answer comes at once; others are served."""
    world: World = make_world(budget__classes="gentle: 1 per week")
    for path in ("/a", "/b"):
        world.page(path, "<p>one</p>")
    world.add("Create Sentinel a Using {/a} Monitor any change Fetch on demand Class gentle")
    world.add("Create Sentinel b Using {/b} Monitor any change Fetch on demand")

    with serve(world) as service:
        planner = service.monitor.planner
        with unittest.mock.patch.object(planner, "choose", wraps=planner.choose) as choose:
            for _ in range(2):
                for page in (1, 2):
                    service.monitor.polling.requests.ask(page)
                service.settle()
                service.pass_time(HOUR)
        assert {1} == service.monitor.polling.requests.refused_by_budget
        assert {0} == {call.kwargs["empty_at"] for call in choose.mock_calls}  # what all polls may cost was never spent

    assert (1, 2) == (len(world.polls(1)), len(world.polls(2)))


def test_robots_txt_is_obeyed_charged_and_requested_once_a_day(make_world):
    """A forbidden page is in error(robots) and has no version."""
    world: World = make_world(fetch__robots="true", fetch__host_gap_seconds="1")
    world.page("/robots.txt", "User-agent: *\nDisallow: /private", headers={"Content-Type": "text/plain"})
    world.page("/private/a", "<p>secret</p>")
    world.page("/b", "<p>open</p>")
    world.add(
        "Create Sentinel a Using {/private/a} Monitor any change Fetch every 1 hour; "
        "Create Sentinel b Using {/b} Monitor any change Fetch every 1 hour"
    )

    play(world, lambda monitor: world.pass_time(monitor, 10 * HOUR))

    assert 1 == world.server.paths().count("/robots.txt")
    assert 0 == world.server.paths().count("/private/a")
    assert {("error", "robots")} == {(p.outcome, p.kind) for p in world.polls(1)}
    assert 1 == len(world.events("page.error"))
    assert len(world.server.paths()) == sum(p.cost for p in world.polls()) - len(world.polls(1)) + 1


def test_failed_job_leaves_a_pending_comparison(world: World):
    """The version is stored and no cursor moves; the next try compares the same two versions, once."""
    world.page("/a", "<p>one</p>")
    world.add("Create Sentinel s Using {/a} Monitor all words Fetch every 1 hour")

    with serve(world) as service:
        service.settle()
        _kill_jobs(service.monitor, times=1)
        world.page("/a", "<p>two</p>")
        service.pass_time(HOUR)
        service.settle()

    assert [[{"old": "one", "new": "two"}]] == [c["updated"] for c in world.changes()]
    assert [1, 2] == [v.seq for v in world.versions()]
    assert [] == world.violations()


def test_comparison_is_given_up_after_three_failures(world: World):
    """`could not compare` is one event; the next change is compared with the version that failed."""
    world.page("/a", "<p>one</p>")
    world.add("Create Sentinel s Using {/a} Monitor all words Fetch every 1 hour")

    with serve(world) as service:
        service.settle()
        _kill_jobs(service.monitor, times=3)
        world.page("/a", "<p>two</p>")
        service.pass_time(2 * HOUR)
        world.page("/a", "<p>three</p>")
        service.pass_time(HOUR)

    assert 1 == len(world.events("comparison.given_up"))
    assert [[{"old": "two", "new": "three"}]] == [c["updated"] for c in world.changes()]
    assert [] == world.violations()


def test_pending_comparison_survives_a_restart(world: World):
    """A service that stops after the job died pays the comparison when it is back."""
    world.page("/a", "<p>one</p>")
    world.add("Create Sentinel s Using {/a} Monitor all words Fetch every 1 hour")

    with serve(world) as service:
        service.settle()
        _kill_jobs(service.monitor, times=1)
        world.page("/a", "<p>two</p>")
        world.clock.advance(HOUR)
        service.run(service.monitor.step())
        while not service.monitor.quiescent():
            service.run(service.monitor.rest(most=MINUTE // 60_000))
    owed = world.changes()
    play(world, world.settle)

    assert [] == owed
    assert [[{"old": "one", "new": "two"}]] == [c["updated"] for c in world.changes()]
    assert [] == world.violations()


def test_too_deep_page_is_reported_as_not_compared(world: World):
    """The hostile body is stored as a version; it is never reported as unchanged."""
    world.page("/a", "<p>one</p>")
    world.add("Create Sentinel s Using {/a} Monitor all words Fetch every 1 hour")

    with serve(world) as service:
        service.settle()
        world.page("/a", "<div>" * 100_000 + "two")
        service.pass_time(HOUR)
    (event,) = world.events("comparison.given_up")

    assert event.data["reason"]
    assert 2 == len(world.versions())
    assert [] == world.violations()


def test_lost_body_is_reported_and_the_page_continues(world: World):
    """The newest version is damaged: its comparison fails, later changes are reported."""
    world.page("/a", "<p>one</p>")
    world.add("Create Sentinel s Using {/a} Monitor all words Fetch every 1 hour")
    play(world, world.settle)
    database = open_database(world.settings)
    database.write(lambda c: c.execute("UPDATE blob SET frame = :garbage", garbage=b"no frame at all"))
    database.close()

    with serve(world) as service:
        for text in ("two", "three"):
            world.page("/a", f"<p>{text}</p>")
            service.pass_time(HOUR)

    assert 1 == len(world.events("comparison.given_up"))
    assert [[{"old": "two", "new": "three"}]] == [c["updated"] for c in world.changes()]
    assert [1, 2, 3] == [v.seq for v in world.versions()]


def _kill_jobs(monitor: Monitor, *, times: int) -> None:
    runner = monitor.polling.poller._detector._runner
    lives = runner.run
    left = [times]

    async def run(function, argument, *, seconds=None):
        if left[0]:
            left[0] -= 1
            return Died("crash", "the worker died")
        return await lives(function, argument, seconds=seconds)

    monitor.polling.poller._detector._runner = type("Mortal", (), {"run": staticmethod(run), "close": runner.close})()


def test_unwritable_body_is_reported_to_the_requester(make_world, monkeypatch, caplog):
    """The answer has the reason without a traceback; nothing is half stored, and the page continues
    when there is room (F-08).
    """
    world: World = make_world(store__blob_file_bytes="0")
    if world.dialect == "postgresql":
        pytest.skip("with PostgreSQL all bodies are rows")
    world.page("/a", "<p>one</p>")
    world.add("Create Sentinel s Using {/a} Monitor any change Fetch every 1 hour")
    full = StoreFullError("blobs/aa could not be written: No space left on device; nothing of this version was stored")

    with serve(world) as service:
        service.settle()
        world.page("/a", "<p>two</p>")
        with monkeypatch.context() as patched:
            patched.setattr(BlobFiles, "write", lambda *_: (_ for _ in ()).throw(full))
            database = open_database(world.settings)
            (asked,) = database.write(polls.request_polls, (1,), world.clock.now())
            service.settle()
            (row,) = database.read(polls.get_requests, [asked])
            database.close()
            poll = world.polls()[-1]
            assert "No space left on device" in row.refused
            assert ("error", "disk") == (poll.outcome, poll.kind)
            assert "could not be stored: blobs/aa could not be written: No space left on device" in poll.note
            assert [] == world.read(polls.open_polls)
            assert [1] == [version.seq for version in world.versions()]
            assert [1] == [sub.seen for sub in world.read(subscriptions.listing)]
            assert [("shaky", "disk")] == [(state.health, state.kind) for _, state in world.read(pages.listing)]
        service.pass_time(MINUTE)
        assert [1, 2] == [version.seq for version in world.versions()]
        service.pass_time(HOUR)

    assert 1 == len(world.changes("s"))
    assert [str(full)] == [event.data["reason"] for event in world.events("service.stalled")]
    assert [] == world.events("problem.unit")
    assert [] == [record for record in caplog.records if record.exc_info]
    assert [] == world.violations()


@pytest.mark.parametrize("make_world", ["sqlite"], indirect=True)
def test_service_recovers_from_a_full_disk(world: World, caplog):
    """Each step reports it while the database cannot grow; nothing is half stored (F-08)."""
    world.page("/a", "<p>one</p>")
    world.add("Create Sentinel s Using {/a} Monitor any change Fetch every 1 hour")
    large = " ".join(f"word{n * n}" for n in range(9_000))

    async def story(monitor: Monitor) -> None:
        await world.settle(monitor)
        store = monitor.store

        async def grow(to: int) -> None:
            await store._run(
                lambda: store._database._driver._raw.execute(  # type: ignore[attr-defined]
                    f"PRAGMA max_page_count = {to}"
                ).fetchone()
            )

        world.page("/a", f"<p>{large}</p>")
        await grow(1)  # as large as it is, no larger
        world.clock.advance(HOUR)
        refused = 0
        for _ in range(20):
            try:
                await monitor.step()
            except StoreFullError as error:
                refused += "free some space" in str(error)
            await asyncio.sleep(0.01)
        assert [1] == [version.seq for version in world.versions()]
        assert refused or "cannot grow" in caplog.text
        await grow(1_000_000)
        await world.pass_time(monitor, HOUR)
        assert [] == world.read(polls.open_polls)

    play(world, story)

    assert [1, 2] == [version.seq for version in world.versions()]
    assert 1 == len(world.changes("s"))
    assert [] == world.violations()


async def _full(_: Store, units: Sequence[Unit]) -> list[StoreFullError]:
    """Raise as a store on a full disk does."""
    return [StoreFullError("it cannot grow; make room")] * len(units)


async def _look_while(monitor: Monitor, monkeypatch: pytest.MonkeyPatch, commit: Any) -> None:
    """Poll the first page while the store commits by this function."""
    with monkeypatch.context() as patched:
        patched.setattr(Store, "commit", commit)
        monitor.polling.requests.ask(1)
        await monitor.step()
        await asyncio.wait(monitor._tasks)


def test_poll_left_open_by_a_full_disk_is_ended_later(world: World, monkeypatch):
    """It ends as an error when that can be written, without a restart."""
    world.page("/a", "<p>one</p>")
    world.add("Create Sentinel s Using {/a} Monitor any change Fetch every 1 hour")

    with serve(world) as service:
        service.settle()
        world.page("/a", "<p>two</p>")
        service.run(_look_while(service.monitor, monkeypatch, _full))
        assert 1 == len(world.read(polls.open_polls))
        service.pass_time(HOUR)
        assert [] == world.read(polls.open_polls)
    failed = next(poll for poll in world.polls() if poll.outcome == "error")

    assert ("disk", True) == (failed.kind, "it cannot grow; make room" in failed.note)
    assert 1 == len(world.changes("s"))
    assert [] == world.violations()


def test_ended_poll_is_not_ended_again(world: World, monkeypatch):
    """The disk is full again right after the end of a poll is stored; the service continues."""
    world.page("/a", "<p>one</p>")
    world.add("Create Sentinel s Using {/a} Monitor any change Fetch every 1 hour")
    commit = Store.commit

    async def nearly_full(store: Store, units: Sequence[Unit]) -> Any:
        if all(unit.poll is not None and unit.poll.outcome == "error" for unit in units):
            return await commit(store, units)
        return await _full(store, units)

    with serve(world) as service:
        service.settle()
        world.page("/a", "<p>two</p>")
        service.run(_look_while(service.monitor, monkeypatch, nearly_full))
        assert [] == world.read(polls.open_polls)
        service.pass_time(HOUR)

    assert 1 == sum(poll.outcome == "error" for poll in world.polls())
    assert 1 == len(world.changes("s"))
    assert [] == world.violations()


def test_state_learned_during_a_full_disk_is_stored_later(world: World, monkeypatch):
    """It needs no other poll."""
    world.page("/a", "<p>one</p>")
    world.add("Create Sentinel s Using {/a} Monitor any change")
    policy = world.settings.schedule.policy

    with serve(world) as service:
        service.settle()
        assert {} == world.read(estimates.load_all, policy)
        world.clock.advance(REMEMBER_EVERY)
        with monkeypatch.context() as patched:
            patched.setattr(Store, "commit", _full)
            with pytest.raises(StoreFullError):
                service.run(service.monitor.step())
        world.clock.advance(REMEMBER_EVERY)
        service.run(service.monitor.step())
        assert {1} == world.read(estimates.load_all, policy).keys()


def test_gap_after_a_crash_counts_from_the_restart_for_long_timeouts(make_world):
    """The poll was paid five minutes before the kill and may take ten: its request may have left
    just before.
    """
    world: World = make_world(fetch__host_gap_seconds="5")
    world.page("/a", "<p>one</p>")
    world.add("Create Sentinel s Using {/a} Monitor any change Fetch every 1 hour Timeout 10 min")

    async def dies(monitor: Monitor) -> None:
        await world.settle(monitor)
        ((identity, state),) = world.read(pages.listing)
        grant = Grant(page_id=state.page_id, host=identity.host, cost=1.0, reason=PollReason(Why.INTERVAL))
        await monitor.store.charge([grant], at=world.clock.now(), epoch=monitor.upkeep.epoch)

    play(world, dies)
    world.clock.advance(5 * MINUTE)
    restarted = world.clock.now()

    async def lives(monitor: Monitor) -> None:
        ((identity, _),) = world.read(pages.listing)
        assert restarted + 5 * SECOND == monitor.gate.ready_at(identity.host)

    play(world, lives)
