"""Poll: ask for a page, and turn the answer into one unit.

Four gates, cheap to dear: 304 or an equal body hash; the canonical text; the objects; the comparison (detection §2.3). A failed or
doubtful fetch makes no version, moves no cursor and is no observation for an estimator.
"""

from __future__ import annotations

import hashlib
from collections.abc import Awaitable, Callable, Collection, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from tidings.clock import MINUTE
from tidings.detection.job.contract import Body, Examination
from tidings.estimation.saturation import is_doubtful
from tidings.model.hub import Hub
from tidings.model.outcome import Failed, Fetched, FetchRequest, Outcome, Unchanged, Validators
from tidings.model.unit import Quarantined, Unit
from tidings.service.examine.detect import Look, digests_of
from tidings.service.examine.doubts import FIRST_POLLS, waiting
from tidings.service.examine.header_changes import watches_headers
from tidings.service.examine.poll_result import (
    Occasion,
    confirmed_after,
    first_look,
    modified_at,
    version_of,
    with_findings,
    with_first_words,
    with_ticks,
)
from tidings.service.examine.status_changes import with_states
from tidings.service.examine.stored_versions import same_body
from tidings.service.notify.activate import first_report
from tidings.service.poll import build_request, page_state
from tidings.service.poll.frames import followed
from tidings.service.poll.restless_pages import with_evidence
from tidings.service.sources import signals, websub
from tidings.service.watch import noise
from tidings.service.watch.cursors import is_doubtful as is_in_doubt
from tidings.service.watch.cursors import references, takes
from tidings.service.watch.page_schedule import first_open, promised_interval, robots_ignored
from tidings.storage.write import charge

if TYPE_CHECKING:
    from tidings.detection.noise.memory import Memory
    from tidings.model.interval import Duration, Instant
    from tidings.model.page import HostState
    from tidings.model.unit import Charged, Estimate
    from tidings.model.version import Version
    from tidings.service.examine.compare_stored import Taker
    from tidings.service.examine.detect import Detector, Findings
    from tidings.service.examine.silence import Silence
    from tidings.service.examine.stored_versions import Bodies
    from tidings.service.notify.deliver import Teller
    from tidings.service.poll.build_request import Asker
    from tidings.service.poll.framed import Framed
    from tidings.service.watch.watchlist import WatchedPage
    from tidings.storage.db.instance import Instance
    from tidings.storage.write.store import Store


class Poller:
    """Makes requests, and units of their outcomes; holds no state of its own.

    `commit` returns once a unit is durable; `timeout` is that of sentinels which give none, `floor` the least time between two looks.
    """

    def __init__(
        self,
        *,
        store: Store,
        bodies: Bodies,
        detector: Detector,
        taker: Taker,
        framed: Framed,
        teller: Teller,
        instance: Instance,
        asker: Asker,
        timeout: Duration,
        floor: Duration,
        silence: Silence,
        confirms: bool,
        commit: Callable[[Unit], Awaitable[object]],
    ) -> None:
        self._store = store
        self._bodies = bodies
        self._commit = commit
        self._detector = detector
        self._taker = taker
        self._framed = framed
        self._teller = teller
        self._instance = instance
        self._asker = asker
        self._timeout = timeout
        self._floor = floor
        self._silence = silence
        self._confirms = confirms

    async def request(
        self, page: WatchedPage, *, now: Instant, obey_robots: bool = True, ignoring_robots: bool = False
    ) -> FetchRequest | Failed:
        """Return the request for a page, or why there can be none: a secret is missing.

        It is conditional unless its validators are due for an audit, or a secret or what a sentinel compares is newer than the last one. Called when the request
        may leave, so that what is secret is in memory no longer than that. `ignoring_robots`: a page that it is a frame of says so.
        """
        state = page.state
        altered_at = max((sub.row.altered_at for sub in page.subscriptions.values()), default=0)
        is_doubted = state.health != "ok"  # what may be wrong is asked for whole
        knows_nothing = (
            is_doubted
            or page_state.is_audit(state, now)
            or altered_at > (state.audited_at or 0)
            or watches_headers(page)
        )
        occasion = build_request.Occasion(
            now=now,
            timeout=_timeout(page, self._timeout),
            validators=Validators() if knows_nothing else state.validators,
            audited_at=state.audited_at,
            final_url=state.final_url,
            obey_robots=obey_robots,
            robots_ignored=ignoring_robots or bool(robots_ignored(page)),
            screenshot=any(sub.owner.sentinel.asking.screenshot for sub in page.subscriptions.values()),
        )
        if not self._asker.needs_secrets(page.identity):
            return self._asker.plain(page.identity, occasion)
        return await self._store.read(self._asker.with_secrets, page.identity, occasion)

    def is_contradiction(self, page: WatchedPage, request: FetchRequest, outcome: Outcome) -> bool:
        """Return whether an answer cannot be believed: another body under the validators that were sent, or under none (RFC 9110 §13.1)."""
        if not isinstance(outcome, Fetched) or outcome.conditions != "answered":
            return False
        return not self.is_known(page, outcome) and _says_unchanged(request.validators, outcome.validators)

    def is_known(self, page: WatchedPage, outcome: Outcome) -> bool:
        """Return whether an answer brings the body of the newest version."""
        return isinstance(outcome, Fetched) and same_body(outcome.body, page.state, self._instance.hash_seed)

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
        ours: bool = False,
        follow: bool = True,
    ) -> None:
        """Write all that one outcome brings, in one unit, and return once it is durable.

        `answered` are the requests that the poll answers; the sentinels `eager` asked for it and take what it brings before their tick.
        `owed` counts, by subscription, the deaths of comparisons that are still owed on this page. `hosts` are states to be stored.
        `ours` says that a failure is our own network's: the page keeps its state. Without `follow` the page's frames are looked at
        the next time.
        """
        page = page.as_it_is()
        poll = Occasion(charged, page, at, answered, frozenset(eager), owed or {}, hosts)
        match outcome:
            case Failed():
                await self._commit(self._failed(poll, outcome, ours=ours))
            case Fetched() if not same_body(outcome.body, page.state, self._instance.hash_seed):
                await self._changed(poll, outcome, follow=follow)
            case Unchanged() | Fetched() if page.is_framed:
                await self._framed.settle(poll, outcome, follow=follow)
            case Unchanged() | Fetched():
                await self._commit(await self._unchanged(poll, outcome))

    async def serve(self, page: WatchedPage, *, at: Instant, epoch: int, owed: Mapping[int, int]) -> None:
        """Let subscriptions take the newest stored version without a poll: a tick that a late look serves, a comparison that is owed."""
        page = page.as_it_is()
        findings = await self._taker.take(page, at, owed=owed, looked_at=page.state.checked_at)
        memory = findings.examination.memory if findings.examination is not None else None
        findings, memory = await self._silence.review(page, findings, memory, at)
        unit = Unit(
            at=at, epoch=epoch, page=page.state, estimates=noise.estimates_of(memory, page.state.page_id, at=at)
        )
        unit = with_findings(unit, page, findings, at, teller=self._teller, settles=owed)
        await self._commit(await self._noted(unit, page, findings))

    # -- failed ------------------------------------------------------------------------------------------------------------------

    def _failed(self, poll: Occasion, failed: Failed, *, ours: bool) -> Unit:
        if ours:
            record = poll.record("error", failed, reason=f"our own network: {failed.reason}", kind=failed.kind)
            return poll.unit(record, page_state.frozen(poll.page.state, poll.at), ())
        if failed.kind == "disk":
            record = poll.record("error", failed, reason=failed.reason, kind=failed.kind)
            return poll.unit(record, page_state.unkept(poll.page.state, failed, poll.at), ())
        state, events = page_state.after_failure(
            poll.page.state, failed, poll.at, interval=promised_interval(poll.page)
        )
        record = poll.record("error", failed, reason=failed.reason, kind=failed.kind)
        return self._told(poll.unit(record, state, events), poll)

    def _told(self, unit: Unit, poll: Occasion) -> Unit:
        """Add what is told of the unit's events, where no findings come with them."""
        unit = with_states(unit, poll.page, self._instance)
        return replace(
            unit,
            sentinels=first_report(unit.changes, poll.page.subscriptions, poll.at),
            deliveries=self._teller.drafts(poll.page, unit.changes, unit.events, at=poll.at),
        )

    # -- unchanged -----------------------------------------------------------------------------------------------------------------

    async def _unchanged(self, poll: Occasion, outcome: Unchanged | Fetched) -> Unit:
        state, events = page_state.after_look(poll.page.state, poll.at, moved=outcome.moved, floor=self._floor)
        state = page_state.learn_validators(state, outcome, changed=False, at=poll.at)
        state = page_state.learn_freshness(poll.page.state, state, outcome, changed=False, at=poll.at)
        unit = poll.unit(poll.record("unchanged", outcome, reason=poll.charged.grant.reason), state, events)
        reason = poll.charged.grant.reason
        is_second = noise.is_second(reason, poll.eager)
        memory = None
        if is_second or await self._silence.settles(poll.page):
            known = await self._store.read(noise.read, poll.page.state.page_id)
            memory = noise.rested(known, poll.page.state, poll.at, reason=reason)
        if is_second and not any(is_in_doubt(s, poll.at) for s in poll.page.subscriptions.values()):
            return self._told(replace(unit, estimates=self._learned(poll.page, memory, poll.at)), poll)
        findings = await self._taker.take(poll.page, poll.at, owed=poll.owed, eager=poll.eager, doubtful=is_second)
        if findings.examination is not None and memory is None:
            memory = findings.examination.memory
        findings, memory = await self._silence.review(poll.page, findings, memory, poll.at)
        unit = replace(unit, estimates=self._learned(poll.page, memory, poll.at))
        unit = with_findings(
            unit,
            poll.page,
            findings,
            poll.at,
            teller=self._teller,
            settles=poll.owed,
            answer=outcome,
            eager=poll.eager,
        )
        return unit if findings.examination is None else await self._noted(unit, poll.page, findings)

    def _learned(self, page: WatchedPage, memory: Memory | None, at: Instant) -> tuple[Estimate, ...]:
        if memory is not None:
            self._silence.expect(page.state.page_id, memory)
        return noise.estimates_of(memory, page.state.page_id, at=at)

    async def _noted(self, unit: Unit, page: WatchedPage, findings: Findings) -> Unit:
        return await self._framed.note(unit, page, findings.examination)

    # -- changed -------------------------------------------------------------------------------------------------------------------

    async def _changed(self, poll: Occasion, fetched: Fetched, *, follow: bool) -> None:
        page, at, before = poll.page, poll.at, poll.page.state
        is_second = noise.is_second(poll.charged.grant.reason, poll.eager)
        takers = tuple(
            s for s in page.subscriptions.values() if (is_in_doubt(s, at) if is_second else takes(s, at, poll.eager))
        )
        stored = await self._bodies.context(
            before.page_id,
            references(takers) | ({before.last_seq} if before.last_seq else set()),
            is_framed=page.is_framed,
            learns=True,
        )
        look = Look(
            page=page,
            seq=before.last_seq + 1,
            body=Body(data=fetched.body, content_type=fetched.content_type, url=fetched.final_url),
            references=stored.bodies,
            known=stored.digests,
            known_parts=stored.digests_of_parts,
            takers=takers if not stored.parts else (),  # with its frames the page is compared when they are there
            at=at,
            modified_at=modified_at(fetched, before.checked_at, at),
            lost=stored.lost,
            status=fetched.status,
            is_unframed=fetched.framing == "unframed",
            usual_words=stored.usual_words if before.last_seq else None,
            noise=noise.of_look(
                stored.noise, page, stored.times, at, before.last_seq + 1, reason=poll.charged.grant.reason
            ),
        )
        findings = await self._detector.examine(look, attempts=poll.owed)
        seen = findings.examination
        if seen is not None and seen.suspicion and not page_state.is_believed(before, seen.suspicion, at):
            await self._withhold(poll, fetched, seen)
            return
        named = followed(page.identity, fetched.final_url, seen.frames) if seen and page.subscriptions else []
        if named or stored.parts:
            known = None if seen is None or seen.problem else named
            await self._framed.settle(poll, fetched, body=fetched, holder=seen, named=known, follow=follow)
        else:
            if seen is not None and seen.second_look and await self._may_confirm(poll, stored.noise.memory):
                findings = waiting(findings, look, poll.eager)
            await self._new_version(poll, fetched, look, findings, newest=stored.newest)

    async def _may_confirm(self, poll: Occasion, known: Memory) -> bool:
        """Return whether a change waits for a second poll: the page's noise is hardly known, and it can be polled, and paid for, within two minutes."""
        page, after = poll.page, poll.at + confirmed_after(poll.page)
        is_new = page.state.polls - known.seconds <= FIRST_POLLS or known.suspects
        if not (self._confirms and is_new and self._floor <= MINUTE and first_open(page, after) == after):
            return False
        return await self._store.read(charge.pays, poll.charged.grant, at=after)

    async def _withhold(self, poll: Occasion, fetched: Fetched, seen: Examination) -> None:
        """Quarantine a body: no version, no cursor moves, no estimator hears of it; the first two bodies are kept."""
        before, sha256 = poll.page.state, hashlib.sha256(fetched.body).hexdigest()
        state, events = page_state.after_suspicion(before, seen.suspicion, seen.why, sha256=sha256, at=poll.at)
        record = poll.record("quarantined", fetched, reason=seen.why, kind=seen.suspicion)
        unit = self._told(poll.unit(record, state, events), poll)
        if before.health == "error" and before.kind == seen.suspicion:
            await self._commit(unit)
            return
        row = Quarantined(page_id=state.page_id, at=poll.at, kind=seen.suspicion, sha256=sha256, reason=seen.why)
        await self._bodies.commit_apart(replace(unit, quarantined=(row,)), fetched.body, self._commit)

    async def _new_version(
        self, poll: Occasion, fetched: Fetched, look: Look, findings: Findings, *, newest: Version | None
    ) -> None:
        page, at = poll.page, poll.at
        is_first = page_state.knows_no_body(page.state)
        seen = findings.examination
        text_changed = seen is not None and seen.text_changed
        differs = text_changed and not is_first
        before, events = page_state.after_look(page.state, at, moved=fetched.moved, differs=differs, floor=self._floor)
        events = await with_evidence(events, self._store, before.page_id, seen.memory if seen is not None else None)
        memory = seen.memory if seen is not None else None
        findings, memory = await self._silence.review(page, findings, memory, at)
        has_second = seen is not None and (seen.second_look or is_doubtful(before.saturation))
        seed = self._instance.hash_seed
        state = page_state.with_version(
            before, fetched, seen, seq=look.seq, at=at, text_changed=text_changed, seed=seed
        )
        state = page_state.learn_validators(state, fetched, changed=before.last_seq > 0, at=at)
        state = page_state.learn_freshness(
            page.state, state, fetched, changed=before.last_seq > 0, at=at, modified_at=look.modified_at
        )
        record = poll.record(
            "new" if is_first else "changed",
            fetched,
            reason=findings.died or poll.charged.grant.reason,
            text_changed=differs,
        )
        if is_first and seen is not None:
            events = (*with_first_words(events, seen), first_look(before.page_id, seen, at))
        unit = replace(
            poll.unit(record, state, events),
            version=version_of(look, fetched, seen, text_changed=text_changed),
            digests=digests_of(look, seen),
            estimates=(
                *noise.estimates_of(memory, before.page_id, at=at, has_second=has_second),
                *websub.estimates_of(before.page_id, fetched, seen.hub if seen is not None else Hub(), at),
                *signals.estimates_of(before.page_id, seen, at),
            ),
        )
        unit = with_findings(
            unit,
            page,
            with_ticks(findings, look),
            at,
            teller=self._teller,
            settles=poll.owed,
            answer=fetched,
            eager=poll.eager,
        )
        await self._bodies.commit_version(unit, fetched.body, self._commit, newest=newest, picture=fetched.screenshot)


def _says_unchanged(sent: Validators, got: Validators) -> bool:
    """Return whether the validators of a whole answer are those that were sent, or are none; an ETag counts before a date."""
    if sent.etag and got.etag:
        return sent.etag.removeprefix("W/") == got.etag.removeprefix("W/")
    return not got or (sent.last_modified is not None and sent.last_modified == got.last_modified)


def _timeout(page: WatchedPage, usual: Duration) -> Duration | None:
    """Return the longest time that a subscription gives the page, None if none says anything else than the setting."""
    asked = [sub.owner.sentinel.asking.timeout for sub in page.subscriptions.values()]
    return max((usual if t is None else t for t in asked), default=None) if any(t is not None for t in asked) else None
