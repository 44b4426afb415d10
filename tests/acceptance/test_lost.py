"""Promise: a part that disappears is reported as lost, once and when it is certain, and never as
empty (detection §6, cases 2, 11).
"""

from __future__ import annotations

import asyncio
from itertools import pairwise

import pytest

from tests.world import World, play, serve
from tidings.clock import HOUR, MINUTE, SECOND
from tidings.service.run.check import check
from tidings.service.run.monitor import Monitor

PARTS = ("part.lost", "part.back", "part.appeared")


def parts(world: World) -> list[str]:
    return [event.type for event in world.events(*PARTS)]


@pytest.mark.parametrize("fetch", ["Fetch every 1 hour", "Fetch on change between 1 hour and 2 hour"])
def test_part_that_one_poll_misses_is_not_reported(world: World, fetch: str) -> None:
    """Case 2: 5, a page that is loading, 5. A second poll after a minute, paid for, decides."""
    world.page("/p", "<b id=p>5</b>")
    world.add(f'Create Sentinel s Using {{/p}} Monitor any change in css "#p" {fetch}')

    with serve(world) as service:
        service.settle()
        world.page("/p", "<i>loading</i>")
        service.pass_time(HOUR + 30 * SECOND)
        world.page("/p", "<b id=p>5</b>")
        service.pass_time(3 * HOUR)
    polls = [row.finished_at for row in world.polls()]

    assert [] == world.changes()
    assert [] == parts(world)
    assert MINUTE == polls[2] - polls[1]
    assert all(later - earlier >= MINUTE for earlier, later in pairwise(polls))
    assert [] == world.violations()


def test_part_that_two_polls_miss_is_lost_and_reported_once(world: World) -> None:
    """Case 11: its loss and its return are one message each; a change meanwhile is compared with
    the lost version.
    """
    hook = world.receiver()
    world.page("/p", "<b id=p>5</b>")
    world.add(
        f'Create Sentinel s Using {{/p}} Monitor any change in css "#p" Fetch every 1 hour Notify By webhook {hook} immediate'
    )

    with serve(world) as service:
        service.settle()
        world.page("/p", "<i>gone</i>")
        service.pass_time(5 * HOUR)
        world.page("/p", "<i>gone</i> for good")
        service.pass_time(5 * HOUR)
        world.page("/p", "<b id=p>6</b>")
        service.pass_time(5 * HOUR)
    reported = [message["data"]["summary"] for _, message in world.received]

    assert ["part.lost", "part.back"] == parts(world)
    assert ['the selected part is gone: css "#p" no longer matches anything on the page'] == reported[:1]
    assert {'the selected part is there again: css "#p" matches', '"5" → "6"'} == set(reported[1:])
    assert [] == world.violations()


def test_doubt_survives_a_restart(world: World) -> None:
    """A service that stops between the two polls makes the second at its start, and reports;
    another restart reports nothing more.
    """
    world.page("/p", "<b id=p>5</b>")
    world.add('Create Sentinel s Using {/p} Monitor any change in css "#p" Fetch every 1 hour')

    async def run(monitor_time: int) -> None:
        async with world.monitor() as monitor:
            await world.pass_time(monitor, monitor_time)

    asyncio.run(run(SECOND))
    world.page("/p", "<i>gone</i>")
    asyncio.run(run(HOUR))
    before = parts(world)
    asyncio.run(run(2 * MINUTE))
    after = parts(world)
    asyncio.run(run(5 * HOUR))
    world.page("/p", "<b id=p>5</b>")
    asyncio.run(run(HOUR))

    assert [] == before
    assert ["part.lost"] == after
    assert ["part.lost", "part.back"] == parts(world)
    assert [] == world.changes()
    assert [] == world.violations()


def test_one_part_is_lost_and_the_other_is_compared(world: World) -> None:
    """The lost one is named."""
    world.page("/p", "<b id=a>1</b><b id=b>1</b>")
    world.add('Create Sentinel s Using {/p} Monitor words in css "#a" OR words in css "#b" Fetch every 1 hour')

    with serve(world) as service:
        service.settle()
        world.page("/p", "<b id=a>2</b>")
        service.pass_time(3 * HOUR)
        world.page("/p", "<b id=a>3</b>")
        service.pass_time(3 * HOUR)
    (lost,) = world.events("part.lost")

    assert 'css "#b"' == lost.data["part"]
    assert [[{"old": "1", "new": "2"}], [{"old": "2", "new": "3"}]] == [change["updated"] for change in world.changes()]
    assert [] == world.violations()


def test_check_reports_a_lost_part(world: World) -> None:
    """It reports loss and return once each; without a Notify clause nobody else is notified."""
    world.page("/p", "<b id=p>5</b>")
    world.add('Create Sentinel s Using {/p} Monitor words in css "#p" Fetch on demand')
    text = []

    with serve(world) as service:
        for body in ("<b id=p>5</b>", "<i>x</i>", "<i>x</i>", "<i>y</i>", "<b id=p>5</b>"):
            world.page("/p", body)
            world.clock.advance(HOUR)
            found = service.run(check(service.monitor, {1: {1}}))
            text.append([(record["sentinel"], record["event"]) for record in found.troubles])

    assert [[], [], [("s", "part.lost")], [], [("s", "part.back")]] == text


def test_on_demand_sentinel_gets_no_second_poll(world: World) -> None:
    """The user makes the second check."""
    world.page("/p", "<b id=p>5</b>")
    world.add('Create Sentinel s Using {/p} Monitor words in css "#p" Fetch on demand')

    with serve(world) as service:
        for body, expected in (("<b id=p>5</b>", []), ("<i>x</i>", []), ("<i>x</i>", ["part.lost"])):
            world.page("/p", body)
            service.monitor.polling.requests.ask(1, sentinels=[1])
            service.pass_time(HOUR)
            assert expected == parts(world)

    assert 3 == len(world.polls())


SHOP = '<h1>Lamp</h1><script type="application/ld+json">{{"@type": "Product", "offers": {{"price": "{}", "priceCurrency": "EUR"}}}}</script>'


def test_missing_price_is_lost_not_changed(world: World) -> None:
    """From 20 to none to 18: a loss, a return, and one drop of ten per cent."""
    hook = world.receiver()
    world.page("/p", SHOP.format("20.00"))
    world.add(
        f"Create Sentinel s Using {{/p}} Monitor price where drops by 10% Fetch every 1 hour Notify By webhook {hook} immediate"
    )

    with serve(world) as service:
        service.settle()
        world.page("/p", "<h1>Lamp</h1>")
        service.pass_time(3 * HOUR)
        world.page("/p", SHOP.format("18.00"))
        service.pass_time(3 * HOUR)
    reported = [message["data"]["summary"] for _, message in world.received]

    assert ["the page no longer gives a value for price"] == reported[:1]
    assert {"the page gives a value for price again", 'price changed: "20.00 EUR" → "18.00 EUR"'} == set(reported[1:])
    assert [] == world.violations()


def test_header_is_compared_at_each_poll(world: World) -> None:
    """The first answer is the baseline; a new value is a change with the same body; no 304 is
    requested.
    """
    hook = world.receiver()

    def answer(version: str, **more: str) -> None:
        headers = {"Content-Type": "text/html", "ETag": '"x"', "Set-Cookie": "s=1", **more}
        world.page("/p", "<p>same</p>", headers={**headers, **({"X-Version": version} if version else {})})

    answer("1")
    world.add(
        f'Create Sentinel s Using {{/p}} Monitor header "x-version" Fetch every 1 hour Notify By webhook {hook} immediate'
    )

    async def story(monitor: Monitor) -> None:
        await world.settle(monitor)
        for version in ("1", "2", "2", "", "3"):
            answer(version, **{"X-Other": version})
            await world.pass_time(monitor, HOUR)

    play(world, story)
    reported = [message["data"]["summary"] for _, message in world.received]

    assert [
        'header changed: x-version "1" → "2"',
        'header changed: removed "x-version: 2"',
        'header changed: added "x-version: 3"',
    ] == reported
    assert 1 == len(world.versions())
    assert {200} == {row.status for row in world.polls()}
    assert [] == world.violations()


RSS = {"Content-Type": "application/rss+xml"}


def test_entry_that_returns_is_not_new_after_a_restart(world: World) -> None:
    """The entries seen are stored with the subscription."""

    def feed(*numbers: int) -> None:
        items = "".join(f"<item><guid>{n}</guid><title>Entry {n}</title></item>" for n in numbers)
        world.page("/p", f"<rss version='2.0'><channel>{items}</channel></rss>", headers=RSS)

    feed(3, 2, 1)
    world.add("Create Sentinel s Using {/p} Monitor items inserted Fetch every 1 hour")

    async def run() -> None:
        async with world.monitor() as monitor:
            await world.pass_time(monitor, HOUR)

    for numbers in ((3, 2, 1), (4, 3, 2), (5, 4, 3), (1, 2, 5, 4, 3)):
        feed(*numbers)
        asyncio.run(run())

    assert [["Entry 4"], ["Entry 5"]] == [change["inserted"] for change in world.changes()]
    assert [] == world.violations()
