"""Promise: the pages of a site are discovered within its own budget, and new and removed pages are
reported.
"""

from __future__ import annotations

import contextlib
import gzip
from collections.abc import Sequence

import pytest

from tests.acceptance.test_waits import check_all
from tests.fakes import Page
from tests.world import World, serve
from tidings.clock import DAY, HOUR, MINUTE, SECOND
from tidings.service.collections import discover
from tidings.service.collections.known import KnownCollection
from tidings.service.health import sources
from tidings.service.people import accounts
from tidings.service.plan.worth import weight
from tidings.service.run import indexer
from tidings.service.watch.watchlist import WatchedSentinel
from tidings.storage.db.connection import Connection
from tidings.storage.observed import polls
from tidings.storage.search.log import SearchLog
from tidings.storage.watches import collections, sentinels, subscriptions

TEXT = "Create Collection docs Using {/docs/} Depth 3 Budget 4000 per day Notify by console"


def prose(number: int) -> str:
    """Return a text that is unique to a number."""
    letters = "abcdefghijklmnopqrst"
    return " ".join(f"w{letters[number % 20]}{letters[number // 20 % 20]}{letter}" for letter in letters * 2)


def show(world: World, count: int, *, more: str = "", gone: Sequence[int] = ()) -> None:
    """Serve a site with this number of pages, all linked from its first one."""
    links = " ".join(f'<a href="/docs/p{n}">Page {n}</a>' for n in range(count) if n not in gone)
    world.page("/docs/", f"<title>Docs</title>{links}{more}")
    for number in range(count):
        world.page(f"/docs/p{number}", f"<title>Title {number}</title><p>{prose(number)}</p>")


def states(world: World) -> dict[str, tuple[str, str]]:
    """Return state and reason of each address of the first collection, by path."""
    return {"/" + row.url.split("/", 3)[3]: (row.state, row.reason) for row in world.read(collections.listing, 1)}


async def index(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """Update the index at the time of the world."""
    monkeypatch.setattr(indexer, "SystemClock", lambda: world.clock)
    async with indexer.open_indexer(world.settings) as (_, opened):
        await opened.catch_up()


def list_troubles(world: World) -> list[str]:
    """Return the troubles of the collection in brief, as `list` shows them."""
    health = world.read(sources.health_of, world.settings, now=world.clock.wall(), is_polled=True)
    return [trouble.brief for trouble in health.of("docs").troubles]


def test_new_moved_and_removed_pages_are_notified(world: World, monkeypatch: pytest.MonkeyPatch):
    """The first crawl is not notified.

    New pages come in one message; a moved page is one change. Memory matches the database.
    """
    known: list[KnownCollection] = []

    def make(held: WatchedSentinel) -> KnownCollection:
        known.append(KnownCollection(held))
        return known[-1]

    monkeypatch.setattr(discover, "KnownCollection", make)
    show(world, 5, more='<a href="/blog/x">out of scope</a><a href="/docs/p1?utm_source=x#top">again</a>')
    world.add(TEXT)

    with serve(world) as service:
        service.pass_time(3 * HOUR)
        assert "" == world.console.getvalue()
        assert {"watched": 6} == world.read(collections.count, 1)

        show(world, 7)
        service.pass_time(4 * HOUR)
        (line,) = world.console.getvalue().splitlines()
        assert line.endswith('docs  new page "Title 5"; new page "Title 6"  collection:docs')

        world.page("/docs/p2", "gone", status=404)
        world.page("/docs/p3", "", status=301, headers={"Location": "/docs/new", "Content-Type": "text/html"})
        world.page("/docs/new", f"<title>Title 3</title><p>{prose(3)}</p>")
        service.pass_time(12 * HOUR)
        text = [line.split("  ")[2] for line in world.console.getvalue().splitlines()[1:]]
        assert {'page "Title 3": "/p3" → "/new"', 'removed page "Title 2"'} == set(text)

    assert [] == world.violations()
    assert ("gone", "answered 404") == states(world)["/docs/p2"]
    assert "gone" == states(world)["/docs/p3"][0]
    assert {row.url: row for row in world.read(collections.listing, 1)} == known[0].rows


def test_sitemaps_and_feeds_are_followed(world: World):
    """An index names a compressed sitemap with pages that nothing else links; a feed names its
    entries.
    """
    url = world.server.url
    ns = 'xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"'
    show(world, 0, more='<link rel="alternate" type="application/rss+xml" href="/docs/feed">')
    for number in (1, 2):
        world.page(f"/docs/hidden{number}", f"<title>H</title>{prose(40 + number)}")
    xml = {"Content-Type": "application/xml"}
    world.page(
        "/sitemap.xml",
        f"<sitemapindex {ns}><sitemap><loc>{url('/s.xml.gz')}</loc></sitemap></sitemapindex>",
        headers=xml,
    )
    packed = gzip.compress(f"<urlset {ns}><url><loc>{url('/docs/hidden1')}</loc></url></urlset>".encode())
    world.page("/s.xml.gz", packed, headers={"Content-Type": "application/gzip"})
    item = f"<item><title>H2</title><link>{url('/docs/hidden2')}</link></item>"
    world.page(
        "/docs/feed",
        f'<rss version="2.0"><channel>{item}</channel></rss>',
        headers={"Content-Type": "application/rss+xml"},
    )
    world.add(TEXT)

    with serve(world) as service:
        service.pass_time(3 * HOUR)

    found = states(world)
    assert "watched" == found["/docs/hidden1"][0] == found["/docs/hidden2"][0]
    assert {"watched": 3} == world.read(collections.count, 1)  # sitemaps and feeds are no pages of it


def test_endless_calendar_uses_only_part_of_the_budget(world: World):
    """Months with the same text are skipped, and so are their links; real pages are found."""
    show(world, 12, more='<a href="/docs/cal?month=1">calendar</a>')
    for month in range(1, 400):
        links = f'<a href="/docs/cal?month={month + 1}">next</a>'
        links += "".join(f'<a href="/docs/cal?month={month}&day={day}">{day}</a>' for day in range(1, 29))
        world.page(f"/docs/cal?month={month}", f"<p>Events of month {month}, nothing planned.</p>{links}")
    world.add(TEXT.replace("Depth 3", "Depth 20"))

    with serve(world) as service:
        service.pass_time(DAY)

    found = states(world)
    months = [state for path, state in found.items() if path.startswith("/docs/cal?")]
    watched = sum(state == "watched" for state, _ in months)
    assert all("watched" == found[f"/docs/p{number}"][0] for number in range(12))
    assert watched <= 2
    asked = sum(1 for poll in world.polls() if poll.outcome != "error")
    assert 0 < len(months) - watched
    assert asked < 4_000


def test_lists_with_the_same_words_are_followed(world: World):
    """They have different links, which make them new."""
    world.page("/docs/", '<a href="/docs/list1">list</a>')
    for number in range(1, 13):
        links = "".join(f'<a href="/docs/p{number * 3 + n}">{number * 3 + n}</a>' for n in range(3))
        world.page(f"/docs/list{number}", f'<p>List</p>{links}<a href="/docs/list{number + 1}">next</a>')
    for number in range(3, 39):
        world.page(f"/docs/p{number}", f"<p>{prose(number)}</p>")
    world.add(TEXT.replace("Depth 3", "Depth 20"))

    with serve(world) as service:
        service.pass_time(2 * HOUR)

    assert {"watched": 1 + 12 + 36, "left": 1} == world.read(collections.count, 1)  # list13 is not there


def test_polls_stay_within_the_budget_of_the_collection(world: World):
    """Saved tokens count. Refreshes and first fetches share one budget; the list is free."""
    show(world, 300)
    world.add("Create Collection docs Using {/docs/} Budget 240 per day")

    with serve(world) as service:
        service.pass_time(6 * HOUR)

    listing = next(row.page_id for row in world.read(subscriptions.listing) if row.label == "pages")
    paid = [poll for poll in world.polls() if poll.page_id != listing]
    assert 55 <= len(paid) <= 60 + 10 + 1  # the first poll comes before the budget is made
    counted = world.read(collections.count, 1)
    assert counted["watched"] >= 50  # nearly all are first fetches: no page is read again before
    assert 301 == counted["watched"] + counted["found"]


def test_redirect_is_followed_on_an_exhausted_budget(world: World):
    """One request at a time is enough; the lack of tokens is no error of the host."""
    show(world, 12)
    for number in range(12):
        world.page(f"/docs/p{number}", "", status=301, headers={"Location": f"/docs/q{number}"})
        world.page(f"/docs/q{number}", f"<title>Title {number}</title><p>{prose(number)}</p>")
    world.add("Create Collection docs Using {/docs/} Depth 3 Budget 48 per day")

    with serve(world) as service:
        service.pass_time(2 * DAY)

    found = states(world)
    assert {"watched"} == {found[f"/docs/q{number}"][0] for number in range(12)}
    assert all(found[f"/docs/p{number}"][1].startswith("leads to") for number in range(12))


@pytest.mark.parametrize(("share", "budget", "least"), [(96, 4000, 96), (4000, 96, 96), (0, 96, 96)])
def test_collection_budget_and_owner_share_both_pay(world: World, share: float, budget: int, least: int):
    """The smaller one limits; the cost counts as spent of the share."""
    show(world, 60)
    world.add(f"Create Collection docs Using {{/docs/}} Budget {budget} per day")

    def own(c: Connection) -> int:
        accounts.add(c, "ada", "admin", "", at=world.clock.wall())
        row = accounts.add(c, "anna", "editor", "", at=world.clock.wall())
        accounts.set_share(c, "anna", share)
        sentinels.give(c, sentinels.find(c, "docs").id, row.id)
        return row.id

    anna = world.write(own)

    with serve(world) as service:
        service.pass_time(12 * HOUR)

    listing = next(row.page_id for row in world.read(subscriptions.listing) if row.label == "pages")
    paid = [poll for poll in world.polls() if poll.page_id != listing]
    assert least / 2 - 1 <= len(paid) <= least / 2 + max(4, least / 24) + 1
    spent = world.read(polls.sum_share, 0, owner_id=anna)
    assert len(paid) - 1 <= spent <= len(paid)


def test_page_of_a_collection_can_be_watched_for_words(world: World):
    """Its change is reported like that of any page; its arrival is not, unless asked for."""
    show(world, 4)
    world.add('Create Collection docs Using {/docs/} Budget 4000 per day Monitor keyword "oil" Notify by console')

    with serve(world) as service:
        service.pass_time(3 * HOUR)
        show(world, 5)
        world.page("/docs/p2", f"<title>Title 2</title><p>{prose(2)} oil</p>")
        service.pass_time(12 * HOUR)

    (line,) = world.console.getvalue().splitlines()
    assert "/docs/p2" in line
    assert 'new keyword "oil"' in line


def test_collection_survives_a_restart(world: World):
    """Known pages are not notified again, new ones are."""
    show(world, 5)
    world.add(TEXT)

    with serve(world) as service:
        service.pass_time(3 * HOUR)
    held = len(world.read(subscriptions.listing))
    with serve(world) as service:
        service.pass_time(2 * HOUR)
        show(world, 6)
        service.pass_time(6 * HOUR)

    assert held + 1 == len(world.read(subscriptions.listing))
    assert 1 == world.console.getvalue().count("new page")


def test_failing_first_page_is_notified_once(world: World):
    """It is shown and polled again, unlike other pages; then its pages are found."""
    world.add(TEXT)

    with serve(world) as service:
        service.pass_time(6 * HOUR)
        (line,) = world.console.getvalue().splitlines()
        assert "cannot be watched for now (404)" in line
        assert ["error(404)"] == list_troubles(world)

        show(world, 3)
        service.pass_time(12 * HOUR)

    assert {"watched": 4} == world.read(collections.count, 1)
    assert [] == world.violations()


@pytest.mark.parametrize("monitor", ["", 'Monitor keyword "oil"'])
def test_empty_scope_is_notified_once(world: World, monitor: str):
    """The trouble ends when a page in the scope is found."""
    world.page("/docs/", '<title>Docs</title><a href="/blog/x">elsewhere</a>')
    world.add(f"{TEXT} {monitor}")

    with serve(world) as service:
        service.pass_time(12 * HOUR)
        (line,) = world.console.getvalue().splitlines()
        assert "cannot be watched for now (scope): no page that was read has a link in its scope" in line
        assert ["error(scope)"] == list_troubles(world)

        show(world, 3)
        service.pass_time(12 * HOUR)
        assert [] == list_troubles(world)
        _, over, *_ = world.console.getvalue().splitlines()
        # whether the list was read before all pages were, is chance
        assert "the page now exists" in over or "the page can be watched again" in over

    assert [] == world.violations()


def test_change_with_a_searched_word_raises_importance(world: World, monkeypatch: pytest.MonkeyPatch):
    """Of two pages that changed once, only the one that gained the word gets a higher weight."""
    show(world, 12)
    for number in (5, 6):
        world.page(f"/docs/p{number}", f"<title>Title {number}</title><p>{prose(number)} oil</p>")
    world.add(TEXT)

    with serve(world) as service:
        with contextlib.closing(SearchLog(world.directory)) as searches:
            searches.note_search("oil", owner_id=1, at=world.clock.now(), times=100)
        service.pass_time(HOUR)
        service.run(index(world, monkeypatch))
        world.page("/docs/p2", f"<title>Title 2</title><p>{prose(2)} oil oil oil</p>")
        world.page("/docs/p3", f"<title>Title 3</title><p>{prose(3)} tea</p>")
        service.pass_time(12 * HOUR)
        service.run(index(world, monkeypatch))
        service.pass_time(HOUR)
        held = {page.identity.url.rpartition("/")[2]: page for page in service.monitor.watchlist.pages.values()}
        assert held["p2"].worth > 1.1
        assert held["p3"].worth <= 1.0
        before = weight(held["p2"])
        held["p2"].worth /= 2
        assert before == pytest.approx(2 * weight(held["p2"]))  # it is what the plan goes by


def test_site_behind_a_redirect_is_found(world: World) -> None:
    """The first page leads to another place of the site, and what is named there is watched."""
    show(world, 3)
    world.server.pages["/old"] = Page(b"", {"Location": "/docs/"}, status=301)
    world.add('Create Collection docs Using {/old} Scope "/docs/*" Depth 3 Budget 4000 per day')

    with serve(world) as service:
        service.pass_time(6 * HOUR)

    assert {"/old", "/docs/p0", "/docs/p1", "/docs/p2"} <= {
        path for path, (state, _) in states(world).items() if state == "watched"
    }


def check_once(world: World) -> None:
    """Check all that is due in a process of its own, as by cron."""
    with serve(world) as service:
        service.run(check_all(world, service.monitor, named=False))


def test_checks_by_cron_notify_of_new_and_removed_pages(world: World):
    """Each process ends as soon as nothing is due; what waits to be published goes on to wait."""
    show(world, 3)
    world.add(f"{TEXT} Fetch every 10 min")
    for _ in range(6):
        check_once(world)
        world.clock.advance(15 * MINUTE)
    assert "" == world.console.getvalue()

    show(world, 5)
    for _ in range(5):
        check_once(world)
        world.clock.advance(15 * MINUTE)
    (line,) = world.console.getvalue().splitlines()
    assert line.endswith('docs  new page "Title 3"; new page "Title 4"  collection:docs')

    world.page("/docs/p1", "gone", status=404)
    for _ in range(6):
        check_once(world)
        world.clock.advance(15 * MINUTE)
    assert 'removed page "Title 1"' in world.console.getvalue()


def test_news_published_before_a_crash_are_notified(world: World, monkeypatch: pytest.MonkeyPatch):
    """The process ends between publishing and polling the list, at first or later."""
    show(world, 3)
    world.add(TEXT)
    write, ends = collections.publish, []

    def publish(c: Connection, sentinel_id: int, **more: object) -> None:
        write(c, sentinel_id, **more)  # type: ignore[arg-type]
        ends.append(more["news"])

    monkeypatch.setattr(collections, "publish", publish)

    def run_until_published(count: int) -> None:
        with serve(world) as service:
            for _ in range(20_000):
                service.run(service.monitor.step())
                service.run(world._wait(service.monitor))
                if len(ends) >= count:
                    return
                now = world.clock.now()
                world.clock.move_to(max(service.monitor.next_due(now), now + SECOND))
        raise AssertionError

    run_until_published(1)
    with serve(world) as service:
        service.pass_time(3 * HOUR)
    before = len(ends)
    show(world, 5)
    run_until_published(before + 1)
    assert "" == world.console.getvalue()

    with serve(world) as service:
        service.pass_time(HOUR)
    assert 'new page "Title 3"; new page "Title 4"' in world.console.getvalue()


def test_fresh_base_of_the_list_swallows_no_news(world: World):
    """The sentinel is enabled with a new baseline; a page that comes afterwards is notified."""
    show(world, 3)
    world.add(TEXT)

    with serve(world) as service:
        service.pass_time(3 * HOUR)
        row = world.sentinel("docs")
        world.write(sentinels.renew, row.id, service.monitor.watchlist.sentinels[row.id].sentinel, world.clock.now())
        show(world, 4)
        service.pass_time(6 * HOUR)

    assert 'new page "Title 3"' in world.console.getvalue()


def test_article_linked_before_it_is_live_is_notified(world: World):
    """Its first requests are answered 404."""
    show(world, 3)
    world.add(TEXT)

    with serve(world) as service:
        service.pass_time(3 * HOUR)
        show(world, 4)
        world.page("/docs/p3", "not yet", status=404)
        service.pass_time(2 * HOUR)
        assert "" == world.console.getvalue()
        show(world, 4)
        service.pass_time(12 * HOUR)

    assert 'new page "Title 3"' in world.console.getvalue()


@pytest.mark.parametrize("answer", [{"status": 404}, {"status": 302, "headers": {"Location": "/maintenance"}}])
def test_bad_deploy_loses_no_page(world: World, answer: dict[str, object]):
    """All pages but the first are missing, or lead to one page, for hours: all come back."""
    show(world, 6)
    world.add(f"{TEXT} Fetch every 1 hour")
    world.page("/maintenance", "<p>Back soon</p>")

    with serve(world) as service:
        service.pass_time(3 * HOUR)
        for number in range(6):
            world.page(f"/docs/p{number}", "", **answer)
        service.pass_time(3 * HOUR)
        show(world, 6)
        service.pass_time(DAY)
        assert {"watched"} == {state for path, (state, _) in states(world).items() if path.startswith("/docs/")}
        show(world, 7)
        service.pass_time(6 * HOUR)

    assert 'new page "Title 6"' in world.console.getvalue()
    assert [] == world.violations()


@pytest.mark.parametrize(
    "answer", [{"status": 404}, {"status": 302, "headers": {"Location": "/docs/"}}, {"status": 503}]
)
def test_pages_are_found_although_the_first_ones_fail(world: World, answer: dict[str, object]):
    """Eight of twenty pages of one form fail at first: the others are found, then these."""
    show(world, 20)
    for number in range(8):
        world.page(f"/docs/p{number}", "", **answer)
    world.add(TEXT.replace("4000", "400"))

    with serve(world) as service:
        service.pass_time(4 * HOUR)
        show(world, 20)
        service.pass_time(12 * HOUR)

    assert {"watched": 21} == world.read(collections.count, 1)


def test_redirect_for_a_moment_removes_no_page(world: World):
    """A page that leads elsewhere once is polled again before it is left."""
    show(world, 4)
    world.add(f"{TEXT} Fetch every 1 hour")

    with serve(world) as service:
        service.pass_time(3 * HOUR)
        world.page("/docs/p1", "", status=302, headers={"Location": "/docs/"})
        while "watched" == states(world)["/docs/p1"][0] and not states(world)["/docs/p1"][1]:
            service.pass_time(MINUTE)
        assert "watched" == states(world)["/docs/p1"][0]
        show(world, 4)
        service.pass_time(3 * HOUR)

    assert ("watched", "") == states(world)["/docs/p1"]
    assert "" == world.console.getvalue()


def test_address_that_led_elsewhere_is_a_page_again(world: World):
    """A site moves /p1 for good, and moves it back."""
    show(world, 3)
    world.add(f"{TEXT} Fetch every 1 hour")

    def move(old: str, new: str) -> None:
        world.page(old, "", status=301, headers={"Location": new})
        world.page(new, f"<title>Moved</title><p>{prose(1)}</p>")

    with serve(world) as service:
        service.pass_time(3 * HOUR)
        move("/docs/p1", "/docs/q1")
        service.pass_time(3 * DAY)
        assert ("gone", "watched") == (states(world)["/docs/p1"][0], states(world)["/docs/q1"][0])
        move("/docs/q1", "/docs/p1")
        service.pass_time(3 * DAY)

    assert ("watched", "gone") == (states(world)["/docs/p1"][0], states(world)["/docs/q1"][0])


def test_sitemap_that_failed_is_read_again(world: World):
    """It answers 404 for a day, then names a new page."""
    ns = 'xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"'

    def name(*paths: str) -> None:
        urls = "".join(f"<url><loc>{world.server.url(path)}</loc></url>" for path in paths)
        world.page("/sitemap.xml", f"<urlset {ns}>{urls}</urlset>", headers={"Content-Type": "application/xml"})

    show(world, 2)
    name("/docs/p0")
    world.add(f"{TEXT} Fetch every 1 hour")

    with serve(world) as service:
        service.pass_time(3 * HOUR)
        world.page("/sitemap.xml", "", status=404)
        service.pass_time(DAY)
        world.page("/docs/hidden", f"<title>Hidden</title><p>{prose(77)}</p>")
        name("/docs/p0", "/docs/hidden")
        service.pass_time(3 * DAY)

    assert 'new page "Hidden"' in world.console.getvalue()


def test_links_of_a_page_that_turns_out_to_be_nearer_are_followed(world: World):
    """A page at the end of the depth is later linked from the first page."""
    world.page("/docs/", '<a href="/docs/a">a</a>')
    world.page("/docs/a", f'<p>{prose(1)}</p><a href="/docs/b">b</a>')
    world.page("/docs/b", f'<p>{prose(2)}</p><a href="/docs/c">c</a>')
    world.page("/docs/c", f'<p>{prose(3)}</p><a href="/docs/d">d</a>')
    world.page("/docs/d", f"<p>{prose(4)}</p>")
    world.add(f"{TEXT} Fetch every 1 hour")

    with serve(world) as service:
        service.pass_time(6 * HOUR)
        assert "/docs/d" not in states(world)
        world.page("/docs/", '<a href="/docs/a">a</a><a href="/docs/c">c</a>')
        service.pass_time(6 * HOUR)

    assert "watched" == states(world)["/docs/d"][0]
    assert "" == world.console.getvalue()  # it was there before


def list_watched(world: World) -> set[str]:
    """Return the paths of the watched addresses."""
    return {path for path, (state, _) in states(world).items() if state == "watched"}


def test_altered_scope_reaches_the_collection(world: World):
    """Pages outside are left, and come back with a wider scope; only later news are notified."""
    show(world, 4)
    world.add(TEXT)

    with serve(world) as service:
        service.pass_time(3 * HOUR)
        world.add('Alter docs Scope "/docs/*", "!/docs/p1*"')
        service.pass_time(2 * HOUR)
        assert {"/docs/", "/docs/p0", "/docs/p2", "/docs/p3"} == list_watched(world)
        assert ("left", "outside of the scope") == states(world)["/docs/p1"]
        seen = len(world.server.seen)
        service.pass_time(DAY)
        assert "/docs/p1" not in {one.path for one in world.server.seen[seen:]}
        world.add('Alter docs Scope "/docs/*"')
        service.pass_time(6 * HOUR)
        assert "/docs/p1" in list_watched(world)
        assert "" == world.console.getvalue()
        show(world, 5)
        service.pass_time(12 * HOUR)

    (line,) = world.console.getvalue().splitlines()
    assert 'new page "Title 4"' in line
    assert [] == world.violations()


@pytest.mark.parametrize("restarts", [False, True])
def test_wider_scope_follows_links_of_unchanged_pages(world: World, restarts: bool):
    """A deeper one, or with other folders, in a running service or before its next start."""
    world.page("/docs/", '<a href="/docs/a">a</a> <a href="/blog/x">x</a>')
    world.page("/docs/a", f'<p>{prose(1)}</p><a href="/docs/b">b</a>')
    world.page("/docs/b", f"<p>{prose(2)}</p>")
    world.page("/blog/x", f"<p>{prose(3)}</p>")
    world.add(TEXT.replace("Depth 3", "Depth 1"))

    with serve(world) as service:
        service.pass_time(3 * HOUR)
        assert {"/docs/", "/docs/a"} == list_watched(world)
        if not restarts:
            world.add('Alter docs Depth 2 Scope "/docs/*", "/blog/*"')
            service.pass_time(6 * HOUR)
    if restarts:
        world.add('Alter docs Depth 2 Scope "/docs/*", "/blog/*"')
        with serve(world) as service:
            service.pass_time(6 * HOUR)

    assert {"/docs/", "/docs/a", "/docs/b", "/blog/x"} == list_watched(world)
    assert "" == world.console.getvalue()


def test_other_first_page_is_read(world: World):
    """Its links are followed; the pages of the former one are left."""
    show(world, 3)
    world.page("/blog/", '<a href="/blog/x">x</a>')
    world.page("/blog/x", f"<p>{prose(9)}</p>")
    world.add(TEXT)

    with serve(world) as service:
        service.pass_time(3 * HOUR)
        world.add('Alter docs Using {/blog/} Scope "/blog/*"')
        service.pass_time(6 * HOUR)

    assert {"/blog/", "/blog/x"} == list_watched(world)
    assert "" == world.console.getvalue()
    assert [] == world.violations()


def test_altered_request_reaches_all_pages(world: World):
    """A header is sent for the first page and for those that it names."""
    show(world, 3)
    world.add(f"{TEXT} Fetch every 1 hour")

    with serve(world) as service:
        service.pass_time(3 * HOUR)
        world.add('Alter docs Header "X-Way" "new"')
        service.pass_time(HOUR)
        seen = len(world.server.seen)
        service.pass_time(3 * HOUR)
        sent = {one.path: one.headers.get("x-way") for one in world.server.seen[seen:] if "/docs/" in one.path}

    assert {"/docs/": "new", "/docs/p0": "new", "/docs/p1": "new", "/docs/p2": "new"} == sent
    assert {"watched": 4} == world.read(collections.count, 1)
    assert "" == world.console.getvalue()


def test_stopped_collection_gets_no_more_pages(world: World, monkeypatch: pytest.MonkeyPatch):
    """It is disabled just when addresses become pages of it."""
    show(world, 5)
    world.add(TEXT)
    find_best = KnownCollection.find_best
    stops: list[bool] = []

    def find(self: KnownCollection, *given: object) -> object:
        found = find_best(self, *given)  # type: ignore[arg-type]
        if any(row.kind == "page" for _, row in found) and not stops:
            stops.append(True)
            world.add("Disable docs")
        return found

    monkeypatch.setattr(KnownCollection, "find_best", find)
    with serve(world) as service:
        service.pass_time(3 * HOUR)
        assert stops
        assert [] == world.read(subscriptions.listing, active=True)
        world.add("Enable docs")
        service.pass_time(3 * HOUR)

    assert {"watched": 6} == world.read(collections.count, 1)
