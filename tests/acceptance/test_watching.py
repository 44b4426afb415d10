"""Promise: every requested change is notified exactly, once, and nothing else is."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.fakes import Page, WebServer
from tests.services import Installation
from tests.world import World, play, serve
from tidings.clock import DAY, HOUR, MINUTE
from tidings.errors import PollerBusyError
from tidings.service.run.assembly import poller
from tidings.storage.observed import polls

HTML = {"Content-Type": "text/html; charset=utf-8"}


@pytest.mark.roles
def test_first_check_is_the_baseline_and_the_next_change_is_notified(world: World):
    """The message has the deleted and the inserted words."""
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


def test_markup_change_is_a_version_but_not_notified(world: World):
    """Another class, tag or white space: the bytes are stored, and the text is the same."""
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


def test_page_that_reverts_is_notified_twice_and_stored_once(world: World):
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


def test_slow_sentinel_compares_its_own_versions(world: World):
    """Two sentinels share the downloads of a page (sentinels §4.2)."""
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


def test_change_that_reverts_between_two_checks_is_not_notified(world: World):
    """The slow sentinel compares only its own versions."""
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


def test_page_on_change_is_polled_once_per_pace(make_world):
    """With the policy round_robin the interval is `schedule.pace`."""
    world: World = make_world(schedule__policy="round_robin")
    world.page("/a", "<p>still</p>")
    world.add("Create Sentinel s Using {/a} Monitor any change")

    play(world, lambda monitor: world.pass_time(monitor, DAY))

    assert 25 == len(world.polls())


@pytest.mark.roles
def test_change_in_a_pause_is_notified_once_after_it(world: World):
    """Disable keeps the cursor; one comparison spans the pause (sentinels §2)."""
    world.page("/a", "<p>before</p>")
    world.add("Create Sentinel s Using {/a} Monitor all words Fetch every 1 hour")

    with serve(world) as service:
        service.settle()
        world.add("Disable s")
        for text in ("during", "after"):
            world.page("/a", f"<p>{text}</p>")
            service.pass_time(DAY)
        polled = len(world.polls())
        world.add("Enable s")
        service.pass_time(2 * HOUR)
        assert 1 == polled

    assert [[{"old": "before", "new": "after"}]] == [c["updated"] for c in world.changes()]
    assert [] == world.violations()


def test_links_and_images_are_compared_by_address(world: World):
    """A new link and a removed image are objects; words do not matter."""
    world.page("/a", '<a href="/one">one</a><img src="/x.png">')
    world.add("Create Sentinel s Using {/a} Monitor links OR images Fetch every 1 hour")

    with serve(world) as service:
        service.settle()
        world.page("/a", '<p>other words</p><a href="/one">uno</a><a href="/two">two</a>')
        service.pass_time(HOUR)
    (change,) = world.changes()

    assert [world.server.url("/two")] == change["inserted"]
    assert [world.server.url("/x.png")] == change["deleted"]


def test_ticks_keep_their_phase_for_three_months(world: World):
    """Every poll is on the hour."""
    world.page("/a", "<p>still</p>")
    world.add("Create Sentinel s Using {/a} Monitor any change Fetch every 12 hour slack 1 min")
    begun = world.clock.now()

    play(world, lambda monitor: world.pass_time(monitor, 90 * DAY))
    polls = world.polls()

    assert 181 == len(polls)
    assert {0} == {(p.charged_at - begun) % (12 * HOUR) for p in polls}


def test_week_of_downtime_causes_one_poll(world: World):
    """The phase of the ticks is kept."""
    world.page("/a", "<p>one</p>")
    world.add("Create Sentinel s Using {/a} Monitor all words Fetch every 12 hour slack 1 min")
    begun = world.clock.now()
    play(world, world.settle)
    world.clock.advance(7 * DAY + 3 * HOUR)
    world.page("/a", "<p>two</p>")

    play(world, lambda monitor: world.pass_time(monitor, 10 * HOUR))

    assert [0, 7 * DAY + 3 * HOUR, 7 * DAY + 12 * HOUR] == [p.charged_at - begun for p in world.polls()]
    assert 1 == len(world.changes())


def test_failing_page_has_no_version_and_no_change(world: World):
    """An error is one event at its start and one at its end; the cursor stays."""
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


def test_dropped_page_is_not_polled(world: World):
    """Its name is free, and its history stays."""
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


def test_second_poller_is_refused(world: World):
    """The error names the process that polls."""
    world.page("/a", "<p>one</p>")
    world.add("Create Sentinel s Using {/a} Monitor any change")
    refused: list[str] = []

    with serve(world) as service:
        service.settle()
        with pytest.raises(PollerBusyError) as caught:
            service.run(world.monitor().__aenter__())
        refused.append(str(caught.value))

    assert str(os.getpid()) in refused[0]


def test_starting_service_waits_for_a_check(world: World):
    """It gets the lock when the other process ends."""
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


def test_check_that_is_requested_of_a_new_page_is_made(world: World):
    """`add` writes the sentinel and then asks; the running service sees both in one step."""
    world.page("/a", "<p>one")
    with serve(world) as service:
        service.settle()
        world.add("Create Sentinel a Using {/a} Monitor all words Fetch every 1 hour")
        ids = world.write(polls.request_polls, [1], world.clock.now(), sentinel_id=1)
        service.settle()

        (asked,) = world.read(polls.get_requests, ids)
        assert (1, "") == (asked.poll_id, asked.refused)


@pytest.fixture
def installation(tmp_path: Path) -> Iterator[Installation]:
    """Yield a data directory for several processes."""
    made = Installation(tmp_path / "data", {"TIDINGS_FETCH_ROBOTS": "false", "TIDINGS_FETCH_HOST_GAP_SECONDS": "0"})
    yield made
    made.close()


def test_add_beside_a_service_says_what_the_check_found(installation: Installation, server: WebServer):
    """The one warning is that of `add` without a service, and names no sentinel that does not
    exist.
    """
    server.pages["/nope"] = Page(b"<title>Gone away</title>", HTML, status=404)
    server.pages["/login"] = Page(b"<title>Sign in</title>", HTML, status=401)
    server.pages["/loop"] = Page(b"", {"Location": "/loop"}, status=302)
    server.pages["/js"] = Page(b"<title>App</title><script>go()</script>", HTML)
    installation.serve().wait_ready()

    ran = {
        path: installation.run("add", "--url", server.url(path)).stdout for path in ("/nope", "/login", "/loop", "/js")
    }

    warnings = {
        path: [line[10:] for line in out.splitlines() if line.startswith("warning")] for path, out in ran.items()
    }
    assert [1] * 4 == [len(lines) for lines in warnings.values()], warnings
    expected = {"/nope": "404", "/login": "401", "/loop": "redirects to itself", "/js": "is made by scripts"}
    assert {} == {path: lines for path, lines in warnings.items() if expected[path] not in lines[0]}
