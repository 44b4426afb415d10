import asyncio
from typing import Any

import pytest

from tidings.errors import StaleEpochError, StoreBusyError, StoreError
from tidings.model.event_type import EventType
from tidings.model.observed.unit import Event, Unit
from tidings.service.watch.committer import TRIES, Committer, finish_all
from tidings.storage.write.commit import Committed

UNIT = Unit(at=1, epoch=1)
NEWS = Unit(at=2, epoch=1, events=(Event(type=EventType.PAGE_OK, at=2), Event(type=EventType.PAGE_MOVED, at=3)))


class Store:
    """Gives prepared answers to units."""

    def __init__(self, *answers: Any) -> None:
        self.answers = list(answers)
        self.offered: list[Unit] = []

    async def commit(self, units: list[Unit]) -> list[Any]:
        self.offered += units
        return [self.answers.pop(0)]


def test_listeners_are_called_in_order():
    """Event numbers come first, since a copy must know its position before others react to the
    unit.
    """
    committer = Committer(Store(Committed(event_seqs=(7, 8))))  # type: ignore[arg-type]
    received: list[tuple[str, Any]] = []
    committer.listen(lambda unit: received.append(("first", unit)))
    committer.listen(lambda unit: received.append(("second", unit)))
    committer.listen_to_numbers(lambda number, at: received.append(("number", (number, at))))

    asyncio.run(committer.write(NEWS))

    assert [("number", (8, 3)), ("first", NEWS), ("second", NEWS)] == received


def test_removed_listener_is_not_called():
    """A check listens only while it runs."""
    committer = Committer(Store(Committed(), Committed()))  # type: ignore[arg-type]
    received: list[Unit] = []
    end = committer.listen(received.append)

    asyncio.run(committer.write(UNIT))
    end()
    asyncio.run(committer.write(NEWS))

    assert [UNIT] == received


@pytest.mark.parametrize(("error", "is_lost"), [(StoreError("full"), False), (StaleEpochError("another"), True)])
def test_refused_unit_is_raised_and_reported(error, is_lost):
    """Only a lost lease ends all writing."""
    committer = Committer(Store(error))  # type: ignore[arg-type]
    refused: list[tuple[Unit, Exception]] = []
    received: list[Unit] = []
    committer.listen(received.append)
    committer.listen_to_refusals(lambda unit, why: refused.append((unit, why)))

    with pytest.raises(type(error)):
        asyncio.run(committer.write(UNIT))

    assert ([], [(UNIT, error)]) == (received, refused)
    assert is_lost is (committer.lost is error)
    assert committer.quiet


def test_busy_database_is_retried():
    """The number is limited, and the last error is raised."""
    busy = [StoreBusyError("held")] * (TRIES - 1)
    store = Store(*busy, Committed())

    asyncio.run(Committer(store).write(UNIT))  # type: ignore[arg-type]

    assert [UNIT] * TRIES == store.offered


def test_all_writes_end_before_the_first_error_is_raised():
    """Who reads again after a refusal finds what the others have stored."""
    ended: list[int] = []

    async def write(number: int) -> None:
        await asyncio.sleep(0)
        if number < 3:
            raise StoreError(str(number))
        await asyncio.sleep(0)
        ended.append(number)

    with pytest.raises(StoreError, match="1"):
        asyncio.run(finish_all(map(write, (4, 1, 2, 3))))

    assert [4, 3] == ended
