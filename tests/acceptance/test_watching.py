"""Promise: what changed of what you asked for is told, exactly, once, and nothing else is."""

from __future__ import annotations

import asyncio
import os

import pytest

from tests.world import World, play, serve
from tidings.clock import DAY, HOUR, MINUTE
from tidings.errors import PollerBusyError
from tidings.service.run.assembly import poller


def test_the_first_look_is_a_baseline_and_the_next_change_is_told_exactly(world: World):
    """Nothing is news at first; then an edit is told with the words that went and came."""
    world.page("/a", "<h1>Price</h1><p>It costs <b>5</b> euro today.</p>")
    world.add("Create Sentinel price Using {/a} Monitor all words Fetch every 1 hour")

    with serve(world) as service:
        service.pass_time(HOUR // 2)
        assert [] == world.changes()
        world.page("/a", "<h1>Price</h1><p>It costs <b>6</b> euro today.</p>")
        service.pass_time(HOUR)
    (change,) = world.changes()

    assert [{"old": "5", "new": "6"}] == change["updated"]
    assert ("1.1", "1.2") == (change["from_version"], change["to_version"])
    assert ["new", "changed"] == [p.outcome for p in world.polls()]
    assert [] == world.violations()


def test_an_edit_of_markup_only_makes_a_version_and_no_news(world: World):
    """Another class, another tag, other white space: the bytes are kept, nobody is told, the text is known to be the same."""
    world.page("/a", "<div><p>one two</p></div>")
    world.add("Create Sentinel s Using {/a} Monitor any change Fetch every 1 hour")

    with serve(world) as service:
        service.settle()
        world.page("/a", '<section class="x">\n<p>one <i>two</i></p></section>')
        service.pass_time(HOUR)

    assert [] == world.changes()
    assert [1, 2] == [v.seq for v in world.versions()]
    assert [False, False] == [p.text_changed for p in world.polls()]
    assert [] == world.violations()


def test_a_page_that_goes_back_is_told_twice_and_stored_once(world: World):
    """A, B, A: three versions, two changes, two bodies."""
    world.page("/a", "<p>alpha</p>")
    world.add("Create Sentinel s Using {/a} Monitor all words Fetch every 1 hour")

    with serve(world) as service:
        service.settle()
        for text in ("beta", "alpha"):
            world.page("/a", f"<p>{text}</p>")
            service.pass_time(HOUR)
    kept = world.versions()

    assert [("alpha", "beta"), ("beta", "alpha")] == [
        (c["updated"][0]["old"], c["updated"][0]["new"]) for c in world.changes()
    ]
    assert kept[0].sha256 == kept[2].sha256 != kept[1].sha256
    assert [] == world.violations()


def test_a_slow_sentinel_never_sees_the_rate_of_a_fast_one(world: World):
    """Two sentinels share the downloads of a page; each compares its own samples only (sentinels §4.2)."""
    world.page("/a", "<p>count 0</p>")
    world.add(
        "Create Sentinel fast Using {/a} Monitor all words Fetch every 1 hour; "
        "Create Sentinel slow Using {/a} Monitor all words Fetch every 1 day slack 1 s"
    )

    with serve(world) as service:
        service.settle()
        for hour in range(1, 25):
            world.page("/a", f"<p>count {hour}</p>")
            service.pass_time(HOUR)

    assert 24 == len(world.changes("fast"))
    assert [[{"old": "0", "new": "24"}]] == [c["updated"] for c in world.changes("slow")]
    assert 25 == len(world.polls())
    assert [] == world.violations()


def test_a_change_that_came_and_went_between_two_looks_is_nothing(world: World):
    """A slow sentinel asked for its own samples; what was there in between is not its news."""
    world.page("/a", "<p>here</p>")
    world.add(
        "Create Sentinel fast Using {/a} Monitor all words Fetch every 1 hour; "
        "Create Sentinel slow Using {/a} Monitor all words Fetch every 6 hour slack 1 s"
    )

    with serve(world) as service:
        service.settle()
        world.page("/a", "<p>gone</p>")
        service.pass_time(2 * HOUR)
        world.page("/a", "<p>here</p>")
        service.pass_time(10 * HOUR)

    assert 2 == len(world.changes("fast"))
    assert [] == world.changes("slow")
    assert [] == world.violations()


def test_a_page_on_change_is_looked_at_once_a_pace(make_world):
    """With the policy round_robin a page without an interval of its own is looked at every `schedule.pace`."""
    world: World = make_world(schedule__policy="round_robin")
    world.page("/a", "<p>still</p>")
    world.add("Create Sentinel s Using {/a} Monitor any change")

    play(world, lambda monitor: world.pass_time(monitor, DAY))

    assert 25 == len(world.polls())


def test_a_paused_sentinel_tells_once_what_happened_meanwhile(world: World):
    """Disable freezes the cursor; after enable one comparison spans the gap (sentinels §2)."""
    world.page("/a", "<p>before</p>")
    world.add("Create Sentinel s Using {/a} Monitor all words Fetch every 1 hour")

    with serve(world) as service:
        service.settle()
        world.add("Disable s")
        for text in ("during", "after"):
            world.page("/a", f"<p>{text}</p>")
            service.pass_time(DAY)
        looked = len(world.polls())
        world.add("Enable s")
        service.pass_time(2 * HOUR)
        assert 1 == looked

    assert [[{"old": "before", "new": "after"}]] == [c["updated"] for c in world.changes()]
    assert [] == world.violations()


def test_links_and_images_are_found_by_their_addresses(world: World):
    """A new link and a gone image are told as objects; words do not matter to them."""
    world.page("/a", '<a href="/one">one</a><img src="/x.png">')
    world.add("Create Sentinel s Using {/a} Monitor links OR images Fetch every 1 hour")

    with serve(world) as service:
        service.settle()
        world.page("/a", '<p>other words</p><a href="/one">uno</a><a href="/two">two</a>')
        service.pass_time(HOUR)
    (change,) = world.changes()

    assert [world.server.url("/two")] == change["inserted"]
    assert [world.server.url("/x.png")] == change["deleted"]


def test_three_months_pass_without_one_look_too_many(world: World):
    """Ticks keep their phase for months and every look is on the hour."""
    world.page("/a", "<p>still</p>")
    world.add("Create Sentinel s Using {/a} Monitor any change Fetch every 12 hour slack 1 min")
    begun = world.clock.now()

    play(world, lambda monitor: world.pass_time(monitor, 90 * DAY))
    looks = world.polls()

    assert 181 == len(looks)
    assert {0} == {(p.charged_at - begun) % (12 * HOUR) for p in looks}


def test_downtime_of_a_week_is_one_look_not_fourteen(world: World):
    """After a week without the service a page is looked at once, and the phase of its ticks is kept."""
    world.page("/a", "<p>one</p>")
    world.add("Create Sentinel s Using {/a} Monitor all words Fetch every 12 hour slack 1 min")
    begun = world.clock.now()
    play(world, world.settle)
    world.clock.advance(7 * DAY + 3 * HOUR)
    world.page("/a", "<p>two</p>")

    play(world, lambda monitor: world.pass_time(monitor, 10 * HOUR))

    assert [0, 7 * DAY + 3 * HOUR, 7 * DAY + 12 * HOUR] == [p.charged_at - begun for p in world.polls()]
    assert 1 == len(world.changes())


def test_a_failing_page_makes_no_version_and_no_news(world: World):
    """Errors are states, not changes: one event in, one event out, the content cursor does not move."""
    world.page("/a", "<p>fine</p>")
    world.add("Create Sentinel s Using {/a} Monitor any change Fetch every 10 min")

    with serve(world) as service:
        service.settle()
        world.page("/a", "<h1>broken</h1>", status=500)
        service.pass_time(5 * HOUR)
        world.page("/a", "<p>fine</p>")
        service.pass_time(DAY + HOUR)

    assert [] == world.changes()
    assert 1 == len(world.versions())
    assert ["page.error", "page.ok"] == [e.type for e in world.events("page.error", "page.ok")]
    assert [] == world.violations()


def test_dropped_pages_are_looked_at_no_more(world: World):
    """Drop ends a sentinel at once, frees its name, and what it found stays."""
    world.page("/a", "<p>one</p>")
    world.add("Create Sentinel s Using {/a} Monitor any change Fetch every 10 min")

    with serve(world) as service:
        service.settle()
        world.page("/a", "<p>two</p>")
        service.pass_time(10 * MINUTE)
        world.add("Drop s")
        service.pass_time(DAY)
    world.add("Create Sentinel s Using {/a} Monitor any change")

    assert 2 == len(world.polls())
    assert 1 == len(world.changes())


def test_two_processes_never_poll_together(world: World):
    """The second poller of a data directory is refused and says who holds it."""
    world.page("/a", "<p>one</p>")
    world.add("Create Sentinel s Using {/a} Monitor any change")
    refused: list[str] = []

    with serve(world) as service:
        service.settle()
        with pytest.raises(PollerBusyError) as caught:
            service.run(world.monitor().__aenter__())
        refused.append(str(caught.value))

    assert str(os.getpid()) in refused[0]


def test_a_service_that_starts_during_a_check_waits_for_it(world: World):
    """Who is patient gets the lock once the other poller has ended."""
    world.page("/a", "<p>one</p>")
    world.add("Create Sentinel s Using {/a} Monitor any change")

    async def story() -> bool:
        first = world.monitor()
        await first.__aenter__()
        waiting = asyncio.create_task(poller(world.settings, clock=world.clock, patience_seconds=5).__aenter__())
        await asyncio.sleep(0)
        was_waiting = not waiting.done()
        await first.__aexit__(None, None, None)
        second = await waiting
        await second.stop()
        return was_waiting

    assert asyncio.run(story())
