"""Promise: limits of hosts and budgets are kept across restarts, according to the servers' own log
(bench/polite_week.py).
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.simulated_week import GAP, Arrival, Week, run_week
from tidings.clock import MINUTE, SECOND
from tidings.model.interval import ExecutionInterval

RULES = ("gap", "crawl delay", "retry after", "floor")


@pytest.fixture(scope="module")
def week(tmp_path_factory: pytest.TempPathFactory) -> Week:
    """Return six hours of forty pages on five hosts, with five restarts."""
    directory: Path = tmp_path_factory.mktemp("week")
    return run_week(directory / "data", days=0.25, hosts=5, pages=40, restarts=5, polls_per_day=900, burst=20, seed=3)


def test_no_request_is_too_early(week: Week):
    """The host's gap, Crawl-delay, Retry-After and the page's minimum hold across kills."""
    early = week.early()

    assert dict.fromkeys(RULES, 0) == {rule: early[rule] for rule in RULES}
    assert week.deaths
    assert {0, 20 * SECOND, 60 * SECOND} == set(week.crawl_delays.values())


def test_no_host_gets_two_concurrent_requests(week: Week):
    """One connection is permitted and used."""
    assert 1 == week.most_at_once()


def test_budget_is_kept_and_used(week: Week):
    """Requests never exceed rate × time + burst, across restarts; the pages demand more."""
    assert 0 == week.over_budget()
    assert len(week.arrivals) > 0.9 * (week.rate * week.length / SECOND + week.burst)


def test_page_forbidden_by_robots_txt_is_not_requested(week: Week):
    """Not once."""
    assert 0 == week.count_forbidden()


def test_repeat_polls_are_conditional(week: Week):
    """19 of 20; the rest audit the validators."""
    every, conditional = week.repeats()

    assert every > 100
    assert conditional >= 0.95 * every


def test_store_is_consistent_and_no_poll_stays_open(week: Week):
    """Polls that a kill interrupted are ended."""
    assert [] == week.violations
    assert 0 == week.open_polls


def make_week(*arrivals: Arrival, died: int | None = None) -> Week:
    """Return a week with this log; the answer at `died` was lost."""
    deaths = [] if died is None else [ExecutionInterval(died, died)]
    return Week(list(arrivals), deaths, {"h": 20 * SECOND}, rate=1 / 60, burst=2, began=0, length=10 * MINUTE)


def make_request(at: int, path: str = "/1", **more: int) -> Arrival:
    """Return a request at `at` seconds."""
    return Arrival(at * SECOND, "h", path, 200, is_conditional=False, **more)


@pytest.mark.parametrize(
    ("log", "rule"),
    [
        (lambda: make_week(make_request(0), make_request(4, "/2")), "gap"),
        (lambda: make_week(make_request(0, "/robots.txt"), make_request(19)), "crawl delay"),
        (lambda: make_week(make_request(0, "/robots.txt"), make_request(19), died=0), "crawl delay died"),
        (lambda: make_week(make_request(0, retry_after=9 * MINUTE), make_request(500, "/2")), "retry after"),
        (
            lambda: make_week(make_request(0, retry_after=9 * MINUTE), make_request(500, "/2"), died=0),
            "retry after died",
        ),
        (lambda: make_week(make_request(0), make_request(59)), "floor"),
    ],
)
def test_judge_finds_early_requests(log: Callable[[], Week], rule: str):
    """One request breaks each rule, and only that rule."""
    assert {rule: 1} == {name: count for name, count in log().early().items() if count}


def test_judge_finds_an_exceeded_budget():
    """The burst permits two at once; a third needs a minute."""
    assert 0 == make_week(make_request(0), make_request(1), make_request(60)).over_budget()
    assert 1 == make_week(make_request(0), make_request(1), make_request(50)).over_budget()
    assert GAP == 5 * SECOND
