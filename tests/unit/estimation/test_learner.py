"""The rates of the pages of a population are learned from polls."""

from __future__ import annotations

import json
from collections.abc import Sequence

import numpy as np
import pytest

from tidings.estimation.learner import NEVER_SEEN, GammaLearner, KnownRates
from tidings.model.interval import DAY, HOUR
from tidings.scheduling.population import RATE

ONE = np.array([0])


def poll(known: KnownRates, at: float, *, changed: bool) -> KnownRates:
    """Return what is known after a poll of page 0 on a day."""
    return GammaLearner().observe(
        known, ONE, np.array([round(at * DAY)]), np.array([changed]), np.array([NEVER_SEEN]), np.array([False])
    )


def test_unknown_page_has_the_default_rate():
    """The default of the population's column and the prior are the same."""
    learner = GammaLearner()

    assert [RATE] == pytest.approx(learner.rates(learner.begin(ONE)).tolist())


def test_fast_and_slow_pages_differ_after_six_polls():
    """After six daily polls that all found changes, the page may change at any rate and is polled
    again within hours. After six that found none, it is slow.
    """
    quick = slow = poll(GammaLearner().begin(ONE), 0, changed=True)
    for day in range(1, 7):
        quick, slow = poll(quick, day, changed=True), poll(slow, day, changed=False)

    assert GammaLearner().rates(quick)[0] > 8
    assert GammaLearner().rates(slow)[0] < 1 / 14


def test_interrupted_poll_is_no_interval():
    """It teaches nothing but when the page was seen."""
    learner = GammaLearner()
    before = poll(learner.begin(ONE), 0, changed=True)
    after = learner.observe(
        before, ONE, np.array([9 * DAY]), np.array([True]), np.array([NEVER_SEEN]), np.array([True])
    )

    assert before.posterior.mean.tolist() == after.posterior.mean.tolist()
    assert [9 * DAY] == after.seen.tolist()


def test_old_knowledge_is_forgotten_before_new_is_learned():
    """After thirty days half of the knowledge is left, and all of the poll that ends them."""
    before = poll(poll(GammaLearner().begin(ONE), 0, changed=True), 10, changed=False)
    after = poll(before, 40, changed=False)

    assert [0.2 + 10] == pytest.approx(before.posterior.scale.tolist())
    assert [0.2 + 10 / 2 + 30] == pytest.approx(after.posterior.scale.tolist())


def learn_polls(
    learner: GammaLearner, known: KnownRates, rows: Sequence[int], at: float, changed: Sequence[bool]
) -> KnownRates:
    """Return what is known after polls on a day, and after the priors were fitted again if that is
    due.
    """
    count = len(rows)
    instants = np.full(count, round(at * DAY))
    never, quiet = np.full(count, NEVER_SEEN), np.zeros(count, dtype=np.bool_)
    after = learner.observe(known, np.array(rows), instants, np.array(changed), never, quiet)
    return learner.fit(after, round(at * DAY)) or after


def learn_hosts(order: Sequence[int] = tuple(range(12))) -> tuple[KnownRates, np.ndarray]:
    """Return what is known after ten days of a host of ten busy pages and one polled once, and of
    another host's only page.
    """
    learner, hosts = GammaLearner(), np.array([7] * 11 + [9])
    place = np.argsort(order)
    known = learner.begin(hosts[list(order)])
    for day in range(11):
        known = learn_polls(learner, known, place[:10].tolist(), day, [True] * 10)
    return learn_polls(learner, known, place[10:].tolist(), 10.5, [False] * 2), place


def test_known_page_moves_to_the_rate_of_its_host():
    """It does so without a poll of its own. A page of another host moves less, and one with many
    polls of its own least.
    """
    learner, (known, _) = GammaLearner(), learn_hosts()
    before = learner.begin(known.hosts).posterior.mean
    mean = known.posterior.mean
    quiet = known
    for day in range(11, 60):
        quiet = learn_polls(learner, quiet, [10], day, [False])

    assert mean[10] > mean[11] > before[10]
    assert quiet.posterior.mean[10] < 0.1


def test_order_of_pages_does_not_matter():
    """Neither the order in the population nor that of a restart matters."""
    learner = GammaLearner()
    known, _ = learn_hosts()
    other, place = learn_hosts((11, 3, 1, 10, 5, 0, 2, 4, 7, 9, 8, 6))
    memories = [learner.remember(known, row) for row in range(12)]
    again = learner.begin(known.hosts)
    for row in (5, 11, 2, 10, 0, 1, 3, 4, 9, 6, 8, 7):
        again = learner.recall(again, np.array([row]), [json.loads(json.dumps(memories[row]))])

    assert known.posterior.mean == pytest.approx(other.posterior.mean[place], rel=1e-12)
    assert known.posterior.mean.tolist() == again.posterior.mean.tolist()
    later, later_again = (learner.fit(one, 20 * DAY) for one in (known, again))
    assert later is not None
    assert later_again is not None
    assert later.posterior.mean.tolist() == later_again.posterior.mean.tolist()


def test_fitting_priors_again_changes_nothing_without_polls():
    """They are fitted to what polls have added, not to themselves."""
    known, _ = learn_hosts()
    again = known
    for day in range(20, 60):
        again = GammaLearner().fit(again, day * DAY) or again

    assert known.posterior.mean == pytest.approx(again.posterior.mean, rel=1e-9)


def test_priors_are_fitted_at_most_once_an_hour():
    """Each fit is a pass over all pages."""
    known, _ = learn_hosts()

    assert GammaLearner().fit(known, known.fitted_at + HOUR - 1) is None
    assert GammaLearner().fit(known, known.fitted_at + HOUR) is not None


@pytest.mark.parametrize("gap", [1e-6, 1 / 1440, 1.0])
def test_page_that_always_differs_has_a_finite_rate(gap):
    """A thousand polls show at most some forty changes a gap, also if the page is the only one of
    its host.
    """
    known = GammaLearner().begin(ONE)
    for number in range(1_000):
        known = learn_polls(GammaLearner(), known, [0], number * gap, [True])
    rate = GammaLearner().rates(known)[0]

    assert rate * gap < 40
    assert np.isfinite([rate, known.posterior.scale[0], known.posterior.shape[0]]).all()


def test_unreadable_memory_is_skipped():
    """Its page learns anew."""
    known, _ = learn_hosts()
    fresh = GammaLearner().begin(known.hosts)
    memory = GammaLearner().remember(known, 0)
    broken = [{**memory, "prior": None}, {**memory, "scale": -1.0}, {}]

    again = GammaLearner().recall(fresh, np.arange(3), broken)

    assert fresh.posterior.mean.tolist() == again.posterior.mean.tolist()


def test_changes_that_hints_announced_count_by_their_expected_number():
    """If hints decide when to poll, a change at that time is no surprise: the expected number
    counts, over the whole time.
    """
    learner = GammaLearner()
    known = learner.begin(np.array([1, 2]))
    rows, never, quiet = np.array([0, 1]), np.full(2, NEVER_SEEN), np.zeros(2, dtype=np.bool_)
    for day in range(40):
        at, found = np.full(2, day * DAY), np.ones(2, dtype=np.bool_)
        known = learner.observe(known, rows, at, found, never, quiet, np.array([1.0, np.nan]))

    expected, censored = learner.rates(known)
    assert 0.8 < expected < 1.4
    assert censored > 2 * expected


def test_page_added_after_all_others_left_has_the_common_prior():
    """It also forgets towards that prior, not towards one of a host that is gone."""
    learner = GammaLearner()
    memory = {"shape": 3.0, "scale": 1.0, "prior": [0.1, 0.01], "seen": 0, "looks": 4}
    known = learner.recall(learner.begin(np.array([1])), np.array([0]), [memory])
    fresh, found = learner.begin(np.array([2])), learner.arrange(known, np.array([-1]), np.array([2]))

    assert fresh.posterior.scale.tolist() == found.posterior.scale.tolist()
    assert fresh.priors.at(fresh.prior).scale.tolist() == found.priors.at(found.prior).scale.tolist()
