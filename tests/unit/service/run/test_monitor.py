import asyncio

import pytest

from tidings.service.run.monitor import Inbox


@pytest.mark.parametrize(
    "bring",
    [Inbox.wake, Inbox.hear_again, lambda box: box.take_event("deploy"), lambda box: box.take_hint({7})],
    ids=["end of a task", "own words", "event", "hint"],
)
def test_whatever_comes_ends_the_rest(bring):
    """Also what comes before anybody waits, but only once."""

    async def act() -> tuple[bool, bool]:
        inbox = Inbox()
        bring(inbox)
        await asyncio.wait_for(inbox.wait(), 5)
        inbox.rest()
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
