"""Promise: on a page that is hardly known a change waits a minute at most for a second poll; what names a value never waits."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from tests.world import World, serve
from tidings.clock import HOUR, MINUTE, SECOND
from tidings.model.observed.poll_reason import Why
from tidings.service.health.sources import health_of
from tidings.service.run.assembly import poller

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
    """An installation that polls pages a second time."""
    world.flags["detect.second_looks"] = "true"
    return world


def _show_each(world: World, said: Callable[[int], str]) -> None:
    """Let the page say at the n-th request (from 1 on) what `said` returns."""
    asked = [0]

    def answer(_: Any, wire: Any) -> None:
        asked[0] += 1
        body = f'<h1>The shop of the town</h1><p>{said(asked[0])}</p><p class="price">8 euro</p><p>Contact us at any time</p>'.encode()
        head = f"HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=utf-8\r\nContent-Length: {len(body)}\r\n\r\n"
        wire.send(head.encode() + body)

    world.server.pages["/a"] = answer


def _watch(world: World, monitor: str = ANY, fetch: str = "every 1 hour") -> None:
    world.add(f"Create Sentinel s Using {{/a}} Monitor {monitor} Fetch {fetch}")


def _pass(world: World, duration: int) -> None:
    with serve(world) as service:
        service.pass_time(duration)


def _find_change(world: World) -> list[tuple[int, str]]:
    """Return when, in seconds after the first poll, a change was found, and the last word of what came."""
    begun = world.polls()[0].charged_at
    rows = [change for change in world.changes("s") if not change["quiet"]]
    events = sorted(world.events("change.found"), key=lambda event: event.at)
    assert len(rows) == len(events)
    return [
        ((event.at - begun) // SECOND, (row["updated"][0]["new"] if row["updated"] else row["inserted"][0]).split()[-1])
        for event, row in zip(events, rows, strict=True)
    ]


def _after(*contents: str) -> Callable[[int], str]:
    """Return what says these at one request after the other, the last one for good."""
    return lambda asked: f"the lamp is {contents[min(asked, len(contents)) - 1]}"


def test_a_change_that_a_second_poll_confirms_is_notified_within_a_minute(world: World):
    """It is found at the hour, confirmed 60 seconds later, and notified once."""
    _show_each(world, _after("blue", "red"))
    _watch(world)
    _pass(world, 3 * HOUR)

    assert [(3_660, "red")] == _find_change(world)
    assert [] == world.violations()


def test_what_is_back_at_the_second_poll_is_no_news(world: World):
    """A banner that one visitor in two is shown: without the wait both ways would be notified."""
    _show_each(world, _after("blue", "red", "blue"))
    _watch(world)
    _pass(world, 3 * HOUR)

    assert [] == _find_change(world)
    assert 3 == len(world.versions())


def test_what_differs_from_both_is_notified_as_it_is_then(world: World):
    """News that goes on is told from what was known, to what is."""
    _show_each(world, _after("blue", "red", "green"))
    _watch(world)
    _pass(world, 3 * HOUR)

    assert [(3_660, "green")] == _find_change(world)


def test_a_page_that_is_known_makes_nobody_wait(world: World):
    """After five polls a change is notified at the poll that finds it."""
    _show_each(world, _after(*["blue"] * 6, "red"))
    _watch(world)
    _pass(world, 8 * HOUR)

    assert [(6 * 3_600, "red")] == _find_change(world)


@pytest.mark.parametrize("named", NAMED)
def test_what_names_a_value_never_waits(world: World, named: str):
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


def test_the_wait_outlasts_a_restart(world: World):
    """The service stops right after the poll that found the change; who starts it hours later hears of it at once, and once."""
    _show_each(world, _after("blue", "red"))
    _watch(world)
    _pass(world, HOUR + 10 * SECOND)
    assert [] == _find_change(world)
    world.clock.advance(4 * HOUR)
    _pass(world, MINUTE)

    assert [(5 * 3_600 + 10, "red")] == _find_change(world)
    _pass(world, 3 * HOUR)
    assert 1 == len(_find_change(world))


def test_a_second_poll_that_fails_confirms_what_was_found(world: World):
    """No second poll is possible: what the first one found is notified then, not when the server is back."""
    _show_each(world, _after("blue", "red"))
    _watch(world)
    _pass(world, HOUR + 10 * SECOND)
    world.page("/a", "gone", status=503)
    _pass(world, 2 * MINUTE)

    assert [(3_660, "red")] == _find_change(world)


def test_pages_that_are_polled_often_wait_for_a_tenth_of_that(world: World):
    """A page that is polled every two minutes waits twelve seconds, where its floor permits."""
    world.flags["fetch.page_floor_seconds"] = "10"
    _show_each(world, _after("blue", "red"))
    _watch(world, fetch="every 2 min")
    _pass(world, 10 * MINUTE)

    assert [(132, "red")] == _find_change(world)


def test_hours_that_end_make_nobody_wait(world: World):
    """Where the page is not to be polled a minute later, the change is notified at once."""
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
def test_nobody_waits_for_a_poll_that_the_budget_does_not_pay(world: World, budget: dict[str, str], found_at: int):
    """A second poll that cannot be paid for within two minutes confirms nothing: the change is notified."""
    world.flags.update(budget)
    _show_each(world, _after("blue", "red"))
    world.add(
        "Create Sentinel s Using {/a} Monitor any change Fetch every 1 hour"
        + (" Class gentle" if "budget.classes" in budget else "")
    )
    _pass(world, 3 * HOUR)

    assert [(found_at, "red")] == _find_change(world)


def test_who_does_not_stay_makes_nobody_wait(world: World):
    """`tidings check` from cron ends before a second poll: what it finds is notified."""
    _show_each(world, _after("blue", "red"))
    _watch(world)

    async def story() -> None:
        async with poller(world.settings, clock=world.clock, stream=world.console, stays=False) as monitor:
            await world.settle(monitor)
            world.clock.advance(HOUR)
            await world.settle(monitor)

    asyncio.run(story())

    assert [(3_600, "red")] == _find_change(world)


def test_a_place_that_a_second_poll_found_different_waits_later_too(world: World):
    """It is not yet known to be noise, and it may be: what is back a minute later is no news after five polls either."""
    _show_each(world, _after("blue", "red", *["blue"] * 6, "red", "blue"))
    _watch(world)
    _pass(world, 10 * HOUR)

    assert [] == _find_change(world)
    assert 5 == len(world.versions())
    assert 2 == sum(poll.reason.why is Why.SECOND for poll in world.polls())


def test_health_says_that_a_change_waits(world: World):
    """`list`, `show` and `doctor` say so until the second poll was made."""
    _show_each(world, _after("blue", "red"))
    _watch(world)
    said: list[list[tuple[str, str, tuple[str, ...]]]] = []

    with serve(world) as service:
        for duration in (0, HOUR, 2 * MINUTE):
            service.pass_time(duration)
            found = world.read(health_of, world.settings, now=world.clock.wall(), is_polled=True)
            said.append([(trouble.brief, trouble.severity, trouble.sentinels) for trouble in found.troubles])

    assert [[], [("second check", "note", ("s",))], []] == said
