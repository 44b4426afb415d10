"""Promise: after a wrong clock is corrected, pages are polled within their interval and without a
burst (F-21).
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable, Iterator
from itertools import combinations, pairwise
from typing import Any

import pytest

from tests.fakes import Page, response
from tests.world import World
from tidings.clock import DAY, HOUR, MINUTE, SECOND
from tidings.errors import ClockSetBackError
from tidings.service.health.sources import findings
from tidings.storage.db.connection import Connection
from tidings.storage.observed import hosts, pages
from tidings.storage.write.charge import budgets

BEGIN = 1_700_000_000 * SECOND
TO_2038 = 2_147_400_000 * SECOND - BEGIN
WATCHED = """
Create Sentinel hourly Using {/a} Monitor any change Fetch every 1 hour
Create Sentinel daily Using {/b} Monitor any change Fetch at 08:00
Create Sentinel learning Using {/c} Monitor any change Fetch on change between 30 min and 2 hour
"""


class Times:
    """A world whose clock can be wrong; `asked` is the web's log, in correct time."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.wrong_by = 0
        self.asked: list[tuple[int, str]] = []

    @property
    def right(self) -> int:
        """Return the correct time."""
        return self.world.clock.wall() - self.wrong_by

    def page(self, path: str, body: str) -> None:
        """Serve a path and log its requests."""

        def answer(seen: Any, wire: Any) -> None:
            self.asked.append((self.right, path))
            wire.send(response(Page(body.encode(), {"Content-Type": "text/html; charset=utf-8"}), seen))

        self.world.server.pages[path] = answer

    def be_wrong(self, by: int) -> None:
        """Shift the clock by this much from now on; 0 corrects it."""
        right, self.wrong_by = self.right, by
        self.world.clock.move_to(right + by)

    def put_forward(self, by: int) -> None:
        """Set the clock forward by this much, though no time passes."""
        self.wrong_by += by
        self.world.clock.put_forward(by)

    def since(self, path: str, first: int) -> list[int]:
        """Return how long after an instant a path was requested, in correct time."""
        return [at - first for at, asked in self.asked if asked == path and at >= first]

    def serve(self, duration: int) -> None:
        """Run a service for this long; it restarts when the clock is set back."""

        async def act() -> None:
            async with self.world.monitor(spreads=True) as monitor:
                await self.world.pass_time(monitor, duration)

        asyncio.run(act())

    def check(self, duration: int = 0) -> None:
        """Run `tidings check` once, and again every half hour for this long."""
        end = self.right + duration
        while True:
            self.serve(0)
            if self.right >= end:
                return
            self.world.clock.advance(HOUR // 2)

    def serve_through(self, wrong_by: int, duration: int) -> None:
        """Run a service with a wrong clock for a minute; then run one with a correct clock for this
        long.
        """

        async def act() -> None:
            async with self.world.monitor(spreads=True) as monitor:
                await self.world.settle(monitor)
                self.be_wrong(wrong_by)
                with contextlib.suppress(ClockSetBackError):
                    await self.world.settle(monitor)
                self.world.clock.advance(MINUTE)
                self.be_wrong(0)
                with contextlib.suppress(ClockSetBackError):
                    await self.world.settle(monitor)

        asyncio.run(act())
        self.serve(duration)

    def check_through(self, wrong_by: int, duration: int) -> None:
        """Check once with a wrong clock; a minute later it is correct, and checks continue for this
        long.
        """
        self.be_wrong(wrong_by)
        self.check()
        self.world.clock.advance(MINUTE)
        self.be_wrong(0)
        self.check(duration)


THROUGH = {"serve": Times.serve_through, "check": Times.check_through}


@pytest.fixture
def times(world: World) -> Times:
    times = Times(world)
    for path in "abcd":
        times.page(f"/{path}", f"<p>{path}</p>")
    world.add(WATCHED)
    times.serve(5 * HOUR)
    return times


def ahead_of(world: World, now: int) -> list[str]:
    """Return all decisive instants that lie after now."""

    def find(c: Connection) -> Iterator[str]:
        yield from (f"budget {name}" for name, bucket in budgets(c).items() if bucket.at > now)
        yield from (f"host {h.name}" for h in hosts.states(c) if (h.started_at or 0) > now)
        for _, state in pages.listing(c):
            if max(state.polled_at or 0, state.checked_at or 0, state.changed_at or 0) > now:
                yield f"page {state.page_id}"

    known: list[str] = world.read(lambda c: list(find(c)))
    return known


@pytest.mark.parametrize(
    ("wrong_by", "through"),
    [
        (90 * MINUTE, "serve"),
        (DAY, "check"),
        (TO_2038, "serve"),
        (TO_2038, "check"),
        (-HOUR, "serve"),
        (-HOUR, "check"),
    ],
)
def test_pages_are_polled_within_their_interval_after_the_correction(times: Times, wrong_by: int, through: str):
    """Whatever the error was, there is no burst."""
    begun = times.right
    THROUGH[through](times, wrong_by, 26 * HOUR)
    right = begun + MINUTE
    hourly, daily, learning = (times.since(path, right) for path in ("/a", "/b", "/c"))

    assert hourly[0] <= HOUR + HOUR // 2
    assert 25 <= len(hourly) <= 27
    assert daily[0] <= DAY + HOUR // 2
    assert 1 <= len(daily) <= 2
    assert learning[0] <= 2 * HOUR + HOUR // 2
    assert 12 <= len(learning) <= 53
    assert [] == ahead_of(times.world, times.right)
    assert [] == times.world.violations()


@pytest.mark.parametrize(
    ("seconds", "rate", "expected"), [(15, 0.2, 64), (TO_2038 // 10 // SECOND, 0.2, 64), (3_600, 10, 150)]
)
def test_clock_set_forward_ends_no_gap_and_fills_no_budget(
    make_world: Callable[..., World], seconds: int, rate: float, expected: int
):
    """According to the host's log the gap holds, and the budget is not exceeded."""
    world = make_world(
        fetch__host_gap_seconds="2",
        fetch__page_floor_seconds="1",
        budget__burst="4",
        budget__polls_per_day=str(rate * DAY / SECOND),
    )
    times = Times(world)
    for path in "abcdef":
        times.page(f"/{path}", f"<p>{path}</p>")
    world.add(";".join(f"Create Sentinel {p} Using {{/{p}}} Monitor any change Fetch every 5 s" for p in "abcdef"))

    async def act() -> None:
        async with world.monitor(spreads=True) as monitor:
            for _ in range(10):
                await world.pass_time(monitor, 23 * SECOND)
                times.put_forward(seconds * SECOND)
                await world.settle(monitor)
                await world.pass_time(monitor, 7 * SECOND)

    asyncio.run(act())
    asked = [at for at, _ in times.asked]
    over = [
        last - first + 1 - 4 - rate * (asked[last] - asked[first]) / SECOND
        for first, last in combinations(range(len(asked)), 2)
    ]

    assert expected - 2 <= len(asked) <= expected + 2
    assert 2 * SECOND <= min(later - before for before, later in pairwise(asked))
    assert 0 >= max(over)


@pytest.mark.parametrize("through", THROUGH.values(), ids=THROUGH)
def test_clock_at_1970_is_ignored(times: Times, through: Callable[[Times, int, int], None]):
    """Nothing is dated 1970, known times stay, and all continues after the correction."""
    begun = times.right
    through(times, 1000 * SECOND - begun, 3 * HOUR)

    assert times.since("/a", begun + MINUTE)[0] <= HOUR + HOUR // 2
    assert [] == [p for p in times.world.polls() if p.charged_at < BEGIN]
    assert () == tuple(times.world.events("clock.wrong"))
    assert [] == times.world.violations()


def test_wrong_clock_is_reported_once(times: Times):
    """One event has its begin and end, recipients are notified once, and `doctor` reports it."""
    hook = times.world.receiver()
    times.world.add(
        f"Create Sentinel told Using {{/d}} Monitor any change Fetch every 1 hour Notify by webhook {hook};"
        f" Create Sentinel other Using {{/a}} Monitor all links Fetch every 1 hour Notify by webhook {hook}"
    )
    times.serve(HOUR)
    begun = times.right
    for _ in range(3):
        times.check_through(DAY, HOUR)
    (first, *more) = times.world.events("clock.wrong")
    (finding,) = times.world.read(
        lambda c: list(findings(c, "clock", times.world.settings, now=times.world.clock.wall(), is_polled=False))
    )
    reported = [body["data"] for _, body in times.world.received]

    assert 2 == len(more)
    assert (True, begun + MINUTE) == (DAY - HOUR < first.data["ahead"] <= DAY, first.data["until"])
    assert begun - HOUR <= first.data["since"] <= begun
    assert ["clock.wrong"] == [notice["event"] for notice in reported]
    assert "the machine's clock was ahead by up to 23 h 59 min between" in reported[0]["message"]
    assert ("warn", True) == (finding.status, "ahead by up to 23 h 59 min" in finding.detail)


def test_sentinel_ended_by_a_wrong_clock_continues(times: Times):
    """Dates of users hold: it ends tomorrow if it says so, and starts not before its date."""
    times.world.add(
        "Create Sentinel day Using {/d} Monitor any change Fetch every 1 hour For 1 day;"
        " Create Sentinel later Using {/d} Monitor all links Fetch every 1 hour From now + 20 hour;"
        " Create Sentinel once Using {/d} Monitor all links Fetch every 1 hour To first change"
    )
    times.serve(HOUR)
    begun = times.right
    times.check_through(TO_2038, HOUR)
    states = [times.world.sentinel(name).state for name in ("day", "later", "once")]
    times.serve(12 * HOUR)
    requests = times.since("/d", begun + MINUTE)
    times.serve(12 * HOUR)

    assert ["enabled", "waiting", "enabled"] == states
    assert 12 <= len(requests) <= 15
    assert ["ended", "enabled"] == [times.world.sentinel(name).state for name in ("day", "later")]


def test_digests_and_caps_continue(times: Times):
    """A digest that a wrong clock postponed to 2038 is sent at its hour, and so are news that a cap
    held.
    """
    hook = times.world.receiver()
    times.world.add(
        f"Create Sentinel digest Using {{/d}} Monitor any change Fetch every 1 hour Notify by webhook {hook} every 6 hour;"
        f" Create Sentinel capped Using {{/a}} Monitor any change Fetch every 1 hour Notify by webhook {hook} max 1 per 2 hour"
    )
    times.serve(2 * HOUR)
    times.page("/a", "<p>other</p>")
    times.check_through(TO_2038, HOUR)
    before = len(times.world.received)
    for path in ("/a", "/d"):
        times.page(path, f"<p>new words of {path}</p>")
    times.serve(8 * HOUR)
    reported = {body["data"]["sentinel"] for _, body in times.world.received[before:]}

    assert {"digest", "capped"} <= reported


def test_new_page_of_a_host_polled_by_a_wrong_clock(make_world: Callable[..., World]):
    """Its first poll waits only for the gap; disable, enable and check work as usual."""
    world = make_world(fetch__host_gap_seconds="5")
    times = Times(world)
    times.page("/a", "<p>one</p>")
    times.page("/b", "<p>two</p>")
    world.add("Create Sentinel s Using {/a} Monitor any change Fetch every 1 hour")
    times.serve(HOUR)
    times.check_through(TO_2038, 0)
    world.add("Create Sentinel new Using {/b} Monitor any change Fetch every 1 hour")
    right = times.right
    times.serve(MINUTE)

    assert 1 == len(times.since("/b", right))


def test_retry_after_is_kept_for_at_most_a_day(make_world: Callable[..., World]):
    """An earlier one holds; one that a wrong clock dated 2038 is cut."""
    world = make_world()
    times = Times(world)
    world.page("/a", "busy", status=429, headers={"Retry-After": "7200"})
    world.add("Create Sentinel s Using {/a} Monitor any change Fetch every 1 hour")
    times.check_through(TO_2038, 0)
    (host,) = world.read(hosts.states)
    asked = len(world.server.seen)
    times.serve(23 * HOUR)
    held = len(world.server.seen)
    times.serve(3 * HOUR)

    assert host.paused_until == times.right - 26 * HOUR + DAY
    assert asked == held < len(world.server.seen)


def test_robots_txt_read_by_a_wrong_clock_is_requested_again(make_world: Callable[..., World]):
    """Rules that could not be fetched in 2038 are requested today."""
    world = make_world(fetch__robots="true")
    times = Times(world)
    world.page("/robots.txt", "broken", status=500)
    times.page("/a", "<p>one</p>")
    world.add("Create Sentinel s Using {/a} Monitor any change Fetch every 1 hour")
    times.check_through(TO_2038, 0)
    world.page("/robots.txt", "User-agent: *\nAllow: /")
    right = times.right
    times.serve(30 * HOUR)

    assert [] != times.since("/a", right)


def test_sentinel_added_by_a_wrong_clock_starts_now(times: Times):
    """It starts now, not when the clock that was wrong comes true."""
    times.be_wrong(TO_2038)
    times.world.add("Create Sentinel new Using {/d} Monitor any change Fetch every 1 hour")
    times.be_wrong(0)
    right = times.right
    times.check(HOUR)

    assert 0 == times.since("/d", right)[0]
