"""What a turn examines: the newest version of a page, what it is compared with, and its
subscriptions.

With or without frames, new or stored, all are examined alike. Pure.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from typing import TYPE_CHECKING

from tidings.detection.job.contract import Body, Noise, Part
from tidings.errors import BlobError
from tidings.fetching.http.answers import read_date
from tidings.record import dataclass
from tidings.service.watch import noise
from tidings.service.watch.cursors import reference

if TYPE_CHECKING:
    from tidings.model.interval import Instant
    from tidings.model.observed.outcome import Fetched
    from tidings.model.observed.version import Digest, Version
    from tidings.service.examine.framed_page import FramedPage
    from tidings.service.examine.judge import PollResult, Turn
    from tidings.service.examine.stored_versions import Extremes, Stored
    from tidings.service.watch.watchlist import Subscription, WatchedPage


@dataclass(frozen=True, slots=True)
class PolledVersion:
    """The newest version of a page as its subscriptions will see it."""

    page: WatchedPage
    seq: int
    body: Body
    references: Mapping[int, Body]
    known: Mapping[int, Digest]
    takers: tuple[Subscription, ...]
    at: Instant
    modified_at: Instant | None
    lost: Mapping[int, str]
    """stored versions whose bodies cannot be restored, and why"""
    status: int = 200
    is_unframed: bool = False
    """the body ended only with the connection"""
    usual_words: int | None = None
    """the page's usual size, to judge a new body; None for a first poll or a stored version"""
    parts: Mapping[int, tuple[Part, ...]] = field(default_factory=dict)
    """the versions with their frames, including the newest; empty for a page without"""
    known_parts: Mapping[int, tuple[Digest, ...]] = field(default_factory=dict)
    """the known digests of what sentinels select in the references"""
    extremes: Mapping[int, Extremes] = field(default_factory=dict)
    """lowest and highest of the values seen before, by subscription"""
    noise: Noise | None = None
    """the page's known noise, and what this poll may teach"""

    def comparing(self) -> tuple[Subscription, ...]:
        """Return the subscriptions with a version to compare the newest one with."""
        return tuple(s for s in self.takers if s.row.seen != self.seq and reference(s))

    def beginning(self) -> tuple[Subscription, ...]:
        """Return the subscriptions for which the newest version is the first."""
        return tuple(s for s in self.takers if s.row.seen != self.seq and not reference(s))


def of_body(result: PollResult, fetched: Fetched, stored: Stored, takers: tuple[Subscription, ...]) -> PolledVersion:
    """Return the polled version of a new body. With frames it has no subscriptions: it is compared
    once the frames are there.

    Args:
        result: The poll.
        fetched: Its body.
        stored: The versions known before.
        takers: The subscriptions that take it.
    """
    page, at, before = result.page, result.at, result.page.state
    seq = before.last_seq + 1
    return PolledVersion(
        page=page,
        seq=seq,
        body=Body(data=fetched.body, content_type=fetched.content_type, url=fetched.final_url),
        references=stored.bodies,
        known=stored.digests,
        known_parts=stored.digests_of_parts,
        takers=takers if not stored.parts else (),
        at=at,
        modified_at=find_modified(fetched, before.checked_at, at),
        lost=stored.lost,
        status=fetched.status,
        is_unframed=fetched.framing == "unframed",
        usual_words=stored.usual_words if before.last_seq else None,
        noise=noise.of_poll(stored.noise, page, stored.times, at, seq, why=result.why),
    )


def of_frames(
    result: PollResult, framed: FramedPage, stored: Stored, frames: tuple[Part, ...], takers: tuple[Subscription, ...]
) -> PolledVersion:
    """Return the polled version of a page that is new itself or has a new frame. Raises `BlobError`
    if only a frame is new, and the stored body of the page that holds it is lost.

    Args:
        result: The poll.
        framed: The page with its frames.
        stored: The versions known before.
        frames: The frames as parts to compare.
        takers: The subscriptions that take it.
    """
    page, at, own, holder = result.page, result.at, framed.body, framed.holder
    if own is not None:
        charset = holder.charset if holder is not None else ""
        body = Body(data=own.body, content_type=own.content_type, url=own.final_url, charset=charset)
    elif (last := {**stored.holders, **stored.bodies}.get(page.state.last_seq)) is not None:
        body = last
    else:
        raise BlobError(stored.lost[page.state.last_seq])
    identity, seq = page.identity, page.state.last_seq + 1
    base = Part(key=identity.key, url=identity.url, sha256=framed.made_of[0].sha256, body=body)
    return PolledVersion(
        page=page,
        seq=seq,
        body=body,
        references=stored.bodies,
        known=stored.digests,
        known_parts=stored.digests_of_parts,
        takers=takers,
        at=at,
        modified_at=_newest_date(result, framed, stored),
        lost=stored.lost,
        parts={**stored.parts, seq: (base, *frames)},
        noise=noise.of_stored(stored.noise, {**stored.times, seq: at}, seq),
    )


def of_stored(turn: Turn, stored: Stored, version: Version | None, takers: tuple[Subscription, ...]) -> PolledVersion:
    """Return the newest stored `version` of a page as a polled version.

    Args:
        turn: The page and who takes it.
        stored: The known versions.
        version: The newest version; None if there is none.
        takers: The subscriptions that take it.
    """
    newest = turn.page.state.last_seq
    return PolledVersion(
        page=turn.page,
        seq=newest,
        body=stored.bodies[newest],
        references={seq: body for seq, body in stored.bodies.items() if seq != newest},
        known=stored.digests,
        known_parts=stored.digests_of_parts,
        takers=takers,
        at=turn.at,
        modified_at=version.modified_at if version is not None else None,
        lost=stored.lost,
        parts=stored.parts,
        noise=noise.of_stored(stored.noise, stored.times, newest),
    )


def find_modified(fetched: Fetched, checked_at: Instant | None, now: Instant) -> Instant | None:
    """Return Last-Modified, clamped to [last poll, now] (sentinels §5.2); None if there is none
    that can be read.
    """
    claimed = read_date(fetched.headers.get("last-modified", ""))
    return None if claimed is None else min(max(claimed, checked_at or 0), now)


def _newest_date(result: PollResult, framed: FramedPage, stored: Stored) -> Instant | None:
    """Return when a page with frames was modified, by Last-Modified of its new members."""
    before = {part.key: part.sha256 for part in stored.parts.get(result.page.state.last_seq, ())}
    dates = [
        frame.version.modified_at
        for frame in framed.frames
        if frame.version is not None
        and frame.member is not None
        and before.get(frame.member.key) != frame.member.sha256
    ]
    if framed.body is not None:
        dates.append(find_modified(framed.body, result.page.state.checked_at, result.at))
    return max((at for at in dates if at is not None), default=None)
