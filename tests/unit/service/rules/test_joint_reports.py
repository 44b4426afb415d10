"""One report of the changes of several pages (sentinels §4.5)."""

import asyncio
from dataclasses import replace

import pytest

from tests.stores import START
from tidings.clock import HOUR, SECOND
from tidings.model.observed.change import PagePart
from tidings.service.behaviour import NO_EFFECTS
from tidings.service.rules.joint_reports import JointReport, Reporter, list_named_pages
from tidings.service.sentinels import register
from tidings.service.watch.lifespan import REPORTED
from tidings.service.watch.watchlist import Watchlist
from tidings.storage.db.instance import DatabaseInstance
from tidings.storage.observed import pages
from tidings.storage.watches import sentinels, subscriptions
from tidings.storage.write.store import Store

TEXT = (
    "Create Sentinel s Using https://a.example/ As A, https://b.example/ As B Monitor any change of A AND links of B"
    " Notify by webhook https://hook.example/x immediate {}"
)


class House:
    """A sentinel of two pages with a change on each: `a` at the start, `b` an hour later."""

    def __init__(self, world, clauses=""):
        self.world = world
        register.register(world.database, TEXT.format(clauses), settings=world.settings, now=START)
        self.row = world.read(sentinels.find, "s")
        a, b = sorted(world.read(subscriptions.listing, sentinel_id=self.row.id), key=lambda sub: sub.label)
        self.subs = {"A": a, "B": b}
        for sub in (a, b):
            world.commit(world.make_stored(b"one", sub.page_id))
            world.commit(world.make_stored(b"two", sub.page_id))
        self.a = self.store("a", a, START)
        self.b = self.store("b", b, START + HOUR)

    def store(self, id, sub, at):
        row = replace(
            self.world.change(id),
            sentinel_id=self.row.id,
            subscription_id=sub.id,
            page_id=sub.page_id,
            polled_at=at,
            summary=f"news of {sub.label}",
            modified_at=at - SECOND,
            quiet=True,
        )
        self.world.commit(self.world.unit(changes=(row,)))
        return row

    def report(self, report, *, epoch=0):
        async def play():
            store = Store(self.world.reopen())
            watchlist = Watchlist(store)
            await watchlist.load()
            watched = watchlist.sentinels[self.row.id]
            try:
                return await Reporter(store, DatabaseInstance("id", epoch, 1)).effects(
                    watched, report, at=START + 2 * HOUR
                )
            finally:
                await store.close()

        return asyncio.run(play())


@pytest.fixture
def house(world):
    return House(world)


def test_report_is_one_change_with_a_part_for_each_page(house):
    """In the order of the text, whatever the order of finding; its message goes out with it."""
    effects = house.report(JointReport(changes=["b", "a", "b"]))
    (row,), (event,), (draft,) = effects.changes, effects.events, effects.deliveries

    assert ["A", "B"] == [part.name for part in row.composite.parts]
    assert ["a", "b"] == [part.change_id for part in row.composite.parts]
    assert {"changed"} == {part.status for part in row.composite.parts}
    assert (house.b.page_id, house.b.polled_at, house.b.modified_at) == (row.page_id, row.polled_at, row.modified_at)
    assert "A: news of A; B: news of B" == row.summary == event.data["summary"]
    assert (house.a.found.inserted + house.b.found.inserted, ()) == (row.found.inserted, row.found.edits)
    assert (START + 2 * HOUR, False) == (row.detected_at, row.quiet)
    assert (row.id, (0,)) == (event.change_id, draft.events)
    assert () == effects.sentinels


def test_same_report_has_the_same_id(house):
    """After a crash too; another cause, other changes, or a restored copy make another one."""
    ids = [
        house.report(JointReport(changes=["a", "b"])).changes[0].id,
        house.report(JointReport(changes=["a", "b"], verdict="undecided")).changes[0].id,
        house.report(JointReport(changes=["a", "b"], cause="x")).changes[0].id,
        house.report(JointReport(changes=["a"])).changes[0].id,
        house.report(JointReport(changes=["a", "b"]), epoch=1).changes[0].id,
    ]

    assert ids[0] == ids[1]
    assert 4 == len({*ids})
    assert {32} == set(map(len, ids))


@pytest.mark.parametrize(
    ("verdict", "reason", "summary"),
    [
        ("complete", "ignored", "A: news of A"),
        ("partial", "no time", "partial: no time; A: news of A"),
        ("undecided", "", "undecided: A: news of A"),
    ],
)
def test_summary_begins_with_what_is_lacking(house, verdict, reason, summary):
    """A complete one has only the pages."""
    (row,) = house.report(JointReport(changes=["a"], verdict=verdict, reason=reason)).changes

    assert summary == row.summary
    assert (verdict, reason) == (row.composite.verdict, row.composite.reason)


def test_other_pages_are_shown_in_their_places(house):
    """One without a name is shown by its address, after those of the text."""
    others = [
        PagePart(page_id=9, url="https://x.example/", name="", status="missed", summary="not checked"),
        PagePart(
            page_id=house.subs["A"].page_id, url="https://a.example/", name="A", status="unchanged", summary="same"
        ),
    ]
    (row,) = house.report(JointReport(changes=["b"], others=others)).changes

    assert ["A", "B", ""] == [part.name for part in row.composite.parts]
    assert row.summary.endswith("https://x.example/: not checked")


def test_report_of_deleted_changes_is_none(house):
    """There is nothing to say."""
    assert house.report(JointReport(changes=["gone"])) is NO_EFFECTS


@pytest.mark.parametrize(("verdict", "ends"), [("complete", True), ("partial", True), ("undecided", False)])
def test_first_report_ends_the_sentinel(world, verdict, ends):
    """Unless it was asked for otherwise, or nothing was decided."""
    house = House(world, "To first change")
    world.write(lambda c: c.execute("UPDATE sentinel SET state = 'enabled', started_at = 1"))
    moves = house.report(JointReport(changes=["a"], verdict=verdict)).sentinels

    assert ([("ended", REPORTED)] if ends else []) == [(move.state, move.reason) for move in moves]


def test_pages_of_a_sentinel_are_listed_by_name(house):
    """With the addresses as they were given."""
    given = {label: house.world.read(pages.identity, sub.page_id).given for label, sub in house.subs.items()}

    assert {label: [(sub.page_id, given[label])] for label, sub in house.subs.items()} == house.world.read(
        list_named_pages, house.row.id
    )
