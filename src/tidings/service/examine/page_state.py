"""The state of a page after an answer (sentinels §5.3).

`ok → shaky → error(kind) → ok`. Entering and leaving an error are events, reported once;
repetitions are not. No cursor moves.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

from tidings.clock import DAY, HOUR, MINUTE, SECOND, WEEK
from tidings.estimation.saturation import add_poll
from tidings.model.event_type import EventType
from tidings.model.observed.outcome import ErrorKind, Failed, Fetched, Unchanged, Validators
from tidings.model.observed.page import LOST_BODY, MOVED_SIGHTS
from tidings.model.observed.unit import Event
from tidings.record import dataclass, replace
from tidings.service.examine.judge import xxh3
from tidings.service.plan.spread import lengthen

if TYPE_CHECKING:
    from tidings.detection.job.contract import Examination
    from tidings.model.interval import Duration, Instant
    from tidings.model.observed.page import PageState

SATURATED: Final = EventType.PAGE_SATURATED
"""The event type of a page that differs at each poll."""
FAILURES_TO_ERROR: Final = 2
SHAKY_AT_LEAST: Final = HOUR
"""A page is in error after this many failures over this long, or when its server asks for a pause
this long.
"""
AGAIN_AFTER: Final = 20 * SECOND
"""Pause of a page whose poll could not be stored, e.g. because the disk is full."""


@dataclass(frozen=True, slots=True)
class FailureRule:
    """How a kind of failure is handled: in error `at_once` or once it lasts; first wait, growth
    factor, longest wait (µs).
    """

    at_once: bool
    first: Duration
    factor: int
    longest: Duration


MANNERS: Final[dict[ErrorKind, FailureRule]] = {
    "net": FailureRule(at_once=False, first=MINUTE, factor=2, longest=HOUR),
    "busy": FailureRule(at_once=False, first=MINUTE, factor=2, longest=HOUR),
    "5xx": FailureRule(at_once=False, first=MINUTE, factor=2, longest=HOUR),
    "framing": FailureRule(at_once=False, first=MINUTE, factor=2, longest=HOUR),
    "encoding": FailureRule(at_once=False, first=MINUTE, factor=2, longest=HOUR),
    "fault": FailureRule(at_once=False, first=10 * MINUTE, factor=2, longest=HOUR),
    "request": FailureRule(at_once=False, first=HOUR, factor=2, longest=DAY),
    "denied": FailureRule(at_once=False, first=HOUR, factor=2, longest=DAY),
    "blocked": FailureRule(at_once=False, first=HOUR, factor=2, longest=DAY),
    "404": FailureRule(at_once=False, first=5 * MINUTE, factor=2, longest=DAY),
    "410": FailureRule(at_once=True, first=DAY, factor=1, longest=DAY),
    "redirect": FailureRule(at_once=True, first=HOUR, factor=2, longest=DAY),
    "address": FailureRule(at_once=True, first=HOUR, factor=2, longest=DAY),
    "robots": FailureRule(at_once=True, first=DAY, factor=1, longest=DAY),
    "scope": FailureRule(at_once=True, first=HOUR, factor=2, longest=DAY),
    "size": FailureRule(at_once=False, first=HOUR, factor=4, longest=DAY),
    "login": FailureRule(at_once=True, first=HOUR, factor=6, longest=DAY),
    "command": FailureRule(at_once=False, first=MINUTE, factor=2, longest=HOUR),
    "secret": FailureRule(at_once=True, first=DAY, factor=1, longest=DAY),
    "damaged": FailureRule(at_once=True, first=HOUR, factor=2, longest=DAY),
    "disk": FailureRule(at_once=False, first=AGAIN_AFTER, factor=1, longest=AGAIN_AFTER),
}
GONE_DAILY: Final = 7
"""Polls of a page that answers 410, one a day; then one a week."""


def after_failure(
    before: PageState, failed: Failed, at: Instant, *, interval: Duration | None = None
) -> tuple[PageState, tuple[Event, ...]]:
    """Return the state after a failure, and the event if the page enters an error, or changes its
    kind. A page whose stored bodies are damaged is fetched anew.

    Args:
        before: The state before.
        failed: The failure.
        at: When the poll ended (µs).
        interval: The page's own interval (µs); None if it has none.
    """
    failures = before.failures + 1
    since = before.failing_since if before.failing_since is not None else at
    lasting = failures >= FAILURES_TO_ERROR and at - since >= SHAKY_AT_LEAST
    left_alone = wait(failed, failures, page_id=before.page_id, own=_own_interval(before, interval, at))
    is_paused = failed.kind == "busy" and left_alone >= SHAKY_AT_LEAST
    in_error = before.health == "error" or MANNERS[failed.kind].at_once or lasting or is_paused
    state = replace(
        before,
        polled_at=at,
        polls=before.polls + 1,
        health="error" if in_error else "shaky",
        kind=failed.kind,
        reason=failed.reason,
        failures=failures,
        failing_since=since,
        retry_at=at + left_alone,
    )
    if failed.kind == "damaged" and state.last_seq:
        state = forget_body(state)
    data = {"kind": failed.kind, "reason": failed.reason, "status": failed.status, "since": since}
    return _report(before, state, data, at)


def _own_interval(before: PageState, promised: Duration | None, at: Instant) -> Duration:
    """Return the page's poll interval: as a sentinel asks, else the last one, at least an hour."""
    if promised is not None:
        return promised
    last = at - before.polled_at if before.polled_at is not None and before.failures == 0 else 0
    return max(HOUR, min(last, DAY))


GONE_AFTER: Final[Duration] = DAY
"""A page in error for this long, without a good poll in between, is reported as gone:
NOT(ok)[error, PLUS(error, a day)] (sentinels §3.5).
"""


def _report(
    before: PageState, state: PageState, data: Mapping[str, Any], at: Instant
) -> tuple[PageState, tuple[Event, ...]]:
    """Return the state after a failed poll with its events: a new error, or the first poll that
    finds an error to have lasted for a day.
    """
    if state.health == "error" and (before.health != "error" or before.kind != state.kind):
        event = Event(type=EventType.PAGE_ERROR, at=at, page_id=state.page_id, data=data)
        return replace(state, polled_at=_note_attempt(before, at)), (event,)
    if state.health != "error" or state.kind == "login":  # a page with a login exists, but cannot be read
        return replace(state, polled_at=_note_attempt(before, at)), ()
    if before.polled_at is not None and before.polled_at < data["since"] + GONE_AFTER <= at:
        return state, (Event(type=EventType.PAGE_GONE, at=at, page_id=state.page_id, data=data),)
    return state, ()


def _note_attempt(before: PageState, at: Instant) -> Instant:
    """Return the time to store of a poll that cannot report that a failing page is gone: one before
    the end of the day until this was reported, so that the next poll that can does it.
    """
    last, since = before.polled_at, before.failing_since
    if since is None or last is None or last >= since + GONE_AFTER:
        return at
    return min(at, since + GONE_AFTER - 1)


CONFIRM_AFTER: Final[Duration] = 5 * MINUTE
"""A second poll confirms a suspicion only if it is at least this much later."""
CAN_BE_TRUE: Final = frozenset({"collapsed", "empty"})
"""Suspicions that a second poll turns into a version: a page may really have become short. A wall
is never the page.
"""
ANOTHER_AFTER: Final[Duration] = WEEK
"""A page with another content type for this long, without a good poll in between, is accepted."""


def is_believed(before: PageState, kind: str, at: Instant) -> bool:
    """Return whether a suspicious body is accepted as a version: it has lasted, or it is empty and
    nothing was known of the page.
    """
    if kind == "empty" and before.last_seq == 0:
        return True
    if kind == "other_type":
        return before.suspect_kind == kind and before.suspect_at is not None and at - before.suspect_at >= ANOTHER_AFTER
    return kind in CAN_BE_TRUE and is_confirmed(before, kind, at)


def is_confirmed(before: PageState, kind: str, at: Instant) -> bool:
    """Return whether a poll confirms an earlier suspicion."""
    return before.suspect_kind == kind and before.suspect_at is not None and at - before.suspect_at >= CONFIRM_AFTER


def after_suspicion(
    before: PageState, kind: str, why: str, *, sha256: str, at: Instant
) -> tuple[PageState, tuple[Event, ...]]:
    """Return the state after a withheld body: a second poll soon, then the page is in error of that
    kind, reported once.

    The newest version stays, so that nothing has "changed back" when the wall is gone. The next
    request has no validators: some servers answer matching ones with 200 and an empty body.

    Args:
        before: The state before.
        kind: What the body looks like, as kind of error.
        why: The reason in words.
        sha256: The hash of the body.
        at: When the poll ended (µs).
    """
    was_conditional = bool(before.validators) and not is_audit(before, at)
    confirmed = is_confirmed(before, kind, at)
    in_error = confirmed or (before.health == "error" and before.kind == kind)
    failures = before.failures + 1
    first = before.suspect_at if before.suspect_kind == kind and before.suspect_at is not None else at
    grown: Duration = min(DAY, HOUR * 2 ** min(max(failures - 2, 0), 16))
    state = replace(
        before,
        polled_at=at,
        polls=before.polls + 1,
        health="error" if in_error else "shaky",
        kind=kind,
        reason=why,
        failures=failures,
        failing_since=before.failing_since if before.failing_since is not None else at,
        retry_at=at + (lengthen(grown, before.page_id, failures) if in_error else CONFIRM_AFTER),
        suspect_kind=kind,
        suspect_sha256=sha256,
        suspect_at=first,
        unconditional_in=0,
        honest_streak=before.honest_streak if before.honest_streak == LIARS else SUSPECTED if was_conditional else 0,
    )
    data = {"kind": kind, "reason": why, "status": None, "since": state.failing_since}
    return _report(before, state, data, at)


def freeze(before: PageState, at: Instant) -> PageState:
    """Return the state after a failure of our own network: polled again in a minute, without
    counting against the page.
    """
    again = lengthen(MINUTE, before.page_id, before.polls)
    return replace(before, polled_at=_note_attempt(before, at), polls=before.polls + 1, retry_at=at + again)


def unkept(before: PageState, failed: Failed, at: Instant) -> PageState:
    """Return the state after a poll that the data directory did not store: reported, polled again
    soon, without counting against the page.
    """
    again = lengthen(AGAIN_AFTER, before.page_id, before.polls)
    state = replace(before, polled_at=_note_attempt(before, at), polls=before.polls + 1, retry_at=at + again)
    return state if before.health == "error" else replace(state, health="shaky", kind=failed.kind, reason=failed.reason)


TOO_MANY: Final = 429


def wait(failed: Failed, failures: int, *, page_id: int, own: Duration = HOUR) -> Duration:
    """Return the pause of a page: what the server asked for, else a growing wait, up to a fifth
    longer from page to page.

    After a 429 without a usable Retry-After the wait is never shorter than the page's `own`
    interval.

    Args:
        failed: The failure.
        failures: How many there were in a row.
        page_id: The page.
        own: Its interval (µs).
    """
    if failed.retry_after is not None and (failures == 1 or failed.status != TOO_MANY):
        return failed.retry_after
    if failed.status == TOO_MANY:
        further = min(own * 2 ** min(failures - 1, 16), max(DAY, own))
        return max(failed.retry_after or 0, lengthen(further, page_id, failures))
    manner = MANNERS[failed.kind]
    if failed.kind == "410" and failures > GONE_DAILY:
        return lengthen(WEEK, page_id, failures)
    grown: Duration = manner.first * manner.factor ** min(failures - 1, 16)
    return lengthen(min(manner.longest, grown), page_id, failures)


MOVED_AT_LEAST: Final[Duration] = DAY
"""A page has moved permanently once this many polls, over this long, were redirected to the same
address.
"""


def after_poll(
    state: PageState,
    answer: Unchanged | Fetched,
    at: Instant,
    *,
    changed: bool = False,
    differs: bool = False,
    modified_at: Instant | None = None,
    floor: Duration = 0,
) -> tuple[PageState, tuple[Event, ...]]:
    """Return the state after a good poll, and its events: an error that ends, a page that has moved
    or differs at each poll.

    Learns from the answer's validators and freshness, and checks the earlier claims.

    Args:
        state: The state before.
        answer: The answer; permanent redirects led to `answer.moved`.
        at: The time.
        changed: Whether the body differs from the newest version's.
        differs: Whether its text differs.
        modified_at: When the page was modified, if its server says so.
        floor: The shortest time between two polls (µs).
    """
    moved = answer.moved
    events: tuple[Event, ...] = ()
    is_first = state.last_seq == 0 and state.failures > 0
    if state.health == "error" or is_first:
        data = {"kind": state.kind, "since": state.failing_since, "first": is_first}
        events = (Event(type=EventType.PAGE_OK, at=at, page_id=state.page_id, data=data),)
    since, sights = _move(state, moved, at)
    if sights == MOVED_SIGHTS and state.moved_sights < MOVED_SIGHTS:
        data = {"to": moved, "since": since}
        events = (*events, Event(type=EventType.PAGE_MOVED, at=at, page_id=state.page_id, data=data))
    saturation = add_poll(state.saturation, at=at, last=state.checked_at, differs=differs, floor=floor)
    if saturation.since is not None and state.saturation.since is None:
        events = (*events, Event(type=SATURATED, at=at, page_id=state.page_id, data={"looks": saturation.polls}))
    validators, streak, audit_in, audited_at = _validators(state, answer, changed=changed, at=at)
    well = replace(
        state,
        validators=validators,
        honest_streak=streak,
        unconditional_in=audit_in,
        audited_at=audited_at,
        fresh_until=at + answer.fresh if answer.fresh else None,
        fresh_doubt=_doubt_of_freshness(state, changed=changed, at=at, modified_at=modified_at),
        polled_at=at,
        checked_at=at,
        polls=state.polls + 1,
        health="ok",
        kind="",
        reason="",
        failures=0,
        failing_since=None,
        retry_at=None,
        suspect_kind="",
        suspect_sha256="",
        suspect_at=None,
        moved_to=moved,
        moved_at=since,
        moved_sights=sights,
        saturation=saturation,
    )
    return well, events


def _move(state: PageState, moved: str, at: Instant) -> tuple[Instant | None, int]:
    """Return since when a page redirects permanently to `moved`, and in how many polls; the last
    one needed must come late enough.
    """
    if not moved:
        return None, 0
    if moved != state.moved_to or state.moved_at is None:
        return at, 1
    is_long = at - state.moved_at >= MOVED_AT_LEAST
    return state.moved_at, min(state.moved_sights + 1, MOVED_SIGHTS if is_long else MOVED_SIGHTS - 1)


def after_version(
    state: PageState,
    fetched: Fetched | None,
    seen: Examination | None,
    *,
    seq: int,
    at: Instant,
    text_changed: bool,
    seed: int,
) -> PageState:
    """Return the state with version `seq` as the newest, whose body is `fetched`; None if only
    frames of the page are new.

    Args:
        state: The state before.
        fetched: The page's body; None if it is unchanged.
        seen: What the job says of it.
        seq: The number of the version.
        at: When the poll ended (µs).
        text_changed: Whether the masked text differs from the version before.
        seed: The seed of hashes of bodies.
    """
    own = seen if fetched is not None else None
    return replace(
        state,
        last_seq=seq,
        text_digest=seen.digest.text if seen is not None else state.text_digest,
        changed_at=at,
        text_changed_at=at if text_changed else state.text_changed_at,
        changes=state.changes + (seq > 1),
        body_size=len(fetched.body) if fetched is not None else state.body_size,
        body_xxh3=xxh3(fetched.body, seed) if fetched is not None else state.body_xxh3,
        charset=own.charset if own is not None else state.charset,
        title=own.title if own is not None else state.title,
        final_url=fetched.final_url if fetched is not None else state.final_url,
    )


DOUBTED: Final = 20
"""Polls without a change after which a freshness claim is trusted again after a false one."""


def _doubt_of_freshness(before: PageState, *, changed: bool, at: Instant, modified_at: Instant | None) -> int:
    """Return for how many polls without a change a freshness claim stays untrusted, given the last
    claim's outcome (P-6).

    A claim is false if the body changed within it, as found by a poll or by its modification date.
    """
    until, since = before.fresh_until, before.checked_at
    if not changed:
        return max(0, before.fresh_doubt - 1)
    if until is None or since is None:
        return before.fresh_doubt
    is_false = at < until or (modified_at is not None and since < modified_at < until)
    return DOUBTED if is_false else before.fresh_doubt


AUDIT_FIRST, AUDIT_LAST = 5, 20
AUDIT_AT_LEAST: Duration = DAY
SUSPECTED: Final = -1
"""The honest streak of a page whose answer to a conditional request was withheld."""
LIARS: Final = -2
"""The honest streak of a page that then answered well without validators: they are no
longer used.
"""


def knows_no_body(state: PageState) -> bool:
    """Return whether there is no version to compare with: none yet, or the newest was deleted while
    the page was not watched.
    """
    return state.body_size < 0 and not state.lacks_body


def forget_body(state: PageState) -> PageState:
    """Return the state of a page whose newest body cannot be read any more: no answer equals it,
    and the next request is unconditional.
    """
    return replace(state, body_size=LOST_BODY, body_xxh3="", validators=Validators(), audited_at=None, fresh_until=None)


def put_body_back(state: PageState, body: bytes, seed: int) -> PageState:
    """Return the state of a page whose lost body was fetched again; `seed` is that of body
    hashes.
    """
    return replace(state, body_size=len(body), body_xxh3=xxh3(body, seed))


def is_audit(state: PageState, now: Instant) -> bool:
    """Return whether the next request must be unconditional: 1 in k and at least daily (contracts
    §11).
    """
    if state.last_seq == 0 or state.unconditional_in <= 0:
        return True
    return state.audited_at is None or now - state.audited_at >= AUDIT_AT_LEAST


def _validators(
    state: PageState, outcome: Unchanged | Fetched, *, changed: bool, at: Instant
) -> tuple[Validators, int, int, Instant | None]:
    """Return the validators, their honest streak, the polls until the next audit, and the time of
    the last audit.

    The countdown to the next audit starts at k: 5 to 20 while the validators are honest, 1 after a
    caught lie (contracts §11). A lie is a changed body under validators that the server repeats;
    also a body that was empty under them and is the page without them.
    """
    if state.honest_streak in {SUSPECTED, LIARS} and isinstance(outcome, Fetched):
        return outcome.validators, LIARS, 0, at
    if isinstance(outcome, Unchanged):
        return state.validators, state.honest_streak, state.unconditional_in - 1, state.audited_at
    lied = changed and bool(outcome.validators) and outcome.validators == state.validators
    streak = 0 if lied else state.honest_streak + 1
    k = 0 if lied or not outcome.validators else min(AUDIT_LAST, AUDIT_FIRST + streak)
    return outcome.validators, streak, k, at
