"""Promise: a page that differs at each poll is notified once, with what differs, and does not use
the polls of others.
"""

from __future__ import annotations

import itertools
import json
import random
import re
from typing import Any

import pytest

from tests.world import World, play, serve
from tidings.cli.main import main
from tidings.clock import DAY, HOUR, MINUTE
from tidings.model.observed.poll_reason import Why
from tidings.service.run.monitor import Monitor
from tidings.storage.observed import pages

SENTINEL = "Create Sentinel shop Using {/a} Monitor any change Notify By webhook {/hook}"


def rows(turn: int) -> str:
    """Return a table with more changing cells than a page can have masks."""
    cells = "".join(f"<tr><td>row {row}</td><td>n{(turn * 7919 + row * 31) % 99991}</td></tr>" for row in range(80))
    return f"<table>{cells}</table>"


def restless(world: World, turns: Any, body: Any = rows) -> None:
    """Serve another text at each request."""

    def answer(_: Any, wire: Any) -> None:
        page = body(next(turns)).encode()
        wire.send(b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: %d\r\n\r\n%s" % (len(page), page))

    world.server.pages["/a"] = answer


def list_records(world: World) -> list[str]:
    """Return the messages about restless pages."""
    return [m["data"]["summary"] for _, m in world.received if m["data"].get("event") == "page.saturated"]


def run(world: World, capsys: pytest.CaptureFixture[str], *words: str) -> str:
    """Run a command and return its output."""
    assert 0 == main(["--data", str(world.directory), *words])
    return capsys.readouterr().out


@pytest.mark.parametrize("policy", ["price", "round_robin"])
def test_restless_page_is_notified_once_under_every_policy(make_world, capsys, policy):
    """Also after a restart; `list`, `show` and `doctor` show it as long as it lasts."""
    world = make_world(schedule__policy=policy, fetch__page_floor_seconds="60", detect__second_polls="true")
    world.receiver()
    restless(world, itertools.count())
    world.add(SENTINEL)

    play(world, lambda monitor: world.pass_time(monitor, DAY))
    play(world, lambda monitor: world.pass_time(monitor, DAY // 2))

    (summary,) = list_records(world)
    assert re.search(r"differs at each check: 2[0-6] checks in a row", summary)
    assert '", then "n' in summary
    assert "Exclude" in summary
    assert "differs at each check" in run(world, capsys, "list")
    assert "differs at each check" in run(world, capsys, "show", "shop")
    assert "differs at each check" in run(world, capsys, "doctor")
    assert [] == world.violations()


def test_restless_page_is_polled_like_a_busy_one(make_world):
    """About sixty polls until it is found out, then one an hour: at least five minutes apart,
    unless its sentinel asks for more.
    """
    world = make_world(schedule__policy="price", fetch__page_floor_seconds="60")
    restless(world, itertools.count())
    world.add("Create Sentinel shop Using {/a} Monitor any change")
    begun = world.clock.now()

    play(world, lambda monitor: world.pass_time(monitor, 3 * DAY))
    at = [poll.charged_at for poll in world.polls()]
    by_day = [sum(day * DAY <= each - begun < (day + 1) * DAY for each in at) for day in range(3)]

    assert by_day[0] <= 60
    assert max(by_day[1:]) <= 31
    assert min(b - a for a, b in itertools.pairwise(at)) >= 5 * MINUTE


@pytest.mark.parametrize(("policy", "budget"), [("price", 64), ("best_effort", 200)])
def test_restless_pages_get_only_their_share_of_a_tight_budget(make_world, policy, budget):
    """Two of eight pages get about a quarter."""
    world = make_world(
        schedule__policy=policy,
        fetch__page_floor_seconds="60",
        detect__second_polls="true",
        budget__polls_per_day=str(budget),
        budget__burst=str(budget // 2),
    )
    turns = itertools.count()
    restless(world, turns)
    for number in range(8):
        world.page(f"/{number}", f"<p>{number}</p>")
        if number < 2:
            world.server.pages[f"/{number}"] = world.server.pages["/a"]
        world.add(f"Create Sentinel s{number} Using {{/{number}}} Monitor any change")

    async def story(monitor: Monitor) -> None:
        rng = random.Random(1)
        for edition in range(3 * 8):
            for number in range(2, 8):
                if rng.random() < 1 / 8:
                    world.page(f"/{number}", f"<p>{number}: {edition}</p>")
            await world.pass_time(monitor, 3 * HOUR)

    begun = world.clock.now()
    play(world, story)
    late = [poll for poll in world.polls() if poll.charged_at - begun > 2 * DAY]

    assert sum(poll.page_id <= 2 for poll in late) <= 0.3 * budget
    assert {1, 2} == {
        page_id for page_id in range(1, 9) if world.read(pages.state, page_id).saturation.since is not None
    }


def test_page_with_hourly_news_is_not_restless(make_world):
    """A second poll a minute later is equal; at most one poll in nine is spent so."""
    world = make_world(detect__second_polls="true")
    world.receiver()
    world.add(f"{SENTINEL} Fetch every 1 hour")

    with serve(world) as service:
        world.page("/a", rows(0))
        service.pass_time(2 * MINUTE)  # what is new each hour stays for the second poll
        for turn in range(1, 72):
            world.page("/a", rows(turn))
            service.pass_time(HOUR)

    assert [] == list_records(world)
    assert 71 == len(world.changes("shop"))
    assert 3 <= len([poll for poll in world.polls() if poll.reason.why is Why.SECOND]) <= 16


def test_restless_page_with_a_fixed_interval_is_notified(make_world):
    """Its second polls differ as well."""
    world = make_world(detect__second_polls="true")
    world.receiver()
    restless(world, itertools.count())
    world.add(f"{SENTINEL} Fetch every 1 hour")

    play(world, lambda monitor: world.pass_time(monitor, 2 * DAY))

    assert 1 == len(list_records(world))


def test_restless_state_ends_and_can_return(make_world, capsys):
    """Two equal polls end it."""
    world = make_world(schedule__policy="price", fetch__page_floor_seconds="60")
    world.receiver()
    turns = itertools.count()
    restless(world, turns)
    world.add(SENTINEL)

    with serve(world) as service:
        service.pass_time(DAY)
        world.page("/a", rows(0))
        service.pass_time(DAY)

    assert 1 == len(list_records(world))
    assert "differs at each check" not in run(world, capsys, "list")

    with serve(world) as service:
        restless(world, turns)
        service.pass_time(2 * DAY)

    assert 2 == len(list_records(world))


def test_mask_for_a_restless_page_is_offered(make_world, capsys):
    """Polls are too far apart to learn it automatically; `--off` undoes it."""
    world = make_world(schedule__policy="price", fetch__page_floor_seconds="900", detect__second_polls="true")
    world.receiver()
    restless(
        world, itertools.count(1000), lambda turn: f"<h1>The shop of the town</h1><p>token k{turn}x</p><p>Boots 5</p>"
    )
    world.add(SENTINEL)

    async def story(monitor: Monitor) -> None:
        await world.pass_time(monitor, DAY)

    play(world, story)
    (summary,) = list_records(world)
    (offer,) = [json.loads(line) for line in run(world, capsys, "mask", "shop", "--json").splitlines()]
    news = len(world.received)

    assert ("offered", True) == (offer["kind"], offer["off"])
    assert f"tidings mask shop --on {offer['id']}" in summary
    assert f"tidings mask shop --on {offer['id']}" in run(world, capsys, "show", "shop")
    assert "ignored because you chose it" in run(world, capsys, "mask", "shop", "--on", offer["id"])

    play(world, story)
    assert news == len(world.received)
    assert "differs at each check" not in run(world, capsys, "list")

    assert "no mask yet" in run(world, capsys, "mask", "shop", "--off", offer["id"])
    play(world, story)
    assert news < len(world.received)


def test_alternating_page_is_not_learned_as_fast(make_world):
    """A, B, A: its rate falls once it is masked."""
    world = make_world(schedule__policy="price", fetch__page_floor_seconds="60", detect__second_polls="true")
    faces = ("the red coat is here", "a blue hat is there")
    restless(
        world, itertools.cycle((0, 1)), lambda turn: f"<h1>The shop of the town</h1><p>{faces[turn]}</p><p>Boots 5</p>"
    )
    world.add("Create Sentinel shop Using {/a} Monitor any change")

    play(world, lambda monitor: world.pass_time(monitor, 8 * DAY))
    end = world.clock.now()
    first, last = (sum(day <= (end - p.charged_at) // DAY < day + 1 for p in world.polls()) for day in (7, 0))

    assert last <= 20 < first
    assert [] == [change for change in world.changes("shop") if not change["quiet"]][6:]
