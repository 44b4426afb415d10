"""The steps of sentinels are taken when they are due, and reported to those that must know."""

import asyncio
from types import SimpleNamespace
from typing import Any

import pytest

from tidings.clock import DAY, HOUR, SECOND
from tidings.errors import StaleEpochError
from tidings.model.observed.unit import SentinelMove
from tidings.service.sentinels import register
from tidings.service.sentinels.lifecycle import Lifecycle
from tidings.service.watch.committer import Committer
from tidings.service.watch.lifespan import REPORTED
from tidings.service.watch.watchlist import Watchlist
from tidings.storage.db import lock
from tidings.storage.watches import sentinels
from tidings.storage.write.store import Store

NOW = 1_700_000_000 * SECOND
ONE = "Create Sentinel {} Using https://{}.example/ Monitor any change {}"


class House:
    """A database with sentinels, and their life."""

    def __init__(self, world):
        self.world = world
        self.touched = []

    def do(self, text, now=NOW):
        register.register(self.world.database, text, settings=self.world.settings, now=now)

    def play(self, story, *, leads=True):
        """Play a story with the life of all sentinels."""

        async def act():
            store = Store(self.world.reopen())
            watchlist = Watchlist(store)
            planner: Any = SimpleNamespace(touch=self.touched.extend)
            await watchlist.load()
            life = Lifecycle(store, watchlist, planner, Committer(store), epoch=self.world.epoch, leads=leads)
            try:
                return await story(life)
            finally:
                await store.close()

        return asyncio.run(act())

    def live(self, *instants, leads=True):
        """Return (name, state, hours since the beginning) of the steps taken at some instants, and when the next is due."""

        async def story(life):
            moves = [move for now in instants for move in await life.live(now)]
            return [(self.name(m.sentinel_id), m.state, (m.at - NOW) // HOUR) for m in moves], life.next_at

        return self.play(story, leads=leads)

    def name(self, id_):
        return self.world.read(sentinels.get, id_).name

    def states(self):
        return {row.name: row.state for row in self.world.read(sentinels.listing)}


@pytest.fixture
def house(world):
    return House(world)


def test_overdue_steps_are_all_taken_and_stored(house):
    """Each at its own instant; the pages are planned anew, and the next step is known."""
    house.do(f"{ONE.format('a', 'a', 'For 1 day')}; {ONE.format('b', 'b', 'From end(a) + 2 hour For 3 day')}")
    moves, next_at = house.live(NOW, NOW + 2 * DAY)

    assert [("a", "enabled", 0), ("a", "ended", 24), ("b", "enabled", 26)] == [m for m in moves if m[1] != "waiting"]
    assert {"b": "enabled"} == house.states()
    assert NOW + 4 * DAY + 2 * HOUR == next_at
    assert {1, 2} == {*house.touched}


def test_step_is_taken_when_it_is_due_or_somebody_wrote(house):
    """Not before its time; without any step left it is never due."""
    house.do(ONE.format("a", "a", "From now + 1 day"))

    async def story(life):
        assert 0 == life.next_at
        await life.live(NOW)
        assert NOW + DAY == life.next_at
        assert [] == await life.live(NOW + DAY - 1)
        assert ["enabled"] == [move.state for move in await life.live(NOW + DAY)]
        assert life.next_at is None
        assert [] == await life.live(NOW + 9 * DAY)
        life.wake()
        assert 0 == life.next_at

    house.play(story)


def test_follower_takes_no_step_of_the_calendar(house):
    """Another planner does."""
    house.do(ONE.format("a", "a", ""))

    assert ([], None) == house.live(NOW + DAY, leads=False)
    assert {"a": "created"} == house.states()


def test_step_that_a_poll_took_is_noted_once(house):
    """It is read anew, and passed on."""
    house.do(ONE.format("a", "a", "To first change"))
    house.live(NOW)
    row = house.world.read(sentinels.find, "a")
    move = SentinelMove(sentinel_id=row.id, state="ended", at=NOW + HOUR, reason=REPORTED, before="enabled")
    unit = house.world.unit(sentinels=(move,), changes=(house.world.change(),))

    async def story(life):
        await life.live(NOW)
        life.note(unit)
        assert 0 == life.next_at
        return await life.live(NOW + HOUR), await life.live(NOW + HOUR)

    assert ([move], []) == house.play(story)


@pytest.mark.parametrize(
    ("clauses", "quiet", "ends"),
    [("To first change", False, True), ("To first change", True, False), ("", False, False)],
)
@pytest.mark.parametrize("leads", [True, False])
def test_report_across_pages_ends_its_sentinel(house, clauses, quiet, ends, leads):
    """With `To first change`, by a change that is reported; a follower does that too."""
    house.do(ONE.format("a", "a", clauses))
    house.live(NOW)
    row = house.world.read(sentinels.find, "a")
    unit = house.world.unit(changes=(house.world.change(sentinel_id=row.id, quiet=quiet),))

    async def story(life):
        await life.live(NOW)
        asleep = life.next_at
        life.note(unit)
        assert (0 if ends else asleep) == life.next_at
        moves = await life.live(NOW + HOUR)
        assert [] == await life.live(NOW + HOUR)
        return [(move.state, move.at, move.reason) for move in moves]

    assert ([("ended", NOW + HOUR, REPORTED)] if ends else []) == house.play(story, leads=leads)
    assert ("ended" if ends else "enabled") == house.world.read(sentinels.get, row.id).state


@pytest.mark.parametrize(("quiet", "ends"), [(False, True), (True, False)])
def test_report_from_before_a_restart_ends_its_sentinel(house, quiet, ends):
    """The service was stopped in between."""
    house.world.watch("news")
    house.do(ONE.format("x", "x", "To first change"))
    house.live(NOW)
    row = house.world.read(sentinels.find, "x")
    parts = house.world.news(
        house.world.change(sentinel_id=row.id, quiet=quiet, polled_at=NOW, detected_at=NOW), house.world.endpoint()
    )
    house.world.commit(house.world.unit(**(parts if not quiet else {"changes": parts["changes"]})))

    moves, _ = house.live(NOW + HOUR)
    assert (["x"] if ends else []) == [name for name, state, _ in moves if state == "ended"]


def test_lost_lease_takes_no_step(house):
    """Its epoch is refused."""
    house.do(ONE.format("a", "a", ""))
    house.world.write(lock.acquire_lease, "poller", "other", at=house.world.at + 10**16, until=10**17)
    with pytest.raises(StaleEpochError):
        house.live(NOW)

    assert {"a": "created"} == house.states()
