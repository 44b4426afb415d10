"""Promise: a page of many sentinels is polled and compared once, and each sentinel reports only
what it asked for.
"""

from __future__ import annotations

import random
from typing import Any

import pytest

from tests.world import World, play, serve
from tidings.clock import DAY, HOUR, MINUTE
from tidings.detection.ask import expression
from tidings.detection.job import quiet
from tidings.service.run.monitor import Monitor
from tidings.service.watch.watchlist import Watchlist

PAGE = '<p>weather {weather}</p><a href="/{link}">more</a><img src="/{image}.png">'


def _page(world: World, path: str, **parts: str) -> None:
    world.page(path, PAGE.format(**{"weather": "fine", "link": "one", "image": "x"} | parts))


def test_two_sentinels_of_a_page_report_their_own_changes(world: World):
    """Neither receiver gets a text or address that only the other asked for (W-2)."""
    _page(world, "/a")
    hooks = {"words": world.receiver("/words"), "links": world.receiver("/links")}
    for name, hook in hooks.items():
        world.add(
            f"Create Sentinel {name} Using {{/a}} Monitor all {name} Fetch every 1 hour Notify By webhook {hook} immediate"
        )

    with serve(world) as service:
        service.settle()
        _page(world, "/a", weather="stormy", link="two")
        service.pass_time(HOUR)
        _page(world, "/a", weather="calm", link="two")
        service.pass_time(HOUR)
    reported = {(m["data"]["sentinel"], *_list_texts(m["data"])) for _, m in world.received}

    assert 3 == len(world.received)
    assert {
        ("words", "fine", "stormy"),
        ("words", "stormy", "calm"),
        ("links", world.server.url("/one"), world.server.url("/two")),
    } == reported


def _list_texts(record: dict[str, Any]) -> tuple[str, ...]:
    """Return every text of a change record, in reading order."""
    pairs = [text for update in record["updated"] for text in (update["old"], update["new"])]
    return (*record["deleted"], *record["inserted"], *pairs)


def test_versions_are_compared_once_for_all_sentinels(world: World, monkeypatch: pytest.MonkeyPatch):
    """Forty sentinels on words and one on links: two comparisons per poll, and two for noise; all
    are notified (W-61).
    """
    compared: list[object] = []
    evaluate = expression.evaluate

    def count(*asked: Any) -> Any:
        compared.append(asked)
        return evaluate(*asked)

    monkeypatch.setattr(quiet, "evaluate", count)
    _page(world, "/a")
    for number in range(40):
        world.add(f"Create Sentinel s{number} Using {{/a}} Monitor all words Fetch every 1 hour")
    world.add("Create Sentinel other Using {/a} Monitor links Fetch every 1 hour")

    async def story(monitor: Monitor) -> None:
        await world.settle(monitor)
        for number in range(3):
            _page(world, "/a", weather=f"number {number}", link=f"link{number}")
            await world.pass_time(monitor, HOUR)

    play(world, story)

    assert 4 * 3 == len(compared)
    assert 41 * 3 == len(world.changes())


def test_equal_intervals_share_each_poll(world: World):
    """Forty sentinels cost as many requests as one; another interval has polls of its own (W-73)."""
    _page(world, "/a")
    for number in range(40):
        world.add(f"Create Sentinel s{number} Using {{/a}} Monitor all words Fetch every 2 hour slack 0 s")
    world.add("Create Sentinel other Using {/a} Monitor all words Fetch every 3 hour slack 0 s")
    begun = world.clock.now()

    play(world, lambda monitor: world.pass_time(monitor, 12 * HOUR))

    assert [0, 2, 3, 4, 6, 8, 9, 10, 12] == [(p.charged_at - begun) // HOUR for p in world.polls()]


def test_joining_sentinels_do_not_change_the_rhythm(make_world):
    """Ten more sentinels on change come and go without another poll (W-72), unless importance
    counts, as under `price`.
    """
    world: World = make_world(schedule__policy="best_effort")
    for path in ("/a", "/b"):
        _page(world, path)
    world.add(
        "Create Sentinel alone Using {/a} Monitor any change; Create Sentinel first Using {/b} Monitor any change"
    )

    with serve(world) as service:
        service.settle()
        for number in range(10):
            world.add(f"Create Sentinel s{number} Using {{/b}} Monitor any change")
        for number in range(10):
            service.pass_time(2 * HOUR)
            world.add(f"Drop s{number}")
        service.pass_time(DAY)
    alone, shared = ([p.charged_at for p in world.polls(page)] for page in (1, 2))

    assert 10 < len(alone)
    assert alone == shared


def test_number_of_pages_is_that_of_distinct_addresses(world: World):
    """Twelve sentinels on three pages; a page without a sentinel is forgotten (W-60)."""
    for path in ("/a", "/b", "/c"):
        _page(world, path)
    for number in range(12):
        world.add(f"Create Sentinel s{number} Using {{/{'abc'[number % 3]}}} Monitor any change Fetch every 1 hour")
    counts: list[int] = []

    async def story(monitor: Monitor) -> None:
        pages = monitor.watchlist.pages
        for leaving in ((), (0, 3, 6), (9,), (1, 2, 4, 5, 7, 8, 10, 11)):
            for number in leaving:
                world.add(f"Drop s{number}")
            await world.settle(monitor)
            counts.append(len(pages))

    play(world, story)

    assert [3, 3, 2, 0] == counts


@pytest.mark.parametrize(("late", "polls"), [(0, 1), (1, 2), (MINUTE, 2)])
def test_new_sentinel_uses_polls_since_its_start(world: World, late: int, polls: int):
    """A poll at the instant of its start needs no other request, an earlier one does; later changes
    are notified (W-87).
    """
    _page(world, "/a")
    world.add("Create Sentinel old Using {/a} Monitor all words Fetch every 1 hour")

    with serve(world) as service:
        service.settle()
        world.clock.advance(late)
        world.add("Create Sentinel new Using {/a} Monitor all words Fetch every 1 hour")
        service.pass_time(MINUTE)
        assert polls == len(world.polls())
        _page(world, "/a", weather="stormy")
        service.pass_time(2 * HOUR)

    assert [("1.1", "1.2")] == [(c["from_version"], c["to_version"]) for c in world.changes("new")]


DATES = [f"Mon, 02 Jan 2006 15:0{minute}:05 GMT" for minute in range(4)]


def test_content_decides_over_size_and_date(world: World):
    """Equal bytes are no version with another date; a change of equal size is reported (W-76,
    W-77).
    """
    world.add("Create Sentinel s Using {/a} Monitor all words Fetch every 1 hour")
    bodies = ["<p>5 euro</p>", "<p>5 euro</p>", "<p>6 euro</p>", "<p>6 euro</p>"]

    with serve(world) as service:
        for body, date in zip(bodies, DATES, strict=True):
            world.page("/a", body, last_modified=date)
            service.pass_time(HOUR if world.polls() else 0)

    assert [1, 2] == [v.seq for v in world.versions()]
    assert [[{"old": "5", "new": "6"}]] == [c["updated"] for c in world.changes()]
    assert [None, *DATES[:3]] == [seen.headers.get("if-modified-since") for seen in world.server.seen]


def _everything(watchlist: Watchlist) -> dict[str, Any]:
    """Return all that a poller holds in memory."""
    return {
        "pages": {
            number: (
                page.identity,
                page.state,
                page.is_framed,
                {key: sub.row for key, sub in page.subscriptions.items()},
            )
            for number, page in watchlist.pages.items()
        },
        "sentinels": {
            number: (held.row, held.sentinel, held.endpoints, held.zone) for number, held in watchlist.sentinels.items()
        },
        "lives": watchlist.lives(),
    }


MONITORS = ["all words", "links", "any change", "keywords <fine, stormy>", "all words AND NOT keywords <fine>"]
FETCHES = ["", "Fetch every 1 hour", "Fetch every 3 hour", "Fetch at 08:00", "Fetch on demand"]
COMPARES = ["", "Compare first", "Compare moving 3", "Compare every 2"]


def _step(chance: random.Random, names: list[str]) -> str:
    """Return a random statement of another process."""
    kind = chance.choice(["create", "create", "alter", "disable", "enable", "confirm", "drop"]) if names else "create"
    if kind == "create":
        names.append(f"s{chance.getrandbits(40)}")
        pages = ", ".join(f"{{/{path}}}" for path in chance.sample("abc", chance.choice([1, 1, 2])))
        clauses = [
            chance.choice(FETCHES),
            chance.choice(COMPARES),
            chance.choice(["", "From now + 5 hour", "For 7 hour"]),
        ]
        return f"Create Sentinel {names[-1]} Using {pages} Monitor {chance.choice(MONITORS)} {' '.join(clauses)}"
    name = chance.choice(names)
    if kind == "alter":
        return f"Alter {name} Monitor {chance.choice(MONITORS)} {chance.choice(FETCHES)}"
    if kind == "drop":
        names.remove(name)
    return f"{kind.title()} {name}"


@pytest.mark.parametrize("seed", range(1))
def test_memory_matches_the_database(world: World, seed: int):
    """Others create, alter, pause and drop while pages change: a new poller would hold the same,
    and nothing at the end (W-41, W-66).
    """
    chance = random.Random(seed)
    names: list[str] = []
    kept: list[tuple[dict[str, Any], dict[str, Any]]] = []

    with serve(world) as service:
        for number in range(25):
            for path in "abc":
                _page(world, f"/{path}", weather=f"{chance.randrange(3)}")
            _say(world, _step(chance, names))
            service.pass_time(chance.choice([MINUTE, HOUR, 4 * HOUR]))
            if number % 5 == 4:
                kept.append((_everything(service.monitor.watchlist), service.run(_anew(service.monitor))))
        for name in names:
            _say(world, f"Drop {name}")
        service.settle()
        last = service.monitor.watchlist
        assert ({}, {}) == (last.pages, last.sentinels)

    assert 5 == len(kept)
    assert any(held["pages"] for held, _ in kept)
    for held, read in kept:
        assert read == held


def _say(world: World, text: str) -> None:
    """Run the statement; an ended sentinel can only be dropped."""
    verb, name = text.split()[:2]
    if verb in {"Create", "Drop"} or world.sentinel(name).state != "ended":
        world.add(text)


async def _anew(monitor: Monitor) -> dict[str, Any]:
    watchlist = Watchlist(monitor.store)
    await watchlist.load()
    return _everything(watchlist)
