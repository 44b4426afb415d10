import asyncio
from typing import Any

import pytest

from tidings.errors import StaleEpochError, StoreBusyError, StoreError
from tidings.model.event_type import EventType
from tidings.model.observed.unit import Event, Unit
from tidings.service.watch.committer import TRIES, Committer
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
    heard: list[tuple[str, Any]] = []
    committer.listen(lambda unit: heard.append(("first", unit)))
    committer.listen(lambda unit: heard.append(("second", unit)))
    committer.listen_to_numbers(lambda number, at: heard.append(("number", (number, at))))

    asyncio.run(committer.write(NEWS))

    assert [("number", (8, 3)), ("first", NEWS), ("second", NEWS)] == heard


def test_removed_listener_is_not_called():
    """A check listens only while it runs."""
    committer = Committer(Store(Committed(), Committed()))  # type: ignore[arg-type]
    heard: list[Unit] = []
    end = committer.listen(heard.append)

    asyncio.run(committer.write(UNIT))
    end()
    asyncio.run(committer.write(NEWS))

    assert [UNIT] == heard


@pytest.mark.parametrize(("error", "is_lost"), [(StoreError("full"), False), (StaleEpochError("another"), True)])
def test_refused_unit_is_raised_and_reported(error, is_lost):
    """Only a lost lease ends all writing."""
    committer = Committer(Store(error))  # type: ignore[arg-type]
    refused: list[tuple[Unit, Exception]] = []
    heard: list[Unit] = []
    committer.listen(heard.append)
    committer.listen_to_refusals(lambda unit, why: refused.append((unit, why)))

    with pytest.raises(type(error)):
        asyncio.run(committer.write(UNIT))

    assert ([], [(UNIT, error)]) == (heard, refused)
    assert is_lost is (committer.lost is error)
    assert committer.quiet


def test_busy_database_is_retried():
    """The number is limited, and the last error is raised."""
    busy = [StoreBusyError("held")] * (TRIES - 1)
    store = Store(*busy, Committed())

    asyncio.run(Committer(store).write(UNIT))  # type: ignore[arg-type]

    assert [UNIT] * TRIES == store.offered
