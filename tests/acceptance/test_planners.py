"""Promise: what one planner does, and what it stores, takes nothing from the pages of another one."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.fakes import Page, WebServer
from tests.world import World, serve
from tidings.clock import HOUR, MINUTE
from tidings.service.watch.shards import shard_of
from tidings.storage.db import planners
from tidings.storage.db.connection import Connection

FRAMES = '<title>Manual</title><frameset cols="20%,80%"><frame src="menu.html"><frame src="text.html"></frameset>'


def words(name: str, number: int = 30) -> str:
    return f"<h1>{name}</h1><p>{' '.join(f'{name}{n}' for n in range(number))}</p>"


@pytest.fixture
def near() -> Iterator[WebServer]:
    """Yield a web on another host than that of the world; of two planners it belongs to the one that leads."""
    half = planners.SHARDS // 2
    for number in range(2, 255):
        host = f"127.0.9.{number}"
        if shard_of(host, planners.SHARDS) < half:
            with WebServer(host) as running:
                yield running
            return


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
    """After at most one refused check it is checked as before, and what was stored is compared, too."""
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


def _store_once_more(c: Connection) -> None:
    """Store the newest version of page 1 once more, as a process does that knows the page, too."""
    columns = "page_id, sha256, size, fetched_at, text_changed, final_url, content_type, charset"
    c.execute(
        f"INSERT INTO version (seq, {columns}) SELECT seq + 1, {columns} FROM version WHERE page_id = 1 ORDER BY seq DESC LIMIT 1"
    )
    c.execute("UPDATE page SET last_seq = last_seq + 1 WHERE id = 1")
