"""Promise: hosts and budgets are never pressed, whatever happens to the service: judged from the servers' own log (bench/polite_week.py)."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.polite import GAP, Arrival, Week, run_week
from tidings.clock import MINUTE, SECOND
from tidings.model.interval import ExecutionInterval

RULES = ("gap", "crawl delay", "retry after", "floor")


@pytest.fixture(scope="module")
def week(tmp_path_factory: pytest.TempPathFactory) -> Week:
    """Give six hours of forty pages on five hosts, five restarts among them."""
    directory: Path = tmp_path_factory.mktemp("week")
    return run_week(directory / "data", days=0.25, hosts=5, pages=40, restarts=5, polls_per_day=900, burst=20, seed=3)


def test_no_request_is_early(week: Week):
    """Not one before its host's gap, Crawl-delay or Retry-After or its page's floor allow it, although the service was killed meanwhile."""
    early = week.early()

    assert dict.fromkeys(RULES, 0) == {rule: early[rule] for rule in RULES}
    assert week.deaths
    assert {0, 20 * SECOND, 60 * SECOND} == set(week.crawl_delays.values())


def test_no_host_answers_two_requests_at_once(week: Week):
    """One connection is allowed, and one is used."""
    assert 1 == week.most_at_once()


def test_the_budget_holds_and_is_used(week: Week):
    """At no instant were there more requests than rate × time + burst, over all restarts; the pages asked for more than that."""
    assert 0 == week.over_budget()
    assert len(week.arrivals) > 0.9 * (week.rate * week.length / SECOND + week.burst)


def test_what_robots_txt_forbids_is_not_asked_for(week: Week):
    """Not once."""
    assert 0 == week.count_forbidden()


def test_repeat_polls_are_conditional(week: Week):
    """19 of 20; the rest are the audits of validators."""
    every, conditional = week.repeats()

    assert every > 100
    assert conditional >= 0.95 * every


def test_the_store_is_whole_and_nothing_stays_open(week: Week):
    """Each poll that a kill cut off is ended, and no invariant is broken."""
    assert [] == week.violations
    assert 0 == week.open_polls


def make_week(*arrivals: Arrival, died: int | None = None) -> Week:
    """Return a week with this log; an answer at `died` was lost."""
    deaths = [] if died is None else [ExecutionInterval(died, died)]
    return Week(list(arrivals), deaths, {"h": 20 * SECOND}, rate=1 / 60, burst=2, began=0, length=10 * MINUTE)


def make_request(at: int, path: str = "/1", **more: int) -> Arrival:
    """Return a request `at` seconds."""
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
def test_the_judge_sees_what_is_early(log: Callable[[], Week], rule: str):
    """Each rule is found broken by one request that breaks it, and by nothing else."""
    assert {rule: 1} == {name: count for name, count in log().early().items() if count}


def test_the_judge_sees_a_budget_that_is_overdrawn():
    """Two at once are what the burst holds; a third needs a minute."""
    assert 0 == make_week(make_request(0), make_request(1), make_request(60)).over_budget()
    assert 1 == make_week(make_request(0), make_request(1), make_request(50)).over_budget()
    assert GAP == 5 * SECOND
