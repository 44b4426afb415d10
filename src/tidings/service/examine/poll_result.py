"""An occasion: a poll that has its answer, and what is common to the units that come of it."""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import UTC
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING, Final

from tidings.clock import HOUR, MINUTE, SECOND
from tidings.model.timing import FetchOnDemand
from tidings.model.unit import ComparisonRow, Event, PollRecord, Unit
from tidings.model.version import Version
from tidings.service.examine.header_changes import with_headers
from tidings.service.examine.status_changes import with_states
from tidings.service.notify.activate import first_report, too_late
from tidings.service.plan.learned_worth import taught
from tidings.service.plan.next_poll import PARTS, SOONEST
from tidings.service.watch.cursors import reference, tick_all, ticked
from tidings.service.watch.page_schedule import promised_interval, robots_ignored

if TYPE_CHECKING:
    from tidings.detection.job.contract import Examination
    from tidings.model.interval import Duration, Instant
    from tidings.model.outcome import Fetched, Outcome, Unchanged
    from tidings.model.page import HostState, PageState
    from tidings.model.unit import ChangeRow, Charged, CursorMove, PollOutcome
    from tidings.service.examine.detect import Findings, Look
    from tidings.service.notify.deliver import Teller
    from tidings.service.watch.watchlist import WatchedPage

KEPT_HEADERS = ("content-type", "etag", "last-modified", "cache-control", "content-language", "x-robots-tag")


@dataclass(frozen=True, slots=True)
class Occasion:
    """A poll: what was paid for, the page, when the answer was there, which requests it answers, which sentinels asked for it,
    which comparisons are owed from before, and host states that are to be stored.
    """

    charged: Charged
    page: WatchedPage
    at: Instant
    answered: tuple[int, ...]
    eager: frozenset[int]
    owed: Mapping[int, int]
    hosts: tuple[HostState, ...]

    def record(
        self,
        outcome: PollOutcome,
        answer: Outcome,
        *,
        reason: str,
        text_changed: bool = False,
        kind: str = "",
    ) -> PollRecord:
        """Return the record of this poll."""
        ignored = robots_ignored(self.page)
        return PollRecord(
            poll_id=self.charged.poll_id,
            page_id=self.page.state.page_id,
            finished_at=self.at,
            outcome=outcome,
            text_changed=text_changed,
            status=answer.status,
            kind=kind,
            bytes=answer.wire_bytes,
            requests=answer.requests,
            reason=f"{reason}; robots.txt ignored: {ignored}" if ignored else reason,
        )

    def unit(self, record: PollRecord, state: PageState, events: tuple[Event, ...]) -> Unit:
        """Return the unit of this poll, to which findings are added."""
        return Unit(
            at=self.at,
            epoch=self.charged.epoch,
            poll=record,
            page=state,
            events=events,
            answered=self.answered,
            hosts=self.hosts,
        )


def with_findings(
    unit: Unit,
    page: WatchedPage,
    findings: Findings,
    at: Instant,
    *,
    teller: Teller,
    settles: Mapping[int, int],
    answer: Unchanged | Fetched | None = None,
    eager: Collection[int] = (),
) -> Unit:
    """Return a unit with what a look found, and with what is told of it; owed comparisons in `settles` that were made are done.

    `answer` is what the page was answered with, if it was just asked for, `eager` are the sentinels that asked.
    """
    unit = with_states(unit, page, teller.instance)
    if answer is not None:
        unit = with_headers(unit, page, answer, teller.instance, eager=eager)
    found: tuple[ChangeRow, ...] = (*findings.changes, *unit.changes)
    late = too_late(found, page.subscriptions)
    found = tuple(row for row in found if row.id not in late)
    events = tuple(event for event in (*unit.events, *findings.events) if event.change_id not in late)
    moved = {c.subscription_id for c in findings.cursors}
    done = tuple(
        ComparisonRow(
            subscription_id=sub_id,
            page_id=page.state.page_id,
            from_seq=reference(page.subscriptions[sub_id]),
            to_seq=page.state.last_seq,
            revision=page.subscriptions[sub_id].row.revision,
            status="done",
        )
        for sub_id in settles
        if sub_id in moved
        and sub_id in page.subscriptions
        and sub_id not in {c.subscription_id for c in findings.comparisons}
    )
    return replace(
        unit,
        page=_looked_at_again(unit, page, findings, at),
        cursors=taught(
            tuple(_merged((*unit.cursors, *findings.cursors))),
            page,
            found,
            findings.examination,
            is_visible=unit.poll is not None and unit.poll.text_changed,
            at=at,
        ),
        comparisons=(*unit.comparisons, *findings.comparisons, *done),
        changes=found,
        events=events,
        sentinels=(*unit.sentinels, *first_report(found, page.subscriptions, at)),
        deliveries=(*unit.deliveries, *teller.drafts(page, found, events, at=at)),
    )


LOOK_AGAIN: Final[Duration] = MINUTE
"""A look that missed a part of a page is made again so soon, the page's floor permitting, before the part is told to be gone."""


def _looked_at_again(unit: Unit, page: WatchedPage, findings: Findings, at: Instant) -> PageState | None:
    """Return the state of the page, with why it cannot be compared; to be checked again soon if a check has just missed a part of it."""
    doubtful = (move.subscription_id for move in findings.cursors if move.missing is not None and move.missing.doubt)
    is_asked = any(not isinstance(page.subscriptions[id_].fetch, FetchOnDemand) for id_ in doubtful)
    if unit.page is None:
        return None
    state = replace(unit.page, problem=_problem(unit.page, findings))
    return state if not is_asked or state.health != "ok" else replace(state, retry_at=at + confirmed_after(page))


def confirmed_after(page: WatchedPage) -> Duration:
    """Return after how long a page is polled again to clear up a doubt, its floor permitting: at most a minute, sooner where it is polled often."""
    return min(LOOK_AGAIN, max(SOONEST, (promised_interval(page) or HOUR) // PARTS))


def _problem(state: PageState, findings: Findings) -> str:
    """Return why the newest version of a page cannot be compared, as findings say it; what was known stays where nothing was examined."""
    seen = findings.examination
    return seen.unread if seen is not None else findings.died or state.problem


def _merged(moves: Iterable[CursorMove]) -> Iterator[CursorMove]:
    """Yield the last move of each subscription, with what any of them remembers."""
    last: dict[int, CursorMove] = {}
    for move in moves:
        before = last.get(move.subscription_id)
        kept = before.remembered if before is not None and move.remembered is None else move.remembered
        last[move.subscription_id] = replace(move, remembered=kept)
    yield from last.values()


def with_ticks(findings: Findings, look: Look) -> Findings:
    """Return findings of a new version with the ticks of all takers advanced, also of those that have still to compare."""
    moved = {c.subscription_id for c in findings.cursors}
    idle = tuple(ticked(s, look.at) for s in look.takers if s.interval is not None and s.row.id not in moved)
    return replace(findings, cursors=(*tick_all(findings.cursors, look.page, look.at), *idle))


def version_of(look: Look, fetched: Fetched, seen: Examination | None, *, text_changed: bool) -> Version:
    """Return the version that a body becomes."""
    return Version(
        page_id=look.page.state.page_id,
        seq=look.seq,
        sha256=hashlib.sha256(fetched.body).hexdigest(),
        size=len(fetched.body),
        fetched_at=look.at,
        modified_at=look.modified_at,
        charset=seen.charset if seen is not None else "",
        charset_source=seen.charset_source if seen is not None else "",
        content_type=fetched.content_type or "",
        title=seen.title if seen is not None else "",
        final_url=fetched.final_url,
        status=fetched.status,
        headers={name: value for name in KEPT_HEADERS if (value := fetched.headers.get(name)) is not None},
        text_changed=text_changed,
        words=seen.facts.words if seen is not None else 0,
        screenshot=picture_name(fetched.screenshot),
    )


def picture_name(picture: bytes) -> str:
    """Return the name of a picture's blob, empty for none."""
    return hashlib.sha256(picture).hexdigest() if picture else ""


EMPTY_NOW = "the page is empty now: what comes is a change from nothing"


def with_first_words(events: tuple[Event, ...], seen: Examination) -> tuple[Event, ...]:
    """Return events of which the one that says that a page has appeared says how it begins."""
    return tuple(
        replace(event, data={**event.data, "words": seen.facts.first_words})
        if event.type == "page.ok" and event.data.get("first")
        else event
        for event in events
    )


def first_look(page_id: int, seen: Examination, at: Instant) -> Event:
    """Return the event that says what the first version holds, for the answer of `add`."""
    facts = seen.facts
    data = {
        "title": seen.title,
        "media_type": seen.media_type,
        "words": facts.words,
        "links": facts.links,
        "images": facts.images,
        "scripts_only": facts.scripts_only,
        "login": facts.login,
        "first_words": facts.first_words,
        "note": EMPTY_NOW if seen.suspicion == "empty" else facts.note,
        "problem": seen.problem,
    }
    return Event(type="page.first", at=at, page_id=page_id, data=data)


def modified_at(fetched: Fetched, checked_at: Instant | None, now: Instant) -> Instant | None:
    """Return Last-Modified, clamped to [last check, now] (sentinels §5.2)."""
    try:
        said = parsedate_to_datetime(fetched.headers.get("last-modified", ""))
    except ValueError:
        return None
    claimed = round((said if said.tzinfo else said.replace(tzinfo=UTC)).timestamp()) * SECOND
    return min(max(claimed, checked_at or 0), now)
