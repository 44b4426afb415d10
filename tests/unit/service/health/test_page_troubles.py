"""Troubles of pages and hosts, with their fixes."""

from dataclasses import replace

import pytest

from tests.health import FLOOR, PACE, SETTINGS, lines, make_polls, put, watch
from tidings.clock import DAY, HOUR
from tidings.model.observed.page import HostState
from tidings.model.observed.unit import Estimate
from tidings.service.show.finding import MOST_LINES
from tidings.storage.observed import hosts
from tidings.storage.write import charge


def test_page_in_error_is_a_warning(world):
    """The line has address, kind, time and reason."""
    watch(world)
    put(world, health="error", kind="5xx", reason="503 Service Unavailable", failing_since=world.at)
    (line,) = lines(world, "pages")

    assert ("warn", "pages", "tidings check news-a") == (line.status, line.what, line.mend)
    assert (
        "http://a.example/: error(5xx) since 2023-11-14 22:13:21 UTC (60 min ago): 503 Service Unavailable"
        == line.detail
    )


@pytest.mark.parametrize(
    ("kind", "mend"), [("404", "tidings drop news-a"), ("robots", "fetch.robots"), ("address", "fetch.allow_networks")]
)
def test_fix_depends_on_the_kind_of_error(world, kind, mend):
    """Another check does not help if a page is gone, forbidden or refused."""
    watch(world)
    put(world, health="error", kind=kind)
    (line,) = lines(world, "pages")

    assert mend in line.mend


def test_shaky_page_is_ok(world):
    """The line says that it is polled again."""
    watch(world)
    put(world, health="shaky", kind="net", failures=1)
    (line,) = lines(world, "pages")

    assert ("ok", True) == (line.status, line.detail.endswith("(Tidings tries again)"))


def test_unwatched_page_is_not_reported(world):
    """No active sentinel watches it."""
    world.watch(state="disabled")
    put(world, health="error", kind="404")
    (line,) = lines(world, "pages")

    assert "ok" == line.status


def test_many_pages_in_error_are_counted(world):
    """The first are named."""
    world.watch("many", *(f"p{i}" for i in range(MOST_LINES + 2)))
    for page_id in range(1, MOST_LINES + 3):
        put(world, page_id, health="error", kind="net")
    found = lines(world, "pages")

    assert MOST_LINES + 1 == len(found)
    assert ("warn", "and 2 more", "tidings list") == (found[-1].status, found[-1].detail, found[-1].mend)


def test_failing_host_is_a_warning(world):
    """The line has its failures in a row and the end of its pause."""
    watch(world)
    world.write(hosts.put, [HostState(name="a.example", failures=3, paused_until=world.at + 2 * HOUR)])
    (line,) = lines(world, "hosts")

    assert ("warn", "a.example: 3 failures in a row, requests paused until 2023-11-15 00:13:21 UTC") == (
        line.status,
        line.detail,
    )


def test_past_pause_is_not_reported(world):
    """Nor is an unwatched host."""
    watch(world)
    states = [HostState(name="a.example", paused_until=world.at), HostState(name="elsewhere.example", failures=9)]
    world.write(hosts.put, states)
    (line,) = lines(world, "hosts")

    assert ("ok", "1 host watched, none fails") == (line.status, line.detail)


def test_page_within_its_learned_wait_is_not_overdue(world):
    """Three times the learned wait is overdue."""
    watch(world)
    world.commit(
        replace(
            world.make_unchanged(1),
            estimates=(Estimate(page_id=1, name=SETTINGS.schedule.policy, state={"period": 86_400.0}, at=world.at),),
        )
    )

    assert "none of 1 page is overdue" == make_polls(world, DAY).detail
    assert "warn" == make_polls(world, 3 * DAY).status


def test_no_watched_page_is_ok(world):
    """Nothing can be overdue."""
    assert ("ok", "no page is watched now") == (make_polls(world, DAY).status, make_polls(world, DAY).detail)


@pytest.mark.parametrize(
    ("fetch", "interval"),
    [
        (None, PACE),
        ("Fetch 1 day", DAY),
        ("Fetch 1 s", FLOOR),
    ],
)
def test_page_is_overdue_after_two_intervals_and_the_floor(world, fetch, interval):
    """The intervals count from the last poll."""
    watch(world, fetch=fetch)
    patience = 2 * interval + FLOOR

    assert "ok" == make_polls(world, patience).status
    assert "warn" == make_polls(world, patience + 1).status


def test_overdue_page_is_named(world):
    """The page that waits longest is named; the fix checks it."""
    watch(world, key="a")
    watch(world, key="b")
    line = make_polls(world, DAY)

    assert line.detail.startswith("http://a.example/: overdue since 2023-11-14 23:13:21 UTC (23 h ago")
    assert "tidings check news-a" == line.mend


def test_used_up_budget_is_the_reason(world):
    """The fix raises the budget."""
    watch(world)
    world.write(charge.set_budget, "default", rate_per_second=0.0, burst=0.0, at=world.at)

    assert "budget.polls_per_day" in make_polls(world, DAY).mend


def test_page_that_backs_off_is_not_overdue(world):
    """The page or its host waits for a visible reason; its time counts from the end of the wait."""
    watch(world)
    put(world, retry_at=world.at + 9 * HOUR)

    assert "ok" == make_polls(world, 10 * HOUR).status
    assert "warn" == make_polls(world, 12 * HOUR).status

    put(world, retry_at=None)
    world.write(hosts.put, [HostState(name="a.example", paused_until=world.at + 9 * HOUR)])

    assert "ok" == make_polls(world, 10 * HOUR).status
    assert "warn" == make_polls(world, 12 * HOUR).status


def test_fresh_page_is_not_overdue(world):
    """The time counts from the end of freshness, but at most an hour after the last poll."""
    watch(world)
    last = make_polls(world, 3 * HOUR)
    put(world, fresh_until=world.at + 9 * HOUR, polls=1)

    assert ("warn", "ok") == (last.status, make_polls(world, 3 * HOUR).status)
    assert "warn" == make_polls(world, 3 * HOUR + FLOOR + 1).status


def test_page_before_its_tick_is_not_overdue(world):
    """The page has a fixed interval, however long ago its last poll was."""
    watch(world, fetch="Fetch 1 hour")
    world.write(lambda c: c.execute("UPDATE subscription SET next_tick = :at", at=world.at + 30 * DAY))

    assert "ok" == make_polls(world, 29 * DAY).status


def test_unpolled_page_counts_from_its_start(world):
    """A new sentinel is not overdue; one that has waited for hours is."""
    world.watch()

    assert "ok" == make_polls(world, HOUR).status
    assert "warn" == make_polls(world, 3 * HOUR).status


def test_paused_sentinel_is_never_overdue(world):
    """The pages of a paused sentinel are not polled."""
    world.watch(state="disabled")

    assert "ok" == make_polls(world, 30 * DAY).status


def test_missing_poller_is_reported_with_the_last_poll(world):
    """For overdue pages, the fix starts one."""
    watch(world)
    soon, late = make_polls(world, HOUR, polling=False), make_polls(world, DAY, polling=False)

    assert ("ok", "") == (soon.status, soon.mend)
    assert soon.detail.startswith(
        "no process is checking pages; the last check was at 2023-11-14 22:13:21 UTC (60 min ago)"
    )
    assert ("warn", True) == (late.status, late.mend.startswith("tidings serve"))


def test_missing_poller_without_any_poll_is_reported(world):
    """The line says that nothing was checked yet."""
    world.watch()

    assert "no process is checking pages; nothing has been checked yet" in make_polls(world, HOUR, polling=False).detail
