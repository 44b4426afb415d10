"""Promise: pages without an interval of their own are looked at as often as they change, politely, and what was learned is kept."""

from __future__ import annotations

import itertools

import pytest

from tests.world import World, play, serve
from tidings.clock import DAY, HOUR


@pytest.mark.parametrize(("policy", "first", "eighth"), [("price", 24, 6), ("best_effort", 20, 2)])
def test_a_page_that_never_changes_is_looked_at_less_and_less(make_world, policy, first, eighth):
    """From a look an hour on the first day to a few a day."""
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
def test_what_was_learned_survives_a_restart(make_world, policy, most):
    """A page known to be quiet is not looked at hourly again because the service was restarted eight times in a day."""
    world: World = make_world(schedule__policy=policy)
    world.page("/a", "<p>still</p>")
    world.add("Create Sentinel s Using {/a} Monitor any change")

    play(world, lambda monitor: world.pass_time(monitor, 7 * DAY))
    before = len(world.polls())
    for _ in range(8):
        play(world, lambda monitor: world.pass_time(monitor, 3 * HOUR))

    assert len(world.polls()) - before <= most


@pytest.mark.parametrize(("policy", "most"), [("price", 220), ("best_effort", 150)])
def test_a_page_that_changes_at_every_look_stays_bounded(make_world, policy, most):
    """A clock on a page must not draw all polls to itself: after the first day an hourly look is all it gets."""
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


def test_bounds_that_a_sentinel_names_are_kept(world: World):
    """`Fetch on change between 2 hour and 4 hour` is never sooner and never later."""
    world.page("/a", "<p>still</p>")
    world.add("Create Sentinel s Using {/a} Monitor any change Fetch on change between 2 hour and 4 hour")

    with serve(world) as service:
        service.pass_time(4 * DAY)
    looks = [p.charged_at for p in world.polls()]
    gaps = {later - earlier for earlier, later in itertools.pairwise(looks)}

    assert min(gaps) >= 2 * HOUR
    assert max(gaps) <= 4 * HOUR
