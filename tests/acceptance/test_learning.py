"""Promise: pages without an interval are polled as often as they change, politely, and what is
learned is kept.
"""

from __future__ import annotations

import itertools
import json
from collections import Counter
from pathlib import Path

import pytest

from tests.world import World, play, serve
from tidings.clock import DAY, HOUR, SECOND
from tidings.service.imports.import_jobs import take_in
from tidings.service.run.monitor import Monitor
from tidings.storage.observed import pages


@pytest.mark.parametrize(("policy", "first", "eighth"), [("price", 24, 6), ("best_effort", 20, 2)])
def test_unchanged_page_is_polled_less_and_less(make_world, policy, first, eighth):
    """From one poll an hour on the first day to a few a day."""
    world: World = make_world(schedule__policy=policy)
    world.page("/a", "<p>still</p>")
    world.add("Create Sentinel s Using {/a} Monitor any change")
    begun = world.clock.now()

    play(world, lambda monitor: world.pass_time(monitor, 8 * DAY))
    by_day = [sum(d * DAY <= p.charged_at - begun < (d + 1) * DAY for p in world.polls()) for d in range(8)]

    assert by_day[0] <= first
    assert by_day[7] <= eighth
    assert [] == world.violations()


@pytest.mark.parametrize(("policy", "most"), [("price", 6), ("best_effort", 3)])
def test_learned_rate_survives_restarts(make_world, policy, most):
    """A quiet page is not polled hourly again after eight restarts in a day."""
    world: World = make_world(schedule__policy=policy)
    world.page("/a", "<p>still</p>")
    world.add("Create Sentinel s Using {/a} Monitor any change")

    play(world, lambda monitor: world.pass_time(monitor, 7 * DAY))
    before = len(world.polls())
    for _ in range(8):
        play(world, lambda monitor: world.pass_time(monitor, 3 * HOUR))

    assert len(world.polls()) - before <= most


@pytest.mark.parametrize(("policy", "most"), [("price", 220), ("best_effort", 150)])
def test_always_changing_page_does_not_use_the_budget_up(make_world, policy, most):
    """Such as a page with a clock: after the first day it gets one poll an hour."""
    world: World = make_world(schedule__policy=policy)
    turn = [0]

    def clock(seen, wire):
        turn[0] += 1
        body = f"<p>it is {turn[0]}</p>".encode()
        wire.send(b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: %d\r\n\r\n" % len(body) + body)

    world.server.pages["/a"] = clock
    world.add("Create Sentinel s Using {/a} Monitor any change")

    play(world, lambda monitor: world.pass_time(monitor, 3 * DAY))

    assert len(world.polls()) <= most
    assert [] == world.violations()


def test_bounds_of_a_sentinel_are_kept(world: World):
    """`Fetch on change between 2 hour and 4 hour` holds for every poll."""
    world.page("/a", "<p>still</p>")
    world.add("Create Sentinel s Using {/a} Monitor any change Fetch on change between 2 hour and 4 hour")

    with serve(world) as service:
        service.pass_time(4 * DAY)
    polls = [p.charged_at for p in world.polls()]
    gaps = {later - earlier for earlier, later in itertools.pairwise(polls)}

    assert min(gaps) >= 2 * HOUR
    assert max(gaps) <= 4 * HOUR


@pytest.mark.parametrize("is_running", [False, True])
def test_rates_of_an_import_decide_from_the_first_day(make_world, tmp_path: Path, is_running: bool):
    """What another program saw of pages is used at once, also by a service that runs already."""
    world: World = make_world(budget__polls_per_day="30")
    now = world.clock.now()
    for name, hours in (("quick", 4), ("slow", 200)):
        world.page(f"/{name}", f"<p>{name}</p>")
        stamps = [now // SECOND - number * hours * 3_600 for number in range(20)][::-1]
        folder = tmp_path / "theirs" / name
        folder.mkdir(parents=True)
        record = {"url": world.server.url(f"/{name}"), "title": name, "last_checked": now // SECOND}
        (folder / "watch.json").write_text(json.dumps(record))
        (folder / "history.txt").write_text("".join(f"{stamp},x.txt\n" for stamp in stamps))

    async def story(monitor: Monitor) -> None:
        if is_running:
            take_in(world.settings, tmp_path / "theirs", now=now, learn=True)
        await world.pass_time(monitor, DAY)

    if not is_running:
        take_in(world.settings, tmp_path / "theirs", now=now, learn=True)
    play(world, story)
    urls = {state.page_id: page.url for page, state in world.read(pages.population)}
    made = Counter(urls[poll.page_id].rpartition("/")[2] for poll in world.polls())

    assert made["quick"] > 2 * made["slow"] > 0
