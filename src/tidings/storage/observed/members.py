"""Members of pages with frames: those that a page names now, and those of each of its versions
(contracts §3, §4).
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

from tidings.errors import UnitError
from tidings.model.observed.page import PageIdentity, PageState
from tidings.model.observed.unit import FrameRow
from tidings.model.observed.version import Member, Version, member_list, version_id
from tidings.record import dataclass
from tidings.storage.db.connection import Connection
from tidings.storage.observed import pages, versions


@dataclass(frozen=True, slots=True)
class NamedFrame:
    """A frame that a page names; `is_reported`: its owner was notified that it cannot be read."""

    identity: PageIdentity
    state: PageState
    is_reported: bool


_FRAMES = "SELECT member_id, told FROM page_member WHERE page_id = :page_id ORDER BY position"
_PUT_FRAME = (
    "INSERT INTO page_member (page_id, position, member_id, told) VALUES (:page_id, :position, :member_id, :told)"
)
_MEMBERS = (
    "SELECT version_member.key, version_member.sha256, version_member.seq FROM version_member JOIN version"
    " ON version.id = version_member.version_id WHERE version.page_id = :page_id AND version.seq = :seq ORDER BY position"
)
_ADD = (
    "INSERT INTO version_member (version_id, position, key, sha256, seq)"
    " SELECT id, :position, :key, :sha256, :member_seq FROM version WHERE page_id = :page_id AND seq = :seq"
)


def frames(c: Connection, page_id: int) -> list[NamedFrame]:
    """Return the frames that a page names, in order; empty for a page without."""
    return [
        NamedFrame(pages.identity(c, id_), pages.state(c, id_), bool(reported))
        for id_, reported in c.rows(_FRAMES, page_id=page_id)
    ]


def list_framed_pages(c: Connection) -> set[int]:
    """Return the ids of all pages that name frames."""
    return {row[0] for row in c.rows("SELECT DISTINCT page_id FROM page_member")}


def is_framed(c: Connection, page_id: int) -> bool:
    """Return whether a page names frames."""
    return c.value("SELECT 1 FROM page_member WHERE page_id = :page_id LIMIT 1", page_id=page_id) is not None


def put_frames(c: Connection, page_id: int, named: Sequence[FrameRow]) -> None:
    """Store which frames a page names from now on."""
    c.execute("DELETE FROM page_member WHERE page_id = :page_id", page_id=page_id)
    c.many(
        _PUT_FRAME,
        [
            {"page_id": page_id, "position": place, "member_id": row.member_id, "told": int(row.is_reported)}
            for place, row in enumerate(named)
        ],
    )


def ensure(c: Connection, identities: Sequence[PageIdentity]) -> list[int]:
    """Return the ids of the frames' own pages, creating new ones."""
    return [pages.ensure(c, identity) for identity in identities]


def add(c: Connection, version: Version, made_of: Sequence[Member]) -> None:
    """Store the members of a version with frames, the holder of the frames first; the bodies must
    exist.

    Raises `UnitError` if the version is not named after them (contracts §3).
    """
    name = version_id(version.page_id, version.seq)
    if len(made_of) != version.frames + 1 or not version.frames:
        raise UnitError(f"version {name} has {version.frames} frames and {len(made_of)} members; nothing was written")
    if hashlib.sha256(member_list(made_of)).hexdigest() != version.sha256:
        raise UnitError(f"version {name} is not named after its members; nothing was written")
    c.many(
        _ADD,
        [
            {
                "page_id": version.page_id,
                "seq": version.seq,
                "position": place,
                "key": member.key,
                "sha256": member.sha256,
                "member_seq": member.seq,
            }
            for place, member in enumerate(made_of)
        ],
    )


def of_version(c: Connection, page_id: int, seq: int) -> list[Member]:
    """Return the members of a version, the holder of the frames first; empty for a version without
    frames.
    """
    return [Member(*row) for row in c.rows(_MEMBERS, page_id=page_id, seq=seq)]


def holder_sha256(c: Connection, version: Version) -> str:
    """Return the hash of a version's own body: of the page that holds the frames, if it has any."""
    return of_version(c, version.page_id, version.seq)[0].sha256 if version.frames else version.sha256


def body_sha256(c: Connection, page_id: int, seq: int) -> str:
    """Return the hash of a page's own body in a version of it, "" if there is no such version."""
    version = versions.get(c, page_id, seq)
    return "" if version is None else holder_sha256(c, version)


def as_member(c: Connection, identity: PageIdentity, state: PageState) -> Member | None:
    """Return the newest good version of a frame's own page as a member; None if it has none."""
    newest = versions.newest(c, state.page_id)
    return None if newest is None else Member(identity.key, holder_sha256(c, newest), newest.seq)
