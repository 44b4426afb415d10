"""Read the stored versions that a poll needs. `poll/keep` stores new ones."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field
from typing import TYPE_CHECKING, Final

from tidings.detection.job.contract import EXTRACTION, WITH_FRAMES, Body, Part
from tidings.errors import BlobError
from tidings.record import dataclass, replace
from tidings.service.watch import noise
from tidings.service.watch.noise import Known
from tidings.storage.observed import members, pages, versions

if TYPE_CHECKING:
    from tidings.archive.archive import Archive
    from tidings.model.interval import Instant
    from tidings.model.observed.page import PageIdentity
    from tidings.model.observed.version import Digest, Member, Version
    from tidings.storage.db.connection import Connection
    from tidings.storage.write.store import Store


@dataclass(frozen=True, slots=True)
class Stored:
    """The stored versions that a poll needs; `lost` are those that cannot be restored, and why."""

    bodies: Mapping[int, Body]
    digests: Mapping[int, Digest]
    lost: Mapping[int, str]
    usual_words: int | None = None
    """median number of words of the newest versions, None if there are none"""
    newest: Version | None = None
    """the page's newest version"""
    holder: str = ""
    """the hash of its body, with frames that of the page that holds them"""
    parts: Mapping[int, tuple[Part, ...]] = field(default_factory=dict)
    """the same versions with their frames, where the page or one of them has any"""
    digests_of_parts: Mapping[int, tuple[Digest, ...]] = field(default_factory=dict)
    """the known digests of the parts of these versions that sentinels select"""
    times: Mapping[int, Instant] = field(default_factory=dict)
    """when they were polled"""
    noise: Known = Known()
    """the known noise of the page"""


RECENT: Final = 5
"""Number of newest versions that show a page's usual size (contracts §11: collapsed text)."""
_WHOLE = frozenset({EXTRACTION, WITH_FRAMES})


class Bodies:
    """Reads stored bodies."""

    def __init__(self, store: Store, archive: Archive) -> None:
        self._store = store
        self._archive = archive

    async def load(self, page_id: int, seqs: set[int], *, is_framed: bool = False) -> Stored:
        """Return these versions of a page with their known digests; `is_framed`: it names frames
        now.
        """
        return await self._store.read(self._read, page_id, seqs, is_framed) if seqs else Stored({}, {}, {})

    async def context(self, page_id: int, seqs: set[int], *, is_framed: bool = False, learns: bool = False) -> Stored:
        """Return these versions and the page's usual size, to judge a new body.

        If it `learns`, and nothing is known of the page's noise yet, its newest versions are
        included.

        Args:
            page_id: The page.
            seqs: The numbers of the versions.
            is_framed: Whether the bodies of frames are needed too.
            learns: Whether noise is learned from them.
        """
        return await self._store.read(self._read_context, page_id, seqs, is_framed, learns)

    def _read_context(
        self, connection: Connection, page_id: int, seqs: set[int], is_framed: bool, learns: bool
    ) -> Stored:
        recent, words = versions.recent(connection, page_id, RECENT, seqs)
        newest = next(iter(recent.values()), None)
        known = noise.read(connection, page_id)
        if learns and seqs and known.is_new:
            seqs = seqs | versions.newest_seqs(connection, page_id, noise.HISTORY)
        return replace(
            self._read(connection, page_id, seqs, is_framed, known, recent),
            usual_words=sorted(words)[len(words) // 2] if words else None,
            newest=newest,
            holder=members.holder_sha256(connection, newest) if newest is not None else "",
        )

    def _read(
        self,
        connection: Connection,
        page_id: int,
        seqs: set[int],
        is_framed: bool,
        known: Known | None = None,
        read: Mapping[int, Version] | None = None,
    ) -> Stored:
        """Return versions of a page; `known` and `read` are its noise and versions already read."""
        found: dict[int, Body] = {}
        rows: dict[int, Version] = {}
        lost: dict[int, str] = {}
        for seq in sorted(seqs):
            try:
                rows[seq] = read[seq] if read and seq in read else _version(connection, page_id, seq)
                found[seq] = _body(connection, self._archive, rows[seq])
            except (BlobError, LookupError) as error:
                lost[seq] = str(error)
        parts: dict[int, tuple[Part, ...]] = {}
        if is_framed or any(row.frames for row in rows.values()):
            holder = pages.identity(connection, page_id)
            for seq, body in [*found.items()]:
                try:
                    parts[seq] = read_parts(connection, self._archive, holder, rows[seq], body)
                except (BlobError, LookupError) as error:
                    lost[seq] = str(error)
                    del found[seq]
        kept = versions.every_digest(connection, page_id, seqs)
        whole = {seq: [d for d in found_of if d.extraction in _WHOLE] for seq, found_of in kept.items()}
        return Stored(
            found,
            {seq: digests[-1] for seq, digests in whole.items() if digests},
            lost,
            times={seq: rows[seq].fetched_at for seq in found},
            noise=noise.read(connection, page_id) if known is None else known,
            parts=parts,
            digests_of_parts={
                seq: tuple(d for d in found_of if d.extraction not in _WHOLE) for seq, found_of in kept.items()
            },
        )

    async def frames(self, made_of: Sequence[Member]) -> tuple[Part, ...]:
        """Return frames, given as members of a version."""
        return await self._store.read(read_frames, self._archive, made_of)


def read_body(connection: Connection, archive: Archive, page_id: int, seq: int) -> Body:
    """Return a stored version as job input; with frames, the page that holds them."""
    return _body(connection, archive, _version(connection, page_id, seq))


def read_parts(
    connection: Connection, archive: Archive, holder: PageIdentity, version: Version, body: Body
) -> tuple[Part, ...]:
    """Return a version's parts with its frames; `body` is that of the page that holds them.

    Args:
        archive: The archive with the bodies.
        holder: The page that holds the frames.
        version: One of its versions.
        body: The body of that version.
    """
    own = Part(key=holder.key, url=holder.url, sha256=members.holder_sha256(connection, version), body=body)
    made_of = members.of_version(connection, version.page_id, version.seq) if version.frames else []
    return (own, *read_frames(connection, archive, made_of[1:]))


def read_frames(connection: Connection, archive: Archive, made_of: Sequence[Member]) -> tuple[Part, ...]:
    """Return frames, given as members of a version. Raises `LookupError` if the page of one is
    gone.
    """
    found = []
    for member in made_of:
        page_id = pages.find_by_key(connection, member.key)
        if page_id is None:
            message = f"a frame of the page, version {member.seq} of the page {member.key}, is gone"
            raise LookupError(message)
        body = _body(connection, archive, _version(connection, page_id, member.seq))
        url = pages.identity(connection, page_id).url
        found.append(Part(key=member.key, url=url, sha256=member.sha256, body=body))
    return tuple(found)


def _version(connection: Connection, page_id: int, seq: int) -> Version:
    version = versions.get(connection, page_id, seq)
    if version is None:
        message = f"version {seq} of page {page_id} is gone"
        raise LookupError(message)
    return version


def _body(connection: Connection, archive: Archive, version: Version) -> Body:
    sha256 = members.holder_sha256(connection, version)
    data = archive.restore(sha256, lambda sha: versions.blob(connection, sha))
    return Body(data=data, content_type=version.content_type or None, url=version.final_url, charset=version.charset)
