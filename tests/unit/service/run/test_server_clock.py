"""The clock of processes that share a database is that of its server."""

import asyncio
from typing import Any

import pytest

from tidings.clock import MINUTE, SECOND, SystemClock, read_steady
from tidings.record import replace
from tidings.service.run import server_clock
from tidings.service.run.server_clock import EXACT, TRIES, ServerClock, open_clock
from tidings.settings import Settings, StoreSettings

AHEAD = 3600 * SECOND
SHARED = replace(Settings(), store=StoreSettings(url="postgresql://x"))


class Server:
    """A server whose time is ahead; each answer takes as long as it says."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, *took: int) -> None:
        self.took = list(took)
        self.steady = 0
        self.asked = 0
        self.ahead = AHEAD
        monkeypatch.setattr(server_clock, "read_steady", lambda: self.steady)

    async def read(self, fn: Any) -> int:
        took = self.took[min(self.asked, len(self.took) - 1)]
        self.asked += 1
        at = self.steady + took // 2 + self.ahead
        self.steady += took
        return at


@pytest.mark.parametrize(("took", "asked"), [([0], 1), ([EXACT], 1), ([EXACT + 1, 5], 2), ([SECOND], TRIES)])
def test_clock_is_set_by_a_quick_answer(monkeypatch, took, asked):
    """It is asked for again a few times; half of the way of the answer is taken off."""
    server: Any = Server(monkeypatch, *took)
    clock = asyncio.run(open_clock(SHARED, server))

    assert asked == server.asked
    assert server.steady + AHEAD == clock.wall()


def test_slow_answer_does_not_set_the_clock(monkeypatch):
    """A quick one does, once a minute."""
    server: Any = Server(monkeypatch, EXACT + 1, 0)
    clock = ServerClock(server, AHEAD)
    server.ahead = 2 * AHEAD

    async def play(now):
        for task in await clock.due(now):
            await task
        return clock.wall() - server.steady

    assert [AHEAD, AHEAD, 2 * AHEAD] == [asyncio.run(play(now)) for now in (0, MINUTE - 1, MINUTE)]
    assert 2 == server.asked


def test_own_database_has_the_clock_of_the_machine():
    """Nothing is asked."""
    nobody: Any = None
    clock = asyncio.run(open_clock(Settings(), nobody))

    assert type(clock) is SystemClock
    assert read_steady() <= read_steady()
