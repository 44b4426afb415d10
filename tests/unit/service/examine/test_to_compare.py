"""The version that a poll examines: a new body, a page with frames, or the newest stored version."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from tests.planner import make_watched
from tidings.clock import DAY, HOUR, SECOND
from tidings.detection.job.contract import Body, Part
from tidings.model.observed.outcome import Fetched
from tidings.model.observed.poll_reason import PollReason, Why
from tidings.model.observed.unit import Charged, Grant
from tidings.model.observed.version import Member, Version
from tidings.service.examine.framed_page import FramedPage
from tidings.service.examine.judge import PollResult, Turn
from tidings.service.examine.stored_versions import Stored
from tidings.service.examine.to_compare import find_modified, of_body, of_frames, of_stored
from tidings.service.watch.watchlist import WatchedPage

NOON = 1_700_000_000 * SECOND // DAY * DAY + 12 * HOUR
"""14 November 2023, 12:00 UTC"""
GRANT = Grant(page_id=1, host="h1.example", cost=1.0, reason=PollReason(Why.CHANGE))
ONE = Body(data=b"<p>one</p>", content_type="text/html", url="http://h1.example/1")


def make_fetched(**headers: str) -> Fetched:
    """Return an answer with these headers."""
    return Fetched(
        body=b"<p>new</p>", content_type="text/html", final_url="http://h1.example/moved", status=203, headers=headers
    )


def page_of(*, last_seq: int = 1, **row: Any) -> WatchedPage:
    """Return a page with one subscription, which has taken its first version."""
    page = make_watched(1, at=NOON - DAY)
    page.state = replace(page.state, last_seq=last_seq, checked_at=NOON - HOUR)
    page.subscriptions[1].row = replace(page.subscriptions[1].row, **row)
    return page


def poll_of(page: WatchedPage, answer: Fetched) -> PollResult:
    """Return a poll of a page at noon."""
    charged = Charged(poll_id=7, grant=GRANT, at=NOON - 1, epoch=3)
    return PollResult(page=page, at=NOON, epoch=3, charged=charged, outcome=answer)


@pytest.mark.parametrize(
    ("header", "modified"),
    [
        ("Tue, 14 Nov 2023 11:30:00 GMT", NOON - HOUR // 2),
        ("Tue, 14 Nov 2023 12:30:00 +0100", NOON - HOUR // 2),
        ("Mon, 13 Nov 2023 11:30:00 GMT", NOON - HOUR),
        ("Tue, 14 Nov 2030 11:30:00 GMT", NOON),
    ],
)
def test_date_of_modification_is_limited_to_the_time_since_the_last_poll(header: str, modified: int):
    """A date outside becomes the nearest one within."""
    assert modified == find_modified(make_fetched(**{"last-modified": header}), NOON - HOUR, NOON)


@pytest.mark.parametrize(
    "header",
    ["", "yesterday", "Mon, 01 Jan 99999999999999999999 00:00:00 GMT", "Mon, 01 Jan 2024 00:00:00 +99999999999999999"],
)
def test_unreadable_date_is_ignored(header: str):
    """A date outside the calendar is ignored too. The page is stored anyway."""
    assert find_modified(make_fetched(**{"last-modified": header}), NOON - HOUR, NOON) is None
    assert find_modified(make_fetched(), NOON - HOUR, NOON) is None


def test_any_past_date_counts_before_the_first_poll():
    """No earlier poll is a limit."""
    header = make_fetched(**{"last-modified": "Mon, 13 Nov 2023 11:30:00 GMT"})

    assert NOON - DAY - HOUR // 2 == find_modified(header, None, NOON)


def test_new_body_is_the_next_version():
    """The version has the address and status of its answer, and the versions to compare with."""
    page = page_of(seen=1, taken=(1,))
    takers = (page.subscriptions[1],)
    compared = of_body(poll_of(page, make_fetched()), make_fetched(), Stored({1: ONE}, {}, {}, usual_words=40), takers)

    assert (2, "http://h1.example/moved", 203, 40) == (
        compared.seq,
        compared.body.url,
        compared.status,
        compared.usual_words,
    )
    assert {1: ONE} == compared.references
    assert (takers, ()) == (compared.comparing(), compared.beginning())


def test_first_body_begins_its_subscriptions():
    """The first body has no usual size, and nothing to compare with."""
    page = page_of(last_seq=0)
    compared = of_body(
        poll_of(page, make_fetched()), make_fetched(), Stored({}, {}, {}, usual_words=40), (page.subscriptions[1],)
    )

    assert (1, None) == (compared.seq, compared.usual_words)
    assert ((), (page.subscriptions[1],)) == (compared.comparing(), compared.beginning())


def test_new_body_with_frames_waits_for_its_frames():
    """No subscription takes it before they are read."""
    page = page_of()
    stored = Stored({1: ONE}, {}, {}, parts={1: (Part(key="k", url="u", sha256="a", body=ONE),)})

    assert () == of_body(poll_of(page, make_fetched()), make_fetched(), stored, (page.subscriptions[1],)).takers


def test_new_frame_makes_a_version_with_the_old_body():
    """The page's own part is first, then its frames."""
    page, answer = page_of(), make_fetched()
    member = Member(page.identity.key, "a" * 64)
    framed = FramedPage(answer, None, None, (), True, frozenset(), (member,))
    frame = Part(key="frame", url="http://h1.example/frame", sha256="b" * 64, body=ONE)

    compared = of_frames(poll_of(page, answer), framed, Stored({1: ONE}, {}, {}), (frame,), ())

    assert (2, ONE) == (compared.seq, compared.body)
    assert ["a" * 64, "b" * 64] == [part.sha256 for part in compared.parts[2]]
    assert compared.modified_at is None


def test_date_of_a_page_with_frames_is_that_of_its_body():
    """Dates of frames are not used."""
    page, answer = page_of(), make_fetched(**{"last-modified": "Tue, 14 Nov 2023 11:30:00 GMT"})
    framed = FramedPage(answer, answer, None, (), True, frozenset(), (Member(page.identity.key, "a" * 64),))

    compared = of_frames(poll_of(page, answer), framed, Stored({1: ONE}, {}, {}), (), ())

    assert (b"<p>new</p>", NOON - HOUR // 2) == (compared.body.data, compared.modified_at)


def test_newest_stored_version_is_compared_with_earlier_ones():
    """The newest version keeps its own date."""
    page, two = page_of(last_seq=2, seen=1, taken=(1,)), replace(ONE, data=b"<p>two</p>")
    version = Version(page_id=1, seq=2, sha256="c" * 64, size=10, fetched_at=NOON - HOUR, modified_at=NOON - 2 * HOUR)

    compared = of_stored(
        Turn(page=page, at=NOON, epoch=3), Stored({1: ONE, 2: two}, {}, {}), version, (page.subscriptions[1],)
    )

    assert (2, two, {1: ONE}, NOON - 2 * HOUR) == (
        compared.seq,
        compared.body,
        compared.references,
        compared.modified_at,
    )
    assert [1] == [sub.row.id for sub in compared.comparing()]
