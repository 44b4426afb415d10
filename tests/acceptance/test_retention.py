"""Promise: exactly the versions that nobody needs are removed (sentinels §6.1)."""

from __future__ import annotations

import asyncio
import random
from pathlib import Path
from typing import Any

import pytest

from tests.world import World, play, serve
from tidings.cli.main import main
from tidings.clock import DAY, HOUR, SECOND
from tidings.model.observed.version import Version
from tidings.service.run.assembly import collector
from tidings.service.run.from_settings import open_archive
from tidings.service.run.monitor import Monitor
from tidings.service.sentinels import register
from tidings.service.upkeep import collector as collect
from tidings.service.watch.watchlist import meaning
from tidings.storage.db.connection import Connection
from tidings.storage.db.database import open_database
from tidings.storage.observed import versions
from tidings.storage.watches import changes, sentinels, subscriptions

COMPARE = ("pairwise", "moving 3", "every 3", "first")
HISTORY = ("", " ChangeHistory 2", " ChangeHistory 5", " ChangeHistory 3 day")
AGE, AFTERLIFE = 10 * DAY, 6 * DAY


@pytest.fixture
def aging(make_world: Any) -> World:
    """Return a world that keeps history for ten days, and for six days after a sentinel's end."""
    world: World = make_world(
        store__history_days="10", store__afterlife_days="6", store__blob_file_bytes="300", store__chain_length="4"
    )
    return world


def gc(world: World) -> collect.Collected:
    """Remove all that is not needed now."""

    async def act() -> collect.Collected:
        async with collector(world.settings, clock=world.clock) as held:
            return await held.everything(world.clock.now())

    return asyncio.run(act())


def work_out_needed(connection: Connection, now: int, page_id: int, kept: list[Version]) -> set[int]:
    """Return the needed rows of a page, computed here from the rules alone."""
    live = {v.seq for v in kept if v.fetched_at >= now - DAY}
    rows = {row.id: row for row in sentinels.listing(connection, ended=True)}
    dropped = connection.rows("SELECT id, ended_at FROM sentinel WHERE dropped <> 0")
    alive = [i for i, row in rows.items() if row.state != "ended" or (row.ended_at or 0) >= now - DAY]
    alive += [i for i, ended_at in dropped if ended_at >= now - DAY]
    for sub in subscriptions.listing(connection, page_id=page_id):
        if sub.sentinel_id in alive:
            live |= {*sub.taken, sub.seen, max((v.seq for v in kept), default=0)}
    ends = {i: rows[i].ended_at for i in rows if i not in alive} | dict(dropped)
    for sentinel_id in {*alive, *ends}:
        own = [c.row for c in changes.listing(connection, quiet=True) if c.row.sentinel_id == sentinel_id]
        if sentinel_id in ends and (ends[sentinel_id] or 0) + AFTERLIFE <= now:
            continue
        history = meaning(sentinels.get(connection, sentinel_id).text).history
        if history is not None and history.changes is not None:
            own = own[: history.changes]
        else:
            own = [row for row in own if row.detected_at >= now - (AGE if history is None else history.age or 0)]
        live |= {seq for row in own if row.page_id == page_id for seq in (row.from_seq, row.to_seq)}
    return live - {0}


def body(rng: random.Random) -> str:
    """Return a page, large or small, sometimes an earlier one."""
    words = [f"w{rng.randrange(10**9 if rng.random() < 0.7 else 4)}" for _ in range(rng.choice((3, 300)))]
    return f"<p>{' '.join(words)}</p>"


@pytest.mark.parametrize("shared", [True, False])
def test_undone_drop_has_its_baseline(make_world: Any, *, shared: bool) -> None:
    """Within a day the sentinel goes on from where it was, whether others watch its page or not."""
    world: World = make_world(store__afterlife_days="0")
    world.page("/a", "<p>one</p>")
    world.add("Create Sentinel s Using {/a} Monitor all words Fetch every 1 hour")
    if shared:
        world.add("Create Sentinel t Using {/a} Monitor links Fetch every 1 hour")

    with serve(world) as service:
        service.pass_time(3 * DAY)
        world.add("Drop s")
        world.page("/a", "<p>two</p>")
        service.pass_time(23 * HOUR)
        world.write(register.take_back, "s", now=world.clock.now())
        service.pass_time(2 * HOUR)

    assert [[{"old": "one", "new": "two"}]] == [change["updated"] for change in world.changes("s")]
    assert [] == world.events("comparison.given_up")
    assert [] == world.violations()


@pytest.mark.parametrize("seed", range(1))
def test_nothing_needed_goes_and_everything_else_does(aging: World, seed: int):
    """Random lives of sentinels and pages: after each collection exactly the needed versions are
    left, all are readable, and every invariant holds. After the last sentinel no row and no file is
    left, and watching a page begins anew.
    """
    rng = random.Random(seed)
    world, names = aging, iter(range(1_000))

    def create() -> None:
        name, page = f"s{next(names)}", rng.choice("ab")
        text = f"Using {{/{page}}} Monitor all words Fetch every {rng.choice((6, 18))} hour"
        world.add(f"Create Sentinel {name} {text} Compare {rng.choice(COMPARE)}{rng.choice(HISTORY)}")

    def check() -> None:
        before = {page_id: world.versions(page_id) for page_id in (1, 2)}
        gc(world)
        now = world.clock.now()
        for page_id, kept in before.items():
            live = world.read(work_out_needed, now, page_id, kept)
            assert live & {v.seq for v in kept} == {v.seq for v in world.versions(page_id)}
        assert [] == world.violations()

    async def live(monitor: Monitor) -> None:
        for _ in range(rng.randrange(2, 9)):
            for page in "ab":
                if rng.random() < 0.7:
                    world.page(f"/{page}", body(rng))
            await world.pass_time(monitor, rng.choice((6, 6, 30)) * HOUR)

    for page in "ab":
        world.page(f"/{page}", body(rng))
    for number in range(8):
        if number < 3 or rng.random() < 0.4:
            create()
        held = [row.name for row in world.read(sentinels.listing)]
        if number > 2 and held:
            name = rng.choice(held)
            compares = meaning(world.sentinel(name).text).compare.mode
            steps = [f"Drop {name}", f"Disable {name}", f"Alter {name} Compare {rng.choice(COMPARE)}"]
            world.add(rng.choice(steps + [f"Confirm {name}"] * 2 * (compares == "first")))
        play(world, live)
        check()
    for row in world.read(sentinels.listing):
        world.add(f"Drop {row.name}")
    world.clock.advance(AFTERLIFE + DAY + SECOND)
    gc(world)

    assert [] == [*world.versions(1), *world.versions(2)]
    assert [] == world.read(versions.blobs)
    assert [] == [file for file in Path(world.directory / "blobs").rglob("*") if file.is_file()]
    assert [] == world.violations()
    reported = len(world.changes())

    world.page("/a", "<p>again</p>")
    world.add("Create Sentinel again Using {/a} Monitor all words Fetch every 1 hour")
    play(world, lambda monitor: world.pass_time(monitor, HOUR))
    world.page("/a", "<p>anew</p>")
    play(world, lambda monitor: world.pass_time(monitor, HOUR))

    assert ["new", "changed"] == [p.outcome for p in world.polls() if p.outcome != "unchanged"][-2:]
    assert [("again", "anew")] == [(u["old"], u["new"]) for c in world.changes("again") for u in c["updated"]]
    assert reported + 1 == len(world.changes())
    assert [] == world.violations()


def test_running_service_collects_by_itself(aging: World):
    """A page that changes each six hours keeps only its ChangeHistory, and polls continue."""
    world = aging
    world.add("Create Sentinel s Using {/a} Monitor all words Fetch every 6 hour ChangeHistory 3")

    with serve(world) as service:
        for k in range(40):
            world.page("/a", f"<p>word{k}</p>")
            service.pass_time(6 * HOUR)
    kept = world.versions()

    assert 39 == len(world.changes("s"))
    assert 40 == kept[-1].seq
    assert len(kept) <= 7
    assert all(c["updated"] for c in world.changes("s"))
    assert [] == world.violations()


def test_gc_reports_what_it_removes(aging: World, capsys: pytest.CaptureFixture[str]):
    """`tidings gc --dry-run` counts and removes nothing; `tidings gc` removes just that."""
    world = aging
    world.add("Create Sentinel s Using {/a} Monitor all words Fetch every 1 hour ChangeHistory 1")

    with serve(world) as service:
        for k in range(6):
            world.page("/a", f"<p>word{k}</p>")
            service.pass_time(HOUR)
    flags = ["--data", str(world.directory), "--set", "store.history_days=10"]
    exits = [main([*flags, "gc", *more]) for more in (["--dry-run"], ["--json", "--dry-run"], [], [])]
    text = capsys.readouterr().out.splitlines()
    archive = open_archive(world.settings, dialect=world.dialect)
    held = world.versions()

    assert [0, 0, 0, 0] == exits
    assert "4 versions of 1 page would be deleted" == text[0]
    assert (
        '{"record": "gc", "done": false, "pages": 1, "versions": 4, "withheld": 0, "bodies": 0, "size": 0, "rows": 0}'
        == text[1]
    )
    assert text[2].startswith("deleted 4 versions of 1 page: 4 bodies, ")
    assert "deleted 0 versions of 0 pages: 0 bodies, 0 bytes as they were fetched" == text[3]
    assert [5, 6] == [v.seq for v in held]
    assert b"<p>word5</p>" == archive.restore(held[-1].sha256, lambda sha: world.read(versions.blob, sha))


def test_old_checks_and_texts_of_messages_go_and_no_change_does(make_world: Any, capsys: pytest.CaptureFixture[str]):
    """After weeks there are no more checks than of thirty days, and no texts of messages delivered a
    week ago. Every change, its event and its message are there, and commands that ask for the past
    answer.
    """
    world: World = make_world(store__polls_days="30", store__messages_days="7")
    hook = world.receiver()
    world.page("/a", "<p>word</p>")
    world.add(f"Create Sentinel s Using {{/a}} Monitor all words Fetch every 6 hour Notify By webhook {hook} immediate")

    with serve(world) as service:
        for k in range(9):
            world.page("/a", f"<p>word{k}</p>")
            service.pass_time(5 * DAY)
    now = world.clock.now()
    kept, messages = world.polls(), world.deliveries()

    assert 30 * 4 <= len(kept) <= 30 * 4 + 8
    assert now - 31 * DAY < kept[0].charged_at
    assert [8, 8] == [len(world.changes("s")), len(world.events("change.found"))]
    assert 8 == len(messages) == len(world.received)
    assert {True} == {bool(row.body) == (row.finished_at > now - 7 * DAY) for row in messages}
    assert [] == world.violations()

    flags = ["--data", str(world.directory), "--set", "store.polls_days=30", "--set", "store.messages_days=7"]
    asked = (["history", "s"], ["history", "s", "--polls"], ["show", "s"], ["deliveries"], ["explain", "s"], ["gc"])
    assert {0} == {main([*flags, *verb]) for verb in asked}

    with serve(world) as service:  # a message that was delivered is not sent again
        service.pass_time(DAY)
    assert 8 == len(world.received)


def test_frame_version_is_kept_while_a_page_version_has_it(aging: World):
    """A frame's own versions go when no version of a page that holds it is made of them any more, and not before."""
    world = aging
    world.page("/index.html", '<title>t</title><frameset><frame src="a.html"></frameset>')
    world.page("/a.html", "<p>word0</p>")
    world.add("Create Sentinel s Using {/index.html} Monitor all words Fetch every 12 hour ChangeHistory 2")

    with serve(world) as service:
        for k in range(12):
            world.page("/a.html", f"<p>word{k}</p>")
            service.pass_time(12 * HOUR)
    world.clock.advance(2 * DAY)
    gc(world)

    assert [10, 11, 12] == [v.seq for v in world.versions(1)]
    assert 3 == len(world.versions(2))
    assert [] == world.violations()

    world.add("Drop s")
    world.clock.advance(AFTERLIFE + DAY)
    gc(world)
    gc(world)

    assert [] == [*world.versions(1), *world.versions(2), *world.read(versions.blobs)]


def test_leftovers_of_a_crash_are_removed(aging: World):
    """The row of a body could not be removed by a killed process; bodies that depend on it stay
    readable.
    """
    world = aging
    world.add("Create Sentinel s Using {/a} Monitor all words Fetch every 12 hour")

    with serve(world) as service:
        for k in range(5):
            world.page("/a", f"<p>{' '.join(f'same{n}' for n in range(99))} word{k}</p>")
            service.pass_time(12 * HOUR)
    middle = world.versions()[2]

    def crash(connection: Connection) -> None:
        connection.execute("DELETE FROM digest WHERE version_id = (SELECT id FROM version WHERE seq = 3)")
        connection.execute("DELETE FROM version WHERE seq = 3")
        connection.execute("UPDATE page SET collected = 1")

    database = open_database(world.settings)
    leaning = database.read(versions.dependents, middle.sha256)
    database.write(crash)
    database.close()

    assert [world.versions()[1].sha256] == leaning
    assert 1 == gc(world).bodies
    assert world.read(versions.blob, middle.sha256) is None
    assert [] == [fault for fault in world.violations() if "I-3" not in fault]
