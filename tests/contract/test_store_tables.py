"""What the lists of the screens read, on both databases: filters, order, counts and sums."""

from __future__ import annotations

import pytest

from tests.stores import World
from tidings.storage.db.connection import Connection
from tidings.storage.observed import estimates, pages, polls
from tidings.storage.people import accounts
from tidings.storage.watches import inbox, listed, sentinels, subscriptions
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
    """Record a change of `beta` after one of `alpha`, and a quiet one of `Gamma` after both."""
    for number, (name, at, quiet) in enumerate((("alpha", 3, 0), ("beta", 9, 0), ("Gamma", 12, 1))):
        sub = subscriptions.listing(c, sentinel_id=sentinels.find(c, name).id)[0]
        c.execute(
            "INSERT INTO change (id, event_seq, sentinel_id, subscription_id, page_id, revision, kind, from_seq, to_seq,"
            " rules_version, extraction, quiet, polled_at, detected_at, edits, objects, texts) VALUES (:id, :seq, :sentinel,"
            " :sub, :page, 1, 'updated', 1, 2, 1, '', :quiet, :at, :at, '[]', '[]', '[]')",
            id=f"c{number}", seq=None if quiet else number + 1, sentinel=sub.sentinel_id, sub=sub.id, page=sub.page_id,
            quiet=quiet, at=at,
        )  # fmt: skip


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


def test_last_change_is_what_the_sentinel_reported(world: World) -> None:
    """Quiet changes, and those of its pages before it or for others, are not its own."""
    fill(world)
    found = {world.read(sentinels.get, id_).name: at for id_, at in world.read(listed.list_last_changes).items()}

    assert {"alpha": 3, "beta": 9} == found
    assert [9, None] == [world.read(listed.find_last_change, sentinels_id(world, name)) for name in ("beta", "Gamma")]


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


def test_all_counts_of_the_inbox_are_those_of_its_lists(world: World) -> None:
    """One pass counts what four filters list, for whoever sees it, and what is new."""
    bob = fill(world)
    world.write(inbox.mark_all_read, inbox.Filter(viewer=None), at=world.at)

    for viewer, reader in ((None, 1), (bob, bob)):
        counts = world.read(inbox.count_all, viewer=viewer, reader=reader, since=5)
        filters = {shown: inbox.Filter(shown=shown, viewer=viewer, reader=reader) for shown in inbox.SHOWN}
        assert {shown: world.read(inbox.count, one) for shown, one in filters.items()} == counts.by_shown
        assert (1, 1) == (counts.notified_since, counts.quiet_since)
    assert 1 == world.read(inbox.count, inbox.Filter(shown="all", text="beta", viewer=None))


def test_list_of_sentinels_is_read_in_pages(world: World) -> None:
    """Each page has those above a number, with their tags, at most as many as asked for."""
    fill(world)
    first = world.read(sentinels.listing, limit=2)
    rest = world.read(sentinels.listing, after=first[-1].id, state="enabled")

    assert ["Gamma", "alpha", "beta"] == [row.name for row in (*first, *rest)]
    assert {("tag",)} == {row.tags for row in (*first, *rest)}
    assert ["Gamma", "alpha"] == world.read(sentinels.names, limit=3)[:2]
    assert [] == world.read(sentinels.listing, tag="other")


def test_costs_are_summed_from_an_instant_on(world: World) -> None:
    """Also if numbers are missing between polls, and if there is none."""
    nothing = world.read(polls.sum_costs, 0)
    world.watch("a", "a")
    begun = world.at
    for number in range(9):
        world.at = begun + number * 10**12
        world.charge(cost=2.0)
    world.write(lambda c: c.execute("DELETE FROM poll WHERE id IN (2, 3, 7)"))
    sums = [world.read(polls.sum_costs, begun + number * 10**12) for number in (-1, 0, 1, 4, 8, 9)]

    assert 0.0 == nothing
    assert [12.0, 12.0, 10.0, 8.0, 2.0, 0.0] == sums


def test_values_of_several_pages_are_read_together(world: World) -> None:
    """Pages without a title, a check or a state are left out, or have none."""
    world.watch("a", "a")
    world.poll(world.charge())
    world.write(
        lambda c: c.execute("INSERT INTO estimate (name, page_id, state, at) VALUES ('n', 1, '{\"x\":1.5}', 0)")
    )

    assert {1: ""} == world.read(pages.titles, [1, 77])
    assert {} == world.read(polls.beats, [1, 77], since=0, width=10**18)
    assert {1: {"x": 1.5}} == world.read(estimates.load, "n", [1, 77]) == world.read(estimates.load_all, "n")
    assert {1: {"x": 1.5}} == dict(world.read(estimates.read_later, "n"))
