from dataclasses import replace

import numpy as np
import pytest

from tidings.lab.simulator import World, simulate
from tidings.scheduling.budget import TokenBucket
from tidings.scheduling.ledger import make_trace
from tidings.scheduling.paced.best_effort import BestEffort
from tidings.scheduling.policy import NEVER, UNPOLLED, Observation, Population

SECOND = 1_000_000
MINUTE = 60 * SECOND
HOUR = 60 * MINUTE
DAY = 24 * HOUR
NOW = 1_700_000_000 * SECOND
SMALL = BestEffort(
    5 * SECOND,
    shortest=5 * SECOND,
    longest=1_000 * SECOND,
    alpha=3,
    beta=2,
    weight=0.6,
    history=4,
    saturation=0,
    trial=0,
)
"""The parameters of the test trace (scheduling §5)."""


def begin(policy, count=1, **columns):
    given = {"id": np.arange(1, count + 1), "last_polled": np.full(count, NOW), **columns}
    return policy.begin(Population(given), np.random.default_rng(0))


def look(policy, state, changed, *, after, told=None):
    """Return the state after a look at every page, `after` seconds (one or one a page) after the last."""
    ids = state.population.ids
    at = state.population["last_polled"] + np.round(np.asarray(after) * SECOND).astype(np.int64)
    told = None if told is None else np.full(len(ids), told)
    return policy.on_poll(state, ids, Observation.of(at, np.full(len(ids), changed), told))


def follow(policy, state, inputs):
    """Return the periods after each input: seconds after which a change was seen, None for a look in time without one."""
    periods = []
    for seconds in inputs:
        state = look(policy, state, seconds is not None, after=state.period if seconds is None else seconds)
        periods.append(float(state.period[0]))
    return periods


def waits(policy, state):
    """Return after how many seconds from its last look each page is due."""
    due = policy.next_due(state, state.population.ids, 0, 0.0)
    return ((due - state.population["last_polled"]) / SECOND).tolist()


def test_trace_of_the_study_is_followed():
    """The twelve steps of scheduling §5: constant, random with weight, tired, estimated again."""
    inputs = [10, 10, 10, 30, *[None] * 6, 8, 8]

    assert [6, 10, 10, 9, 9, 9, 18, 18, 18, 36, 14.5, 8] == follow(SMALL, begin(SMALL), inputs)


def test_the_period_is_what_is_waited():
    """A page is due one period after its last look, and bids from then on."""
    state = look(SMALL, begin(SMALL), changed=True, after=10)
    due = NOW + 16 * SECOND

    assert [due] == SMALL.next_due(state, [1], NOW, 0.0).tolist()
    assert [0.0] == SMALL.bid(state, due - 1, 0.0).tolist()
    assert (SMALL.bid(state, due, 0.0) > 0).all()


def test_no_page_is_due_before_its_period_is_over():
    """A period that is no whole number of µs is rounded up, else a look in time would be an early one."""
    state = look(SMALL, begin(SMALL), changed=True, after=10.000001)

    assert 6.0 < state.period[0] < 6.000001
    assert [6.000001] == waits(SMALL, state)


def test_pages_learn_apart():
    """What one page does leaves the others as they were."""
    state = begin(SMALL, count=3)
    after = SMALL.on_poll(state, [2], Observation.of(NOW + 10 * SECOND, changed=True))

    assert [5, 6, 5] == after.period.tolist()


def test_counting_starts_again_after_doubling():
    """Every `alpha` quiet looks double the period, not only the first ones (correction a), up to Pmax (g)."""
    policy = replace(SMALL, longest=30 * SECOND)

    assert [5, 5, 10, 10, 10, 20, 20, 20, 30, 30, 30, 30] == follow(policy, begin(policy), [None] * 12)


def test_a_change_starts_the_count_of_quiet_looks_again():
    """Two quiet looks, a change and two more are no three in a row (correction k)."""
    assert [5, 5, 5, 5, 5, 10] == follow(SMALL, begin(SMALL), [None, None, 5, None, None, None])


def test_constant_interval_is_taken_as_it_is_and_doubted_every_beta_times():
    """Equal intervals are the period; the second such time in a row it is estimated from all that is remembered (correction b)."""
    assert [24, 18, 20, 15, 20] == follow(SMALL, begin(SMALL), [40, 20, 20, 20, 20])


def test_constant_intervals_count_only_in_a_row():
    """Another interval between them starts the count of `beta` again: 20 is taken, not estimated."""
    assert [12, 20, 0.6 * 24, 0.6 * 23, 20] == pytest.approx(follow(SMALL, begin(SMALL), [20, 20, 32, 20, 20]))


def test_oldest_interval_is_forgotten():
    """Of five intervals with a history of four the first no longer counts (correction c)."""
    last = follow(SMALL, begin(SMALL), [400, 10, 30, 50, 70])[-1]

    assert 40 == last


def test_mean_is_over_what_was_seen():
    """Two intervals are divided by two (correction e), and a mean above the period is weighted down."""
    assert [12, 0.6 * 25] == follow(SMALL, begin(SMALL), [20, 30])


def test_older_intervals_weigh_less_where_they_fade():
    """Half as much as the next newer one: (30 + 10/2)/1.5 s, and 0.6 of it since that is above the period."""
    fading = replace(SMALL, fading=0.5)

    assert [6, pytest.approx(14)] == follow(fading, begin(fading), [10, 30])


def test_old_intervals_of_a_quick_time_do_not_hold_back_what_is_learned():
    """W-125: after 20 changes at about 10 s come some at about 100 s; with weights that fade 4 of them bring the period near, without 15."""
    quick, slow = [9, 11] * 10, [99, 103] * 10

    def take(fading):
        policy = replace(SMALL, longest=HOUR, history=20, tolerance=0, fading=fading)
        periods = follow(policy, begin(policy), [*quick, *slow])[len(quick) :]
        return next(number for number, period in enumerate(periods, start=1) if period > 45)

    assert (4, 15) == (take(0.7), take(1.0))


def test_a_memory_is_read_by_those_whose_intervals_fade():
    """Intervals that were kept say the same to both: going over to the other loses nothing."""
    plain, fading = SMALL, replace(SMALL, fading=0.7)
    state = begin(plain)
    for seconds in (10, 20, 40):
        state = look(plain, state, changed=True, after=seconds)
    recalled = fading.recall(begin(fading), {1: plain.remember(state, 1)})

    assert [10, 20, 40] == fading.remember(recalled, 1)["intervals"]
    assert state.period.tolist() == recalled.period.tolist()


def test_mean_equal_to_the_period_is_not_weighted():
    """Only a mean above the period is (correction d)."""
    assert [6, 10, 10] == follow(SMALL, begin(SMALL), [10, 10, 10])


def test_shortest_interval_holds_for_constant_changes_too():
    """A page that changes each second is not looked at more often than Pmin allows (correction f)."""
    assert [5, 5, 5, 5] == follow(SMALL, begin(SMALL), [1, 1, 1, 1])


@pytest.mark.parametrize(("second", "period"), [(20.9, 20.9), (19.1, 19.1), (21.5, 0.6 * 20.75)])
def test_intervals_within_the_tolerance_are_constant(second, period):
    """Last-Modified has whole seconds, so a second apart is the same interval (correction i)."""
    assert period == pytest.approx(follow(SMALL, begin(SMALL), [20, second])[-1])


def plain(inputs, *, alpha, beta, weight, history, low, high):
    """Return the periods as scheduling §5 writes the algorithm, one page, one step after the other."""
    kept: list[float] = []
    periods: list[float] = []
    period, misses, constant = low, 0, 0

    def estimate():
        mean = sum(kept) / len(kept)
        return max(mean * weight if mean > period else mean, low)

    for seconds in inputs:
        if seconds is None:
            misses += 1
            if misses == alpha:
                period, misses = period * 2, 0
        else:
            misses = 0
            kept = [*kept, seconds][-history:]
            if len(kept) >= 2 and abs(kept[-1] - kept[-2]) <= 1:
                constant += 1
                if constant == beta:
                    constant, period = 0, estimate()
                else:
                    period = max(kept[-1], low)
            else:
                constant, period = 0, estimate()
        period = min(period, high)
        periods.append(period)
    return periods


@pytest.mark.parametrize("seed", range(20))
def test_arrays_agree_with_the_listing(seed):
    """Many pages at once do what the listing does for each alone."""
    rng = np.random.default_rng(seed)
    alpha, beta, history = (int(n) for n in rng.integers([1, 1, 2], [7, 6, 25]))
    policy = BestEffort(
        5 * SECOND,
        shortest=5 * SECOND,
        longest=120 * SECOND,
        alpha=alpha,
        beta=beta,
        history=history,
        saturation=0,
        trial=0,
    )
    steps = [
        [None if quiet else float(seconds) for quiet, seconds in zip(rng.uniform(size=80) < 0.6, draws, strict=True)]
        for draws in (rng.choice([7, 8, 20, 21, 60, 200], 80) for _ in range(10))
    ]
    expected = [plain(row, alpha=alpha, beta=beta, weight=0.6, history=history, low=5, high=120) for row in steps]
    state, periods = begin(policy, count=10), []
    for column in zip(*steps, strict=True):
        after = [period if seconds is None else seconds for seconds, period in zip(column, state.period, strict=True)]
        state = look(policy, state, [seconds is not None for seconds in column], after=np.ceil(np.array(after)))
        periods.append(state.period.tolist())

    assert np.allclose(expected, np.transpose(periods), rtol=1e-9)


def test_first_look_is_a_baseline():
    """It teaches nothing, not even that there was no change."""
    state = begin(SMALL, last_polled=np.array([UNPOLLED]))
    first = SMALL.on_poll(state, [1], Observation.of(NOW, changed=False))

    assert {**SMALL.remember(state, 1), "looked": NOW} == SMALL.remember(first, 1)
    assert [5.0] == waits(SMALL, first)


def test_same_look_heard_twice_counts_once():
    """An observation that is not after the last one is passed over."""
    once = look(SMALL, begin(SMALL), changed=True, after=10)
    twice = look(SMALL, once, changed=True, after=0)

    assert SMALL.remember(once, 1) == SMALL.remember(twice, 1)


def test_column_last_polled_does_not_hide_a_look():
    """The interval is taken from the last look that was heard of, also if the table was told the new one before."""
    state = SMALL.on_update(begin(SMALL), [1], {"last_polled": NOW + 10 * SECOND})
    state = SMALL.on_poll(state, [1], Observation.of(NOW + 10 * SECOND, changed=True))

    assert [6.0] == state.period.tolist()


def test_early_looks_that_show_nothing_end_no_cycle():
    """Looks for others' sake, each second here, count as one look a period: 5 s three times, then 10 s."""
    state, periods = begin(SMALL), []
    for _ in range(15):
        state = look(SMALL, state, changed=False, after=1)
        periods.append(float(state.period[0]))

    assert [5.0] * 14 + [10.0] == periods


def test_change_seen_early_is_dated_from_the_begin_of_its_cycle():
    """Of a change after two early quiet looks it is known that it came within 1 + 1 + 8 s."""
    state = begin(SMALL)
    for changed, after in ((False, 1), (False, 1), (True, 8)):
        state = look(SMALL, state, changed, after=after)

    assert [10.0] == SMALL.remember(state, 1)["intervals"]


def test_instants_of_change_that_are_told_are_believed():
    """Between two told instants the interval is theirs, however late the looks were."""
    state = look(SMALL, begin(SMALL), changed=True, after=10, told=NOW + 2 * SECOND)
    state = look(SMALL, state, changed=True, after=30, told=NOW + 14 * SECOND)

    assert [10.0, 12.0] == SMALL.remember(state, 1)["intervals"]


@pytest.mark.parametrize("told", [UNPOLLED, NOW - DAY, NOW + 10 * SECOND])
def test_instants_before_the_last_look_are_not_believed(told):
    """A change that was seen now did not come before the last look; the looks date it, and the next one."""
    state = look(SMALL, begin(SMALL), changed=True, after=10, told=NOW + 2 * SECOND)
    state = look(SMALL, state, changed=True, after=30, told=told)
    state = look(SMALL, state, changed=True, after=20, told=NOW + 50 * SECOND)

    assert [10.0, 30.0, 20.0] == SMALL.remember(state, 1)["intervals"]


def test_instants_in_the_future_are_now():
    """A server's clock that runs ahead makes no interval longer than what passed, neither this one nor the next."""
    state = look(SMALL, begin(SMALL), changed=True, after=10, told=NOW + 2 * SECOND)
    state = look(SMALL, state, changed=True, after=30, told=NOW + DAY)
    state = look(SMALL, state, changed=True, after=20, told=NOW + 55 * SECOND)

    assert [10.0, 38.0, 15.0] == SMALL.remember(state, 1)["intervals"]


def test_bounds_of_a_page_hold_before_those_of_the_policy():
    """`shortest` and `longest` are Pmin and Pmax; 0 and NEVER leave them to the policy: 5 minutes and 1 day."""
    policy = BestEffort(HOUR, saturation=0)
    state = begin(
        policy,
        count=4,
        shortest=np.array([0, 2 * HOUR, 0, 3 * DAY]),
        longest=np.array([NEVER, NEVER, 2 * MINUTE, NEVER]),
    )
    fast, slow = state, state
    for _ in range(80):
        fast = look(policy, fast, changed=True, after=1)
        slow = look(policy, slow, changed=False, after=slow.period)

    assert [3_600, 7_200, 120, 3 * 86_400] == waits(policy, state)
    assert [300, 7_200, 120, 3 * 86_400] == waits(policy, fast)
    assert [86_400, 86_400, 120, 3 * 86_400] == waits(policy, slow)


@pytest.mark.parametrize(("pace", "low", "high"), [(10 * SECOND, 10, 86_400), (3 * DAY, 300, 3 * 86_400)])
def test_pace_beyond_the_bounds_widens_them(pace, low, high):
    """Who sets a pace of 10 s or 3 days means it."""
    policy = BestEffort(pace, saturation=0)
    state = fast = slow = begin(policy)
    for _ in range(120):
        fast = look(policy, fast, changed=True, after=1)
        slow = look(policy, slow, changed=False, after=slow.period)

    assert [pace / SECOND] == waits(policy, state)
    assert [[low], [high]] == [waits(policy, fast), waits(policy, slow)]


def test_new_bounds_hold_at_once_and_take_nothing_away():
    """An altered sentinel moves the due instant of its page; what was learned comes back with the old bounds."""
    state = look(SMALL, begin(SMALL, count=2), changed=True, after=100)
    narrow = SMALL.on_update(state, [1], {"longest": 20 * SECOND})
    wide = SMALL.on_update(narrow, [1], {"longest": NEVER})

    assert [60, 60] == waits(SMALL, state)
    assert [20, 60] == waits(SMALL, narrow)
    assert [60, 60] == waits(SMALL, wide)


def test_pages_that_come_and_go_leave_the_others_what_they_learned():
    """Places move, memories stay; a page that comes back starts anew."""
    state = look(SMALL, begin(SMALL, count=3), [True, False, True], after=[10, 5, 100])
    kept = SMALL.remember(state, 3)
    state = SMALL.on_update(state, [1, 9], {"present": [False, True], "last_polled": NOW})
    again = SMALL.on_update(state, [1], {"last_polled": NOW})

    assert [2, 3, 9] == state.population.ids.tolist()
    assert kept == SMALL.remember(state, 3)
    assert [5.0, 60.0, 5.0] == waits(SMALL, state)
    assert 5.0 == SMALL.remember(again, 1)["period"]


def test_shorter_history_recalls_the_newest():
    """What a larger history kept is cut, what other parameters counted is capped."""
    state = begin(replace(SMALL, history=9, alpha=9))
    for seconds in (10, 20, 30, 40, 50, 60):
        state = look(SMALL, state, changed=True, after=seconds)
    memory = {**replace(SMALL, history=9).remember(state, 1), "misses": 8}
    memory = SMALL.remember(SMALL.recall(begin(SMALL), {1: memory}), 1)

    assert [30.0, 40.0, 50.0, 60.0] == memory["intervals"]
    assert 2 == memory["misses"]


def looks_a_day(policy, changes, days):
    """Return how often a page was looked at on each day; it is new, changes at `changes`, and looks are up to 10 s late."""
    trace = make_trace({1: changes}, start=NOW, end=NOW + days * DAY)
    bucket = TokenBucket(rate=1.0, burst=1_000.0, level=1_000.0, at=NOW)
    world = World(population=Population({"id": [1]}), trace=trace, bucket=bucket, tick=7_777_777)
    ledger = simulate(policy, world, rng=np.random.default_rng(0))
    return np.bincount((ledger.polls.at - NOW) // DAY, minlength=days)


def test_page_that_never_changes_is_left_alone():
    """With no setting it is looked at 14 times on its first day, 5 times on the second, and once a day from the second week on."""
    looks = looks_a_day(BestEffort(), [], 30)

    assert [14, 5] == looks[:2].tolist()
    assert (looks[2:14] <= 3).all()
    assert (looks[14:] <= 1).all()


EACH_MINUTE = NOW + np.arange(10 * DAY // MINUTE) * MINUTE


def test_page_that_always_changes_is_bounded():
    """A page that is another one at each look is looked at 70 times while that is learned, then about once a pace."""
    looks = looks_a_day(BestEffort(), EACH_MINUTE, 10)

    assert looks[0] <= 70
    assert (looks[1:] <= 30).all()
    assert (looks[1:] >= 24).all()


def test_without_the_guard_pmin_is_the_bound():
    """As the paper has it such a page costs what Pmin allows, 288 looks a day."""
    looks = looks_a_day(BestEffort(saturation=0), EACH_MINUTE[: 3 * DAY // MINUTE], 3)

    assert (looks[1:] > 250).all()
    assert (looks <= DAY // (5 * MINUTE)).all()


GUARDED = BestEffort(100 * SECOND, shortest=10 * SECOND, longest=1_000 * SECOND, saturation=4)


def make_saturated():
    """Return a state in which the page has just differed four times, 15 s apart at most."""
    state = begin(GUARDED)
    for seconds in (10, 12, 15, 15):
        state = look(GUARDED, state, changed=True, after=seconds)
    return state


def test_saturated_page_waits_the_pace_but_for_one_look_in_seven():
    """Six times the pace, once Pmin, and so on."""
    state, waited = make_saturated(), []
    for _ in range(15):
        waited += waits(GUARDED, state)
        state = look(GUARDED, state, changed=True, after=waited[-1])

    assert [*[100.0] * 6, 10.0, *[100.0] * 6, 10.0, 100.0] == waited


def test_one_quiet_look_or_a_far_one_is_no_saturation():
    """Only changes at each of the last looks count, all of them at most one and a half times Pmin apart."""
    near = [10, 15, 15]
    for breaker in ((10, False), (16, True)):
        state = begin(GUARDED)
        for seconds, changed in [*((s, True) for s in near), breaker, *((s, True) for s in near)]:
            state = look(GUARDED, state, changed, after=max(seconds, 0 if changed else float(state.period[0])))

        assert waits(GUARDED, state) < [50.0]


def test_two_quiet_looks_set_a_saturated_page_free():
    """Then it learns anew from the pace on, with nothing left of its history; one is not enough."""
    once = look(GUARDED, make_saturated(), changed=False, after=100)
    twice = look(GUARDED, look(GUARDED, once, changed=True, after=100), changed=False, after=100)
    after = look(GUARDED, twice, changed=True, after=50)

    assert 4 == GUARDED.remember(once, 1)["streak"]
    assert {"streak": 0, "misses": 0, "steady": 0, "intervals": [], "period": 100.0}.items() <= GUARDED.remember(
        twice, 1
    ).items()
    assert [50.0] == GUARDED.remember(after, 1)["intervals"]


def test_saturation_survives_a_restart():
    """A saturated page is one afterwards, in the same round."""
    state = make_saturated()
    for _ in range(5):
        state = look(GUARDED, state, changed=True, after=100)
    again = GUARDED.recall(begin(GUARDED), {1: GUARDED.remember(state, 1)})

    assert GUARDED.remember(state, 1) == GUARDED.remember(again, 1)
    assert 5 == GUARDED.remember(again, 1)["steady"]


def interrupt(policy, state, *, after, changed=True, told=None):
    """Return the state after a look, `after` seconds after the last, before which nobody could look for a while."""
    at = state.population["last_polled"] + round(after * SECOND)
    told = None if told is None else [told]
    return policy.on_poll(state, state.population.ids, Observation.of(at, changed, told, interrupted=True))


@pytest.mark.parametrize("told", [None, NOW + 9_000 * SECOND], ids=["untold", "told"])
def test_time_in_which_nobody_could_look_is_no_interval(told):
    """A change that is found after three hours of downtime leaves the period as it was; the cycle begins anew."""
    state = look(SMALL, begin(SMALL), changed=True, after=10, told=NOW + 9 * SECOND)
    after = interrupt(SMALL, state, after=10_000, told=told)

    assert SMALL.remember(state, 1)["intervals"] == SMALL.remember(after, 1)["intervals"] == [10.0]
    assert waits(SMALL, state) == waits(SMALL, after) == [6.0]
    assert NOW + 10_010 * SECOND == SMALL.remember(after, 1)["looked"]


def test_a_look_that_was_hardly_late_teaches_as_ever():
    """A restart that cost no more than half a period hides nothing."""
    state = begin(SMALL)

    assert SMALL.remember(look(SMALL, state, True, after=7), 1) == SMALL.remember(interrupt(SMALL, state, after=7), 1)
    assert [] == SMALL.remember(interrupt(SMALL, state, after=8), 1)["intervals"]


def test_a_quiet_look_after_downtime_ends_its_cycle():
    """That nothing changed for three hours is no less true because nobody looked."""
    assert 1 == SMALL.remember(interrupt(SMALL, begin(SMALL), after=10_000, changed=False), 1)["misses"]


def test_downtimes_do_not_add_up():
    """A page that differs at each look is looked at as often after fifty restarts as before them."""
    rng = np.random.default_rng(7)
    policy = BestEffort(MINUTE, shortest=SECOND, longest=DAY, saturation=0)
    state, longest = begin(policy), 0.0
    for _ in range(50):
        state = interrupt(policy, state, after=float(state.period[0]) + rng.exponential(600))
        for _ in range(3):
            state = look(policy, state, changed=True, after=float(state.period[0]) + 0.01)
        longest = max(longest, float(state.period[0]))

    assert longest <= 60
    assert 1 == state.period[0]


def test_a_period_that_is_too_long_comes_back_while_every_look_finds_a_change():
    """What is remembered is the rhythm of our own looks: 78 s come down to Pmin although no look is ever quiet."""
    policy = BestEffort(MINUTE, shortest=SECOND, longest=DAY, saturation=0)
    state = begin(policy)
    memory = {**policy.remember(state, 1), "period": 78.0, "intervals": [78.0] * 20}
    plain = replace(policy, trial=0)
    tried, stuck = policy.recall(state, {1: memory}), plain.recall(state, {1: memory})
    for _ in range(400):
        tried = look(policy, tried, changed=True, after=float(tried.period[0]))
        stuck = look(plain, stuck, changed=True, after=float(stuck.period[0]))

    assert 78 == stuck.period[0]
    assert tried.period[0] < 2


def test_a_quiet_look_starts_the_count_of_the_trial_again():
    """Three changes, a quiet look and three changes are no four in a row."""
    policy = replace(SMALL, trial=4, history=20)
    state = begin(policy)
    for changed in (True, True, True, False, True, True, True):
        state = look(policy, state, changed, after=50)

    assert 3 == policy.remember(state, 1)["unbroken"]
    assert 6 == len(policy.remember(state, 1)["intervals"])
    assert [] == policy.remember(look(policy, state, changed=True, after=50), 1)["intervals"]


def test_a_memory_of_before_the_trial_is_read():
    """What an older Tidings stored lacks the count; the rest is known again."""
    state = look(SMALL, begin(SMALL), changed=True, after=10)
    memory = SMALL.remember(state, 1)
    older = {name: value for name, value in memory.items() if name != "unbroken"}

    assert {**memory, "unbroken": 0} == SMALL.remember(SMALL.recall(begin(SMALL), {1: older}), 1)


@pytest.mark.parametrize("pace", [10 * SECOND, 20 * MINUTE, HOUR, DAY])
@pytest.mark.parametrize("seed", range(4))
def test_no_page_is_looked_at_more_often_than_its_shortest_interval(pace, seed):
    """Whatever a page does, two looks are at least Pmin apart, and no more than Pmax (and a tick)."""
    rng = np.random.default_rng(seed)
    gaps = rng.exponential(rng.choice([MINUTE, HOUR, DAY], 400)).astype(np.int64)
    times = NOW + np.cumsum(gaps)
    policy = BestEffort(pace)
    trace = make_trace({1: times[times < NOW + 20 * DAY]}, start=NOW, end=NOW + 20 * DAY)
    bucket = TokenBucket(rate=1.0, burst=1e6, level=1e6, at=NOW)
    world = World(population=Population({"id": [1]}), trace=trace, bucket=bucket, tick=SECOND)
    between = np.diff(simulate(policy, world, rng=rng).polls.at)

    assert between.min() >= min(pace, 5 * MINUTE)
    assert between.max() <= max(pace, DAY) + SECOND


def test_far_instants_do_not_overflow():
    """A period of for ever after a late look is far away, not long ago."""
    policy = BestEffort(NEVER, longest=NEVER)
    state = begin(policy)

    assert policy.next_due(state, [1], NOW, 0.0) > NOW + 100 * 365 * DAY
    assert policy.next_due(begin(policy, last_polled=np.array([NEVER - 5])), [1], NOW, 0.0) == NEVER


@pytest.mark.parametrize(
    ("wrong", "text"),
    [
        ({"pace": 0}, "pace must be above 0"),
        ({"shortest": 0}, "shortest interval must be above 0"),
        ({"longest": MINUTE}, "not above the longest"),
        ({"alpha": 0}, "alpha and beta must be 1 to 255"),
        ({"beta": 256}, "alpha and beta must be 1 to 255"),
        ({"history": 1}, "the history 2 to 255"),
        ({"weight": 1.5}, "weight and fading must be above 0 and at most 1"),
        ({"saturation": 256}, "saturation and trial must be 0 to 255"),
        ({"trial": -1}, "saturation and trial must be 0 to 255"),
        ({"fading": 0.0}, "fading must be above 0"),
        ({"tolerance": -1}, "tolerance 0 or more"),
    ],
)
def test_parameters_that_cannot_be_are_refused(wrong, text):
    """The error names the parameter and what it may be."""
    with pytest.raises(ValueError, match=text):
        BestEffort(**wrong)
