"""A page that should have been checked is named, since when, and why it was not."""

from dataclasses import replace

import pytest

from tests.health import FLOOR, PACE, SETTINGS, looks, put, watch
from tidings.clock import DAY, HOUR
from tidings.model.observed.page import HostState
from tidings.model.observed.unit import Estimate
from tidings.storage.observed import hosts
from tidings.storage.write import charge


def test_a_page_that_waits_as_its_policy_says_is_not_late(world):
    """What is learned of a page says how long it waits; three times as long is late."""
    watch(world)
    world.commit(
        replace(
            world.make_unchanged(1),
            estimates=(Estimate(page_id=1, name=SETTINGS.schedule.policy, state={"period": 86_400.0}, at=world.at),),
        )
    )

    assert "none of 1 page is overdue" == looks(world, DAY).detail
    assert "warn" == looks(world, 3 * DAY).status


def test_nothing_is_watched(world):
    """Without a page there is nothing to be late for."""
    assert ("ok", "no page is watched now") == (looks(world, DAY).status, looks(world, DAY).detail)


@pytest.mark.parametrize(
    ("fetch", "interval"),
    [
        (None, PACE),
        ("Fetch 1 day", DAY),
        ("Fetch 1 s", FLOOR),
    ],
)
def test_overdue_is_later_than_two_intervals_and_the_floor(world, fetch, interval):
    """A page is overdue a moment after two intervals and the floor have passed since its last look, and not before."""
    watch(world, fetch=fetch)
    patience = 2 * interval + FLOOR

    assert "ok" == looks(world, patience).status
    assert "warn" == looks(world, patience + 1).status


def test_an_overdue_page_is_named(world):
    """The line names the page that waits longest, since when, and the command that looks at it."""
    watch(world, key="a")
    watch(world, key="b")
    line = looks(world, DAY)

    assert line.detail.startswith("http://a.example/: overdue since 2023-11-14 23:13:21 UTC (23 h ago")
    assert "tidings check news-a" == line.mend


def test_a_spent_budget_is_the_reason(world):
    """If the budget is spent, that is what must be mended."""
    watch(world)
    world.write(charge.set_budget, "default", rate_per_second=0.0, burst=0.0, at=world.at)

    assert "budget.polls_per_day" in looks(world, DAY).mend


def test_a_page_that_backs_off_is_not_overdue(world):
    """A page that is left alone on purpose, or whose host is, waits for a visible reason; its time counts from then."""
    watch(world)
    put(world, retry_at=world.at + 9 * HOUR)

    assert "ok" == looks(world, 10 * HOUR).status
    assert "warn" == looks(world, 12 * HOUR).status

    put(world, retry_at=None)
    world.write(hosts.put, [HostState(name="a.example", paused_until=world.at + 9 * HOUR)])

    assert "ok" == looks(world, 10 * HOUR).status
    assert "warn" == looks(world, 12 * HOUR).status


def test_a_page_that_is_said_to_be_fresh_is_not_overdue(world):
    """What holds its look back is known; its time counts from the end of that, an hour after its last look at most."""
    watch(world)
    last = looks(world, 3 * HOUR)
    put(world, fresh_until=world.at + 9 * HOUR, polls=1)

    assert ("warn", "ok") == (last.status, looks(world, 3 * HOUR).status)
    assert "warn" == looks(world, 3 * HOUR + FLOOR + 1).status


def test_a_tick_that_lies_ahead_is_not_overdue(world):
    """A page with a fixed interval waits for its tick, however long ago its last look was."""
    watch(world, fetch="Fetch 1 hour")
    world.write(lambda c: c.execute("UPDATE subscription SET next_tick = :at", at=world.at + 30 * DAY))

    assert "ok" == looks(world, 29 * DAY).status


def test_a_page_never_looked_at_counts_from_its_start(world):
    """A sentinel that was just made is not late; one that has waited for hours is."""
    world.watch()

    assert "ok" == looks(world, HOUR).status
    assert "warn" == looks(world, 3 * HOUR).status


def test_a_paused_sentinel_is_never_late(world):
    """Nobody waits for the pages of a sentinel that is disabled."""
    world.watch(state="disabled")

    assert "ok" == looks(world, 30 * DAY).status


def test_without_a_poller_the_last_look_is_told(world):
    """If no process is checking pages the line says so and when the last look was; late pages ask for one to be started."""
    watch(world)
    soon, late = looks(world, HOUR, polling=False), looks(world, DAY, polling=False)

    assert ("ok", "") == (soon.status, soon.mend)
    assert soon.detail.startswith(
        "no process is checking pages; the last check was at 2023-11-14 22:13:21 UTC (60 min ago)"
    )
    assert ("warn", True) == (late.status, late.mend.startswith("tidings serve"))


def test_without_a_poller_and_without_a_look(world):
    """If nothing was ever looked at the line says that."""
    world.watch()

    assert "no process is checking pages; nothing has been checked yet" in looks(world, HOUR, polling=False).detail
