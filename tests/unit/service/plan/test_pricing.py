"""The price at which pages are polled, so that the budget lasts."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from tests.planned import Service, make_watched, steady
from tidings.clock import DAY, HOUR, MINUTE, ManualClock
from tidings.scheduling.paced.turns import RoundRobin
from tidings.service.plan.pricing import KEPT_FOR, MOST_STRETCH, Pricing

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
    pricing.recall(wild, KEPT_FOR + 1)
    before = pricing.trim.factor
    pricing.recall(wild, KEPT_FOR)

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
