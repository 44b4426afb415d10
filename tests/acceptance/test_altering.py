"""Promise: what is watched follows its files, and an altered sentinel is never a change of the page."""

from __future__ import annotations

from tests.world import World, play
from tidings.clock import DAY, HOUR
from tidings.service.apply import Step, apply
from tidings.service.monitor import Monitor
from tidings.storage.database import open_database


def _apply(world: World, *files: str, prune: bool = False) -> list[tuple[str, str]]:
    database = open_database(world.settings)
    texts = {f"{n}.sentinel": world.text(text) for n, text in enumerate(files)}
    try:
        steps: list[Step] = database.write(apply, texts, settings=world.settings, now=world.clock.now(), prune=prune)
    finally:
        database.close()
    return [(step.name, step.action) for step in steps]


def test_files_create_alter_replace_and_prune(world: World):
    """Each sentinel becomes what its file says; pruning drops what apply made and no file names, nothing else."""
    world.page("/a", "x")
    world.page("/b", "y")
    world.add("Create Sentinel mine Using {/a} Monitor links")
    one = "Create Sentinel one Using {/a} Monitor any change"
    two = "Create Sentinel two Using {/a} Monitor links"

    first = _apply(world, one, two)
    again = _apply(world, two, one)
    altered = _apply(world, one.replace("any change", "links"), two.replace("/a", "/b"))
    pruned = _apply(world, one, prune=True)

    assert [("one", "created"), ("two", "created")] == first
    assert [("two", "unchanged"), ("one", "unchanged")] == again
    assert [("one", "altered"), ("two", "replaced")] == altered
    assert [("one", "altered"), ("mine", "left alone"), ("two", "dropped")] == pruned


def test_a_relative_end_is_no_alteration_at_every_apply(world: World):
    """`To now + 7 day` means seven days from when the sentinel was made, however often the files are applied."""
    world.page("/a", "x")
    text = "Create Sentinel one Using {/a} Monitor any change To now + 7 day"
    _apply(world, text)
    end = world.sentinel("one").end_at
    world.clock.advance(DAY)

    assert [("one", "unchanged")] == _apply(world, text)
    assert end == world.sentinel("one").end_at


def test_another_clause_is_never_a_change_of_the_page(world: World):
    """From words to links: nothing is told for the switch; the next change of links is told, words no more."""
    world.page("/a", '<p>one</p><a href="/x">x</a>')
    _apply(world, "Create Sentinel s Using {/a} Monitor all words Fetch every 1 hour")

    async def story(monitor: Monitor) -> None:
        await world.settle(monitor)
        _apply(world, "Create Sentinel s Using {/a} Monitor links Fetch every 1 hour")
        await world.pass_time(monitor, 3 * HOUR)
        world.page("/a", '<p>two</p><a href="/x">x</a>')
        await world.pass_time(monitor, HOUR)
        assert [] == world.changes()
        world.page("/a", '<p>two</p><a href="/y">x</a>')
        await world.pass_time(monitor, HOUR)

    play(world, story)
    (change,) = world.changes()

    assert "all links" == change["kind"]
    assert 2 == world.sentinel("s").revision
    assert [] == world.violations()


def test_another_rate_of_telling_loses_nothing_that_had_gathered(world: World):
    """What a removed `Every 4 day` clause had gathered is told by the clause that took its place."""
    world.page("/a", "<p>count 0</p>")
    hook = world.receiver()
    text = "Create Sentinel s Using {/a} Monitor all words Fetch every 1 hour slack 1 s Notify By webhook " + hook
    _apply(world, text + " Every 4 day")

    async def story(monitor: Monitor) -> None:
        await world.settle(monitor)
        world.page("/a", "<p>count 1</p>")
        await world.pass_time(monitor, 2 * HOUR)
        _apply(world, text + " immediate")
        await world.pass_time(monitor, HOUR)
        world.page("/a", "<p>count 2</p>")
        await world.pass_time(monitor, 2 * HOUR)

    play(world, story)

    assert ["change.found", "change.found"] == [m["type"] for _, m in world.received]
    assert ["1", "2"] == [m["data"]["updated"][0]["new"] for _, m in world.received]
    assert [] == world.violations()


def test_robots_txt_is_remembered_across_restarts(make_world):
    """Asked once, obeyed after the restart without asking again."""
    world: World = make_world(fetch__robots="true")
    world.page("/robots.txt", "User-agent: *\nAllow: /", headers={"Content-Type": "text/plain"})
    world.page("/a", "x")
    world.add("Create Sentinel s Using {/a} Monitor any change Fetch every 1 hour")

    for _ in range(3):
        play(world, lambda monitor: world.pass_time(monitor, HOUR))

    assert 1 == world.server.paths().count("/robots.txt")
    assert 3 <= world.server.paths().count("/a")
