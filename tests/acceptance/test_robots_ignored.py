"""Promise: robots.txt is ignored only for pages whose sentinel gives a reason; each poll has the
reason, and Crawl-delay is kept.
"""

from __future__ import annotations

import itertools

import pytest

from tests.fakes import Page, WebServer
from tests.world import World, play
from tidings.clock import DAY, HOUR, SECOND
from tidings.language import parser
from tidings.service.sentinels import register
from tidings.service.show.records import poll_record
from tidings.service.watch import by_name
from tidings.storage.db.database import open_database

RULES = "User-agent: *\nDisallow: /private\nCrawl-delay: 30\n"
IGNORED = 'Robots ignored because "this site is mine"'


@pytest.fixture
def world(make_world) -> World:
    """Return a world with a host whose robots.txt forbids half of it."""
    made: World = make_world(fetch__robots="true", fetch__host_gap_seconds="5")
    made.page("/robots.txt", RULES, headers={"Content-Type": "text/plain"})
    for path in ("/private/a", "/private/b", "/c"):
        made.page(path, f"<p>{path}</p>")
    return made


def every_hour(*paths: str, clause: str = "") -> str:
    """Return a sentinel for each path."""
    return ";".join(
        f"Create Sentinel s{path[-1]} Using {{{path}}} Monitor any change Fetch every 1 hour {clause}" for path in paths
    )


def test_page_with_a_reason_is_polled_and_each_poll_has_it(world: World):
    """A page whose sentinel gives none is not requested."""
    world.add(f"{every_hour('/private/a', clause=IGNORED)};{every_hour('/private/b', '/c')}")

    play(world, lambda monitor: world.pass_time(monitor, 2 * HOUR))
    reasons = [poll_record(p, url="")["reason"] for p in world.polls(1)]

    assert 3 == world.server.paths().count("/private/a")
    assert 0 == world.server.paths().count("/private/b")
    assert ["new", "unchanged", "unchanged"] == [p.outcome for p in world.polls(1)]
    assert {"interval; robots.txt ignored: this site is mine"} == set(reasons)
    assert {("error", "robots")} == {(p.outcome, p.kind) for p in world.polls(2)}
    assert {"interval"} == {poll_record(p, url="")["reason"] for p in world.polls(3)}


def test_crawl_delay_is_kept_when_the_rest_is_ignored(world: World):
    """robots.txt is read once for two pages, and all requests are thirty seconds apart, also after
    a restart.
    """
    world.add(every_hour("/private/a", "/private/b", clause=IGNORED))

    play(world, lambda monitor: world.pass_time(monitor, 10 * 60 * SECOND))
    play(world, lambda monitor: world.pass_time(monitor, 2 * HOUR))
    starts = [p.charged_at for p in world.polls()]

    assert 1 == world.server.paths().count("/robots.txt")
    assert 6 == len(starts)
    assert all(later - earlier >= 30 * SECOND for earlier, later in itertools.pairwise(starts[1:]))


def test_unavailable_robots_txt_stops_no_page_with_a_reason(world: World):
    """With 503 all other pages of the host are forbidden."""
    world.server.pages["/robots.txt"] = Page(b"", status=503)
    world.add(f"{every_hour('/private/a', clause=IGNORED)};{every_hour('/c')}")

    play(world, lambda monitor: world.pass_time(monitor, HOUR))

    assert {"new", "unchanged"} == {p.outcome for p in world.polls(1)}
    assert {("error", "robots")} == {(p.outcome, p.kind) for p in world.polls(2)}


def test_reason_applies_to_the_page_s_own_host_only(world: World):
    """A redirect does not bypass the rules of another site."""
    with WebServer("127.0.0.2") as other:
        other.pages["/robots.txt"] = Page(b"User-agent: *\nDisallow: /", {"Content-Type": "text/plain"})
        world.server.pages["/private/a"] = Page(status=302, headers={"Location": other.url("/theirs")})
        world.add(every_hour("/private/a", clause=IGNORED))
        play(world, world.settle)

        assert ["/robots.txt"] == other.paths()
        assert [("error", "robots")] == [(p.outcome, p.kind) for p in world.polls()]


def test_reason_of_one_active_sentinel_is_enough(world: World):
    """When it is dropped, the other sentinel of the page is notified of robots.txt."""
    world.add(f"{every_hour('/private/a')};Create Sentinel other Using {{/private/a}} Monitor all words {IGNORED}")
    play(world, lambda monitor: world.pass_time(monitor, HOUR))
    seen = world.server.paths().count("/private/a")
    world.add("Drop other")

    play(world, lambda monitor: world.pass_time(monitor, 3 * HOUR))

    assert seen == world.server.paths().count("/private/a") >= 2
    assert ("error", "robots") == (world.polls()[-1].outcome, world.polls()[-1].kind)


def test_later_reason_applies_at_once(world: World):
    """The page does not wait for the next day."""
    world.add(every_hour("/private/a"))
    play(world, lambda monitor: world.pass_time(monitor, HOUR))
    database = open_database(world.settings)
    try:
        (sentinel,) = parser.read(world.text(every_hour("/private/a", clause=IGNORED)))
        database.write(
            lambda c: register.alter(c, by_name.find(c, "sa"), sentinel, now=world.clock.now())  # type: ignore[arg-type]
        )
    finally:
        database.close()

    play(world, lambda monitor: world.pass_time(monitor, HOUR))

    assert "new" in {p.outcome for p in world.polls()}
    assert world.polls()[-1].charged_at - world.polls()[0].charged_at < DAY


def test_adding_such_a_sentinel_warns_once(world: World):
    """W15, for any number of pages."""
    text = f"Create Sentinel s Using {{/private/a}}, {{/private/b}} Monitor any change {IGNORED}"
    database = open_database(world.settings)
    try:
        done = register.register(database, world.text(text), settings=world.settings, now=world.clock.now())
    finally:
        database.close()

    assert ["W15"] == [warning.code for warning in done.warnings]
