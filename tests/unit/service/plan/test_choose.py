"""Which of the due pages are polled now, and in which order."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from tests.planner import Service, make_watched
from tidings.clock import DAY, HOUR, MINUTE, ManualClock
from tidings.model.interval import ExecutionInterval
from tidings.model.observed.poll_reason import PollReason, Why
from tidings.model.observed.unit import Grant
from tidings.scheduling.paced.turns import RoundRobin
from tidings.service.watch.page_schedule import Deadline, Needs
from tidings.service.watch.watchlist import WatchedPage

NOW = ManualClock().now()
TICKS = "Fetch every 1 hour"


def late_page(page_id: int, late: int, clauses: str = "", *, host: str = "", render: bool = False) -> WatchedPage:
    """Return a page that has been due for so long: its next tick, or an hour after its last
    poll.
    """
    page = make_watched(page_id, clauses, host=host, at=NOW - DAY)
    polled = NOW - HOUR - late
    page.identity = replace(page.identity, render="browser" if render else "")
    page.state = replace(page.state, last_seq=1, polls=1, polled_at=polled, checked_at=polled)
    (sub,) = page.subscriptions.values()
    sub.row = replace(sub.row, taken=(1,), next_tick=NOW - late if sub.interval is not None else None)
    return page


def make_service(*pages: WatchedPage, **more: Any) -> Service:
    """Return a round-robin planner with an interval of an hour."""
    return Service([*pages], 1e6, policy=RoundRobin(HOUR), **more)


def choose(service: Service, **more: Any) -> list[Grant]:
    """Return the present grants."""
    return service.planner.choose(NOW, service.gate, **{"tokens": 100.0, "limit": 64, **more})


def ids(grants: list[Grant]) -> list[int]:
    """Return the pages of grants."""
    return [grant.page_id for grant in grants]


def test_ticks_come_before_bids_and_the_latest_first():
    """A page on change that is late by a day comes after a tick of a minute ago."""
    service = make_service(late_page(1, DAY), late_page(2, MINUTE, TICKS), late_page(3, HOUR, TICKS))

    grants = choose(service)

    assert [3, 2, 1] == ids(grants)
    assert [Why.INTERVAL, Why.INTERVAL, Why.CHANGE] == [grant.reason.why for grant in grants]


def test_requested_page_comes_first():
    """The page need not be due. A request is served once."""
    service = make_service(late_page(1, DAY, TICKS), late_page(2, -HOUR // 2))
    service.planner.force(2)

    (first, second) = choose(service)

    assert (2, Why.ASKED, 1) == (first.page_id, first.reason.why, second.page_id)
    service.planner.release(2)
    assert [] == choose(service)


def test_deadline_comes_before_ticks():
    """Only requests come before a deadline."""
    needs = Needs()
    needs.settle("then", 1, [Deadline(3, 3, ExecutionInterval(NOW - HOUR, NOW + HOUR), PollReason(Why.THEN))])
    service = make_service(late_page(1, DAY, TICKS), late_page(2, -HOUR // 2), late_page(3, 0), needs=needs)
    service.planner.force(2)

    assert [2, 3, 1] == ids(choose(service))


def test_chosen_page_is_reserved_until_released():
    """A reserved page is not granted twice."""
    service = make_service(late_page(1, HOUR))

    assert [1] == ids(choose(service))
    assert service.planner.is_busy(1)
    assert [] == choose(service)

    service.planner.release(1)

    assert [1] == ids(choose(service))


def test_only_named_pages_are_chosen():
    """All others stay due."""
    service = make_service(late_page(1, HOUR), late_page(2, HOUR))

    assert [2] == ids(choose(service, only=[2, 9]))
    assert {1} == service.planner.due_pages(NOW)


def test_budget_and_limit_are_kept():
    """The most overdue pages are chosen."""
    service = make_service(*(late_page(page, page * MINUTE, TICKS) for page in range(1, 6)))

    assert [5, 4] == ids(choose(service, tokens=2.5))
    assert [3] == ids(choose(service, limit=1))
    assert [] == choose(service, tokens=0.0)


def test_host_gets_one_page_at_a_time():
    """Another page of the host waits while the first is in flight. A paused host gets none."""
    service = make_service(late_page(1, HOUR, host="one"), late_page(2, MINUTE, host="one"), late_page(3, 0))
    service.gate.pause(service.pages[3].identity.host, NOW + HOUR)

    assert [1] == ids(choose(service))
    assert [] == choose(service)


def test_class_pays_only_for_its_own_pages():
    """Without tokens its pages wait and others do not. A request is granted anyway."""
    pages = [late_page(1, HOUR, "Class shop"), late_page(2, MINUTE), late_page(3, 2 * HOUR, "Class shop")]
    service = make_service(*pages, classes={"shop": 10.0})

    grants = choose(service, class_tokens={"shop": 1.0})

    assert [(3, "shop"), (2, "default")] == [(grant.page_id, grant.budget) for grant in grants]
    assert [] == choose(service, class_tokens={"shop": 0.0})
    assert {"shop": 1.0} == service.planner.wanting(NOW)

    service.planner.force(1)

    assert [1] == ids(choose(service, class_tokens={"shop": 0.0}))


def test_rendered_page_waits_for_a_place_in_the_browser():
    """The most overdue one gets the only place, at the cost of a browser."""
    pages = [late_page(1, MINUTE, TICKS, render=True), late_page(2, HOUR, TICKS, render=True), late_page(3, 0, TICKS)]
    service = make_service(*pages, render_cost=5.0)

    assert [(2, 5.0), (3, 1.0)] == [(grant.page_id, grant.cost) for grant in choose(service)]
    assert [] == choose(service)

    service.planner.release(2)

    assert [2] == ids(choose(service))


def test_page_on_a_host_full_of_ticks_gets_its_turn():
    """After twice its planned wait it counts as a tick of that age, so that it does not wait
    forever.
    """
    patient = make_service(late_page(1, HOUR - 1, host="one"), late_page(2, MINUTE, TICKS, host="one"))
    starved = make_service(late_page(1, HOUR, host="one"), late_page(2, MINUTE, TICKS, host="one"))

    assert [[2], [1]] == [ids(choose(patient)), ids(choose(starved))]


def test_second_poll_comes_before_bids():
    """A late second poll is useless."""
    service = make_service(late_page(1, DAY, host="one"), late_page(2, 0, host="one"))
    service.planner.poll_again(2, NOW)

    (grant,) = choose(service)

    assert (2, Why.SECOND) == (grant.page_id, grant.reason.why)
