"""All results of a turn, by its outcome: failed, withheld, unchanged, a new version."""

from __future__ import annotations

import hashlib
from dataclasses import replace
from typing import Any

import pytest

from tests.planner import make_watched
from tidings.clock import HOUR
from tidings.detection.job.contract import Examination, Facts
from tidings.detection.noise.memory import Memory
from tidings.model.event_type import EventType
from tidings.model.observed.outcome import Failed, Fetched, Unchanged
from tidings.model.observed.page import PageState
from tidings.model.observed.poll_reason import PollReason, Why
from tidings.model.observed.unit import Charged, Grant
from tidings.model.observed.version import Digest, Hub, Version
from tidings.service.examine import findings
from tidings.service.examine.detect import Compared
from tidings.service.examine.findings import EMPTY_NOW, STORED_HEADERS
from tidings.service.examine.judge import PollResult, Turn
from tidings.service.examine.stored_versions import Stored
from tidings.service.examine.to_compare import PolledVersion
from tidings.service.watch.cursors import take
from tidings.storage.db.instance import DatabaseInstance

AT = 1_700_000_000_000_000
INSTANCE = DatabaseInstance("id", 0, 1)
WELL = PageState(page_id=1, last_seq=3, body_size=3, polls=4, polled_at=AT - HOUR, checked_at=AT - HOUR)
DIGEST = Digest("all", 1, "t", {})
BODY = b"<p>new"
SHA = hashlib.sha256(BODY).hexdigest()


def poll(outcome: Any, *, state: PageState = WELL, **more: Any) -> PollResult:
    """Return a poll of page 1, which sentinel 1 watches."""
    page = make_watched(1, "Fetch every 1 hour")
    page.state = state
    grant = Grant(page_id=1, host="h1.example", cost=1.0, reason=PollReason(Why.CHANGE))
    charged = Charged(poll_id=7, grant=grant, at=AT - 1, epoch=3)
    return PollResult(page=page, at=AT, epoch=3, charged=charged, outcome=outcome, **more)


def answer(**more: Any) -> Fetched:
    given: dict[str, Any] = {"body": BODY, "final_url": "http://h1.example/1", "status": 200} | more
    return Fetched(**given)


def seen(**more: Any) -> Examination:
    facts = Facts(words=4, links=1, images=2, scripts_only=False, login=False, first_words="one two", note="a note")
    given: dict[str, Any] = {
        "text_changed": True,
        "facts": facts,
        "media_type": "html",
        "title": "T",
        "digest": DIGEST,
    } | more
    return Examination(charset="utf-8", charset_source="header", found=(), **given)


def version_of(result: PollResult, compared: Compared, *, newest: Version | None = None, outcome: Any = None) -> Any:
    """Return the findings of a new version."""
    polled = PolledVersion(
        page=result.page,
        seq=result.page.state.last_seq + 1,
        body=None,  # type: ignore[arg-type]
        references={},
        known={},
        takers=tuple(result.page.subscriptions.values()),
        at=AT,
        modified_at=AT - HOUR,
        lost={},
    )
    shown: Any = outcome or result.outcome
    stored = Stored(bodies={}, digests={}, lost={}, newest=newest, holder="held" if newest else "")
    return findings.of_version(result, shown, polled, compared, stored, frames=None, instance=INSTANCE, floor=0)


@pytest.mark.parametrize(
    ("failure", "ours", "health", "failures", "reason"),
    [
        (Failed(kind="net", reason="no route"), False, "shaky", 1, "no route"),
        (Failed(kind="net", reason="no route"), True, "ok", 0, "our own network: no route"),
        (Failed(kind="disk", reason="full"), False, "shaky", 0, "full"),
    ],
)
def test_failure_counts_against_the_page_only_if_it_is_of_the_page(failure, ours, health, failures, reason):
    """There is no version, and no cursor moves."""
    found = findings.of_failure(poll(failure, ours=ours), failure, INSTANCE)

    assert (health, failures) == (found.state.health, found.state.failures)
    assert found.record is not None
    assert ("error", reason, failure.kind) == (found.record.outcome, found.record.reason, found.record.kind)
    assert (None, (), ()) == (found.version, found.compared.cursors, found.bodies)


def test_suspicious_body_is_withheld_once():
    """It is stored the first time; no estimator observes it."""
    wall = seen(suspicion="wall", why="a sign")
    result = poll(answer())
    found = findings.of_suspicion(result, answer(), wall, INSTANCE)

    assert found is not None
    assert found.record is not None
    assert ("quarantined", "wall", "a sign") == (found.record.outcome, found.record.kind, found.record.reason)
    assert [("wall", SHA, AT)] == [(row.kind, row.sha256, row.at) for row in found.quarantined]
    assert [(BODY, SHA)] == [(body.body, body.sha256) for body in found.bodies]
    assert (None, ()) == (found.version, found.estimates)
    known = replace(found.state, health="error", kind="wall")
    again = findings.of_suspicion(poll(answer(), state=known), answer(), wall, INSTANCE)
    assert again is not None
    assert ((), ()) == (again.quarantined, again.bodies)
    for state in (replace(known, kind="error"), replace(known, health="shaky")):
        assert findings.of_suspicion(poll(answer(), state=state), answer(), wall, INSTANCE).quarantined  # type: ignore[union-attr]


@pytest.mark.parametrize(
    ("examination", "state"),
    [(None, WELL), (seen(), WELL), (seen(suspicion="empty"), PageState(page_id=1))],
    ids=["no job", "nothing wrong", "believed"],
)
def test_body_that_may_be_the_page_is_not_withheld(examination, state):
    """It goes on to its version."""
    assert findings.of_suspicion(poll(answer(), state=state), answer(), examination, INSTANCE) is None


@pytest.mark.parametrize("given", [Memory(polls=1), None])
def test_answer_without_a_change_keeps_what_was_learned(given):
    """What the poll says of the noise goes before what the comparison learned."""
    learned = Memory(polls=2)
    same = Unchanged(final_url="http://h1.example/1")
    result = poll(same)
    compared = Compared(examination=seen(memory=learned))

    def found(comparison: Compared | None) -> Any:
        return findings.of_no_change(result, same, comparison, frames=None, memory=given, instance=INSTANCE, floor=0)

    assert (given or learned) == found(compared).memory
    assert given == found(None).memory
    assert ("unchanged", "", WELL.polls + 1, AT) == (
        found(None).record.outcome,
        found(None).record.kind,
        found(None).state.polls,
        found(None).state.checked_at,
    )
    assert (None, (), Compared()) == (found(None).version, found(None).bodies, found(None).compared)


def test_version_has_the_body_and_what_was_read_of_it():
    """Only headers that are of use later are stored."""
    headers = dict.fromkeys(STORED_HEADERS, "x") | {"set-cookie": "secret"}
    result = poll(answer(headers=headers, content_type="text/html", screenshot=b"png"))
    before = Version(page_id=1, seq=3, sha256="old", size=9, fetched_at=AT - HOUR)
    found = version_of(result, Compared(examination=seen()), newest=before)
    version = found.version

    assert (1, 4, SHA, len(BODY), AT, AT - HOUR) == (
        version.page_id,
        version.seq,
        version.sha256,
        version.size,
        version.fetched_at,
        version.modified_at,
    )
    assert ("utf-8", "header", "text/html", "T", 200, 4, True) == (
        version.charset,
        version.charset_source,
        version.content_type,
        version.title,
        version.status,
        version.words,
        version.text_changed,
    )
    assert {*STORED_HEADERS} == version.headers.keys()
    picture = hashlib.sha256(b"png").hexdigest()
    assert picture == version.screenshot
    own, shot = found.bodies
    assert (BODY, SHA, "held", 9) == (own.body, own.sha256, own.former, own.former_size)
    assert (b"png", picture) == (shot.body, shot.sha256)
    assert ("changed", True) == (found.record.outcome, found.record.text_changed)


def test_first_version_is_new_and_described():
    """Its text differs from nothing; its words say what was found."""
    failing = PageState(page_id=1, health="error", kind="net", failures=3, failing_since=AT - HOUR)
    result = poll(answer(), state=failing)
    found = version_of(result, Compared(examination=seen()))
    first = {event.type: event.data for event in found.events}

    assert ("new", False) == (found.record.outcome, found.record.text_changed)
    assert "one two" == first[EventType.PAGE_OK]["words"]
    assert ("T", "html", 4, 1, 2, "a note", "") == tuple(
        first[EventType.PAGE_FIRST][name]
        for name in ("title", "media_type", "words", "links", "images", "note", "problem")
    )
    empty = version_of(result, Compared(examination=seen(suspicion="empty")))
    assert EMPTY_NOW == {event.type: event.data for event in empty.events}[EventType.PAGE_FIRST]["note"]
    assert not {event.type for event in version_of(poll(answer()), Compared(examination=seen())).events} & {
        EventType.PAGE_FIRST
    }


@pytest.mark.parametrize(
    ("examination", "count"), [(seen(parts=(DIGEST, DIGEST)), 3), (seen(problem="too deep"), 0), (None, 0)]
)
def test_digests_are_stored_of_what_could_be_read(examination, count):
    """Of the version and each of its parts."""
    found = version_of(poll(answer()), Compared(examination=examination))

    assert [(4, DIGEST)] * count == list(found.digests)


def test_hub_of_a_version_is_an_estimate():
    """As the feed names it."""
    found = version_of(poll(answer()), Compared(examination=seen(hub=Hub("https://hub.example/", ""))))

    assert ["hub"] == [each.name for each in found.estimates if each.name == "hub"]
    assert "https://hub.example/" == found.estimates[0].state["hub"]


def test_ticks_of_all_takers_pass():
    """Also of those that have nothing to compare yet."""
    result = poll(answer())
    (sub,) = result.page.subscriptions.values()
    moved = version_of(result, Compared(examination=seen(), cursors=(take(sub, 4),)))
    idle = version_of(result, Compared(examination=seen()))

    assert (
        [1] == [c.subscription_id for c in moved.compared.cursors] == [c.subscription_id for c in idle.compared.cursors]
    )
    assert all(c.next_tick is not None and c.next_tick > AT for c in (*moved.compared.cursors, *idle.compared.cursors))


@pytest.mark.parametrize("second", [False, True])
def test_second_poll_follows_where_the_job_asks_for_it(second):
    """Why the job died is the reason of the poll."""
    found = version_of(poll(answer()), Compared(examination=seen(second_poll=second), died="killed"))

    assert (second, "killed") == (found.has_second, found.record.reason)


def test_version_without_a_body_is_impossible():
    """Neither a new one nor a stored one is there."""
    with pytest.raises(ValueError, match="needs a body"):
        version_of(poll(Unchanged(final_url="x")), Compared())


def test_stored_version_is_taken_without_a_poll():
    """There is no record, and the page stays as it is."""
    turn = Turn(page=make_watched(1), at=AT, epoch=3)
    found = findings.of_stored(turn, Compared(examination=seen(memory=Memory(polls=2))), frames=None)

    assert (None, turn.page.state, Memory(polls=2)) == (found.record, found.state, found.memory)
    assert findings.of_stored(turn, Compared(), frames=None).memory is None
