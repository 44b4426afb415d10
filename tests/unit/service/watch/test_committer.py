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
    """Answers units with what it was given, in turn."""

    def __init__(self, *answers: Any) -> None:
        self.answers = list(answers)
        self.offered: list[Unit] = []

    async def commit(self, units: list[Unit]) -> list[Any]:
        self.offered += units
        return [self.answers.pop(0)]


def test_a_unit_is_heard_by_all_in_the_order_in_which_they_listened():
    """Numbers first: who keeps the place of a copy must have it before anybody acts on the unit."""
    committer = Committer(Store(Committed(event_seqs=(7, 8))))  # type: ignore[arg-type]
    heard: list[tuple[str, Any]] = []
    committer.listen(lambda unit: heard.append(("first", unit)))
    committer.listen(lambda unit: heard.append(("second", unit)))
    committer.listen_to_numbers(lambda number, at: heard.append(("number", (number, at))))

    asyncio.run(committer.write(NEWS))

    assert [("number", (8, 3)), ("first", NEWS), ("second", NEWS)] == heard


def test_who_has_ended_listening_hears_no_more():
    """A check listens for as long as it lasts."""
    committer = Committer(Store(Committed(), Committed()))  # type: ignore[arg-type]
    heard: list[Unit] = []
    end = committer.listen(heard.append)

    asyncio.run(committer.write(UNIT))
    end()
    asyncio.run(committer.write(NEWS))

    assert [UNIT] == heard


@pytest.mark.parametrize(("error", "is_lost"), [(StoreError("full"), False), (StaleEpochError("another"), True)])
def test_a_unit_that_is_refused_is_raised_and_heard_as_such(error, is_lost):
    """Only a lease that is lost ends all writing."""
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


def test_a_database_that_is_held_is_asked_again():
    """So often, and then its last answer counts."""
    busy = [StoreBusyError("held")] * (TRIES - 1)
    store = Store(*busy, Committed())

    asyncio.run(Committer(store).write(UNIT))  # type: ignore[arg-type]

    assert [UNIT] * TRIES == store.offered
