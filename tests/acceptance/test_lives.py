"""Promise: a sentinel starts and ends when it says, also with another sentinel, also across a
restart.
"""

from __future__ import annotations

from typing import Any

import pytest

from tests.world import World, play, serve
from tidings.clock import DAY, HOUR, MINUTE
from tidings.errors import SentinelError
from tidings.model.observed.unit import Unit
from tidings.service.run.monitor import Monitor
from tidings.service.sentinels import register
from tidings.storage.watches import sentinels


def _states(world: World, *names: str) -> list[str]:
    return [world.sentinel(name).state for name in names]


@pytest.mark.parametrize("text", ["From end(old)", "From start(old) To end(old)"])
def test_past_end_counts_although_no_process_ran(world: World, text: str):
    """A new statement is judged at its own time, not by the stored state."""
    world.page("/a", "<p>one</p>")
    world.add("Create Sentinel old Using {/a} Monitor any change Fetch on demand For 1 hour")
    world.clock.advance(2 * HOUR)

    with pytest.raises(SentinelError, match="E30"):
        world.add(f"Create Sentinel new Using {{/a}} Monitor any change {text}")
    world.add("Alter old For 9 hour")
    world.add(f"Create Sentinel new Using {{/a}} Monitor any change {text}")


def test_sentinel_waits_for_its_start_and_ends_at_its_end(world: World):
    """No poll is before From or after For."""
    world.page("/a", "<p>one</p>")
    world.add("Create Sentinel s Using {/a} Monitor any change Fetch every 1 hour From now + 1 day For 2 day")
    begun = world.clock.now()

    with serve(world) as service:
        service.pass_time(HOUR)
        assert ["waiting"] == _states(world, "s")
        service.pass_time(DAY)
        assert ["enabled"] == _states(world, "s")
        service.pass_time(3 * DAY)
    polls = [p.charged_at - begun for p in world.polls()]

    assert ["ended"] == _states(world, "s")
    assert DAY == polls[0]
    assert 3 * DAY > polls[-1] >= 3 * DAY - HOUR
    assert 48 == len(polls)


def test_sentinel_starts_when_another_ends(world: World):
    """From end(x) starts on any end of x; To end(x) + 7 day counts from that instant."""
    world.page("/a", "<p>one</p>")
    world.page("/b", "<p>two</p>")
    world.add(
        "Create Sentinel first Using {/a} Monitor any change Fetch every 1 hour For 1 day; "
        "Create Sentinel next Using {/b} Monitor any change Fetch every 1 hour From end(first) To end(first) + 1 day"
    )

    with serve(world) as service:
        service.pass_time(HOUR)
        assert ["enabled", "waiting"] == _states(world, "first", "next")
        service.pass_time(DAY)
        assert ["ended", "enabled"] == _states(world, "first", "next")
        service.pass_time(2 * DAY)

    assert ["ended", "ended"] == _states(world, "first", "next")


def test_drop_is_an_end_for_dependents(world: World):
    """Dropping x starts the sentinel with end(x), and ends the one with start(x) of a sentinel that
    never started.
    """
    world.page("/a", "<p>one</p>")
    world.add(
        "Create Sentinel first Using {/a} Monitor any change Fetch every 1 hour From now + 1 day; "
        "Create Sentinel after Using {/a} Monitor any change Fetch every 1 hour From end(first); "
        "Create Sentinel with Using {/a} Monitor any change Fetch every 1 hour From start(first)"
    )

    with serve(world) as service:
        service.pass_time(HOUR)
        world.add("Drop first")
        service.pass_time(HOUR)

    assert ["enabled", "ended"] == _states(world, "after", "with")
    assert "never started" == world.sentinel("with").reason


def test_life_within_downtime_is_reported_as_missed(world: World):
    """The sentinel ends with the reason `missed`."""
    world.page("/a", "<p>one</p>")
    world.add("Create Sentinel s Using {/a} Monitor any change Fetch every 1 hour From now + 1 day For 1 day")
    play(world, world.settle)
    world.clock.advance(5 * DAY)

    play(world, world.settle)

    assert ("ended", "missed") == (world.sentinel("s").state, world.sentinel("s").reason)
    assert [] == world.polls()


def test_inherited_life_is_that_of_the_base(world: World):
    """It applies to a sentinel without From and To of its own."""
    world.page("/a", "<p>one</p>")
    world.add(
        "Create Sentinel base Using {/a} Monitor all words Fetch every 1 hour From now + 1 day For 1 day; Create Sentinel child Using base Monitor links"
    )

    with serve(world) as service:
        service.pass_time(HOUR)
        assert ["waiting", "waiting"] == _states(world, "base", "child")
        service.pass_time(DAY)
        assert ["enabled", "enabled"] == _states(world, "base", "child")
        service.pass_time(DAY)

    assert ["ended", "ended"] == _states(world, "base", "child")


def test_example_of_the_thesis_is_accepted_and_already_over(world: World):
    """004 §3.1, no. 1: it is stored with its warnings and ends without a poll, and nobody is told
    that Tidings was not running.
    """
    world.add(
        "Create Sentinel s1 Using http://www.cnn.com Monitor all links AND all images Fetch 2 day From 12/02/02 To 01/02/03 "
        "Notify By email jill@aol.com Every 4 day Compare\npairwise"
    )

    play(world, world.settle)

    assert ("ended", "its end has come") == (world.sentinel("s1").state, world.sentinel("s1").reason)
    assert [] == world.polls()
    assert [] == world.deliveries()


FOLLOWERS = {
    "ends": "To end(gone)",
    "late": "To end(gone) + 1 hour",
    "starts": "From end(gone)",
    "along": "From start(starts) To end(gone) + 9 day",
    "last": "To start(starts)",
    "never": "From start(idle)",
    "rests": "From end(gone)",
    "own": "For 30 day",
}


@pytest.mark.roles
@pytest.mark.parametrize("restarts", [False, True])
def test_undone_drop_undoes_what_followed_it(world: World, *, restarts: bool):
    """Starts and ends of others, and theirs in turn; all follow the next end as at first."""
    world.page("/a", "<p>one</p>")
    watch = "Create Sentinel {} Using {{/a}} Monitor any change Fetch every 1 hour {}"
    world.add("\n".join(watch.format(name, life) for name, life in (("gone", ""), ("idle", "From now + 9 day"))))
    world.add("\n".join(watch.format(name, life) for name, life in FOLLOWERS.items()))
    others = [*FOLLOWERS, "gone", "idle"]

    def play_hours(hours: int) -> None:
        with serve(world) as service:
            service.pass_time(hours * HOUR)

    def take_back(name: str) -> None:
        world.write(register.take_back, name, now=world.clock.now())

    play_hours(1)
    before = _states(world, *others)
    world.add("Drop gone")
    world.add("Drop idle")
    play_hours(3)
    if restarts:
        play_hours(1)
    world.add("Disable rests")
    moved = _states(world, *FOLLOWERS)
    take_back("gone")
    take_back("idle")
    play_hours(1)
    world.add("Enable rests")
    play_hours(1)
    after = _states(world, *others)
    world.add("Drop gone")
    play_hours(3)

    assert ["ended", "ended", "enabled", "enabled", "ended", "ended", "disabled", "enabled"] == moved
    assert before == after
    assert ["ended", "ended", "enabled", "enabled", "ended", "waiting", "enabled", "enabled"] == _states(
        world, *FOLLOWERS
    )
    assert [] == world.violations()


@pytest.mark.roles
def test_to_first_change_ends_after_its_report_is_sent(world: World):
    """The report is sent at any rate; the page is not polled again (W-136)."""
    world.page("/a", "<p>count 0</p>")
    hook = world.receiver()
    world.add(
        f"Create Sentinel once Using {{/a}} Monitor all words Fetch every 1 hour To first change Notify By webhook {hook} immediate; "
        f"Create Sentinel kept Using {{/a}} Monitor all words Fetch every 1 hour To first change Notify By webhook {hook} every 4 day; "
        "Create Sentinel next Using {/a} Monitor all words Fetch every 1 hour From end(once)"
    )

    with serve(world) as service:
        service.pass_time(2 * HOUR)
        assert ["enabled", "enabled", "waiting"] == _states(world, "once", "kept", "next")
        world.page("/a", "<p>count 1</p>")
        service.pass_time(HOUR)
        world.page("/a", "<p>count 2</p>")
        service.pass_time(2 * HOUR)
    reported = [m["data"] for _, m in world.received]

    assert ["ended", "ended", "enabled"] == _states(world, "once", "kept", "next")
    assert "its first change was reported" == world.sentinel("once").reason
    assert ["kept", "once"] == sorted(record["sentinel"] for record in reported)
    assert [1, 1, 1] == [len(world.changes(name)) for name in ("once", "kept", "next")]


def test_owner_of_a_missed_sentinel_is_notified_once(world: World):
    """A gathering rate does not delay the message."""
    world.page("/a", "<p>one</p>")
    hook = world.receiver()
    world.add(
        f"Create Sentinel s Using {{/a}} Monitor any change From now + 1 day For 1 day Notify By webhook {hook} every 4 day"
    )
    play(world, world.settle)
    world.clock.advance(5 * DAY)

    play(world, lambda monitor: world.pass_time(monitor, 9 * DAY))

    assert ["missed"] == [m["data"]["kind"] for _, m in world.received]


def overtake(world: World, monitor: Monitor, text: str) -> None:
    """Run a statement just before the next step is stored."""
    write, texts = monitor.committer.write, iter([text])

    async def count_overtaken(unit: Unit) -> Any:
        if unit.sentinels and (output := next(texts, None)):
            world.add(output)
        return await write(unit)

    monitor.committer.write = count_overtaken  # type: ignore[method-assign]


@pytest.mark.parametrize(("statement", "states"), [("Alter s For 10 day", ["enabled"]), ("Drop s", [])])
def test_end_overtaken_by_a_user_is_not_notified(world: World, statement: str, states: list[str]):
    """The missed end is about to be stored when a user adds ten days, so that the sentinel starts
    instead, or drops the sentinel.
    """
    world.page("/a", "<p>one</p>")
    hook = world.receiver()
    world.add(
        f"Create Sentinel s Using {{/a}} Monitor any change From now + 1 day For 1 day Notify By webhook {hook} immediate"
    )
    play(world, world.settle)
    world.clock.advance(5 * DAY)

    with serve(world) as service:
        overtake(world, service.monitor, statement)
        service.pass_time(DAY)

    assert states == _states(world, *world.read(sentinels.names))
    assert [] == world.received


@pytest.mark.parametrize("waits", [False, True], ids=["its own end", "the end of the one it waits for"])
def test_step_postponed_by_an_alter_is_not_made(world: World, waits: bool):
    """A user adds two hours just before the end is stored: it and its dependents wait on."""
    world.page("/a", "<p>one</p>")
    world.add("Create Sentinel s Using {/a} Monitor any change For 1 hour")
    if waits:
        world.add("Create Sentinel t Using {/a} Monitor any change From end(s) For 1 hour")
    begun = world.clock.now()

    with serve(world) as service:
        service.pass_time(59 * MINUTE)
        overtake(world, service.monitor, "Alter s For 3 hour")
        service.pass_time(2 * MINUTE)
        assert ["enabled", *(["waiting"] if waits else [])] == _states(world, *("s", "t")[: 1 + waits])
        service.pass_time(5 * HOUR)

    assert 3 * HOUR == world.sentinel("s").ended_at - begun
    if waits:
        assert (3 * HOUR, 4 * HOUR) == tuple(
            at - begun for at in (world.sentinel("t").started_at, world.sentinel("t").ended_at)
        )


def test_steps_of_dependents_follow_a_drop_before_the_end(world: World):
    """S was due to end half an hour ago and is dropped before that is stored: t and u, which depend
    on s, start at the drop.
    """
    world.page("/a", "<p>one</p>")
    for text in ("s {} For 1 hour", "t {} From end(s) For 1 hour", "u {} From start(t) For 1 hour"):
        world.add(f"Create Sentinel {text.format('Using {/a} Monitor any change')}")
    begun = world.clock.now()
    play(world, world.settle)
    world.clock.advance(90 * MINUTE)

    with serve(world) as service:
        overtake(world, service.monitor, "Drop s")
        service.pass_time(10 * MINUTE)

    assert [90 * MINUTE] * 2 == [world.sentinel(name).started_at - begun for name in ("t", "u")]


def test_each_step_is_one_event(world: World):
    """created, waiting, enabled, ended: each once, with its due instant, in order."""
    world.page("/a", "<p>one</p>")
    world.add("Create Sentinel s Using {/a} Monitor any change Fetch every 1 hour From now + 1 day For 1 day")
    begun = world.clock.now()
    play(world, world.settle)
    world.clock.advance(DAY + 5 * HOUR)
    play(world, world.settle)
    world.clock.advance(5 * DAY)
    play(world, world.settle)

    steps = [(e.type, (e.at - begun) // HOUR) for e in world.events() if e.type.startswith("sentinel.")]

    assert [
        ("sentinel.created", 0),
        ("sentinel.waiting", 0),
        ("sentinel.enabled", 24),
        ("sentinel.ended", 48),
    ] == steps


def test_ended_sentinels_leave_no_state(world: World):
    """Eighteen sentinels start, poll, end and are dropped: the service holds no page or sentinel
    (W-55).
    """
    world.page("/a", "<p>one</p>")

    with serve(world) as service:
        for number in range(18):
            end = f"To end(s{number - 1}) + 3 hour" if number % 3 == 1 else "For 1 hour"
            world.add(f"Create Sentinel s{number} Using {{/a}} Monitor any change Fetch every 1 hour {end}")
            service.pass_time(HOUR)
            if number % 3 == 2:
                world.add(f"Drop s{number - 2}; Drop s{number}")
        service.pass_time(DAY)
        watchlist = service.monitor.watchlist

        assert ({}, {}) == (watchlist.pages, watchlist.sentinels)
        assert ({}, {}, {}) == (watchlist._past, watchlist._meanings, watchlist._places)
        assert None is service.monitor.planner.due_at(1)

    assert 18 == sum(e.type == "sentinel.ended" for e in world.events())


def test_simultaneous_first_changes_are_one_report(world: World):
    """Two pages are polled at the same instant, and both changed."""
    for path in ("/a", "/b"):
        world.page(path, "<p>count 0</p>")
    world.add("Create Sentinel s Using {/a}, {/b} Monitor all words Fetch every 1 hour To first change")

    async def story(monitor: Monitor) -> None:
        await world.pass_time(monitor, HOUR)
        for path in ("/a", "/b"):
            world.page(path, "<p>count 1</p>")
        await world.pass_time(monitor, 3 * HOUR)

    play(world, story)

    assert "ended" == world.sentinel("s").state
    assert 1 == len(world.changes())
    assert [] == world.violations()


def test_clock_jump_counts_as_downtime(world: World):
    """After three days' jump one poll is made up for; then all continues in phase."""
    world.page("/a", "<p>one</p>")
    world.add("Create Sentinel s Using {/a} Monitor any change Fetch every 1 hour")
    begun = world.clock.now()

    with serve(world) as service:
        service.pass_time(HOUR)
        world.clock.advance(3 * DAY + HOUR // 2)
        service.pass_time(HOUR)
    polls = [(p.charged_at - begun) * 2 // HOUR for p in world.polls()]

    assert [0, 2, 147, 148] == polls
