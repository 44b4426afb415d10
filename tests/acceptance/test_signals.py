"""Promise: hints cause earlier polls as far as their source was right before, and exceed no limit."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import pytest

from tests.world import play, serve
from tidings.clock import DAY, HOUR, MINUTE
from tidings.errors import StoreFullError
from tidings.service.run.monitor import Monitor
from tidings.service.watch.hints import UPDATED
from tidings.storage.observed import hints
from tidings.storage.write.store import Store

FLAGS = {"schedule__policy": "price", "fetch__page_floor_seconds": "60"}


def list_polls(world: Any, page_id: int) -> list[int]:
    return [poll.charged_at for poll in world.polls(page_id)]


async def hint(monitor: Monitor, page_id: int) -> None:
    await monitor.ways_in.signals.take([page_id])


def test_hint_causes_a_poll_and_its_result_is_learned(make_world):
    """Of two still pages the one with the hint is polled at once."""
    world = make_world(**FLAGS)
    for path in ("/told", "/other"):
        world.page(path, "<p>edition 0</p>")
    world.add("Create Sentinel told Using {/told} Monitor all words;Create Sentinel o Using {/other} Monitor all words")

    with serve(world) as service:
        service.pass_time(2 * DAY)
        while world.clock.now() - max(list_polls(world, 1)[-1], list_polls(world, 2)[-1]) < 5 * MINUTE:
            service.pass_time(MINUTE)
        world.page("/told", "<p>edition 1</p>")
        service.run(hint(service.monitor, 1))
        service.settle()
        assert [world.clock.now(), True] == [list_polls(world, 1)[-1], list_polls(world, 2)[-1] < world.clock.now()]

    assert [1, 0] == [len(world.changes(name)) for name in ("told", "o")]
    (source,) = world.read(hints.load)[0]
    assert ("api", True) == (source.kind, source.state["told"] > 0.1)
    assert [] == world.violations()


def test_hints_survive_a_crash_and_cause_one_poll(make_world):
    """The next service weighs them, once."""
    world = make_world(**FLAGS)
    world.page("/a", "<p>as it was</p>")
    world.add("Create Sentinel s Using {/a} Monitor all words")

    with serve(world) as service:
        service.pass_time(2 * DAY)
        world.clock.advance(5 * MINUTE)
        service.run(hint(service.monitor, 1))  # and the service goes before it makes another step
    before = len(list_polls(world, 1))
    ((row,), waited) = (world.read(hints.load)[1], world.clock.now())
    with serve(world) as service:
        service.pass_time(MINUTE)
    (row_after,) = world.read(hints.load)[1]

    assert (waited,) == row.waiting
    assert 1 == len(list_polls(world, 1)) - before
    assert () == row_after.waiting


def test_hint_that_was_not_stored_counts_when_repeated(make_world, monkeypatch):
    """The sender is asked to repeat it; then it is stored and causes its poll."""
    world = make_world(**FLAGS)
    world.page("/a", "<p>as it was</p>")
    world.add("Create Sentinel s Using {/a} Monitor all words")

    async def full(*_: Any, **__: Any) -> None:
        raise StoreFullError("it cannot grow; make room")

    with serve(world) as service:
        service.pass_time(2 * DAY)
        world.clock.advance(5 * MINUTE)
        with monkeypatch.context() as patched:
            patched.setattr(Store, "write", full)
            with pytest.raises(StoreFullError):
                service.run(hint(service.monitor, 1))
        service.run(hint(service.monitor, 1))
        assert [1] == [len(row.waiting) for row in world.read(hints.load)[1]]
        service.settle()
        assert world.clock.now() == list_polls(world, 1)[-1]


def test_hint_older_than_a_failed_poll_waits(make_world):
    """Nobody has seen the page since."""
    world = make_world(**FLAGS)
    world.page("/a", "<p>as it was</p>")
    world.add("Create Sentinel s Using {/a} Monitor all words")

    with serve(world) as service:
        service.pass_time(DAY)
        moved = world.clock.now()
        world.page("/a", "<p>busy</p>", status=503)
        world.clock.advance(MINUTE)
        service.monitor.polling.requests.ask(1)
        service.settle()
        assert "error" == world.polls(1)[-1].outcome
        service.run(service.monitor.ways_in.signals.take([1], at=moved))
        assert [(moved,)] == [row.waiting for row in world.read(hints.load)[1]]


def test_flood_of_hints_exceeds_no_limit(make_world):
    """A hint a minute for a still page keeps its minimum interval and hours, and soon has hardly
    any weight.
    """
    world = make_world(**FLAGS)
    world.page("/flooded", "<p>for ever</p>")
    world.page("/hours", "<p>for ever</p>")
    world.add(
        "Create Sentinel flooded Using {/flooded} Monitor all words;"
        "Create Sentinel hours Using {/hours} Monitor all words During mon-sun 09:00 to 10:00"
    )

    with serve(world) as service:
        for _ in range(24 * 30):
            service.run(hint(service.monitor, 1))
            service.run(hint(service.monitor, 2))
            service.pass_time(2 * MINUTE)
    made = list_polls(world, 1)
    last = [at for at in made if at > made[0] + 18 * HOUR]

    assert all(later - earlier >= MINUTE for earlier, later in pairwise(made))
    assert len(last) <= 8
    assert {9} == {at // HOUR % 24 for at in list_polls(world, 2)}


def test_hints_have_no_effect_under_other_policies(make_world):
    """`best_effort` stores them, and the next check answers them."""
    world = make_world(schedule__policy="best_effort")
    world.page("/a", "<p>as it was</p>")
    world.add("Create Sentinel s Using {/a} Monitor all words")

    with serve(world) as service:
        service.pass_time(10 * MINUTE)
        assert not service.monitor.ways_in.signals.is_weighed(1)
        service.run(hint(service.monitor, 1))
        service.pass_time(20 * MINUTE)
        assert 1 == len(list_polls(world, 1))
        service.pass_time(HOUR)
    assert 2 == len(list_polls(world, 1))
    assert () == world.read(hints.load)[1][0].waiting


def are_exact(monitor: Monitor) -> bool:
    return monitor.ways_in.signals.tracker.dates_are_exact(monitor.watchlist.pages[1].identity.host)


def test_dates_of_entries_count_for_a_proven_host(make_world):
    """The newest entry date is used if the feed has none."""
    world = make_world(**FLAGS)
    world.page("/feed", "<p/>")
    world.add("Create Sentinel feed Using {/feed} Monitor all words")

    def publish(edition: int, date: int) -> None:
        entry = (
            f"<entry><id>{edition}</id><title>e {edition}</title><updated>2023-11-14T10:{date:02}:00Z</updated></entry>"
        )
        body = f'<feed xmlns="http://www.w3.org/2005/Atom"><title>t</title>{entry}</feed>'
        world.page("/feed", body, headers={"Content-Type": "application/atom+xml"})

    def exact(monitor: Monitor) -> bool:
        host = monitor.watchlist.pages[1].identity.host
        return monitor.ways_in.signals.tracker.dates_are_exact(host, UPDATED)

    async def story(monitor: Monitor) -> None:
        for edition in range(55):
            publish(edition, edition)
            for _ in range(2):
                monitor.polling.requests.ask(1)
                await world.pass_time(monitor, 2 * MINUTE)
        assert exact(monitor)
        for edition in range(55, 60):
            publish(edition, 54)
            monitor.polling.requests.ask(1)
            await world.pass_time(monitor, 2 * MINUTE)
        assert not exact(monitor)

    play(world, story)


def test_last_modified_counts_for_a_proven_host(make_world):
    """A host whose dates are the time of the answer is found out."""
    world = make_world(**FLAGS)
    world.add("Create Sentinel honest Using {/honest} Monitor all words")

    with serve(world) as service:
        for edition in range(70):
            stamp = f"Tue, 14 Nov 2023 {edition // 3600:02}:{edition // 60 % 60:02}:{edition % 60:02} GMT"
            world.page(
                "/honest", f"<p>edition {edition}</p>", headers={"Content-Type": "text/html", "Last-Modified": stamp}
            )
            service.monitor.polling.requests.ask(1)
            service.pass_time(2 * MINUTE)
            service.monitor.planner.force(1)
            service.pass_time(2 * MINUTE)
        assert service.monitor.ways_in.signals.tracker.dates_are_exact(
            "127.0.0.1:" + world.server.url("/").split(":")[2].strip("/")
        )
        for edition in range(6):
            stamp = f"Wed, 15 Nov 2023 10:00:{edition:02} GMT"
            world.page(
                "/honest", "<p>the last edition</p>", headers={"Content-Type": "text/html", "Last-Modified": stamp}
            )
            service.monitor.polling.requests.ask(1)
            service.pass_time(2 * MINUTE)
        assert not service.monitor.ways_in.signals.tracker.dates_are_exact(
            "127.0.0.1:" + world.server.url("/").split(":")[2].strip("/")
        )
