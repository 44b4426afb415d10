"""When to try again, and when to give up (trust §1, the sample schedule of Standard Webhooks; F-28, F-29).

Ten attempts over 75.6 hours, then the delivery is dead; it can be replayed with the same id. All pure: time and
chance are arguments.
"""

from __future__ import annotations

from typing import Final

from tidings.clock import DAY, HOUR, MINUTE, SECOND, Duration, Instant
from tidings.model.unit import EndpointMove
from tidings.notification.channel import Refused, Sent

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
"""How long to wait after the first, second, … failed attempt."""
JITTER: Final = 0.2
LEAST_RETRY_AFTER: Final[Duration] = MINUTE
MOST_RETRY_AFTER: Final[Duration] = DAY


def next_attempt(attempt: int, *, now: Instant, jitter: float, retry_after: Duration | None = None) -> Instant | None:
    """Return when to try again after attempt number `attempt` (from 1) failed at `now`; None: the delivery is dead.

    `jitter` from −1 to 1 moves the wait by up to 20 %. What the receiver asks for holds where it is longer, within
    1 min to 24 h (contracts.md §11).
    """
    if attempt < 1 or not -1 <= jitter <= 1:
        message = f"attempt must be 1 or more and jitter within -1 and 1; they are {attempt} and {jitter}"
        raise ValueError(message)
    if attempt > len(SCHEDULE):
        return None
    wait = round(SCHEDULE[attempt - 1] * (1 + JITTER * jitter))
    if retry_after is not None:
        wait = max(wait, min(max(retry_after, LEAST_RETRY_AFTER), MOST_RETRY_AFTER))
    return now + wait


def judge_endpoint(
    endpoint_id: int, answer: Sent | Refused, *, now: Instant, failing_since: Instant | None, disable_after: Duration
) -> EndpointMove:
    """Return what an attempt at `now` says of its endpoint, which has only failed since `failing_since` (None: it took the last one).

    An endpoint that says 410, or has taken nothing for `disable_after` (µs), is switched off with the reason.
    """
    if isinstance(answer, Sent):
        return EndpointMove(endpoint_id=endpoint_id, failing_since=None)
    since = now if failing_since is None else min(failing_since, now)
    if answer.disable:
        return EndpointMove(endpoint_id=endpoint_id, failing_since=since, enabled=False, reason=answer.reason)
    if now - since < disable_after:
        return EndpointMove(endpoint_id=endpoint_id, failing_since=since, reason=answer.reason)
    reason = f"nothing was taken for {(now - since) / DAY:.3g} days; the last answer: {answer.reason}"
    return EndpointMove(endpoint_id=endpoint_id, failing_since=since, enabled=False, reason=reason)
