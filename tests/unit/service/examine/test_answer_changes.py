"""Changes of the status of a page and of the headers of its answers."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from tests.stores import START, World
from tidings.clock import MINUTE
from tidings.fetching import address
from tidings.language import parser
from tidings.model.event_type import EventType
from tidings.model.observed.outcome import Failed, Fetched, Outcome, Unchanged
from tidings.model.observed.page import PageState
from tidings.model.observed.poll_reason import PollReason, Why
from tidings.model.observed.unit import Charged, Event, Grant
from tidings.model.watch.sentinel import Sentinel
from tidings.service.examine.answer_changes import (
    HEADERS,
    STATUS,
    changes_of_headers,
    changes_of_status,
    watches_headers,
)
from tidings.service.examine.judge import PollResult
from tidings.service.watch.subscription_memory import Remembered
from tidings.service.watch.watchlist import Subscription, WatchedPage, WatchedSentinel
from tidings.storage.db import instance
from tidings.storage.db.instance import DatabaseInstance
from tidings.storage.watches.sentinels import SentinelRow
from tidings.storage.watches.subscriptions import SubscriptionRow

GRANT = Grant(page_id=1, host="a", cost=1.0, reason=PollReason(Why.CHANGE))


@pytest.fixture
def here(world: World) -> DatabaseInstance:
    """Return the database instance, which is part of ids."""
    return world.read(instance.load)


def page_of(monitor: str, **row: Any) -> WatchedPage:
    """Return a page with three versions and a sentinel with this Monitor clause."""
    text = f"Create Sentinel s Using http://a.example/ Monitor {monitor}"
    (sentinel,) = parser.parse(text).statements
    assert isinstance(sentinel, Sentinel)
    stored = SentinelRow(1, "s", "enabled", "", 1, "", None, None, START, START, None, None, (), 1)
    sub = SubscriptionRow(1, 1, 1, "", 1, 0, (1,), None, None, active=True)
    page = WatchedPage(address.identify("http://a.example/"), PageState(page_id=1, last_seq=3))
    page.subscriptions[1] = Subscription(replace(sub, **row), WatchedSentinel(stored, sentinel, {}))
    return page


def poll(page: WatchedPage, outcome: Outcome) -> PollResult:
    """Return a poll of a page."""
    charged = Charged(poll_id=7, grant=GRANT, at=START, epoch=1)
    return PollResult(page=page, at=START + MINUTE, epoch=1, charged=charged, outcome=outcome)


def answer(**headers: str) -> Fetched:
    """Return a whole answer with these headers."""
    return Fetched(body=b"", final_url="http://a.example/", status=200, headers=headers)


FAILED = Failed(kind="404", reason="gone", status=404)
ERROR = Event(type=EventType.PAGE_ERROR, at=START, page_id=1, data={"kind": "404", "status": 404})
FINE = Event(type=EventType.PAGE_OK, at=START, page_id=1, data={})


def test_error_changes_the_status(here: DatabaseInstance):
    """The change names the newest version on both sides."""
    (row,) = changes_of_status(poll(page_of("status"), FAILED), [ERROR], here)

    assert (3, 3, STATUS, "status", False) == (row.from_seq, row.to_seq, row.extraction, row.kind, row.quiet)
    assert (("ok", "404"),) == row.found.updated
    assert START + MINUTE == row.detected_at


def test_end_of_an_error_and_another_error_change_the_status(here: DatabaseInstance):
    """The old value is the stored kind."""
    page = page_of("status")
    page.state = replace(page.state, health="error", kind="blocked")

    (fine,) = changes_of_status(poll(page, answer()), [FINE], here)
    (other,) = changes_of_status(poll(page, FAILED), [ERROR], here)

    assert ((("blocked", "ok"),), (("blocked", "404"),)) == (fine.found.updated, other.found.updated)


def test_repeated_error_is_no_change(here: DatabaseInstance):
    """A sentinel that watches words gets none either."""
    assert () == changes_of_status(poll(page_of("status"), FAILED), [], here)
    assert () == changes_of_status(poll(page_of("all words"), FAILED), [ERROR], here)


def test_first_answer_is_the_baseline_of_headers(here: DatabaseInstance):
    """A different value in a later answer is a change."""
    page = page_of('header "X-Version"')
    rows, (move,) = changes_of_headers(poll(page, answer()), answer(**{"x-version": "1"}), here)

    assert () == rows
    assert {"x-version": "1"} == Remembered.of(move.remembered or "").headers

    page = page_of('header "X-Version"', remembered=move.remembered)
    (row,), (move,) = changes_of_headers(poll(page, answer()), answer(**{"x-version": "2"}), here)

    assert (HEADERS, 3, 3) == (row.extraction, row.from_seq, row.to_seq)
    assert "2" in str(row.found.updated)
    assert {"x-version": "2"} == Remembered.of(move.remembered or "").headers


def test_equal_or_omitted_header_is_no_change(here: DatabaseInstance):
    """A 304 need not repeat it. A full answer without it is a change."""
    page = page_of('header "X-Version"', remembered=Remembered(headers={"x-version": "1"}).text)
    same, silent, gone = answer(**{"x-version": "1"}), Unchanged(final_url=""), answer()

    assert ((), ()) == changes_of_headers(poll(page, same), same, here)
    assert ((), ()) == changes_of_headers(poll(page, silent), silent, here)
    rows, moves = changes_of_headers(poll(page, gone), gone, here)
    assert (1, 1) == (len(rows), len(moves))


def test_poll_between_ticks_leaves_headers_unchanged(here: DatabaseInstance):
    """The subscription takes only polls at its own times."""
    page = page_of('header "X-Version" Fetch every 1 hour', next_tick=START + 10**12)
    text = answer(**{"x-version": "1"})

    assert ((), ()) == changes_of_headers(poll(page, text), text, here)


def test_watched_headers_need_unconditional_requests():
    """A 304 need not repeat them."""
    assert [True, False] == [watches_headers(page_of(text)) for text in ('header "X-Version"', "all words")]
