"""Promise: polls are spent on changes that sentinels report, as often as changes disappear."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.world import World, play, serve
from tidings.cli.main import main
from tidings.clock import DAY, HOUR
from tidings.service.plan.worth import LearnedWorth, weight
from tidings.service.run.monitor import Monitor
from tidings.service.sentinels import register
from tidings.storage.db.database import open_database
from tidings.storage.watches import subscriptions


@pytest.fixture
def world(make_world: Any) -> World:
    """Return an installation that polls by worth, without hurry."""
    made: World = make_world(schedule__policy="price", schedule__pace_seconds="7200")
    return made


def get_learned(world: World, number: int = 0) -> LearnedWorth:
    """Return the learned state of a subscription."""
    return LearnedWorth.of(world.read(subscriptions.listing)[number].learned)


def run(world: World, capsys: pytest.CaptureFixture[str], *words: str) -> str:
    """Run a command and return its output."""
    sets = [part for name, value in world.flags.items() for part in ("--set", f"{name}={value}")]
    assert 0 == main(["--data", str(world.directory), *sets, *words])
    return capsys.readouterr().out


def alter(world: World, text: str) -> None:
    """Alter a sentinel while no service runs."""
    database = open_database(world.settings)
    try:
        register.register(database, world.text(text), settings=world.settings, now=world.clock.now())
    finally:
        database.close()


async def hours(world: World, monitor: Monitor, bodies: list[str]) -> None:
    """Serve the bodies in turn, three hours each."""
    for body in bodies:
        world.page("/a", body)
        await world.pass_time(monitor, 3 * HOUR)


def news(count: int, word: str = "") -> list[str]:
    """Return versions of a page that gains a sentence each; the sixth has a unique word."""
    lines = [f"<p>story number {n} of today{word if n == 6 else ''}</p>" for n in range(count)]
    return ["<h1>News</h1>" + "".join(reversed(lines[: n + 1])) for n in range(count)]


def test_keyword_sentinel_reports_few_changes_and_gets_fewer_polls(world, capsys):
    """`show` and `plan --expert` have the share."""
    world.add(
        'Create Sentinel picky Using {/a} Monitor keywords "flood"; Create Sentinel all Using {/b} Monitor all words Importance 0.5'
    )
    weights: list[float] = []

    with serve(world) as service:
        service.run(hours(world, service.monitor, news(13, " flood")))
        weights.extend(weight(page) for page in service.monitor.watchlist.pages.values())

    assert (12, 1) == (get_learned(world).interest.visible, get_learned(world).interest.reported)
    assert [0.5 * 0.2, 0.5] == weights
    assert "reports 1 of 12 changes of this page" in run(world, capsys, "show", "picky")
    assert "reports 1 of 12 changes of this page" in run(world, capsys, "plan", "--expert", "picky")
    record = json.loads(run(world, capsys, "plan", "--expert", "--json", "picky").splitlines()[0])
    assert (12, 1) == (record["learned"]["changes"], record["learned"]["reported"])
    assert [] == world.violations()


def test_sentinels_of_a_page_add_up(world):
    """Each counts by importance times the reported share; fixed intervals do not count."""
    world.add(
        'Create Sentinel picky Using {/a} Monitor keywords "flood" Importance 1; Create Sentinel all Using {/a} Monitor all words;'
        "Create Sentinel fixed Using {/a} Monitor all words Fetch every 1 hour Importance 1"
    )
    weights: list[float] = []

    world.page("/a", news(1)[0])
    with serve(world) as service:
        service.pass_time(1)
        weights.extend(weight(page) for page in service.monitor.watchlist.pages.values())

    assert [1 * 0.5 + 0.5] == weights


def test_learned_share_survives_a_restart_but_not_a_new_condition(world):
    """A new importance keeps it."""
    world.add('Create Sentinel picky Using {/a} Monitor keywords "flood"')
    bodies = news(13, " flood")
    play(world, lambda monitor: hours(world, monitor, bodies[:8]))
    play(world, lambda monitor: hours(world, monitor, bodies[8:]))
    before = get_learned(world).interest

    alter(world, "Alter picky Importance 0.9")
    kept = get_learned(world).interest
    alter(world, 'Alter picky Monitor keywords "story"')
    anew = get_learned(world).interest
    play(world, lambda monitor: hours(world, monitor, ["<p>a story</p>", "<p>story</p>"]))

    assert (12, 1) == (before.visible, before.reported) == (kept.visible, kept.reported)
    assert (0, 0) == (anew.visible, anew.reported)
    assert 1 <= get_learned(world).interest.visible <= 2


def test_noise_does_not_count_as_a_change(world):
    """A view counter is neither visible nor reported."""
    world.add('Create Sentinel picky Using {/a} Monitor keywords "flood"')

    play(world, lambda m: hours(world, m, [f"<h1>News</h1><p>{n} views</p><p>as ever</p>" for n in range(100, 112)]))

    assert 0 == get_learned(world).interest.visible


def test_overwritten_price_is_polled_more_often(make_world, capsys):
    """A list that grows as often is polled less; `Life forever` overrides what was learned."""
    world = make_world(schedule__policy="price", schedule__pace_seconds="14400")
    world.add(
        "Create Sentinel price Using {/a} Monitor all words; Create Sentinel list Using {/b} Monitor all words;"
        "Create Sentinel told Using {/c} Monitor all words Life forever"
    )
    growing = news(16)

    with serve(world) as service:
        for n in range(16):
            for path in ("/a", "/c"):
                world.page(path, f"<h1>Shop</h1><p>boots cost {n} now</p><p>come in</p>")
            world.page("/b", growing[n])
            service.pass_time(DAY)
    last = [sum(poll.charged_at > world.clock.now() - 4 * DAY for poll in world.polls(page)) for page in (1, 2, 3)]

    assert ["overwrite", None, "overwrite"] == [
        None if (life := get_learned(world, number).life) is None else life.mode for number in range(3)
    ]
    assert last[0] > 1.3 * last[1]
    assert last[2] <= 1.2 * last[1]
    assert "new content stays until the next change" in run(world, capsys, "show", "price")
    assert "new content stays" not in run(world, capsys, "show", "list")


def test_lifetime_of_feed_entries_is_learned(world):
    """In a feed of four entries that gains one at a time each stays for four changes."""

    def feed(first: int) -> str:
        items = "".join(
            f"<item><title>entry {n}</title><link>http://x.example/{n}</link><guid>{n}</guid></item>"
            for n in range(first, first + 4)
        )
        return f"<?xml version='1.0'?><rss version='2.0'><channel><title>t</title>{items}</channel></rss>"

    world.add("Create Sentinel feed Using {/a} Monitor items")
    play(world, lambda monitor: hours(world, monitor, [feed(n) for n in range(18)]))
    life = get_learned(world).life

    assert life is not None
    assert ("changes", 4) == (life.mode, life.changes)
