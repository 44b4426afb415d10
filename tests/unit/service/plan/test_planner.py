"""The planner on a manual clock: its grants under a short budget, and its limits."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from tests.planner import GivenRates, Service, make_watched, steady
from tidings.clock import DAY, HOUR, MINUTE, SECOND, ManualClock
from tidings.estimation.learner import GammaLearner
from tidings.lab.gardener.medd import Medd
from tidings.model.interval import ExecutionInterval
from tidings.model.observed.page import NO_FURTHER
from tidings.model.observed.poll_reason import PollReason, Why
from tidings.model.observed.unit import Estimate, PollRecord, Unit
from tidings.scheduling.learned import Learned
from tidings.scheduling.paced.turns import RoundRobin
from tidings.scheduling.policy import NEVER, Population
from tidings.scheduling.price.policy import Price
from tidings.scheduling.price.wic import Contest, contest
from tidings.scheduling.timetable import RATE
from tidings.service.plan import pricing
from tidings.service.plan.planner import EXPECTED, FILLED_EVERY
from tidings.service.watch.page_schedule import Deadline, Needs
from tidings.service.watch.watchlist import WatchedPage
from tidings.storage.observed.estimates import LEARNED

NOBODY = np.random.default_rng(0)


def service(rates: list[float], a_day: float, days: int, clauses: str = "", **more: Any) -> Service:
    """Return a service with pages that change at these rates a day."""
    start = ManualClock().now()
    pages = [make_watched(page, clauses, at=start) for page in range(1, len(rates) + 1)]
    return Service(pages, a_day, rates, steady(rates, days * DAY, start), **more)


NOW = ManualClock().now()


def late(page_id: int, clauses: str = "", *, by: int = 0, render: bool = False, host: str = "") -> WatchedPage:
    """Return a page whose tick, or whose turn an hour after its last poll, is overdue by `by`."""
    page = make_watched(page_id, clauses, host=host, at=NOW - DAY)
    polled = NOW - HOUR - by
    page.identity = replace(page.identity, render="browser" if render else "")
    page.state = replace(page.state, last_seq=1, polls=1, polled_at=polled, checked_at=polled)
    (sub,) = page.subscriptions.values()
    sub.row = replace(sub.row, taken=(1,), next_tick=NOW - by if sub.interval is not None else None)
    return page


def in_turn(*pages: WatchedPage, **more: Any) -> Service:
    """Return a service that polls pages in turn, an hour after their last poll."""
    return Service([*pages], 1e6, policy=RoundRobin(HOUR), **more)


def test_page_is_due_at_its_turn():
    """A removed page is never due."""
    service = in_turn(late(1, by=MINUTE), late(2, by=-MINUTE))
    planner = service.planner

    assert {1} == planner.due_pages(NOW)
    assert [NOW - MINUTE, NOW + MINUTE, None] == [planner.due_at(page) for page in (1, 2, 9)]

    del service.pages[1]
    planner.touch([1])

    assert (set(), None) == (planner.due_pages(NOW), planner.due_at(1))


def test_next_due_time_is_that_of_a_page_or_a_paused_host():
    """A page that is already due does not count unless its host is paused, nor does a page in
    flight.
    """
    service = in_turn(late(1, by=-MINUTE), late(2, by=-HOUR), late(3, by=DAY))
    planner = service.planner

    assert NOW + MINUTE == planner.next_due(NOW, service.gate)

    service.gate.pause("h3.example", NOW + 7)

    assert NOW + 7 == planner.next_due(NOW, service.gate)

    assert NOW + MINUTE == planner.next_due(NOW + 7, service.gate)

    planner.reserve(1)
    planner.reserve(3)

    assert NOW + HOUR == planner.next_due(NOW, service.gate)
    assert planner.next_due(NOW + HOUR, service.gate) is None


def test_coming_polls_are_listed_in_order():
    """Each has its cost and the time since the last poll. While a page waits, the list is empty."""
    pages = (late(1, by=-HOUR // 2), late(2, by=-MINUTE, render=True), late(3, by=-2 * HOUR), late(4, by=-MINUTE))
    service = in_turn(*pages, render_cost=3.0)
    planner = service.planner
    coming = planner.list_coming(NOW, NOW + HOUR)

    assert [(2, 3.0, HOUR), (4, 1.0, HOUR), (1, 1.0, HOUR)] == [(one.page_id, one.cost, one.gap) for one in coming]
    assert (NOW + MINUTE, "h2.example", "default") == (coming[0].at, coming[0].host, coming[0].budget)
    assert [] == planner.list_coming(NOW, NOW + MINUTE)

    planner.reserve(4)

    assert [2, 1] == [one.page_id for one in planner.list_coming(NOW, NOW + HOUR)]

    planner.force(3)

    assert [] == planner.list_coming(NOW, NOW + HOUR)


def test_unpolled_page_has_no_gap():
    """The gap is the time since the last poll."""
    page = late(1, by=-MINUTE)
    service = in_turn(page, late(2, by=-DAY))
    service.planner.due_pages(NOW)
    page.state = replace(page.state, checked_at=None)

    assert [0] == [one.gap for one in service.planner.list_coming(NOW, NOW + HOUR)]


def test_ticks_differ_from_turns():
    """The planner knows the next tick after an instant, and the pages with one."""
    service = in_turn(
        late(1, "Fetch every 1 hour", by=-MINUTE),
        late(2, by=-MINUTE),
        late(3, "Fetch every 1 hour", by=0),
        late(4),
    )
    planner = service.planner
    service.pages[4].subscriptions.clear()
    planner.due_pages(NOW)

    assert [NOW + MINUTE, NEVER] == [planner.next_tick(at) for at in (NOW, NOW + MINUTE)]
    assert [True, False, True, False, False] == [planner.has_tick(page) for page in (1, 2, 3, 4, 9)]


def test_requested_page_is_due_until_its_request_is_withdrawn():
    """A new page can be requested before it is in the plan."""
    service = in_turn(late(1, by=-MINUTE))
    planner = service.planner
    planner.force(1)

    assert {1} == planner.due_pages(NOW)

    planner.unforce(1)

    assert set() == planner.due_pages(NOW)

    planner.force(1)
    service.pages[2] = late(2, by=-MINUTE)
    planner.force(2)

    assert {1, 2} == planner.due_pages(NOW)

    service.pages[3] = late(3, by=-MINUTE)
    planner.force(3)
    planner.unforce(3)

    assert {1, 2} == planner.due_pages(NOW)


def test_page_in_flight_is_free_once_its_poll_is_observed():
    """The cost of the poll is known then. A unit without a page changes nothing."""
    service = in_turn(late(1), late(2))
    planner = service.planner
    planner.due_pages(NOW)
    spent: list[tuple[float, bool]] = []
    planner.pricing.note_spent = lambda cost, *, below_price=False: spent.append((cost, below_price))  # type: ignore[method-assign]
    planner.reserve(1)
    planner.observe(Unit(at=NOW, epoch=1))

    assert planner.is_busy(1)

    record = PollRecord(poll_id=1, page_id=1, finished_at=NOW, outcome="error", text_changed=False, requests=3)
    planner.observe(Unit(at=NOW, epoch=1, page=service.pages[1].state, poll=record))

    assert ([(3.0, False)], False) == (spent, planner.is_busy(1))

    planner.reserve(2)
    planner.observe(Unit(at=NOW, epoch=1, page=service.pages[2].state))

    assert (1, False) == (len(spent), planner.is_busy(2))


def test_second_poll_is_due_soon_after_the_first():
    """The poll of a new version asks for it. Once it was made, the page waits for its turn."""
    page = late(1)
    planner = in_turn(page).planner
    planner.due_pages(NOW)
    record = PollRecord(poll_id=1, page_id=1, finished_at=NOW, outcome="changed", text_changed=True, requests=1)
    asked = Estimate(page_id=1, name=LEARNED, state={"second_at": NOW + MINUTE}, at=NOW)
    page.state = replace(page.state, polled_at=NOW, checked_at=NOW)
    planner.touch([1])
    planner.observe(Unit(at=NOW, epoch=1, page=page.state, poll=record, estimates=(asked,)))

    assert NOW < (planner.due_at(1) or 0) <= NOW + MINUTE

    page.state = replace(page.state, polled_at=NOW + MINUTE, checked_at=NOW + MINUTE)
    planner.touch([1])
    planner.observe(Unit(at=NOW + MINUTE, epoch=1, page=page.state, poll=replace(record, finished_at=NOW + MINUTE)))

    assert NOW + MINUTE + HOUR == planner.due_at(1)


def test_time_in_which_a_host_was_paused_is_no_interval():
    """The next poll of its pages teaches no rate; that of other hosts' pages does."""
    learner = RecordingRates([24.0, 24.0])
    start = ManualClock().now()
    pages = [make_watched(1, host="one", at=start), make_watched(2, host="two", at=start)]
    made = Service(pages, 1e6, changes=steady([24.0] * 2, DAY, start), policy=Learned(Price(pace=HOUR), learner))
    made.run(6 * HOUR)
    learner.interrupted.clear()
    made.planner.interrupt("one.example")
    made.run(6 * HOUR)
    by_row = {row: [broken for each, broken in learner.interrupted if each == row] for row in (0, 1)}

    assert [True, False] == by_row[0][:2]
    assert [False, False] == by_row[1][:2]
    assert not any(by_row[0][1:] + by_row[1])


def test_time_before_a_page_was_watched_again_is_no_interval():
    """Nobody polled it meanwhile."""
    learner = RecordingRates([24.0])
    start = ManualClock().now()
    page = make_watched(1, at=start)
    made = Service([page], 1e6, changes=steady([24.0], DAY, start), policy=Learned(Price(pace=HOUR), learner))
    made.run(6 * HOUR)
    learner.interrupted.clear()
    watch_again(made, page)
    made.run(6 * HOUR)
    broken = [is_broken for _, is_broken in learner.interrupted]

    assert [True, False] == broken[:2]
    assert not any(broken[1:])


class RecordingRates(GivenRates):
    """Records whether the time before each poll was interrupted, by the row of its page."""

    def __init__(self, rates: list[float]) -> None:
        super().__init__(rates)
        self.interrupted: list[tuple[int, bool]] = []

    def observe(self, known: Any, *polls: Any) -> Any:
        rows, _, _, _, interrupted, _ = polls
        self.interrupted += zip(rows.tolist(), interrupted.tolist(), strict=True)
        return known


def test_held_page_waits():
    """The page is held after a failure that was not its own."""
    service = in_turn(late(1))
    service.planner.due_pages(NOW)
    service.planner.reserve(1)
    service.planner.hold(1, NOW + MINUTE)

    assert (set(), NOW + MINUTE) == (service.planner.due_pages(NOW), service.planner.due_at(1))
    assert not service.planner.is_busy(1)


def test_page_that_is_watched_again_is_no_longer_held():
    """What was known of the page is forgotten with its last sentinel."""
    page = late(1)
    service = in_turn(page)
    service.planner.due_pages(NOW)
    service.planner.hold(1, NOW + MINUTE)
    watch_again(service, page)

    assert {1} == service.planner.due_pages(NOW)


def watch_again(service: Service, page: WatchedPage) -> None:
    """Remove a page from the plan, and add it again."""
    page_id = page.state.page_id
    del service.pages[page_id]
    service.planner.touch([page_id])
    service.planner.due_pages(NOW)
    service.pages[page_id] = page
    service.planner.touch([page_id])


def test_expected_update_of_a_removed_page_is_no_deadline():
    """Deadlines of other owners stay until these withdraw them."""
    needs = Needs()
    page = late(1)
    service = in_turn(page, needs=needs)
    service.planner.due_pages(NOW)
    needs.settle(EXPECTED, 1, [Deadline(1, 1, ExecutionInterval(NOW, NOW + DAY), PollReason(Why.EXPECTED))])
    del service.pages[1]
    service.planner.touch([1])
    service.planner.due_pages(NOW)

    assert needs.begins(1) is None


def test_second_poll_that_was_pending_is_due_after_a_restart():
    """The planner is notified of it while the page is in the plan."""
    planner = in_turn(late(1, by=-MINUTE)).planner

    assert NOW + MINUTE == planner.due_at(1)

    planner.poll_again(1, NOW + SECOND)

    assert (planner.due_at(1) or 0) <= NOW + SECOND


def test_only_a_page_in_the_plan_can_be_reserved():
    """A reserved page is busy."""
    planner = in_turn(late(1)).planner
    planner.due_pages(NOW)

    assert [True, False, False] == [planner.reserve(1), planner.reserve(1), planner.reserve(9)]
    assert [True, False] == [planner.is_busy(1), planner.is_busy(9)]


def test_cost_is_limited_by_the_burst_of_the_class():
    """A rendered page costs more than 1."""
    service = in_turn(late(1, "Class shop", render=True), late(2), render_cost=5.0, classes={"shop": 3.0})
    planner = service.planner
    first, second = service.pages[1], service.pages[2]

    assert ["shop", "default"] == [planner.budget(page) for page in (first, second)]
    assert [3.0, 5.0, 1.0] == [
        planner.cost(first, "shop"),
        planner.cost(first),
        planner.cost(second),
    ]
    planner.due_pages(NOW)
    assert {"shop": 3.0} == planner.wanting(NOW)


def test_new_class_pays_at_once():
    """A class that is set again has only a new burst."""
    service = in_turn(late(1, "Class shop", render=True), render_cost=5.0)
    planner = service.planner

    assert (False, "default") == (planner.has_classes, planner.budget(service.pages[1]))

    planner.set_class("shop", 2.0)
    planner.touch([1])
    (grant,) = planner.choose(NOW, service.gate, tokens=9.0, limit=9)

    assert (True, "shop", 2.0) == (planner.has_classes, grant.budget, grant.cost)

    planner.set_class("shop", 4.0)
    planner.release(1)
    (grant,) = planner.choose(NOW, service.gate, tokens=9.0, limit=9)

    assert ("shop", 4.0) == (grant.budget, grant.cost)


def test_wanted_tokens_of_a_class_are_those_of_its_most_expensive_due_page():
    """Pages that are not due, and pages without a class, need none."""
    pages = (late(1, "Class shop"), late(2, "Class shop", render=True), late(3), late(4, "Class news", by=-HOUR))
    planner = in_turn(*pages, render_cost=5.0, classes={"shop": 9.0, "news": 9.0}).planner
    planner.due_pages(NOW)

    assert {"shop": 5.0} == planner.wanting(NOW)


def test_poll_that_is_cheaper_than_one_needs_its_cost_only():
    """A class that saves up less than a whole poll pays for one all the same."""
    planner = in_turn(late(1, "Class shop"), classes={"shop": 0.5}).planner
    planner.due_pages(NOW)

    assert {"shop": 0.5} == planner.wanting(NOW)


def test_fixed_intervals_are_promised_their_cost():
    """The price divides what is left. A page on change is promised nothing."""
    service = Service([late(1, "Fetch every 2 hour", render=True), late(2)], 1e6, [1.0, 1.0], render_cost=3.0)
    service.planner.due_pages(NOW)

    assert 3.0 / (2 * HOUR) == service.planner.pricing.promised


def test_pages_missed_in_a_long_pause_are_spread():
    """Pages that are due for less than a second, and requested pages, are not spread."""
    service = in_turn(
        *(late(page, by=HOUR + page) for page in range(1, 201)), late(201, by=MINUTE // 120), spreads=True
    )
    planner = service.planner
    planner.force(200)
    planner.catch_up(NOW)
    dues = {page: planner.due_at(page) for page in service.pages}

    assert NOW - MINUTE // 120 == dues[201]
    assert 200 in planner.due_pages(NOW)
    assert max(due for due in dues.values() if due is not None) > NOW


@pytest.mark.parametrize(("by", "is_spread"), [(SECOND - 1, False), (SECOND, True)])
def test_page_that_is_due_for_a_second_was_missed(by: int, is_spread: bool):
    """A shorter delay is no pause of the service."""
    service = in_turn(*(late(page, by=by) for page in range(1, 101)), spreads=True)
    exact = [page for page in service.pages if NOW - by == service.planner.due_at(page)]
    service.planner.catch_up(NOW)
    dues = [service.planner.due_at(page) or 0 for page in exact]

    assert exact
    assert [is_spread] * len(exact) == [due > NOW for due in dues]


def learning(*pages: WatchedPage) -> Service:
    """Return a service that learns how often its pages change."""
    return Service([*pages], 1e6, policy=Learned(Price(), GammaLearner()))


def test_learned_rates_survive_a_restart():
    """A page that is known to change often is due sooner at once; what is learned is returned once,
    to be stored.
    """
    memory = {RATE: {"shape": 4000.0, "scale": 100.0, "prior": [1.0, 1.0], "seen": 100, "looks": 100}}
    service = learning(late(1), late(2))
    new = learning(late(1), late(2)).planner.due_at(1) or 0
    service.planner.recall({1: memory})

    assert (service.planner.due_at(1) or 0) < new

    service.planner.recall({2: memory})

    assert service.planner.due_at(1) == service.planner.due_at(2)

    service.step()
    service.planner.due_pages(NOW)

    assert [{1, 2}, set()] == [set(service.planner.memories()) for _ in range(2)]


def test_page_is_due_in_the_step_that_lowers_the_price(monkeypatch: pytest.MonkeyPatch):
    """The page waits longer at a higher price."""
    made = Service([late(1)], 1e6, [1.0])
    planner = made.planner
    prices = [1e6, Price().floor]

    def renew(_now: int) -> bool:
        planner.proposals.price = prices.pop(0)
        return True

    monkeypatch.setattr(planner.pricing, "renew", renew)

    assert [set(), {1}] == [planner.due_pages(NOW) for _ in range(2)]


def test_pace_of_a_page_on_change_is_the_time_between_its_polls():
    """Other pages, and those without a poll, have no pace."""
    service = in_turn(late(1), late(2, "Fetch every 1 hour"))
    planner = service.planner

    assert [HOUR, None, None] == [planner.pace(page) for page in (1, 2, 9)]

    service.pages[1].state = replace(service.pages[1].state, checked_at=None)

    assert planner.pace(1) is None


def test_page_after_its_hours_waits_for_the_next_day():
    """The page is no longer due at the end of its hours."""
    midnight = NOW // DAY * DAY
    page = late(1, "During daily 08:00 to 10:00")
    page.state = replace(page.state, polled_at=midnight, checked_at=midnight)
    planner = in_turn(page).planner

    assert {1} == planner.due_pages(midnight + 9 * HOUR)
    assert set() == planner.due_pages(midnight + 10 * HOUR)
    assert midnight + DAY + 8 * HOUR == planner.due_at(1)


def test_expired_deadline_is_no_reason_to_poll():
    """Deadlines expire when due pages are listed."""
    needs = Needs()
    service = in_turn(late(1, by=-HOUR // 2), needs=needs)
    needs.settle("then", 1, [Deadline(1, 1, ExecutionInterval(NOW, NOW + MINUTE), PollReason(Why.THEN))])

    assert {1} == service.planner.due_pages(NOW)
    assert set() == service.planner.due_pages(NOW + MINUTE + 1)


def test_tick_served_from_storage_needs_no_poll():
    """A page in flight is not served."""
    page = late(1, "Fetch every 1 hour", by=HOUR)
    page.state = replace(page.state, checked_at=NOW - HOUR)
    planner = in_turn(page).planner

    assert [1] == planner.servable()

    planner.reserve(1)

    assert [] == planner.servable()


def test_short_budget_is_used_completely():
    """The pages would use several times as many polls: from the second day on, the budget is used
    each day, and to 1.4 % in total.
    """
    made = service([0.1 * 1.2**page for page in range(30)], 100, 4)
    made.run(4 * DAY, tick=10 * MINUTE)
    days = np.bincount([(at - made.polls[0][0]) // DAY for at, _, _ in made.polls])

    assert (np.abs(days[1:] - 100) <= 6).all()
    assert days[1:].mean() == pytest.approx(100, rel=0.014)


def test_extra_requests_raise_the_price():
    """Each poll needs two requests: the budget is used, and no queue builds up, since a higher
    price makes pages wait longer.
    """
    made = service([0.1 * 1.2**page for page in range(30)], 100, 4, requests=2)
    made.run(4 * DAY, tick=10 * MINUTE)

    late = [at for at, *_ in made.polls if at > made.clock.now() - 2 * DAY]

    assert 90 < len(late) < 145  # a step may overdraw: the second request is paid for when it leaves
    assert list_prices(made)["trim"] > 1.5
    assert len(made.planner.due_pages(made.clock.now())) < 8


def test_preferred_page_is_polled_once_before_higher_bids():
    """Afterwards its bid is compared as before."""
    made = service([0.1 * 1.2**page for page in range(30)], 100, 5)
    made.run(DAY, tick=10 * MINUTE)
    made.bucket = replace(made.bucket, level=0.0)
    made.clock.move_to(made.clock.now() + 2 * HOUR)
    due = sorted(made.planner.due_pages(made.clock.now()))
    made.bucket = replace(made.bucket, level=1.0, at=made.clock.now())
    last = due[np.argmin(made.planner.proposals.bids(np.array(due), made.clock.now(), 0.0))]
    made.planner.prefer([last])
    made.step()
    assert last == made.polls[-1][1]
    made.clock.move_to(made.clock.now() + 20 * DAY)
    made.bucket = replace(made.bucket, level=1.0, at=made.clock.now())
    assert last in made.planner.due_pages(made.clock.now())
    made.step()
    assert last != made.polls[-1][1]


def test_page_that_is_watched_again_is_no_longer_preferred():
    """Its bid is compared with the others."""
    made = service([0.1 * 1.2**page for page in range(30)], 100, 5)
    made.run(DAY, tick=10 * MINUTE)
    made.clock.move_to(made.clock.now() + 2 * HOUR)
    due = sorted(made.planner.due_pages(made.clock.now()))
    last = due[np.argmin(made.planner.proposals.bids(np.array(due), made.clock.now(), 0.0))]
    made.planner.prefer([last])
    watch_again(made, made.pages[last])
    made.bucket = replace(made.bucket, level=1.0, at=made.clock.now())
    made.step()

    assert last != made.polls[-1][1]


def test_redirected_page_costs_another_request():
    """Each time the budget did not suffice adds one more, up to the burst of its class."""
    made = service([1.0], 100, 1)
    page = made.pages[1]
    assert 1.0 == made.planner.cost(page)
    page.state = replace(page.state, final_url="http://h1.example/elsewhere")
    assert 2.0 == made.planner.cost(page)
    page.state = replace(page.state, final_url="", kind="busy", reason=f"{NO_FURTHER}: none is left", failures=3)
    assert 4.0 == made.planner.cost(page)
    made.planner.set_class("small", 3.0)
    assert 3.0 == made.planner.cost(page, "small")
    page.state = replace(page.state, reason="the server answered 429")
    assert 1.0 == made.planner.cost(page)


def test_poll_costs_at_most_what_the_budget_saves_up():
    """A page that leads elsewhere is polled although only one request can be saved up, and the
    other page does not wait for it.
    """
    made = service([1.0, 1.0], 100, 1, burst=1.0)
    page = made.pages[1]
    page.state = replace(page.state, final_url="http://h1.example/elsewhere")

    assert 1.0 == made.planner.cost(page)

    made.run(DAY // 2, tick=10 * MINUTE)

    assert len(made.of(1)) > 1
    assert len(made.of(2)) > 1


def test_spare_budget_goes_to_the_highest_bids():
    """Tokens above half of the burst, here three, pay for the three pages with the highest bids
    that are not due.
    """
    rates = [0.1 * 1.2**page for page in range(30)]
    made = service(rates, 100, 5)
    made.run(DAY, tick=10 * MINUTE)
    before, now = len(made.polls), made.clock.now()
    due = made.planner.due_pages(now)
    made.bucket = replace(made.bucket, level=made.bucket.burst / 2 + len(due) + 3)
    last = [made.of(page)[-1] for page in range(1, 31)]
    bids = Price().bid(
        Price().begin(Population({"id": np.arange(1, 31), "rate": rates, "last_polled": last}), NOBODY), now, 0.0
    )
    made.step()
    best = [page for page in (np.argsort(-bids, kind="stable") + 1).tolist() if page not in due]

    assert best[:3] == [page for _, page, why in made.polls[before:] if why is Why.SPARE]
    assert len(due) + 3 == len(made.polls) - before


def test_poll_below_the_price_counts_as_one_only_once(monkeypatch: pytest.MonkeyPatch):
    """The next poll of the same page is paid for as any other."""
    made = service([0.1 * 1.2**page for page in range(30)], 100, 5)
    made.run(DAY, tick=10 * MINUTE)
    spent: list[bool] = []
    monkeypatch.setattr(
        made.planner.pricing, "note_spent", lambda _cost, *, below_price=False: spent.append(below_price)
    )
    before = len(made.polls)
    made.bucket = replace(made.bucket, level=made.bucket.burst / 2 + len(made.planner.due_pages(made.clock.now())) + 3)
    made.step()
    spare = [page for _, page, why in made.polls[before:] if why is Why.SPARE]

    assert 3 == len(spare) == sum(spent)

    made.clock.move_to(made.clock.now() + SECOND)
    made.bucket = replace(made.bucket, level=10.0)
    for page in spare:
        made.planner.force(page)
    spent.clear()
    made.step()

    assert [False] * 3 == spent


def short() -> tuple[Service, int]:
    """Return a service whose budget binds, and the present; nothing is due, and it is time to spend
    what is spare.
    """
    made = service([0.1 * 1.2**page for page in range(30)], 100, 5)
    made.run(DAY, tick=10 * MINUTE)
    made.clock.move_to(made.clock.now() + 10 * MINUTE)
    now = made.clock.now()
    for grant in made.planner.choose(now, made.gate, tokens=99, limit=99):
        made.planner.hold(grant.page_id, now + DAY)
    made.clock.move_to(now + FILLED_EVERY)
    return made, made.clock.now()


def choose(made: Service, *, limit: int = 99, spare: float = 99.0, only: set[int] | None = None) -> list[Why]:
    """Return why pages are polled now."""
    now = made.clock.now()
    grants = made.planner.choose(now, made.gate, tokens=99, limit=limit, spare=spare, only=only)
    return [grant.reason.why for grant in grants]


def test_spare_budget_is_spent_once_a_minute():
    """So is less than nothing, and a budget of one poll."""
    for spare, polls in ((1.0, 1), (2.5, 2), (0.0, 0), (-1.0, 0)):
        made, now = short()

        assert made.planner.fills(now)
        assert [Why.SPARE] * polls == choose(made, spare=spare)
        assert [False, True] == [made.planner.fills(now + FILLED_EVERY - later) for later in (1, 0)]


def test_spare_budget_is_spent_on_if_polls_were_the_limit():
    """What the limit left is spent in the next step; without a budget nothing is left."""
    made, now = short()

    assert [Why.SPARE] * 2 == choose(made, limit=2)
    assert made.planner.fills(now)

    assert [] == choose(made, limit=0, spare=0.0)
    assert not made.planner.fills(now)


def test_due_pages_leave_fewer_spare_polls():
    """Both share the limit of a step."""
    made, _ = short()
    made.planner.force(min(made.pages))

    assert [Why.ASKED, Why.SPARE, Why.SPARE] == choose(made, limit=3)


def test_only_pages_that_may_be_chosen_are_polled():
    """Nothing spare is spent on others."""
    made, now = short()

    assert [] == choose(made, only={1})
    assert made.planner.fills(now)


def test_ample_budget_does_not_poll_faster_than_the_pace():
    """No spare poll is made, however full the bucket is."""
    made = service([1.0] * 5, 5_000, 2)
    made.run(2 * DAY, tick=10 * MINUTE)

    assert made.planner.proposals.price == Price().floor
    assert not made.planner.fills(made.clock.now())
    assert not any(why is Why.SPARE for _, _, why in made.polls)
    assert len(made.polls) < 5 * 60


def test_spare_polls_keep_all_limits():
    """None is before the shortest interval of a sentinel, outside hours, faster than the pace, or
    parallel on a host.
    """
    rates = [3.0] * 8
    start = ManualClock().now()
    clauses = ["", "Fetch on change between 4 hour and 1 day", "During daily 08:00 to 10:00", "", "", "", "", ""]
    pages = [make_watched(page, clauses[page - 1], host="one" if page > 5 else "", at=start) for page in range(1, 9)]
    made = Service(pages, 60, rates, steady(rates, 4 * DAY, start), pace=2 * HOUR)
    for _ in range(3):
        made.run(DAY, tick=10 * MINUTE)
        made.bucket = replace(made.bucket, level=made.bucket.burst)
    spare = [(at, page) for at, page, why in made.polls if why is Why.SPARE]
    gaps = {page: np.diff(made.of(page)) for page in range(1, 9)}
    at_once = [at for at, page in spare if page > 5]

    assert spare
    assert min(gaps[2]) >= 4 * HOUR
    assert all(8 * HOUR <= at % DAY < 10 * HOUR for at in made.of(3)[1:])
    assert min(min(gap) for page, gap in gaps.items() if page != 3) > HOUR / 2
    assert len(at_once) == len(set(at_once))


def test_ticks_come_in_time_beside_spare_polls():
    """A fixed interval is subtracted from what the price may spend."""
    start = ManualClock().now()
    pages = [make_watched(1, "Fetch every 2 hour", at=start), *(make_watched(page, at=start) for page in range(2, 20))]
    made = Service(pages, 60, [2.0] * 19, steady([2.0] * 19, 3 * DAY, start))
    made.run(3 * DAY, tick=10 * MINUTE)

    assert {2 * HOUR} == set(np.diff(made.of(1)[1:]).tolist())
    assert 0.97 * 180 <= len(made.polls) <= 180 + 30


def test_hopeless_budget_stretches_the_longest_waits():
    """With ten pages and five polls a day, waits are more than one day and below nine, and busy
    pages get more polls than quiet ones.
    """
    made = service([0.05] * 8 + [5.0] * 2, 5, 30)
    made.run(30 * DAY, tick=3 * HOUR)
    later = made.polls[0][0] + 10 * DAY
    gaps = [np.diff([at for at in made.of(page) if at > later]) for page in range(1, 11)]

    assert made.planner.pricing.stretch > 2
    assert 9 * DAY >= max(gap.max() for gap in gaps) > 2 * DAY
    assert min(len(gaps[8]), len(gaps[9])) > 3 * max(len(gap) for gap in gaps[:8])


def list_prices(made: Service) -> dict[str, Any]:
    """Return the stored price of a service."""
    return made.planner.dump_prices() or {}


def test_price_and_trim_survive_a_restart():
    """An old or unreadable memory is ignored."""
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


def test_wic_bids_for_an_epoch_if_it_earns_more(monkeypatch):
    """Once an epoch both are compared at the same cost. Then WIC decides the waits, the budget is
    kept, and the next epoch is compared again. With an ample budget nothing is compared.
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
    assert 0.9 * 60 <= len(made.polls) <= 60 + 30  # half a day's budget was there at the start
    assert list_prices(made)["wic"]
    assert free.planner.pricing.rival is None


def test_learned_rates_move_other_pages_of_the_host():
    """Fast pages are found while another page of the host waits for hours: in the next hour it
    counts as one of them, and is due sooner.
    """
    start = ManualClock().now()
    pages = [make_watched(number, host="h.example", at=start) for number in range(1, 7)]
    changes = steady([0.01, *[200.0] * 5], DAY, start)
    service = Service(pages, 10_000, changes=changes, policy=Learned(Price(), GammaLearner()), pace=3 * HOUR)
    late = 0
    for _ in range(6 * 60):
        service.run(MINUTE)
        late = late + 1 if service.planner.due_at(1) != service.planner.proposals.due(1) else 0
        assert late <= 1


def test_work_is_done_before_a_peak_without_recent_polls():
    """Ten pages are due together a day after their first poll, and the budget pays one an hour: the
    approaching peak alone starts polls.
    """
    start = ManualClock().now()
    pages = [make_watched(number, at=start) for number in range(1, 11)]
    service = Service(pages, 24, burst=40, policy=Medd(DAY))
    service.run(DAY)
    first, ahead = service.polls[:10], service.polls[10:]

    assert {at for at, _, _ in first} == {start}
    assert 13 * HOUR < ahead[0][0] - start < 18 * HOUR
    assert len(ahead) > 5


@pytest.mark.parametrize(("a_day", "first"), [(1e6, 1), (10, 2)])
def test_earliest_deadline_is_first_unless_the_budget_is_short(a_day: float, first: int):
    """Page 1 has the earlier deadline, with two others. Page 2 completes a report alone, which
    counts if the budget is short.
    """
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
