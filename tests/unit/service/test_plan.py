"""The planner on a manual clock: what it grants of a budget that binds, and when it leaves pages in peace."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from tidings.clock import DAY, HOUR, MINUTE, SECOND, ManualClock
from tidings.fetching import address
from tidings.fetching.politeness import HostGate
from tidings.language import parser
from tidings.model.interval import ExecutionInterval
from tidings.model.page import PageState
from tidings.model.sentinel import Sentinel
from tidings.model.unit import Grant, PollOutcome, PollRecord, Unit
from tidings.scheduling.budget import TokenBucket
from tidings.scheduling.learned import Learned
from tidings.scheduling.policy import Population
from tidings.scheduling.price.contest import Contest, contest
from tidings.scheduling.price.others import LambdaCrawl
from tidings.scheduling.price.policy import Price
from tidings.scheduling.price.polite import PoliteLambdaCrawl
from tidings.scheduling.round_robin import RoundRobin
from tidings.service import pricing
from tidings.service.choosing import SPARE
from tidings.service.cursors import ticks_of
from tidings.service.needs import Deadline, Needs
from tidings.service.plan import Planner
from tidings.service.watchlist import Subscription, WatchedPage, WatchedSentinel
from tidings.storage.sentinels import SentinelRow
from tidings.storage.subscriptions import SubscriptionRow

NOBODY = np.random.default_rng(0)


def watched(page_id: int, clauses: str = "", *, host: str = "", at: int = 0) -> WatchedPage:
    """Return a page that a sentinel with these clauses watches; it is not looked at yet."""
    url = f"http://{host or f'h{page_id}'}.example/{page_id}"
    (sentinel,) = parser.parse(f"Create Sentinel s{page_id} Using {url} Monitor all words {clauses}").statements
    assert isinstance(sentinel, Sentinel)
    row = SentinelRow(page_id, sentinel.name, "enabled", "", 1, "", None, None, at, at, None, None, (), 1)
    sub = SubscriptionRow(page_id, page_id, page_id, "", 1, 0, (), None, None, active=True)
    held = WatchedPage(address.identify(url), PageState(page_id=page_id))
    held.subscriptions[page_id] = Subscription(sub, WatchedSentinel(row, sentinel, {}))
    return held


class Told:
    """Knows the changes a day of each host, by its number, and learns nothing."""

    def __init__(self, rates: list[float]) -> None:
        self._rates = np.array(rates)

    def begin(self, hosts: Any) -> Any:
        return hosts

    def rates(self, known: Any, rows: Any = slice(None)) -> Any:
        return self._rates[known[rows]]

    def observe(self, known: Any, *looks: Any) -> Any:
        return known

    def fitted(self, known: Any, now: int) -> None:
        return None

    def arrange(self, known: Any, rows: Any, hosts: Any) -> Any:
        return hosts

    def remember(self, known: Any, row: int) -> dict[str, Any]:
        return {"shape": 1e6 * float(self._rates[known[row]]), "scale": 1e6}

    def recall(self, known: Any, rows: Any, memories: Any) -> Any:
        return known


class Service:
    """A planner that is told rates, its bucket, and pages that change at instants; looks take no time. It steps as the monitor does."""

    def __init__(
        self,
        pages: list[WatchedPage],
        a_day: float,
        rates: list[float] | None = None,
        changes: dict[int, list[int]] | None = None,
        **more: Any,
    ) -> None:
        self.clock = ManualClock()
        self.pages = {page.state.page_id: page for page in pages}
        self.changes = changes or {}
        self.looks: list[tuple[int, int, str]] = []
        burst = more.pop("burst", a_day)
        self.bucket = TokenBucket(rate=a_day * SECOND / DAY, burst=burst, level=burst / 2, at=self.clock.now())
        self.gate = HostGate(gap_seconds=0, connections=1, clock=self.clock)
        policy = more.pop("policy", Learned(Price(pace=more.pop("pace", HOUR)), Told(rates or [])))
        self.planner = Planner(
            policy,
            self.pages,
            floor=MINUTE,
            host_connections=1,
            rng=np.random.default_rng(0),
            budget=a_day / DAY,
            **more,
        )
        self.planner.touch(self.pages)

    def step(self) -> None:
        """Grant what is due and can be paid, look, and tell how it went."""
        now = self.clock.now()
        self.bucket = self.bucket.refill(now)
        spare = self.bucket.level - self.bucket.burst / 2 if self.planner.fills(now) else 0.0
        for grant in self.planner.choose(now, self.gate, tokens=self.bucket.level, limit=64, spare=spare):
            self.bucket = self.bucket.take(grant.cost, now=now) or self.bucket
            self.looks.append((now, grant.page_id, grant.reason))
            self.planner.observe(self._looked(grant, now))

    def run(self, duration: int, *, tick: int = MINUTE) -> None:
        """Let time pass."""
        for _ in range(duration // tick):
            self.step()
            self.clock.move_to(self.clock.now() + tick)

    def _looked(self, grant: Grant, now: int) -> Unit:
        page = self.pages[grant.page_id]
        before = page.state.checked_at
        changed = before is not None and any(before < at <= now for at in self.changes.get(grant.page_id, ()))
        page.state = replace(page.state, polled_at=now, checked_at=now, last_seq=1)
        (sub,) = page.subscriptions.values()
        sub.row = replace(sub.row, taken=(1,), next_tick=_next_tick(sub, now))
        outcome: PollOutcome = "new" if before is None else "changed" if changed else "unchanged"
        poll = PollRecord(poll_id=1, page_id=grant.page_id, finished_at=now, outcome=outcome, text_changed=changed)
        return Unit(at=now, epoch=1, poll=poll, page=page.state)

    def of(self, page_id: int) -> list[int]:
        """Return when a page was looked at."""
        return [at for at, page, _ in self.looks if page == page_id]


def _next_tick(sub: Subscription, now: int) -> int | None:
    return None if sub.interval is None else ticks_of(sub).next_tick(now)


def steady(rates: list[float], length: int, start: int) -> dict[int, list[int]]:
    """Return changes at steady intervals, so many a day of each page, by number."""
    return {
        page: [start + round(k * DAY / rate) for k in range(1, int(rate * length / DAY) + 1)]
        for page, rate in enumerate(rates, start=1)
    }


def service(rates: list[float], a_day: float, days: int, clauses: str = "", **more: Any) -> Service:
    """Return a service on pages that change so many times a day."""
    start = ManualClock().now()
    pages = [watched(page, clauses, at=start) for page in range(1, len(rates) + 1)]
    return Service(pages, a_day, rates, steady(rates, days * DAY, start), **more)


def test_a_budget_that_binds_is_used():
    """Pages that would like several times as many looks: from the second day on the budget is used, each day and to 1.4 % in all."""
    made = service([0.1 * 1.2**page for page in range(30)], 100, 4)
    made.run(4 * DAY, tick=10 * MINUTE)
    days = np.bincount([(at - made.looks[0][0]) // DAY for at, _, _ in made.looks])

    assert (np.abs(days[1:] - 100) <= 6).all()
    assert days[1:].mean() == pytest.approx(100, rel=0.014)


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

    assert best[:3] == [page for _, page, why in made.looks[before:] if why == SPARE]
    assert len(due) + 3 == len(made.looks) - before


def test_where_the_budget_does_not_bind_nobody_is_asked_more_often_than_the_pace_says():
    """Nothing is filled, however full the bucket."""
    made = service([1.0] * 5, 5_000, 2)
    made.run(2 * DAY, tick=10 * MINUTE)

    assert not any(why == SPARE for _, _, why in made.looks)
    assert len(made.looks) < 5 * 60


def test_spare_looks_keep_floors_hours_hosts_and_the_pace_of_the_floor():
    """None comes before the interval that a sentinel names, outside its hours, before the price of the pace says, or beside one of its host."""
    rates = [3.0] * 8
    start = ManualClock().now()
    clauses = ["", "Fetch on change between 4 hour and 1 day", "During daily 08:00 to 10:00", "", "", "", "", ""]
    pages = [watched(page, clauses[page - 1], host="one" if page > 5 else "", at=start) for page in range(1, 9)]
    made = Service(pages, 60, rates, steady(rates, 4 * DAY, start), pace=2 * HOUR)
    for _ in range(3):
        made.run(DAY, tick=10 * MINUTE)
        made.bucket = replace(made.bucket, level=made.bucket.burst)
    spare = [(at, page) for at, page, why in made.looks if why == SPARE]
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
    pages = [watched(1, "Fetch every 2 hour", at=start), *(watched(page, at=start) for page in range(2, 20))]
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


def priced(made: Service) -> dict[str, Any]:
    """Return what a service keeps of its price."""
    return made.planner.priced() or {}


def test_price_and_trim_are_kept_over_a_restart():
    """Who is told what was kept goes on with it; what is old or unreadable is passed over."""
    made, later, old = (service([5.0] * 20, 60, 2) for _ in range(3))
    made.run(2 * DAY, tick=10 * MINUTE)
    kept = priced(made)
    later.planner.recall_price(kept, HOUR)
    old.planner.recall_price(kept, 2 * DAY)
    for each in (later, old):
        each.step()
        each.planner.recall_price({"trim": "none"}, 0)

    assert kept["trim"] != 1.0
    assert kept["trim"] == priced(later)["trim"]
    assert kept["steps"] == priced(later)["steps"]
    assert 1.0 == priced(old)["trim"]
    assert service([1.0], 5_000, 1).planner.priced() is None


def test_a_policy_that_heeds_hosts_hears_what_they_take():
    """A host that takes a look in six hours has its surcharge: its three pages are looked at as seldom, and no more often are they tried."""
    pages = [watched(n, "Fetch on change", host="slow") for n in (1, 2, 3)] + [watched(4, "Fetch on change")]
    service = Service(pages, 1_000, policy=PoliteLambdaCrawl(pace=HOUR))
    plain = Service(
        [watched(n, "Fetch on change", host="slow") for n in (1, 2, 3)], 1_000, policy=LambdaCrawl(pace=HOUR)
    )
    for one in (service, plain):
        one.gate = HostGate(gap_seconds=6 * 3_600, connections=1, clock=one.clock)
        one.run(2 * DAY, tick=10 * MINUTE)
    paces = [[s.planner.pace(n) or 0 for n in (1, 2, 3)] for s in (service, plain)]

    assert 12 * HOUR < min(paces[0]) <= max(paces[0]) < DAY
    assert max(paces[1]) < 2 * HOUR


@pytest.mark.parametrize(("ranking", "first"), [("demand", 1), ("s_edf", 1), ("mrsf", 2), ("m_edf", 2)])
def test_needs_are_ranked_as_the_settings_say(ranking: str, first: int):
    """Page 1 must be looked at sooner, page 2 is all that its need lacks."""
    needs = Needs()
    pages = [watched(n, "Fetch every 1 day") for n in (1, 2, 3)]
    service = Service(pages, 1e6, policy=RoundRobin(), ranking=ranking, needs=needs)
    service.run(2 * MINUTE)
    now = service.clock.now()
    sooner, later = ExecutionInterval(now, now + HOUR), ExecutionInterval(now, now + 2 * HOUR)
    needs.settle("then", 1, [Deadline(page, 1, sooner, "why", left=3, together=(sooner,) * 3) for page in (1, 3)])
    needs.settle("then", 2, [Deadline(2, 2, later, "why")])
    service.clock.move_to(now + MINUTE)
    grants = service.planner.choose(now + MINUTE, service.gate, tokens=1, limit=1)

    assert [first] == [grant.page_id for grant in grants]


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
    assert priced(made)["wic"]
    assert free.planner.pricing.rival is None
