"""Promise: a sentinel begins and ends when it says, also by another sentinel, also across a restart."""

from __future__ import annotations

from typing import Any

import pytest

from tests.world import World, play, serve
from tidings.clock import DAY, HOUR, MINUTE
from tidings.errors import SentinelError
from tidings.model.observed.unit import Unit
from tidings.service.run.monitor import Monitor


def _states(world: World, *names: str) -> list[str]:
    return [world.sentinel(name).state for name in names]


@pytest.mark.parametrize("said", ["From end(old)", "From start(old) To end(old)"])
def test_an_end_that_has_passed_is_past_although_nobody_has_played_it(world: World, said: str):
    """No process ran when it ended: what is written now is judged as of now, not by what was stored then."""
    world.page("/a", "<p>one</p>")
    world.add("Create Sentinel old Using {/a} Monitor any change Fetch on demand For 1 hour")
    world.clock.advance(2 * HOUR)

    with pytest.raises(SentinelError, match="E30"):
        world.add(f"Create Sentinel new Using {{/a}} Monitor any change {said}")
    world.add("Alter old For 9 hour")
    world.add(f"Create Sentinel new Using {{/a}} Monitor any change {said}")


def test_a_sentinel_waits_for_its_start_and_ends_at_its_end(world: World):
    """From and For: not one look before, not one after."""
    world.page("/a", "<p>one</p>")
    world.add("Create Sentinel s Using {/a} Monitor any change Fetch every 1 hour From now + 1 day For 2 day")
    begun = world.clock.now()

    with serve(world) as service:
        service.pass_time(HOUR)
        assert ["waiting"] == _states(world, "s")
        service.pass_time(DAY)
        assert ["enabled"] == _states(world, "s")
        service.pass_time(3 * DAY)
    looks = [p.charged_at - begun for p in world.polls()]

    assert ["ended"] == _states(world, "s")
    assert DAY == looks[0]
    assert 3 * DAY > looks[-1] >= 3 * DAY - HOUR
    assert 48 == len(looks)


def test_a_sentinel_starts_when_another_ends(world: World):
    """From end(x) waits for x, whatever ends it; To end(x) + 7 day is reckoned from that instant."""
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


def test_a_drop_is_an_end_for_who_waits(world: World):
    """Dropping x starts the sentinel that waited for end(x), and ends the one that waited for start(x) of a sentinel never started."""
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


def test_a_life_that_fell_into_downtime_is_missed_and_said_so(world: World):
    """A sentinel whose whole life passed while nobody watched ends with the reason `missed`."""
    world.page("/a", "<p>one</p>")
    world.add("Create Sentinel s Using {/a} Monitor any change Fetch every 1 hour From now + 1 day For 1 day")
    play(world, world.settle)
    world.clock.advance(5 * DAY)

    play(world, world.settle)

    assert ("ended", "missed") == (world.sentinel("s").state, world.sentinel("s").reason)
    assert [] == world.polls()


def test_an_inherited_life_is_that_of_the_base(world: World):
    """Without From and To of its own a sentinel made from another begins and ends with it."""
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


def test_the_thesis_example_is_accepted_letter_for_letter_and_its_end_has_passed(world: World):
    """004 §3.1, no. 1: registered with its warnings; its life is over, so it ends without a look."""
    world.add(
        "Create Sentinel s1 Using http://www.cnn.com Monitor all links AND all images Fetch 2 day From 12/02/02 To 01/02/03 "
        "Notify By email jill@aol.com Every 4 day Compare\npairwise"
    )

    play(world, world.settle)

    assert ("ended", "missed") == (world.sentinel("s1").state, world.sentinel("s1").reason)
    assert [] == world.polls()


def test_to_first_change_ends_with_the_report_which_is_told(world: World):
    """After its first report a sentinel ends; that report goes out, whatever the rate; nothing is looked at any more (W-136)."""
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
    told = [m["data"] for _, m in world.received]

    assert ["ended", "ended", "enabled"] == _states(world, "once", "kept", "next")
    assert "its first change was reported" == world.sentinel("once").reason
    assert ["kept", "once"] == sorted(record["sentinel"] for record in told)
    assert [1, 1, 1] == [len(world.changes(name)) for name in ("once", "kept", "next")]


def test_who_was_missed_is_told(world: World):
    """The owner of a sentinel whose whole life passed unwatched hears of it once, also if news were to be gathered."""
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
    """Let somebody say this just before the next step is written."""
    write, texts = monitor.committer.write, iter([text])

    async def count_overtaken(unit: Unit) -> Any:
        if unit.sentinels and (said := next(texts, None)):
            world.add(said)
        return await write(unit)

    monitor.committer.write = count_overtaken  # type: ignore[method-assign]


def test_an_end_that_an_alter_has_overtaken_is_not_told(world: World):
    """Its life had passed unwatched, and as that is to be written and told somebody makes it ten days longer: it begins, and nobody hears of an end."""
    world.page("/a", "<p>one</p>")
    hook = world.receiver()
    world.add(
        f"Create Sentinel s Using {{/a}} Monitor any change From now + 1 day For 1 day Notify By webhook {hook} immediate"
    )
    play(world, world.settle)
    world.clock.advance(5 * DAY)

    with serve(world) as service:
        overtake(world, service.monitor, "Alter s For 10 day")
        service.pass_time(DAY)

    assert ["enabled"] == _states(world, "s")
    assert [] == world.received


@pytest.mark.parametrize("waits", [False, True], ids=["its own end", "the end of the one it waits for"])
def test_a_step_that_an_alter_has_overtaken_is_none(world: World, waits: bool):
    """Somebody gives a sentinel two hours more just as its end is to be written: it lives on, and so who waits for its end waits on."""
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


def test_steps_after_an_end_that_a_drop_has_overtaken_follow_the_drop(world: World):
    """The service was down for half an hour when s was due to end. As it writes that end, somebody
    drops s: t and u, which depend on s, begin at the drop.
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


def test_an_end_that_a_drop_has_overtaken_is_not_reported(world: World):
    """Its whole life was missed. As that is to be reported, somebody drops it: nobody is notified."""
    world.page("/a", "<p>one</p>")
    hook = world.receiver()
    world.add(
        f"Create Sentinel s Using {{/a}} Monitor any change From now + 1 day For 1 day Notify By webhook {hook} immediate"
    )
    play(world, world.settle)
    world.clock.advance(5 * DAY)

    with serve(world) as service:
        overtake(world, service.monitor, "Drop s")
        service.pass_time(DAY)

    assert [] == world.received


def test_each_step_is_one_event(world: World):
    """created, waiting, enabled, ended: each once, with the instant at which it fell due, in the order of their numbers."""
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


def test_lives_leave_nothing_behind(world: World):
    """Eighteen sentinels come, look, end and are dropped: the service holds no page, no sentinel, no meaning of them (W-55)."""
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


def test_two_pages_that_change_at_once_are_one_first_change(world: World):
    """Both are looked at in the same instant and both have changed: one report, as was asked for."""
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


def test_a_clock_that_jumps_ahead_is_downtime(world: World):
    """Three days are gone at once: one look is made up for, then all goes on in its phase."""
    world.page("/a", "<p>one</p>")
    world.add("Create Sentinel s Using {/a} Monitor any change Fetch every 1 hour")
    begun = world.clock.now()

    with serve(world) as service:
        service.pass_time(HOUR)
        world.clock.advance(3 * DAY + HOUR // 2)
        service.pass_time(HOUR)
    looks = [(p.charged_at - begun) * 2 // HOUR for p in world.polls()]

    assert [0, 2, 147, 148] == looks
