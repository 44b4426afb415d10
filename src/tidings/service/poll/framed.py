"""Framed: pages that are made of several (sentinels §5.4).

A version of such a page is the list of its members, the page that holds the frames and each frame's newest good version, and changes when
any member does. Base and frames are looked at first, then one job compares them all. A frame that fails, or shows a wall, keeps its
last good version: the page is then *partial*, which its polls say at once, and people are told once the frame counts as in error.
"""

from __future__ import annotations

import hashlib
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from tidings.detection.job.contract import Body, Part
from tidings.model.outcome import Fetched
from tidings.model.unit import Event, FrameRow
from tidings.model.version import Member, member_list
from tidings.service.examine.detect import Look, digests_of
from tidings.service.examine.poll_result import (
    first_look,
    modified_at,
    picture_name,
    version_of,
    with_findings,
    with_first_words,
    with_ticks,
)
from tidings.service.examine.stored_versions import xxh3
from tidings.service.poll import page_state
from tidings.service.poll.frames import followed
from tidings.service.poll.restless_pages import with_evidence
from tidings.service.show.records import PARTIAL
from tidings.service.watch.cursors import references, takes
from tidings.service.watch.noise import of_stored
from tidings.service.watch.page_schedule import robots_ignored
from tidings.storage.observed import members

if TYPE_CHECKING:
    from tidings.detection.job.contract import Examination
    from tidings.model.interval import Instant
    from tidings.model.outcome import Unchanged
    from tidings.model.page import PageIdentity, PageState
    from tidings.model.unit import Unit
    from tidings.model.version import Version
    from tidings.service.examine.compare_stored import Taker
    from tidings.service.examine.detect import Detector
    from tidings.service.examine.poll_result import Occasion
    from tidings.service.examine.stored_versions import Bodies, Stored
    from tidings.service.notify.deliver import Teller
    from tidings.service.poll.frames import Frames, Seen
    from tidings.service.watch.watchlist import WatchedPage
    from tidings.storage.db.instance import Instance
    from tidings.storage.write.store import Store


@dataclass(frozen=True, slots=True)
class Gathered:
    """A page and its frames after a look: the answer of the page that holds them, whether its body is new and what it says, the
    frames, whether they were looked at, which of them people knew to fail, and what the page is made of now.
    """

    answer: Unchanged | Fetched
    body: Fetched | None
    holder: Examination | None
    seen: Sequence[Seen]
    is_followed: bool
    told: frozenset[int]
    made_of: tuple[Member, ...]

    @property
    def frames(self) -> int:
        """Return how many frames are part of the page."""
        return len(self.made_of) - 1

    @property
    def picture(self) -> bytes:
        """Return the picture of the page, if one was taken."""
        return self.answer.screenshot if isinstance(self.answer, Fetched) else b""

    @property
    def sha256(self) -> str:
        """Return what the version is named after: the list of members, or the body of a page without any frame as yet."""
        return hashlib.sha256(member_list(self.made_of)).hexdigest() if self.frames else self.made_of[0].sha256

    @property
    def partial(self) -> str:
        """Return which frames may show something else than what is there now, and why; empty if none does."""
        if not self.is_followed:
            return ""
        failing = [f"{seen.identity.url} ({why})" for seen in self.seen if (why := seen.failing)]
        return f"partial, {len(failing)} of {len(self.seen)} frames: {'; '.join(failing)}" if failing else ""

    def rows(self) -> tuple[FrameRow, ...]:
        """Return the frames with what people know of each: that it fails, from its error on until all is well with it."""
        return tuple(
            FrameRow(
                seen.state.page_id,
                told=seen.state.health == "error" or (seen.state.page_id in self.told and seen.state.health != "ok"),
            )
            for seen in self.seen
        )


class Framed:
    """Turns the answers of a page and its frames into one unit. `commit` returns once a unit is durable."""

    def __init__(
        self,
        *,
        store: Store,
        bodies: Bodies,
        detector: Detector,
        taker: Taker,
        teller: Teller,
        frames: Frames,
        instance: Instance,
        commit: Callable[[Unit], Awaitable[object]],
    ) -> None:
        self._store = store
        self._bodies = bodies
        self._detector = detector
        self._taker = taker
        self._teller = teller
        self._frames = frames
        self._instance = instance
        self._commit = commit

    async def settle(
        self,
        poll: Occasion,
        answer: Unchanged | Fetched,
        *,
        body: Fetched | None = None,
        holder: Examination | None = None,
        named: Sequence[PageIdentity] | None = None,
        follow: bool = True,
    ) -> None:
        """Look at the frames of a page that was asked for, and write all that comes of it in one unit.

        `body` is the page's body if it is a new one, `holder` what a job said of it, `named` the frames that it names (None: those
        that are known). Without `follow` the frames are noted and looked at the next time.
        """
        page_id = poll.page.state.page_id
        known = await self._store.read(members.frames, page_id)
        ids = [frame.state.page_id for frame in known]
        if named is not None:
            ids = await self._store.write(members.ensure, named)
        if follow:
            seen = await self._frames.look(
                page_id,
                ids,
                since=poll.charged.at,
                is_asked=poll.charged.grant.reason.startswith("asked for"),
                ignoring=robots_ignored(poll.page),
            )
            poll = replace(poll, at=self._frames.now())
        else:
            seen = await self._frames.stored(ids)
        takers = tuple(s for s in poll.page.subscriptions.values() if takes(s, poll.at, poll.eager))
        last = poll.page.state.last_seq
        stored = await self._bodies.context(page_id, references(takers) | ({last} if last else set()), is_framed=True)
        own = hashlib.sha256(body.body).hexdigest() if body is not None else await self._own(stored.newest)
        made_of = (Member(poll.page.identity.key, own), *(s.member for s in seen if s.member is not None))
        told = frozenset(frame.state.page_id for frame in known if frame.told)
        gathered = Gathered(answer, body, holder, seen, follow, told, made_of)
        if stored.newest is not None and stored.newest.sha256 == gathered.sha256:
            await self._unchanged(poll, gathered)
        else:
            await self._new_version(poll, gathered, stored)

    async def note(self, unit: Unit, page: WatchedPage, seen: Examination | None) -> Unit:
        """Add to a unit the frames of a page that nobody knew to have any: a stored version was read that names them."""
        if seen is None or not seen.frames or page.is_framed or not page.subscriptions:
            return unit
        named = followed(page.identity, page.state.final_url or page.identity.url, seen.frames)
        ids = await self._store.write(members.ensure, named)
        return replace(unit, frames=tuple(map(FrameRow, ids))) if ids else unit

    async def _own(self, newest: Version | None) -> str:
        if newest is None:
            message = "a page without a body cannot be unchanged"
            raise ValueError(message)
        return await self._store.read(members.holder_sha256, newest)

    # -- unchanged -----------------------------------------------------------------------------------------------------------------

    async def _unchanged(self, poll: Occasion, gathered: Gathered) -> None:
        state, events = page_state.after_look(
            poll.page.state, poll.at, moved=gathered.answer.moved, floor=self._frames.floor
        )
        state = page_state.learn_validators(state, gathered.answer, changed=False, at=poll.at)
        reason = gathered.partial or poll.charged.grant.reason
        record = poll.record("unchanged", gathered.answer, reason=reason, kind=PARTIAL if gathered.partial else "")
        unit = self._with_frames(poll.unit(record, state, events), gathered, poll.at)
        findings = await self._taker.take(poll.page, poll.at, owed=poll.owed, eager=poll.eager)
        await self._commit(
            with_findings(
                unit,
                poll.page,
                findings,
                poll.at,
                teller=self._teller,
                settles=poll.owed,
                answer=gathered.answer,
                eager=poll.eager,
            ),
        )

    def _with_frames(self, unit: Unit, gathered: Gathered, at: Instant) -> Unit:
        """Add to a unit which frames the page names, and what people are told of those that fail.

        A frame in doubt is looked at again when it may be, and with it the page. What the server says of the freshness of the page that
        holds the frames says nothing of them.
        """
        rows = gathered.rows()
        page_id = unit.page.page_id if unit.page is not None else 0
        events: tuple[Event, ...] = ()
        if any(row.told for row in rows) and not gathered.told:
            failing = [seen for seen in gathered.seen if seen.state.health == "error"]
            details = [{"url": s.identity.given, "kind": s.state.kind, "reason": s.state.reason} for s in failing]
            events = (Event(type="page.partial", at=at, page_id=page_id, data={"frames": details}),)
        elif gathered.told and not any(row.told for row in rows):
            events = (Event(type="page.whole", at=at, page_id=page_id),)
        doubts = [s.state.retry_at for s in gathered.seen if s.state.health == "shaky" and s.state.retry_at is not None]
        if gathered.seen and not gathered.is_followed:
            doubts.append(at + self._frames.floor)
        state = unit.page
        if state is not None:
            state = replace(state, retry_at=min(doubts, default=state.retry_at), fresh_until=None)
        return replace(unit, page=state, frames=rows, events=(*unit.events, *events))

    # -- changed -------------------------------------------------------------------------------------------------------------------

    async def _new_version(self, poll: Occasion, gathered: Gathered, stored: Stored) -> None:
        page, at = poll.page, poll.at
        look = await self._look(poll, gathered, stored)
        findings = await self._detector.examine(look, attempts=poll.owed)
        seen = findings.examination
        text_changed = seen is not None and seen.text_changed
        is_first = page_state.knows_no_body(page.state)
        differs = text_changed and not is_first
        before, events = page_state.after_look(
            page.state, at, moved=gathered.answer.moved, differs=differs, floor=self._frames.floor
        )
        events = await with_evidence(events, self._store, before.page_id, None)
        state = self._state(before, gathered, seen, look, text_changed=text_changed)
        record = poll.record(
            "new" if is_first else "changed",
            gathered.answer,
            reason=findings.died or gathered.partial or poll.charged.grant.reason,
            text_changed=differs,
            kind=PARTIAL if gathered.partial else "",
        )
        if is_first and seen is not None:
            events = with_first_words(events, seen)
            noted = first_look(before.page_id, seen, at)
            events = (*events, replace(noted, data={**noted.data, "frames": len(gathered.seen)}))
        version = self._version(look, gathered, stored.newest, seen, text_changed=text_changed)
        unit = replace(
            self._with_frames(poll.unit(record, state, events), gathered, at),
            version=version,
            members=gathered.made_of if gathered.frames else (),
            digests=digests_of(look, seen),
        )
        unit = with_findings(
            unit,
            page,
            with_ticks(findings, look),
            at,
            teller=self._teller,
            settles=poll.owed,
            answer=gathered.answer,
            eager=poll.eager,
        )
        await self._bodies.commit_parts(unit, await self._written(gathered, stored.newest), self._commit)

    async def _look(self, poll: Occasion, gathered: Gathered, stored: Stored) -> Look:
        page = poll.page
        own = gathered.body
        charset = gathered.holder.charset if gathered.holder is not None else ""
        if own is not None:
            body = Body(data=own.body, content_type=own.content_type, url=own.final_url, charset=charset)
        else:
            body = stored.bodies[page.state.last_seq]
        identity = page.identity
        holder = Part(key=identity.key, url=identity.url, sha256=gathered.made_of[0].sha256, body=body)
        frames = await self._bodies.frames(gathered.made_of[1:])
        seq = page.state.last_seq + 1
        return Look(
            page=page,
            seq=seq,
            body=body,
            references=stored.bodies,
            known=stored.digests,
            known_parts=stored.digests_of_parts,
            takers=tuple(s for s in page.subscriptions.values() if takes(s, poll.at, poll.eager)),
            at=poll.at,
            modified_at=_modified_at(poll, gathered, stored),
            lost=stored.lost,
            parts={**stored.parts, seq: (holder, *frames)},
            noise=of_stored(stored.noise, {**stored.times, seq: poll.at}, seq),
        )

    def _state(
        self, before: PageState, gathered: Gathered, seen: Examination | None, look: Look, *, text_changed: bool
    ) -> PageState:
        """Return the state with the new version as the newest; what it says of a body is said of the page that holds the frames."""
        own, at = gathered.body, look.at
        state = replace(
            before,
            last_seq=look.seq,
            text_digest=seen.digest.text if seen is not None else before.text_digest,
            changed_at=at,
            text_changed_at=at if text_changed else before.text_changed_at,
            changes=before.changes + (look.seq > 1),
        )
        if own is not None:
            state = replace(
                state,
                body_size=len(own.body),
                body_xxh3=xxh3(own.body, self._instance.hash_seed),
                charset=seen.charset if seen is not None else state.charset,
                title=seen.title if seen is not None else state.title,
                final_url=own.final_url,
            )
        is_changed = own is not None and before.last_seq > 0
        return page_state.learn_validators(state, gathered.answer, changed=is_changed, at=at)

    @staticmethod
    def _version(
        look: Look, gathered: Gathered, newest: Version | None, seen: Examination | None, *, text_changed: bool
    ) -> Version:
        if gathered.body is not None:
            own = version_of(look, gathered.body, gathered.holder or seen, text_changed=text_changed)
        elif newest is not None:
            own = newest
        else:
            message = "a version needs a body"
            raise ValueError(message)
        return replace(
            own,
            seq=look.seq,
            sha256=gathered.sha256,
            size=sum(len(part.body.data) for part in look.parts[look.seq]),
            fetched_at=look.at,
            modified_at=look.modified_at,
            text_changed=text_changed,
            frames=gathered.frames,
            screenshot=picture_name(gathered.picture),
        )

    async def _written(self, gathered: Gathered, newest: Version | None) -> list[tuple[bytes, str]]:
        """Return the bodies that the version brings, each beside the former one of its kind."""
        new = []
        if gathered.body is not None:
            former = await self._store.read(members.holder_sha256, newest) if newest is not None else ""
            new.append((gathered.body.body, former))
        if gathered.frames:
            new.append((member_list(gathered.made_of), newest.sha256 if newest is not None and newest.frames else ""))
        if gathered.picture:
            new.append((gathered.picture, ""))
        return new


def _modified_at(poll: Occasion, gathered: Gathered, stored: Stored) -> Instant | None:
    """Return when the page was modified: the servers' word on the members that are new."""
    before = {part.key: part.sha256 for part in stored.parts.get(poll.page.state.last_seq, ())}
    told = [
        seen.version.modified_at
        for seen in gathered.seen
        if seen.version is not None and seen.member is not None and before.get(seen.member.key) != seen.member.sha256
    ]
    if gathered.body is not None:
        told.append(modified_at(gathered.body, poll.page.state.checked_at, poll.at))
    return max((at for at in told if at is not None), default=None)
