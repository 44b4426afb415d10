"""Promise: a stored body that cannot be read any more is reported and fetched again, and the page
is polled as before.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tests.world import World, play, serve
from tidings.clock import HOUR, MINUTE
from tidings.isolation.runner import Died
from tidings.service.run.monitor import Monitor
from tidings.storage.watches import subscriptions

GIVEN_UP = "comparison.given_up"


def lose_files(world: World) -> None:
    """Delete all files of bodies."""
    for file in (world.directory / "blobs").glob("??/??/*"):
        file.unlink()


def damage_rows(world: World) -> None:
    """Damage all bodies in the database."""
    world.write(lambda c: c.execute("UPDATE blob SET frame = :garbage, file = NULL", garbage=b"no frame at all"))


def damage_member(world: World, path: str) -> None:
    """Damage the body of one member of a page with frames."""
    text = (
        "UPDATE blob SET frame = :garbage, file = NULL WHERE sha256 IN"
        " (SELECT m.sha256 FROM version_member m JOIN page p ON p.key = m.key WHERE p.url = :url)"
    )
    url = world.server.url(path)
    world.write(lambda c: c.execute(text, garbage=b"no frame at all", url=url))


def story_ways(world: World, lose: Callable[[World], None]) -> Callable[[World], None]:
    """Return how bodies are lost: with PostgreSQL there are no files."""
    return damage_rows if world.url and lose is lose_files else lose


@pytest.mark.parametrize("lose", [lose_files, damage_rows])
@pytest.mark.parametrize("etag", [True, False])
@pytest.mark.parametrize(
    "fetch", ["every 1 hour", "at 00:30, 06:30", "on change between 1 hour and 2 hour", "on demand"]
)
def test_new_sentinel_is_served_although_the_body_is_lost(
    make_world: Any, lose: Callable[[World], None], fetch: str, *, etag: bool
) -> None:
    """It is told once why it has no baseline, the body is fetched anew, and both sentinels see the
    next change.
    """
    world: World = make_world(store__blob_file_bytes="0")
    headers = {"Content-Type": "text/html", **({"ETag": '"one"'} if etag else {})}
    world.page("/a", "<p>one</p>", headers=headers)
    world.add("Create Sentinel s Using {/a} Monitor all words Fetch every 1 hour")
    play(world, lambda monitor: world.pass_time(monitor, 10 * MINUTE))
    story_ways(world, lose)(world)

    with serve(world) as service:
        world.add(f"Create Sentinel t Using {{/a}} Monitor all words Fetch {fetch}")
        service.pass_time(2 * HOUR)
        for text in ("one", "one", "two"):
            world.page("/a", f"<p>{text}</p>", headers={"Content-Type": "text/html"})
            service.monitor.polling.requests.ask(1, sentinels=[2])
            service.pass_time(7 * HOUR)
    given_up = [event.sentinel_id for event in world.events(GIVEN_UP)]

    assert len(given_up) <= 1
    assert {"s": [[{"old": "one", "new": "two"}]], "t": [[{"old": "one", "new": "two"}]]} == {
        name: [change["updated"] for change in world.changes(name)] for name in ("s", "t")
    }
    assert [1, 2] == [version.seq for version in world.versions()]
    assert 23 <= len(world.polls(1)) <= 54
    assert [] == world.violations()


def test_lost_body_is_reported(make_world: Any) -> None:
    """The sentinel that waits for it is notified, once."""
    world: World = make_world(store__blob_file_bytes="0")
    hook = world.receiver()
    world.page("/a", "<p>one</p>")
    world.add("Create Sentinel s Using {/a} Monitor all words Fetch every 1 hour")
    play(world, lambda monitor: world.pass_time(monitor, 10 * MINUTE))
    story_ways(world, lose_files)(world)

    with serve(world) as service:
        world.add(
            f"Create Sentinel t Using {{/a}} Monitor all words Fetch every 1 hour Notify By webhook {hook} immediate"
        )
        service.pass_time(5 * HOUR)
    (event,) = world.events(GIVEN_UP)

    assert 2 == event.sentinel_id
    assert [GIVEN_UP] == [message["data"]["event"] for _, message in world.received]
    assert (1,) == world.read(sentinels_taken, 2)
    assert [] == world.violations()


def sentinels_taken(connection: Any, sentinel_id: int) -> tuple[int, ...]:
    """Return which versions the cursor of a sentinel has taken."""
    (row,) = subscriptions.listing(connection, sentinel_id=sentinel_id)
    return tuple(row.taken)


@pytest.mark.parametrize("path", ["/a", "/frame"])
def test_lost_body_of_a_page_with_frames_is_fetched_anew(make_world: Any, path: str) -> None:
    """Be it that of the page or that of a frame."""
    world: World = make_world(store__blob_file_bytes="0")
    world.page("/a", '<p>one</p><iframe src="/frame"></iframe>')
    world.page("/frame", "<p>inside</p>")
    world.add("Create Sentinel s Using {/a} Monitor all words Fetch every 1 hour Frames 2")
    play(world, lambda monitor: world.pass_time(monitor, 10 * MINUTE))
    damage_member(world, path)

    with serve(world) as service:
        world.add("Create Sentinel t Using {/a} Monitor all words Fetch every 1 hour Frames 2")
        service.pass_time(5 * HOUR)
        world.page("/frame", "<p>outside</p>")
        service.pass_time(5 * HOUR)

    assert [2] == [event.sentinel_id for event in world.events(GIVEN_UP)]
    assert [[{"old": "inside", "new": "outside"}]] * 2 == [change["updated"] for change in world.changes()]
    assert [] == world.events("page.error")
    assert len(world.polls(1)) <= 24
    assert [] == world.violations()


@pytest.mark.parametrize("path", ["/a", "/frame"])
def test_other_part_of_a_page_changes_while_a_body_is_lost(make_world: Any, path: str) -> None:
    """The page recovers by itself, and the next change is reported."""
    world: World = make_world(store__blob_file_bytes="0")
    world.page("/a", '<p>one</p><iframe src="/frame"></iframe>', headers={"Content-Type": "text/html", "ETag": '"1"'})
    world.page("/frame", "<p>inside</p>")
    world.add("Create Sentinel s Using {/a} Monitor all words Fetch every 1 hour Frames 2")
    play(world, lambda monitor: world.pass_time(monitor, 10 * MINUTE))
    damage_member(world, path)

    with serve(world) as service:
        if path == "/a":
            world.page("/frame", "<p>outside</p>")
        else:
            world.page("/a", '<p>two</p><iframe src="/frame"></iframe>')
        service.pass_time(12 * HOUR)
        world.page("/frame", "<p>elsewhere</p>")
        service.pass_time(12 * HOUR)
    reported = [event.type for event in world.events(GIVEN_UP, "page.error")]

    assert reported
    assert len(reported) <= 2
    assert "elsewhere" == world.changes()[-1]["updated"][-1]["new"]
    assert len(world.polls(1)) <= 30
    assert [] == world.violations()


@pytest.mark.parametrize("away", ["Drop", "Disable"])
@pytest.mark.parametrize("restarts", [True, False])
def test_pending_comparison_of_a_sentinel_that_left_holds_up_nobody(world: World, away: str, *, restarts: bool) -> None:
    """Another sentinel on the page goes on; a paused one gets its comparison once it is resumed."""
    world.page("/a", "<p>one</p>")
    world.add("Create Sentinel s Using {/a} Monitor all words Fetch every 1 hour")
    world.add("Create Sentinel t Using {/a} Monitor all words Fetch every 1 hour")

    def leave() -> None:
        world.add(f"{away} s")

    with serve(world) as service:
        service.settle()
        kill_jobs(service.monitor, world, leave)
        world.page("/a", "<p>two</p>")
        service.pass_time(3 * HOUR)
        polls = len(world.polls())
        if not restarts:
            _go_on(world, service.pass_time, away)
    if restarts:
        with serve(world) as service:
            _go_on(world, service.pass_time, away)
    expected = {"t": [[{"old": "one", "new": "two"}], [{"old": "two", "new": "three"}]]}
    if away == "Disable":
        expected["s"] = expected["t"]

    assert 4 == polls
    assert expected == {name: [c["updated"] for c in world.changes(name)] for name in expected}
    assert [] == world.violations()


def test_pending_comparison_uses_up_no_tick(world: World) -> None:
    """A comparison that is made long after its poll leaves later ticks to the next poll."""
    world.page("/a", "<p>one</p>")
    world.add("Create Sentinel s Using {/a} Monitor all words Fetch every 1 hour")
    world.add("Create Sentinel t Using {/a} Monitor all words Fetch at 00:00, 06:00, 12:00, 18:00")

    with serve(world) as service:
        service.settle()
        kill_jobs(service.monitor, world, lambda: world.add("Disable s"))
        world.page("/a", "<p>two</p>")
        service.pass_time(HOUR)
        world.server.pages.pop("/a")
        service.pass_time(8 * HOUR)
        world.page("/a", "<p>three</p>")
        world.add("Enable s")
        service.settle()
        moved = world.read(subscriptions.listing, sentinel_id=2)[0]

    assert (moved.next_tick or 0) <= world.clock.now()


def _go_on(world: World, pass_time: Callable[[int], None], away: str) -> None:
    world.page("/a", "<p>three</p>")
    if away == "Disable":
        world.add("Enable s")
    pass_time(3 * HOUR)


def kill_jobs(monitor: Monitor, world: World, leave: Callable[[], None]) -> None:
    """Let the next job die, and then let the sentinel leave."""
    detector = monitor.polling.poller._detector
    lives, deaths = detector._runner.run, [0]

    async def run(function: Any, argument: Any, *, seconds: float | None = None) -> Any:
        if not deaths[0]:
            deaths[0] += 1
            leave()
            return Died("crash", "the worker died")
        return await lives(function, argument, seconds=seconds)

    detector._runner = type("Mortal", (), {"run": staticmethod(run), "close": detector._runner.close})()
