"""Promise: a host that says that it is asked too often is asked less often, however it says so."""

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
def test_429_is_met_with_ever_longer_waits(world: World, headers: dict[str, str], interval: int):
    """Never sooner than the page's own interval, unless the server says when; further apart each time, up to a day."""
    world.server.pages["/a"] = Page(b"", headers, status=429)
    world.add(f"Create Sentinel s Using {{/a}} Monitor all words Fetch every {interval // MINUTE} min")

    play(world, lambda monitor: world.pass_time(monitor, 4 * DAY))
    at = [poll.charged_at for poll in world.polls()]
    gaps = [b - a for a, b in itertools.pairwise(at)]
    own = gaps[1:] if headers.get("Retry-After") == "1" else gaps

    assert min(own) >= interval
    assert all(b > 1.5 * a for a, b in itertools.pairwise(own) if b < DAY)
    assert ["page.error"] == [e.type for e in world.events("page.error")]


def test_a_host_that_says_429_once_is_left_alone_by_all_its_pages(world: World):
    """Ten pages of one registered domain: after a 429 of one the others wait."""
    world.server.pages |= {f"/{n}": Page(b"", status=429) for n in range(10)}
    world.add("".join(f"Create Sentinel s{n} Using {{/{n}}} Monitor all words Fetch every 10 min;" for n in range(10)))

    play(world, lambda monitor: world.pass_time(monitor, 59 * SECOND))

    assert 1 == len(world.server.seen)


@pytest.mark.parametrize("status", [200, 404])
def test_a_host_whose_limit_is_used_up_is_left_alone_until_it_begins_anew(world: World, status: int):
    """Also by other pages, and without an error: the page was read."""
    page = Page(b"<p>words</p>", {"Content-Type": "text/html", "RateLimit": '"hour";r=0;t=1800'}, status=status)
    world.server.pages["/a"] = page
    world.page("/b", "<p>other</p>")
    world.add("Create Sentinel s Using {/a} Monitor all words Fetch every 10 min")

    with serve(world) as service:
        service.settle()
        world.add("Create Sentinel t Using {/b} Monitor all words Fetch every 10 min")
        service.pass_time(29 * MINUTE)

    assert 1 == len(world.server.seen)


def test_requests_that_are_left_are_used(world: World):
    """A limit that is not used up holds nothing back."""
    headers = {"Content-Type": "text/html", "RateLimit-Remaining": "7", "RateLimit-Reset": "86400"}
    world.server.pages["/a"] = lambda seen, wire: wire.send(response(Page(b"<p>words</p>", headers)))
    world.add("Create Sentinel s Using {/a} Monitor all words Fetch every 10 min")

    play(world, lambda monitor: world.pass_time(monitor, HOUR))

    assert 7 == len(world.server.seen)
