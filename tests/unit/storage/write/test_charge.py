"""What polls cost, and which budgets pay. `tests/contract/test_store.py` has what holds on both
products.
"""

from __future__ import annotations

import pytest

from tests.stores import SECOND, START, World
from tidings.errors import StaleEpochError, UnitError
from tidings.model.observed.poll_reason import PollReason, Why
from tidings.model.observed.unit import Grant
from tidings.model.watch.collection import budget_name
from tidings.model.watch.weight import share_of
from tidings.storage.people import accounts
from tidings.storage.watches import sentinels
from tidings.storage.write import charge

SHARED = budget_name("docs")


def grants(count: int, budget: str = "default") -> list[Grant]:
    """Return grants of page 1."""
    made = Grant(page_id=1, host="a.example", cost=1.0, reason=PollReason(Why.CHANGE), budget=budget)
    return [made] * count


def own(world: World, *, share: float | None) -> str:
    """Give the sentinel docs to Anna; return the name of her share, set if it is given."""
    world.watch("docs")
    anna = world.write(accounts.add, "anna", "editor", "", at=START).id
    world.write(sentinels.give, 1, anna)
    world.write(charge.set_budget, SHARED, rate_per_second=0.0, burst=5.0, at=START)
    if share is not None:
        world.write(charge.set_budget, share_of(anna), rate_per_second=0.5, burst=share, at=START)
    return share_of(anna)


def levels(world: World) -> dict[str, float]:
    """Return what each budget holds."""
    return {name: bucket.level for name, bucket in world.read(charge.budgets).items()}


def paid(world: World, *asked: Grant, at: int = START) -> list[bool]:
    """Return which grants are paid for."""
    return [one is not None for one in world.write(charge.charge, asked, at=at, epoch=world.epoch)]


def test_sixty_four_grants_are_one_charge(world: World):
    """One more is refused."""
    world.watch()

    assert [True] * charge.MOST_GRANTS == paid(world, *grants(charge.MOST_GRANTS))
    with pytest.raises(UnitError, match="65 grants"):
        paid(world, *grants(charge.MOST_GRANTS + 1))


def test_a_collection_pays_from_its_own_budget_and_from_the_share_of_its_owner(world: World):
    """And from the budget of all polls, like everything."""
    share = own(world, share=2.0)
    before = levels(world)

    assert [True, True, False] == paid(world, *grants(3, SHARED))
    assert {"default": 2.0, SHARED: 2.0, share: 2.0} == {
        name: before[name] - level for name, level in levels(world).items()
    }


def test_a_collection_whose_owner_has_no_share_pays_alone(world: World):
    """So does one that nobody owns."""
    own(world, share=None)

    assert [True] * 5 + [False] == paid(world, *grants(6, SHARED))


def test_a_collection_can_pay_no_more_than_the_share_of_its_owner(world: World):
    """As plans see it: the smaller level and the smaller rate; other classes see their own."""
    share = own(world, share=2.0)
    seen = world.read(charge.payable, at=START)

    assert (2.0, 0.0) == (seen[SHARED].level, seen[SHARED].rate)
    assert (2.0, 0.5) == (seen[share].level, seen[share].rate)
    world.write(charge.set_budget, SHARED, rate_per_second=9.0, burst=5.0, at=START)
    assert 0.5 == world.read(charge.payable, at=START)[SHARED].rate


def test_what_can_be_paid_is_as_of_an_instant(world: World):
    """Time has filled the budgets since they were written."""
    world.write(charge.set_budget, "shop", rate_per_second=1.0, burst=9.0, at=START)
    world.watch()
    paid(world, *grants(5, "shop"))

    assert [4.0, 6.0] == [world.read(charge.payable, at=START + at * SECOND)["shop"].level for at in (0, 2)]


def test_settings_delete_no_budget_of_a_collection(world: World):
    """It is set by its sentinel."""
    own(world, share=None)
    world.write(charge.set_budgets, {"default": (1.0, 9.0)}, at=START)

    assert {"default", SHARED} == levels(world).keys()


def test_a_new_budget_is_full(world: World):
    """It can be spent at once."""
    world.write(charge.set_budget, "shop", rate_per_second=0.0, burst=3.0, at=START)

    assert (3.0, START) == ((made := world.read(charge.budgets)["shop"]).level, made.at)


def test_a_further_request_of_another_page_is_not_paid(world: World):
    """A poll pays for its own page only, at the cost that is given, one unless told."""
    world.watch()
    (charged,) = world.write(charge.charge, grants(1), at=START, epoch=world.epoch)
    assert charged is not None
    before = levels(world)["default"]
    with pytest.raises(UnitError, match="not an open poll of page 2"):
        world.write(charge.extra, 2, "b.example", charged.poll_id, at=START, epoch=world.epoch)
    for cost in ({}, {"cost": 0.0}, {"cost": 2.5}):
        world.write(charge.extra, 1, "b.example", charged.poll_id, at=START, epoch=world.epoch, **cost)

    assert 3.5 == before - levels(world)["default"]


def test_a_clock_put_forward_by_a_stale_process_moves_nothing(world: World):
    """Its epoch is over."""
    before = world.read(charge.budgets)
    with pytest.raises(StaleEpochError):
        world.write(charge.put_forward, SECOND, at=START, epoch=world.epoch - 1)

    assert before == world.read(charge.budgets)


def test_a_request_of_no_poll_costs_one_unless_told(world: World):
    """A rendered page costs more."""
    before = levels(world)["default"]
    world.write(charge.bare, "default", "a.example", at=START, epoch=world.epoch)
    world.write(charge.bare, "default", "a.example", at=START, epoch=world.epoch, cost=5.0)

    assert 6.0 == before - levels(world)["default"]
