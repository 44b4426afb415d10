"""The planner on a manual clock: what it grants of a budget that binds, and when it leaves pages in peace."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from tests.planned import Service, make_watched, steady
from tidings.clock import DAY, HOUR, MINUTE, ManualClock
from tidings.estimation.learner import GammaLearner
from tidings.lab.gardener.medd import Medd
from tidings.model.interval import ExecutionInterval
from tidings.model.observed.poll_reason import PollReason, Why
from tidings.scheduling.learned import Learned
from tidings.scheduling.paced.turns import RoundRobin
from tidings.scheduling.policy import Population
from tidings.scheduling.price.policy import Price
from tidings.scheduling.price.wic import Contest, contest
from tidings.service.plan import price as pricing
from tidings.service.watch.needs import Deadline, Needs

NOBODY = np.random.default_rng(0)


def service(rates: list[float], a_day: float, days: int, clauses: str = "", **more: Any) -> Service:
    """Return a service on pages that change so many times a day."""
    start = ManualClock().now()
    pages = [make_watched(page, clauses, at=start) for page in range(1, len(rates) + 1)]
    return Service(pages, a_day, rates, steady(rates, days * DAY, start), **more)


def test_a_budget_that_binds_is_used():
    """Pages that would like several times as many looks: from the second day on the budget is used, each day and to 1.4 % in all."""
    made = service([0.1 * 1.2**page for page in range(30)], 100, 4)
    made.run(4 * DAY, tick=10 * MINUTE)
    days = np.bincount([(at - made.looks[0][0]) // DAY for at, _, _ in made.looks])

    assert (np.abs(days[1:] - 100) <= 6).all()
    assert days[1:].mean() == pytest.approx(100, rel=0.014)


def test_looks_that_cost_more_than_was_thought_make_the_price_rise():
    """Each takes two requests: the budget is used up, but that hides nothing: no queue stands, since the price makes pages wait longer."""
    made = service([0.1 * 1.2**page for page in range(30)], 100, 4, requests=2)
    made.run(4 * DAY, tick=10 * MINUTE)

    late = [at for at, *_ in made.looks if at > made.clock.now() - 2 * DAY]

    assert 90 < len(late) < 145  # a step may overdraw: the second request is paid for when it leaves
    assert list_prices(made)["trim"] > 1.5
    assert len(made.planner.due_pages(made.clock.now())) < 8


def test_what_the_budget_has_to_spare_goes_to_those_who_bid_most():
    """Three looks more than half of what can be saved, beside those that are due, go to the three pages that bid most of those that are not due, and no further."""
    rates = [0.1 * 1.2**page for page in range(30)]
    made = service(rates, 100, 5)
    made.run(DAY, tick=10 * MINUTE)
    before, now = len(made.looks), made.clock.now()
    due = made.planner.due_pages(now)
    made.bucket = replace(made.bucket, level=made.bucket.burst / 2 + len(due) + 3)
    last = [made.of(page)[-1] for page in range(1, 31)]
    bids = Price().bid(
        Price().begin(Population({"id": np.arange(1, 31), "rate": rates, "last_polled": last}), NOBODY), now, 0.0
    )
    made.step()
    best = [page for page in (np.argsort(-bids, kind="stable") + 1).tolist() if page not in due]

    assert best[:3] == [page for _, page, why in made.looks[before:] if why is Why.SPARE]
    assert len(due) + 3 == len(made.looks) - before


def test_where_the_budget_does_not_bind_nobody_is_asked_more_often_than_the_pace_says():
    """Nothing is filled, however full the bucket."""
    made = service([1.0] * 5, 5_000, 2)
    made.run(2 * DAY, tick=10 * MINUTE)

    assert made.planner.proposals.price == Price().floor
    assert not any(why is Why.SPARE for _, _, why in made.looks)
    assert len(made.looks) < 5 * 60


def test_spare_looks_keep_floors_hours_hosts_and_the_pace_of_the_floor():
    """None comes before the interval that a sentinel names, outside its hours, before the price of the pace says, or beside one of its host."""
    rates = [3.0] * 8
    start = ManualClock().now()
    clauses = ["", "Fetch on change between 4 hour and 1 day", "During daily 08:00 to 10:00", "", "", "", "", ""]
    pages = [make_watched(page, clauses[page - 1], host="one" if page > 5 else "", at=start) for page in range(1, 9)]
    made = Service(pages, 60, rates, steady(rates, 4 * DAY, start), pace=2 * HOUR)
    for _ in range(3):
        made.run(DAY, tick=10 * MINUTE)
        made.bucket = replace(made.bucket, level=made.bucket.burst)
    spare = [(at, page) for at, page, why in made.looks if why is Why.SPARE]
    gaps = {page: np.diff(made.of(page)) for page in range(1, 9)}
    at_once = [at for at, page in spare if page > 5]

    assert spare
    assert min(gaps[2]) >= 4 * HOUR
    assert all(8 * HOUR <= at % DAY < 10 * HOUR for at in made.of(3)[1:])
    assert min(min(gap) for page, gap in gaps.items() if page != 3) > HOUR / 2
    assert len(at_once) == len(set(at_once))


def test_ticks_come_at_their_time_whatever_is_filled():
    """A fixed interval is served at its ticks, and it is taken off what the price may spend."""
    start = ManualClock().now()
    pages = [make_watched(1, "Fetch every 2 hour", at=start), *(make_watched(page, at=start) for page in range(2, 20))]
    made = Service(pages, 60, [2.0] * 19, steady([2.0] * 19, 3 * DAY, start))
    made.run(3 * DAY, tick=10 * MINUTE)

    assert {2 * HOUR} == set(np.diff(made.of(1)[1:]).tolist())
    assert 0.97 * 180 <= len(made.looks) <= 180 + 30


def test_a_budget_that_cannot_keep_the_longest_waits_stretches_them_and_still_chooses():
    """Ten pages and five looks a day: waits of more than a day, none of more than eight, and the busy pages have more looks than the quiet ones."""
    made = service([0.05] * 8 + [5.0] * 2, 5, 30)
    made.run(30 * DAY, tick=3 * HOUR)
    later = made.looks[0][0] + 10 * DAY
    gaps = [np.diff([at for at in made.of(page) if at > later]) for page in range(1, 11)]

    assert made.planner.pricing.stretch > 2
    assert 9 * DAY >= max(gap.max() for gap in gaps) > 2 * DAY
    assert min(len(gaps[8]), len(gaps[9])) > 3 * max(len(gap) for gap in gaps[:8])


def list_prices(made: Service) -> dict[str, Any]:
    """Return what a service keeps of its price."""
    return made.planner.dump_prices() or {}


def test_price_and_trim_are_kept_over_a_restart():
    """Who is told what was kept goes on with it; what is old or unreadable is passed over."""
    made, later, old = (service([5.0] * 20, 60, 2) for _ in range(3))
    made.run(2 * DAY, tick=10 * MINUTE)
    kept = list_prices(made)
    later.planner.recall_price(kept, HOUR)
    old.planner.recall_price(kept, 2 * DAY)
    for each in (later, old):
        each.step()
        each.planner.recall_price({"trim": "none"}, 0)

    assert kept["trim"] != 1.0
    assert kept["trim"] == list_prices(later)["trim"]
    assert kept["steps"] == list_prices(later)["steps"]
    assert 1.0 == list_prices(old)["trim"]
    assert service([1.0], 5_000, 1).planner.dump_prices() is None


def test_wic_bids_for_an_epoch_where_it_earns_more(monkeypatch):
    """Once an epoch both are compared at the same spend; then pages wait as long as WIC lets them, the budget is kept, and the next epoch is compared
    again. Where the budget does not bind nothing is compared.
    """
    compared: list[tuple[int, bool]] = []

    def compare(policy: Price, state: Any, now: int, price: float) -> Contest:
        compared.append((now, len(compared) != 1))
        real = contest(policy, state, now, price)
        return replace(real, wic=real.price + (1 if compared[-1][1] else -1), epoch=6 * HOUR)

    monkeypatch.setattr(pricing, "contest", compare)
    rates = [0.1 * 1.3**page for page in range(20)]
    made, free = service(rates, 60, 1), service(rates, 50_000, 1)
    bids = []
    for _ in range(4):
        made.run(6 * HOUR, tick=10 * MINUTE)
        bids.append(made.planner.pricing.rival is not None)
    free.run(HOUR)

    assert [True, False, True, True] == bids
    assert 4 == len(compared)
    assert {6 * HOUR} == set(np.diff([at for at, _ in compared]).tolist())
    assert 0.9 * 60 <= len(made.looks) <= 60 + 30  # half a day's budget was there at the start
    assert list_prices(made)["wic"]
    assert free.planner.pricing.rival is None


def test_what_looks_teach_of_other_pages_of_their_host_moves_when_these_are_due():
    """Quick pages are found on a host once another one waits for hours: from the next hour on it is taken for one of them, and due sooner."""
    start = ManualClock().now()
    pages = [make_watched(number, host="h.example", at=start) for number in range(1, 7)]
    changes = steady([0.01, *[200.0] * 5], DAY, start)
    service = Service(pages, 10_000, changes=changes, policy=Learned(Price(), GammaLearner()), pace=3 * HOUR)
    late = 0
    for _ in range(6 * 60):
        service.run(MINUTE)
        late = late + 1 if service.planner.due_at(1) != service.planner.proposals.due(1) else 0
        assert late <= 1


def test_work_is_done_ahead_of_a_peak_although_nobody_has_looked_for_long():
    """Ten pages fall due together a day after their first look, and the budget pays for one an hour: time itself brings the peak near."""
    start = ManualClock().now()
    pages = [make_watched(number, at=start) for number in range(1, 11)]
    service = Service(pages, 24, burst=40, policy=Medd(DAY))
    service.run(DAY)
    first, ahead = service.looks[:10], service.looks[10:]

    assert {at for at, _, _ in first} == {start}
    assert 13 * HOUR < ahead[0][0] - start < 18 * HOUR
    assert len(ahead) > 5


@pytest.mark.parametrize(("a_day", "first"), [(1e6, 1), (10, 2)])
def test_the_poll_that_is_due_first_is_made_first_unless_not_all_can_be_made(a_day: float, first: int):
    """Page 1 is due sooner, with two others; page 2 alone completes a report, which counts where the budget is short."""
    needs = Needs()
    pages = [make_watched(n, "Fetch every 1 day") for n in (1, 2, 3)]
    service = Service(pages, a_day, policy=RoundRobin(), needs=needs)
    service.run(2 * MINUTE)
    now = service.clock.now()
    sooner, later = ExecutionInterval(now, now + HOUR), ExecutionInterval(now, now + 2 * HOUR)
    needs.settle("then", 1, [Deadline(page, 1, sooner, PollReason(Why.THEN), left=3) for page in (1, 3)])
    needs.settle("then", 2, [Deadline(2, 2, later, PollReason(Why.THEN))])
    service.clock.move_to(now + MINUTE)
    grants = service.planner.choose(now + MINUTE, service.gate, tokens=1, limit=1)

    assert [(first, Why.THEN)] == [(grant.page_id, grant.reason.why) for grant in grants]
