"""The price at which pages are polled, so that the budget lasts."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from tests.planner import Service, make_watched, steady
from tidings.clock import DAY, HOUR, MINUTE, ManualClock
from tidings.scheduling.paced.turns import RoundRobin
from tidings.service.plan.pricing import MOST_STRETCH, PRICES_EXPIRE_AFTER, Pricing

RATES = [0.1 * 1.3**page for page in range(20)]


def make_service(a_day: float, clauses: str = "", **more: Any) -> Service:
    """Return a service whose pages change at these rates and whose budget pays for so many polls a
    day.
    """
    pages = [make_watched(page, clauses, at=ManualClock().now()) for page in range(1, len(RATES) + 1)]
    return Service(pages, a_day, RATES, **more)


def price_of(service: Service) -> Pricing:
    """Return the price after a step."""
    service.step()
    return service.planner.pricing


def test_short_budget_has_a_price():
    """The shorter, the higher. With an ample budget the price is the floor."""
    short, shorter, long = (make_service(a_day) for a_day in (60, 30, 50_000))

    assert [True, True, False] == [price_of(each).binds for each in (short, shorter, long)]
    assert shorter.planner.proposals.price > short.planner.proposals.price > long.planner.proposals.price
    assert long.planner.pricing.next_at is None
    assert long.planner.pricing.memory() is None


def test_price_is_computed_every_ten_minutes():
    """In between nothing is computed."""
    service = make_service(60)
    pricing = price_of(service)
    now = service.clock.now()

    assert now + 10 * MINUTE == pricing.next_at
    assert not pricing.renew(now + 10 * MINUTE - 1)
    assert now + 10 * MINUTE == pricing.next_at

    pricing.renew(now + 10 * MINUTE)

    assert now + 20 * MINUTE == pricing.next_at


def test_policy_without_prices_has_no_price():
    """Round-robin ignores the worth of pages."""
    service = Service([make_watched(1)], 10, policy=RoundRobin(HOUR))

    assert not price_of(service).renew(service.clock.now() + DAY)
    assert not service.planner.pricing.binds


def test_fixed_intervals_are_subtracted_from_the_budget():
    """Fixed intervals are promised: 24 polls a day for each page, per microsecond."""
    service = make_service(10_000, "Fetch every 1 hour")
    pricing = price_of(service)

    assert pytest.approx(len(RATES) * 24 / DAY) == pricing.promised


def test_hopeless_budget_stretches_the_longest_waits():
    """At most a quarter of the budget goes to pages at their longest wait."""
    pricing = price_of(make_service(2))

    assert 1 < pricing.stretch <= MOST_STRETCH
    assert 1.0 == price_of(make_service(60)).stretch


def test_stretch_is_limited():
    """Even with almost no budget, a wait of a day becomes at most a year."""
    assert MOST_STRETCH == price_of(make_service(1e-6)).stretch


def test_polls_below_the_price_count_almost_fully():
    """A price that is always too high then falls."""
    service = make_service(60)
    pricing = price_of(service)
    spent = pricing._spent
    pricing.note_spent(1.0)
    pricing.note_spent(1.0, below_price=True)

    assert pytest.approx(spent + 1.97) == pricing._spent


def test_memory_is_limited_and_expires_after_a_day():
    """A trim is limited to its bounds, and unreadable steps are left out."""
    wild = {"trim": 40.0, "stretch": 0.1, "steps": [[1, 2], ["a", 2], [3], 4, [5, 6.5]]}
    pricing = price_of(make_service(60))
    pricing.recall(wild, PRICES_EXPIRE_AFTER + 1)
    before = pricing.trim.factor
    pricing.recall(wild, PRICES_EXPIRE_AFTER)

    assert (1.0, 2.0, 1.0) == (before, pricing.trim.factor, pricing.stretch)
    assert [(1.0, 2.0), (5.0, 6.5)] == list(pricing.trim.steps)


def test_pages_with_hours_need_less_budget():
    """The same budget is then less short."""
    whole, part = make_service(60), make_service(60, "During daily 08:00 to 10:00")

    assert price_of(whole).market is not None
    assert price_of(part).market is not None
    assert whole.planner.pricing.market.spend >= part.planner.pricing.market.spend  # type: ignore[union-attr]
    assert whole.planner.proposals.price > part.planner.proposals.price


def test_steps_without_polls_do_not_change_the_trim():
    """A service that was suspended for hours knows nothing about them."""
    start = ManualClock().now()
    service = make_service(60, changes=steady(RATES, 2 * DAY, start))
    service.run(HOUR)
    trim = service.planner.pricing.trim
    service.clock.move_to(service.clock.now() + 5 * HOUR)
    service.bucket = replace(service.bucket, level=0.0)
    service.step()

    assert trim == service.planner.pricing.trim


def share(*parts: Service) -> None:
    """Let planners read each other's notes; the first one leads."""
    notes = {number: part.planner.pricing.write_note() for number, part in enumerate(parts)}
    for number, part in enumerate(parts):
        part.planner.planners = len(parts)
        part.planner.pricing.read_notes({n: text for n, text in notes.items() if n != number}, 0 if number else None)


def make_parts(a_day: float, count: int, clauses: str = "", **more: Any) -> list[Service]:
    """Return services that have the pages of `make_service` in turn."""
    found = []
    for part in range(count):
        numbers = [*range(part, len(RATES), count)]
        pages = [make_watched(number + 1, clauses, at=ManualClock().now()) for number in numbers]
        found.append(Service(pages, a_day, [RATES[number] for number in numbers], **more))
    return found


@pytest.mark.parametrize("count", [2, 3, 5])
@pytest.mark.parametrize("a_day", [2, 30, 60, 50_000])
def test_planners_that_share_the_pages_have_the_price_of_one(a_day, count):
    """So their waits are the same, also where the longest ones are stretched."""
    service, parts = make_service(a_day), make_parts(a_day, count)
    for _ in range(5):
        for part in (*parts, service):
            part.step()
            share(*parts)
            part.clock.move_to(part.clock.now() + 10 * MINUTE)

    whole = service.planner.pricing
    prices = [part.planner.proposals.price for part in parts]
    leader = parts[0].planner.pricing.market
    assert {prices[0]} == {*prices}
    assert whole.market is not None
    assert leader is not None
    assert pytest.approx(whole.market.price, rel=0.001) == leader.price
    assert pytest.approx([whole.stretch] * count, rel=0.01) == [part.planner.pricing.stretch for part in parts]


def test_fixed_intervals_of_others_are_subtracted_too():
    """They are paid by the same budget."""
    alone, with_fixed = (make_parts(300, 2)[0] for _ in range(2))
    fixed = make_parts(300, 2, "Fetch every 1 hour")[1]
    for _ in range(3):
        for service in (alone, with_fixed, fixed):
            service.step()
        share(with_fixed, fixed)

    assert with_fixed.planner.proposals.price > alone.planner.proposals.price


def test_planners_spend_one_budget_at_one_price():
    """Over three days the price is that of one planner, and no more is spent; one that leaves is
    made up for.
    """
    start = ManualClock().now()
    changes = steady(RATES, 5 * DAY, start)
    whole, parts = make_service(60, changes=changes), make_parts(60, 2, changes=changes)
    bucket = parts[0].bucket
    for _ in range(3 * 24 * 12):
        for part in parts:
            part.bucket = bucket
            part.step()
            bucket = part.bucket
            part.clock.move_to(part.clock.now() + 5 * MINUTE)
        share(*parts)
    whole.run(3 * DAY)

    assert pytest.approx(whole.planner.proposals.price, rel=0.05) == parts[0].planner.proposals.price
    assert pytest.approx(len(whole.polls), rel=0.05) == sum(len(part.polls) for part in parts)


def test_price_of_before_counts_until_all_others_have_left_a_note():
    """A planner that begins does not spend what belongs to pages it does not know."""
    first, second = make_parts(30, 2)
    price = price_of(make_service(30))._proposals.price
    first.planner.recall_price({"trim": 1.0, "stretch": 1.0, "price": price}, HOUR)
    first.planner.pricing.read_notes({1: second.planner.pricing.write_note()}, None)
    first.step()

    assert price == first.planner.proposals.price
    assert price > price_of(make_parts(30, 2)[0])._proposals.price
