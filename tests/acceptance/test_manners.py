"""Promise: what a server says of freshness is used as a hint, and polls are spread instead of sent
in bursts.
"""

from __future__ import annotations

import itertools
from collections import Counter
from typing import Any

import pytest

from tests.world import World, play, serve
from tidings.clock import DAY, HOUR, MINUTE, SECOND
from tidings.service.show.records import spell_poll
from tidings.storage.observed import estimates, pages

HTML = "text/html; charset=utf-8"
CLAIMS = {
    "max-age": {"Cache-Control": "public, max-age=2700"},
    "s-maxage": {"Cache-Control": "s-maxage=2700"},
    "max-age before the others": {"Cache-Control": "max-age=2700, s-maxage=1", "Expires": "0"},
    "less its age": {"Cache-Control": "max-age=3000", "Age": "300"},
    "expires": {"Date": "Sun, 06 Nov 1994 08:00:00 GMT", "Expires": "Sun, 06 Nov 1994 08:45:00 GMT"},
}


def still(world: World, path: str = "/a", **headers: str) -> None:
    """Serve a page that never changes, with these headers."""
    world.page(path, "<p>still</p>", headers={"Content-Type": HTML, **headers})


def gaps(world: World, page_id: int | None = None) -> list[int]:
    """Return the times between polls (µs)."""
    return [b - a for a, b in itertools.pairwise(p.charged_at for p in world.polls(page_id))]


def a_second(world: World, *, after: int) -> Counter[int]:
    """Return how many polls began in each second after an instant."""
    return Counter(p.charged_at // SECOND for p in world.polls() if p.charged_at > after)


@pytest.mark.parametrize("claim", CLAIMS)
def test_fresh_page_is_not_polled_while_it_is_fresh(make_world, claim):
    """With a pace of ten minutes it is polled every 45 min, except one poll in five; the poll
    record has the reason.
    """
    world: World = make_world(schedule__pace_seconds="600", schedule__policy="best_effort")
    still(world, **CLAIMS[claim])
    world.add("Create Sentinel s Using {/a} Monitor any change")

    play(world, lambda monitor: world.pass_time(monitor, 5 * HOUR))

    assert {10 * MINUTE, 45 * MINUTE} == set(gaps(world))
    assert 1 <= gaps(world).count(10 * MINUTE) <= len(gaps(world)) // 4
    assert "on change, 35 min later, because the server says that the page stays fresh" in {
        spell_poll(poll) for poll in world.polls()
    }


@pytest.mark.parametrize(
    "headers",
    [
        {},
        {"Cache-Control": "no-store, max-age=2700"},
        {"Cache-Control": "no-cache, max-age=2700"},
        {"Cache-Control": "max-age=soon"},
        {"Cache-Control": "max-age=2700", "Age": "2700"},
        {"Expires": "0"},
    ],
    ids=["nothing", "no-store", "no-cache", "unreadable", "aged", "expired"],
)
def test_page_without_a_freshness_claim_keeps_its_rate(make_world, headers):
    """The interval stays ten minutes."""
    world: World = make_world(schedule__pace_seconds="600", schedule__policy="best_effort")
    still(world, **headers)
    world.add("Create Sentinel s Using {/a} Monitor any change")

    play(world, lambda monitor: world.pass_time(monitor, 50 * MINUTE))

    assert {10 * MINUTE} == set(gaps(world))


@pytest.mark.parametrize(("seconds", "longest"), [("3600", HOUR), ("1200", 20 * MINUTE), ("0", 10 * MINUTE)])
def test_freshness_is_bounded_by_an_hour_or_the_setting(make_world, seconds, longest):
    """The setting is `fetch.freshness_seconds`; 0 ignores all claims."""
    world: World = make_world(
        schedule__pace_seconds="600", schedule__policy="best_effort", fetch__freshness_seconds=seconds
    )
    still(world, **{"Cache-Control": "max-age=31536000, immutable"})
    world.add("Create Sentinel s Using {/a} Monitor any change")

    play(world, lambda monitor: world.pass_time(monitor, 3 * HOUR))

    assert longest == max(gaps(world)[:4])


def test_freshness_delays_no_tick_no_bound_and_no_requested_check(make_world):
    """An interval, an upper bound and a user override it."""
    world: World = make_world(schedule__pace_seconds="600")
    for path in ("/tick", "/bound", "/asked"):
        still(world, path, **{"Cache-Control": "max-age=86400"})
    world.add(
        "Create Sentinel tick Using {/tick} Monitor any change Fetch every 10 min;"
        "Create Sentinel bound Using {/bound} Monitor any change Fetch on change between 5 min and 20 min;"
        "Create Sentinel asked Using {/asked} Monitor any change"
    )

    with serve(world) as service:
        service.pass_time(2 * MINUTE)
        service.monitor.polling.requests.ask(3)
        service.settle()
        service.pass_time(3 * HOUR)

    assert {10 * MINUTE} == set(gaps(world, 1))
    assert 20 * MINUTE == max(gaps(world, 2))
    assert 2 * MINUTE == gaps(world, 3)[0]


def test_false_freshness_claim_is_ignored_later(make_world):
    """A page that claims an hour and always changes is found out by one poll in five."""
    world: World = make_world(schedule__pace_seconds="600", schedule__policy="round_robin")
    turn = itertools.count()

    def answer(seen: Any, wire: Any) -> None:
        body = f"<p>edition {next(turn)}</p>".encode()
        head = f"HTTP/1.1 200 OK\r\nContent-Type: {HTML}\r\nCache-Control: max-age=3600\r\nContent-Length: {len(body)}\r\n\r\n"
        wire.send(head.encode() + body)

    world.server.pages["/a"] = answer
    world.add("Create Sentinel s Using {/a} Monitor any change")

    play(world, lambda monitor: world.pass_time(monitor, 10 * HOUR))
    between = gaps(world)
    found_out = between.index(10 * MINUTE)

    assert found_out <= 5
    assert {HOUR} == set(between[:found_out])
    assert {10 * MINUTE} == set(between[found_out:])
    assert 20 == world.read(pages.state, 1).fresh_doubt


def test_last_modified_within_the_claim_disproves_it(make_world):
    """No poll within the claim is needed."""
    world: World = make_world(schedule__pace_seconds="600")
    claim = {"Content-Type": HTML, "Cache-Control": "max-age=2700"}
    world.page("/a", "<p>one</p>", headers={**claim, "Last-Modified": "Mon, 01 Jan 2001 00:00:00 GMT"})
    world.add("Create Sentinel s Using {/a} Monitor any change")

    with serve(world) as service:
        service.settle()
        # the manual clock begins at 2023-11-14 22:13:20
        world.page("/a", "<p>two</p>", headers={**claim, "Last-Modified": "Tue, 14 Nov 2023 22:30:00 GMT"})
        service.pass_time(46 * MINUTE)

    assert [45 * MINUTE] == gaps(world)
    assert 20 == world.read(pages.state, 1).fresh_doubt


def test_freshness_survives_a_restart(make_world):
    """After five minutes' downtime the page is fresh for the remaining forty."""
    world: World = make_world(schedule__pace_seconds="600", schedule__policy="best_effort")
    still(world, **{"Cache-Control": "max-age=2700"})
    world.add("Create Sentinel s Using {/a} Monitor any change")

    play(world, lambda monitor: world.pass_time(monitor, 5 * MINUTE))
    play(world, lambda monitor: world.pass_time(monitor, HOUR))

    assert 45 * MINUTE == gaps(world)[0]


MANY = 60
SLACK = 6 * MINUTE


def many(make_world: Any, fetch: str, **flags: str) -> World:
    """Return a world with many sentinels that were added at once."""
    world: World = make_world(fetch__host_connections="16", **flags)
    for n in range(MANY):
        still(world, f"/{n}")
    world.add(";".join(f"Create Sentinel s{n} Using {{/{n}}} Monitor any change {fetch}" for n in range(MANY)))
    return world


@pytest.mark.parametrize("spreads", [True, False], ids=["serve", "check"])
def test_equal_intervals_are_spread_within_their_deadlines(make_world, spreads):
    """60 hourly sentinels of one `apply` are spread over half their slack by a service; `check`
    polls all that are due.
    """
    world = many(make_world, "Fetch every 1 hour")
    begun = world.clock.now()

    play(world, lambda monitor: world.pass_time(monitor, 3 * HOUR + SLACK), spreads=spreads)
    polls = [p.charged_at - begun for p in world.polls() if p.charged_at > begun + MINUTE]

    assert 3 * MANY == len(polls)
    assert all(poll % HOUR <= SLACK // 2 for poll in polls)
    assert (12 if spreads else MANY) >= max(a_second(world, after=begun + MINUTE).values())
    assert spreads == (len({poll % HOUR for poll in polls}) > MANY // 2)


def test_spread_is_the_same_after_a_restart(make_world):
    """It is not random: each page keeps its place within the hour."""
    world = many(make_world, "Fetch every 1 hour")
    begun = world.clock.now()

    for _ in range(3):
        play(world, lambda monitor: world.pass_time(monitor, HOUR), spreads=True)
    places: dict[int, set[int]] = {}
    for poll in world.polls():
        if poll.charged_at > begun + MINUTE:
            places.setdefault(poll.page_id, set()).add((poll.charged_at - begun) % HOUR)

    assert MANY - 12 <= sum(len(each) == 1 for each in places.values())


def test_pages_on_change_that_were_added_together_are_spread(make_world):
    """Later polls vary by a tenth of the pace, within the bounds of a sentinel."""
    world = many(make_world, "Fetch on change between 30 min and 2 hour", schedule__policy="best_effort")
    begun = world.clock.now()

    play(world, lambda monitor: world.pass_time(monitor, HOUR + MINUTE), spreads=True)
    polls = [p.charged_at - begun for p in world.polls() if p.charged_at > begun + MINUTE]

    assert MANY == len(polls)
    assert HOUR * 9 // 10 <= min(polls)
    assert max(polls) <= HOUR + MINUTE
    assert 12 >= max(a_second(world, after=begun + MINUTE).values())


def test_due_pages_are_spread_after_downtime(make_world):
    """Hourly pages, three and a half hours late, come before four-hourly ones; all within ten
    minutes.
    """
    world: World = make_world(fetch__host_connections="16")
    text = []
    for n in range(MANY):
        still(world, f"/{n}")
        text.append(f"Create Sentinel s{n} Using {{/{n}}} Monitor any change Fetch every {4 if n % 2 else 1} hour")
    world.add(";".join(text))
    play(world, world.settle, spreads=True)
    world.clock.advance(4 * HOUR + 30 * MINUTE)
    back = world.clock.now()

    play(world, lambda monitor: world.pass_time(monitor, 10 * MINUTE), spreads=True)
    polls = [(p.charged_at, p.page_id) for p in world.polls() if p.charged_at >= back]
    hourly = [at for at, page_id in polls if page_id % 2]
    others = [at for at, page_id in polls if not page_id % 2]

    assert (MANY // 2, MANY // 2) == (len(hourly), len(others))
    assert max(hourly) <= min(others)
    assert max(others) - back <= 10 * MINUTE
    assert 12 >= max(a_second(world, after=back - 1).values())


def test_sleep_of_the_machine_counts_as_downtime(make_world):
    """The same process spreads the due pages hours later."""
    world = many(make_world, "Fetch every 1 hour")
    woken = []

    with serve(world, spreads=True) as service:
        service.settle()
        world.clock.advance(5 * HOUR)
        woken.append(world.clock.now())
        service.pass_time(10 * MINUTE)

    assert MANY == sum(a_second(world, after=woken[0] - 1).values())
    assert 12 >= max(a_second(world, after=woken[0] - 1).values())


def test_errors_do_not_lower_the_learned_rate(make_world):
    """The server of an always changing page is down for a night."""
    world: World = make_world(schedule__pace_seconds="600", schedule__policy="best_effort")
    turn = itertools.count()
    is_down = False

    def answer(seen: Any, wire: Any) -> None:
        body = f"<p>edition {next(turn)}</p>".encode()
        status = b"500 Oh No" if is_down else b"200 OK"
        wire.send(b"HTTP/1.1 %b\r\nContent-Type: text/html\r\nContent-Length: %d\r\n\r\n" % (status, len(body)) + body)

    world.server.pages["/a"] = answer
    world.add("Create Sentinel s Using {/a} Monitor any change")
    with serve(world) as service:
        service.pass_time(HOUR)
        is_down = True
        service.pass_time(9 * HOUR)
        is_down = False
        service.pass_time(2 * HOUR)

    assert 600 == float(world.read(estimates.load_all, "best_effort")[1]["period"])


def test_downtime_does_not_lower_the_learned_rate(make_world):
    """The service of an always changing page is off for five nights."""
    world: World = make_world(schedule__pace_seconds="600", schedule__policy="best_effort")
    turn = itertools.count()

    def answer(seen: Any, wire: Any) -> None:
        body = f"<p>edition {next(turn)}</p>".encode()
        wire.send(f"HTTP/1.1 200 OK\r\nContent-Type: {HTML}\r\nContent-Length: {len(body)}\r\n\r\n".encode() + body)

    def period() -> float:
        return float(world.read(estimates.load_all, "best_effort")[1]["period"])

    world.server.pages["/a"] = answer
    world.add("Create Sentinel s Using {/a} Monitor any change")
    play(world, lambda monitor: world.pass_time(monitor, HOUR))
    before = period()
    for _ in range(5):
        world.clock.advance(9 * HOUR)
        play(world, lambda monitor: world.pass_time(monitor, MINUTE))

    assert period() <= before
    assert DAY < world.polls()[-1].charged_at - world.polls()[0].charged_at
