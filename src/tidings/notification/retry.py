"""When to retry, and when to give up (the sample schedule of Standard Webhooks; F-28, F-29).

Ten attempts over 75.6 hours, then the delivery is dead; it can be replayed with the same id.
Between them a failing endpoint is tried every half hour with its first message, and such attempts
are not counted. Pure: time and randomness are arguments.
"""

from __future__ import annotations

from typing import Final

from tidings.clock import DAY, HOUR, MINUTE, SECOND, Duration, Instant
from tidings.model.observed.unit import EndpointMove
from tidings.notification.channel import Refused, Sent
from tidings.record import replace

SCHEDULE: Final[tuple[Duration, ...]] = (
    5 * SECOND,
    5 * MINUTE,
    30 * MINUTE,
    2 * HOUR,
    5 * HOUR,
    10 * HOUR,
    14 * HOUR,
    20 * HOUR,
    24 * HOUR,
)
"""The wait after the first, second, … failed attempt."""
JITTER: Final = 0.2
MOST_JITTER: Final[Duration] = 30 * MINUTE
"""The most by which a wait is shifted. All nine at their shortest still make more than three days,
the promised retry time.
"""
LEAST_RETRY_AFTER: Final[Duration] = MINUTE
MOST_RETRY_AFTER: Final[Duration] = DAY
TRIED_EVERY: Final[Duration] = 30 * MINUTE
"""the longest pause of a failing endpoint, unless it asks for more"""
PATIENT_ATTEMPTS: Final = 3
"""After so many failed attempts (35 minutes), and each later one, the next message is tried too: if
it is accepted, the fault is in the first message, which then blocks nothing.
"""
LONGEST_PAUSE: Final[Duration] = MOST_RETRY_AFTER + HOUR
"""An endpoint for which a message waits is attempted this often at least. After a longer pause
nobody knows whether it failed all the time.
"""
RETRIED: Final[Duration] = 3 * DAY
"""the promised retry time: no endpoint is switched off by a younger message"""
OUTAGE: Final[Duration] = MINUTE
"""an endpoint that recovers after so long gets its pending retries at once"""
SILENT: Final[Duration] = HOUR
"""how long an endpoint may accept nothing before its owner is notified"""


def next_attempt(attempt: int, *, now: Instant, jitter: float, retry_after: Duration | None = None) -> Instant | None:
    """Return when to retry after attempt number `attempt` failed; None: the delivery is dead.

    A longer wait that the receiver asked for holds, within 1 min to 24 h (contracts §11).

    Args:
        attempt: The number of the failed attempt, from 1.
        now: When it failed (µs).
        jitter: From −1 to 1: shifts the wait by up to 20 %, at most half an hour.
        retry_after: What the receiver asked for (µs); None for nothing.
    """
    if attempt < 1 or not -1 <= jitter <= 1:
        message = f"attempt must be 1 or more and jitter within -1 and 1; they are {attempt} and {jitter}"
        raise ValueError(message)
    if attempt > len(SCHEDULE):
        return None
    wait = SCHEDULE[attempt - 1]
    wait += round(min(JITTER * wait, MOST_JITTER) * jitter)
    if retry_after is not None:
        wait = max(wait, _patience(retry_after))
    return now + wait


def _patience(retry_after: Duration) -> Duration:
    return min(max(retry_after, LEAST_RETRY_AFTER), MOST_RETRY_AFTER)


def judge_endpoint(
    endpoint_id: int,
    answer: Sent | Refused,
    *,
    attempt: int,
    now: Instant,
    failing_since: Instant | None,
    tried_at: Instant | None,
    made_at: Instant,
    disable_after: Duration,
) -> EndpointMove:
    """Return the state of an endpoint after an attempt.

    One that answers 410, or has accepted nothing for `disable_after` (µs), is switched off with the
    reason; not by an answer about one message, nor before that message was retried for three days.
    What it asks for (Retry-After, 429) holds for every message to it. If nothing was sent, by our
    own fault, its messages wait, and it stays what it was.

    Args:
        endpoint_id: The receiver's number.
        answer: The result of the attempt.
        attempt: Its number, from 1.
        now: When it ended (µs).
        failing_since: Since when nothing was accepted (µs); None if the last one was.
        tried_at: When the attempt before it ended (µs); None if there was none.
        made_at: When its message was made (µs).
        disable_after: How long that may last (µs).
    """
    if isinstance(answer, Refused) and answer.is_ours:
        wait = now + TRIED_EVERY
        return EndpointMove(
            endpoint_id=endpoint_id, failing_since=failing_since, reason=answer.reason, paused_until=wait, is_ours=True
        )
    move = EndpointMove(endpoint_id=endpoint_id, failing_since=None, tried_at=now)
    if isinstance(answer, Sent):
        return replace(move, is_back=failing_since is not None and now - failing_since >= OUTAGE)
    is_interrupted = failing_since is None or tried_at is None or now - tried_at > LONGEST_PAUSE
    since = now if is_interrupted or failing_since is None else min(failing_since, now)
    move = replace(move, failing_since=since, reason=answer.reason, paused_until=_find_hold(answer, attempt, now))
    if answer.disable:
        return replace(move, enabled=False)
    is_of_all = answer.retry and answer.holds
    if not is_of_all or now - since < disable_after or now - made_at < min(disable_after, RETRIED):
        return move
    reason = f"nothing was accepted for {(now - since) / DAY:.2g} days; the last answer: {answer.reason}"
    return replace(move, enabled=False, reason=reason)


def _find_hold(answer: Refused, attempt: int, now: Instant) -> Instant | None:
    if answer.retry_after is not None:
        return now + _patience(answer.retry_after)
    if answer.busy:
        return now + max(min(SCHEDULE[min(attempt, len(SCHEDULE)) - 1], TRIED_EVERY), LEAST_RETRY_AFTER)
    return None
