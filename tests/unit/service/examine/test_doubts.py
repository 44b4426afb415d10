"""Changes that wait: for a second poll of a little known page, or until they have lasted."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from tests.planner import make_watched
from tests.stores import START
from tidings.clock import DAY, HOUR, MINUTE
from tidings.detection.job.contract import Body
from tidings.model.event_type import EventType
from tidings.model.observed.change import ChangeSet
from tidings.model.observed.unit import CHANGE, ChangeRow, Event, Missing
from tidings.service.examine.detect import Compared
from tidings.service.examine.doubts import hold_back, may_wait, waiting
from tidings.service.examine.to_compare import PolledVersion
from tidings.service.watch.cursors import take
from tidings.service.watch.subscription_memory import PendingChange, Remembered
from tidings.service.watch.watchlist import Subscription

BODY = Body(data=b"", content_type=None, url="")


def sub_of(clauses: str = "", number: int = 1, **row: Any) -> Subscription:
    """Return the subscription of a sentinel with these clauses at version 1."""
    (sub,) = make_watched(number, clauses, at=START).subscriptions.values()
    sub.row = replace(sub.row, **{"taken": (1,), "seen": 1, **row})
    return sub


def poll_of(*subs: Subscription, at: int = START) -> PolledVersion:
    """Return a poll with version 2 for these subscriptions."""
    page = make_watched(1)
    return PolledVersion(page, 2, BODY, {}, {}, subs, at, None, {})


def change(sub: Subscription, **more: Any) -> ChangeRow:
    """Return a change of a subscription."""
    given: dict[str, Any] = {
        "id": f"c{sub.row.id}",
        "sentinel_id": sub.row.sentinel_id,
        "subscription_id": sub.row.id,
        "page_id": 1,
        "revision": 1,
        "kind": "any",
        "from_seq": 1,
        "to_seq": 2,
        "rules_version": 3,
        "extraction": "all",
        "found": ChangeSet(),
        "summary": "",
        "quiet": False,
        "modified_at": None,
        "polled_at": START,
        "detected_at": START,
    }
    return ChangeRow(**(given | more))


def make_compared(*subs: Subscription, **more: Any) -> Compared:
    """Return the result in which each subscription has a change and moves to version 2."""
    rows = tuple(change(sub, **more) for sub in subs)
    news = tuple(Event(type=EventType.CHANGE_FOUND, at=START, change_id=row.id) for row in rows)
    return Compared(cursors=tuple(take(sub, 2) for sub in subs), changes=rows, events=news)


def test_change_of_a_little_known_page_waits_for_a_second_poll():
    """The cursor does not move, so that the second poll compares with the same version."""
    sub = sub_of()
    compared = waiting(make_compared(sub), poll_of(sub), ())
    (move,) = compared.cursors

    assert ((), ()) == (compared.changes, compared.events)
    assert (1, (1,)) == (move.seen, move.taken)
    assert move.missing is not None
    assert (START, True) == (move.missing.doubt_at, move.missing.is_unconfirmed)


def test_requested_poll_and_sentinel_with_another_event_do_not_wait():
    """Other sentinels of the page do."""
    eager, reported, waits = sub_of(number=1), sub_of(number=2), sub_of(number=3)
    compared = make_compared(eager, reported, waits)
    event = Event(type=EventType.PAGE_OK, at=START, sentinel_id=2)
    compared = replace(compared, events=(*compared.events, event))

    assert ["c1", "c2"] == [row.id for row in waiting(compared, poll_of(eager, reported, waits), {1}).changes]


def test_poll_without_changes_does_not_wait():
    """A quiet change does not count, and the cursor moves."""
    sub = sub_of()
    compared = make_compared(sub, quiet=True)

    assert compared == waiting(compared, poll_of(sub), ())


@pytest.mark.parametrize(
    ("clauses", "row", "may"),
    [
        ("", {}, True),
        ("", {"missing": Missing(seq=0, revision=1, names=(), doubt=(CHANGE,), doubt_at=START)}, False),
        ("", {"missing": Missing(seq=1, revision=1, names=("words",))}, False),
        ("Fetch on demand", {}, False),
        ("for at least 2 hour", {}, False),
    ],
)
def test_change_waits_only_once(clauses: str, row: dict[str, Any], may: bool):
    """A subscription that has waited or waits for something else does not wait again; nor do polls
    on demand and persistent changes.
    """
    assert may is may_wait(sub_of(clauses, **row))


def read_held(compared: Compared) -> PendingChange | None:
    """Return the held change in the memory of a cursor."""
    (move,) = compared.cursors
    return Remembered.of(move.remembered or "").pending


def play(clauses: str, *ats: int, taken: tuple[int, ...] = (1,)) -> list[bool]:
    """Return for each of these polls whether it reports a change that all of them find."""
    sub, reported = sub_of(clauses, taken=taken), []
    for at in ats:
        compared = hold_back(make_compared(sub), poll_of(sub, at=START + at))
        reported.append(bool(compared.changes))
        (move,) = compared.cursors
        sub.row = replace(sub.row, remembered=move.remembered or "", taken=move.taken)
    return reported


def test_lasting_change_is_reported_after_its_time_or_checks():
    """Time and checks count from the first poll that found the change."""
    assert [False, False, True] == play("for at least 2 hour", 0, 2 * HOUR - 1, 2 * HOUR)
    assert [False, False, True] == play("for at least 3 checks", 0, 1, 2)
    assert [True, True] == play("", 0, 1)


def test_cursor_does_not_move_while_a_change_waits():
    """The waiting change is stored with it."""
    sub = sub_of("for at least 2 hour")
    compared = hold_back(make_compared(sub), poll_of(sub))

    assert ((), ()) == (compared.changes, compared.events)
    assert (1, (1,)) == (compared.cursors[0].seen, compared.cursors[0].taken)
    assert PendingChange(START, 1, is_first=False) == read_held(compared)


def test_reverted_change_is_dropped():
    """The next change starts again."""
    sub = sub_of("for at least 2 hour", remembered=Remembered(pending=PendingChange(START - DAY, 5)).text)
    gone = hold_back(Compared(cursors=(take(sub, 2),)), poll_of(sub))
    sub.row = replace(sub.row, remembered=gone.cursors[0].remembered or "")

    assert read_held(gone) is None
    assert PendingChange(START, 1) == read_held(hold_back(make_compared(sub), poll_of(sub)))


def test_noise_does_not_wait():
    """A change that is noise is stored at once."""
    sub = sub_of("for at least 2 hour")
    compared = hold_back(make_compared(sub, noise=True, quiet=True), poll_of(sub))

    assert 1 == len(compared.changes)
    assert read_held(compared) is None


def test_altered_sentinel_reports_the_waiting_change():
    """The altered sentinel no longer has the clause."""
    sub = sub_of("", remembered=Remembered(pending=PendingChange(START - MINUTE, 1)).text)
    compared = hold_back(make_compared(sub), poll_of(sub))

    assert 1 == len(compared.changes)
    assert read_held(compared) is None
