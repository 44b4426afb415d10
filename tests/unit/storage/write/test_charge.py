"""The costs of polls, and the budgets that pay them. `tests/contract/test_store.py` has what holds
on both products.
"""

from __future__ import annotations

import pytest

from tests.stores import SECOND, START, World
from tidings.errors import StaleEpochError, UnitError
from tidings.model.observed.poll_reason import PollReason, Why
from tidings.model.observed.unit import Grant
from tidings.model.watch.sentinel import budget_name, share_of
from tidings.storage.observed import hosts
from tidings.storage.people import accounts
from tidings.storage.watches import sentinels
from tidings.storage.write import charge

SHARED = budget_name("docs")


def grants(count: int, budget: str = "default") -> list[Grant]:
    """Return grants of page 1."""
    made = Grant(page_id=1, host="a.example", cost=1.0, reason=PollReason(Why.CHANGE), budget=budget)
    return [made] * count


def own(world: World, *, share: float | None) -> str:
    """Give the sentinel docs to Anna; return the name of her share, which is set if it is given."""
    world.watch("docs")
    anna = world.write(accounts.add, "anna", "editor", "", at=START).id
    world.write(sentinels.give, 1, anna)
    world.write(charge.set_budget, SHARED, rate_per_second=0.0, burst=5.0, at=START)
    if share is not None:
        world.write(charge.set_budget, share_of(anna), rate_per_second=0.5, burst=share, at=START)
    return share_of(anna)


def levels(world: World) -> dict[str, float]:
    """Return the level of each budget."""
    return {name: bucket.level for name, bucket in world.read(charge.budgets).items()}


def pay(world: World, *asked: Grant, at: int = START) -> list[bool]:
    """Return for each grant whether it was paid."""
    return [one is not None for one in world.write(charge.charge, asked, at=at, epoch=world.epoch)]


def test_charge_takes_at_most_64_grants(world: World):
    """A charge of 65 grants is refused."""
    world.watch()

    assert [True] * charge.MOST_GRANTS == pay(world, *grants(charge.MOST_GRANTS))
    with pytest.raises(UnitError, match="65 grants"):
        pay(world, *grants(charge.MOST_GRANTS + 1))


def test_collection_pays_from_its_budget_and_its_owners_share(world: World):
    """The budget of all polls pays too."""
    share = own(world, share=2.0)
    before = levels(world)

    assert [True, True, False] == pay(world, *grants(3, SHARED))
    assert {"default": 2.0, SHARED: 2.0, share: 2.0} == {
        name: before[name] - level for name, level in levels(world).items()
    }


def test_collection_without_a_share_pays_from_its_own_budget(world: World):
    """The owner has no share of the budget."""
    own(world, share=None)

    assert [True] * 5 + [False] == pay(world, *grants(6, SHARED))


def test_collection_without_a_sentinel_uses_no_share(world: World):
    """The sentinel was dropped. The first owner has a share."""
    world.watch()
    world.write(charge.set_budget, SHARED, rate_per_second=0.0, burst=5.0, at=START)
    world.write(charge.set_budget, share_of(1), rate_per_second=0.0, burst=1.0, at=START)

    assert [True] * 3 == pay(world, *grants(3, SHARED))


def test_payable_of_a_collection_is_limited_by_its_owners_share(world: World):
    """The level and the rate are each the smaller of the two. Other budgets are unchanged."""
    share = own(world, share=2.0)
    seen = world.read(charge.payable, at=START)

    assert (2.0, 0.0) == (seen[SHARED].level, seen[SHARED].rate)
    assert (2.0, 0.5) == (seen[share].level, seen[share].rate)
    world.write(charge.set_budget, SHARED, rate_per_second=9.0, burst=5.0, at=START)
    assert 0.5 == world.read(charge.payable, at=START)[SHARED].rate


def test_payable_is_computed_for_an_instant(world: World):
    """The budgets have been refilled since they were written."""
    world.write(charge.set_budget, "shop", rate_per_second=1.0, burst=9.0, at=START)
    world.watch()
    pay(world, *grants(5, "shop"))

    assert [4.0, 6.0] == [world.read(charge.payable, at=START + at * SECOND)["shop"].level for at in (0, 2)]


def test_settings_do_not_delete_the_budget_of_a_collection(world: World):
    """The sentinel of the collection sets the budget."""
    own(world, share=None)
    world.write(charge.set_budgets, {"default": (1.0, 9.0)}, at=START)

    assert {"default", SHARED} == levels(world).keys()


def test_new_budget_is_full(world: World):
    """A new budget can be spent at once."""
    world.write(charge.set_budget, "shop", rate_per_second=0.0, burst=3.0, at=START)

    assert (3.0, START) == ((made := world.read(charge.budgets)["shop"]).level, made.at)


def test_extra_request_for_another_page_is_refused(world: World):
    """A poll pays only for its own page, at the given cost."""
    world.watch()
    (charged,) = world.write(charge.charge, grants(1), at=START, epoch=world.epoch)
    assert charged is not None
    before = levels(world)["default"]
    with pytest.raises(UnitError, match="not an open poll of page 2"):
        world.write(charge.extra, 2, "b.example", charged.poll_id, at=START, epoch=world.epoch)
    for cost in (1.0, 0.0, 2.5):
        world.write(charge.extra, 1, "b.example", charged.poll_id, at=START, epoch=world.epoch, cost=cost)

    assert 3.5 == before - levels(world)["default"]


def test_stale_process_cannot_advance_the_clock(world: World):
    """The epoch of the process is over."""
    before = world.read(charge.budgets)
    with pytest.raises(StaleEpochError):
        world.write(charge.put_forward, SECOND, at=START, epoch=world.epoch - 1)

    assert before == world.read(charge.budgets)


def test_request_without_a_poll_costs_1_by_default(world: World):
    """A rendered page costs more."""
    before = levels(world)["default"]
    world.write(charge.bare, "default", at=START)
    world.write(charge.bare, "default", at=START, cost=5.0)

    assert 6.0 == before - levels(world)["default"]


def test_poll_waits_for_a_host_that_a_trial_asked(world: World):
    """The service pays later, and learns when the host was asked. A turn by a wrong clock is ignored."""
    world.watch()
    gaps = {"a.example": 5}
    claimed = [world.write(hosts.claim_turn, "a.example", 5, at)[0] for at in (START, START + 1)]

    refused = world.write(charge.charge_in_turns, grants(1), gaps, at=START + 4, epoch=world.epoch)
    (paid,), asked = world.write(charge.charge_in_turns, grants(1), gaps, at=START + 10, epoch=world.epoch)
    world.write(hosts.start, ["a.example"], START + 100)
    again = world.write(charge.charge_in_turns, grants(1), gaps, at=START + 20, epoch=world.epoch)

    assert [START, START + 5] == claimed
    assert ([None], ({"a.example": START + 5}, {})) == refused
    assert paid is not None
    assert (({}, {}), ({}, {})) == (asked, again[1])
