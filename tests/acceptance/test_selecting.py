"""Promise: a sentinel on a part of a page reports that part alone (sentinels §1.5); a part that
disappears is reported as lost, once, never as empty.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence
from typing import Any

import pytest

from tests.world import World, play, serve
from tidings.clock import HOUR
from tidings.isolation.runners import InProcess
from tidings.service.health.sources import health_of
from tidings.service.on_demand.seen_now import answer
from tidings.service.on_demand.trial import trial
from tidings.service.run.monitor import Monitor
from tidings.service.show.records import Record
from tidings.storage.db.database import open_database

JSON = {"Content-Type": "application/json"}
RSS = {"Content-Type": "application/rss+xml; charset=utf-8"}


def watch(world: World, text: str, bodies: Sequence[str | bytes], **more: Any) -> list[list[Record]]:
    """Return the changes of each body, one an hour; the first is the baseline."""
    world.page("/p", bodies[0], **more)
    world.add(f"Create Sentinel s Using {{/p}} {text} Fetch every 1 hour")
    found: list[list[Record]] = []

    with serve(world) as service:
        service.settle()
        assert [] == world.changes()
        for body in bodies[1:]:
            before = len(world.changes())
            world.page("/p", body, **more)
            service.pass_time(HOUR)
            found.append(world.changes()[before:])
    assert [] == world.violations()
    return found


def updates(changes: list[Record]) -> list[tuple[str, str]]:
    """Return the updates of all changes."""
    return [(pair["old"], pair["new"]) for change in changes for pair in change["updated"]]


def shop(price: str, more: str = "") -> str:
    """Return a page of a shop with a visitor counter."""
    return f"<h1>Lamp 500</h1><p>Seen {len(more)} times{more}</p><p class=price>now <b>{price}</b> incl. VAT</p>"


def test_example_7_price_crosses_a_limit(world: World):
    """Once each time the first number in `.price` crosses to below 100; other changes are ignored."""
    prices = ["120,00 €", "99,50 €", "95,00 €", "1.250,00 €", "99,99 €", "99.99 €"]
    found = watch(
        world, 'Monitor number in css ".price" where becomes < 100', [shop(p, "x" * n) for n, p in enumerate(prices)]
    )

    assert [[("120,00", "99,50")], [], [], [("1.250,00", "99,99")], []] == list(map(updates, found))
    assert 'Lamp 500: now "99,50" (was "120,00") € incl.' == found[0][0]["summary"]
    assert 'number in css ".price" where becomes < 100' == found[0][0]["kind"]


def test_example_8_rate_moves_by_more_than_a_percentage(world: World):
    """More than 5 % up or down from the previous value; exactly 5 % is not."""
    rates = ["100.00", "104.00", "110.00", "115.50", "100.00"]
    page = "<p>Rates of today</p><table><tr><td id=usd>USD {}</td><td id=eur>EUR 9</td></tr></table>"
    found = watch(
        world, 'Monitor number in css "#usd" where changes by more than 5%', [page.format(rate) for rate in rates]
    )

    assert [[], [("104.00", "110.00")], [], [("115.50", "100.00")]] == list(map(updates, found))


def test_example_9_new_links_of_a_list(world: World):
    """New links in the job list; other links and removed jobs are ignored."""
    page = "<nav><a href=/{}>menu</a></nav><ul class=jobs>{}</ul>"
    jobs = [["1"], ["1", "2"], ["2"], ["2", "3", "4"]]
    bodies = [
        page.format(n, "".join(f"<li><a href=/job/{j}>Job {j}</a></li>" for j in shown)) for n, shown in enumerate(jobs)
    ]
    found = watch(world, 'Monitor all links inserted in css "ul.jobs > li"', bodies)

    assert [["/job/2"], [], ["/job/3", "/job/4"]] == [
        [link.removeprefix(world.server.url("")) for change in changes for link in change["inserted"]]
        for changes in found
    ]


def test_example_10_the_status_of_components(world: World):
    """The status of any component; times, counters and the order of keys are ignored."""

    def body(api: str, web: str, at: int) -> str:
        components = [{"name": "api", "status": api, "checked": at}, {"status": web, "name": "web", "checked": at + 1}]
        return json.dumps({"generated": at, "components": components})

    found = watch(
        world,
        'Monitor any change in jsonpath "$.components[*].status"',
        [body("up", "up", 1), body("up", "up", 2), body("down", "up", 3), body("up", "down", 4)],
        headers=JSON,
    )
    api, web = ([f"components[name={name}].status: {state}" for state in ("up", "down")] for name in ("api", "web"))

    assert [[], [(api[0], api[1])], [(api[1], api[0]), (web[0], web[1])]] == list(map(updates, found))


def feed(*items: tuple[str, str, str], built: str = "now") -> str:
    """Return a feed with (id, title, text) as its items."""
    inside = "".join(
        f"<item><guid isPermaLink='false'>{i}</guid><title>{t}</title><link>http://b.example/{i}</link>"
        f"<description>{x}</description></item>"
        for i, t, x in items
    )
    return (
        f"<?xml version='1.0'?><rss version='2.0'><channel><title>Blog</title><lastBuildDate>{built}</lastBuildDate>"
        f"{inside}</channel></rss>"
    )


def test_example_11_new_entries_of_a_feed(world: World):
    """New ids; removed entries, an edited title and another build date are ignored (example 11)."""
    bodies = [
        feed(("2", "Two", "b"), ("1", "One", "a")),
        feed(("2", "Two", "b"), ("1", "One", "a"), built="later"),
        feed(("3", "Three", "c"), ("2", "Two", "b")),
        feed(("3", "Three (edited)", "c"), ("2", "Two", "b")),
    ]
    found = watch(world, "Monitor items inserted", bodies, headers=RSS)

    assert [[], ["Three http://b.example/3"], []] == [[t for c in changes for t in c["inserted"]] for changes in found]


def test_example_22_items_with_a_word(world: World):
    """The condition applies to the whole entry, not only to its title (example 22)."""
    bodies = [
        feed(("1", "One", "a")),
        feed(("2", "Two", "gold"), ("1", "One", "a")),
        feed(("3", "Three", "&lt;p&gt;<![CDATA[crude OIL]]>"), ("2", "Two", "gold"), ("1", "One", "a")),
    ]
    found = watch(world, 'Monitor items inserted where contains "oil"', bodies, headers=RSS)

    assert [[], ["Three http://b.example/3"]] == [[t for c in changes for t in c["inserted"]] for changes in found]


def test_example_12_rows_and_cells_of_the_second_table(world: World):
    """A cell is reported with its row and column, a row as a whole; the first table and the order
    of rows are ignored.
    """
    page = "<table><tr><td>{}</td></tr></table><table><tr><th>Land</th><th>Rate</th></tr>{}</table>"

    def body(other: int, *rows: tuple[str, str]) -> str:
        return page.format(other, "".join(f"<tr><td>{a}</td><td>{b}</td></tr>" for a, b in rows))

    found = watch(
        world,
        "Monitor table 2",
        [
            body(1, ("NO", "4.1"), ("SE", "3.0")),
            body(2, ("SE", "3.0"), ("NO", "4.1")),
            body(3, ("SE", "3.5"), ("NO", "4.1"), ("DK", "2.2")),
        ],
    )

    assert [] == found[0]
    assert [("SE, Rate: 3.0", "SE, Rate: 3.5")] == updates(found[1])
    assert ["DK | 2.2"] == found[1][0]["inserted"]
    assert 'SE, Rate "3.0" → "3.5"; new row "Land: DK, Rate: 2.2"' == found[1][0]["summary"]


def test_example_13_words_with_exclusions(world: World):
    """Stop words, the footer and the visitor counter are ignored; any other word is reported."""
    page = "<p>{}</p><p>{} visitors</p><footer>{}</footer>"
    found = watch(
        world,
        'Monitor all words Exclude words <the, a, of> Exclude css "footer" Exclude regex "\\d+ visitors"',
        [
            page.format("The plan of a town", 17, "old"),
            page.format("A plan of the town", 18, "new"),
            page.format("The plan of the village", 19, "newer"),
        ],
    )

    assert [[], [("town", "village")]] == list(map(updates, found))


def test_example_14_matches_of_a_pattern(world: World):
    """The set of matches, by their group; the text around them is ignored."""
    page = "<p>Get <a href=/x>v{}</a> today, {} downloads</p>"
    found = watch(
        world,
        'Monitor regex "v(\\d+\\.\\d+\\.\\d+)"',
        [page.format("1.9.0", 1), page.format("1.9.0", 22), page.format("1.10.0", 23)],
    )

    assert [] == found[0]
    assert (["1.10.0"], ["1.9.0"]) == (found[1][0]["inserted"], found[1][0]["deleted"])
    assert 'new match "1.10.0"; removed match "1.9.0"' == found[1][0]["summary"]


def test_example_15_status_of_a_page(world: World):
    """A lasting error is reported once, another one too; the recovery was not asked for."""
    hook = world.receiver()
    world.page("/p", "<p>shop</p>")
    world.add(
        f'Create Sentinel s Using {{/p}} Monitor status where matches "4..|5.." Fetch every 5 min Notify By webhook {hook} immediate'
    )

    with serve(world) as service:
        service.settle()
        world.page("/p", "<p>shop, changed</p>")
        service.pass_time(HOUR)
        world.page("/p", "no", status=404)
        service.pass_time(8 * HOUR)
        world.page("/p", "no", status=503)
        service.pass_time(30 * HOUR)
        world.page("/p", "<p>shop, changed</p>")
        service.pass_time(30 * HOUR)

    assert [("ok", "404"), ("404", "503 busy")] == updates(world.changes())
    assert 'status changed: "ok" → "404"' == world.changes()[0]["summary"]
    assert ["change", "change"] == [message["data"]["record"] for _, message in world.received]
    assert [] == world.violations()


def test_example_16_size_of_a_change_and_a_new_word(world: World):
    """Both must hold: over 20 % of the words changed, and "retracted" was inserted."""
    words = [f"word{number}" for number in range(40)]
    small = [*words[:-1], "retracted"]
    large = [*words[:20], *(f"new{number}" for number in range(20))]
    both = [*words[:20], *(f"other{number}" for number in range(19)), "ReTracted"]
    found = watch(
        world,
        'Monitor all words where share > 20% but contains "retracted"',
        [f"<p>{' '.join(text)}</p>" for text in (words, small, large, both)],
    )

    assert [0, 0, 1] == list(map(len, found))


def test_lost_part_is_reported_once_and_compared_on_return(world: World):
    """V1 5, V2 and V3 without the part, V4 5, V5 without it once, V6 6: one loss and one change,
    from 5 to 6.
    """
    hook = world.receiver()
    bodies = ["<b id=p>5</b>", "<i>loading</i>", "<i>still loading</i>", "<b id=p>5</b>!", "<i>x</i>", "<b id=p>6</b>"]
    found = watch(world, f'Monitor any change in css "#p" Notify By webhook {hook} immediate', list(bodies))
    reported = [message["data"] for _, message in world.received]

    assert [[], [], [], [], [("5", "6")]] == list(map(updates, found))
    assert ["1.4", "1.6"] == [found[4][0]["from_version"], found[4][0]["to_version"]]
    assert ["part.lost", "part.back"] == [
        event.type for event in world.events("part.lost", "part.back", "part.appeared")
    ]
    assert ["problem", "problem", "change"] == [record["record"] for record in reported]
    assert 'the selected part is gone: css "#p" no longer matches anything on the page' == reported[0]["summary"]


def test_part_that_was_never_there_becomes_the_baseline(world: World):
    """W7: its appearance is reported once; later it is compared."""
    found = watch(
        world,
        'Select css "main" Monitor all words',
        ["<p>a</p>", "<p>b</p>", "<main>one</main>", "<p>x</p><main>two</main>"],
    )

    assert [[], [], [("one", "two")]] == list(map(updates, found))
    assert ["part.appeared"] == [e.type for e in world.events("part.lost", "part.back", "part.appeared")]


def test_unchanged_page_without_the_part_is_not_parsed_again(world: World, monkeypatch: pytest.MonkeyPatch):
    """One second poll confirms the loss; other unchanged polls cost no comparison."""
    world.page("/p", "<b id=p>5</b>")
    world.add('Create Sentinel s Using {/p} Monitor any change in css "#p" Fetch every 1 hour')
    runs: list[object] = []

    async def story(monitor: Monitor) -> None:
        await world.settle(monitor)
        world.page("/p", "<i>gone</i>")
        await world.pass_time(monitor, HOUR)
        run = InProcess.run

        async def count_calls(*args: Any, **more: Any) -> Any:
            runs.append(args)
            return await run(*args, **more)

        monkeypatch.setattr(InProcess, "run", count_calls)
        await world.pass_time(monitor, 5 * HOUR)

    play(world, story)

    assert 1 == len(runs)
    assert 1 == len(world.events("part.lost"))


def test_sentinels_with_different_parts_share_one_job(world: World):
    """The page is parsed once, and the digests of all parts are stored."""
    world.page("/p", "<p id=a>1</p><p id=b>1</p>")
    for name, what in (
        ("one", 'Monitor all words in css "#a"'),
        ("two", 'Select css "#b" Monitor all words'),
        ("three", 'Monitor all words Exclude css "#a"'),
        ("four", 'Monitor all words in css "#a" OR all words in css "#b"'),
        ("five", 'Monitor any change AND NOT any change in css "#b"'),
        ("six", "Monitor any change"),
    ):
        world.add(f"Create Sentinel {name} Using {{/p}} {what} Fetch every 1 hour")

    with serve(world) as service:
        service.settle()
        world.page("/p", "<p id=a>1</p><p id=b>2</p>")
        service.pass_time(HOUR)
    rows = {record["sentinel"]: record for record in world.changes()}

    assert {"two", "three", "four", "six"} == set(rows)
    assert [("1", "2")] * 4 == updates(list(rows.values()))
    assert 2 == len(world.polls())


def test_too_expensive_comparison_is_reported_and_affects_no_other(world: World):
    """The XPath "could not compare"; other sentinels of the page are notified as usual."""
    page = "<p>{}</p>" + "<i>x</i>" * 15_000
    world.page("/p", page.format("one"))
    world.add('Create Sentinel dear Using {/p} Monitor all words in xpath "//*[count(//*)>0]" Fetch every 1 hour')
    world.add("Create Sentinel plain Using {/p} Monitor all words Fetch every 1 hour")

    with serve(world) as service:
        service.settle()
        world.page("/p", page.format("two"))
        service.pass_time(HOUR)
    first, event = world.events("comparison.given_up")

    assert ["plain"] == [record["sentinel"] for record in world.changes()]
    assert {True} == {"could not compare: xpath" in each.data["reason"] for each in (first, event)}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Transform sort", []),
        ("Transform unique", [("2", "3")]),
        ('Transform drop lines "Seen" Transform sort', []),
        ('Transform keep lines "Price"', [("2", "3")]),
        ('Transform replace regex "\\d+" with "N"', []),
    ],
)
def test_transforms_apply_before_the_comparison(world: World, text: str, expected: list[tuple[str, str]]):
    """The stored page is not transformed."""
    old = "<p>Price 2</p><p>Seen 5</p>"
    new = "<p>Seen 5</p><p>Price 2</p>" if not expected else "<p>Price 3</p><p>Seen 5</p>"
    if "replace" in text:
        new = "<p>Price 3</p><p>Seen 6</p>"
    (changes,) = watch(world, f"{text} Monitor all words", [old, new])

    assert expected == updates(changes)
    assert 2 == len(world.versions())


def test_w7_missing_part_is_reported_at_once(world: World):
    """`test` and `add --url` say that a selector matches nothing (W7); `test` shows the beginning
    of a match.
    """
    world.page("/p", "<h1>Shop</h1><p class=price>only 5 € today</p>")
    world.add('Create Sentinel c Using {/p} Select css ".prise" Monitor number')
    play(world, world.settle)
    welcomed = world.read(answer, 1, settings=world.settings, now=world.clock.now())
    database = open_database(world.settings)
    text = world.text(
        'Create Sentinel a Using {/p} Monitor number in css ".price"; Create Sentinel b Using {/p} Monitor table 2 OR number in css ".prise"'
    )
    try:
        (right, wrong), _ = asyncio.run(trial(database, text, world.settings))
    finally:
        database.close()

    assert ((), "only 5 € today", 4) == (right.warnings, right.first_words, right.words)
    assert ['W7 css ".prise" matches nothing on this page as it is now'] == [
        warning for warning in welcomed["warnings"] if warning.startswith("W7")
    ]
    assert (
        "W7 table 2 matches nothing on this page as it is now",
        'W7 css ".prise" matches nothing on this page as it is now',
    ) == wrong.warnings


FEED = "<?xml version='1.0'?><rss version='2.0'><channel><title>t</title><item><guid>1</guid><title>One</title></item></channel></rss>"
HINT = 'of a feed css finds parts of the HTML in its texts; for its own elements write xpath "//item/title"'
NOTHING = 'of a feed jsonpath finds no parts; write xpath "//item/title" or css ".price"'


def test_selector_that_can_never_match_suggests_another(world: World):
    """CSS finds no elements in a feed, jsonpath nothing: `test`, `add` and `doctor` say what to
    write.
    """
    world.page("/f", FEED, headers={"Content-Type": "application/rss+xml"})
    world.add(
        'Create Sentinel c Using {/f} Monitor any change in css "item" Exclude jsonpath "$.a" Exclude xpath "//guid"'
    )
    play(world, world.settle)
    welcomed = world.read(answer, 1, settings=world.settings, now=world.clock.now())
    database = open_database(world.settings)
    text = world.text('Create Sentinel a Using {/f} Monitor any change in css "item" Exclude jsonpath "$.a"')
    try:
        (tried,), _ = asyncio.run(trial(database, text, world.settings))
    finally:
        database.close()
    output = (
        f'W7 css "item" matches nothing on this page as it is now: {HINT}',
        f'W7 Exclude jsonpath "$.a" matches nothing on this page: {NOTHING}',
    )

    assert output == tried.warnings
    assert [*output] == [warning for warning in welcomed["warnings"] if warning.startswith("W7")]
    health = world.read(health_of, world.settings, now=world.clock.now(), is_polled=True)
    assert [f"{output[0]}: {world.text('{/f}')}"] == [t.words for t in health.troubles if "W7" in t.words]


def test_texts_without_case_are_reported_as_written(world: World):
    """`Ignore case` does not report other capitals, and a message shows the letters of the page."""
    page = "<h1>Harbour</h1><h2>Ferry News</h2><p>{}</p>"
    bodies = [
        page.format(text)
        for text in ("The Ferry RUNS today.", "THE FERRY runs Today.", "THE FERRY is CANCELLED Today. Use the Bus.")
    ]
    found = watch(world, "Monitor all words Ignore case", bodies)

    assert [[], [("runs", "is CANCELLED")]] == [updates(changes) for changes in found]
    assert ["Use the Bus"] == found[1][0]["inserted"]
    assert ["Ferry News", "Ferry News"] == [one["heading"] for one in found[1][0]["context"]]
