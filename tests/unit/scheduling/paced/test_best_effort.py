"""The best-effort policy: periods that follow the changes of a page."""

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


def poll(policy, state, changed, *, after, dated=None):
    """Return the state after a poll of every page, `after` seconds (one or one a page) after the
    last.
    """
    ids = state.population.ids
    at = state.population["last_polled"] + np.round(np.asarray(after) * SECOND).astype(np.int64)
    dated = None if dated is None else np.full(len(ids), dated)
    return policy.on_poll(state, ids, Observation.of(at, np.full(len(ids), changed), dated))


def follow(policy, state, inputs):
    """Return the periods after each input: seconds after which a change was seen, None for a poll
    in time without one.
    """
    periods = []
    for seconds in inputs:
        state = poll(policy, state, seconds is not None, after=state.period if seconds is None else seconds)
        periods.append(float(state.period[0]))
    return periods


def waits(policy, state):
    """Return after how many seconds from its last poll each page is due."""
    due = policy.next_due(state, state.population.ids, 0, 0.0)
    return ((due - state.population["last_polled"]) / SECOND).tolist()


def test_trace_of_the_study_is_reproduced():
    """It has the twelve steps of scheduling §5: constant, random with weights, doubled, estimated
    again.
    """
    inputs = [10, 10, 10, 30, *[None] * 6, 8, 8]

    assert [6, 10, 10, 9, 9, 9, 18, 18, 18, 36, 14.5, 8] == follow(SMALL, begin(SMALL), inputs)


def test_page_is_due_one_period_after_its_last_poll():
    """It bids from then on."""
    state = poll(SMALL, begin(SMALL), changed=True, after=10)
    due = NOW + 16 * SECOND

    assert [due] == SMALL.next_due(state, [1], NOW, 0.0).tolist()
    assert [0.0] == SMALL.bid(state, due - 1, 0.0).tolist()
    assert (SMALL.bid(state, due, 0.0) > 0).all()


def test_period_is_rounded_up():
    """A fraction of a µs would make a poll in time an early one."""
    state = poll(SMALL, begin(SMALL), changed=True, after=10.000001)

    assert 6.0 < state.period[0] < 6.000001
    assert [6.000001] == waits(SMALL, state)


def test_pages_learn_independently():
    """One page leaves the others unchanged."""
    state = begin(SMALL, count=3)
    after = SMALL.on_poll(state, [2], Observation.of(NOW + 10 * SECOND, changed=True))

    assert [5, 6, 5] == after.period.tolist()


def test_every_alpha_quiet_polls_double_the_period():
    """Not only the first ones do (correction a), up to Pmax (g)."""
    policy = replace(SMALL, longest=30 * SECOND)

    assert [5, 5, 10, 10, 10, 20, 20, 20, 30, 30, 30, 30] == follow(policy, begin(policy), [None] * 12)


def test_change_resets_the_count_of_quiet_polls():
    """Two quiet polls, a change and two more are no three in a row (correction k)."""
    assert [5, 5, 5, 5, 5, 10] == follow(SMALL, begin(SMALL), [None, None, 5, None, None, None])


def test_constant_interval_becomes_the_period():
    """The second such time in a row it is estimated from the whole history (correction b)."""
    assert [24, 18, 20, 15, 20] == follow(SMALL, begin(SMALL), [40, 20, 20, 20, 20])


def test_other_interval_resets_the_count_of_constant_ones():
    """Then 20 becomes the period and is not estimated."""
    assert [12, 20, 0.6 * 24, 0.6 * 23, 20] == pytest.approx(follow(SMALL, begin(SMALL), [20, 20, 32, 20, 20]))


def test_oldest_interval_leaves_the_history():
    """Of five intervals with a history of four, the first no longer counts (correction c)."""
    last = follow(SMALL, begin(SMALL), [400, 10, 30, 50, 70])[-1]

    assert 40 == last


def test_mean_is_over_the_known_intervals():
    """Two intervals are divided by two (correction e), and a mean above the period is weighted
    down.
    """
    assert [12, 0.6 * 25] == follow(SMALL, begin(SMALL), [20, 30])


def test_older_intervals_weigh_less_if_they_fade():
    """Each weighs half as much as the next newer one: (30 + 10/2)/1.5 s, and 0.6 of it since that
    is above the period.
    """
    fading = replace(SMALL, fading=0.5)

    assert [6, pytest.approx(14)] == follow(fading, begin(fading), [10, 30])


def test_old_short_intervals_are_outweighed_soon():
    """W-125: after 20 changes at about 10 s come some at about 100 s; with fading weights 4 of them
    bring the period near, without it 15.
    """
    quick, slow = [9, 11] * 10, [99, 103] * 10

    def take(fading):
        policy = replace(SMALL, longest=HOUR, history=20, tolerance=0, fading=fading)
        periods = follow(policy, begin(policy), [*quick, *slow])[len(quick) :]
        return next(number for number, period in enumerate(periods, start=1) if period > 45)

    assert (4, 15) == (take(0.7), take(1.0))


def test_memory_is_the_same_with_fading_intervals():
    """Switching to the other form loses nothing."""
    plain, fading = SMALL, replace(SMALL, fading=0.7)
    state = begin(plain)
    for seconds in (10, 20, 40):
        state = poll(plain, state, changed=True, after=seconds)
    recalled = fading.recall(begin(fading), {1: plain.remember(state, 1)})

    assert [10, 20, 40] == fading.remember(recalled, 1)["intervals"]
    assert state.period.tolist() == recalled.period.tolist()


def test_only_a_mean_above_the_period_is_weighted():
    """An equal one is not (correction d)."""
    assert [6, 10, 10] == follow(SMALL, begin(SMALL), [10, 10, 10])


def test_shortest_interval_holds_for_constant_changes():
    """A page that changes each second is not polled more often than Pmin allows (correction f)."""
    assert [5, 5, 5, 5] == follow(SMALL, begin(SMALL), [1, 1, 1, 1])


@pytest.mark.parametrize(("second", "period"), [(20.9, 20.9), (19.1, 19.1), (21.5, 0.6 * 20.75)])
def test_intervals_within_the_tolerance_are_equal(second, period):
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
def test_arrays_agree_with_the_printed_algorithm(seed):
    """Many pages at once do what it does for each alone."""
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
        state = poll(policy, state, [seconds is not None for seconds in column], after=np.ceil(np.array(after)))
        periods.append(state.period.tolist())

    assert np.allclose(expected, np.transpose(periods), rtol=1e-9)


def test_first_poll_is_a_baseline():
    """It teaches nothing, not even that there was no change."""
    state = begin(SMALL, last_polled=np.array([UNPOLLED]))
    first = SMALL.on_poll(state, [1], Observation.of(NOW, changed=False))

    assert {**SMALL.remember(state, 1), "looked": NOW} == SMALL.remember(first, 1)
    assert [5.0] == waits(SMALL, first)


def test_repeated_poll_counts_once():
    """An observation that is not after the last one is skipped."""
    once = poll(SMALL, begin(SMALL), changed=True, after=10)
    twice = poll(SMALL, once, changed=True, after=0)

    assert SMALL.remember(once, 1) == SMALL.remember(twice, 1)


def test_column_last_polled_does_not_hide_a_poll():
    """The interval counts from the last observed poll, even if the table had the new one before."""
    state = SMALL.on_update(begin(SMALL), [1], {"last_polled": NOW + 10 * SECOND})
    state = SMALL.on_poll(state, [1], Observation.of(NOW + 10 * SECOND, changed=True))

    assert [6.0] == state.period.tolist()


def test_early_quiet_polls_end_no_cycle():
    """Polls for other reasons, here each second, count as one poll a period: 5 s three times, then
    10 s.
    """
    state, periods = begin(SMALL), []
    for _ in range(15):
        state = poll(SMALL, state, changed=False, after=1)
        periods.append(float(state.period[0]))

    assert [5.0] * 14 + [10.0] == periods


def test_early_change_is_dated_from_the_start_of_its_cycle():
    """After two early quiet polls a change came within 1 + 1 + 8 s."""
    state = begin(SMALL)
    for changed, after in ((False, 1), (False, 1), (True, 8)):
        state = poll(SMALL, state, changed, after=after)

    assert [10.0] == SMALL.remember(state, 1)["intervals"]


def test_dated_changes_give_the_interval():
    """The polls may be late."""
    state = poll(SMALL, begin(SMALL), changed=True, after=10, dated=NOW + 2 * SECOND)
    state = poll(SMALL, state, changed=True, after=30, dated=NOW + 14 * SECOND)

    assert [10.0, 12.0] == SMALL.remember(state, 1)["intervals"]


@pytest.mark.parametrize("dated", [UNPOLLED, NOW - DAY, NOW + 10 * SECOND])
def test_date_before_the_last_poll_is_ignored(dated):
    """A change found now did not come before the last poll; the polls date it, and the next one."""
    state = poll(SMALL, begin(SMALL), changed=True, after=10, dated=NOW + 2 * SECOND)
    state = poll(SMALL, state, changed=True, after=30, dated=dated)
    state = poll(SMALL, state, changed=True, after=20, dated=NOW + 50 * SECOND)

    assert [10.0, 30.0, 20.0] == SMALL.remember(state, 1)["intervals"]


def test_date_in_the_future_counts_as_now():
    """A server's clock that is ahead makes no interval longer than the time that passed, neither
    this one nor the next.
    """
    state = poll(SMALL, begin(SMALL), changed=True, after=10, dated=NOW + 2 * SECOND)
    state = poll(SMALL, state, changed=True, after=30, dated=NOW + DAY)
    state = poll(SMALL, state, changed=True, after=20, dated=NOW + 55 * SECOND)

    assert [10.0, 38.0, 15.0] == SMALL.remember(state, 1)["intervals"]


def test_bounds_of_a_page_replace_those_of_the_policy():
    """`shortest` and `longest` are Pmin and Pmax; 0 and NEVER leave them to the policy: 5 minutes
    and 1 day.
    """
    policy = BestEffort(HOUR, saturation=0)
    state = begin(
        policy,
        count=4,
        shortest=np.array([0, 2 * HOUR, 0, 3 * DAY]),
        longest=np.array([NEVER, NEVER, 2 * MINUTE, NEVER]),
    )
    fast, slow = state, state
    for _ in range(80):
        fast = poll(policy, fast, changed=True, after=1)
        slow = poll(policy, slow, changed=False, after=slow.period)

    assert [3_600, 7_200, 120, 3 * 86_400] == waits(policy, state)
    assert [300, 7_200, 120, 3 * 86_400] == waits(policy, fast)
    assert [86_400, 86_400, 120, 3 * 86_400] == waits(policy, slow)


@pytest.mark.parametrize(("pace", "low", "high"), [(10 * SECOND, 10, 86_400), (3 * DAY, 300, 3 * 86_400)])
def test_pace_outside_the_bounds_widens_them(pace, low, high):
    """A pace of 10 s or 3 days is meant so."""
    policy = BestEffort(pace, saturation=0)
    state = fast = slow = begin(policy)
    for _ in range(120):
        fast = poll(policy, fast, changed=True, after=1)
        slow = poll(policy, slow, changed=False, after=slow.period)

    assert [pace / SECOND] == waits(policy, state)
    assert [[low], [high]] == [waits(policy, fast), waits(policy, slow)]


def test_new_bounds_hold_at_once():
    """An altered sentinel moves the due time of its page; the learned period returns with the old
    bounds.
    """
    state = poll(SMALL, begin(SMALL, count=2), changed=True, after=100)
    narrow = SMALL.on_update(state, [1], {"longest": 20 * SECOND})
    wide = SMALL.on_update(narrow, [1], {"longest": NEVER})

    assert [60, 60] == waits(SMALL, state)
    assert [20, 60] == waits(SMALL, narrow)
    assert [60, 60] == waits(SMALL, wide)


def test_added_and_removed_pages_leave_the_memory_of_others():
    """Rows move, memories stay; a page that returns starts anew."""
    state = poll(SMALL, begin(SMALL, count=3), [True, False, True], after=[10, 5, 100])
    kept = SMALL.remember(state, 3)
    state = SMALL.on_update(state, [1, 9], {"present": [False, True], "last_polled": NOW})
    again = SMALL.on_update(state, [1], {"last_polled": NOW})

    assert [2, 3, 9] == state.population.ids.tolist()
    assert kept == SMALL.remember(state, 3)
    assert [5.0, 60.0, 5.0] == waits(SMALL, state)
    assert 5.0 == SMALL.remember(again, 1)["period"]


def test_shorter_history_keeps_the_newest_intervals():
    """A larger history is cut, and counts of other parameters are capped."""
    state = begin(replace(SMALL, history=9, alpha=9))
    for seconds in (10, 20, 30, 40, 50, 60):
        state = poll(SMALL, state, changed=True, after=seconds)
    memory = {**replace(SMALL, history=9).remember(state, 1), "misses": 8}
    memory = SMALL.remember(SMALL.recall(begin(SMALL), {1: memory}), 1)

    assert [30.0, 40.0, 50.0, 60.0] == memory["intervals"]
    assert 2 == memory["misses"]


def polls_a_day(policy, changes, days):
    """Return how often a page was polled on each day; it is new, changes at `changes`, and polls
    are up to 10 s late.
    """
    trace = make_trace({1: changes}, start=NOW, end=NOW + days * DAY)
    bucket = TokenBucket(rate=1.0, burst=1_000.0, level=1_000.0, at=NOW)
    world = World(population=Population({"id": [1]}), trace=trace, bucket=bucket, tick=7_777_777)
    ledger = simulate(policy, world, rng=np.random.default_rng(0))
    return np.bincount((ledger.polls.at - NOW) // DAY, minlength=days)


def test_page_that_never_changes_is_polled_daily():
    """By default it is polled 14 times on its first day, 5 times on the second, and once a day from
    the second week on.
    """
    polls = polls_a_day(BestEffort(), [], 30)

    assert [14, 5] == polls[:2].tolist()
    assert (polls[2:14] <= 3).all()
    assert (polls[14:] <= 1).all()


EACH_MINUTE = NOW + np.arange(10 * DAY // MINUTE) * MINUTE


def test_page_that_always_changes_is_polled_at_the_pace():
    """While that is learned it is polled 70 times, then about once a pace."""
    polls = polls_a_day(BestEffort(), EACH_MINUTE, 10)

    assert polls[0] <= 70
    assert (polls[1:] <= 30).all()
    assert (polls[1:] >= 24).all()


def test_page_that_always_changes_is_polled_at_pmin_without_the_guard():
    """As in the paper, it costs 288 polls a day."""
    polls = polls_a_day(BestEffort(saturation=0), EACH_MINUTE[: 3 * DAY // MINUTE], 3)

    assert (polls[1:] > 250).all()
    assert (polls <= DAY // (5 * MINUTE)).all()


GUARDED = BestEffort(100 * SECOND, shortest=10 * SECOND, longest=1_000 * SECOND, saturation=4)


def make_saturated():
    """Return a state in which the page has just differed four times, 15 s apart at most."""
    state = begin(GUARDED)
    for seconds in (10, 12, 15, 15):
        state = poll(GUARDED, state, changed=True, after=seconds)
    return state


def test_saturated_page_waits_the_pace_six_times_of_seven():
    """Six times the pace, once Pmin, and so on."""
    state, waited = make_saturated(), []
    for _ in range(15):
        waited += waits(GUARDED, state)
        state = poll(GUARDED, state, changed=True, after=waited[-1])

    assert [*[100.0] * 6, 10.0, *[100.0] * 6, 10.0, 100.0] == waited


def test_saturation_needs_changes_at_each_of_the_last_polls():
    """All of them are at most one and a half times Pmin apart."""
    near = [10, 15, 15]
    for trial in ((10, False), (16, True)):
        state = begin(GUARDED)
        for seconds, changed in [*((s, True) for s in near), trial, *((s, True) for s in near)]:
            state = poll(GUARDED, state, changed, after=max(seconds, 0 if changed else float(state.period[0])))

        assert waits(GUARDED, state) < [50.0]


def test_two_quiet_polls_end_saturation():
    """Then it learns anew from the pace, without its history; one is not enough."""
    once = poll(GUARDED, make_saturated(), changed=False, after=100)
    twice = poll(GUARDED, poll(GUARDED, once, changed=True, after=100), changed=False, after=100)
    after = poll(GUARDED, twice, changed=True, after=50)

    assert 4 == GUARDED.remember(once, 1)["streak"]
    assert {"streak": 0, "misses": 0, "steady": 0, "intervals": [], "period": 100.0}.items() <= GUARDED.remember(
        twice, 1
    ).items()
    assert [50.0] == GUARDED.remember(after, 1)["intervals"]


def test_saturation_survives_a_restart():
    """The round continues where it was."""
    state = make_saturated()
    for _ in range(5):
        state = poll(GUARDED, state, changed=True, after=100)
    again = GUARDED.recall(begin(GUARDED), {1: GUARDED.remember(state, 1)})

    assert GUARDED.remember(state, 1) == GUARDED.remember(again, 1)
    assert 5 == GUARDED.remember(again, 1)["steady"]


def interrupt(policy, state, *, after, changed=True, dated=None):
    """Return the state after a poll, `after` seconds after the last, before which no poll was
    possible for a while.
    """
    at = state.population["last_polled"] + round(after * SECOND)
    dated = None if dated is None else [dated]
    return policy.on_poll(state, state.population.ids, Observation.of(at, changed, dated, interrupted=True))


@pytest.mark.parametrize("dated", [None, NOW + 9_000 * SECOND], ids=["undated", "dated"])
def test_downtime_is_no_interval(dated):
    """A change found after three hours of downtime leaves the period; the cycle starts again."""
    state = poll(SMALL, begin(SMALL), changed=True, after=10, dated=NOW + 9 * SECOND)
    after = interrupt(SMALL, state, after=10_000, dated=dated)

    assert SMALL.remember(state, 1)["intervals"] == SMALL.remember(after, 1)["intervals"] == [10.0]
    assert waits(SMALL, state) == waits(SMALL, after) == [6.0]
    assert NOW + 10_010 * SECOND == SMALL.remember(after, 1)["looked"]


def test_poll_that_was_hardly_late_teaches_as_usual():
    """A restart of less than half a period hides nothing."""
    state = begin(SMALL)

    assert SMALL.remember(poll(SMALL, state, True, after=7), 1) == SMALL.remember(interrupt(SMALL, state, after=7), 1)
    assert [] == SMALL.remember(interrupt(SMALL, state, after=8), 1)["intervals"]


def test_quiet_poll_after_downtime_ends_its_cycle():
    """Nothing changed for three hours, even if no poll was made."""
    assert 1 == SMALL.remember(interrupt(SMALL, begin(SMALL), after=10_000, changed=False), 1)["misses"]


def test_restarts_do_not_change_the_period():
    """A page that differs at each poll is polled as often after fifty restarts as before."""
    rng = np.random.default_rng(7)
    policy = BestEffort(MINUTE, shortest=SECOND, longest=DAY, saturation=0)
    state, longest = begin(policy), 0.0
    for _ in range(50):
        state = interrupt(policy, state, after=float(state.period[0]) + rng.exponential(600))
        for _ in range(3):
            state = poll(policy, state, changed=True, after=float(state.period[0]) + 0.01)
        longest = max(longest, float(state.period[0]))

    assert longest <= 60
    assert 1 == state.period[0]


def test_period_that_is_too_long_shrinks_if_every_poll_finds_a_change():
    """The history has the rhythm of the polls: 78 s become Pmin although no poll is quiet."""
    policy = BestEffort(MINUTE, shortest=SECOND, longest=DAY, saturation=0)
    state = begin(policy)
    memory = {**policy.remember(state, 1), "period": 78.0, "intervals": [78.0] * 20}
    plain = replace(policy, trial=0)
    tried, stuck = policy.recall(state, {1: memory}), plain.recall(state, {1: memory})
    for _ in range(400):
        tried = poll(policy, tried, changed=True, after=float(tried.period[0]))
        stuck = poll(plain, stuck, changed=True, after=float(stuck.period[0]))

    assert 78 == stuck.period[0]
    assert tried.period[0] < 2


def test_quiet_poll_resets_the_count_of_the_trial():
    """Three changes, a quiet poll and three changes are no four in a row."""
    policy = replace(SMALL, trial=4, history=20)
    state = begin(policy)
    for changed in (True, True, True, False, True, True, True):
        state = poll(policy, state, changed, after=50)

    assert 3 == policy.remember(state, 1)["unbroken"]
    assert 6 == len(policy.remember(state, 1)["intervals"])
    assert [] == policy.remember(poll(policy, state, changed=True, after=50), 1)["intervals"]


def test_memory_without_the_trial_is_read():
    """An older version stored no such count; the rest is restored."""
    state = poll(SMALL, begin(SMALL), changed=True, after=10)
    memory = SMALL.remember(state, 1)
    older = {name: value for name, value in memory.items() if name != "unbroken"}

    assert {**memory, "unbroken": 0} == SMALL.remember(SMALL.recall(begin(SMALL), {1: older}), 1)


@pytest.mark.parametrize("pace", [10 * SECOND, 20 * MINUTE, HOUR, DAY])
@pytest.mark.parametrize("seed", range(4))
def test_polls_are_never_closer_than_the_shortest_interval(pace, seed):
    """For every page, two polls are at least Pmin apart, and at most Pmax (and a tick)."""
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


def test_distant_instants_do_not_overflow():
    """A very long period after a late poll is far away, not long ago."""
    policy = BestEffort(NEVER, longest=NEVER)
    state = begin(policy)

    assert policy.next_due(state, [1], NOW, 0.0) > NOW + 100 * 365 * DAY
    assert NEVER == policy.next_due(begin(policy, last_polled=np.array([NEVER - 5])), [1], NOW, 0.0)


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
def test_impossible_parameters_are_refused(wrong, text):
    """The error names the parameter and its limits."""
    with pytest.raises(ValueError, match=text):
        BestEffort(**wrong)
