"""Promise: with `schedule.policy = price` pages are polled by rate of change and importance, within
the budget.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import pytest

from tests.world import play, serve
from tidings.clock import DAY, HOUR, MINUTE, SECOND
from tidings.service.explain.plan_expert import appraise
from tidings.service.run.from_settings import open_planner
from tidings.service.run.monitor import Monitor
from tidings.service.watch.page_schedule import Needs
from tidings.service.watch.watchlist import load_pages


def list_polls(world: Any, page_id: int) -> list[int]:
    """Return the times at which a page was polled."""
    return [poll.charged_at for poll in world.polls(page_id)]


def test_changing_page_is_polled_more_often_than_a_still_one(make_world):
    """Within two days both find their rate; a restart loses nothing."""
    world = make_world(schedule__policy="price", fetch__page_floor_seconds="60")
    world.page("/busy", "<p>edition 0</p>")
    world.page("/still", "<p>for ever</p>")
    world.add(
        "Create Sentinel busy Using {/busy} Monitor all words;Create Sentinel still Using {/still} Monitor all words"
    )

    with serve(world) as service:
        for edition in range(1, 2 * 24):
            world.page("/busy", f"<p>edition {edition}</p>")
            service.pass_time(HOUR)
    gaps = {page: [b - a for a, b in pairwise(list_polls(world, page))][-4:] for page in (1, 2)}

    with serve(world) as service:
        service.pass_time(12 * HOUR)
    after = [b - a for a, b in pairwise(list_polls(world, 2))][-2:]

    assert max(gaps[1]) < 25 * MINUTE
    assert min(gaps[2]) > HOUR
    assert min(after) > HOUR
    assert 42 < len(world.changes("busy"))
    assert [] == world.violations()


def test_importance_and_urgency_raise_the_rate(make_world):
    """Of similar pages, the more important and the more urgent are polled more.

    No clause is reported as without effect.
    """
    world = make_world(schedule__policy="price", fetch__page_floor_seconds="60")
    for path in ("/plain", "/important", "/urgent"):
        world.page(path, "<p>as it was</p>")
    world.add(
        "Create Sentinel plain Using {/plain} Monitor all words;"
        "Create Sentinel important Using {/important} Monitor all words Importance 1;"
        "Create Sentinel urgent Using {/urgent} Monitor all words Urgency exponential 1 hour"
    )

    with serve(world) as service:
        service.pass_time(DAY)
    plain, important, urgent = (len(list_polls(world, page)) for page in (1, 2, 3))

    assert plain < important
    assert plain < urgent


def test_budget_sets_the_price(make_world):
    """Six pages demand more polls than there are: the budget is nearly used, never exceeded, and no
    page starves.
    """
    world = make_world(
        schedule__policy="price",
        fetch__page_floor_seconds="60",
        budget__polls_per_day="60",
        budget__burst="6",
        schedule__pace_seconds="300",
    )
    for page in range(6):
        world.page(f"/{page}", "<p>0</p>")
    world.add(";".join(f"Create Sentinel s{page} Using {{/{page}}} Monitor all words" for page in range(6)))

    with serve(world) as service:
        for edition in range(1, 9):
            for page in (0, 3):
                world.page(f"/{page}", f"<p>{edition}</p>")
            service.pass_time(6 * HOUR)
    made = world.polls()

    assert 0.75 * 120 < len(made) <= 120 + 6
    assert all(len(list_polls(world, page)) >= 3 for page in range(1, 7))


def test_certificate_is_computed_from_stored_data(make_world):
    """After eight days: it covers a week, its bound is near and above the result, and it has
    predicted and found changes. Price and next checks are the service's, except what hosts have
    taught since.
    """
    world = make_world(schedule__policy="price", schedule__pace_seconds="14400", fetch__page_floor_seconds="60")
    for page in range(3):
        world.page(f"/{page}", "<p>0</p>")
    world.add(";".join(f"Create Sentinel s{page} Using {{/{page}}} Monitor all words" for page in range(3)))
    served: list[Any] = []

    async def story(monitor: Monitor) -> None:
        rng = np.random.default_rng(1)
        for edition in range(1, 8 * 6):
            for page in np.flatnonzero(rng.random(3) < [0.05, 0.2, 0.6]):
                world.page(f"/{page}", f"<p>{edition}</p>")
            await world.pass_time(monitor, 4 * HOUR)
        planner = monitor.planner
        served.append((planner.proposals.price, [planner.due_at(page) for page in (1, 2, 3)]))

    play(world, story)
    settings, needs = world.settings, Needs()
    pages = world.read(load_pages, zone="UTC")
    planner = open_planner(settings, pages, needs)
    planner.touch(pages)
    found = world.read(appraise, planner, needs, policy="price", budget=50_000.0, now=world.clock.now())
    assert found is not None
    certificate = found.certificate
    assert certificate is not None

    price, dues = served[0]
    assert price == found.price
    assert dues == pytest.approx([planner.due_at(page) for page in (1, 2, 3)], abs=SECOND)
    assert 7.0 == found.days
    assert {"price"} == {bid.due for bid in found.bids.values()}
    assert 0.9 < certificate.value / certificate.bound <= 1
    assert 0.6 < certificate.fit < 1.6
    assert len(world.polls()) - 12 * 3 < certificate.polls < len(world.polls())
