"""Promise: two hundred damaged responses are no change of a page, and none is stored as a version."""

from __future__ import annotations

import hashlib
from collections import Counter
from urllib.parse import urlsplit

from tests.damaged_responses import damage, kind_of
from tests.fakes import Answer, Page, Seen, Wire, response
from tests.replay import RealPage, Version, real_pages
from tests.world import World, play, serve
from tidings.clock import HOUR, MINUTE
from tidings.service.run.monitor import Monitor

PAGE = (
    "<!doctype html><html><head><title>Timetable</title></head><body><h1>Timetable of the valley line</h1>"
    + "".join(
        f'<p class="r">Train {n} leaves the lower station at {n % 24}:{n * 7 % 60:02d} and calls at every village, été comme hiver.</p>'
        for n in range(150)
    )
    + '<a href="/prices">prices</a><img src="/map.png"></body></html>'
)


async def _look(world: World, monitor: Monitor) -> None:
    """Let the next check of the page happen, at any due time."""
    due = monitor.planner.due_at(1)
    assert due is not None
    world.clock.move_to(max(due, world.clock.now() + MINUTE))
    await world.settle(monitor)


def test_no_damaged_response_is_a_change(make_world):
    """Good, damaged, good again, four times for each kind of damage: one version, no message."""
    world: World = make_world(fetch__total_seconds="2")
    world.page("/a", PAGE)
    world.add("Create Sentinel s Using {/a} Monitor any change Fetch every 1 hour")
    wrong: list[str] = []

    async def story(monitor: Monitor) -> None:
        await world.settle(monitor)
        for name, answer in damage(PAGE.encode(), seed=7, count=44):
            world.server.pages["/a"] = answer
            await _look(world, monitor)
            world.page("/a", PAGE)
            await _look(world, monitor)
            if monitor.watchlist.pages[1].state.last_seq != 1:
                wrong.append(name)
                return

    play(world, story)

    assert [] == wrong
    assert [] == world.changes()
    assert 1 == len(world.versions())
    assert [] == world.violations()


SEED, EACH, LONGEST_WAIT = 0, 10, 40
MOST_BYTES, FEWEST_BYTES = 120_000, 3_000
PAGES = {"terms-html": 14, "feed": 3, "json": 3}
MONITORS = ("any change", "all words", "all links", "all images", "keywords <agree, terms, price>", "any change")


def _pages() -> list[tuple[RealPage, int]]:
    """Return real pages, each with the number of a version whose text differs from the previous
    one, from alternating sites.
    """
    chosen = []
    for family, count in PAGES.items():
        found = []
        for page in real_pages((family,)):
            for number in range(1, len(page.versions)):
                both = page.versions[number - 1 : number + 1]
                if both[1].label == "text" and all(FEWEST_BYTES < len(v.body) < MOST_BYTES for v in both):
                    found.append((page, number))
                    break
        chosen += found[:: max(1, len(found) // count)][:count]
    return chosen


def _page(version: Version) -> Page:
    return Page(version.body, {"Content-Type": version.content_type})


def _sentinels(number: int) -> str:
    """Return sentinels of several change types on the page of this number; the last one is on
    change.
    """
    return ";\n".join(
        f"Create Sentinel p{number}k{k} Using {{/{number}}} Monitor {monitor} Fetch every {'2 hour' if k == 5 else '1 hour'}"
        for k, monitor in enumerate(MONITORS)
    )


class Once:
    """Answer once with the damaged response, then with the page."""

    def __init__(self, bad: Answer, good: Page) -> None:
        self.bad = bad
        self.good = good
        self.is_given = False

    def __call__(self, seen: Seen, wire: Wire) -> None:
        answer = self.good if self.is_given else self.bad
        self.is_given = True
        if isinstance(answer, Page):
            wire.send(response(answer, seen))
        else:
            answer(seen, wire)


def test_two_hundred_damaged_responses_of_real_pages_are_no_change(make_world):
    """Each real page is damaged ten times between good answers; the next real version is one
    change.
    """
    pages = _pages()
    world: World = make_world(fetch__total_seconds="2", fetch__host_connections="4")
    good = [[_page(page.versions[to - 1 + which]) for which in (0, 1)] for page, to in pages]
    bad = [
        list(damage(old.body, dict(old.headers)["Content-Type"], seed=SEED + n, count=EACH, first=n * 7))
        for n, (old, _) in enumerate(good)
    ]
    false: list[str] = []
    told_too_early: list[object] = []
    ids: list[int] = []

    world.server.pages |= {f"/{number}": old for number, (old, _) in enumerate(good)}
    world.add(";\n".join(map(_sentinels, range(len(pages)))))
    with serve(world) as service:
        service.pass_time(HOUR)
        watched = {urlsplit(page.identity.url).path: page for page in service.monitor.watchlist.pages.values()}
        states = [watched[f"/{number}"] for number in range(len(pages))]
        ids.extend(page.state.page_id for page in states)
        for turn in range(EACH):
            answers = [Once(bad[number][turn][1], good[number][0]) for number in range(len(pages))]
            world.server.pages |= {f"/{number}": answer for number, answer in enumerate(answers)}
            for _ in range(LONGEST_WAIT):
                service.pass_time(HOUR)
                if all(one.is_given for one in answers) and all(page.state.health == "ok" for page in states):
                    break
            false.extend(
                f"{page.family}/{page.name}: {bad[number][turn][0]}"
                for number, (page, _) in enumerate(pages)
                if states[number].state.last_seq != 1 or states[number].state.health != "ok"
            )
        told_too_early.extend(world.changes())
        world.server.pages |= {f"/{number}": new for number, (_, new) in enumerate(good)}
        service.pass_time(4 * HOUR)
    reported = Counter((change["url"], change["sentinel"][-2:]) for change in world.changes())
    versions = [[version.sha256 for version in world.versions(page_id)] for page_id in ids]
    kinds = Counter(kind_of(name) for made in bad for name, _ in made)
    failed = Counter(kind_of(name.partition(": ")[2]) for name in false)
    for kind, count in sorted(kinds.items()):
        print(f"{kind:20}{count:5} damaged{failed[kind]:5} kept or never healed")
    print(f"{len(told_too_early)} changes told of {sum(kinds.values())} damaged responses")

    assert [] == false
    assert [] == told_too_early
    assert (200, 11) == (sum(kinds.values()), len(kinds))
    assert [[hashlib.sha256(page.body).hexdigest() for page in both] for both in good] == versions
    assert {1} == {
        reported[world.server.url(f"/{number}"), kind] for number in range(len(pages)) for kind in ("k0", "k5")
    }
    assert [] == world.violations()
