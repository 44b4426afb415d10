"""The allocator: which pages are polled now."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linear_sum_assignment

from tests.examples import share
from tidings.lab import wic as law
from tidings.lab.wic import WicPage, wic
from tidings.lab.wic import best as optimal
from tidings.scheduling.allocator import choose

PAGES = st.lists(
    st.tuples(st.integers(0, 6), st.integers(1, 4), st.integers(0, 3), st.booleans()), min_size=0, max_size=8
)


def columns(pages):
    """Return bids, costs, hosts and the flags of pages, a tuple each."""
    return zip(*pages, strict=True) if pages else ((), (), (), ())


def choose_pages(bids, *, cost=None, host=None, tokens=100.0, **other):
    count = len(bids)
    return choose(
        np.array(bids, dtype=float),
        np.ones(count) if cost is None else np.array(cost, dtype=float),
        np.arange(count) if host is None else np.array(host),
        tokens,
        **other,
    ).tolist()


def mask(*values):
    return np.array(values, dtype=bool)


def test_highest_bids_are_chosen():
    """They are polled best first, as many as there are tokens."""
    assert [3, 1] == choose_pages([1.0, 3.0, 2.0, 4.0], tokens=2)


def test_ties_go_to_the_page_added_first():
    """It has the lower index."""
    assert [1, 2] == choose_pages([0.5, 0.9, 0.9, 0.9], tokens=2)


@given(PAGES, st.lists(st.integers(0, 2), min_size=8, max_size=8), st.integers(1, 3), st.integers(1, 8))
@share(1)
def test_higher_tier_comes_first(pages, tiers, connections, limit):
    """Within a tier bids decide."""
    bids, _, host, flying = columns(pages)
    tiers = tiers[: len(pages)]
    limits = {
        "host": host,
        "in_flight": mask(*flying),
        "host_connections": connections,
        "limit": limit,
    }
    apart = [bid + 1_000.0 * tier if bid > 0 else bid for bid, tier in zip(bids, tiers, strict=True)]

    assert choose_pages(apart, **limits) == choose_pages(bids, tier=np.array(tiers, dtype=np.int64), **limits)


def test_expensive_page_of_a_lower_tier_displaces_none():
    """A single page competes only with others of its tier."""
    assert [0] == choose_pages([1.0, 9.0], cost=[1.0, 5.0], tokens=5, tier=np.array([1, 0]))
    assert [1] == choose_pages([10.0, 9.0], cost=[1.0, 5.0], tokens=5, tier=np.array([0, 0]))


@pytest.mark.parametrize("bid", [0.0, -1.0, float("nan")])
def test_page_without_a_bid_is_not_polled(bid):
    """Budget may remain."""
    assert [] == choose_pages([bid])


def test_best_page_of_a_host_is_chosen():
    """If two are equal, it is the one with the lower index."""
    assert [1, 2] == choose_pages([1.0, 3.0, 2.0, 2.0], host=[7, 7, 9, 9])


def test_host_with_two_connections_has_two_polls():
    """The second best page is polled as well."""
    assert [0, 2, 1] == choose_pages([4.0, 2.0, 3.0, 1.0], host=[7, 7, 7, 7], host_connections=3)


@pytest.mark.parametrize("ready", [{1: False}, np.array([True, False, True])], ids=["mapping", "array"])
def test_page_of_a_host_that_is_not_ready_waits(ready):
    """It takes no budget from others."""
    assert [2, 0] == choose_pages([1.0, 5.0, 3.0], host=[0, 1, 2], tokens=2, host_ready=ready)


def test_page_in_flight_takes_a_connection():
    """It is not chosen again, and with one connection no other page of its host is."""
    flying = mask(True, False, False)

    assert [2] == choose_pages([9.0, 8.0, 1.0], host=[4, 4, 5], in_flight=flying)
    assert [1, 2] == choose_pages([9.0, 8.0, 1.0], host=[4, 4, 5], in_flight=flying, host_connections=2)


def test_page_outside_its_hours_waits():
    """It is not polled."""
    assert [1] == choose_pages([9.0, 1.0], open_now=mask(False, True))


def test_at_most_limit_pages_are_chosen():
    """The budget may be larger."""
    assert [2, 1] == choose_pages([1.0, 2.0, 3.0], limit=2)
    assert [] == choose_pages([1.0], limit=0)


def test_expensive_page_is_skipped_if_nothing_is_saved():
    """The rest of the budget goes to pages that fit."""
    assert [1, 2] == choose_pages([5.0, 4.0, 3.0], cost=[100, 1, 1], tokens=2)
    assert [0, 2, 3] == choose_pages([9.0, 2.0, 1.9, 1.8], cost=[3, 4, 1, 1], tokens=5)
    assert [0, 2] == choose_pages([9.0, 2.0, 1.9, 1.8], cost=[3, 4, 1, 1], tokens=5, limit=2)


def test_budget_is_saved_for_an_expensive_page():
    """Cheap pages cannot starve one that bids more: with `burst` it holds them back until it fits."""
    assert [] == choose_pages([5.0, 4.0, 3.0], cost=[10, 1, 1], tokens=2, burst=20)
    assert [0] == choose_pages([5.0, 4.0, 3.0], cost=[10, 1, 1], tokens=10, burst=20)
    assert [1, 2] == choose_pages([5.0, 4.0, 3.0], cost=[30, 1, 1], tokens=2, burst=20)


def test_unaffordable_page_takes_no_place_of_its_host():
    """The best affordable one is polled instead; while saving, only pages that cost more than can
    be saved are skipped.
    """
    assert [1] == choose_pages([5.0, 4.0], cost=[10, 1], host=[7, 7], tokens=2)
    assert [1] == choose_pages([5.0, 4.0], cost=[1.5, 1], host=[7, 7], tokens=1.2)
    assert [1] == choose_pages([5.0, 4.0], cost=[30, 1], host=[7, 7], tokens=2, burst=20)
    assert [] == choose_pages([5.0, 4.0], cost=[10, 1], host=[7, 7], tokens=2, burst=20)


@settings(max_examples=200, deadline=None)
@given(
    PAGES, st.integers(0, 12), st.integers(1, 3), st.integers(0, 5), st.lists(st.integers(0, 6), min_size=3, max_size=3)
)
def test_all_limits_hold_together(pages, tokens, connections, limit, class_tokens):
    """Budget, classes, hosts, places in flight and number are kept for all costs; each page is
    chosen once, best first.
    """
    bids, cost, host, flying = columns(pages)
    class_number = np.arange(len(pages)) % 3
    rows = choose_pages(
        bids,
        cost=cost,
        host=np.array(host, dtype=int),
        tokens=tokens,
        in_flight=np.array(flying, dtype=bool),
        host_connections=connections,
        limit=limit,
        class_number=class_number,
        class_tokens=np.array(class_tokens, dtype=float),
    )
    busy = [host[row] for row in [*rows, *np.flatnonzero(flying)]]

    assert len(set(rows)) == len(rows) <= limit
    assert sum(cost[row] for row in rows) <= tokens
    assert all(sum(cost[row] for row in rows if class_number[row] == n) <= class_tokens[n] for n in range(3))
    assert all(busy.count(host[row]) <= connections for row in rows)
    assert [bids[row] for row in rows] == sorted((bids[row] for row in rows), reverse=True)


def test_expensive_page_is_chosen_if_it_is_worth_more():
    """Greedy order alone would choose the page with the best rate and waste the budget."""
    assert [1] == choose_pages([1.1, 1.0], cost=[1, 10], tokens=10)


def test_empty_bucket_grants_nothing():
    """No page is polled."""
    assert [] == choose_pages([1.0], tokens=0.0)


def test_inputs_are_not_changed():
    """The arrays of the caller stay the same."""
    bids, flying = np.array([1.0, 2.0]), mask(True, False)
    choose(bids, np.ones(2), np.arange(2), 2.0, in_flight=flying, open_now=flying)

    assert [1.0, 2.0] == bids.tolist()
    assert [True, False] == flying.tolist()


def test_class_is_not_overdrawn():
    """Its pages get no more than it has; one that is too expensive holds back those of its class
    that bid less.
    """
    class_tokens = np.array([np.inf, 3.0, 0.5])
    class_number = np.array([1, 2, 1, 0, 1, 0])

    assert [0, 2, 3, 5] == choose_pages(
        [6.0, 5.0, 4.0, 3.0, 2.0, 1.0], cost=[1, 1, 2, 9, 1, 1], class_number=class_number, class_tokens=class_tokens
    )
    assert [0, 3, 5] == choose_pages(
        [6.0, 5.0, 4.0, 3.0, 2.0, 1.0], cost=[1, 1, 3, 9, 1, 1], class_number=class_number, class_tokens=class_tokens
    )


def test_page_of_an_empty_class_takes_no_place_of_its_host():
    """Others of the host get their turn."""
    assert [1] == choose_pages(
        [2.0, 1.0], host=[7, 7], class_number=np.array([1, 0]), class_tokens=np.array([np.inf, 0.9])
    )


def test_large_host_numbers_take_no_memory():
    """They are names: a large one makes no large array."""
    assert [0, 2] == choose_pages([3.0, 2.0, 1.0], host=[2**60, 2**60, 5])


def worth(rows, bids, cost):
    return sum(bids[row] * cost[row] for row in rows)


def best(pages, tokens, connections, limit):
    """Return the best feasible worth, by trying every set."""
    bids, cost, host, flying = columns(pages)
    free = [row for row in range(len(pages)) if bids[row] > 0 and not flying[row]]
    top = 0
    for size in range(min(len(free), limit) + 1):
        for rows in itertools.combinations(free, size):
            busy = [host[row] for row in rows] + [host[row] for row in range(len(pages)) if flying[row]]
            if sum(cost[row] for row in rows) <= tokens and all(busy.count(host[row]) <= connections for row in rows):
                top = max(top, worth(rows, bids, cost))
    return top


@share(4)
@given(PAGES, st.integers(0, 6), st.integers(1, 3), st.integers(0, 5))
def test_choice_is_optimal_for_equal_costs(pages, tokens, connections, limit):
    """No feasible set is worth more, with hosts, pages in flight and limit."""
    pages = [(bid, 1, host, flying) for bid, _, host, flying in pages]
    bids, cost, host, flying = columns(pages)
    rows = choose_pages(
        bids,
        cost=cost,
        host=np.array(host, dtype=int),
        tokens=tokens,
        in_flight=np.array(flying, dtype=bool),
        host_connections=connections,
        limit=limit,
    )

    assert best(pages, tokens, connections, limit) == worth(rows, bids, cost)


@share(4)
@given(PAGES, st.integers(0, 12))
def test_choice_is_worth_half_of_the_best_for_other_costs(pages, tokens):
    """With one page a host it is feasible and worth at least half of the best (scheduling §1.4)."""
    pages = [(bid, cost, row, False) for row, (bid, cost, _, _) in enumerate(pages)]
    bids, cost, host, _ = columns(pages)
    rows = choose_pages(bids, cost=cost, host=np.array(host, dtype=int), tokens=tokens)

    assert sum(cost[row] for row in rows) <= tokens
    assert best(pages, tokens, 1, 8) <= 2 * worth(rows, bids, cost)


@settings(max_examples=100, deadline=None)
@given(PAGES, st.integers(0, 8), st.sets(st.integers(0, 3)), st.integers(1, 2))
def test_closed_and_waiting_pages_have_no_other_effect(pages, tokens, waiting, connections):
    """The choice is that without them."""
    bids, cost, host, closed = columns(pages)
    common = {"cost": cost, "host": np.array(host, dtype=int), "tokens": tokens, "host_connections": connections}
    silent = [0 if shut or name in waiting else bid for bid, name, shut in zip(bids, host, closed, strict=True)]
    limits = {"open_now": ~np.array(closed, dtype=bool), "host_ready": dict.fromkeys(waiting, False)}

    assert choose_pages(silent, **common) == choose_pages(bids, **common, **limits)


@settings(max_examples=25, deadline=None)
@given(
    st.integers(0, 2**32 - 1),
    st.sampled_from([law.uniform(), law.exponential(0.5), law.sliding_window(0)]),
)
def test_half_of_the_best_choice_earns_one_part_in_2_plus_a(seed, urgency):
    """WIC with this allocator, g/c and the single best page, is compared with all schedules within
    the costs: OPT ≤ (1/β + a)·ALG with β = ½ (scheduling §1.4).
    """
    rng = np.random.default_rng(seed)
    cost, tokens = rng.integers(1, 4, 3).astype(float), 3.0
    pages = [WicPage(rng.uniform(0, 1, 4), law.forever(), urgency, rng.uniform(0.2, 2)) for _ in range(3)]
    greedy = wic(pages, lambda gains, _: choose(gains / cost, cost, np.arange(3), tokens))
    most = optimal(pages, 3, is_feasible=lambda rows: cost[list(rows)].sum() <= tokens).utility

    assert all(cost[list(rows)].sum() <= tokens for rows in greedy.polls)
    assert most <= (2 + law.steepness(urgency, 4)) * greedy.utility + 1e-9


@settings(max_examples=100, deadline=None)
@given(st.lists(st.integers(0, 6), min_size=1, max_size=6), st.integers(1, 2))
def test_order_by_lateness_moves_polls_as_little_as_transport(ideal, capacity):
    """If a poll can only be later, no assignment of polls to slots is sooner in all (002 §5)."""
    slots = [instant for instant in range(14) for _ in range(capacity)]
    waiting = sorted(ideal)
    late = 0
    for now in range(14):
        rows = choose_pages([float(now - at + 1) if at <= now else 0.0 for at in waiting], tokens=capacity)
        late += sum(now - waiting[row] for row in rows)
        waiting = [at for row, at in enumerate(waiting) if row not in rows]
    cost = np.array([[slot - at if slot >= at else 1e6 for slot in slots] for at in ideal])

    assert not waiting
    assert late == cost[linear_sum_assignment(cost)].sum()


def test_free_page_waits_without_a_budget():
    """All pages wait."""
    assert [] == choose_pages([1.0], cost=[0], tokens=0)
    assert [0] == choose_pages([1.0], cost=[0], tokens=0.5)


def test_class_limits_only_its_own_pages():
    """Pages are paid in turn; one that is too expensive holds back those of its class that bid
    less.
    """
    class_tokens = np.array([np.inf, 3.0])

    assert [0, 1, 3] == choose_pages(
        [9.0, 8.0, 7.0, 6.0], cost=[2, 1, 1, 9], class_number=np.array([1, 1, 1, 0]), class_tokens=class_tokens
    )
    assert [0, 3] == choose_pages(
        [9.0, 8.0, 7.0, 6.0], cost=[2, 2, 1, 9], class_number=np.array([1, 1, 1, 0]), class_tokens=class_tokens
    )
    assert [1] == choose_pages(
        [9.0, 8.0], cost=[4, 1], host=[5, 5], class_number=np.array([1, 0]), class_tokens=class_tokens
    )
    assert [0, 1] == choose_pages([9.0, 8.0], cost=[4, 1], class_number=np.array([1, 1]), class_tokens=None)
    assert [0] == choose_pages([9.0], cost=[3], class_number=np.array([1]), class_tokens=class_tokens)


def test_class_pays_the_highest_tier_first():
    """It can pay for the page that bids less but is in a higher tier, not for both."""
    of_one, class_tokens = np.array([1, 1]), np.array([np.inf, 3.0])

    assert [1] == choose_pages(
        [9.0, 1.0], cost=[4, 3], class_number=of_one, class_tokens=class_tokens, tier=np.array([0, 1])
    )
    assert [] == choose_pages(
        [9.0, 1.0], cost=[4, 3], class_number=of_one, class_tokens=class_tokens, tier=np.array([0, 0])
    )


def test_distant_host_numbers_have_no_effect():
    """The best page of each host is chosen."""
    far = [5, 1_000_000, 5, 1_000_000]

    assert [2, 1] == choose_pages([1.0, 3.0, 4.0, 2.0], host=far)
    assert [2, 1, 3] == choose_pages([1.0, 3.0, 4.0, 2.0], host=far, host_connections=2, limit=3)
    assert [2] == choose_pages([1.0, 3.0, 4.0, 2.0], host=far, in_flight=mask(False, True, False, False))
    assert [2, 3] == choose_pages(
        [1.0, 3.0, 4.0, 2.0], host=far, in_flight=mask(True, True, False, False), host_connections=2
    )


def test_rest_of_the_budget_goes_to_pages_that_fit():
    """They come best first, until nothing is left or the limit is reached; the first affordable
    rows count.
    """
    assert [0, 2] == choose_pages([9.0, 3.0, 2.9, 2.8], cost=[3, 4, 1, 1], tokens=4)
    assert [0, 1] == choose_pages([9.0, 3.0, 2.9, 2.8], cost=[3, 4, 1, 1], tokens=9, limit=2)
    assert [0] == choose_pages([9.0, 3.0, 2.9], cost=[3, 4, 1], tokens=5, burst=9)
    assert [0, 2] == choose_pages([9.0, 3.0, 2.9], cost=[3, 9.5, 1], tokens=5, burst=9)


def test_single_page_worth_more_than_all_others_is_chosen_alone():
    """The worth is bid times cost, as for a knapsack; if both are equal, the greedy choice is kept."""
    assert [1] == choose_pages([5.0, 2.0], cost=[1, 4], tokens=4)
    assert [0] == choose_pages([8.0, 2.0], cost=[1, 4], tokens=4)
    assert [0] == choose_pages([5.0, 2.0], cost=[1, 4], tokens=4, tier=np.array([1, 0]))
    assert [1] == choose_pages([5.0, 2.0], cost=[1, 4], tokens=4, tier=np.array([1, 1]))
