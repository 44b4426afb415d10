"""Watched values on both databases: one row per change of a value, and their retention."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from tests.stores import World
from tidings.clock import DAY
from tidings.model.interval import Period
from tidings.model.observed.version import ValueRow
from tidings.storage.watches import values


def row(world: World, later: int, text: str, amount: str = "", *, label: str = "price", unit: str = "EUR") -> ValueRow:
    """Return a value at `later` µs after now."""
    return ValueRow(
        sentinel_id=1, page_id=1, label=label, at=world.at + later, seq=1, text=text, amount=amount, unit=unit
    )


def test_row_is_added_only_when_the_value_differs(world: World):
    """Another spelling of a price is the same value, another currency is not; each name has its own
    series.
    """
    world.watch()
    seen = [
        row(world, 1, "129.00 EUR", "129.00"),
        row(world, 2, "129.00 EUR", "129.00"),
        row(world, 3, "EUR 129.00", "129.00"),
        row(world, 4, "129.00 USD", "129.00", unit="USD"),
        row(world, 4, "17", "17", label="number", unit=""),
        row(world, 5, "99.00 USD", "99.00", unit="USD"),
    ]
    for one in seen:
        world.commit(world.unit(values=(one,)))
    world.commit(world.unit(values=tuple(seen)))

    assert [("price", "129.00 EUR"), ("number", "17"), ("price", "129.00 USD"), ("price", "99.00 USD")] == [
        (value.label, value.text) for value in world.read(values.listing, 1)
    ]
    assert ["99.00 USD"] == [value.text for value in world.read(values.listing, 1, limit=1)]


def test_limit_counts_only_what_is_asked_for(world: World):
    """Many newer values of another page, or of another time, hide none."""
    world.watch()
    world.watch("other", "b")
    world.commit(world.unit(values=(row(world, 1, "1", "1"), row(world, 2, "2", "2"))))
    for later in range(3, 9):
        world.commit(world.unit(values=(replace(row(world, later, str(later), str(later)), page_id=2),)))

    def read(**asked: Any) -> list[str]:
        return [value.text for value in world.read(values.listing, 1, **asked)]

    assert ["1", "2"] == read(page_ids=[1], limit=3)
    assert ["2"] == read(page_ids=[1], limit=1)
    assert ["2", "3", "4"] == read(period=Period(until=world.at + 4), limit=3)
    assert ["7", "8"] == read(page_ids=[1, 2], period=Period(since=world.at + 2), limit=2)
    assert ["1"] == read(page_ids=[1], period=Period(world.at + 1, world.at + 1), limit=9)
    assert [] == read(page_ids=[])


def test_text_without_a_number_is_compared_as_text(world: World):
    """Availability has a series too; a NUL character is allowed."""
    world.watch()
    for later, text in enumerate(("InStock", "InStock", "Out\x00OfStock", "Out\x00OfStock")):
        world.commit(world.unit(values=(row(world, later, text, label="availability", unit=""),)))

    assert 2 == len(world.read(values.listing, 1))


def test_last_expired_value_is_kept(world: World):
    """It was valid until the first value that is kept."""
    world.watch()
    for day, amount in enumerate(("1", "2", "3", "4")):
        world.commit(world.unit(values=(row(world, day * DAY, amount, amount),)))
    gone = world.write(values.forget, before=world.at + 2 * DAY + 1, ended=0)

    assert 2 == gone
    assert ["3", "4"] == [value.text for value in world.read(values.listing, 1)]
    assert 0 == world.write(values.forget, before=world.at + 2 * DAY + 1, ended=0)


def test_values_of_an_ended_sentinel_expire(world: World):
    """They expire with its changes."""
    world.watch()
    world.commit(world.unit(values=(row(world, 0, "1", "1"),)))
    world.database.write(
        lambda c: c.execute("UPDATE sentinel SET state = 'ended', ended_at = :at WHERE id = 1", at=world.at)
    )

    assert 0 == world.write(values.forget, before=0, ended=world.at)
    assert 1 == world.write(values.forget, before=0, ended=world.at + 1)
