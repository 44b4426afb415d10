"""Promise: a host that limits requests gets fewer, however it announces the limit."""

from __future__ import annotations

import itertools

import pytest

from tests.fakes import Page, response
from tests.world import World, play, serve
from tidings.clock import DAY, HOUR, MINUTE, SECOND

OVER = {"Retry-After": "Wed, 15 Nov 2000 00:00:00 GMT"}


@pytest.mark.parametrize(
    ("headers", "interval"), [({}, HOUR), (OVER, 10 * MINUTE), ({"Retry-After": "1"}, 10 * MINUTE)]
)
def test_waits_after_429_grow(world: World, headers: dict[str, str], interval: int):
    """A wait is at least the page's own interval, unless the server names one; it grows up to a
    day.
    """
    world.server.pages["/a"] = Page(b"", headers, status=429)
    world.add(f"Create Sentinel s Using {{/a}} Monitor all words Fetch every {interval // MINUTE} min")

    play(world, lambda monitor: world.pass_time(monitor, 4 * DAY))
    at = [poll.charged_at for poll in world.polls()]
    gaps = [b - a for a, b in itertools.pairwise(at)]
    own = gaps[1:] if headers.get("Retry-After") == "1" else gaps

    assert min(own) >= interval
    assert all(b > 1.5 * a for a, b in itertools.pairwise(own) if b < DAY)
    assert ["page.error"] == [e.type for e in world.events("page.error")]


@pytest.mark.roles
def test_host_with_a_429_is_paused_for_all_its_pages(world: World):
    """Ten pages of one registered domain wait after a 429 of one."""
    world.server.pages |= {f"/{n}": Page(b"", status=429) for n in range(10)}
    world.add("".join(f"Create Sentinel s{n} Using {{/{n}}} Monitor all words Fetch every 10 min;" for n in range(10)))

    play(world, lambda monitor: world.pass_time(monitor, 59 * SECOND))

    assert 1 == len(world.server.seen)


@pytest.mark.parametrize("status", [200, 404])
def test_host_with_an_exhausted_limit_is_paused_until_its_reset(world: World, status: int):
    """Its other pages wait too; the page was read, so there is no error."""
    page = Page(b"<p>words</p>", {"Content-Type": "text/html", "RateLimit": '"hour";r=0;t=1800'}, status=status)
    world.server.pages["/a"] = page
    world.page("/b", "<p>other</p>")
    world.add("Create Sentinel s Using {/a} Monitor all words Fetch every 10 min")

    with serve(world) as service:
        service.settle()
        world.add("Create Sentinel t Using {/b} Monitor all words Fetch every 10 min")
        service.pass_time(29 * MINUTE)

    assert 1 == len(world.server.seen)


def test_remaining_requests_are_used(world: World):
    """A limit that is not exhausted delays nothing."""
    headers = {"Content-Type": "text/html", "RateLimit-Remaining": "7", "RateLimit-Reset": "86400"}
    world.server.pages["/a"] = lambda seen, wire: wire.send(response(Page(b"<p>words</p>", headers)))
    world.add("Create Sentinel s Using {/a} Monitor all words Fetch every 10 min")

    play(world, lambda monitor: world.pass_time(monitor, HOUR))

    assert 7 == len(world.server.seen)
