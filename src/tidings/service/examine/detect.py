"""Detect: run one job per fetched body with all its comparisons; the results become changes, events
and deliveries.

Page content is parsed only in the runner's process (contracts §7). If the job dies, the version is
stored and each comparison is owed as a `pending` row without moving a cursor; a sweep retries, and
after `detect.attempts` deaths it is given up and reported.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from tidings.detection.ask.summary import of_listing, summary
from tidings.detection.find.keyed import remember
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
from tidings.service.watch.subscription_memory import Remembered

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

    async def examine(self, look: PolledVersion, *, attempts: Mapping[int, int]) -> Compared:
        """Compare the newest version with what each subscription last saw.

        `attempts` counts, by subscription, how often this comparison has died.
        """
        job = self.job_of(look)
        return self.read(look, await self._run(job), attempts)

    async def _run(self, job: Job | FramedJob) -> Done[Examination] | Died:
        if isinstance(job, FramedJob):
            return await self._runner.run(examine_framed, job, seconds=self._seconds)
        return await self._runner.run(examine, job, seconds=self._seconds)

    def job_of(self, look: PolledVersion) -> Job | FramedJob:
        """Return the job that makes all comparisons of a poll."""
        state, wanted = look.page.state, tuple(_list_wanted(look, heals=self._heals))
        if look.parts:
            return FramedJob(
                new=look.parts[look.seq],
                references={seq: parts for seq, parts in look.parts.items() if seq != look.seq},
                known=look.known,
                wanted=wanted,
                text_digest=state.text_digest,
                seed=self._instance.hash_seed,
                depth=look.page.identity.frames,
                noise=look.noise,
            )
        return Job(
            new=look.body,
            references=look.references,
            known=look.known,
            wanted=wanted,
            last_charset=state.charset,
            text_digest=state.text_digest,
            seed=self._instance.hash_seed,
            usual_words=look.usual_words,
            usual_title=state.title,
            status=look.status,
            asked_url=look.page.identity.url,
            is_unframed=look.is_unframed,
            depth=look.page.identity.frames,
            known_parts=look.known_parts,
            noise=look.noise,
        )

    def read(self, look: PolledVersion, answer: Done[Examination] | Died, attempts: Mapping[int, int]) -> Compared:
        """Return the result of a job for each of its subscriptions."""
        match answer:
            case Done(value):
                if value.problem:
                    return self._give_up(look, value.problem, value)
                return self._add_found(look, value)
            case Died(reason=reason):
                return self._owe(look, reason, attempts)

    def _add_found(self, look: PolledVersion, examination: Examination) -> Compared:
        found = {(f.key, f.number): f for f in examination.found}
        changes, events = [], []
        for sub in look.takers:
            for asked in sub.asked:
                if (f := found.get((sub.row.id, asked.number))) is not None and f.change:
                    if sub.is_listing:
                        f = replace(f, change=of_listing(f.change))
                    row = self._change(look, sub, f, asked, healed=_stand_ins(sub, examination))
                    changes.append(row)
                    events.append(event_of(row))
        refused = {refusal.key: refusal.reason for refusal in examination.refused}
        lost = {
            s.row.id: reason
            for s in look.comparing()
            if (reason := look.lost.get(reference(s)) or refused.get(s.row.id))
        }
        lost |= {s.row.id: refused[s.row.id] for s in look.beginning() if s.row.id in refused}
        rows = tuple(self._make_failed_row(s, look, lost[s.row.id]) for s in look.takers if s.row.id in lost)
        events.extend(_make_failed_event(s, look, lost[s.row.id]) for s in look.takers if s.row.id in lost)
        absent = _absent(look, examination)
        moves = tuple(
            _remembering(s, _move_cursor(s, look, absent.get(s.row.id), is_lost=reference(s) in look.lost), examination)
            for s in look.takers
        )
        for sub, move in zip(look.takers, moves, strict=True):
            is_told = any(row.subscription_id == sub.row.id for row in changes)
            events.extend(_absences(sub, look, move, is_told=is_told))
            events.extend(_list_mended(sub, look, examination))
        seen = tuple(_values(look, examination))
        return Compared(examination, moves, rows, tuple(changes), tuple(events), values=seen)

    def _change(
        self, look: PolledVersion, sub: Subscription, found: Found, asked: AskedComparison, *, healed: str = ""
    ) -> ChangeRow:
        state = look.page.state
        compare = sub.owner.sentinel.compare
        return ChangeRow(
            id=self._change_id(sub, look, found, asked),
            sentinel_id=sub.row.sentinel_id,
            subscription_id=sub.row.id,
            page_id=state.page_id,
            revision=sub.row.revision,
            kind=asked.kind,
            from_seq=found.reference or look.seq,
            to_seq=look.seq,
            rules_version=RULES_VERSION,
            extraction=found.extraction,
            found=found.change,
            summary=f"{_summary(found)}{_across(sub, state.checked_at)}{healed}",
            quiet=asked.is_part or found.quiet,
            noise=found.quiet,
            modified_at=look.modified_at,
            polled_at=look.at,
            detected_at=look.at,
            partial=is_partial(compare, window_of(sub)),
        )

    def _change_id(self, sub: Subscription, look: PolledVersion, found: Found, asked: AskedComparison) -> str:
        parts = (
            self._instance.id,
            self._instance.restore_epoch,
            sub.row.id,
            sub.row.page_id,
            found.reference,
            look.seq,
            RULES_VERSION,
            found.extraction,
            *((asked.kind,) if asked.is_part else ()),
        )
        return hashlib.sha256("\x00".join(map(str, parts)).encode()).hexdigest()[:32]

    def _owe(self, look: PolledVersion, reason: str, attempts: Mapping[int, int]) -> Compared:
        worst = max((attempts.get(s.row.id, 0) for s in look.takers), default=0) + 1
        if worst >= self._attempts:
            return self._give_up(look, reason, None)
        owed = look.comparing()
        first = [s for s in look.takers if s not in owed]
        rows = tuple(
            ComparisonRow(
                subscription_id=s.row.id,
                page_id=s.row.page_id,
                from_seq=reference(s),
                to_seq=look.seq,
                revision=s.row.revision,
                status="pending",
                attempt=attempts.get(s.row.id, 0) + 1,
                reason=reason,
            )
            for s in owed
        )
        events = tuple(_make_failed_event(s, look, reason) for s in look.beginning())  # these are not retried
        return Compared(None, tuple(take(s, look.seq) for s in first), rows, (), events, reason)

    def _give_up(self, look: PolledVersion, reason: str, examination: Examination | None) -> Compared:
        rows = tuple(self._make_failed_row(s, look, reason) for s in look.comparing())
        events = tuple(_make_failed_event(s, look, reason) for s in (*look.beginning(), *look.comparing()))
        return Compared(examination, tuple(take(s, look.seq) for s in look.takers), rows, (), events, reason)

    def _make_failed_row(self, sub: Subscription, look: PolledVersion, reason: str) -> ComparisonRow:
        return ComparisonRow(
            subscription_id=sub.row.id,
            page_id=sub.row.page_id,
            from_seq=reference(sub),
            to_seq=look.seq,
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


def _values(look: PolledVersion, examination: Examination) -> Iterator[ValueRow]:
    """Yield the single values that subscriptions see in a version."""
    owners = {sub.row.id: sub.row.sentinel_id for sub in look.takers}
    for seen in examination.readings:
        for reading in seen.readings:
            yield ValueRow(
                sentinel_id=owners[seen.key],
                page_id=look.page.state.page_id,
                label=reading.label,
                at=look.at,
                seq=look.seq,
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


def _make_failed_event(sub: Subscription, look: PolledVersion, reason: str) -> Event:
    return Event(
        type=EventType.COMPARISON_GIVEN_UP,
        at=look.at,
        sentinel_id=sub.row.sentinel_id,
        page_id=sub.row.page_id,
        data={"from": reference(sub), "to": look.seq, "reason": reason},
    )


def _list_wanted(look: PolledVersion, *, heals: bool) -> Iterator[Wanted]:
    """Yield what the subscriptions want: a comparison, or only whether their selected parts
    exist.
    """
    for sub in look.takers:
        sentinel = sub.owner.sentinel
        seq = reference(sub)
        known = Remembered.of(sub.row.remembered)
        is_first = not sub.row.taken or (known.held is not None and known.held.is_first)
        is_again = sub.row.seen == look.seq and not is_first  # only whether its selection exists
        if (is_again and not is_doubtful(sub, look.at)) or (
            seq and not (is_again or is_first) and seq not in look.references
        ):
            continue
        for asked in sub.asked:
            yield Wanted(
                key=sub.row.id,
                reference=0 if is_again or is_first else seq,
                is_first=is_first,
                expression=with_extremes(asked.expression, look.extremes.get(sub.row.id, {})),
                extraction=extraction_of(sentinel),
                number=asked.number,
                seen=known.marks,
                targets=known.targets if heals else None,
                mends=is_doubtful(sub, look.at),
                doubted=sub.missing.doubt if sub.missing is not None else (),
                shows=any(clause.wording and clause.wording.uses("current_snapshot") for clause in sentinel.notify),
            )


def _absent(look: PolledVersion, examination: Examination) -> dict[int, Absent]:
    """Return what is missing, by subscription: everything only if each of its comparisons finds
    nothing it selects.
    """
    found: dict[int, list[Absent]] = {}
    for absence in examination.absent:
        found.setdefault(absence.key, []).append(absence)
    asked = {sub.row.id: len(sub.asked) for sub in look.takers if sub.row.id in found}
    return {
        key: Absent(
            key=key,
            names=tuple(dict.fromkeys(name for absence in some for name in absence.names)),
            is_all=sum(absence.is_all for absence in some) >= asked.get(key, 1),
        )
        for key, some in found.items()
    }


def _move_cursor(sub: Subscription, look: PolledVersion, absent: Absent | None, *, is_lost: bool) -> CursorMove:
    """Return the cursor after a poll. If everything selected is missing it does not move, so that
    what returns is compared with what disappeared.
    """
    is_again = sub.row.seen == look.seq and bool(sub.row.taken)
    move = replace(standing_still(sub), missing=None) if is_again else take(sub, look.seq, anew=is_lost)
    if absent is None:
        return move
    known = sub.missing
    before = known.names if known is not None else ()
    never = absent.names if not sub.row.taken else known.never if known is not None else ()
    missing = Missing(
        seq=look.seq,
        revision=sub.row.revision,
        names=absent.names,
        never=tuple(name for name in never if name in absent.names),
        doubt=tuple(name for name in absent.names if name not in before and sub.row.taken),
        doubt_at=look.at,
    )
    if absent.is_all and sub.row.taken:
        row = sub.row
        return replace(move, base=row.base, taken=row.taken, number=row.number, seen=row.seen, missing=missing)
    return replace(move, missing=missing)


def _remembering(sub: Subscription, move: CursorMove, examination: Examination) -> CursorMove:
    """Return a cursor with the state its subscription stores: the entries of a feed, what its
    selectors found.
    """
    known = kept = Remembered.of(sub.row.remembered)
    marks = [mark for found in examination.marks if found.key == sub.row.id for mark in found.marks]
    if marks:
        kept = replace(kept, marks=remember(known.marks, tuple(dict.fromkeys(marks))))
    targets = [target for found in examination.targets if found.key == sub.row.id for target in found.targets]
    if any(found.key == sub.row.id for found in examination.targets):
        kept = replace(kept, targets=tuple({target.selector: target for target in targets}.values()))
    return move if kept == known else replace(move, remembered=kept.text)


def _stand_ins(sub: Subscription, examination: Examination) -> str:
    """Return the note on a change found through a healed selector, empty for others."""
    every = (target.stand_in for found in examination.targets if found.key == sub.row.id for target in found.targets)
    used = dict.fromkeys(stand_in for stand_in in every if stand_in is not None)
    return "".join(f' (selector healed: {one.language} "{one.text}")' for one in used)


def _list_mended(sub: Subscription, look: PolledVersion, examination: Examination) -> Iterator[Event]:
    """Yield, once for each healed selector of a subscription, the event that names its
    replacement.
    """
    every = (one for found in examination.targets if found.key == sub.row.id for one in found.mended)
    for mended in {one.selector: one for one in every}.values():
        yield Event(
            type=EventType.PART_HEALED,
            at=look.at,
            sentinel_id=sub.row.sentinel_id,
            page_id=sub.row.page_id,
            data={
                "part": f'{mended.selector.language} "{mended.selector.text}"',
                "stand_in": f'{mended.stand_in.language} "{mended.stand_in.text}"',
                "score": mended.score,
                "before": mended.before,
                "after": mended.after,
                "version": look.seq,
            },
        )


def _absences(sub: Subscription, look: PolledVersion, move: CursorMove, *, is_told: bool) -> Iterator[Event]:
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
    is_quiet = is_told or asks_for_more
    gone = sorted(now - was) if sub.row.taken else []
    for type_, names in (
        (EventType.PART_LOST, gone),
        (EventType.PART_BACK, sorted(was - now - never)),
        (EventType.PART_APPEARED, sorted((was - now) & never)),
    ):
        for name in names:
            yield Event(
                type=type_,
                at=look.at,
                sentinel_id=sub.row.sentinel_id,
                page_id=sub.row.page_id,
                data={"part": name, "version": look.seq}
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
