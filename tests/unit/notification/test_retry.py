import pytest

from tidings.model.observed.unit import EndpointMove
from tidings.notification.channel import Refused, Sent
from tidings.notification.retry import SCHEDULE, judge_endpoint, next_attempt

SECOND = 1_000_000
MINUTE = 60 * SECOND
HOUR = 60 * MINUTE
DAY = 24 * HOUR
NOW = 1_700_000_000 * SECOND


def waits(jitter=0.0):
    """Return the waits after the attempts on a receiver that never answers."""
    found, attempt, now = [], 1, NOW
    while (after := next_attempt(attempt, now=now, jitter=jitter)) is not None:
        found.append(after - now)
        attempt, now = attempt + 1, after
    return found


def test_schedule_is_that_of_standard_webhooks():
    """F-28: 5 s, 5 min, 30 min, 2 h, 5 h, 10 h, 14 h, 20 h, 24 h. After these 75.6 h it is a dead
    letter.
    """
    expected = [5 * SECOND, 5 * MINUTE, 30 * MINUTE, 2 * HOUR, 5 * HOUR, 10 * HOUR, 14 * HOUR, 20 * HOUR, 24 * HOUR]

    assert expected == waits()
    assert 75.6 == round(sum(waits()) / HOUR, 1)


@pytest.mark.parametrize("jitter", [-1.0, 1.0, 0.5])
def test_jitter_is_a_fifth_and_at_most_half_an_hour(jitter):
    """Receivers that failed together are not retried together."""
    assert [round(wait + jitter * min(wait / 5, 30 * MINUTE)) for wait in SCHEDULE] == waits(jitter)


def test_retries_last_at_least_three_days():
    """The documentation promises this, and jitter does not shorten it."""
    assert 3 * DAY < sum(waits(-1.0)) < sum(waits(1.0)) < 80 * HOUR


@pytest.mark.parametrize(
    ("attempt", "retry_after", "expected"),
    [
        (1, 10 * MINUTE, 10 * MINUTE),
        (1, 1 * SECOND, MINUTE),
        (2, 1 * SECOND, 5 * MINUTE),
        (2, 90 * DAY, DAY),
        (9, 2 * HOUR, DAY),
        (1, -5, MINUTE),
    ],
)
def test_longer_retry_after_is_used(attempt, retry_after, expected):
    """The value counts between one minute and one day, and never shortens the schedule."""
    assert NOW + expected == next_attempt(attempt, now=NOW, jitter=0.0, retry_after=retry_after)


def test_retry_after_adds_no_attempt():
    """The tenth failure is the last one."""
    assert next_attempt(10, now=NOW, jitter=0.0, retry_after=HOUR) is None


@pytest.mark.parametrize(("attempt", "jitter"), [(0, 0.0), (1, 1.1), (1, -1.1), (1, float("nan"))])
def test_invalid_attempt_or_jitter_is_refused(attempt, jitter):
    """Attempts count from 1, and jitter is from -1 to 1."""
    with pytest.raises(ValueError, match="attempt must be 1 or more"):
        next_attempt(attempt, now=NOW, jitter=jitter)


def judge(answer, failing_since, now=NOW, attempt=1, **more):
    """Return the move after an attempt; the last one was half an hour ago, its message is old."""
    given = {"tried_at": NOW - HOUR // 2, "made_at": NOW - 5 * DAY, "disable_after": 5 * DAY, **more}
    return judge_endpoint(7, answer, attempt=attempt, now=now, failing_since=failing_since, **given)


def move(failing_since, **more):
    return EndpointMove(endpoint_id=7, failing_since=failing_since, tried_at=NOW, **more)


def test_success_clears_the_failures():
    """One delivery is enough."""
    assert move(None, is_back=True) == judge(Sent(200), NOW - 4 * DAY)
    assert move(None) == judge(Sent(200), None)


def test_failure_below_a_minute_is_no_outage():
    """Only after an outage are all waiting messages sent at once."""
    assert [False, True] == [judge(Sent(200), NOW - age).is_back for age in (MINUTE - 1, MINUTE)]


def test_first_failure_starts_the_count():
    """The reason is stored."""
    assert move(NOW, reason="down") == judge(Refused(reason="down"), None)


@pytest.mark.parametrize(
    ("attempt", "more", "expected"),
    [
        (1, {"retry_after": HOUR}, HOUR),
        (1, {"retry_after": 0, "busy": True}, MINUTE),
        (1, {"retry_after": 90 * DAY}, DAY),
        (1, {"busy": True}, MINUTE),
        (2, {"busy": True}, 5 * MINUTE),
        (9, {"busy": True}, 30 * MINUTE),
        (40, {"busy": True}, 30 * MINUTE),
    ],
)
def test_endpoint_is_held_until_retry_after(attempt, more, expected):
    """The value counts from one minute to one day. A 429 without a value uses the schedule, up to
    half an hour.
    """
    assert NOW + expected == judge(Refused(reason="later", **more), None, attempt=attempt).paused_until


def test_endpoint_is_disabled_after_five_days_of_failures():
    """F-28: not a microsecond earlier, and the reason says so."""
    before = judge(Refused(reason="down"), NOW - 5 * DAY + 1)
    after = judge(Refused(reason="down"), NOW - 5 * DAY)

    assert before.enabled
    assert not after.enabled
    assert NOW - 5 * DAY == after.failing_since
    assert "nothing was accepted for 5 days; the last answer: down" == after.reason


@pytest.mark.parametrize("more", [{"retry": False}, {"holds": False}])
def test_answer_about_one_message_disables_no_endpoint(more):
    """It was reached, and refused this message: too large, not found, conflict."""
    assert judge(Refused(reason="413", **more), NOW - 30 * DAY).enabled


@pytest.mark.parametrize("tried_at", [None, NOW - 26 * HOUR, NOW - 7 * DAY])
def test_failures_with_a_longer_pause_than_any_retry_are_two(tried_at):
    """Nothing waited meanwhile, or Tidings did not run: the second begins now."""
    found = judge(Refused(reason="down"), NOW - 7 * DAY, tried_at=tried_at)

    assert (True, NOW) == (found.enabled, found.failing_since)


@pytest.mark.parametrize("pause", [HOUR, 24 * HOUR + HOUR // 2])
def test_failures_at_the_pace_of_retries_are_one(pause):
    """The longest pause is a day and the jitter."""
    assert NOW - 2 * DAY == judge(Refused(reason="down"), NOW - 2 * DAY, tried_at=NOW - pause).failing_since


@pytest.mark.parametrize(
    ("age", "disable_after", "enabled"),
    [
        (3 * DAY - 1, 5 * DAY, True),
        (3 * DAY, 5 * DAY, False),
        (DAY - 1, DAY, True),
        (DAY, DAY, False),
        (0, 0, False),
    ],
)
def test_endpoint_is_disabled_by_no_message_younger_than_the_promise(age, disable_after, enabled):
    """Three days of retries are promised, unless the user has set fewer."""
    found = judge(Refused(reason="down"), NOW - 9 * DAY, made_at=NOW - age, disable_after=disable_after)

    assert enabled == found.enabled


@pytest.mark.parametrize("failing_since", [None, NOW - 30 * DAY])
def test_own_fault_leaves_the_endpoint_as_it_was(failing_since):
    """Nothing was sent: its messages wait half an hour, in their order."""
    found = judge(Refused(reason="no key", is_ours=True), failing_since)

    assert (True, failing_since, None) == (found.enabled, found.failing_since, found.tried_at)
    assert NOW + 30 * MINUTE == found.paused_until


def test_gone_disables_the_endpoint_at_once():
    """F-29: 410 on the first attempt is enough."""
    answer = Refused(reason="410", retry=False, disable=True)

    assert move(NOW, enabled=False, reason="410") == judge(answer, None)


def test_failures_from_the_future_count_from_now():
    """The clock was set back; the endpoint stays enabled."""
    assert NOW == judge(Refused(reason="down"), NOW + DAY).failing_since
