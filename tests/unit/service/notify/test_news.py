"""The messages of a sentinel, and their receivers."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest

from tests.planner import make_watched
from tests.stores import START, World
from tidings.clock import HOUR
from tidings.fetching import address
from tidings.language import parser
from tidings.model.event_type import EventType
from tidings.model.observed.page import PageState
from tidings.model.observed.unit import DeliveryDraft, Event
from tidings.model.watch.sentinel import Sentinel
from tidings.service.notify import news
from tidings.service.notify.news import Bulletins
from tidings.service.show.notices import notice_record
from tidings.service.show.records import change_record
from tidings.service.watch.watchlist import NotifyTarget, Subscription, WatchedPage, WatchedSentinel
from tidings.storage.watches.listed import WeekFigures
from tidings.storage.watches.sentinels import SentinelRow
from tidings.storage.watches.subscriptions import SubscriptionRow

OUTAGE = Event(type=EventType.NETWORK_AWAY, at=START, data={"since": START - HOUR})
WEEK = Event(
    type=EventType.WEEK_REPORTED,
    at=START,
    data={"since": START - HOUR, "sentinels": 1, "at_pace": 1, **WeekFigures(1, 0, 0, 0, 7, 0)._asdict()},
)
ERROR = Event(type=EventType.PAGE_ERROR, at=START, page_id=1, data={"kind": "404", "reason": "gone", "since": START})


def sentinel(
    number: int = 1, *changes: int, errors: int = 0, monitor: str = "all words", **row: Any
) -> WatchedSentinel:
    """Return a sentinel that notifies these endpoints of changes, and another one of errors."""
    hooks = ", ".join(f"webhook http://127.0.0.1/{one}" for one in changes)
    clauses = f"Notify By {hooks} immediate" if changes else ""
    clauses += f" Errors to webhook http://127.0.0.1/{errors}" if errors else ""
    text = f"Create Sentinel s{number} Using http://a.example/ Monitor {monitor} {clauses}"
    (read,) = parser.parse(text).statements
    assert isinstance(read, Sentinel)
    state = row.pop("state", "enabled")
    stored = SentinelRow(number, f"s{number}", state, "", 1, "", None, None, START, START, None, None, (), 1)
    endpoints = {("webhook", f"http://127.0.0.1/{one}"): one for one in (*changes, errors) if one}
    return WatchedSentinel(stored, read, endpoints)


def page_of(*sentinels: WatchedSentinel) -> WatchedPage:
    """Return a page that these sentinels watch."""
    page = WatchedPage(address.identify("http://a.example/"), PageState(page_id=1))
    for held in sentinels:
        row = SubscriptionRow(held.row.id, held.row.id, 1, "", 1, 0, (), None, None, active=True)
        page.subscriptions[held.row.id] = Subscription(row, held)
    return page


def to(drafts: Any) -> list[tuple[int, int]]:
    """Return endpoint and sentinel of messages."""
    return [(draft.endpoint_id, draft.sentinel_id) for draft in drafts]


def test_page_error_is_a_notice_unless_the_status_is_watched():
    """For such a sentinel, the error is a change."""
    assert news.is_notice(ERROR, sentinel())
    assert not news.is_notice(ERROR, sentinel(monitor="status"))
    assert not news.is_notice(Event(type=EventType.PAGE_POLLED, at=START, page_id=1), sentinel())


def test_notice_of_one_sentinel_is_not_for_another():
    """A notice without a sentinel is for all sentinels of its page; a quiet one is only logged."""
    for sentinel_id, quiet, is_meant in ((1, False, True), (2, False, False), (None, False, True), (1, True, False)):
        event = Event(
            type=EventType.PAGE_ERROR, at=START, sentinel_id=sentinel_id, page_id=1, data={**ERROR.data, "quiet": quiet}
        )

        assert is_meant is news.is_notice(event, sentinel())


def test_errors_clause_gets_the_errors_of_pages():
    """The other notices stay with the Notify clauses."""
    mine, theirs = news.notices_of(sentinel()), news.notices_of(sentinel(errors=9))

    assert EventType.PAGE_ERROR in mine
    assert EventType.PAGE_ERROR not in theirs
    assert {*theirs} < {*mine}


def test_each_change_is_sent_to_each_receiver_with_its_event(world: World):
    """The position of the event in the unit does not matter. A quiet change is not sent."""
    page = page_of(sentinel(1, 7, 8))
    rows = [world.change("c1"), world.change("c2"), world.change("c3", quiet=True)]
    logged = [Event(type=EventType.PAGE_OK, at=START, sentinel_id=9)]
    logged += [Event(type=EventType.CHANGE_FOUND, at=START, change_id=row.id) for row in rows]

    made = news.drafts(page, rows, logged, at=START)

    assert [(7, (1,)), (8, (1,)), (7, (2,)), (8, (2,))] == [(draft.endpoint_id, draft.events) for draft in made]
    assert {1} == {draft.changes for draft in made}


def test_page_error_is_sent_to_the_receivers_of_errors(world: World):
    """Each sentinel of the page counts. Without an Errors clause, its Notify clauses get the error."""
    page = page_of(sentinel(1, 7), sentinel(2, 8, errors=9), sentinel(3))
    made = news.drafts(page, [], [ERROR], at=START)

    assert [(7, 1), (9, 2)] == to(made)
    assert {0} == {draft.changes for draft in made}


def bulletins(*sentinels: WatchedSentinel) -> Bulletins:
    """Return the writer of bulletins for these sentinels."""
    return Bulletins(SimpleNamespace(sentinels={held.row.id: held for held in sentinels}))  # type: ignore[arg-type]


def test_bulletin_is_sent_to_each_receiver_once():
    """Several sentinels may share a receiver. A problem goes to the receivers of errors, if there
    are any.
    """
    held = (sentinel(1, 7, 8), sentinel(2, 7, 9, errors=5), sentinel(3, 4, state="disabled"))

    assert [(7, 1), (8, 1), (5, 2)] == to(bulletins(*held).drafts(OUTAGE))
    assert {(0,)} == {draft.events for draft in bulletins(*held).drafts(OUTAGE)}
    assert {(3,)} == {draft.events for draft in bulletins(*held).drafts(OUTAGE, place=3)}


def test_weekly_report_is_sent_to_the_receivers_of_changes():
    """A report is no problem."""
    assert [(7, 1)] == to(bulletins(sentinel(1, 7, errors=5)).drafts(WEEK))


def test_bulletin_may_concern_only_some_sentinels():
    """For example, an outage has delayed their checks. Without such sentinels nothing is sent."""
    writer = bulletins(sentinel(1, 7), sentinel(2, 8))

    assert [(8, 2)] == to(writer.drafts(OUTAGE, concerned={2}))
    assert [] == to(writer.drafts(OUTAGE, concerned=set()))


def test_receivers_of_an_unreadable_sentinel_are_notified_once():
    """Its earlier messages have named them."""
    row = sentinel(5).row
    targets = (NotifyTarget("webhook", 7), NotifyTarget("webhook", 6))
    unit = bulletins(sentinel(1, 7)).unit(OUTAGE, epoch=3, unread=[(row, targets), (row, targets)])

    assert [(7, 1), (6, 5)] == to(unit.deliveries)
    assert (3, (OUTAGE,), START) == (unit.epoch, unit.events, unit.at)


def test_message_of_the_service_names_no_sentinel():
    """A message about a page does."""
    (draft,) = bulletins(sentinel(1, 7)).drafts(OUTAGE)
    (other,) = news.drafts(page_of(sentinel(1, 7)), [], [ERROR], at=START)

    assert b'"s1"' not in draft.body
    assert b'"s1"' in other.body


def test_gathered_changes_are_read_from_the_log(world: World):
    """The changes are those after the last report, in the order of the log. Pauses are left out."""
    committed = world.report_change()
    world.commit(world.unit(events=(ERROR,)))
    held = make_watched(1).subscriptions[1].owner
    seq = committed.event_seqs[0]

    def gather(after: int, upto: int, *pauses: tuple[int, int]) -> list[int]:
        return [number for number, _ in world.read(news.gather, held, after, upto, pauses)]

    assert [seq, seq + 1] == gather(seq - 1, seq + 1)
    assert [seq] == gather(0, seq)
    assert [seq + 1] == gather(seq, seq + 9)
    assert [seq] == gather(0, seq + 1, (START, START + 1))


def test_earlier_receivers_of_a_sentinel_are_known(world: World):
    """Its messages are stored."""
    world.report_change()

    assert [(1, [("webhook", 1)])] == [
        (row.id, [(target.kind, target.endpoint_id) for target in targets])
        for row, targets in world.read(news.recipients_before, [1])
    ]


@pytest.mark.parametrize("more", [{}, {"due_at": START + HOUR}])
def test_message_is_due_at_once_by_default(more: dict[str, Any]):
    """Quiet hours delay a message."""
    record = notice_record(ERROR, sentinel="s1", url="http://a.example/")
    made: DeliveryDraft = news.draft(NotifyTarget("webhook", 7), sentinel(), [record], START, **more)

    assert more.get("due_at", START) == made.due_at


def test_message_links_to_the_screens(world: World):
    """It links to the screen of its change at the public address of the service."""
    watched = replace(sentinel(1), web="https://home.example")
    record = change_record(world.change("c1"), sentinel="s1", url="http://a.example/")
    made = news.draft(NotifyTarget("apprise", 1, "ntfy"), watched, [record], START)

    assert "https://home.example/changes/c1\n" in made.body.decode()
