"""Poll: fetch a page, examine the answer, and write the results in one unit.

All pages follow one flow: the result is judged, the content examined, the findings become a unit.
For a page with frames the frames are polled first, then one job compares them all. Four gates, from
cheap to expensive: 304 or an equal body hash; canonical text; objects; comparison (detection §2.3).
A failed or doubtful fetch makes no version, moves no cursor and is not an observation for an
estimator.
"""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import logging
from collections.abc import Awaitable, Callable, Collection, Mapping
from typing import TYPE_CHECKING

from tidings.clock import MINUTE
from tidings.detection.noise.memory import Memory
from tidings.errors import BlobError, OvertakenError
from tidings.model.observed.outcome import Failed, Fetched, FetchRequest, Unchanged, Validators
from tidings.model.observed.poll_reason import Why
from tidings.model.observed.unit import FrameRow, Unit
from tidings.model.observed.version import Member, NewBody
from tidings.record import dataclass, replace
from tidings.service.examine import findings, page_state, stored_versions, to_compare
from tidings.service.examine.answer_changes import watches_headers
from tidings.service.examine.detect import Compared
from tidings.service.examine.doubts import FIRST_POLLS, find_waiting, hold_back, waiting
from tidings.service.examine.framed_page import FramedPage, list_followed
from tidings.service.examine.judge import Turn, judge
from tidings.service.examine.silence import evidence
from tidings.service.plan.next_poll import get_confirmation_wait
from tidings.service.poll import build_request
from tidings.service.poll.unit import may_report_once, unit_of
from tidings.service.watch import noise
from tidings.service.watch.cursors import (
    is_doubtful,
    is_tick,
    pass_tick,
    references,
    takers_of,
    takers_of_stored,
    tick_all,
)
from tidings.service.watch.page_schedule import first_open, robots_ignored
from tidings.service.watch.watchlist import Subscription
from tidings.storage.observed import members, versions
from tidings.storage.write import charge

if TYPE_CHECKING:
    from tidings.detection.job.contract import Examination
    from tidings.model.interval import Duration, Instant
    from tidings.model.observed.page import PageIdentity
    from tidings.service.examine.detect import Detector
    from tidings.service.examine.findings import Findings
    from tidings.service.examine.judge import PollResult
    from tidings.service.examine.silence import Silence
    from tidings.service.examine.stored_versions import Bodies, Stored
    from tidings.service.examine.to_compare import PolledVersion
    from tidings.service.poll.build_request import RequestBuilder
    from tidings.service.poll.frames import Ask, Frames
    from tidings.service.poll.unit import UnitWriter
    from tidings.service.watch.watchlist import WatchedPage, WatchedSentinel
    from tidings.storage.db.instance import DatabaseInstance
    from tidings.storage.write.store import Store

log = logging.getLogger("tidings.service.poll.poller")


@dataclass(frozen=True, slots=True)
class PolledPage:
    """New content of a page: the polled version, what its subscriptions found, and what is stored
    of the page.

    `named` are the frames that a new body names, None if unknown; `frames` the page with them, once
    they were polled.
    """

    polled: PolledVersion
    compared: Compared
    stored: Stored
    named: list[PageIdentity] | None = None
    frames: FramedPage | None = None

    @property
    def seen(self) -> Examination | None:
        """Return the job's result, None if it died."""
        return self.compared.examination


class Poller:
    """Builds requests, and units from their outcomes; stateless.

    `timeout` is the default of sentinels, `floor` the shortest time between two polls.
    """

    def __init__(
        self,
        *,
        store: Store,
        bodies: Bodies,
        keeper: UnitWriter,
        detector: Detector,
        frames: Frames,
        instance: DatabaseInstance,
        asker: RequestBuilder,
        timeout: Duration,
        floor: Duration,
        silence: Silence,
        recall: Callable[[int], Awaitable[WatchedSentinel]],
        confirms: bool,
    ) -> None:
        self._store = store
        self._bodies = bodies
        self._keeper = keeper
        self._detector = detector
        self._frames = frames
        self._instance = instance
        self._asker = asker
        self._timeout = timeout
        self._floor = floor
        self._silence = silence
        self._recall = recall
        self._confirms = confirms
        self._once = asyncio.Lock()

    async def request(self, page: WatchedPage, *, now: Instant, ignoring_robots: bool = False) -> FetchRequest | Failed:
        """Return the request for a page, or why there is none: a missing secret.

        It is conditional unless its validators are due for an audit, or a secret or a comparison is
        newer than the last one. Call it when the request may leave, so that secrets stay in memory
        no longer than needed.

        Args:
            page: The page.
            now: The present (µs).
            ignoring_robots: Whether a page that embeds it as a frame ignores robots.txt.
        """
        state = page.state
        altered_at = max((sub.row.altered_at for sub in page.subscriptions.values()), default=0)
        is_doubted = state.health != "ok"  # unconditional when in doubt
        knows_nothing = (
            is_doubted
            or page_state.is_audit(state, now)
            or altered_at > (state.audited_at or 0)
            or watches_headers(page)
        )
        means = build_request.Occasion(
            now=now,
            timeout=_timeout(page, self._timeout),
            validators=Validators() if knows_nothing else state.validators,
            audited_at=state.audited_at,
            final_url=state.final_url,
            robots_ignored=ignoring_robots or bool(robots_ignored(page)),
            screenshot=any(sub.owner.sentinel.asking.screenshot for sub in page.subscriptions.values()),
        )
        if not self._asker.needs_secrets(page.identity):
            return self._asker.plain(page.identity, means)
        return await self._store.read(self._asker.with_secrets, page.identity, means)

    async def settle(self, result: PollResult, ask: Ask | None = None) -> None:
        """Write all results of one outcome in one unit, and return once it is durable.

        `ask` polls the frames of a page; without it they are polled the next time.
        """
        await self._store_findings(await self._examine(replace(result, page=result.page.as_it_is()), ask))

    async def serve(self, page: WatchedPage, *, at: Instant, epoch: int, owed: Mapping[int, int]) -> None:
        """Compare subscriptions with the newest stored version, without a poll: for a tick that a
        recent poll serves, or an owed comparison.

        Args:
            page: The page.
            at: The present (µs).
            epoch: The epoch of the lease.
            owed: Pending comparisons, with their attempt.
        """
        turn = Turn(page=page.as_it_is(), at=at, epoch=epoch, owed=owed)
        compared = await self._take_stored(turn, polled_at=page.state.checked_at)
        frames = await self._frames_named(turn, compared)
        await self._store_findings(findings.of_stored(turn, compared, frames=frames))

    async def _store_findings(self, found: Findings) -> None:
        """Write the unit of a turn. What is reported only once is decided by one turn after the
        other, each from what is stored, and anew if another process was first.
        """
        async with self._once if may_report_once(found) else contextlib.nullcontext():
            while True:
                unit = unit_of(await self._silence.review(found))
                try:
                    await self._keeper.keep(unit)
                except OvertakenError:  # who is notified of what is decided by what is stored at the commit
                    owners = {id_ for id_, _ in unit.texts} | {step.sentinel_id for step in unit.sentinels}
                    page = await self._read_owners(found.turn.page, owners)
                    found = replace(found, turn=replace(found.turn, page=page))
                else:
                    return

    async def _read_owners(self, page: WatchedPage, sentinel_ids: Collection[int]) -> WatchedPage:
        """Return a page with the newest texts and states of some of its sentinels."""
        owners = {sentinel_id: await self._recall(sentinel_id) for sentinel_id in sentinel_ids}
        altered = {
            key: Subscription(sub.row, owners[sub.row.sentinel_id])
            for key, sub in page.subscriptions.items()
            if sub.row.sentinel_id in owners and owners[sub.row.sentinel_id].row != sub.owner.row
        }
        return replace(page, subscriptions=page.subscriptions | altered)

    async def _examine(self, result: PollResult, ask: Ask | None) -> Findings:
        answer = result.outcome
        if isinstance(answer, Failed):
            return findings.of_failure(result, answer, self._instance)
        shown: PolledPage | None = None
        if result.page.state.lacks_body and isinstance(answer, Fetched):
            result = await self._put_back(result, answer)
        if (body := judge(result.page.state, answer, self._instance.hash_seed)) is not None:
            shown = await self._examine_body(result, body)
            if (suspect := findings.of_suspicion(result, body, shown.seen, self._instance)) is not None:
                return suspect
        if result.page.is_framed if shown is None else shown.named or shown.stored.parts:
            frames, stored, result = await self._poll_frames(result, answer, shown, ask)
            if stored.newest is not None and stored.newest.sha256 == frames.sha256:
                return await self._find_unchanged(result, answer, frames)
            shown = await self._examine_frames(result, frames, stored)
        if shown is None:
            return await self._find_unchanged(result, answer, None)
        return await self._find_changed(result, answer, shown)

    async def _put_back(self, result: PollResult, fetched: Fetched) -> PollResult:
        """Return the result of a poll of a page whose newest body was lost. If it has fetched that
        very body, this is stored again, and nothing has changed.
        """
        page, sha256 = result.page, hashlib.sha256(fetched.body).hexdigest()
        if await self._store.read(members.body_sha256, page.state.page_id, page.state.last_seq) != sha256:
            return result
        bodies = (NewBody(fetched.body, sha256),)
        await self._keeper.keep(Unit(at=result.at, epoch=result.epoch, bodies=bodies))
        state = page_state.put_body_back(page.state, fetched.body, self._instance.hash_seed)
        return replace(result, page=replace(page, state=state))

    async def _examine_body(self, result: PollResult, fetched: Fetched) -> PolledPage:
        """Examine a new body; a page with frames is compared once its frames are polled."""
        page, last = result.page, result.page.state.last_seq
        takers = takers_of(page, result.at, result.eager, doubtful=_is_second(result))
        stored = await self._load_stored(result, references(takers) | ({last} if last else set()), learns=True)
        body = to_compare.of_body(result, fetched, stored, takers)
        compared = await self._detect(body, result)
        seen = compared.examination
        if seen is None or seen.problem:
            return PolledPage(body, compared, stored)
        named = list_followed(page.identity, fetched.final_url, seen.frames) if page.subscriptions else []
        return PolledPage(body, compared, stored, named)

    async def _poll_frames(
        self, result: PollResult, answer: Unchanged | Fetched, shown: PolledPage | None, ask: Ask | None
    ) -> tuple[FramedPage, Stored, PollResult]:
        """Poll the frames of a polled page. Return the page with its frames, what is stored of it,
        and its result as of then.
        """
        page_id = result.page.state.page_id
        known = await self._store.read(members.frames, page_id)
        if shown is not None and shown.named is not None:
            ids = await self._store.write(members.ensure, shown.named)
        else:
            ids = [frame.state.page_id for frame in known]
        if ask is not None:
            seen = await self._frames.poll(
                page_id,
                ids,
                ask,
                since=result.charged.at,
                is_asked=result.why is Why.ASKED,
                ignoring=robots_ignored(result.page),
            )
            result = replace(result, at=self._frames.now())
        else:
            seen = await self._frames.load(ids)
        last = result.page.state.last_seq
        stored = await self._load_stored(
            result,
            references(takers_of(result.page, result.at, result.eager)) | ({last} if last else set()),
            is_framed=True,
        )
        body = answer if shown is not None and isinstance(answer, Fetched) else None
        own = hashlib.sha256(body.body).hexdigest() if body is not None else stored.holder
        if not own:
            message = "a page without a body cannot be unchanged"
            raise ValueError(message)
        made_of = (Member(result.page.identity.key, own), *(f.member for f in seen if f.member is not None))
        reported = frozenset(frame.state.page_id for frame in known if frame.is_reported)
        holder = shown.seen if shown is not None else None
        return FramedPage(answer, body, holder, seen, ask is not None, reported, made_of), stored, result

    async def _examine_frames(self, result: PollResult, frames: FramedPage, stored: Stored) -> PolledPage:
        """Examine a page that is new itself or has a new frame."""
        try:
            parts = await self._bodies.frames(frames.made_of[1:])
        except BlobError:
            await self._frames.forget_lost(result.page.state.page_id, self._bodies.can_read)
            raise
        whole = to_compare.of_frames(result, frames, stored, parts, takers_of(result.page, result.at, result.eager))
        compared = await self._detect(whole, result)
        return PolledPage(whole, compared, stored, frames=frames)

    async def _detect(self, seen: PolledVersion, turn: Turn) -> Compared:
        """Return what subscriptions find, without changes that must persist before they are
        reported.
        """
        if stored_versions.asks_extremes(seen.takers):
            known = await self._store.read(stored_versions.read_extremes, seen.takers, seen.seq, seen.at)
            seen = replace(seen, extremes=known)
        return hold_back(await self._detector.examine(seen, attempts=turn.owed), seen)

    async def _load_stored(
        self, result: PollResult, seqs: set[int], *, is_framed: bool = False, learns: bool = False
    ) -> Stored:
        page = result.page
        return await self._bodies.context(
            page.state.page_id, seqs, is_framed=is_framed or page.is_framed, learns=learns
        )

    async def _find_changed(self, result: PollResult, answer: Unchanged | Fetched, shown: PolledPage) -> Findings:
        compared, seen = shown.compared, shown.seen
        is_doubted = shown.frames is None and seen is not None and seen.second_poll
        if (
            is_doubted
            and find_waiting(compared, shown.polled, result.eager)
            and await self._may_confirm(result, shown.stored.noise.memory)
        ):
            compared = waiting(compared, shown.polled, result.eager)
        found = findings.of_version(
            result,
            answer,
            shown.polled,
            compared,
            shown.stored,
            frames=shown.frames,
            instance=self._instance,
            floor=self._floor,
        )
        return await self._with_evidence(found, seen.memory if seen is not None else None)

    async def _find_unchanged(
        self, result: PollResult, answer: Unchanged | Fetched, frames: FramedPage | None
    ) -> Findings:
        page, at = result.page, result.at
        is_second = frames is None and _is_second(result)
        memory = None
        if is_second or (frames is None and await self._silence.settles(page)):
            known = await self._store.read(noise.read, page.state.page_id)
            memory = noise.rest(known, page.state, at, why=result.why)
        compared: Compared | None = None
        named: tuple[FrameRow, ...] | None = None
        if not is_second or any(is_doubtful(s, at) for s in page.subscriptions.values()):
            compared = await self._take_stored(result, doubtful=is_second)
            named = await self._frames_named(result, compared) if frames is None else None
        found = findings.of_no_change(
            result, answer, compared, frames=frames, memory=memory, instance=self._instance, floor=self._floor
        )
        return found if named is None else replace(found, frames=named)

    async def _take_stored(self, turn: Turn, *, polled_at: Instant | None = None, doubtful: bool = False) -> Compared:
        """Compare the subscriptions that are due with the newest stored version. Its content was
        reported when it came, except for its frames.

        `polled_at` is the time of the poll, if not now. `doubtful`: only subscriptions in doubt.
        """
        page, at, newest = turn.page, turn.at, turn.page.state.last_seq
        served_at = at if polled_at is None else polled_at  # a tick after the poll waits for the next one
        behind, others = takers_of_stored(page, at, turn.eager, turn.owed, polled_at=polled_at, doubtful=doubtful)
        idle = Compared(cursors=tuple(pass_tick(sub, served_at) for sub in others))
        if not behind:
            return idle
        seqs = {newest, *references(behind)}
        stored = await self._bodies.load(page.state.page_id, seqs, is_framed=page.is_framed)
        if (why := stored.lost.get(newest)) is not None:
            log.error("%s", why)
            if page.is_framed:
                await self._frames.forget_lost(page.state.page_id, self._bodies.can_read)
            lost = self._detector.lose(behind, newest, why, at=at)
            return replace(lost, cursors=idle.cursors)
        version = await self._store.read(versions.get, page.state.page_id, newest)
        taken = await self._detect(to_compare.of_stored(turn, stored, version, behind), turn)
        return replace(taken, cursors=(*idle.cursors, *tick_all(taken.cursors, page, served_at)))

    async def _may_confirm(self, result: PollResult, known: Memory) -> bool:
        """Return whether a change waits for a second poll: the page's noise is hardly known, and a
        second poll is possible and affordable within two minutes.
        """
        page, after = result.page, result.at + get_confirmation_wait(result.page)
        is_new = page.state.polls - known.seconds <= FIRST_POLLS or known.suspects
        if not (self._confirms and is_new and self._floor <= MINUTE and first_open(page, after) == after):
            return False
        return await self._store.read(charge.pays, result.charged.grant, at=after)

    async def _frames_named(self, turn: Turn, compared: Compared) -> tuple[FrameRow, ...] | None:
        """Return newly discovered frames of a page, from the stored version that was read; None if
        it has none.
        """
        page, seen = turn.page, compared.examination
        if seen is None or not seen.frames or page.is_framed or not page.subscriptions:
            return None
        named = list_followed(page.identity, page.state.final_url or page.identity.url, seen.frames)
        ids = await self._store.write(members.ensure, named)
        return tuple(map(FrameRow, ids)) if ids else None

    async def _with_evidence(self, found: Findings, memory: Memory | None) -> Findings:
        """Return findings whose event of a page that differs at each poll includes what differs."""
        if all(event.type != page_state.SATURATED for event in found.events):
            return found
        states = await self._store.read(evidence, found.state.page_id, memory)
        events = tuple(
            replace(e, data={**e.data, **states}) if e.type == page_state.SATURATED else e for e in found.events
        )
        return replace(found, events=events)


def _timeout(page: WatchedPage, usual: Duration) -> Duration | None:
    """Return the longest timeout that a subscription sets for the page, None if none differs from
    the setting.
    """
    asked = [sub.owner.sentinel.asking.timeout for sub in page.subscriptions.values()]
    return max((usual if t is None else t for t in asked), default=None) if any(t is not None for t in asked) else None


def _is_second(result: PollResult) -> bool:
    """Return whether a poll was made only to separate noise from changes."""
    return noise.is_second(result.why, result.eager, is_tick=is_tick(result.page, result.at))
