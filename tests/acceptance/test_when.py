"""Promise: pages are polled at the times of their sentinel: at a time of day, in hours, on demand,
across clock changes.
"""

from __future__ import annotations

from datetime import UTC, datetime
from zoneinfo import ZoneInfo

import pytest

from tests.world import World, play, serve
from tidings.cli.show import plan
from tidings.clock import DAY, HOUR, MINUTE
from tidings.model.interval import instant_of, local_of
from tidings.model.observed.poll_reason import Why
from tidings.service.explain.explain_sentinel import BY_TURNS
from tidings.service.explain.plan_summary import list_coming_polls
from tidings.service.show.records import rfc3339, spell_reason

PARIS = ZoneInfo("Europe/Paris")


def _begin(world: World, text: str) -> None:
    world.clock.move_to(instant_of(datetime.fromisoformat(text), UTC))


def _looks(world: World, zone=UTC) -> list[str]:
    return [local_of(p.charged_at, zone).strftime("%d %H:%M") for p in world.polls()]


def test_time_of_day_is_kept_across_a_clock_change(world: World):
    """Fetch at 08:00 is eight o'clock in Paris before and after the night of the change (W-136)."""
    world.page("/a", "x")
    _begin(world, "2026-03-27T10:00")
    world.add("Create Sentinel s Using {/a} Monitor any change Fetch at 08:00 fri-mon Zone Europe/Paris")

    play(world, lambda monitor: world.pass_time(monitor, 7 * DAY))

    assert ["28 08:00", "29 08:00", "30 08:00", "03 08:00"] == _looks(world, PARIS)


def test_downtime_causes_one_poll(world: World):
    """Three mornings are missed: one poll at once, then at the next eight o'clock."""
    world.page("/a", "x")
    _begin(world, "2026-03-02T07:00")
    world.add("Create Sentinel s Using {/a} Monitor any change Fetch at 08:00")
    play(world, lambda monitor: world.pass_time(monitor, 2 * HOUR))
    world.clock.advance(3 * DAY)

    play(world, lambda monitor: world.pass_time(monitor, DAY))

    assert ["02 08:00", "05 09:00", "06 08:00"] == _looks(world)


def test_on_demand_page_is_polled_only_on_request(world: World):
    """The first request is the baseline, the next one reports the change."""
    world.page("/a", "<p>one</p>")
    world.add("Create Sentinel s Using {/a} Monitor all words Fetch on demand")

    with serve(world) as service:
        service.pass_time(3 * DAY)
        assert [] == world.polls()
        service.monitor.polling.requests.ask(1, sentinels=(1,))
        service.settle()
        world.page("/a", "<p>two</p>")
        service.pass_time(3 * DAY)
        service.monitor.polling.requests.ask(1, sentinels=(1,))
        service.settle()

    assert 2 == len(world.polls())
    assert ["two"] == [c["updated"][0]["new"] for c in world.changes()]


def test_on_demand_sentinel_ignores_polls_of_others(world: World):
    """Comparisons are between requested checks only."""
    world.page("/a", "<p>count 0</p>")
    world.add(
        "Create Sentinel often Using {/a} Monitor all words Fetch every 1 hour; Create Sentinel s Using {/a} Monitor all words Fetch on demand"
    )

    with serve(world) as service:
        service.monitor.polling.requests.ask(1, sentinels=(2,))
        for number in range(1, 4):
            service.pass_time(2 * HOUR)
            world.page("/a", f"<p>count {number}</p>")
        service.pass_time(2 * HOUR)
        service.monitor.polling.requests.ask(1, sentinels=(2,))
        service.settle()

    assert 3 == len(world.changes("often"))
    assert [("0", "3")] == [(c["updated"][0]["old"], c["updated"][0]["new"]) for c in world.changes("s")]


def test_fixed_interval_keeps_to_its_hours(world: World):
    """Every 10 minutes in office hours of Paris: the first poll is at the opening, none at the
    weekend (W-26).
    """
    world.page("/a", "x")
    _begin(world, "2026-03-27T12:00")  # a Friday; on Sunday the clocks go forward
    world.add(
        "Create Sentinel s Using {/a} Monitor any change Fetch 10 min During mon-fri 08:00 to 18:00 Zone Europe/Paris"
    )

    play(world, lambda monitor: world.pass_time(monitor, 4 * DAY))
    polls = [local_of(p.charged_at, PARIS) for p in world.polls()]
    reasons = {spell_reason(p.reason) for p in world.polls() if p.reason.why in {Why.INTERVAL, Why.OPENING}}

    assert all(t.weekday() < 5 and 8 <= t.hour < 18 for t in polls)
    assert ("27 13:00", "27 17:50", "30 08:00") == (
        _looks(world, PARIS)[0],
        _looks(world, PARIS)[29],
        _looks(world, PARIS)[30],
    )
    assert 30 + 60 + 37 == len(polls)
    assert {"interval", "interval, moved to the beginning of its hours"} == reasons


def test_on_change_keeps_to_its_hours(make_world):
    """Also its first poll and a retry after an error; a requested check does not wait."""
    world: World = make_world(schedule__policy="round_robin")
    world.page("/a", "x")
    _begin(world, "2026-03-02T00:00")
    world.add("Create Sentinel s Using {/a} Monitor any change During daily 22:00 to 02:00 Zone UTC")

    with serve(world) as service:
        service.pass_time(2 * HOUR)
        assert ["02 00:00", "02 01:00"] == _looks(world)
        world.page("/a", "gone", status=500)
        service.pass_time(20 * HOUR)
        assert ["02 00:00", "02 01:00", "02 22:00"] == _looks(world)
        world.page("/a", "x")
        service.pass_time(8 * HOUR)
        before = len(world.polls())
        service.monitor.polling.requests.ask(1)
        service.settle()
        assert before + 1 == len(world.polls())
    hours = {local_of(p.charged_at, UTC).hour for p in world.polls()[:-1]}

    assert hours <= {22, 23, 0, 1}


def test_hours_of_one_sentinel_do_not_affect_another(world: World):
    """The one with hours takes a fresh poll of the other at its opening."""
    world.page("/a", "<p>count 0</p>")
    _begin(world, "2026-03-02T00:00")
    world.add(
        "Create Sentinel all Using {/a} Monitor all words Fetch every 1 hour; "
        "Create Sentinel day Using {/a} Monitor all words Fetch every 1 hour During daily 08:00 to 10:00"
    )

    with serve(world) as service:
        service.pass_time(DAY - MINUTE)

    assert 24 == len(world.polls())


def test_poll_outside_the_hours_of_a_sentinel_is_not_reported(make_world):
    """Night changes are one comparison at the opening; by day each hour's change is reported."""
    world: World = make_world(schedule__policy="best_effort")  # which looks on the hour
    _begin(world, "2026-03-02T00:00")
    world.page("/a", "<p>count 0</p>")
    world.add(
        "Create Sentinel all Using {/a} Monitor all words Fetch every 1 hour; "
        "Create Sentinel day Using {/a} Monitor all words Fetch every 1 hour During daily 08:00 to 10:00; "
        "Create Sentinel learns Using {/a} Monitor all words Fetch on change During daily 08:00 to 10:00"
    )

    with serve(world) as service:
        for hour in range(1, 24):
            service.pass_time(59 * MINUTE)
            world.page("/a", f"<p>count {hour}</p>")
            service.pass_time(MINUTE)
    reported = {name: [c["detected_at"][11:16] for c in world.changes(name)] for name in ("all", "day", "learns")}

    assert len(reported["all"]) >= 22
    assert {"08", "09"} == {time[:2] for time in reported["day"] + reported["learns"]}
    assert ["0"] == [c["updated"][0]["old"] for c in world.changes("day")[:1]]
    assert len([poll for poll in world.polls() if not "08" <= str(rfc3339(poll.charged_at))[11:13] <= "10"]) <= 22


def test_hours_missed_in_downtime_are_not_made_up_for(world: World):
    """No poll is made outside the hours after a restart."""
    world.page("/a", "x")
    _begin(world, "2026-03-02T08:30")
    world.add("Create Sentinel s Using {/a} Monitor any change Fetch every 1 hour During daily 08:00 to 12:00")
    play(world, lambda monitor: world.pass_time(monitor, HOUR))
    world.clock.advance(10 * HOUR)

    play(world, lambda monitor: world.pass_time(monitor, DAY))

    assert ["02 08:30", "02 09:30", "03 08:00"] == _looks(world)[:3]


def test_operator_s_zone_is_the_default(make_world):
    """Sentinels without a zone use serve.zone."""
    world: World = make_world(serve__zone="Europe/Paris")
    world.page("/a", "x")
    _begin(world, "2026-07-01T00:00")
    world.add("Create Sentinel s Using {/a} Monitor any change Fetch at 08:00")

    play(world, lambda monitor: world.pass_time(monitor, DAY))

    assert ["01 06:00"] == _looks(world)


@pytest.mark.parametrize("policy", sorted(BY_TURNS))
def test_plan_shows_the_next_poll(make_world, policy):
    """Stateless policies are evaluated; the poll comes exactly then."""
    world = make_world(schedule__policy=policy)
    for number in range(3):
        world.page(f"/{number}", "<p>one</p>")
        world.add(f"Create Sentinel s{number} Using {{/{number}}} Monitor all words")

    with serve(world) as service:
        service.settle()
        now = world.clock.now()
        turns = world.read(plan.find_turns, world.settings, now)
        planned = world.read(list_coming_polls, world.settings, names=(), now=now, turns=turns)
        service.pass_time(12 * HOUR)
        made = {poll.page_id: world.polls(poll.page_id)[1].charged_at for poll in planned}
        assert {poll.page_id: poll.prospect.at for poll in planned} == made
