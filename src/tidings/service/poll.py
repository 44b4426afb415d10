"""Poll: ask for a page, and turn the answer into one unit.

Four gates, cheap to dear: 304 or an equal body hash; the canonical text; the objects; the comparison (detection.md §2.3). A failed or
doubtful fetch makes no version, moves no cursor and is no observation for an estimator.
"""

from __future__ import annotations

import asyncio
import hashlib
import logging
from collections.abc import Awaitable, Callable, Collection, Mapping
from dataclasses import dataclass, replace
from datetime import UTC
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING

import xxhash

from tidings.clock import DAY, HOUR, MINUTE, SECOND
from tidings.detection.job import Body, Examination
from tidings.errors import BlobError
from tidings.model.outcome import Failed, Fetched, FetchRequest, Outcome, Unchanged, Validators
from tidings.model.unit import ComparisonRow, CursorMove, Event, PollRecord, Unit
from tidings.model.version import Blob, Digest, Version
from tidings.service.detect import Findings, Look
from tidings.service.plan import fixed
from tidings.storage import garbage, versions

if TYPE_CHECKING:
    from tidings.archive.archive import Archive, Plan
    from tidings.model.interval import Duration, Instant
    from tidings.model.page import HostState, PageState
    from tidings.model.unit import Charged
    from tidings.service.deliver import Teller
    from tidings.service.detect import Detector
    from tidings.service.watchlist import Subscription, WatchedPage
    from tidings.storage.connection import Connection
    from tidings.storage.instance import Instance
    from tidings.storage.store import Store

log = logging.getLogger("tidings.service.poll")

FAILURES_TO_ERROR = 3
LONGEST_BACK_OFF = DAY
KEPT_HEADERS = ("content-type", "etag", "last-modified", "cache-control", "content-language", "x-robots-tag")


@dataclass(frozen=True, slots=True)
class Stored:
    """What the database holds of the versions that a look needs."""

    bodies: Mapping[int, Body]
    digests: Mapping[int, Digest]
    lost: Mapping[int, str]


@dataclass(frozen=True, slots=True)
class Occasion:
    """A poll: what was paid for, the page, when the answer was there, which requests it answers, which sentinels asked for it,
    and which comparisons are owed from before.
    """

    charged: Charged
    page: WatchedPage
    at: Instant
    answered: tuple[int, ...]
    eager: frozenset[int]
    owed: Mapping[int, int]
    hosts: tuple[HostState, ...]


class Poller:
    """Turns outcomes into units; holds no state of its own. `commit` returns once a unit is durable."""

    def __init__(
        self,
        *,
        store: Store,
        archive: Archive,
        detector: Detector,
        teller: Teller,
        instance: Instance,
        commit: Callable[[Unit], Awaitable[object]],
    ) -> None:
        self._store = store
        self._commit = commit
        self._archive = archive
        self._detector = detector
        self._teller = teller
        self._instance = instance

    def request(self, page: WatchedPage, *, obey_robots: bool = True) -> FetchRequest:
        """Return the request for a page: conditional unless its validators are due for an audit (contracts.md §11)."""
        state = page.state
        audit = state.unconditional_in <= 0 or state.last_seq == 0
        return FetchRequest(
            url=page.identity.url,
            method=page.identity.method,
            headers=page.identity.headers,
            validators=Validators() if audit else state.validators,
            final_url=state.final_url,
            obey_robots=obey_robots,
        )

    async def settle(
        self,
        charged: Charged,
        page: WatchedPage,
        outcome: Outcome,
        *,
        at: Instant,
        answered: tuple[int, ...] = (),
        eager: Collection[int] = (),
        owed: Mapping[int, int] | None = None,
        hosts: tuple[HostState, ...] = (),
    ) -> None:
        """Write all that one outcome brings, in one unit, and return once it is durable.

        `answered` are the requests that the poll answers; the sentinels `eager` asked for it and take what it brings before their tick.
        `owed` counts, by subscription, the deaths of comparisons that are still owed on this page. `hosts` are states to be stored.
        """
        look = Occasion(charged, page, at, answered, frozenset(eager), owed or {}, hosts)
        match outcome:
            case Failed():
                await self._commit(self._failed(look, outcome))
            case Fetched() if not _same_body(outcome.body, page.state, self._instance.hash_seed):
                await self._changed(look, outcome)
            case Unchanged() | Fetched():
                await self._commit(await self._unchanged(look, outcome))

    async def serve(self, page: WatchedPage, *, at: Instant, epoch: int, owed: Mapping[int, int]) -> None:
        """Let subscriptions take the newest stored version without a poll: a tick that a late look serves, a comparison that is owed."""
        findings = await self._take(page, at, attempts=owed)
        await self._commit(
            self._with_findings(Unit(at=at, epoch=epoch, page=page.state), page, findings, at, settles=owed)
        )

    # -- failed ------------------------------------------------------------------------------------------------------------------

    def _failed(self, poll: Occasion, failed: Failed) -> Unit:
        before, at = poll.page.state, poll.at
        failures = before.failures + 1
        since = before.failing_since if before.failing_since is not None else at
        certain = failed.kind in {"410", "redirect", "address", "robots"}
        in_error = before.health == "error" or certain or (failures >= FAILURES_TO_ERROR and at - since >= HOUR)
        state = replace(
            before,
            polled_at=at,
            polls=before.polls + 1,
            health="error" if in_error else "shaky",
            kind=failed.kind,
            reason=failed.reason,
            failures=failures,
            failing_since=since,
            retry_at=at + _back_off(failed, failures),
        )
        events: tuple[Event, ...] = ()
        if in_error and (before.health != "error" or before.kind != failed.kind):
            data = {"kind": failed.kind, "reason": failed.reason, "status": failed.status, "since": since}
            events = (Event(type="page.error", at=at, page_id=before.page_id, data=data),)
        record = PollRecord(
            poll_id=poll.charged.poll_id,
            page_id=before.page_id,
            finished_at=at,
            outcome="error",
            text_changed=False,
            status=failed.status,
            kind=failed.kind,
            bytes=failed.wire_bytes,
            requests=failed.requests,
            reason=failed.reason,
        )
        return Unit(
            at=at,
            epoch=poll.charged.epoch,
            poll=record,
            page=state,
            events=events,
            answered=poll.answered,
            hosts=poll.hosts,
        )

    # -- unchanged -----------------------------------------------------------------------------------------------------------------

    async def _unchanged(self, poll: Occasion, outcome: Unchanged | Fetched) -> Unit:
        at = poll.at
        state, events = _well(poll.page.state, at)
        state = _learn_validators(state, outcome, changed=False)
        record = PollRecord(
            poll_id=poll.charged.poll_id,
            page_id=state.page_id,
            finished_at=at,
            outcome="unchanged",
            text_changed=False,
            status=outcome.status,
            bytes=outcome.wire_bytes,
            requests=outcome.requests,
            reason=poll.charged.grant.reason,
        )
        unit = Unit(
            at=at,
            epoch=poll.charged.epoch,
            poll=record,
            page=state,
            events=events,
            answered=poll.answered,
            hosts=poll.hosts,
        )
        findings = await self._take(poll.page, at, attempts=poll.owed, eager=poll.eager)
        return self._with_findings(unit, poll.page, findings, at, settles=poll.owed)

    async def _take(
        self,
        page: WatchedPage,
        at: Instant,
        *,
        attempts: Mapping[int, int] | None = None,
        eager: frozenset[int] = frozenset(),
    ) -> Findings:
        """Let the subscriptions that are due take the newest stored version."""
        due = [s for s in page.subscriptions.values() if _takes(s, at, eager) or s.row.id in (attempts or {})]
        behind = tuple(
            s for s in due if page.state.last_seq and (not s.row.taken or s.row.taken[-1] != page.state.last_seq)
        )
        ticked = tuple(_ticked(s, at) for s in due if s.interval is not None and s not in behind)
        if not behind:
            return Findings(None, ticked, (), (), ())
        seqs = {page.state.last_seq} | {s.row.taken[-1] for s in behind if s.row.taken}
        stored = await self._stored(page.state.page_id, seqs)
        if page.state.last_seq in stored.lost:
            log.error("%s", stored.lost[page.state.last_seq])
            return Findings(None, ticked, (), (), ())
        newest = await self._store.read(versions.get, page.state.page_id, page.state.last_seq)
        look = Look(
            page=page,
            seq=page.state.last_seq,
            body=stored.bodies[page.state.last_seq],
            references={k: v for k, v in stored.bodies.items() if k != page.state.last_seq},
            known=stored.digests,
            takers=behind,
            at=at,
            modified_at=newest.modified_at if newest is not None else None,
            lost=stored.lost,
        )
        findings = await self._detector.examine(look, attempts=attempts)
        return replace(findings, cursors=(*ticked, *_tick_all(findings.cursors, page, at)), examination=None)

    # -- changed -------------------------------------------------------------------------------------------------------------------

    async def _changed(self, poll: Occasion, fetched: Fetched) -> None:
        page, at = poll.page, poll.at
        before, events = _well(page.state, at)
        takers = tuple(s for s in page.subscriptions.values() if _takes(s, at, poll.eager))
        stored = await self._stored(before.page_id, {s.row.taken[-1] for s in takers if s.row.taken})
        modified_at = _modified_at(fetched, before.checked_at, at)
        look = Look(
            page=page,
            seq=before.last_seq + 1,
            body=Body(data=fetched.body, content_type=fetched.content_type, url=fetched.final_url),
            references=stored.bodies,
            known=stored.digests,
            takers=takers,
            at=at,
            modified_at=modified_at,
            lost=stored.lost,
        )
        findings = await self._detector.examine(look, attempts=poll.owed)
        seen = findings.examination
        text_changed = seen is not None and seen.text_changed
        state = _with_version(
            before, fetched, seen, seq=look.seq, at=at, text_changed=text_changed, seed=self._instance.hash_seed
        )
        state = _learn_validators(state, fetched, changed=before.last_seq > 0)
        version = _version(look, fetched, seen, text_changed=text_changed)
        record = PollRecord(
            poll_id=poll.charged.poll_id,
            page_id=before.page_id,
            finished_at=at,
            outcome="new" if before.last_seq == 0 else "changed",
            text_changed=text_changed and before.last_seq > 0,
            status=fetched.status,
            bytes=fetched.wire_bytes,
            requests=fetched.requests,
            reason=findings.died or poll.charged.grant.reason,
        )
        if before.last_seq == 0 and seen is not None:
            events = (*events, _first_look(before.page_id, seen, at))
        unit = Unit(
            at=at,
            epoch=poll.charged.epoch,
            poll=record,
            page=state,
            version=version,
            digests=((look.seq, seen.digest),) if seen is not None and not seen.problem else (),
            events=events,
            answered=poll.answered,
            hosts=poll.hosts,
        )
        moved = {c.subscription_id for c in findings.cursors}
        idle = tuple(_ticked(s, at) for s in takers if s.interval is not None and s.row.id not in moved)
        findings = replace(findings, cursors=(*_tick_all(findings.cursors, page, at), *idle))
        await self._store_body(self._with_findings(unit, page, findings, at, settles=poll.owed), fetched.body)

    async def _store_body(self, unit: Unit, body: bytes) -> None:
        """Plan how the body is kept and commit it with the unit; nobody else replans these blobs meanwhile."""
        version = unit.version
        if version is None:
            message = "a body is stored with the version that it is of"
            raise ValueError(message)
        newest = await self._store.read(versions.get, version.page_id, version.seq - 1) if version.seq > 1 else None
        names = {version.sha256} | ({newest.sha256} if newest is not None else set())
        async with self._archive.hold(*names):
            plan = await self._store.read(self._plan, newest, body, version.sha256)
            if plan.files:
                await asyncio.to_thread(self._archive.write_files, plan)
            await self._commit(replace(unit, blobs=plan.blobs, garbage=plan.garbage))
            if plan.garbage:
                self._archive.remove(plan.garbage)
                await self._store.write(garbage.clear, plan.garbage)

    def _plan(self, connection: Connection, newest: Version | None, body: bytes, sha256: str) -> Plan:
        def row(sha: str) -> Blob | None:
            return versions.blob(connection, sha)

        return self._archive.plan(body, sha256, self._neighbour(row, newest), row(sha256))

    def _neighbour(self, row: Callable[[str], Blob | None], newest: Version | None) -> tuple[Blob, bytes] | None:
        """Return the newest body, to be kept as a delta from now on; None if it is damaged: a new body must be stored all the same."""
        held = row(newest.sha256) if newest is not None else None
        if held is None:
            return None
        try:
            return held, self._archive.restore(held.sha256, row)
        except BlobError as error:
            log.error("%s; the page goes on with a body that stands alone", error)  # noqa: TRY400 - told to people, who mend the disk
            return None

    async def _stored(self, page_id: int, seqs: set[int]) -> Stored:
        return await self._store.read(self._read_stored, page_id, seqs) if seqs else Stored({}, {}, {})

    def _read_stored(self, connection: Connection, page_id: int, seqs: set[int]) -> Stored:
        bodies: dict[int, Body] = {}
        lost: dict[int, str] = {}
        for seq in sorted(seqs):
            try:
                bodies[seq] = read_body(connection, self._archive, page_id, seq)
            except (BlobError, LookupError) as error:
                lost[seq] = str(error)
        return Stored(bodies, versions.digests(connection, page_id, seqs), lost)

    # -- all -----------------------------------------------------------------------------------------------------------------------

    def _with_findings(
        self,
        unit: Unit,
        page: WatchedPage,
        findings: Findings,
        at: Instant,
        *,
        settles: Mapping[int, int] | None = None,
    ) -> Unit:
        events = (*unit.events, *findings.events)
        moved = {c.subscription_id for c in findings.cursors}
        done = tuple(
            ComparisonRow(
                subscription_id=sub_id,
                page_id=page.state.page_id,
                from_seq=page.subscriptions[sub_id].row.taken[-1] if page.subscriptions[sub_id].row.taken else 0,
                to_seq=page.state.last_seq,
                revision=page.subscriptions[sub_id].row.revision,
                status="done",
            )
            for sub_id in settles or {}
            if sub_id in moved
            and sub_id in page.subscriptions
            and sub_id not in {c.subscription_id for c in findings.comparisons}
        )
        return replace(
            unit,
            cursors=(*unit.cursors, *findings.cursors),
            comparisons=(*unit.comparisons, *findings.comparisons, *done),
            changes=(*unit.changes, *findings.changes),
            events=events,
            deliveries=(*unit.deliveries, *self._teller.drafts(page, findings.changes, events, at=at)),
        )


def read_body(connection: Connection, archive: Archive, page_id: int, seq: int) -> Body:
    """Return a stored version as a job takes it."""
    version = versions.get(connection, page_id, seq)
    if version is None:
        message = f"version {seq} of page {page_id} is gone"
        raise LookupError(message)
    data = archive.restore(version.sha256, lambda sha: versions.blob(connection, sha))
    return Body(data=data, content_type=version.content_type or None, url=version.final_url, charset=version.charset)


def xxh3(body: bytes, seed: int) -> str:
    """Return gate 0's hash of a body, seeded per installation."""
    return xxhash.xxh3_128_hexdigest(body, seed)


def _same_body(body: bytes, state: PageState, seed: int) -> bool:
    return len(body) == state.body_size and state.last_seq > 0 and xxh3(body, seed) == state.body_xxh3


def _takes(sub: Subscription, at: Instant, eager: frozenset[int] = frozenset()) -> bool:
    """Say whether a look at `at` is one that `sub` takes: always on change or when its sentinel asked, else at its own tick."""
    if sub.row.sentinel_id in eager:
        return True
    if sub.interval is None or not sub.row.taken or sub.row.next_tick is None:
        return True
    return fixed(sub).is_satisfied(sub.row.next_tick, at)


def _ticked(sub: Subscription, at: Instant) -> CursorMove:
    """Return the cursor of a fixed interval whose tick was satisfied at `at` and that takes nothing."""
    return CursorMove(
        subscription_id=sub.row.id,
        revision=sub.row.revision,
        base=sub.row.base,
        taken=sub.row.taken,
        next_tick=_following(sub, at),
        ticked_at=at,
    )


def _following(sub: Subscription, at: Instant) -> Instant | None:
    if sub.interval is None:
        return None
    ticks = fixed(sub)
    return ticks.after_check(sub.row.next_tick if sub.row.next_tick is not None else ticks.first_tick(at), at)


def _tick_all(cursors: tuple[CursorMove, ...], page: WatchedPage, at: Instant) -> tuple[CursorMove, ...]:
    """Advance the tick of each fixed interval among cursors that took a version."""
    moved = []
    for cursor in cursors:
        sub = page.subscriptions[cursor.subscription_id]
        moved.append(cursor if sub.interval is None else replace(cursor, next_tick=_following(sub, at), ticked_at=at))
    return tuple(moved)


def _well(state: PageState, at: Instant) -> tuple[PageState, tuple[Event, ...]]:
    """Return the state after a good look, and the event if that ends an error."""
    events: tuple[Event, ...] = ()
    if state.health == "error":
        data = {"kind": state.kind, "since": state.failing_since}
        events = (Event(type="page.ok", at=at, page_id=state.page_id, data=data),)
    return (
        replace(
            state,
            polled_at=at,
            checked_at=at,
            polls=state.polls + 1,
            health="ok",
            kind="",
            reason="",
            failures=0,
            failing_since=None,
            retry_at=None,
        ),
        events,
    )


def _with_version(
    state: PageState,
    fetched: Fetched,
    seen: Examination | None,
    *,
    seq: int,
    at: Instant,
    text_changed: bool,
    seed: int,
) -> PageState:
    return replace(
        state,
        last_seq=seq,
        body_size=len(fetched.body),
        body_xxh3=xxh3(fetched.body, seed),
        text_digest=seen.digest.text if seen is not None else state.text_digest,
        charset=seen.charset if seen is not None else state.charset,
        title=seen.title if seen is not None else state.title,
        final_url=fetched.final_url,
        changed_at=at,
        text_changed_at=at if text_changed else state.text_changed_at,
        changes=state.changes + (seq > 1),
    )


def _version(look: Look, fetched: Fetched, seen: Examination | None, *, text_changed: bool) -> Version:
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
    )


def _first_look(page_id: int, seen: Examination, at: Instant) -> Event:
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
        "problem": seen.problem,
    }
    return Event(type="page.first", at=at, page_id=page_id, data=data)


AUDIT_FIRST, AUDIT_LAST = 5, 20


def _learn_validators(state: PageState, outcome: Unchanged | Fetched, *, changed: bool) -> PageState:
    """Count down to the next unconditional request: 1 in k, k from 5 to 20 while honest, k = 1 after a caught lie (contracts.md §11).

    A lie is a body that changed under validators that the server repeats.
    """
    if isinstance(outcome, Unchanged):
        return replace(state, unconditional_in=state.unconditional_in - 1)
    lied = changed and bool(outcome.validators) and outcome.validators == state.validators
    streak = 0 if lied else state.honest_streak + 1
    k = 0 if lied or not outcome.validators else min(AUDIT_LAST, AUDIT_FIRST + streak)
    return replace(state, validators=outcome.validators, honest_streak=streak, unconditional_in=k)


def _modified_at(fetched: Fetched, checked_at: Instant | None, now: Instant) -> Instant | None:
    """Return Last-Modified, clamped to [last check, now] (sentinels §5.2)."""
    try:
        said = parsedate_to_datetime(fetched.headers.get("last-modified", ""))
    except ValueError:
        return None
    claimed = round((said if said.tzinfo else said.replace(tzinfo=UTC)).timestamp()) * SECOND
    return min(max(claimed, checked_at or 0), now)


def _back_off(failed: Failed, failures: int) -> Duration:
    if failed.retry_after is not None:
        return failed.retry_after
    first = HOUR if failed.kind in {"robots", "address", "410", "404", "denied", "redirect"} else MINUTE
    doubled: Duration = first * 2 ** min(failures - 1, 16)
    return min(LONGEST_BACK_OFF, doubled)
