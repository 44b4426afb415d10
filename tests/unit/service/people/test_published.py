"""Public pages show the pages of a tag, and nothing of who watches them how."""

import pytest

from tidings.clock import SECOND
from tidings.errors import UnknownNameError
from tidings.service.people import published
from tidings.service.sentinels import register
from tidings.service.sentinels.author import INSTALLATION, Author
from tidings.storage.people import accounts

NOW = 1_700_000_000 * SECOND
ONE = "Create Sentinel {} Using https://{}.example/ Monitor any change Tags {} {}"


class House:
    def __init__(self, world):
        self.world = world
        self.anna = Author(world.write(accounts.add, "anna", "editor", "x", at=NOW).id, sees_all=False)
        self.add(ONE.format("ours", "a", "t", ""), INSTALLATION)
        self.add(ONE.format("private", "b", "t", 'Header "X" "y"'), INSTALLATION)
        self.add(ONE.format("annas", "c", "hers", ""), self.anna)

    def add(self, text, author):
        self.world.write(register.carry_out, text, self.world.settings, NOW, "", author)

    def publish(self, tag, author):
        return self.world.write(published.publish, tag, owner_id=author.owner_id, viewer=author.viewer, at=NOW)


@pytest.fixture
def house(world):
    return House(world)


def test_page_of_a_tag_is_made_once(house):
    """Its address cannot be guessed, and stays."""
    first, again = house.publish("t", INSTALLATION), house.publish("t", INSTALLATION)

    assert first.token == again.token
    assert 24 == len(first.token) == len(published.make_token())
    assert 2 == len({published.make_token() for _ in range(2)})
    assert (f"/public/{first.token}/changes", "t") == (published.record(first)["path"], published.record(first)["tag"])


def test_record_of_a_page_names_its_owner(house):
    """One of an account that is gone has none."""
    pages = [house.world.read(published.propose, 99, "t"), house.publish("hers", house.anna)]

    assert [None, "anna"] == [published.record(page)["owner"] for page in pages]


@pytest.mark.parametrize("tag", ["hers", "nothing", "x" * 200])
def test_tag_that_one_does_not_see_has_no_page(house, tag):
    """The error is as if there were none."""
    bob = Author(house.world.write(accounts.add, "bob", "editor", "x", at=NOW).id, sees_all=False)
    with pytest.raises(UnknownNameError, match=f"no sentinel has the tag {tag[:100]}$"):
        house.publish(tag, bob)


def test_page_shows_plain_requests_only(house):
    """Others are named to its owner; a proposal shows the same and stores nothing."""
    proposed = house.world.read(published.propose, 1, "t")
    seen = house.world.read(published.view, proposed)

    assert ([("ours", "https://a.example/")], ["private"]) == ([*seen.watched], [*seen.left_out])
    assert seen == house.world.read(published.view, house.publish("t", INSTALLATION))
    assert "" == proposed.token


def test_change_is_named_by_the_title_of_its_page(house):
    """Or its host; in its order, and a part at a time."""
    world = house.world
    page = house.publish("t", INSTALLATION)
    world.commit(world.make_stored(b"one"))
    for number in (1, 2):
        world.commit(world.unit(**world.news(world.change(f"c{number}"), world.endpoint())))

    def listed(**more):
        return world.read(published.list_changes, page, **{"limit": 9} | more)

    assert ["c2", "c1"] == [one.id for one in listed()]
    assert (["c2"], ["c1"]) == ([one.id for one in listed(limit=1)], [one.id for one in listed(before="c2")])
    assert {"a.example"} == {one.title for one in listed()} == {one.record["sentinel"] for one in listed()}
    world.write(lambda c: c.execute("UPDATE page SET title = 'News' WHERE id = 1"))
    assert {"News"} == {one.title for one in listed()}
    assert "ours" not in str(listed()[0].record)
