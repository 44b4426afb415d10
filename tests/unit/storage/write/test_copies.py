"""An older copy of the data is recognised by its newest event."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.stores import Products, World, products
from tidings.model.event_type import EventType
from tidings.model.observed.unit import Event
from tidings.storage.watches import events
from tidings.storage.write.copies import Copies

__all__ = ["products"]


@pytest.fixture(params=["sqlite", "postgresql"])
def world(request: pytest.FixtureRequest, products: Products, tmp_path: Path) -> Iterator[World]:
    """Yield a database of each product."""
    with products.fresh(request.param, tmp_path / "data") as settings:
        made = World(settings)
        yield made
        made.database.close()


def note_newest(world: World) -> Copies:
    """Return what a process notes that wrote three events and stopped, found once."""
    world.write(events.append, [Event(type=EventType.PAGE_POLLED, at=world.at + n) for n in range(3)])
    copies = Copies(world.settings.data)
    world.settings.data.mkdir(exist_ok=True)
    assert "" == world.write(copies.recognise, at=world.at)
    copies.note(3, world.at + 2)
    copies.close()
    return Copies(world.settings.data)


def test_deleted_event_is_no_sign_of_a_copy(world: World) -> None:
    """A machine was away for so long that the event it noted was deleted because of its age."""
    copies = note_newest(world)
    world.write(events.append, [Event(type=EventType.PAGE_POLLED, at=world.at + 9)])
    world.write(lambda c: c.execute("DELETE FROM event WHERE seq <= 3"))

    assert "" == world.write(copies.recognise, at=world.at)
    copies.close()


def test_missing_event_is_a_sign_of_a_copy(world: World) -> None:
    """It was never written there, or another one has its number."""
    copies = note_newest(world)
    copies.note(4, world.at + 3)

    assert "event 4" in world.write(copies.recognise, at=world.at)

    copies.note(4, world.at + 3)
    world.write(events.append, [Event(type=EventType.PAGE_POLLED, at=world.at + 9)])

    assert "event 4" in world.write(copies.recognise, at=world.at)
    copies.close()
