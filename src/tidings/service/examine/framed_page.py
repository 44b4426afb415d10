"""Framed pages: the members of a page with frames, and which frames are followed (sentinels §5.4).

A version of such a page is its member list, the page that holds the frames and each frame's newest
good version, and changes when any member does. A frame that fails, or shows a wall, keeps its last
good version: the page is then *partial*, which its polls record at once, and users are notified
once the frame counts as in error. Pure.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Final

from tidings.errors import AddressError
from tidings.fetching import address
from tidings.fetching.http.redirects import HARMLESS
from tidings.model.event_type import EventType
from tidings.model.observed.outcome import Fetched
from tidings.model.observed.unit import Event, FrameRow
from tidings.model.observed.version import Member, member_list
from tidings.model.watch.asking import Asking
from tidings.record import dataclass, replace

if TYPE_CHECKING:
    from tidings.detection.job.contract import Examination
    from tidings.model.interval import Duration, Instant
    from tidings.model.observed.outcome import Unchanged
    from tidings.model.observed.page import PageIdentity, PageState
    from tidings.model.observed.version import Version

MOST_FRAMES: Final = 8
"""Most frames of one page that are followed, in page order."""


def list_followed(holder: PageIdentity, final_url: str, addresses: Sequence[str]) -> list[PageIdentity]:
    """Return the frames to follow: the first ones of the page's own site, each once, never the page
    itself.

    They are fetched like the page, by GET; what is meant for the page's origin is sent to no other.
    Frames of a file are not followed.
    """
    if address.is_local(final_url):
        return []
    return list(_list_followed(holder, final_url, addresses))[:MOST_FRAMES]


def _list_followed(holder: PageIdentity, final_url: str, addresses: Sequence[str]) -> Iterator[PageIdentity]:
    site, seen = address.host_of(final_url), {holder.url, final_url}
    for named in addresses:
        try:
            url = address.rebuild(named)
        except AddressError:
            continue
        if url in seen or address.host_of(url) != site:
            continue
        seen.add(url)
        is_same_origin = address.parse(url).origin == address.parse(holder.url).origin
        headers = tuple(h for h in holder.headers if is_same_origin or h.name in HARMLESS)
        login = holder.login if is_same_origin else None
        asking = Asking(headers=headers, trust=holder.trust, proxy=holder.proxy, render=holder.render, login=login)
        yield address.identify(url, asking, owner_id=holder.owner_id or 1)


@dataclass(frozen=True, slots=True)
class Frame:
    """A frame after a poll: its newest good version as a member, None while it has none; `unasked`:
    why it was not polled.
    """

    identity: PageIdentity
    state: PageState
    member: Member | None
    version: Version | None
    unasked: str = ""

    @property
    def failing(self) -> str:
        """Return why its stored version may be outdated; empty if it is not."""
        if self.state.health != "ok":
            return f"{self.state.kind}: {self.state.reason}"
        return self.unasked or ("" if self.member is not None else "it has not been checked yet")


@dataclass(frozen=True, slots=True)
class FramedPage:
    """A page and its frames after a poll: the answer of the page that holds them, its body if new
    and its examination, the frames, whether they were polled, which of them were reported as
    failing, and the present members.
    """

    answer: Unchanged | Fetched
    body: Fetched | None
    holder: Examination | None
    frames: Sequence[Frame]
    is_followed: bool
    reported: frozenset[int]
    made_of: tuple[Member, ...]

    @property
    def members(self) -> tuple[Member, ...]:
        """Return the members of a version; empty while no frame has one."""
        return self.made_of if len(self.made_of) > 1 else ()

    @property
    def sha256(self) -> str:
        """Return the hash that names the version: of the member list, or of the body while there is
        no frame.
        """
        return hashlib.sha256(member_list(self.made_of)).hexdigest() if self.members else self.made_of[0].sha256

    @property
    def partial(self) -> str:
        """Return which frames may be outdated, and why; empty if none is."""
        if not self.is_followed:
            return ""
        failing = [f"{frame.identity.url} ({why})" for frame in self.frames if (why := frame.failing)]
        return f"partial, {len(failing)} of {len(self.frames)} frames: {'; '.join(failing)}" if failing else ""

    def rows(self) -> tuple[FrameRow, ...]:
        """Return the frames with what was reported of each: that it fails, from its error until it
        is well again.
        """
        return tuple(
            FrameRow(
                frame.state.page_id,
                is_reported=frame.state.health == "error"
                or (frame.state.page_id in self.reported and frame.state.health != "ok"),
            )
            for frame in self.frames
        )

    def events(self, page_id: int, at: Instant) -> tuple[Event, ...]:
        """Return the events of frames that start to fail, and of the end of the last failure."""
        is_reported = any(row.is_reported for row in self.rows())
        if is_reported and not self.reported:
            failing = [frame for frame in self.frames if frame.state.health == "error"]
            details = [{"url": f.identity.given, "kind": f.state.kind, "reason": f.state.reason} for f in failing]
            return (Event(type=EventType.PAGE_PARTIAL, at=at, page_id=page_id, data={"frames": details}),)
        if self.reported and not is_reported:
            return (Event(type=EventType.PAGE_WHOLE, at=at, page_id=page_id),)
        return ()

    def state(self, state: PageState, at: Instant, *, floor: Duration) -> PageState:
        """Return the state of the page that holds the frames, given its own.

        A frame in doubt is polled again when it may be, and the page with it. The server's
        freshness claim for the holding page does not apply to its frames.
        """
        doubts = [
            frame.state.retry_at
            for frame in self.frames
            if frame.state.health == "shaky" and frame.state.retry_at is not None
        ]
        if self.frames and not self.is_followed:
            doubts.append(at + floor)
        return replace(state, retry_at=min(doubts, default=state.retry_at), fresh_until=None)
