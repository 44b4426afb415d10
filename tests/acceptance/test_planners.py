"""Promise: what one planner does and stores takes nothing from the pages of another one."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

import pytest

from tests.fakes import Page, WebServer
from tests.world import World, serve
from tidings.clock import DAY, HOUR, MINUTE
from tidings.service.watch.shards import shard_of
from tidings.storage.db import planners
from tidings.storage.db.connection import Connection

FRAMES = '<title>Manual</title><frameset cols="20%,80%"><frame src="menu.html"><frame src="text.html"></frameset>'


def words(name: str, number: int = 30) -> str:
    return f"<h1>{name}</h1><p>{' '.join(f'{name}{n}' for n in range(number))}</p>"


@pytest.fixture
def near() -> Iterator[WebServer]:
    """Yield a web on another host than the world's; of two planners the one that leads has it."""
    with contextlib.ExitStack() as stack:
        while shard_of((running := stack.enter_context(WebServer())).host, planners.SHARDS) >= planners.SHARDS // 2:
            pass
        yield running


@pytest.mark.roles
def test_frame_that_another_planner_watches_is_checked_by_that_one_only(world: World, near: WebServer):
    """Its watchers miss nothing. The page that embeds it is compared with what is stored."""
    near.pages["/moved"] = Page(status=302, headers={"Location": world.server.url("/index.html")})
    world.page("/index.html", FRAMES)
    for name in ("menu", "text"):
        world.page(f"/{name}.html", words(name))
    world.add("Create Sentinel direct Using {/text.html} Monitor any change Fetch every 1 hour")
    world.add(f"Create Sentinel whole Using {near.url('/moved')} Monitor any change Fetch every 20 minutes")

    with serve(world) as service:
        service.pass_time(90 * MINUTE)
        for number in range(3):
            world.page("/text.html", words("text").replace("text7 ", f"seven{number} "))
            service.pass_time(HOUR)

    assert 3 == len(world.changes("direct"))
    assert 3 == len(world.changes("whole"))
    assert {"new", "changed", "unchanged"} == {poll.outcome for poll in world.polls()}
    assert [] == world.events("problem.unit")


@pytest.mark.roles
def test_page_with_a_version_that_another_process_stored_is_read_again(world: World):
    """After at most one refused check it is checked as before; what was stored is compared, too."""
    world.page("/a", words("one"))
    world.add("Create Sentinel s Using {/a} Monitor any change Fetch every 1 hour")

    with serve(world) as service:
        service.pass_time(90 * MINUTE)
        world.page("/a", words("one").replace("one7 ", "seven "))
        service.pass_time(HOUR)
        world.write(_store_once_more)
        service.pass_time(HOUR)
        world.page("/a", words("one").replace("one7 ", "eight "))
        service.pass_time(2 * HOUR)

    assert 1 >= len({event.at for event in world.events("problem.unit")})
    assert ["seven", "eight"] == [edit["new"] for change in world.changes() for edit in change["updated"]]


@pytest.mark.roles
def test_pause_that_a_host_asked_another_planner_for_is_kept(world: World, near: WebServer):
    """A page leads to the host, which asks for a pause: its own planner asks nothing meanwhile."""
    near.pages["/away"] = Page(status=302, headers={"Location": world.server.url("/busy")})
    world.page("/busy", words("busy"))
    world.page("/b", words("b"))
    world.add(f"Create Sentinel far Using {near.url('/away')} Monitor any change Fetch every 1 hour")
    world.add("Create Sentinel own Using {/b} Monitor any change Fetch every 10 minutes")

    with serve(world) as service:
        service.pass_time(HOUR - MINUTE)
        world.server.pages["/busy"] = Page(status=429, headers={"Retry-After": "7200"})
        service.pass_time(2 * MINUTE)
        seen = len(world.server.seen)
        service.pass_time(110 * MINUTE)
        assert seen == len(world.server.seen)
        service.pass_time(20 * MINUTE)

    assert seen < len(world.server.seen)


@pytest.mark.roles
def test_first_changes_on_pages_of_two_planners_are_one_report(world: World, near: WebServer):
    """Both are found at the same instant. The sentinel ends with the first that is stored."""
    hook = world.receiver()
    near.pages["/a"] = Page(words("a").encode(), {"Content-Type": "text/html"})
    world.page("/b", words("b"))
    world.add(
        f"Create Sentinel s Using {near.url('/a')}, {{/b}} Monitor any change Fetch every 1 hour To first change"
        f" Notify By webhook {hook} immediate"
    )

    with serve(world) as service:
        service.pass_time(90 * MINUTE)
        near.pages["/a"] = Page(words("x").encode(), {"Content-Type": "text/html"})
        world.page("/b", words("y"))
        service.pass_time(2 * HOUR)

    assert "ended" == world.sentinel("s").state
    assert (1, 1) == (len(world.changes()), len(world.received))
    assert [] == world.events("problem.unit")
    assert [] == world.violations()


@pytest.mark.roles
def test_clock_that_was_ahead_stops_no_planner(world: World):
    """Once it is right, each checks its pages within their interval. It is reported once."""
    world.page("/b", words("b"))
    world.add("Create Sentinel s Using {/b} Monitor any change Fetch every 1 hour")
    with serve(world) as service:
        service.pass_time(2 * HOUR)
    right = world.clock.wall()
    world.clock.move_to(right + 30 * DAY)
    with serve(world) as service:
        service.pass_time(2 * HOUR)
    world.clock.move_to(right + 2 * HOUR)
    before = len(world.server.seen)

    with serve(world) as service:
        service.pass_time(3 * HOUR)

    assert 3 <= len(world.server.seen) - before <= 4
    assert 1 == len(world.events("clock.wrong"))


def _store_once_more(c: Connection) -> None:
    """Store the newest version of page 1 once more, as a process does that knows the page, too."""
    columns = "page_id, sha256, size, fetched_at, text_changed, final_url, content_type, charset"
    newest = "FROM version WHERE page_id = 1 ORDER BY seq DESC LIMIT 1"
    c.execute(f"INSERT INTO version (seq, {columns}) SELECT seq + 1, {columns} {newest}")
    c.execute("UPDATE page SET last_seq = last_seq + 1 WHERE id = 1")
