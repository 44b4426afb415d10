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
    ids=["end of a task", "own request", "event", "hint"],
)
def test_any_input_ends_the_wait(bring):
    """An input before the wait ends it too, but only once."""

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


def test_inputs_are_returned_once():
    """Pages of hints are merged; an event only says that there is something to read."""
    inbox = Inbox()
    inbox.take_hint({7})
    inbox.take_hint({8})
    inbox.take_event("deploy")

    assert (True, {7, 8}) == inbox.drain()
    assert (False, set()) == inbox.drain()


@pytest.mark.parametrize(
    ("bring", "is_heard"),
    [(Inbox.wake, False), (Inbox.drain_again, True), (lambda box: box.take_hint({7}), True)],
    ids=["end of a task", "own request", "hint"],
)
def test_only_input_from_outside_shortens_the_gap_between_steps(bring, is_heard):
    """Ends of tasks are gathered, so that one step handles many."""

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


def test_loaded_watchlist_is_frozen_for_garbage_collection(tmp_path):
    """The first monitor of a process freezes its objects, and collections are rare; a second one
    unfreezes them.
    """

    async def act() -> tuple[int, int]:
        async with poller(settings):
            return gc.get_freeze_count(), gc.get_threshold()[0]

    settings = load(tmp_path, environment={})
    open_database(settings).close()
    gc.set_threshold(700, 10, 10)

    (frozen, often), (later, still) = (asyncio.run(act()) for _ in range(2))

    assert (True, YOUNG_OBJECTS) == (frozen > YOUNG_OBJECTS, often)
    assert (0, YOUNG_OBJECTS) == (later, still)
