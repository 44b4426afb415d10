"""The effect of an answer on the state of a page."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from tidings.clock import DAY, HOUR, MINUTE, WEEK
from tidings.model.event_type import EventType
from tidings.model.observed.outcome import ErrorKind, Failed, Fetched, Unchanged, Validators
from tidings.model.observed.page import PageState
from tidings.service.examine import page_state
from tidings.service.examine.page_state import MANNERS, after_failure, after_poll, after_suspicion, after_version, wait

NOW = 1_700_000_000_000_000
WELL = PageState(page_id=1, last_seq=1, body_size=3, polls=4, polled_at=NOW - HOUR, checked_at=NOW - HOUR)
TAG = Validators(etag='"a"')


def make_failure(kind: ErrorKind = "net", **more: Any) -> Failed:
    """Return a failure."""
    return Failed(kind=kind, reason="no route", **more)


def body(**more: Any) -> Fetched:
    """Return a whole answer."""
    return Fetched(body=b"new", final_url="http://a.example/", status=200, **more)


def fail(*ats: int, kind: ErrorKind = "net", before: PageState = WELL) -> tuple[PageState, list[EventType]]:
    """Return the state after failures at these instants, and the types of the events."""
    text: list[EventType] = []
    state = before
    for at in ats:
        state, events = after_failure(state, make_failure(kind), at)
        text += [event.type for event in events]
    return state, text


def test_one_failure_makes_a_page_shaky():
    """The page is polled again soon, and nobody is notified."""
    state, text = fail(NOW)

    assert ("shaky", "net", 1, NOW, []) == (state.health, state.kind, state.failures, state.failing_since, text)
    assert MINUTE <= state.retry_at - NOW <= 1.2 * MINUTE  # type: ignore[operator]


def test_failures_for_an_hour_make_an_error():
    """The error is reported once. Many failures within an hour are none."""
    state, text = fail(*range(NOW, NOW + HOUR, MINUTE))

    assert ("shaky", []) == (state.health, text)

    state, text = fail(NOW, NOW + HOUR, NOW + 2 * HOUR)

    assert ("error", [EventType.PAGE_ERROR]) == (state.health, text)


def test_some_kinds_are_errors_at_once():
    """For example, a page that is gone."""
    for kind, manner in MANNERS.items():
        state, text = fail(NOW, kind=kind)

        assert (manner.at_once, [EventType.PAGE_ERROR] * manner.at_once) == (state.health == "error", text)


def test_error_of_another_kind_is_reported():
    """For example, a page was blocked and is then gone."""
    error, _ = fail(NOW, kind="410")
    _, events = after_failure(error, make_failure("robots"), NOW + DAY)

    assert [(EventType.PAGE_ERROR, "robots")] == [(event.type, event.data["kind"]) for event in events]


def test_error_for_a_day_is_reported_once_as_gone():
    """A failed login does not count, as it says nothing about the page."""
    ats = (NOW, NOW + DAY - 1, NOW + DAY, NOW + 2 * DAY)

    assert [EventType.PAGE_ERROR, EventType.PAGE_GONE] == fail(*ats, kind="410")[1]
    assert [EventType.PAGE_ERROR] == fail(*ats, kind="login")[1]


@pytest.mark.parametrize("away", ["freeze", "unkept", "login", "other", "collapsed"])
@pytest.mark.parametrize("hours", [23, 24, 30, 100])
def test_page_is_reported_as_gone_although_another_failure_came_between(away: str, hours: int) -> None:
    """A failure of our own network or disk at the end of the day, or another error, puts the report
    off to the next poll; it comes once.
    """
    state, _ = fail(NOW, NOW + HOUR, NOW + 2 * HOUR, kind="404")
    at, types = NOW + hours * HOUR, []
    if away == "freeze":
        state = page_state.freeze(state, at)
    elif away == "unkept":
        state = page_state.unkept(state, make_failure("disk"), at)
    elif away == "collapsed":
        state, events = after_suspicion(state, "collapsed", "short", sha256="a", at=at)
        types += [event.type for event in events]
    else:
        state, events = after_failure(state, make_failure("login" if away == "login" else "net"), at)
        types += [event.type for event in events]
    for later in range(1, 60):
        state, events = after_failure(state, make_failure("404"), at + later * HOUR)
        types += [event.type for event in events]

    assert 1 == types.count(EventType.PAGE_GONE)
    assert [EventType.PAGE_OK] == [event.type for event in after_poll(state, body(), at + 100 * HOUR)[1]]


def test_rarely_polled_page_is_reported_as_gone() -> None:
    """Its second failure, more than a day after the first, is the error; the next one says more."""
    ats = tuple(NOW + days * 3 * DAY for days in range(5))

    assert [EventType.PAGE_ERROR, EventType.PAGE_GONE] == fail(*ats)[1]


def test_retry_after_of_an_hour_is_an_error_at_once():
    """A shorter one is not."""
    states = [after_failure(WELL, make_failure("busy", retry_after=after), NOW)[0] for after in (HOUR - 1, HOUR)]

    assert ["shaky", "error"] == [state.health for state in states]


@pytest.mark.parametrize(
    ("kind", "failures", "least"),
    [("net", 1, MINUTE), ("net", 3, 4 * MINUTE), ("net", 40, HOUR), ("404", 1, 5 * MINUTE), ("410", 8, WEEK)],
)
def test_wait_grows_up_to_a_limit(kind: ErrorKind, failures: int, least: int):
    """The wait varies by up to a fifth between pages, so that they are not polled together."""
    waits = [wait(make_failure(kind), failures, page_id=page) for page in range(50)]

    assert all(least <= each <= 1.2 * least for each in waits)
    assert len(set(waits)) > 1


def test_retry_after_is_used():
    """After a second 429 in a row it is only the minimum."""
    assert 7 == wait(make_failure("busy", retry_after=7), 1, page_id=1)
    assert 7 == wait(make_failure("5xx", retry_after=7, status=503), 5, page_id=1)
    assert 7 == wait(make_failure("busy", retry_after=7, status=429), 1, page_id=1, own=HOUR)
    assert wait(make_failure("busy", retry_after=7, status=429), 2, page_id=1, own=HOUR) >= 2 * HOUR
    assert 3 * DAY == wait(make_failure("busy", retry_after=3 * DAY, status=429), 2, page_id=1, own=HOUR)


def test_wait_after_a_429_is_at_least_the_interval():
    """A page with an interval of three days is not polled sooner. Otherwise the wait doubles, up to
    a day.
    """
    waits = [wait(make_failure("busy", status=429), 9, page_id=1, own=own) for own in (HOUR, 3 * DAY)]

    assert DAY <= waits[0] <= 1.2 * DAY
    assert 3 * DAY <= waits[1] <= 3.6 * DAY


def test_good_poll_ends_an_error():
    """The end is reported, and the failure is removed from the state."""
    state, events = after_poll(fail(NOW, kind="410")[0], Unchanged(final_url=""), NOW + DAY)

    assert ("ok", "", "", 0, None, None) == (
        state.health,
        state.kind,
        state.reason,
        state.failures,
        state.failing_since,
        state.retry_at,
    )
    assert [(EventType.PAGE_OK, "410")] == [(event.type, event.data["kind"]) for event in events]


def test_end_of_a_shaky_state_is_not_reported():
    """The first successful poll of a page is reported."""
    assert () == after_poll(fail(NOW)[0], Unchanged(final_url=""), NOW + DAY)[1]
    first = fail(NOW, before=PageState(page_id=1))[0]

    assert [True] == [event.data["first"] for event in after_poll(first, body(), NOW + MINUTE)[1]]


def test_page_has_moved_after_three_redirects_over_a_day():
    """The redirects lead to the same address; another address starts the count again."""
    text: list[list[EventType]] = []
    state = WELL
    for at, moved in ((0, "b"), (DAY - 1, "b"), (DAY - 1, "b"), (DAY, "b"), (2 * DAY, "b"), (3 * DAY, "c")):
        state, events = after_poll(state, body(moved=moved), NOW + at)
        text.append([event.type for event in events])

    assert [[], [], [], [EventType.PAGE_MOVED], [], []] == text
    assert ("c", 1) == (state.moved_to, state.moved_sights)


def test_doubtful_body_is_polled_again_after_five_minutes():
    """If it is confirmed, the page is in error. The newest version stays."""
    doubted, first = after_suspicion(WELL, "login", "a login", sha256="f", at=NOW)
    sooner = after_suspicion(doubted, "login", "a login", sha256="f", at=NOW + 5 * MINUTE - 1)
    confirmed, events = after_suspicion(doubted, "login", "a login", sha256="f", at=NOW + 5 * MINUTE)

    assert ("shaky", NOW + 5 * MINUTE, ()) == (doubted.health, doubted.retry_at, first)
    assert ("shaky", ()) == (sooner[0].health, sooner[1])
    assert ("error", NOW, 1) == (confirmed.health, confirmed.suspect_at, confirmed.last_seq)
    assert [EventType.PAGE_ERROR] == [event.type for event in events]


def test_short_page_is_believed_once_confirmed():
    """An empty first page is too, and another type of content after a week. A login never is."""
    for kind, believed in (("collapsed", True), ("empty", True), ("login", False), ("blocked", False)):
        doubted = replace(WELL, suspect_kind=kind, suspect_at=NOW)

        assert not page_state.is_believed(doubted, kind, NOW + 5 * MINUTE - 1)
        assert believed == page_state.is_believed(doubted, kind, NOW + 5 * MINUTE)
        assert not page_state.is_believed(doubted, "other_type", NOW + WEEK)

    assert page_state.is_believed(PageState(page_id=1), "empty", NOW)
    typed = replace(WELL, suspect_kind="other_type", suspect_at=NOW)
    assert [False, True] == [page_state.is_believed(typed, "other_type", NOW + at) for at in (WEEK - 1, WEEK)]


def test_own_failure_does_not_count_against_the_page():
    """The network is down or the disk is full: health and failures of the page stay."""
    frozen = page_state.freeze(WELL, NOW)
    unkept = page_state.unkept(WELL, make_failure("disk"), NOW)
    error, _ = fail(NOW, kind="410")

    assert ("ok", 0, None) == (frozen.health, frozen.failures, frozen.failing_since)
    assert ("shaky", "disk", 0, None) == (unkept.health, unkept.kind, unkept.failures, unkept.failing_since)
    assert ("error", "410") == (page_state.unkept(error, make_failure("disk"), NOW).health, error.kind)


def test_false_freshness_is_ignored_for_twenty_quiet_polls():
    """A change within the claimed time, by the poll or the page's date, shows that the claim is
    false; a later change does not.
    """
    claimed = replace(WELL, fresh_until=NOW + HOUR)
    lie, late = (after_poll(claimed, body(), at, changed=True)[0] for at in (NOW, NOW + HOUR))
    dated = after_poll(claimed, body(), NOW + 2 * HOUR, changed=True, modified_at=NOW)[0]

    assert (20, 0, 20) == (lie.fresh_doubt, late.fresh_doubt, dated.fresh_doubt)
    assert 19 == after_poll(lie, Unchanged(final_url=""), NOW + HOUR)[0].fresh_doubt


def test_honest_validators_are_audited_less_often():
    """The interval grows from five polls to twenty. After a lie the next request has no validators."""
    state, waits = replace(WELL, validators=TAG), []
    for at in range(20):
        state, _ = after_poll(state, body(validators=TAG), NOW + at)
        waits.append(state.unconditional_in)

    assert [6, 7, 8, *range(9, 20), *[20] * 6] == waits
    assert 0 == after_poll(state, body(validators=TAG), NOW + 30, changed=True)[0].unconditional_in
    assert 19 == after_poll(state, Unchanged(final_url=""), NOW + 30)[0].unconditional_in


def test_audit_is_due_by_count_and_by_day():
    """While there is no version, an audit is due too."""
    audited = replace(WELL, unconditional_in=3, audited_at=NOW)

    assert [False, True] == [page_state.is_audit(audited, NOW + at) for at in (DAY - 1, DAY)]
    assert page_state.is_audit(replace(audited, unconditional_in=0), NOW)
    assert page_state.is_audit(replace(audited, audited_at=None), NOW)
    assert page_state.is_audit(replace(audited, last_seq=0), NOW)


def test_wall_after_validators_ends_their_use():
    """The body was withheld after a conditional request, and came without validators: they are
    unreliable.
    """
    known = replace(WELL, validators=TAG, unconditional_in=5, audited_at=NOW)
    suspected, _ = after_suspicion(known, "empty", "nothing", sha256="f", at=NOW)
    cured, _ = after_poll(suspected, body(validators=TAG), NOW + MINUTE)
    still, _ = after_poll(cured, body(validators=TAG), NOW + 2 * MINUTE)

    assert (page_state.SUSPECTED, page_state.LIARS, page_state.LIARS) == (
        suspected.honest_streak,
        cured.honest_streak,
        still.honest_streak,
    )
    assert (0, 0) == (cured.unconditional_in, still.unconditional_in)


def test_new_version_updates_the_state():
    """The first version is no change. If only a frame is new, the size of the page's own body
    stays.
    """
    first = after_version(PageState(page_id=1), body(), None, seq=1, at=NOW, text_changed=True, seed=7)
    framed = after_version(first, None, None, seq=2, at=NOW + 1, text_changed=False, seed=7)

    assert (1, 3, 0, NOW, NOW) == (
        first.last_seq,
        first.body_size,
        first.changes,
        first.changed_at,
        first.text_changed_at,
    )
    assert (2, 3, 1, NOW + 1, NOW) == (
        framed.last_seq,
        framed.body_size,
        framed.changes,
        framed.changed_at,
        framed.text_changed_at,
    )
    assert first.body_xxh3 == framed.body_xxh3
    assert [True, False] == [page_state.knows_no_body(PageState(page_id=1)), page_state.knows_no_body(first)]
