"""The unit of work of a poll: built from findings, with the events for users, and how its new
bodies are stored.

`unit_of` is pure, and nothing else builds a unit. `Keeper` plans the storage of new bodies beside
their delta bases, and commits them with the unit: small bodies are rows, planned inside the commit.
What may need a file is planned before, since a file is written before the row that names it.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from tidings.archive.archive import WritePlan
from tidings.errors import BlobError
from tidings.model.observed.unit import ComparisonRow, Unit
from tidings.model.watch.timing import FetchOnDemand
from tidings.record import replace
from tidings.service.examine import page_state
from tidings.service.examine.detect import event_of
from tidings.service.examine.judge import PollResult
from tidings.service.notify.life_steps import first_report, too_late
from tidings.service.notify.news import drafts, list_texts
from tidings.service.plan.next_poll import get_confirmation_wait
from tidings.service.plan.worth import teach
from tidings.service.watch import noise
from tidings.service.watch.cursors import reference
from tidings.storage.observed import versions
from tidings.storage.write import retention

if TYPE_CHECKING:
    from tidings.archive.archive import Archive
    from tidings.model.observed.page import PageState
    from tidings.model.observed.unit import CursorMove
    from tidings.model.observed.version import Blob, NewBody
    from tidings.service.examine.findings import Findings
    from tidings.storage.db.connection import Connection
    from tidings.storage.write.commit import Keep
    from tidings.storage.write.store import Store


def unit_of(findings: Findings) -> Unit:
    """Return the unit of a turn: its findings, what is reported at once, and the comparisons no
    longer owed.
    """
    turn, compared = findings.turn, findings.compared
    page, at, subscriptions = turn.page, turn.at, turn.page.subscriptions
    answered = (*findings.status, *findings.headers)
    late = too_late((*compared.changes, *answered), subscriptions)
    rows = tuple(row for row in (*compared.changes, *answered) if row.id not in late)
    all_events = (*findings.events, *map(event_of, answered), *compared.events)
    events = tuple(event for event in all_events if event.change_id not in late)
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
        texts=list_texts(page, rows, events),
        decided=findings.decided,
        estimates=(
            *noise.estimates_of(findings.memory, page.state.page_id, at=at, has_second=findings.has_second),
            *findings.estimates,
        ),
        values=compared.values,
        answered=turn.answered if isinstance(turn, PollResult) else (),
    )


def may_report_once(findings: Findings) -> bool:
    """Return whether a turn may report what is reported only once: the first change of a sentinel,
    silence to a recipient.
    """
    compared, subs = findings.compared, findings.turn.page.subscriptions.values()
    if compared.examination is not None and any(one.silenced for one in compared.examination.found):
        return True
    ends = any(sub.owner.ends_with_report for sub in subs)
    return ends and bool(compared.changes or findings.status or findings.headers)


def _list_done(findings: Findings) -> Iterator[ComparisonRow]:
    """Yield the owed comparisons that were made; without a poll, also those that others made
    before.
    """
    turn, compared = findings.turn, findings.compared
    moved = {c.subscription_id for c in compared.cursors} if findings.record is not None else {*turn.owed}
    moved -= {c.subscription_id for c in compared.comparisons}
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
    if compared.is_lost:
        state = page_state.forget_body(state)
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
        remembered = before.remembered if before is not None and move.remembered is None else move.remembered
        last[move.subscription_id] = move if remembered == move.remembered else replace(move, remembered=remembered)
    yield from last.values()


log = logging.getLogger("tidings.service.poll.unit")


class UnitWriter:
    """Stores bodies with their units; `commit` returns once a unit is durable."""

    def __init__(self, store: Store, archive: Archive, commit: Callable[[Unit], Awaitable[object]]) -> None:
        self._store = store
        self._archive = archive
        self._commit = commit

    async def keep(self, unit: Unit) -> None:
        """Commit a unit with its new bodies; meanwhile nobody else plans the storage of these and
        of those that depend on them.

        The bodies are a page's content, its member list, its picture, or withheld content; frames'
        bodies are stored by their own pages. A page has one writer, so that its earlier bodies
        still exist.
        """
        if not unit.bodies:
            await self._commit(unit)
            return
        names = {new.sha256 for new in unit.bodies} | {new.former for new in unit.bodies if new.former}
        async with self._archive.hold(*names):
            if all(self._archive.is_row(max(len(new.body), new.former_size)) for new in unit.bodies):
                await self._commit(unit)
            else:
                await self._keep_files(unit, await self._store.read(self._plan, unit.bodies))

    def _plan(self, connection: Connection, bodies: Sequence[NewBody]) -> WritePlan:
        plans = [plan_write(connection, self._archive, new) for new in bodies]
        return WritePlan(
            blobs=tuple(blob for plan in plans for blob in plan.blobs),
            garbage=tuple(name for plan in plans for name in plan.garbage),
            files=tuple(file for plan in plans for file in plan.files),
        )

    async def _keep_files(self, unit: Unit, plan: WritePlan) -> None:
        if plan.files:
            await asyncio.to_thread(self._archive.write_files, plan)
        await self._commit(replace(unit, bodies=(), blobs=plan.blobs, garbage=plan.garbage))
        if plan.garbage:
            self._archive.remove(plan.garbage)
            await self._store.write(retention.clear, plan.garbage)


def keeping(archive: Archive) -> Keep:
    """Return the planner of small bodies inside a commit. Garbage files are deleted at the next
    start.
    """

    def keep(connection: Connection, new: NewBody) -> tuple[Sequence[Blob], Sequence[str]]:
        plan = plan_write(connection, archive, new)
        if plan.files:
            message = f"the body {new.sha256} needs a file, which is written before the commit"
            raise ValueError(message)
        return plan.blobs, plan.garbage

    return keep


def plan_write(connection: Connection, archive: Archive, new: NewBody) -> WritePlan:
    """Return how to store a new body beside the former newest one."""

    def row(sha: str) -> Blob | None:
        return versions.blob(connection, sha)

    return archive.plan(new.body, new.sha256, _neighbour(archive, row, new.former), _find_stored(archive, row, new))


def _find_stored(archive: Archive, row: Callable[[str], Blob | None], new: NewBody) -> Blob | None:
    """Return the row of a body that is stored already. A damaged one is returned as a delta, which
    is replaced by the whole body.
    """
    known = row(new.sha256)
    if known is None or known.base:
        return known
    try:
        archive.restore(known.sha256, row)
    except BlobError as error:
        log.error("%s; it is stored anew", error)  # noqa: TRY400 - users can fix the disk
        return replace(known, base=known.sha256)
    return known


def _neighbour(archive: Archive, row: Callable[[str], Blob | None], former: str) -> tuple[Blob, bytes] | None:
    """Return the newest body, to be stored as a delta from now on; None if it is damaged: a new
    body must be stored all the same.
    """
    known = row(former) if former else None
    if known is None:
        return None
    try:
        return known, archive.restore(known.sha256, row)
    except BlobError as error:
        log.error("%s; the next body of the page is stored whole", error)  # noqa: TRY400 - users can fix the disk
        return None
