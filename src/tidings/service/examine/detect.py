"""Detect: run one job per fetched body with all its comparisons; the results become changes, events
and deliveries.

Page content is parsed only in the runner's process (contracts §7). If the job dies, the version is
stored and each comparison is owed as a `pending` row without moving a cursor; a sweep retries, and
after `detect.attempts` deaths it is given up and reported.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from tidings.detection.ask.summary import of_listing, summary
from tidings.detection.find.window import is_partial
from tidings.detection.job.contract import Absent, Examination, Found, FramedJob, Job, Wanted
from tidings.detection.job.run import examine, examine_framed
from tidings.detection.kinds.interests import interests_of
from tidings.document.select.extraction import extraction_of
from tidings.document.text.words import RULES_VERSION
from tidings.isolation.runner import Died, Done
from tidings.model.event_type import EventType
from tidings.model.observed.unit import ChangeRow, ComparisonRow, CursorMove, Event, Missing
from tidings.model.observed.version import ValueRow
from tidings.record import dataclass, replace
from tidings.service.examine.stored_versions import with_extremes
from tidings.service.show.records import spell_gap
from tidings.service.watch.composite_parts import PART
from tidings.service.watch.cursors import is_doubtful, reference, standing_still, take, window_of
from tidings.service.watch.subscription_memory import Remembered, remember

if TYPE_CHECKING:
    from tidings.isolation.runner import Runner
    from tidings.model.interval import Instant
    from tidings.service.examine.to_compare import PolledVersion
    from tidings.service.watch.composite_parts import AskedComparison
    from tidings.service.watch.watchlist import Subscription
    from tidings.storage.db.instance import DatabaseInstance

QUIET = EventType.CHANGE_QUIET
"""The event type of a change that is all noise, which is not notified."""


@dataclass(frozen=True, slots=True)
class Compared:
    """The job's findings for the subscriptions of a poll: cursors, comparisons owed or given up,
    changes and their events.

    `died` is why there are none: the job died, or could not read the page.
    """

    examination: Examination | None = None
    cursors: tuple[CursorMove, ...] = ()
    comparisons: tuple[ComparisonRow, ...] = ()
    changes: tuple[ChangeRow, ...] = ()
    events: tuple[Event, ...] = ()
    died: str = ""
    values: tuple[ValueRow, ...] = ()
    """present values whose history is stored"""
    is_lost: bool = False
    """whether the newest version cannot be read any more"""


class Detector:
    """Runs jobs and reads their results. `instance` makes change ids unique across
    installations.
    """

    def __init__(
        self, runner: Runner, instance: DatabaseInstance, *, seconds: float, attempts: int, heals: bool = True
    ) -> None:
        self._heals = heals
        self._runner = runner
        self._instance = instance
        self._seconds = seconds
        self._attempts = attempts

    async def examine(self, polled: PolledVersion, *, attempts: Mapping[int, int]) -> Compared:
        """Compare the newest version with what each subscription last saw.

        `attempts` counts, by subscription, how often this comparison has died.
        """
        job = self.job_of(polled)
        return self.read(polled, await self._run(job), attempts)

    def lose(self, takers: Sequence[Subscription], seq: int, reason: str, *, at: Instant) -> Compared:
        """Return the result for those who would take the newest version, which cannot be read any
        more. No cursor moves: they take what the next poll fetches.

        Args:
            takers: The subscriptions.
            seq: The number of the version.
            reason: Why it cannot be read.
            at: The present (µs).
        """
        reason = f"{reason}; the page is fetched again"
        rows = tuple(self._make_failed_row(s, seq, reason) for s in takers if s.row.seen != seq and reference(s))
        events = tuple(_make_failed_event(s, seq, reason, at) for s in takers)
        return Compared(comparisons=rows, events=events, is_lost=True)

    async def _run(self, job: Job | FramedJob) -> Done[Examination] | Died:
        if isinstance(job, FramedJob):
            return await self._runner.run(examine_framed, job, seconds=self._seconds)
        return await self._runner.run(examine, job, seconds=self._seconds)

    def job_of(self, polled: PolledVersion) -> Job | FramedJob:
        """Return the job that makes all comparisons of a poll."""
        state, wanted = polled.page.state, tuple(_list_wanted(polled, heals=self._heals))
        if polled.parts:
            return FramedJob(
                new=polled.parts[polled.seq],
                references={seq: parts for seq, parts in polled.parts.items() if seq != polled.seq},
                known=polled.known,
                wanted=wanted,
                text_digest=state.text_digest,
                seed=self._instance.hash_seed,
                depth=polled.page.identity.frames,
                noise=polled.noise,
            )
        return Job(
            new=polled.body,
            references=polled.references,
            known=polled.known,
            wanted=wanted,
            last_charset=state.charset,
            text_digest=state.text_digest,
            seed=self._instance.hash_seed,
            usual_words=polled.usual_words,
            usual_title=state.title,
            status=polled.status,
            asked_url=polled.page.identity.url,
            is_unframed=polled.is_unframed,
            depth=polled.page.identity.frames,
            known_parts=polled.known_parts,
            noise=polled.noise,
        )

    def read(self, polled: PolledVersion, answer: Done[Examination] | Died, attempts: Mapping[int, int]) -> Compared:
        """Return the result of a job for each of its subscriptions."""
        match answer:
            case Done(value):
                if value.problem:
                    return self._give_up(polled, value.problem, value)
                return self._add_found(polled, value)
            case Died(reason=reason):
                return self._owe(polled, reason, attempts)

    def _add_found(self, polled: PolledVersion, examination: Examination) -> Compared:
        found = {(f.key, f.number): f for f in examination.found}
        changes, events = [], []
        for sub in polled.takers:
            for asked in sub.asked:
                if (f := found.get((sub.row.id, asked.number))) is not None and f.change:
                    if sub.is_listing:
                        f = replace(f, change=of_listing(f.change))
                    row = self._change(polled, sub, f, asked, healed=_stand_ins(sub, examination))
                    changes.append(row)
                    events.append(event_of(row))
        refused = {refusal.key: refusal.reason for refusal in examination.refused}
        lost = {
            s.row.id: reason
            for s in polled.comparing()
            if (reason := polled.lost.get(reference(s)) or refused.get(s.row.id))
        }
        lost |= {s.row.id: refused[s.row.id] for s in polled.beginning() if s.row.id in refused}
        rows = tuple(self._make_failed_row(s, polled.seq, lost[s.row.id]) for s in polled.takers if s.row.id in lost)
        events.extend(
            _make_failed_event(s, polled.seq, lost[s.row.id], polled.at) for s in polled.takers if s.row.id in lost
        )
        absent = _absent(polled, examination)
        moves = tuple(
            _remembering(
                s, _move_cursor(s, polled, absent.get(s.row.id), is_lost=reference(s) in polled.lost), examination
            )
            for s in polled.takers
        )
        for sub, move in zip(polled.takers, moves, strict=True):
            is_reported = any(row.subscription_id == sub.row.id for row in changes)
            events.extend(_absences(sub, polled, move, is_reported=is_reported))
            events.extend(_list_mended(sub, polled, examination))
        seen = tuple(_values(polled, examination))
        return Compared(examination, moves, rows, tuple(changes), tuple(events), values=seen)

    def _change(
        self, polled: PolledVersion, sub: Subscription, found: Found, asked: AskedComparison, *, healed: str = ""
    ) -> ChangeRow:
        state = polled.page.state
        compare = sub.owner.sentinel.compare
        return ChangeRow(
            id=self._change_id(sub, polled, found, asked),
            sentinel_id=sub.row.sentinel_id,
            subscription_id=sub.row.id,
            page_id=state.page_id,
            revision=sub.row.revision,
            kind=asked.kind,
            from_seq=found.reference or polled.seq,
            to_seq=polled.seq,
            rules_version=RULES_VERSION,
            extraction=found.extraction,
            found=found.change,
            summary=f"{_summary(found)}{_across(sub, state.checked_at)}{healed}",
            quiet=asked.is_part or found.quiet,
            noise=found.quiet,
            modified_at=polled.modified_at,
            polled_at=polled.at,
            detected_at=polled.at,
            partial=is_partial(compare, window_of(sub)),
        )

    def _change_id(self, sub: Subscription, polled: PolledVersion, found: Found, asked: AskedComparison) -> str:
        parts = (
            self._instance.id,
            self._instance.restore_epoch,
            sub.row.id,
            sub.row.page_id,
            found.reference,
            polled.seq,
            RULES_VERSION,
            found.extraction,
            *((asked.kind,) if asked.is_part else ()),
        )
        return hashlib.sha256("\x00".join(map(str, parts)).encode()).hexdigest()[:32]

    def _owe(self, polled: PolledVersion, reason: str, attempts: Mapping[int, int]) -> Compared:
        worst = max((attempts.get(s.row.id, 0) for s in polled.takers), default=0) + 1
        if worst >= self._attempts:
            return self._give_up(polled, reason, None)
        owed = polled.comparing()
        first = [s for s in polled.takers if s not in owed]
        rows = tuple(
            ComparisonRow(
                subscription_id=s.row.id,
                page_id=s.row.page_id,
                from_seq=reference(s),
                to_seq=polled.seq,
                revision=s.row.revision,
                status="pending",
                attempt=attempts.get(s.row.id, 0) + 1,
                reason=reason,
            )
            for s in owed
        )
        events = tuple(
            _make_failed_event(s, polled.seq, reason, polled.at) for s in polled.beginning()
        )  # these are not retried
        return Compared(None, tuple(take(s, polled.seq) for s in first), rows, (), events, reason)

    def _give_up(self, polled: PolledVersion, reason: str, examination: Examination | None) -> Compared:
        rows = tuple(self._make_failed_row(s, polled.seq, reason) for s in polled.comparing())
        events = tuple(
            _make_failed_event(s, polled.seq, reason, polled.at) for s in (*polled.beginning(), *polled.comparing())
        )
        return Compared(examination, tuple(take(s, polled.seq) for s in polled.takers), rows, (), events, reason)

    def _make_failed_row(self, sub: Subscription, seq: int, reason: str) -> ComparisonRow:
        return ComparisonRow(
            subscription_id=sub.row.id,
            page_id=sub.row.page_id,
            from_seq=reference(sub),
            to_seq=seq,
            revision=sub.row.revision,
            status="could_not_compare",
            attempt=self._attempts,
            reason=reason,
        )


def _summary(found: Found) -> str:
    if found.reference:
        return summary(found.change)
    values = (f'{row.kind} "{row.object}"' for row in found.change.objects)
    return f"{', '.join(values)} (already true at the first check)"


def _values(polled: PolledVersion, examination: Examination) -> Iterator[ValueRow]:
    """Yield the single values that subscriptions see in a version."""
    owners = {sub.row.id: sub.row.sentinel_id for sub in polled.takers}
    for seen in examination.readings:
        for reading in seen.readings:
            yield ValueRow(
                sentinel_id=owners[seen.key],
                page_id=polled.page.state.page_id,
                label=reading.label,
                at=polled.at,
                seq=polled.seq,
                text=reading.texts[0],
                amount=reading.amount,
                unit=reading.unit,
            )


def _across(sub: Subscription, checked_at: Instant | None) -> str:
    """Return the mark of the comparison that spans a pause of its sentinel (sentinels §2), empty
    for others.
    """
    polled_at = checked_at if sub.interval is None else sub.row.ticked_at
    if not sub.row.paused or (polled_at or 0) >= sub.row.since:
        return ""
    return f" (across a pause of {spell_gap(sub.row.paused)})"


def _make_failed_event(sub: Subscription, seq: int, reason: str, at: Instant) -> Event:
    return Event(
        type=EventType.COMPARISON_GIVEN_UP,
        at=at,
        sentinel_id=sub.row.sentinel_id,
        page_id=sub.row.page_id,
        data={"from": reference(sub) if sub.row.seen != seq else 0, "to": seq, "reason": reason},
    )


def _list_wanted(polled: PolledVersion, *, heals: bool) -> Iterator[Wanted]:
    """Yield what the subscriptions want: a comparison, or only whether their selected parts
    exist.
    """
    for sub in polled.takers:
        sentinel = sub.owner.sentinel
        seq = reference(sub)
        known = Remembered.of(sub.row.remembered)
        is_first = not sub.row.taken or (known.pending is not None and known.pending.is_first)
        is_again = sub.row.seen == polled.seq and not is_first  # only whether its selection exists
        if (is_again and not is_doubtful(sub, polled.at)) or (
            seq and not (is_again or is_first) and seq not in polled.references
        ):
            continue
        for asked in sub.asked:
            yield Wanted(
                key=sub.row.id,
                reference=0 if is_again or is_first else seq,
                is_first=is_first,
                expression=with_extremes(asked.expression, polled.extremes.get(sub.row.id, {})),
                extraction=extraction_of(sentinel),
                number=asked.number,
                seen=known.marks,
                targets=known.targets if heals else None,
                mends=is_doubtful(sub, polled.at),
                doubted=sub.missing.doubt if sub.missing is not None else (),
                shows=any(clause.wording and clause.wording.uses("current_snapshot") for clause in sentinel.notify),
            )


def _absent(polled: PolledVersion, examination: Examination) -> dict[int, Absent]:
    """Return what is missing, by subscription: everything only if each of its comparisons finds
    nothing it selects.
    """
    found: dict[int, list[Absent]] = {}
    for absence in examination.absent:
        found.setdefault(absence.key, []).append(absence)
    asked = {sub.row.id: len(sub.asked) for sub in polled.takers if sub.row.id in found}
    return {
        key: Absent(
            key=key,
            names=tuple(dict.fromkeys(name for absence in some for name in absence.names)),
            is_all=sum(absence.is_all for absence in some) >= asked.get(key, 1),
        )
        for key, some in found.items()
    }


def _move_cursor(sub: Subscription, polled: PolledVersion, absent: Absent | None, *, is_lost: bool) -> CursorMove:
    """Return the cursor after a poll. If everything selected is missing it does not move, so that
    what returns is compared with what disappeared.
    """
    is_again = sub.row.seen == polled.seq and bool(sub.row.taken)
    move = replace(standing_still(sub), missing=None) if is_again else take(sub, polled.seq, anew=is_lost)
    if absent is None:
        return move
    known = sub.missing
    before = known.names if known is not None else ()
    never = absent.names if not sub.row.taken else known.never if known is not None else ()
    missing = Missing(
        seq=polled.seq,
        revision=sub.row.revision,
        names=absent.names,
        never=tuple(name for name in never if name in absent.names),
        doubt=tuple(name for name in absent.names if name not in before and sub.row.taken),
        doubt_at=polled.at,
    )
    if absent.is_all and sub.row.taken:
        row = sub.row
        return replace(move, base=row.base, taken=row.taken, number=row.number, seen=row.seen, missing=missing)
    return replace(move, missing=missing)


def _remembering(sub: Subscription, move: CursorMove, examination: Examination) -> CursorMove:
    """Return a cursor with the state its subscription stores: the entries of a feed, what its
    selectors found.
    """
    known = before = Remembered.of(sub.row.remembered)
    marks = [mark for found in examination.marks if found.key == sub.row.id for mark in found.marks]
    if marks:
        before = replace(before, marks=remember(known.marks, tuple(dict.fromkeys(marks))))
    targets = [target for found in examination.targets if found.key == sub.row.id for target in found.targets]
    if any(found.key == sub.row.id for found in examination.targets):
        before = replace(before, targets=tuple({target.selector: target for target in targets}.values()))
    return move if before == known else replace(move, remembered=before.text)


def _stand_ins(sub: Subscription, examination: Examination) -> str:
    """Return the note on a change found through a healed selector, empty for others."""
    every = (target.stand_in for found in examination.targets if found.key == sub.row.id for target in found.targets)
    used = dict.fromkeys(stand_in for stand_in in every if stand_in is not None)
    return "".join(f' (selector healed: {one.language} "{one.text}")' for one in used)


def _list_mended(sub: Subscription, polled: PolledVersion, examination: Examination) -> Iterator[Event]:
    """Yield, once for each healed selector of a subscription, the event that names its
    replacement.
    """
    every = (one for found in examination.targets if found.key == sub.row.id for one in found.mended)
    for mended in {one.selector: one for one in every}.values():
        yield Event(
            type=EventType.PART_HEALED,
            at=polled.at,
            sentinel_id=sub.row.sentinel_id,
            page_id=sub.row.page_id,
            data={
                "part": f'{mended.selector.language} "{mended.selector.text}"',
                "stand_in": f'{mended.stand_in.language} "{mended.stand_in.text}"',
                "score": mended.score,
                "before": mended.before,
                "after": mended.after,
                "version": polled.seq,
            },
        )


def _absences(sub: Subscription, polled: PolledVersion, move: CursorMove, *, is_reported: bool) -> Iterator[Event]:
    """Yield the events of parts of the page that disappeared, returned or appeared; each is
    reported once, when certain.

    A part that appears for the first time is a change from nothing. Only if that reports nothing
    although all changes are wanted (an empty element), the part itself is reported.
    """
    asks_for_more = any(one.where or one.direction for one in interests_of(sub.owner.sentinel.monitor))
    before, after = sub.missing, move.missing
    was = set(before.names) - set(before.doubt) if before is not None else set()
    now = set(after.names) - set(after.doubt) if after is not None else set()
    never = set(before.never) if before is not None else set()
    is_quiet = is_reported or asks_for_more
    gone = sorted(now - was) if sub.row.taken else []
    for type_, names in (
        (EventType.PART_LOST, gone),
        (EventType.PART_BACK, sorted(was - now - never)),
        (EventType.PART_APPEARED, sorted((was - now) & never)),
    ):
        for name in names:
            yield Event(
                type=type_,
                at=polled.at,
                sentinel_id=sub.row.sentinel_id,
                page_id=sub.row.page_id,
                data={"part": name, "version": polled.seq}
                | ({"quiet": True} if is_quiet and type_ == EventType.PART_APPEARED else {}),
            )


def event_of(row: ChangeRow) -> Event:
    """Return the event of a change: of news, of a part of a composite, or of pure noise."""
    return Event(
        type=QUIET if row.noise else PART if row.quiet else EventType.CHANGE_FOUND,
        at=row.detected_at,
        sentinel_id=row.sentinel_id,
        page_id=row.page_id,
        change_id=row.id,
        data={"summary": row.summary},
    )
