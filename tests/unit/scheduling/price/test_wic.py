"""WIC beside price: who earns more in the model, from the state that the pages are in."""

from __future__ import annotations

import numpy as np
import pytest

from tidings.model.interval import DAY, HOUR
from tidings.scheduling.policy import UNPOLLED, Population, Signal
from tidings.scheduling.price.policy import Price, PriceState
from tidings.scheduling.price.wic import MOST, Field, Wic, contest

NOW = 20_000 * DAY
PRICE = 0.02


def begin(policy: Price, rng: np.random.Generator, **columns) -> PriceState:
    """Return the state of pages with these columns."""
    return policy.begin(Population({"id": np.arange(len(columns["last_polled"])), **columns}), rng)


def make_settled(size: int = 200, *, seed: int = 1, price: float = PRICE, **columns) -> tuple[Price, PriceState]:
    """Return pages in the midst of the waits that a price gives them."""
    rng = np.random.default_rng(seed)
    policy = Price(longest=30 * DAY)
    state = begin(policy, rng, **{"rate": rng.lognormal(0, 1.5, size), "last_polled": np.full(size, NOW), **columns})
    last = NOW - (rng.random(size) * policy.gaps(state, price)).astype(np.int64)
    return policy, policy.on_update(state, np.arange(size), {"last_polled": last})


@pytest.mark.parametrize("seed", range(5))
def test_price_earns_more_than_wic_from_where_it_stands(seed):
    """In an epoch of three median waits, what is left at the end credited."""
    found = contest(*make_settled(seed=seed), NOW, PRICE)

    assert found.epoch >= HOUR
    assert not found.wic_wins
    assert 0.9 < found.wic / found.price < 1


def test_without_what_is_left_at_the_end_wic_would_win_wrongly():
    """In half a wait it gathers more, in the long run less (study: 1.061 and .923): a comparison that does not see what is left flips wrongly."""
    rng = np.random.default_rng(1)
    policy, state = make_settled(rate=rng.lognormal(0, 0.5, 200), price=0.2)
    field = Field.of(policy, state, np.arange(200), 0.2)
    age = (NOW - state.population["last_polled"]).astype(np.float64)
    half = int(np.median(field.gaps) / 2)
    runs = {
        (name, parts): field.run(bids, least, age, parts * half, steps=32 * parts)
        for name, bids, least in (("price", field.index, 0.2), ("wic", field.backlog, 0.0))
        for parts in (1, 60)
    }

    assert runs["wic", 1].gathered > 1.01 * runs["price", 1].gathered
    assert runs["wic", 1].net < 0.99 * runs["price", 1].net
    assert runs["wic", 60].gathered < 0.97 * runs["price", 60].gathered


def test_wic_wins_where_price_leaves_over_what_it_cannot_spend():
    """Six pages, some of them twenty times as dear as others: WIC spends on cheap ones what the price saves for dear ones."""
    rng = np.random.default_rng(5)
    size, policy = int(rng.integers(2, 8)), Price(longest=300 * DAY)
    price = float(10 ** rng.uniform(-3, 0))
    cost = rng.choice([1.0, 5.0, 20.0], size)
    state = begin(policy, rng, rate=rng.lognormal(0, 1, size), cost=cost, last_polled=np.full(size, NOW))
    ages = (rng.choice([0.01, 1, 10], size) * policy.gaps(state, price)).astype(np.int64)
    state = policy.on_update(state, np.arange(size), {"last_polled": NOW - ages})

    assert contest(policy, state, NOW, price).wic_wins


def test_rare_urgent_pages_starve_under_neither():
    """WIC is compared, and flipped to, with guard 5: else it would give up what the guard is for, and win by that."""
    half_life = 10 * 60 * 1_000_000
    policy, state = make_settled(rate=np.full(200, 0.2), urgency_scale=np.full(200, half_life))
    found = contest(policy, state, NOW, PRICE)
    unguarded = Wic(longest=30 * DAY).gaps(state, PRICE)

    assert not found.wic_wins
    assert (unguarded == 30 * DAY).all()
    assert (found.rival.gaps(state, PRICE) < 30 * DAY).all()


def test_of_very_many_pages_some_are_compared_and_new_ones_are_not():
    """The outcome is nearly that of all; without any page nobody wins."""
    policy, state = make_settled(3 * MOST)
    whole, part = make_settled(MOST), contest(policy, state, NOW, PRICE)
    new = policy.begin(Population({"id": [1], "last_polled": [UNPOLLED]}), np.random.default_rng(0))

    assert part.wic / part.price == pytest.approx(
        contest(*whole, NOW, PRICE).wic / contest(*whole, NOW, PRICE).price, abs=0.01
    )
    assert not contest(policy, new, NOW, PRICE).wic_wins


def test_a_hint_that_waits_makes_no_page_quicker_for_good():
    """It is gone with the next check: epoch and budget are those of the long run, the page's backlog is what the hint says."""
    policy, state = make_settled()
    hinted = policy.on_signal(state, [0], Signal("api", np.array([300 * DAY])))
    plain, found = contest(policy, state, NOW, PRICE), contest(policy, hinted, NOW, PRICE)

    assert plain.epoch == found.epoch
    assert 1 < found.price / plain.price < 1.1
    assert not found.wic_wins
