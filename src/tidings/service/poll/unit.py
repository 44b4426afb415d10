"""Build the unit of work from findings, with the events for users. The only place that
does. Pure.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from tidings.model.observed.unit import ComparisonRow, Unit
from tidings.model.watch.timing import FetchOnDemand
from tidings.record import replace
from tidings.service.examine.detect import event_of
from tidings.service.examine.judge import PollResult
from tidings.service.notify.activate import first_report, too_late
from tidings.service.notify.news import drafts
from tidings.service.plan.learned_worth import teach
from tidings.service.plan.next_poll import get_confirmation_wait
from tidings.service.watch.cursors import reference

if TYPE_CHECKING:
    from tidings.model.observed.page import PageState
    from tidings.model.observed.unit import CursorMove
    from tidings.service.examine.findings import Findings


def unit_of(findings: Findings) -> Unit:
    """Return the unit of a turn: its findings, what is reported at once, and the comparisons no
    longer owed.
    """
    turn, compared = findings.turn, findings.compared
    page, at, subscriptions = turn.page, turn.at, turn.page.subscriptions
    answered = (*findings.status, *findings.headers)
    late = too_late((*compared.changes, *answered), subscriptions)
    rows = tuple(row for row in (*compared.changes, *answered) if row.id not in late)
    said = (*findings.events, *map(event_of, answered), *compared.events)
    events = tuple(event for event in said if event.change_id not in late)
    is_visible = findings.record is not None and findings.record.text_changed
    moves = tuple(_merge((*findings.remembered, *compared.cursors)))
    return Unit(
        at=at,
        epoch=turn.epoch,
        poll=findings.record,
        page=_settle(findings),
        hosts=turn.hosts if isinstance(turn, PollResult) else (),
        version=findings.version,
        members=findings.members,
        frames=findings.frames,
        digests=findings.digests,
        cursors=teach(moves, page, rows, compared.examination, is_visible=is_visible, at=at),
        comparisons=(*compared.comparisons, *_list_done(findings)),
        quarantined=findings.quarantined,
        bodies=findings.bodies,
        changes=rows,
        events=events,
        sentinels=first_report(rows, subscriptions, at),
        deliveries=drafts(page, rows, events, at=at),
        estimates=findings.estimates,
        values=compared.values,
        answered=turn.answered if isinstance(turn, PollResult) else (),
    )


def _list_done(findings: Findings) -> Iterator[ComparisonRow]:
    """Yield the owed comparisons that were made."""
    turn, compared = findings.turn, findings.compared
    moved = {c.subscription_id for c in compared.cursors} - {c.subscription_id for c in compared.comparisons}
    for sub_id in turn.owed:
        if sub_id in moved and (sub := turn.page.subscriptions.get(sub_id)) is not None:
            yield ComparisonRow(
                subscription_id=sub_id,
                page_id=turn.page.state.page_id,
                from_seq=reference(sub),
                to_seq=turn.page.state.last_seq,
                revision=sub.row.revision,
                status="done",
            )


def _settle(findings: Findings) -> PageState:
    """Return the state of the page, with why it cannot be compared, if so; polled again soon if
    this poll has just missed a part of it.
    """
    page, compared, state = findings.turn.page, findings.compared, findings.state
    seen = compared.examination
    problem = seen.unread if seen is not None else compared.died or state.problem
    doubtful = _doubtful(compared.cursors)
    is_asked = any(not isinstance(page.subscriptions[id_].fetch, FetchOnDemand) for id_ in doubtful)
    if is_asked and state.health == "ok":
        return replace(state, problem=problem, retry_at=findings.turn.at + get_confirmation_wait(page))
    return state if problem == state.problem else replace(state, problem=problem)


def _doubtful(moves: Sequence[CursorMove]) -> list[int]:
    return [move.subscription_id for move in moves if move.missing is not None and move.missing.doubt]


def _merge(moves: Iterable[CursorMove]) -> Iterator[CursorMove]:
    """Yield the last move of each subscription, merged with what any of its moves stores."""
    last: dict[int, CursorMove] = {}
    for move in moves:
        before = last.get(move.subscription_id)
        kept = before.remembered if before is not None and move.remembered is None else move.remembered
        last[move.subscription_id] = move if kept == move.remembered else replace(move, remembered=kept)
    yield from last.values()
