"""What nobody needs is deleted, in rounds of a few pages."""

import asyncio

import pytest

from tests.stores import sha256
from tidings.archive.archive import Archive
from tidings.clock import DAY
from tidings.model.observed.version import NewBody
from tidings.service.poll.unit import keeping
from tidings.service.upkeep.collector import (
    PASS_EVERY,
    ROUND_EVERY,
    YOUNG,
    Collected,
    Collector,
    foresee,
    terms,
)
from tidings.settings import StoreSettings
from tidings.storage.observed import versions
from tidings.storage.write.commit import commit
from tidings.storage.write.store import Store

SETTINGS = StoreSettings()


class House:
    """A page with four versions, of which the sentinel has taken the last."""

    def __init__(self, world):
        self.world = world
        world.watch()
        for number in range(4):
            world.commit(world.make_stored(f"body {number}".encode()))
        world.commit(world.unit(cursors=(world.cursor(base=4, taken=(4,)),)))

    def play(self, story):
        async def act():
            store = Store(self.world.reopen())
            archive = Archive(self.world.settings.data / "blobs", file_bytes=None, chain_length=4)
            try:
                return await story(Collector(store, archive, SETTINGS, epoch=self.world.epoch))
            finally:
                await store.close()

        return asyncio.run(act())

    def seqs(self):
        return [seq for seq in range(1, 5) if self.world.read(versions.get, 1, seq) is not None]

    def bodies(self):
        named = (f"body {number}".encode() for number in range(4))
        return [number for number, body in enumerate(named) if self.world.read(versions.blob, sha256(body))]


@pytest.fixture
def house(world):
    return House(world)


def test_sum_of_what_was_deleted():
    """Field by field."""
    assert Collected(11, 22, 33, 44, 55) == Collected(1, 2, 3, 4, 5) + Collected(10, 20, 30, 40, 50)


def test_terms_are_those_of_the_settings():
    """In µs."""
    found = terms(StoreSettings(history_days=2, afterlife_days=3, values_days=4), 5)

    assert (5, DAY, 2 * DAY, 3 * DAY, 4 * DAY) == (found.at, found.young, found.age, found.afterlife, found.values)


def test_nothing_is_deleted_within_a_day(house):
    """Nor foreseen."""
    now = house.world.at - 4_000_000 + YOUNG - 1

    assert Collected() == house.world.read(foresee, SETTINGS, now)
    assert Collected() == house.play(lambda collector: collector.everything(now))
    assert [1, 2, 3, 4] == house.seqs()


@pytest.mark.parametrize("way", ["everything", "page"])
def test_versions_that_nobody_needs_go_with_their_bodies(house, way):
    """As was foreseen; what is taken stays, and a second time there is nothing."""
    now = house.world.at + 2 * DAY
    foreseen = house.world.read(foresee, SETTINGS, now)

    async def collect(collector):
        first, second = [
            await (collector.everything(now) if way == "everything" else collector.page(1, now)) for _ in range(2)
        ]
        assert Collected() == second
        return first

    found = house.play(collect)
    assert 0 < foreseen.versions == found.versions
    assert (1, 1) == (foreseen.pages, found.pages)
    assert (0, 0) == (foreseen.bodies, foreseen.size)
    assert 4 in house.seqs()
    assert 4 - found.versions == len(house.seqs())
    assert [seq - 1 for seq in house.seqs()] == house.bodies()
    assert (found.versions, found.versions * len(b"body 0")) == (found.bodies, found.size)
    assert [] == house.world.faults()


def test_body_without_a_reference_goes(house):
    """One that a version has stays."""
    house.world.write(lambda c: c.execute("DELETE FROM version WHERE seq = 1"))

    found = house.play(lambda collector: collector.orphans(house.world.at))
    assert Collected(bodies=1, size=len(b"body 0")) == found
    assert [1, 2, 3] == house.bodies()


def test_round_is_due_every_few_minutes(house):
    """The first at once; after the last page there is a longer pause."""

    async def live(collector):
        assert [True, False] == [collector.is_due(ROUND_EVERY * 9 + later) for later in (0, ROUND_EVERY - 1)]
        assert collector.is_due(ROUND_EVERY * 10)
        await collector.round(ROUND_EVERY * 10)
        assert [False, True] == [collector.is_due(ROUND_EVERY * 10 + PASS_EVERY + later) for later in (-1, 0)]

    house.play(live)


def test_rounds_take_few_pages_each_and_reach_all(world, monkeypatch):
    """Wherever the process began."""
    for number in range(3):
        world.watch(f"s{number}", f"p{number}")
        world.commit(world.make_stored(b"body", number + 1))
    pages = []

    async def note(self, page_id, now):
        pages.append(page_id)
        return Collected()

    monkeypatch.setattr(Collector, "page", note)
    monkeypatch.setattr("tidings.service.upkeep.collector.PAGES_A_ROUND", 2)

    async def live():
        store = Store(world.reopen())
        collector = Collector(
            store, Archive(world.settings.data, file_bytes=None, chain_length=4), SETTINGS, epoch=world.epoch
        )
        for now in (0, ROUND_EVERY * 1000, ROUND_EVERY * 2000):
            assert collector.is_due(now)
            await collector.round(now)
        await store.close()

    asyncio.run(live())
    assert {1, 2, 3} == {*pages}
    assert len(pages) <= 6


@pytest.mark.parametrize("returns", [True, False])
def test_body_that_another_planner_stores_meanwhile_is_not_lost(world, returns):
    """The page returns to a text that is about to lean on its present one, or gets another text."""
    bodies = [
        b"%s the same words of a page, again and again %d" % (name * 20, n) for n, name in enumerate((b"A", b"B", b"C"))
    ]
    latest = bodies[0] if returns else b"another text %s" % bodies[2]
    archive = Archive(world.settings.data / "blobs", file_bytes=None, chain_length=4)
    world.watch()

    def come(body):
        former = world.read(versions.newest, 1)
        kept = NewBody(body, sha256(body), former.sha256, former.size) if former else NewBody(body, sha256(body))
        unit = world.make_stored(body, blobs=(), bodies=(kept,))
        world.write(commit, [unit], keeping(archive))

    for body in bodies:
        come(body)
    world.commit(world.unit(cursors=(world.cursor(base=3, taken=(3,)),)))
    world.write(lambda c: c.execute("DELETE FROM version WHERE seq = 2"))
    assert [sha256(bodies[1]), sha256(bodies[2]), ""] == [
        world.read(versions.blob, sha256(body)).base for body in bodies
    ]
    came: list[bytes] = []

    async def act():
        store = Store(world.reopen())
        write = store.write

        async def write_late(fn, *args, **more):
            if getattr(fn, "__func__", None) is Collector._remove and not came:
                came.append(latest)
                come(latest)
            return await write(fn, *args, **more)

        store.write = write_late  # type: ignore[method-assign]
        try:
            collector = Collector(store, archive, SETTINGS, epoch=world.epoch)
            return [await collector.orphans(world.at) for _ in range(2)]
        finally:
            await store.close()

    found = asyncio.run(act())
    fresh = Archive(world.settings.data / "blobs", file_bytes=None, chain_length=4)  # it has restored nothing yet
    names = [sha256(body) for body in (bodies[0], bodies[2], latest)]
    restored = world.read(lambda c: [fresh.restore(name, lambda sha: versions.blob(c, sha)) for name in names])
    assert [bodies[0], bodies[2], latest] == restored
    assert 1 == sum(each.bodies for each in found)
    assert world.read(versions.blob, sha256(bodies[1])) is None
