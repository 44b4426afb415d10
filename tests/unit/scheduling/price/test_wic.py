"""WIC beside price: which earns more in the model, from the present state of the pages."""

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
    """Return pages in the middle of the waits of a price."""
    rng = np.random.default_rng(seed)
    policy = Price(longest=30 * DAY)
    state = begin(policy, rng, **{"rate": rng.lognormal(0, 1.5, size), "last_polled": np.full(size, NOW), **columns})
    last = NOW - (rng.random(size) * policy.gaps(state, price)).astype(np.int64)
    return policy, policy.on_update(state, np.arange(size), {"last_polled": last})


@pytest.mark.parametrize("seed", range(5))
def test_price_earns_more_than_wic_with_credit_for_the_rest(seed):
    """The epoch has three median waits."""
    found = contest(*make_settled(seed=seed), NOW, PRICE)

    assert found.epoch >= HOUR
    assert not found.wic_wins
    assert 0.9 < found.wic / found.price < 1


def test_wic_would_win_wrongly_without_credit_for_the_rest():
    """In half a wait it gathers more, in the long run less (study: 1.061 and .923)."""
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


def test_wic_wins_if_price_cannot_spend_its_budget():
    """Of six pages some cost twenty times as much as others: WIC spends on cheap ones what the
    price saves.
    """
    rng = np.random.default_rng(5)
    size, policy = int(rng.integers(2, 8)), Price(longest=300 * DAY)
    price = float(10 ** rng.uniform(-3, 0))
    cost = rng.choice([1.0, 5.0, 20.0], size)
    state = begin(policy, rng, rate=rng.lognormal(0, 1, size), cost=cost, last_polled=np.full(size, NOW))
    ages = (rng.choice([0.01, 1, 10], size) * policy.gaps(state, price)).astype(np.int64)
    state = policy.on_update(state, np.arange(size), {"last_polled": NOW - ages})

    assert contest(policy, state, NOW, price).wic_wins


def test_rare_urgent_page_starves_under_neither():
    """WIC is compared, and used, with guard 5: else it would win by giving up what the guard is
    for.
    """
    half_life = 10 * 60 * 1_000_000
    policy, state = make_settled(rate=np.full(200, 0.2), urgency_scale=np.full(200, half_life))
    found = contest(policy, state, NOW, PRICE)
    unguarded = Wic(longest=30 * DAY).gaps(state, PRICE)

    assert not found.wic_wins
    assert (unguarded == 30 * DAY).all()
    assert (found.rival.gaps(state, PRICE) < 30 * DAY).all()


def test_sample_of_very_many_pages_is_compared():
    """New pages are left out. The outcome is nearly that of all; without a page neither wins."""
    policy, state = make_settled(3 * MOST)
    whole, part = make_settled(MOST), contest(policy, state, NOW, PRICE)
    new = policy.begin(Population({"id": [1], "last_polled": [UNPOLLED]}), np.random.default_rng(0))

    assert part.wic / part.price == pytest.approx(
        contest(*whole, NOW, PRICE).wic / contest(*whole, NOW, PRICE).price, abs=0.01
    )
    assert not contest(policy, new, NOW, PRICE).wic_wins


def test_waiting_hint_has_no_lasting_effect():
    """It ends with the next poll: epoch and budget are those of the long run, the backlog of the
    page has the hint.
    """
    policy, state = make_settled()
    hinted = policy.on_signal(state, [0], Signal("api", np.array([300 * DAY])))
    plain, found = contest(policy, state, NOW, PRICE), contest(policy, hinted, NOW, PRICE)

    assert plain.epoch == found.epoch
    assert 1 < found.price / plain.price < 1.1
    assert not found.wic_wins
