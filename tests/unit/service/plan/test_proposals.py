"""What the policy knows about pages, and when it would poll them."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from tests.planner import make_watched
from tidings.clock import DAY, HOUR, MINUTE, SECOND
from tidings.estimation.learner import GammaLearner
from tidings.model.observed.page import Saturation
from tidings.model.observed.unit import PollOutcome, PollRecord, Unit
from tidings.scheduling.learned import Learned
from tidings.scheduling.paced.turns import RoundRobin
from tidings.scheduling.policy import NEVER
from tidings.scheduling.price.policy import Price
from tidings.service.plan.proposals import RESTLESS, Proposals
from tidings.service.watch.watchlist import WatchedPage

START = 1_700_000_000_000_000 // DAY * DAY


def make_proposals(pages: dict[int, WatchedPage], policy: Any = None, **more: Any) -> Proposals:
    """Return proposals for pages with different hosts."""
    proposals = Proposals(
        RoundRobin(HOUR) if policy is None else policy,
        pages,
        floor=MINUTE,
        rng=np.random.default_rng(0),
        cost=lambda _: 1.0,
        code=lambda host: int(host.removeprefix("h").partition(".")[0]),
        **more,
    )
    proposals.update_policy([*pages], [], lambda _: False)
    return proposals


def page_of(page_id: int, clauses: str = "", *, checked_at: int | None = START, **state: Any) -> WatchedPage:
    """Return a page that was checked at midnight."""
    page = make_watched(page_id, clauses, at=START - DAY)
    page.state = replace(page.state, last_seq=1, checked_at=checked_at, polled_at=checked_at, **state)
    return page


def make_unit(page_id: int, at: int, outcome: PollOutcome = "unchanged", *, changed: bool = False) -> Unit:
    """Return the unit of a poll of a page."""
    record = PollRecord(poll_id=1, page_id=page_id, finished_at=at, outcome=outcome, text_changed=changed)
    return Unit(at=at, epoch=1, poll=record)


def make_policy(policy: Any = None) -> Learned:
    """Return a policy that learns the rates of pages."""
    return Learned(policy or Price(), GammaLearner())


def test_policy_has_only_pages_on_change():
    """A page that gets a fixed interval leaves it."""
    pages = {1: page_of(1), 2: page_of(2, "Fetch every 1 hour")}
    proposals = make_proposals(pages)

    assert {1: START + HOUR} == proposals.dues([1, 2])
    assert [1] == proposals.state.population.ids.tolist()

    pages[1] = pages[2]
    proposals.update_policy([1], [], lambda _: True)

    assert {} == proposals.dues([1])
    assert [] == proposals.state.population.ids.tolist()


def test_removed_page_is_forgotten():
    """The page has no due time, no last poll and no bid."""
    pages = {1: page_of(1), 2: page_of(2)}
    proposals = make_proposals(pages)
    del pages[1]
    proposals.update_policy([], [1], lambda _: True)
    ids = np.array([1, 2])

    assert [0, START] == proposals.get_last_polled(ids).tolist()
    assert [True, False] == (proposals.bids(ids, START + DAY, 0.0) == 0).tolist()


def test_policy_learns_only_from_successful_polls():
    """After a failure, the time until the next change is unknown."""
    pages = {1: page_of(1), 2: page_of(2)}
    proposals = make_proposals(pages, make_policy())
    for page in (1, 2):
        proposals.observe(page, make_unit(page, START, "new"))
    proposals.update_policy([1, 2], [], lambda _: True)
    usual = proposals.find_chances([1, 2], [1.0, 1.0])
    proposals.observe(1, make_unit(1, START + HOUR, "error"))

    assert not proposals.has_news

    for page in (1, 2):
        proposals.observe(page, make_unit(page, START + DAY, "changed", changed=True))

    assert proposals.has_news

    for known in pages.values():
        known.state = replace(known.state, checked_at=START + DAY)
    proposals.update_policy([1, 2], [], lambda _: True)
    chances = proposals.find_chances([1, 2, 9], [1.0, 1.0, 1.0])

    assert not proposals.has_news
    assert usual[1] == usual[2]
    assert chances[2] > chances[1]
    assert {1, 2} == chances.keys()


def test_memory_is_returned_once_and_can_be_recalled():
    """The memory has what was learned since the last call. A page that could not be stored is
    returned again.
    """
    pages = {1: page_of(1), 2: page_of(2)}
    proposals, later = make_proposals(pages, make_policy()), make_proposals(pages, make_policy())
    outcomes: list[tuple[int, PollOutcome]] = [(START, "new"), (START + HOUR, "changed")]
    for at, outcome in outcomes:
        proposals.observe(1, make_unit(1, at, outcome, changed=at > START))
        proposals.update_policy([1, 2], [], lambda _: True)
    memories = proposals.memories()

    assert {1} == memories.keys()
    assert {} == proposals.memories()

    proposals.owe([1])

    assert memories == proposals.memories()
    assert [1] == later.recall({**memories, 9: memories[1]})
    assert proposals.find_chances([1], [1.0]) == later.find_chances([1], [1.0])
    assert later.find_chances([1], [1.0])[1] != later.find_chances([2], [1.0])[2]


def test_policy_without_memory_stores_nothing():
    """Round-robin has none."""
    proposals = make_proposals({1: page_of(1)})

    assert proposals.memory(1) is None
    assert [] == proposals.recall({1: {"rate": 1}})
    assert {} == proposals.find_chances([1], [1.0])


def test_memory_has_the_wait_of_a_page_in_seconds():
    """The wait is the time from the last poll to the next at the present price."""
    proposals = make_proposals({1: page_of(1)}, make_policy())
    due, memory = proposals.due(1), proposals.memory(1)

    assert due is not None
    assert memory is not None
    assert pytest.approx((due - START) / SECOND) == memory["period"]


@pytest.mark.parametrize(
    ("clauses", "soonest", "shortest"),
    [("", 0, 0), ("", 5 * MINUTE, 5 * MINUTE), ("Fetch on change between 2 hour and 1 day", 5 * MINUTE, 2 * HOUR)],
)
def test_page_on_change_keeps_the_shortest_interval(clauses: str, soonest: int, shortest: int):
    """The interval of a sentinel is preferred to the setting."""
    proposals = make_proposals({1: page_of(1, clauses)}, soonest=soonest)

    assert [shortest] == proposals.state.population["shortest"].tolist()


def test_restless_page_gets_at_most_its_even_share():
    """The page waits at least an hour. With two pages and six polls a day, it waits eight hours."""
    restless = page_of(1, saturation=Saturation(since=START))
    rich = make_proposals({1: restless, 2: page_of(2)}, budget=1e6 / DAY)
    pages = {1: restless, 2: page_of(2)}
    poor = make_proposals(pages, budget=6 / DAY)
    poor.update_policy([1, 2], [], lambda _: True)

    assert [RESTLESS, 0] == rich.state.population["shortest"].tolist()
    assert [8 * HOUR, 0] == poor.state.population["shortest"].tolist()


def test_stretch_lengthens_the_longest_waits():
    """A page without a longest wait is unchanged."""
    pages = {1: page_of(1, "Fetch on change between 1 hour and 1 day"), 2: page_of(2)}
    proposals = make_proposals(pages)
    proposals.stretch = 2.5
    proposals.update_policy([1, 2], [], lambda _: True)

    assert [round(2.5 * DAY), NEVER] == proposals.state.population["longest"].tolist()


def test_page_is_as_old_as_its_oldest_sentinel():
    """Unknown pages have no age."""
    proposals = make_proposals({1: page_of(1)})

    assert [START - DAY, 0] == proposals.get_added_at(np.array([1, 9])).tolist()


def test_poll_without_hints_has_an_unknown_number_of_changes():
    """The poll only shows whether there was a change."""
    proposals = make_proposals({1: page_of(1)})
    proposals.observe(1, make_unit(1, START + HOUR))

    assert math.isnan(proposals._observed[1].changes)
