"""Promise: sitemaps are read rarely, where they list watched pages, charged and bounded; changed
dates are hints.
"""

from __future__ import annotations

import asyncio
import gzip
from datetime import UTC, datetime
from typing import Any

import pytest

from tests.fakes import Page
from tests.world import World, play, serve
from tidings.clock import DAY, HOUR, MINUTE
from tidings.errors import StoreFullError
from tidings.model.observed.poll_reason import Why
from tidings.service.poll.sitemaps import KIND
from tidings.service.run.monitor import Monitor
from tidings.storage.observed import hints
from tidings.storage.observed.polls import open_polls
from tidings.storage.write.store import Store

FLAGS = {"schedule__policy": "price", "fetch__page_floor_seconds": "60", "fetch__robots": "true"}
FIRST, SECOND_DATE = "2023-11-10T00:00:00Z", "2023-11-20T00:00:00Z"


class Site:
    """Three watched pages, a robots.txt that names `/map.xml`, and that sitemap."""

    def __init__(self, world: World, *, names: str = "/map.xml") -> None:
        self.world = world
        world.server.pages["/robots.txt"] = Page(
            f"Sitemap: {world.server.url(names)}\n".encode(), {"Content-Type": "text/plain"}
        )
        for name in "abc":
            world.page(f"/{name}", "<p>edition 1</p>")
            world.add(f"Create Sentinel {name} Using {{/{name}}} Monitor all words")

    def urlset(self, **dates: str) -> bytes:
        """Return a sitemap with these dates, by page."""
        rows = "".join(
            f"<url><loc>{self.world.server.url(f'/{name}')}</loc><lastmod>{date}</lastmod></url>"
            for name, date in dates.items()
        )
        return f'<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">{rows}</urlset>'.encode()

    def lay(self, body: bytes, path: str = "/map.xml", **more: Any) -> None:
        self.world.server.pages[path] = Page(body, {"Content-Type": "application/xml"}, **more)

    def read(self, path: str = "/map.xml") -> int:
        """Return how often a sitemap was requested."""
        return self.world.server.paths().count(path)


def polls(world: World) -> list[Any]:
    return [poll for poll in world.polls() if poll.reason.why is Why.SITEMAP]


def test_changed_date_is_a_hint(make_world):
    """The page is polled; reading the sitemap is a poll with a cost, repeated after six hours."""
    world = make_world(**FLAGS)
    site = Site(world)
    site.lay(site.urlset(a=FIRST, b=FIRST, c=FIRST))

    with serve(world) as service:
        service.pass_time(2 * DAY)
        before = site.read()
        assert 8 <= before <= 9
        world.page("/a", "<p>edition 2</p>")
        stamp = world.clock.now() // 1_000_000 + 60
        site.lay(site.urlset(a=_date(stamp), b=FIRST, c=FIRST))
        while site.read() == before:
            service.pass_time(10 * MINUTE)
        since_poll = world.clock.now() - world.polls(1)[-1].charged_at
        assert since_poll <= 11 * MINUTE
    assert 1 == len(world.changes("a"))
    assert {"sitemap"} == {row.kind for row in world.read(hints.load)[1]}
    assert {"unchanged"} == {poll.outcome for poll in polls(world)}
    assert {1.0} == {poll.cost for poll in polls(world)} - {2.0}  # once a day with robots.txt
    assert [] == world.violations()


def test_hint_is_sent_before_the_sitemap_is_stored(make_world, monkeypatch):
    """Otherwise a crash after storing would lose it; a read that was interrupted is repeated."""
    world = make_world(**FLAGS)
    site = Site(world)
    site.lay(site.urlset(a=FIRST, b=FIRST, c=FIRST))
    steps: list[Any] = []

    async def story(monitor: Monitor) -> None:
        await world.pass_time(monitor, DAY)
        site.lay(site.urlset(a=SECOND_DATE, b=FIRST, c=FIRST))
        take, keep = monitor.ways_in.signals.take, monitor.sitemaps._keep

        async def takes(page_ids: Any, **more: Any) -> Any:
            steps.extend(page_ids)
            return await take(page_ids, **more)

        async def dies(*kept: Any) -> None:
            await keep(*kept)
            steps.append("stored")
            if steps.count("stored") == 1:
                raise asyncio.CancelledError

        monkeypatch.setattr(monitor.ways_in.signals, "take", takes)
        monkeypatch.setattr(monitor.sitemaps, "_keep", dies)
        await world.pass_time(monitor, 7 * HOUR)

    play(world, story)
    assert [1, "stored", 1, "stored"] == steps[:4]
    assert 2 == steps.count(1)


def test_sitemap_poll_left_open_by_a_full_disk_is_ended_later(make_world, monkeypatch):
    """It ends as an error, and the sitemap is read again."""
    world = make_world(**FLAGS)
    site = Site(world)
    site.lay(site.urlset(a=FIRST, b=FIRST, c=FIRST))
    commit = Store.commit

    async def full(store: Store, units: Any) -> Any:
        if any(unit.poll is not None and unit.poll.reason == KIND for unit in units):
            return [StoreFullError("it cannot grow; make room")] * len(units)
        return await commit(store, units)

    with serve(world) as service:
        with monkeypatch.context() as patched:
            patched.setattr(Store, "commit", full)
            service.pass_time(HOUR)
        service.pass_time(HOUR)
        assert [] == world.read(open_polls)
    assert {("error", "disk"), ("unchanged", "")} == {
        (p.outcome, p.kind) for p in world.polls() if p.reason.why is Why.SITEMAP
    }


def _date(seconds: int) -> str:
    return datetime.fromtimestamp(seconds, UTC).isoformat()


def test_sitemap_with_few_watched_pages_is_not_read_again(make_world):
    """Two of three pages: once a month, unless the setting asks for more."""
    world = make_world(**FLAGS)
    site = Site(world)
    site.lay(site.urlset(a=FIRST, b=FIRST))

    async def days(monitor: Monitor) -> None:
        await world.pass_time(monitor, DAY)

    play(world, days)
    assert 1 == site.read()
    play(world, days)
    assert 1 == site.read()
    world.flags["schedule.sitemap_pages"] = "1"
    play(world, days)
    assert site.read() > 3


def count_uncovered(monitor: Monitor) -> set[int]:
    """Return the pages that no sitemap covers."""
    return set(monitor.ways_in.signals.tracker.pages_of(KIND))


@pytest.mark.parametrize("why", ["gone", "too few pages"])
def test_unread_sitemap_covers_no_page_after_a_day(make_world, why):
    """Otherwise its pages would be polled rarely for good."""
    world = make_world(**FLAGS)
    site = Site(world)
    site.lay(site.urlset(a=FIRST, b=FIRST, c=FIRST))

    with serve(world) as service:
        service.pass_time(DAY)
        assert {1, 2, 3} == count_uncovered(service.monitor)
        if why == "gone":
            del world.server.pages["/map.xml"]
        else:
            world.add("Drop c")
        service.pass_time(12 * HOUR)
        assert {1, 2} <= count_uncovered(service.monitor)
        service.pass_time(DAY)
        assert set() == count_uncovered(service.monitor)
    assert [] == [row for row in world.read(hints.load)[1] if row.kind == KIND]


def test_disabled_sitemaps_cover_no_page(make_world):
    """This applies from the next start."""
    world = make_world(**FLAGS)
    site = Site(world)
    site.lay(site.urlset(a=FIRST, b=FIRST, c=FIRST))

    with serve(world) as service:
        service.pass_time(DAY)
    world.flags["schedule.sitemap_pages"] = "0"
    with serve(world) as service:
        assert set() == count_uncovered(service.monitor)


@pytest.mark.parametrize(
    "flags", [{"schedule__sitemap_pages": "0"}, {"schedule__policy": "best_effort"}, {"fetch__robots": "false"}]
)
def test_no_sitemap_is_read_where_it_has_no_effect(make_world, flags):
    """Switched off, under a policy without hints, or where robots.txt is ignored."""
    world = make_world(**{**FLAGS, **flags})
    site = Site(world)
    site.lay(site.urlset(a=FIRST, b=FIRST, c=FIRST))

    with serve(world) as service:
        service.pass_time(DAY)
    assert 0 == site.read()


def test_useful_sitemaps_of_an_index_are_read_again(make_world):
    """All once, compressed or not, then those with watched pages when their date changes, across a
    restart; a 304 has no news.
    """
    world = make_world(**FLAGS)
    site = Site(world, names="/index.xml")

    def index(one: str, two: str) -> None:
        rows = "".join(
            f"<sitemap><loc>{world.server.url(path)}</loc><lastmod>{date}</lastmod></sitemap>"
            for path, date in [("/one.xml.gz", one), ("/two.xml", two), ("/far.xml", "x")]
        )
        foreign = "<sitemap><loc>https://elsewhere.example/map.xml</loc></sitemap>"
        site.lay(f"<sitemapindex>{rows}{foreign}</sitemapindex>".encode(), "/index.xml", etag=f'"{one}{two}"')

    index(FIRST, FIRST)
    site.lay(gzip.compress(site.urlset(a=FIRST, b=FIRST)), "/one.xml.gz")
    site.lay(site.urlset(c=FIRST), "/two.xml")
    site.lay(site.urlset(other=FIRST), "/far.xml")
    files = ("/index.xml", "/one.xml.gz", "/two.xml", "/far.xml")

    async def day(monitor: Monitor) -> None:
        await world.pass_time(monitor, DAY)

    play(world, day)
    first = [site.read(path) for path in files]
    index(SECOND_DATE, FIRST)
    play(world, day)
    second = [site.read(path) for path in files]

    assert first[0] >= 4
    assert [1, 1, 1] == first[1:]
    assert [2, 1, 1] == second[1:]
    assert {1, 2, 3} <= {row.page_id for row in world.read(hints.load)[1]}


@pytest.mark.parametrize(
    "body", [b"<urlset", b"\x1f\x8bno", b"<!DOCTYPE a [<!ENTITY b 'c'>]><urlset>&b;</urlset>", b""]
)
def test_broken_sitemap_has_no_effect(make_world, body):
    """Pages are polled as usual, and the sitemap again six hours later."""
    world = make_world(**FLAGS)
    site = Site(world)
    site.lay(body)

    with serve(world) as service:
        service.pass_time(13 * HOUR)
    assert 1 <= site.read() <= 3
    assert [] == world.read(hints.load)[1]
    assert len(world.polls(1)) > 2
    assert [] == world.violations()


def test_missing_sitemap_is_a_failed_poll(make_world):
    """Nobody is notified, since nobody watches it."""
    world = make_world(**FLAGS)
    site = Site(world)

    with serve(world) as service:
        service.pass_time(7 * HOUR)
    assert {("error", "404")} == {(poll.outcome, poll.kind) for poll in polls(world)}
    assert [] == world.events("page.error")
    assert 1 <= site.read() <= 2


def test_budget_applies_to_sitemaps(make_world):
    """Without tokens it waits."""
    world = make_world(**FLAGS, budget__polls_per_day="0", budget__burst="3")
    site = Site(world)
    site.lay(site.urlset(a=FIRST, b=FIRST, c=FIRST))

    with serve(world) as service:
        service.pass_time(2 * HOUR)
    assert 0 == site.read()


def make_index(world: World, *, count: int, date: str = "") -> bytes:
    """Return an index of so many sitemaps, each with a date of its own if there is one."""
    lastmod = f"<lastmod>{date}</lastmod>" if date else ""
    rows = "".join(f"<sitemap><loc>{world.server.url(f'/c{n}.xml')}</loc>{lastmod}</sitemap>" for n in range(count))
    return f'<sitemapindex xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">{rows}</sitemapindex>'.encode()


@pytest.mark.parametrize("date", ["", FIRST])
def test_all_children_of_an_unchanged_index_are_read(make_world: Any, date: str) -> None:
    """The index answers 304; ten more of its children are read in each round, and those without a
    date again.
    """
    world: World = make_world(**FLAGS)
    site = Site(world)
    site.lay(make_index(world, count=25, date=date), etag='"index"')
    for number in range(25):
        site.lay(site.urlset(a=FIRST, b=FIRST, c=FIRST) if number == 24 else site.urlset(), f"/c{number}.xml")

    with serve(world) as service:
        service.pass_time(20 * HOUR)
        stamp = world.clock.now() // 1_000_000
        site.lay(site.urlset(a=_date(stamp), b=FIRST, c=FIRST), "/c24.xml")
        if date:
            site.lay(make_index(world, count=25, date=SECOND_DATE), etag='"index 2"')
        service.pass_time(7 * HOUR)

    assert all(site.read(f"/c{number}.xml") for number in range(25))
    assert {1} == {site.read(f"/c{number}.xml") for number in range(24)}
    assert 2 <= site.read("/c24.xml") <= 3
    assert {"sitemap"} == {row.kind for row in world.read(hints.load)[1]}


def test_child_that_failed_is_read_again(make_world: Any) -> None:
    """Although the index gives it no new date; and it does not keep others from being read."""
    world: World = make_world(**FLAGS)
    site = Site(world)
    site.lay(make_index(world, count=15, date=FIRST), etag='"index"')
    for number in range(14):
        site.lay(b"no sitemap", f"/c{number}.xml", status=503)
    site.lay(site.urlset(a=FIRST, b=FIRST, c=FIRST), "/c14.xml")

    with serve(world) as service:
        service.pass_time(14 * HOUR)
        before = [site.read(f"/c{number}.xml") for number in range(15)]
        site.lay(site.urlset(a=SECOND_DATE), "/c0.xml")
        service.pass_time(3 * DAY)

    assert 1 == before[14]
    assert 2 <= site.read("/c0.xml")
    assert 1 == site.read("/c14.xml")
