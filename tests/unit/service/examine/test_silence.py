"""Owners are notified of changes that masks leave out, and of those that have settled since."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest

from tests.planner import make_watched
from tests.stores import World
from tidings.clock import DAY
from tidings.detection.noise.memory import Memory, Thing
from tidings.model.observed.change import ChangeSet, Edit, Masked, ObjectCount
from tidings.model.observed.unit import Event
from tidings.service.examine.detect import Compared
from tidings.service.examine.findings import Findings
from tidings.service.examine.judge import Turn
from tidings.service.examine.silence import LONGEST, MOST_WORDS, Silence, evidence, find_settled
from tidings.service.show.notices import SILENCED
from tidings.service.watch.watchlist import WatchedPage
from tidings.storage.watches import events


def make_masked(mask: str = "m1", old: str = "1", new: str = "2") -> Masked:
    """Return a change that a mask left out."""
    return Masked(mask=mask, old=old, new=new)


def make_silenced(*found: Masked, key: int = 1) -> Compared:
    """Return comparisons in which masks left out all changes."""
    one: Any = SimpleNamespace(silenced=found, key=key)
    return Compared(examination=SimpleNamespace(found=(one,)))  # type: ignore[arg-type]


class Case:
    """A page with one sentinel that reports to endpoint 5, and a database."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.page: WatchedPage = make_watched(1, "Notify by webhook http://127.0.0.1/hook")
        sub = self.page.subscriptions[1]
        (channel,) = sub.owner.sentinel.notify[0].channels
        sub.owner.endpoints[channel.endpoint] = 5
        self.silence = Silence(self)  # type: ignore[arg-type]

    async def read(self, fn: Callable[..., Any], *args: Any) -> Any:
        return self.world.read(fn, *args)

    def review(self, compared: Compared, memory: Memory | None, at: int) -> tuple[Compared, Memory | None]:
        """Return the comparisons with their notices, and the memory."""
        turn = Turn(page=self.page, at=at, epoch=1)
        found = Findings(turn=turn, state=self.page.state, compared=compared, memory=memory)
        reviewed = asyncio.run(self.silence.review(found))
        return reviewed.compared, reviewed.memory

    def settles(self, polls: int) -> bool:
        """Return whether a change has settled at the poll after `polls` polls."""
        self.page.state = replace(self.page.state, polls=polls)
        return asyncio.run(self.silence.settles(self.page))


def test_owner_is_notified_of_silence_with_words_and_masks(world: World):
    """At most five places are listed. The memory stores that it was reported."""
    case = Case(world)
    places = [make_masked("m1", str(n), str(n + 1)) for n in range(7)] + [make_masked("m2")]
    compared, memory = case.review(make_silenced(*places), Memory(), world.at)
    (event,) = compared.events

    assert (SILENCED, 1, ["m1", "m2"], [5]) == (
        event.type,
        event.sentinel_id,
        event.data["masks"],
        event.data["endpoints"],
    )
    assert MOST_WORDS == len(event.data["words"])
    assert memory is not None
    assert {1: ("m1", "m2")} == memory.reported


def test_silence_is_reported_once_a_day(world: World):
    """The log has the time, so this holds after a restart too."""
    case = Case(world)
    compared, _ = case.review(make_silenced(make_masked()), Memory(), world.at)
    world.watch()
    world.commit(world.unit(events=compared.events))

    assert () == case.review(make_silenced(make_masked()), Memory(), world.at + DAY - 1)[0].events
    assert () == Case(world).review(make_silenced(make_masked()), Memory(), world.at + DAY - 1)[0].events
    assert 1 == len(case.review(make_silenced(make_masked()), Memory(), world.at + DAY)[0].events)
    assert 1 == len(world.read(events.listing, types=(SILENCED,)))


def test_no_silence_is_reported_without_masked_changes(world: World):
    """A deleted subscription and a page without a memory report no silence either."""
    case = Case(world)

    assert () == case.review(make_silenced(), Memory(), world.at)[0].events
    assert () == case.review(make_silenced(make_masked(), key=9), Memory(), world.at)[0].events
    assert (make_silenced(make_masked()).events, None) == (
        case.review(make_silenced(make_masked()), None, world.at)[0].events,
        case.review(make_silenced(make_masked()), None, world.at)[1],
    )


def test_settling_is_due_at_the_poll_in_the_memory(world: World):
    """Without such a poll it is never due."""
    case = Case(world)
    world.watch()

    assert not case.settles(100)

    case.silence._settles[1] = 10

    assert [False, True] == [case.settles(polls) for polls in (8, 9)]


def settle(world: World, masks: set[str], **change: Any) -> list[Any]:
    """Return the settled changes of a page with one quiet change."""
    found = ChangeSet(
        kinds=("any",),
        edits=(Edit("replace", 1, 2, 1, 2),),
        objects=(ObjectCount("links", "http://a.example/x", 0, 1),),
        masked=(make_masked(), make_masked("m2", "", "new"), make_masked("m2", "old", "")),
    )
    world.report_change(world.change(found=found, quiet=True, noise=True, **change))
    return world.read(find_settled, make_watched(1), masks, world.at + 1)


def test_masked_change_that_stays_is_reported_later(world: World):
    """Only the part of this mask is; the summary explains the delay."""
    (row,) = settle(world, {"m2"})

    assert (("new",), ("old",), ()) == (row.found.inserted, row.found.deleted, row.found.updated)
    assert ((), (), ("words",)) == (row.found.masked, row.found.objects, row.found.kinds)
    assert (False, False, world.at + 1) == (row.quiet, row.noise, row.detected_at)
    assert row.summary.endswith("(ignored as noise at first, but unchanged since then)")


def test_each_mask_settles_on_its_own(world: World):
    """The change of each mask has its own id."""
    rows = settle(world, {"m1", "m2", "m9"})

    assert 2 == len({row.id for row in rows})
    assert (("1", "2"),) == rows[0].found.updated


def test_change_of_a_removed_subscription_does_not_settle(world: World):
    """The sentinel no longer watches the page."""
    world.watch("other", "a")
    page = make_watched(1)
    page.subscriptions = {}
    settle(world, set())

    assert [] == world.read(find_settled, page, {"m1"}, world.at)


def test_evidence_shows_that_a_page_differs_at_each_poll(world: World):
    """The evidence is a place that could be masked, or else the newest change, cut to one line."""
    world.report_change(world.change(found=ChangeSet(kinds=("any",), updated=(("a" * 500, "b"),))))
    thing = Thing(id="a1", sort="words", examples=("7", "8"), changed=40.0, polls=40)

    assert {"showed": "7", "shows": "8", "mask": "a1"} == world.read(evidence, 1, Memory(things=(thing,)))
    text = world.read(evidence, 1, None)
    assert ("b", "") == (text["shows"], text["mask"])
    assert len(text["showed"]) <= LONGEST
    assert {"showed": "", "shows": "", "mask": ""} == world.read(evidence, 9, None)


@pytest.mark.parametrize(
    ("found", "shown"),
    [
        (ChangeSet(kinds=("any",), inserted=("x",)), ("", "x")),
        (ChangeSet(kinds=("any",), deleted=("y",)), ("y", "")),
    ],
)
def test_evidence_may_have_only_one_side(world: World, found: ChangeSet, shown: tuple[str, str]):
    """A text was inserted or deleted."""
    world.report_change(world.change(found=found))
    text = world.read(evidence, 1, None)

    assert shown == (text["showed"], text["shows"])


def test_event_for_another_receiver_is_no_notice(world: World):
    """A receiver is notified once a day; others do not count."""
    world.watch()
    world.commit(world.unit(events=(Event(type=SILENCED, at=world.at, sentinel_id=1, data={"endpoints": [6]}),)))

    assert 1 == len(Case(world).review(make_silenced(make_masked()), Memory(), world.at + 1)[0].events)
