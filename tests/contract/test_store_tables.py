"""The table of sentinels on both databases: filters, order and counts."""

from __future__ import annotations

import pytest

from tests.stores import World
from tidings.storage.db.connection import Connection
from tidings.storage.people import accounts
from tidings.storage.watches import listed, sentinels
from tidings.storage.watches.listed import TableRequest


def fill(world: World) -> int:
    """Make three sentinels, of which bob owns `beta`, and end a fourth; return bob's number."""
    for name, page in (("Gamma", "c"), ("alpha", "a"), ("beta", "b"), ("over", "a")):
        world.watch(name, page)
    bob = world.write(lambda c: accounts.add(c, "bob", "editor", "x", at=world.at))
    world.write(lambda c: sentinels.give(c, sentinels.find(c, "beta").id, bob.id))
    world.write(sentinels.drop, sentinels_id(world, "over"), world.at)
    world.write(change)
    return int(bob.id)


def change(c: Connection) -> None:
    """Record a change of two pages, `b` after `a`."""
    for key, at in (("key-a", 3), ("key-b", 9)):
        c.execute("UPDATE page SET last_seq = 2, changed_at = :at WHERE key = :key", at=at, key=key)


def sentinels_id(world: World, name: str) -> int:
    """Return the id of a sentinel."""
    return int(world.read(sentinels.find, name).id)


@pytest.mark.parametrize(
    ("wanted", "names"),
    [
        (TableRequest(), ["Gamma", "alpha", "beta"]),
        (TableRequest(order="name"), ["alpha", "beta", "Gamma"]),
        (TableRequest(order="last"), ["beta", "alpha", "Gamma"]),
        (TableRequest(lives="ended"), ["over"]),
        (TableRequest(lives="all", order="name"), ["alpha", "beta", "Gamma", "over"]),
        (TableRequest(lives="paused"), []),
        (TableRequest(text="GAM"), ["Gamma"]),
        (TableRequest(text="%"), []),
        (TableRequest(tag="tag"), ["Gamma", "alpha", "beta"]),
        (TableRequest(tag="other"), []),
    ],
)
def test_matching_sentinels_are_sorted_as_requested(world: World, wanted: TableRequest, names: list[str]) -> None:
    """The order is by name without case, by last change, or by creation."""
    fill(world)

    assert names == [name for _, name in world.read(listed.find_sentinels, wanted)]


def test_counts_and_names_cover_only_visible_sentinels(world: World) -> None:
    """A user learns nothing of sentinels of others."""
    bob = fill(world)
    anna = world.write(lambda c: accounts.add(c, "anna", "editor", "x", at=world.at)).id

    assert [3, 3, 2] == [len(world.read(listed.find_sentinels, TableRequest(viewer=who))) for who in (None, bob, anna)]
    assert [3, 2] == [world.read(listed.count_states, viewer=who)["enabled"] for who in (bob, anna)]
    assert [{"tag": 3}, {"tag": 2}] == [world.read(listed.count_tags, viewer=who) for who in (bob, anna)]
    assert [3, 2] == [world.read(listed.count_pages, viewer=who) for who in (bob, anna)]
    assert ["Gamma", "alpha"] == world.read(sentinels.names, viewer=anna)
    assert {"tag"} == world.read(listed.tags_of, ["beta", "over", "nobody"])
