"""Promise: a change of a new page waits at most a minute for a second poll; a named value never
waits.
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import Callable
from itertools import pairwise
from typing import Any

import pytest

from tests.world import World, serve
from tidings.clock import HOUR, MINUTE, SECOND
from tidings.model.observed.poll_reason import Why
from tidings.service.health.sources import health_of
from tidings.service.run.assembly import poller
from tidings.storage.watches import subscriptions

ANY = "any change"
NAMED = {
    "a condition": 'any change where contains "twelve"',
    "a number": 'number in css ".price"',
    "a price": "price",
    "a keyword": 'keyword "twelve"',
    "a phrase": 'phrase "twelve euro"',
    "a pattern": 'regex "[a-z]+ euro"',
    "entries": "items",
}


@pytest.fixture
def world(world: World) -> World:
    """Return an installation with second polls."""
    world.flags["detect.second_polls"] = "true"
    return world


def _show_each(world: World, text: Callable[[int], str]) -> None:
    """Serve what `said` returns for the n-th request (from 1 on)."""
    asked = [0]

    def answer(_: Any, wire: Any) -> None:
        asked[0] += 1
        body = f'<h1>The shop of the town</h1><p>{text(asked[0])}</p><p class="price">8 euro</p><p>Contact us at any time</p>'.encode()
        head = f"HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=utf-8\r\nContent-Length: {len(body)}\r\n\r\n"
        wire.send(head.encode() + body)

    world.server.pages["/a"] = answer


def _watch(world: World, monitor: str = ANY, fetch: str = "every 1 hour") -> None:
    world.add(f"Create Sentinel s Using {{/a}} Monitor {monitor} Fetch {fetch}")


def _pass(world: World, duration: int) -> None:
    with serve(world) as service:
        service.pass_time(duration)


def _find_change(world: World) -> list[tuple[int, str]]:
    """Return the time of the change, in seconds after the first poll, and the last inserted word."""
    begun = world.polls()[0].charged_at
    rows = [change for change in world.changes("s") if not change["quiet"]]
    events = sorted(world.events("change.found"), key=lambda event: event.at)
    assert len(rows) == len(events)
    return [
        ((event.at - begun) // SECOND, (row["updated"][0]["new"] if row["updated"] else row["inserted"][0]).split()[-1])
        for event, row in zip(events, rows, strict=True)
    ]


def _after(*contents: str) -> Callable[[int], str]:
    """Return a function that returns these texts for successive requests; the last one repeats."""
    return lambda asked: f"the lamp is {contents[min(asked, len(contents)) - 1]}"


def test_change_confirmed_by_a_second_poll_is_notified_within_a_minute(world: World):
    """It is found at the hour and confirmed 60 seconds later."""
    _show_each(world, _after("blue", "red"))
    _watch(world)
    _pass(world, 3 * HOUR)

    assert [(3_660, "red")] == _find_change(world)
    assert [] == world.violations()


def test_change_that_a_second_poll_reverts_is_not_notified(world: World):
    """Such as a banner that one visitor in two sees."""
    _show_each(world, _after("blue", "red", "blue"))
    _watch(world)
    _pass(world, 3 * HOUR)

    assert [] == _find_change(world)
    assert 3 == len(world.versions())


def test_change_that_moves_on_is_notified_with_its_latest_state(world: World):
    """The comparison is from the known version to the second poll."""
    _show_each(world, _after("blue", "red", "green"))
    _watch(world)
    _pass(world, 3 * HOUR)

    assert [(3_660, "green")] == _find_change(world)


def test_requested_check_does_not_wait(world: World):
    """Who asks gets the answer at once; the second poll a minute later still teaches what is noise."""
    _show_each(world, _after("blue", "red"))
    _watch(world)
    with serve(world) as service:
        service.pass_time(5 * MINUTE)
        world.write(lambda c: subscriptions.request_polls(c, world.sentinel("s").id, world.clock.wall()))
        service.pass_time(2 * MINUTE)

    assert [(300, "red")] == _find_change(world)
    assert [Why.ASKED, Why.SECOND] == [poll.reason.why for poll in world.polls()][1:]


def test_known_page_does_not_wait(world: World):
    """After five polls a change is notified by the poll that finds it."""
    _show_each(world, _after(*["blue"] * 6, "red"))
    _watch(world)
    _pass(world, 8 * HOUR)

    assert [(6 * 3_600, "red")] == _find_change(world)


@pytest.mark.parametrize("named", NAMED)
def test_named_value_does_not_wait(world: World, named: str):
    """It is notified at the first check that finds it."""
    if named == "entries":
        world.page("/a", _feed("one"), headers={"Content-Type": "application/rss+xml"})
    else:
        _show_each(world, _after("nine euro", "twelve euro"))
    if named in {"a number", "a price"}:
        _price(world, 8)
    _watch(world, NAMED[named])

    with serve(world) as service:
        service.pass_time(HOUR - SECOND)
        if named == "entries":
            world.page("/a", _feed("two", "one"), headers={"Content-Type": "application/rss+xml"})
        elif named in {"a number", "a price"}:
            _price(world, 9)
        service.pass_time(2 * HOUR)
    begun = world.polls()[0].charged_at

    assert [3_600] == [(event.at - begun) // SECOND for event in world.events("change.found")]


def _price(world: World, euro: int) -> None:
    offer = f'{{"@type": "Product", "name": "Lamp", "offers": {{"@type": "Offer", "price": "{euro}.00", "priceCurrency": "EUR"}}}}'
    text = f'<h1>Lamp</h1><p>A lamp of the town for everybody</p><p class="price">{euro} €</p>'
    world.page("/a", f'<script type="application/ld+json">{offer}</script>{text}')


def _feed(*entries: str) -> str:
    items = "".join(f"<item><guid>{name}</guid><title>Entry {name}</title></item>" for name in entries)
    return f"<?xml version='1.0'?><rss version='2.0'><channel><title>t</title>{items}</channel></rss>"


def test_wait_survives_a_restart(world: World):
    """A service that stops after the first poll and starts hours later notifies at once, and once."""
    _show_each(world, _after("blue", "red"))
    _watch(world)
    _pass(world, HOUR + 10 * SECOND)
    assert [] == _find_change(world)
    world.clock.advance(4 * HOUR)
    _pass(world, MINUTE)

    assert [(5 * 3_600 + 10, "red")] == _find_change(world)
    _pass(world, 3 * HOUR)
    assert 1 == len(_find_change(world))


def test_failed_second_poll_confirms_the_change(world: World):
    """The first finding is notified then, not when the server is back."""
    _show_each(world, _after("blue", "red"))
    _watch(world)
    _pass(world, HOUR + 10 * SECOND)
    world.page("/a", "gone", status=503)
    _pass(world, 2 * MINUTE)

    assert [(3_660, "red")] == _find_change(world)


def test_frequently_polled_page_waits_a_tenth_of_its_interval(world: World):
    """A two-minute interval waits twelve seconds, if its minimum permits."""
    world.flags["fetch.page_floor_seconds"] = "10"
    _show_each(world, _after("blue", "red"))
    _watch(world, fetch="every 2 min")
    _pass(world, 10 * MINUTE)

    assert [(132, "red")] == _find_change(world)


def test_change_at_the_end_of_hours_does_not_wait(world: World):
    """The page may not be polled a minute later."""
    _show_each(world, _after("blue", "red"))
    _watch(world, fetch="every 1 hour During mon-sun 22:00 to 23:14")  # the story begins at 22:13:20
    _pass(world, HOUR + 30 * SECOND)

    assert [(3_600, "red")] == _find_change(world)


@pytest.mark.parametrize(
    ("budget", "found_at"),
    [
        pytest.param({"budget.polls_per_day": "24", "budget.burst": "1"}, 3_600, id="that of all is used up"),
        pytest.param({"budget.classes": "gentle: 24 per day"}, 3_600, id="that of its class is used up"),
        pytest.param({}, 3_660, id="it is there"),
    ],
)
def test_unpaid_second_poll_does_not_delay_the_change(world: World, budget: dict[str, str], found_at: int):
    """If it cannot be paid within two minutes, the change is notified."""
    world.flags.update(budget)
    _show_each(world, _after("blue", "red"))
    world.add(
        "Create Sentinel s Using {/a} Monitor any change Fetch every 1 hour"
        + (" Class gentle" if "budget.classes" in budget else "")
    )
    _pass(world, 3 * HOUR)

    assert [(found_at, "red")] == _find_change(world)


def test_single_check_does_not_wait(world: World):
    """`tidings check` from cron ends before a second poll."""
    _show_each(world, _after("blue", "red"))
    _watch(world)

    async def story() -> None:
        async with poller(world.settings, clock=world.clock, stream=world.console, stays=False) as monitor:
            await world.settle(monitor)
            world.clock.advance(HOUR)
            await world.settle(monitor)

    asyncio.run(story())

    assert [(3_600, "red")] == _find_change(world)


def test_place_that_differed_at_a_second_poll_waits_again(world: World):
    """It may be noise: a change that reverts within a minute is not notified, after five polls
    either.
    """
    _show_each(world, _after("blue", "red", *["blue"] * 6, "red", "blue"))
    _watch(world)
    _pass(world, 10 * HOUR)

    assert [] == _find_change(world)
    assert 5 == len(world.versions())
    assert 2 == sum(poll.reason.why is Why.SECOND for poll in world.polls())


def test_health_shows_a_waiting_change(world: World):
    """`list`, `show` and `doctor` show it until the second poll."""
    _show_each(world, _after("blue", "red"))
    _watch(world)
    text: list[list[tuple[str, str, tuple[str, ...]]]] = []

    with serve(world) as service:
        for duration in (0, HOUR, 2 * MINUTE):
            service.pass_time(duration)
            found = world.read(health_of, world.settings, now=world.clock.wall(), is_polled=True)
            text.append([(trouble.brief, trouble.severity, trouble.sentinels) for trouble in found.troubles])

    assert [[], [("second check", "note", ("s",))], []] == text


@pytest.mark.parametrize(
    ("fetch", "soonest"),
    [("every 1 min", 10), ("every 2 min", 12), ("every 5 min", 30), ("every 10 min", 60), ("every 1 hour", 60)],
)
def test_confirming_checks_come_after_a_tenth_of_the_interval(world: World, fetch: str, soonest: int):
    """And after 10 seconds at the earliest. All other checks of a page are a minute apart."""
    chance = random.Random(4)
    _show_each(world, lambda _: " ".join(chance.choice(["tea", "coffee", "milk", "water", "juice"]) for _ in range(4)))
    _watch(world, fetch=fetch)
    _pass(world, 2 * HOUR)
    gaps = [
        (later.reason.why is Why.SECOND, (later.charged_at - poll.charged_at) // SECOND)
        for poll, later in pairwise(world.polls())
    ]

    assert {soonest} == {gap for is_second, gap in gaps if is_second}
    assert min(gap for is_second, gap in gaps if not is_second) >= 60
    assert [] == world.violations()
