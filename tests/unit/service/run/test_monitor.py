import asyncio
import gc

import pytest

from tidings.service.run.assembly import poller
from tidings.service.run.monitor import YOUNG_OBJECTS, Inbox
from tidings.settings import load
from tidings.storage.db.database import open_database


@pytest.mark.parametrize(
    "bring",
    [Inbox.wake, Inbox.drain_again, lambda box: box.take_event("deploy"), lambda box: box.take_hint({7})],
    ids=["end of a task", "own words", "event", "hint"],
)
def test_whatever_comes_ends_the_rest(bring):
    """Also what comes before anybody waits, but only once."""

    async def act() -> tuple[bool, bool]:
        inbox = Inbox()
        bring(inbox)
        await asyncio.wait_for(inbox.wait(), 5)
        await inbox.gather()
        waiting = asyncio.ensure_future(inbox.wait())
        await asyncio.sleep(0)
        again = waiting.done()
        bring(inbox)
        await waiting
        return again, waiting.done()

    assert (False, True) == asyncio.run(act())


def test_what_came_is_given_once():
    """Pages of hints are gathered; an event says only that there is something to read."""
    inbox = Inbox()
    inbox.take_hint({7})
    inbox.take_hint({8})
    inbox.take_event("deploy")

    assert (True, {7, 8}) == inbox.drain()
    assert (False, set()) == inbox.drain()


@pytest.mark.parametrize(
    ("bring", "is_heard"),
    [(Inbox.wake, False), (Inbox.drain_again, True), (lambda box: box.take_hint({7}), True)],
    ids=["end of a task", "own words", "hint"],
)
def test_only_what_comes_from_outside_shortens_the_time_between_steps(bring, is_heard):
    """What has ended is gathered: one step hears of many."""

    async def act() -> bool:
        inbox = Inbox(gather_seconds=60)
        await inbox.gather()  # the first step waits for nothing
        next_step = asyncio.ensure_future(inbox.gather())
        await asyncio.sleep(0)
        bring(inbox)
        done, _ = await asyncio.wait({next_step}, timeout=5 if is_heard else 0.01)
        next_step.cancel()
        return bool(done)

    assert is_heard == asyncio.run(act())


def test_what_is_watched_is_never_searched_for_garbage(tmp_path):
    """The first monitor of a process keeps what it has loaded out of collections, which come rarely; a second one undoes it."""

    async def act() -> tuple[int, int]:
        async with poller(settings):
            return gc.get_freeze_count(), gc.get_threshold()[0]

    settings = load(tmp_path, environment={})
    open_database(settings).close()
    gc.set_threshold(700, 10, 10)

    (frozen, often), (later, still) = (asyncio.run(act()) for _ in range(2))

    assert (True, YOUNG_OBJECTS) == (frozen > YOUNG_OBJECTS, often)
    assert (0, YOUNG_OBJECTS) == (later, still)
