import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linear_sum_assignment

from tests.examples import share
from tidings.lab import wic as law
from tidings.lab.wic import Page, wic
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


def test_best_bids_win():
    """The highest bids are polled, best first, as many as there are tokens."""
    assert [3, 1] == choose_pages([1.0, 3.0, 2.0, 4.0], tokens=2)


def test_ties_go_to_the_lower_index():
    """Pages of equal worth are polled in the order in which they were added."""
    assert [1, 2] == choose_pages([0.5, 0.9, 0.9, 0.9], tokens=2)


@given(PAGES, st.lists(st.integers(0, 2), min_size=8, max_size=8), st.integers(1, 3), st.integers(1, 8))
@share(1)
def test_a_higher_tier_goes_first_whatever_the_others_bid(pages, tiers, connections, limit):
    """As if its bids were so much more than all others; within a tier bids decide."""
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


def test_a_dear_page_of_a_lower_tier_pushes_nobody_out():
    """One page alone is worth more only than others of its tier."""
    assert [0] == choose_pages([1.0, 9.0], cost=[1.0, 5.0], tokens=5, tier=np.array([1, 0]))
    assert [1] == choose_pages([10.0, 9.0], cost=[1.0, 5.0], tokens=5, tier=np.array([0, 0]))


@pytest.mark.parametrize("bid", [0.0, -1.0, float("nan")])
def test_who_does_not_bid_is_left_alone(bid):
    """A budget is never spent on pages that are not worth it."""
    assert [] == choose_pages([bid])


def test_one_page_a_host():
    """Of each host the best page goes, the lower index where two are equal."""
    assert [1, 2] == choose_pages([1.0, 3.0, 2.0, 2.0], host=[7, 7, 9, 9])


def test_hosts_may_have_more_connections():
    """With two connections the second best of a host goes as well."""
    assert [0, 2, 1] == choose_pages([4.0, 2.0, 3.0, 1.0], host=[7, 7, 7, 7], host_connections=3)


@pytest.mark.parametrize("ready", [{1: False}, np.array([True, False, True])], ids=["mapping", "array"])
def test_host_that_is_not_ready_waits(ready):
    """A host within its gap or pause is not asked, and its page takes no budget from others."""
    assert [2, 0] == choose_pages([1.0, 5.0, 3.0], host=[0, 1, 2], tokens=2, host_ready=ready)


def test_page_in_flight_is_not_chosen_again_and_takes_a_connection():
    """Neither the page itself nor, with one connection, another of its host is started."""
    flying = mask(True, False, False)

    assert [2] == choose_pages([9.0, 8.0, 1.0], host=[4, 4, 5], in_flight=flying)
    assert [1, 2] == choose_pages([9.0, 8.0, 1.0], host=[4, 4, 5], in_flight=flying, host_connections=2)


def test_closed_page_waits():
    """Outside its hours a page is not polled."""
    assert [1] == choose_pages([9.0, 1.0], open_now=mask(False, True))


def test_limit_bounds_the_number():
    """No more than `limit` are started, however much budget there is."""
    assert [2, 1] == choose_pages([1.0, 2.0, 3.0], limit=2)
    assert [] == choose_pages([1.0], limit=0)


def test_dear_page_is_passed_over_when_nothing_is_saved_up():
    """What is left of the budget goes to those that fit."""
    assert [1, 2] == choose_pages([5.0, 4.0, 3.0], cost=[100, 1, 1], tokens=2)
    assert [0, 2, 3] == choose_pages([9.0, 2.0, 1.9, 1.8], cost=[3, 4, 1, 1], tokens=5)
    assert [0, 2] == choose_pages([9.0, 2.0, 1.9, 1.8], cost=[3, 4, 1, 1], tokens=5, limit=2)


def test_dear_page_is_saved_up_for():
    """Cheap pages cannot starve a dear one that bids more: with `burst` it holds them back until it fits."""
    assert [] == choose_pages([5.0, 4.0, 3.0], cost=[10, 1, 1], tokens=2, burst=20)
    assert [0] == choose_pages([5.0, 4.0, 3.0], cost=[10, 1, 1], tokens=10, burst=20)
    assert [1, 2] == choose_pages([5.0, 4.0, 3.0], cost=[30, 1, 1], tokens=2, burst=20)


def test_a_page_that_nobody_can_pay_for_takes_no_place_of_its_host():
    """The best that can be paid goes in its stead; while saving up only what is dearer than all that can be saved is passed over."""
    assert [1] == choose_pages([5.0, 4.0], cost=[10, 1], host=[7, 7], tokens=2)
    assert [1] == choose_pages([5.0, 4.0], cost=[1.5, 1], host=[7, 7], tokens=1.2)
    assert [1] == choose_pages([5.0, 4.0], cost=[30, 1], host=[7, 7], tokens=2, burst=20)
    assert [] == choose_pages([5.0, 4.0], cost=[10, 1], host=[7, 7], tokens=2, burst=20)


@settings(max_examples=200, deadline=None)
@given(
    PAGES, st.integers(0, 12), st.integers(1, 3), st.integers(0, 5), st.lists(st.integers(0, 6), min_size=3, max_size=3)
)
def test_all_limits_hold_at_once(pages, tokens, connections, limit, class_tokens):
    """Budget, budgets within it, hosts, places in flight and number, whatever costs; each page once, best first."""
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


def test_one_dear_page_beats_cheap_ones_of_less_worth():
    """Greedy order alone would take the page of best rate and waste the budget."""
    assert [1] == choose_pages([1.1, 1.0], cost=[1, 10], tokens=10)


def test_no_tokens_no_polls():
    """An empty bucket grants nothing."""
    assert [] == choose_pages([1.0], tokens=0.0)


def test_inputs_are_not_changed():
    """The arrays of the caller stay as they were."""
    bids, flying = np.array([1.0, 2.0]), mask(True, False)
    choose(bids, np.ones(2), np.arange(2), 2.0, in_flight=flying, open_now=flying)

    assert [1.0, 2.0] == bids.tolist()
    assert [True, False] == flying.tolist()


def test_a_class_is_not_overdrawn_and_pays_in_turn():
    """Pages of a budget within the budget get no more than it holds; what is too dear holds back those of its own that bid less."""
    class_tokens = np.array([np.inf, 3.0, 0.5])
    class_number = np.array([1, 2, 1, 0, 1, 0])

    assert [0, 2, 3, 5] == choose_pages(
        [6.0, 5.0, 4.0, 3.0, 2.0, 1.0], cost=[1, 1, 2, 9, 1, 1], class_number=class_number, class_tokens=class_tokens
    )
    assert [0, 3, 5] == choose_pages(
        [6.0, 5.0, 4.0, 3.0, 2.0, 1.0], cost=[1, 1, 3, 9, 1, 1], class_number=class_number, class_tokens=class_tokens
    )


def test_an_empty_class_takes_no_place_of_a_host():
    """A page that nobody can pay for now does not keep others of its host from their turn."""
    assert [1] == choose_pages(
        [2.0, 1.0], host=[7, 7], class_number=np.array([1, 0]), class_tokens=np.array([np.inf, 0.9])
    )


def test_far_host_numbers_cost_no_memory():
    """Host numbers are names: a large one makes no large array."""
    assert [0, 2] == choose_pages([3.0, 2.0, 1.0], host=[2**60, 2**60, 5])


def worth(rows, bids, cost):
    return sum(bids[row] * cost[row] for row in rows)


def best(pages, tokens, connections, limit):
    """The best feasible worth, by trying every set."""
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
def test_equal_costs_get_the_best_set(pages, tokens, connections, limit):
    """Where costs are equal no feasible set is worth more, hosts, pages in flight and limit included."""
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
def test_other_costs_get_half_of_the_best_set(pages, tokens):
    """With hosts apart the choice is feasible and worth at least half of the best (scheduling §1.4)."""
    pages = [(bid, cost, row, False) for row, (bid, cost, _, _) in enumerate(pages)]
    bids, cost, host, _ = columns(pages)
    rows = choose_pages(bids, cost=cost, host=np.array(host, dtype=int), tokens=tokens)

    assert sum(cost[row] for row in rows) <= tokens
    assert best(pages, tokens, 1, 8) <= 2 * worth(rows, bids, cost)


@settings(max_examples=100, deadline=None)
@given(PAGES, st.integers(0, 8), st.sets(st.integers(0, 3)), st.integers(1, 2))
def test_who_is_closed_or_of_a_host_that_waits_is_as_if_not_there(pages, tokens, waiting, connections):
    """Opening hours and gaps take pages out, and nothing else."""
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
def test_choosing_half_as_well_as_can_be_earns_a_2_plus_a_th_at_least(seed, urgency):
    """WIC with this allocator, g/c and the single best page, against every schedule within the costs: OPT ≤ (1/β + a)·ALG with β = ½ (scheduling §1.4)."""
    rng = np.random.default_rng(seed)
    cost, tokens = rng.integers(1, 4, 3).astype(float), 3.0
    pages = [Page(rng.uniform(0, 1, 4), law.forever(), urgency, rng.uniform(0.2, 2)) for _ in range(3)]
    greedy = wic(pages, lambda gains, _: choose(gains / cost, cost, np.arange(3), tokens))
    most = optimal(pages, 3, is_feasible=lambda rows: cost[list(rows)].sum() <= tokens).utility

    assert all(cost[list(rows)].sum() <= tokens for rows in greedy.polls)
    assert most <= (2 + law.steepness(urgency, 4)) * greedy.utility + 1e-9


@settings(max_examples=100, deadline=None)
@given(st.lists(st.integers(0, 6), min_size=1, max_size=6), st.integers(1, 2))
def test_a_queue_by_lateness_moves_looks_as_little_as_transport_can(ideal, capacity):
    """The transportation step where a look can only come later: no assignment of looks to slots is sooner in all (002 §5)."""
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


def test_without_a_budget_not_even_what_costs_nothing_is_polled():
    """Nothing is left: all wait."""
    assert [] == choose_pages([1.0], cost=[0], tokens=0)
    assert [0] == choose_pages([1.0], cost=[0], tokens=0.5)


def test_a_class_bounds_its_own_pages_and_no_others():
    """Pages are paid in turn; one that is too dear holds back those of its class that bid less."""
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


def test_a_class_is_asked_for_the_page_of_the_highest_tier_first():
    """It can pay for the page that bids less but goes first, not for the other."""
    of_one, class_tokens = np.array([1, 1]), np.array([np.inf, 3.0])

    assert [1] == choose_pages(
        [9.0, 1.0], cost=[4, 3], class_number=of_one, class_tokens=class_tokens, tier=np.array([0, 1])
    )
    assert [] == choose_pages(
        [9.0, 1.0], cost=[4, 3], class_number=of_one, class_tokens=class_tokens, tier=np.array([0, 0])
    )


def test_hosts_numbered_far_apart_are_as_any_others():
    """Numbers are names: of each host the best goes."""
    far = [5, 1_000_000, 5, 1_000_000]

    assert [2, 1] == choose_pages([1.0, 3.0, 4.0, 2.0], host=far)
    assert [2, 1, 3] == choose_pages([1.0, 3.0, 4.0, 2.0], host=far, host_connections=2, limit=3)
    assert [2] == choose_pages([1.0, 3.0, 4.0, 2.0], host=far, in_flight=mask(False, True, False, False))
    assert [2, 3] == choose_pages(
        [1.0, 3.0, 4.0, 2.0], host=far, in_flight=mask(True, True, False, False), host_connections=2
    )


def test_what_is_left_goes_to_pages_that_fit_until_nothing_is_left_or_enough_are_chosen():
    """Best first; none after so many, and the start of a fitting row counts."""
    assert [0, 2] == choose_pages([9.0, 3.0, 2.9, 2.8], cost=[3, 4, 1, 1], tokens=4)
    assert [0, 1] == choose_pages([9.0, 3.0, 2.9, 2.8], cost=[3, 4, 1, 1], tokens=9, limit=2)
    assert [0] == choose_pages([9.0, 3.0, 2.9], cost=[3, 4, 1], tokens=5, burst=9)
    assert [0, 2] == choose_pages([9.0, 3.0, 2.9], cost=[3, 9.5, 1], tokens=5, burst=9)


def test_one_dear_page_goes_alone_where_it_is_worth_more_than_all_that_fit():
    """By bid times cost, as a knapsack; where both are worth the same, the greedy ones."""
    assert [1] == choose_pages([5.0, 2.0], cost=[1, 4], tokens=4)
    assert [0] == choose_pages([8.0, 2.0], cost=[1, 4], tokens=4)
    assert [0] == choose_pages([5.0, 2.0], cost=[1, 4], tokens=4, tier=np.array([1, 0]))
    assert [1] == choose_pages([5.0, 2.0], cost=[1, 4], tokens=4, tier=np.array([1, 1]))
