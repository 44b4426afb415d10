"""Promise: a disabled sentinel stands still: all its waiting times continue where they were
(sentinels §2).
"""

from __future__ import annotations

import pytest

from tests.world import World, play, serve
from tidings.clock import DAY, HOUR, MINUTE
from tidings.model.event_type import EventType
from tidings.service.notify.life_steps import RESUMED
from tidings.service.run.monitor import Monitor
from tidings.service.sentinels import register
from tidings.storage.watches import events, sentinels

PAIR = (
    "Create Sentinel s Using {/a} As A, {/b} As B Monitor any change of A AND any change of B within 1 hour"
    " Fetch every 10 min Notify By webhook HOOK immediate"
)
VETO = PAIR.replace("AND", "AND NOT")
THEN = (
    "Create Sentinel s Using {/a} As A, {/b} As B Monitor any change of A Then within 30 min check B"
    " Fetch every 10 min Notify By webhook HOOK immediate"
)


def list_records(world: World) -> list[dict]:
    """Return the change records that the webhook received."""
    return [body["data"] for _, body in world.received if body["data"]["record"] == "change"]


def begin(world: World, text: str) -> None:
    """Watch two pages with the text one."""
    write(world, "a", "one")
    write(world, "b", "one")
    world.add(text.replace("HOOK", world.receiver()))


def write(world: World, name: str, text: str) -> None:
    """Serve a text as a page."""
    world.page(f"/{name}", f"<title>{name.upper()}</title><p>{text}</p>")


def change_and_disable(world: World, half: int, *, b_fails: bool = False) -> None:
    """Change page A this long after the start (B fails from then on), and disable the sentinel this
    long after that.
    """
    with serve(world) as service:
        service.pass_time(half)
        if b_fails:
            world.page("/b", "gone", status=500)
        write(world, "a", "two")
        service.pass_time(half)
        world.add("Disable s")


def pause(world: World, length: int) -> None:
    """Disable the sentinel for this long, across a restart of the service."""
    play(world, lambda monitor: _pause(world, monitor, length // 2))
    world.add("Enable s")


async def _pause(world: World, monitor: Monitor, half: int) -> None:
    await world.pass_time(monitor, half)
    assert not [
        d for page in monitor.watchlist.pages for d in monitor.polling.grants._needs.wanting(page, world.clock.now())
    ]
    world.clock.move_to(world.clock.now() + half)


@pytest.mark.parametrize(("minutes", "count"), [(20, 1), (70, 0)])
def test_pending_parts_keep_their_remaining_time(world: World, minutes: int, count: int):
    """Twenty minutes of an hour passed before a pause of three days: forty remain."""
    begin(world, PAIR)
    change_and_disable(world, 30 * MINUTE)
    pause(world, 3 * DAY)
    with serve(world) as service:
        service.pass_time(minutes * MINUTE)
        write(world, "b", "two")
        service.pass_time(3 * HOUR)

    assert count == len(list_records(world))
    assert [] == world.violations()


@pytest.mark.parametrize(("changes", "count"), [(False, 1), (True, 0)])
def test_not_keeps_its_whole_window(world: World, changes: bool, count: int):
    """`A AND NOT B within 1 hour`: the hour ends later by the pause; a change of B in it counts
    when it is seen.
    """
    begin(world, VETO)
    change_and_disable(world, 30 * MINUTE)
    if changes:
        write(world, "b", "two")
    pause(world, 2 * DAY)
    with serve(world) as service:
        service.pass_time(25 * MINUTE)
        assert [] == list_records(world)
        service.pass_time(HOUR)

    assert ["complete"] * count == [record["verdict"] for record in list_records(world)]


def test_need_is_not_missed_in_a_pause(world: World):
    """The page of Then fails at first and is not polled in the pause; the remaining time follows."""
    begin(world, THEN)
    change_and_disable(world, 15 * MINUTE, b_fails=True)
    polls = len(world.polls(2))
    write(world, "b", "two")
    pause(world, DAY)
    assert (polls, []) == (len(world.polls(2)), list_records(world))
    play(world, lambda monitor: world.pass_time(monitor, 30 * MINUTE))
    (record,) = list_records(world)

    assert ("complete", ["changed", "changed"]) == (record["verdict"], [part["status"] for part in record["parts"]])


def test_unmet_need_is_reported_after_the_pause(world: World):
    """Its deadline moves by the pause."""
    begin(world, THEN)
    change_and_disable(world, 15 * MINUTE, b_fails=True)
    pause(world, DAY)
    with serve(world) as service:
        service.pass_time(5 * MINUTE)
        assert [] == list_records(world)
        service.pass_time(HOUR)

    assert ["missed"] == [record["verdict"] for record in list_records(world)]


def digest(world: World, rate: str, more: str = "") -> None:
    """Serve a page and watch it with a digest."""
    write(world, "a", "one")
    hook = world.receiver()
    world.add(
        f"Create Sentinel s Using {{/a}} Monitor all words Fetch every 1 hour Notify By webhook {hook} {rate} {more}"
    )


def counts(world: World) -> list[int]:
    """Return the number of changes in each message."""
    return [len(body["data"].get("changes", [body["data"]])) for _, body in world.received]


@pytest.mark.parametrize(
    ("rate", "expected"), [("every 1 day", [3]), ("every 3 changes", [3]), ("every 1 week or 3 changes", [3])]
)
def test_digest_of_a_pause_is_sent_at_its_next_time_after_it(world: World, rate: str, expected: list[int]):
    """Two changes before the pause and one after it are one message."""

    async def change(monitor: Monitor, texts: str) -> None:
        for text in texts:
            write(world, "a", text)
            await world.pass_time(monitor, HOUR)

    digest(world, rate)
    with serve(world) as service:
        service.pass_time(MINUTE)
        service.run(change(service.monitor, "xy"))
        world.add("Disable s")
    pause(world, 3 * DAY + 2 * HOUR)
    assert [] == counts(world)
    with serve(world) as service:
        service.run(change(service.monitor, "z"))
        service.pass_time(DAY)

    assert expected == counts(world)


def test_errors_in_a_pause_go_to_other_sentinels_only(world: World):
    """Another sentinel of the page is notified."""
    digest(world, "every 1 day")
    world.add("Create Sentinel other Using {/a} Monitor all words Fetch every 1 hour Notify By console every 1 day")
    with serve(world) as service:
        service.pass_time(HOUR)
        world.add("Disable s")
        service.pass_time(HOUR)
        world.page("/a", "gone", status=404)
        service.pass_time(12 * HOUR)
        write(world, "a", "one")
        service.pass_time(2 * DAY)
        world.add("Enable s")
        service.pass_time(2 * DAY)

    assert [] == counts(world)
    assert "404" in world.console.getvalue()


def test_sentinel_altered_in_a_pause_continues_as_altered(world: World):
    """The new rate and window apply after it; gathered news are sent once."""
    digest(world, "every 1 week")
    with serve(world) as service:
        service.pass_time(MINUTE)
        write(world, "a", "two")
        service.pass_time(HOUR)
        world.add("Disable s")
        service.pass_time(HOUR)
        world.add("Alter s Notify By webhook HOOK best effort".replace("HOOK", world.receiver()))
        service.pass_time(HOUR)
        assert [] == counts(world)
        world.add("Enable s")
        service.pass_time(HOUR)

    assert [1] == counts(world)


@pytest.mark.parametrize("last", ["Drop s", "Alter s For 1 hour"])
def test_sentinel_that_ends_in_a_pause_sends_its_digest(world: World, last: str):
    """Dropped or ended, it sends once and leaves no rule."""
    digest(world, "every 1 week")
    with serve(world) as service:
        service.pass_time(MINUTE)
        write(world, "a", "two")
        service.pass_time(HOUR)
        world.add("Disable s")
        service.pass_time(HOUR)
        world.add(last)
        service.pass_time(HOUR)
        assert (0, 0, 0) == service.rule_sizes

    assert [1] == counts(world)
    assert [] == world.read(events.list_rule_states, "rules")
    assert [] == world.violations()


KINDS = (
    "Monitor any change of A AND any change of B within 3 hour Notify By webhook HOOK immediate",
    "Monitor any change of A AND NOT any change of B within 3 hour Notify By webhook HOOK best effort",
    "Monitor any change of A Then within 30 min check B Notify By webhook HOOK every 1 day",
    "Monitor all words of A OR all words of B Notify By webhook HOOK immediate quiet 00:00 to 23:00",
    "Monitor any change Notify By webhook HOOK every 1 week or 10 changes max 1 per 1 day",
    "Monitor any change Notify By webhook HOOK at 08:00 To first change",
)


def test_ended_sentinels_of_every_kind_leave_no_state(world: World):
    """Windows, needs, digests, quiet hours, caps and pauses leave no rule, clock, node, need or row
    (W-55).
    """
    hook = world.receiver()
    sizes = []

    with serve(world) as service:
        for turn in range(2):
            names = [f"s{turn}_{n}" for n in range(3 * len(KINDS))]
            for name in ("a", "b"):
                write(world, name, "one")
            lives = (
                f"Create Sentinel {s} Using {{/a}} As A, {{/b}} As B Fetch every 1 hour {KINDS[n % 6]}"
                for n, s in enumerate(names)
            )
            world.add(";\n".join(lives).replace("HOOK", hook))
            service.pass_time(MINUTE)
            write(world, "a", f"two {turn}")
            service.pass_time(HOUR)
            sizes.append(service.rule_sizes.rules)
            world.add(";".join(f"Disable {s}" for s in names[::2] if world.sentinel(s).state == "enabled"))
            service.pass_time(HOUR)
            world.add(";".join(f"Enable {s}" for s in names[::4] if world.sentinel(s).state == "disabled"))
            service.pass_time(HOUR)
            world.add(";".join(f"Drop {s}" for s in names))
            service.pass_time(HOUR)
            assert (0, 0, 0) == service.rule_sizes
            assert ({}, {}) == (service.monitor.watchlist.pages, service.monitor.watchlist.sentinels)
            assert not service.monitor.polling.grants._needs._by_owner
        service.run(service.monitor.rules.remember())

    assert 1 == len(set(sizes))
    assert sizes[0] > 30
    assert [] == world.read(events.list_rule_states, "rules") == world.read(events.list_rule_states, "rules.finished")
    assert [] == world.read(events.list_timers)
    assert [] == world.violations()


def test_pause_with_an_end_is_over_by_itself_after_a_restart(world: World):
    """A change during the pause is reported after it; enabling earlier removes the end."""
    write(world, "a", "one")
    world.add(f"Create Sentinel s Using {{/a}} Monitor words Fetch every 10 min Notify By webhook {world.receiver()}")
    with serve(world) as service:
        service.pass_time(HOUR)
        world.add("Disable s for 3 days")
        write(world, "a", "two")
        service.pass_time(DAY)
    states = [world.read(sentinels.find, "s").state]
    with serve(world) as service:
        service.pass_time(DAY)
        states.append(world.read(sentinels.find, "s").state)
        reported = len(list_records(world))
        service.pass_time(DAY + HOUR)
        states.append(world.read(sentinels.find, "s").state)
        resumed = world.read(events.newest, EventType.SENTINEL_ENABLED)
        world.add("Disable s for 3 days")
        world.add("Enable s")

    assert (["disabled", "disabled", "enabled"], 0, 1) == (states, reported, len(list_records(world)))
    assert (RESUMED, None) == (resumed.data["reason"], world.read(sentinels.find, "s").resume_at)


@pytest.mark.parametrize("hours", [1, 5])
def test_restored_sentinel_is_paused_until_the_same_time(world: World, hours: int):
    """It was dropped in a pause of three hours, and is restored before or after the end of that."""
    write(world, "a", "one")
    world.add("Create Sentinel s Using {/a} Monitor words Fetch every 10 min")
    states = []
    with serve(world) as service:
        service.pass_time(HOUR)
        world.add("Disable s for 3 hours")
        world.add("Drop s")
        service.pass_time(hours * HOUR)
        world.write(register.take_back, "s", now=world.clock.now())
        states.append(world.sentinel("s").state)
        service.pass_time(MINUTE)
        states.append(world.sentinel("s").state)
        service.pass_time(3 * HOUR)
        states.append(world.sentinel("s").state)

    assert ["disabled", "enabled" if hours > 3 else "disabled", "enabled"] == states
    assert [] == world.violations()
