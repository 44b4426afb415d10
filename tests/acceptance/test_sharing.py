"""Promise: however many watch a page, it is looked at and compared once, and each hears of what they asked for and of nothing else."""

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


def test_two_who_watch_one_page_hear_each_of_their_own(world: World):
    """Each receiver gets what its own sentinel asked for, and no text or address that only the other one asked for (W-2)."""
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
    told = {(m["data"]["sentinel"], *_list_texts(m["data"])) for _, m in world.received}

    assert 3 == len(world.received)
    assert {
        ("words", "fine", "stormy"),
        ("words", "stormy", "calm"),
        ("links", world.server.url("/one"), world.server.url("/two")),
    } == told


def _list_texts(record: dict[str, Any]) -> tuple[str, ...]:
    """Return every text of a change record, in the order of reading."""
    pairs = [text for update in record["updated"] for text in (update["old"], update["new"])]
    return (*record["deleted"], *record["inserted"], *pairs)


def test_one_pair_is_compared_once_however_many_ask(world: World, monkeypatch: pytest.MonkeyPatch):
    """Forty sentinels ask for words, one for links: each poll is two comparisons, and two that ask what lies in noise; everybody is notified (W-61)."""
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


def test_equal_intervals_share_each_look(world: World):
    """Forty sentinels with one interval and one start cost as many requests as one; another interval has looks of its own (W-73)."""
    _page(world, "/a")
    for number in range(40):
        world.add(f"Create Sentinel s{number} Using {{/a}} Monitor all words Fetch every 2 hour slack 0 s")
    world.add("Create Sentinel other Using {/a} Monitor all words Fetch every 3 hour slack 0 s")
    begun = world.clock.now()

    play(world, lambda monitor: world.pass_time(monitor, 12 * HOUR))

    assert [0, 2, 3, 4, 6, 8, 9, 10, 12] == [(p.charged_at - begun) // HOUR for p in world.polls()]


def test_who_joins_and_leaves_makes_no_second_rhythm(make_world):
    """A page that ten more sentinels fetch on change, who come and go, is looked at when one with a single sentinel is (W-72).

    So it is where importance does not count; under `price` a page that matters to more people is looked at sooner.
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


def test_as_many_pages_are_looked_at_as_are_watched(world: World):
    """Twelve sentinels on three pages make three pages; one that nobody watches any more is forgotten (W-60)."""
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
def test_a_new_sentinel_takes_what_was_seen_since_it_began(world: World, late: int, polls: int):
    """A page that was polled at the instant at which a sentinel begins serves it without a request, one that was polled before does not; what
    changes from then on is notified (W-87).
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


def test_content_decides_where_size_and_date_do_not(world: World):
    """Another date over the same bytes is no version; a change that keeps the size is told, whatever the dates say (W-76, W-77)."""
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
    """Return all that a poller holds of what is watched."""
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
    """Return something that another process may say of what is watched."""
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
def test_what_is_held_in_memory_is_what_the_database_would_give(world: World, seed: int):
    """Whatever others create, alter, pause and drop while pages change, the poller holds what a new one would read; when all are
    dropped it holds nothing (W-41, W-66).
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
    """Say it; a sentinel that has ended meanwhile takes no orders but to go."""
    verb, name = text.split()[:2]
    if verb in {"Create", "Drop"} or world.sentinel(name).state != "ended":
        world.add(text)


async def _anew(monitor: Monitor) -> dict[str, Any]:
    watchlist = Watchlist(monitor.store)
    await watchlist.load()
    return _everything(watchlist)
