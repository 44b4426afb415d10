"""The known noise of a page, and the masks that users have switched."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from tests.planner import make_watched
from tests.stores import World
from tidings.clock import HOUR, MINUTE
from tidings.detection.noise.memory import ORDER, Memory, Place, Thing
from tidings.errors import UsageError
from tidings.model.observed.page import PageState
from tidings.model.observed.poll_reason import Why
from tidings.service.watch import noise
from tidings.service.watch.noise import HISTORY, Known

NOW = 1_700_000_000_000_000


def learn(world: World, memory: Memory, **more: Any) -> None:
    """Store the memory of page 1."""
    (estimate,) = noise.estimates_of(memory, 1, at=world.at, **more)
    world.commit(world.unit(estimates=(estimate,)))


def test_page_without_a_memory_is_new(world: World):
    """The switches of users are known anyway."""
    world.watch()
    world.write(noise.switch, 1, frozenset({"time"}), on=frozenset({"a"}), at=world.at)

    assert Known(Memory(), frozenset({"time"}), frozenset({"a"})) == world.read(noise.read, 1)

    learn(world, Memory())

    assert not world.read(noise.read, 1).is_new
    assert () == noise.estimates_of(None, 1, at=1)


def test_second_poll_is_stored_with_the_memory(world: World):
    """The second poll is a minute after the poll."""
    one = noise.estimates_of(Memory(), 1, at=NOW, has_second=True)
    none = noise.estimates_of(Memory(), 1, at=NOW)

    assert [NOW + MINUTE, 0, 0] == [noise.second_at(each) for each in (one, none, ())]


def test_second_poll_is_restored_after_a_restart(world: World):
    """The last poll of the page brought a version, a short time ago."""
    world.watch()
    learn(world, Memory(), has_second=True)
    fresh = replace(world.state(), polled_at=world.at, changed_at=world.at)
    quiet = replace(fresh, changed_at=world.at - 1)

    def second(state: PageState, now: int) -> dict[int, int]:
        return world.read(noise.find_second_polls, [state], now)

    assert {1: world.at + MINUTE} == second(fresh, world.at)
    assert {} == second(quiet, world.at)
    assert {} == second(fresh, world.at + HOUR)


@pytest.mark.parametrize(
    ("why", "late", "is_noise"),
    [(Why.SECOND, MINUTE, True), (Why.SECOND, HOUR, False), (Why.CHANGE, MINUTE, False)],
)
def test_second_poll_within_a_minute_shows_noise(why: Why, late: int, is_noise: bool):
    """Later, the page may really have changed."""
    page = make_watched(1)
    page.state = replace(page.state, checked_at=NOW, polls=3)
    found = noise.of_poll(Known(is_new=False), page, {1: NOW}, NOW + late, 2, why=why)

    assert (is_noise, 4, True, ()) == (found.is_second, found.polls, found.learns, found.history)


def test_page_watched_before_learns_from_its_newest_versions():
    """At most eight versions are used. A first version teaches nothing."""
    page, times = make_watched(1), {seq: NOW + seq for seq in range(1, 12)}

    assert tuple(range(4, 12)) == noise.of_poll(Known(), page, times, NOW, 12, why=Why.CHANGE).history
    assert HISTORY == len(noise.of_poll(Known(), page, times, NOW, 12, why=Why.CHANGE).history)
    assert () == noise.of_poll(Known(), page, {1: NOW}, NOW, 2, why=Why.CHANGE).history
    assert not noise.of_poll(Known(), page, {}, NOW, 1, why=Why.CHANGE).learns


def test_stored_version_teaches_nothing_except_in_a_replay():
    """An archive is learned version by version if there is no memory."""
    times = {1: NOW, 2: NOW + 1}

    assert (NOW + 1, False) == ((found := noise.of_stored(Known(), times, 2)).at, found.learns)
    assert [True, False, False] == [
        noise.of_archive(known, times, before, 2).learns
        for known, before in ((Known(), 1), (Known(), 0), (Known(is_new=False), 1))
    ]


def test_poll_for_noise_is_a_second_poll_without_a_request():
    """A user who requests a poll wants its changes."""
    assert noise.is_second(Why.SECOND, ())
    assert not noise.is_second(Why.SECOND, {1})
    assert not noise.is_second(Why.SECOND, (), is_tick=True)
    assert not noise.is_second(Why.CHANGE, ())


def test_quiet_poll_counts_only_with_a_memory():
    """Without one nothing is stored."""
    state = PageState(page_id=1, polls=3, checked_at=NOW)

    assert noise.rest(Known(), state, NOW, why=Why.CHANGE) is None
    assert noise.rest(Known(is_new=False), state, NOW, why=Why.CHANGE) is not None


def test_mask_is_switched_by_its_name(world: World):
    """A mask can be turned off and on. The error of an unknown name lists the masks."""
    world.watch()
    with pytest.raises(UsageError, match="no mask 'clocks': there are time, count"):
        world.write(noise.switch_masks, [1], off=["clocks"], on=[], at=world.at)

    world.write(noise.switch_masks, [1], off=["time"], on=[], at=world.at)

    assert frozenset({"time"}) == world.read(noise.masks, 1).switched_off

    world.write(noise.switch_masks, [1], off=[], on=["time"], at=world.at)

    assert frozenset() == world.read(noise.masks, 1).switched_off


def test_masks_of_a_page_are_found_by_its_key(world: World):
    """An unknown page has none."""
    world.watch()
    found = world.read(noise.masks_of_page, "key-a")

    assert found is not None
    assert (1, "http://a.example/", ()) == (found.page_id, found.url, found.things)
    assert world.read(noise.masks_of_page, "none") is None
    assert {*noise.CLASSES} <= found.names


def test_switches_of_users_survive_learning(world: World):
    """Polls write another row."""
    world.watch()
    world.write(noise.switch, 1, frozenset({"time"}), at=world.at)
    learn(world, Memory())

    assert frozenset({"time"}) == world.read(noise.read, 1).switched_off


THING = Thing(
    id="a1",
    sort="words",
    place=Place(b"^ Hits", b"today $", 1),
    examples=("7", "8"),
    changed=40.0,
    steady=0.0,
    polls=40,
)


def test_mask_is_described_by_place_and_reason():
    """The beginning and end of a page are named."""
    assert 'between "Hits" and "today"' == noise.where(THING)
    assert "between the beginning and the end" == noise.where(replace(THING, place=Place(b"^", b"$", 1)))
    assert "count" == noise.where(replace(THING, place=None, name="count"))
    assert noise.why(THING).startswith("shows something else at ")
    assert noise.why(replace(THING, name=ORDER)).startswith("shows the same words in another order at ")
    assert noise.why(replace(THING, wanted=True)).endswith(", ignored because you chose it")


def test_offered_mask_is_off_until_chosen(world: World):
    """The id of the mask is used to choose and remove it."""
    world.watch()
    learn(world, Memory(things=(THING,)))

    assert ((), ("a1",)) == ((found := world.read(noise.masks, 1)).things, tuple(one.id for one in found.offers))

    world.write(noise.switch_masks, [1], off=[], on=["a1"], at=world.at)

    assert ["a1"] == [one.id for one in world.read(noise.masks, 1).things]
    assert [False] == [record["off"] for record in world.read(noise.masks, 1).records("news")]

    world.write(noise.switch_masks, [1], off=["a1"], on=[], at=world.at)

    assert () == world.read(noise.masks, 1).things
    assert ["offered"] == [record["kind"] for record in world.read(noise.masks, 1).records("news")]
