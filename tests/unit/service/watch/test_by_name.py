"""Commands find sentinels by name."""

from __future__ import annotations

import pytest

from tests.stores import World
from tidings.errors import UnknownNameError
from tidings.service.watch import by_name
from tidings.storage.watches import sentinels


def test_unknown_name_suggests_the_nearest(world: World):
    """Without one, the error names the command that lists all."""
    world.watch("prices")

    assert "prices" == world.read(by_name.find, "prices").name
    with pytest.raises(UnknownNameError, match=r'there is no sentinel "price"; did you mean prices\?'):
        world.read(by_name.find, "price")
    with pytest.raises(UnknownNameError, match="`tidings list` shows all"):
        world.read(by_name.find, "xyz")


def test_dropped_sentinel_is_found_by_its_name(world: World):
    """A new sentinel with the name replaces the dropped one."""
    world.watch("news")
    world.write(sentinels.drop, 1, world.at)

    assert 1 == world.read(by_name.find_past, "news").id
    with pytest.raises(UnknownNameError):
        world.read(by_name.find, "news")

    world.watch("news", "b")

    assert 2 == world.read(by_name.find_past, "news").id
    with pytest.raises(UnknownNameError):
        world.read(by_name.find_past, "other")


def test_lives_are_found_by_name(world: World):
    """Dropped ones are found only on request. An unknown name is no error."""
    world.watch("news")
    text = "Create Sentinel news Using http://a.example/ Monitor any change"
    world.write(lambda c: c.execute("UPDATE sentinel_revision SET text = :text", text=text))
    world.write(sentinels.drop, 1, world.at)

    def names(*, dropped: bool) -> list[str]:
        found = world.read(lambda c: [by_name.lives(c, dropped=dropped)(name) for name in ("news", "none")])
        return [life.row.name for life in found if life is not None]

    assert [[], ["news"]] == [names(dropped=dropped) for dropped in (False, True)]
