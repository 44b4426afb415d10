"""Watched values on both databases: a row where a value became another one, and what is kept of them."""

from __future__ import annotations

from tests.stores import World
from tidings.clock import DAY
from tidings.model.observed.version import ValueRow
from tidings.storage.watches import values


def row(world: World, later: int, text: str, amount: str = "", *, label: str = "price", unit: str = "EUR") -> ValueRow:
    """Return a value that was seen `later` µs after now."""
    return ValueRow(
        sentinel_id=1, page_id=1, label=label, at=world.at + later, seq=1, text=text, amount=amount, unit=unit
    )


def test_only_what_became_another_value_is_a_row(world: World):
    """The same price written otherwise is the same; another currency is another price; each name has its own course."""
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


def test_a_text_that_no_number_is_in_is_compared_as_it_is(world: World):
    """Availability has a course, too; a NUL of a page stops nothing."""
    world.watch()
    for later, text in enumerate(("InStock", "InStock", "Out\x00OfStock", "Out\x00OfStock")):
        world.commit(world.unit(values=(row(world, later, text, label="availability", unit=""),)))

    assert 2 == len(world.read(values.listing, 1))


def test_old_values_go_and_what_held_then_is_still_known(world: World):
    """Of those that are too old the last one stays, since it held until the first that is not."""
    world.watch()
    for day, amount in enumerate(("1", "2", "3", "4")):
        world.commit(world.unit(values=(row(world, day * DAY, amount, amount),)))
    gone = world.write(values.forget, before=world.at + 2 * DAY + 1, ended=0)

    assert 2 == gone
    assert ["3", "4"] == [value.text for value in world.read(values.listing, 1)]
    assert 0 == world.write(values.forget, before=world.at + 2 * DAY + 1, ended=0)


def test_values_of_what_has_ended_go_in_their_time(world: World):
    """As its changes do."""
    world.watch()
    world.commit(world.unit(values=(row(world, 0, "1", "1"),)))
    world.database.write(
        lambda c: c.execute("UPDATE sentinel SET state = 'ended', ended_at = :at WHERE id = 1", at=world.at)
    )

    assert 0 == world.write(values.forget, before=0, ended=world.at)
    assert 1 == world.write(values.forget, before=0, ended=world.at + 1)
