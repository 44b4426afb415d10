"""Bodies: the stored versions that a look needs, and how a new one is kept."""

from __future__ import annotations

import asyncio
import hashlib
import logging
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import xxhash

from tidings.detection.job import Body
from tidings.errors import BlobError
from tidings.storage import garbage, versions

if TYPE_CHECKING:
    from tidings.archive.archive import Archive, Plan
    from tidings.model.page import PageState
    from tidings.model.unit import Unit
    from tidings.model.version import Blob, Digest, Version
    from tidings.storage.connection import Connection
    from tidings.storage.store import Store

log = logging.getLogger("tidings.service.bodies")


@dataclass(frozen=True, slots=True)
class Stored:
    """What the database holds of the versions that a look needs; `lost` are those that cannot be given back, and why."""

    bodies: Mapping[int, Body]
    digests: Mapping[int, Digest]
    lost: Mapping[int, str]
    usual_words: int | None = None
    """median number of words of the newest versions, None if there are none"""
    newest: Version | None = None
    """the page's newest version"""


class Bodies:
    """Reads and keeps bodies."""

    def __init__(self, store: Store, archive: Archive) -> None:
        self._store = store
        self._archive = archive

    async def stored(self, page_id: int, seqs: set[int]) -> Stored:
        """Return these versions of a page with the digests that are known of them."""
        return await self._store.read(self._read, page_id, seqs) if seqs else Stored({}, {}, {})

    async def context(self, page_id: int, seqs: set[int]) -> Stored:
        """Return these versions and what the page is usually like, to judge a new body by."""
        return await self._store.read(self._read_context, page_id, seqs)

    def _read_context(self, connection: Connection, page_id: int, seqs: set[int]) -> Stored:
        return replace(
            self._read(connection, page_id, seqs),
            usual_words=versions.usual_words(connection, page_id),
            newest=versions.newest(connection, page_id),
        )

    def _read(self, connection: Connection, page_id: int, seqs: set[int]) -> Stored:
        found: dict[int, Body] = {}
        lost: dict[int, str] = {}
        for seq in sorted(seqs):
            try:
                found[seq] = read_body(connection, self._archive, page_id, seq)
            except (BlobError, LookupError) as error:
                lost[seq] = str(error)
        return Stored(found, versions.digests(connection, page_id, seqs), lost)

    async def commit_version(
        self, unit: Unit, body: bytes, commit: Callable[[Unit], Awaitable[object]], *, newest: Version | None
    ) -> None:
        """Plan how the body of a unit's version is kept and commit both; nobody else replans these blobs meanwhile.

        `newest` is the page's version before it; there is one writer a page, so that it still is.
        """
        version = unit.version
        if version is None:
            message = "a body is stored with the version that it is of"
            raise ValueError(message)
        names = {version.sha256} | ({newest.sha256} if newest is not None else set())
        async with self._archive.hold(*names):
            plan = await self._store.read(self._plan, newest, body, version.sha256)
            await self._carry_out(plan, unit, commit)

    async def commit_apart(self, unit: Unit, body: bytes, commit: Callable[[Unit], Awaitable[object]]) -> None:
        """Commit a unit with a body that is no version (quarantine): whole, leaning on nothing."""
        sha256 = hashlib.sha256(body).hexdigest()
        async with self._archive.hold(sha256):
            plan = await self._store.read(self._plan, None, body, sha256)
            await self._carry_out(plan, unit, commit)

    async def _carry_out(self, plan: Plan, unit: Unit, commit: Callable[[Unit], Awaitable[object]]) -> None:
        if plan.files:
            await asyncio.to_thread(self._archive.write_files, plan)
        await commit(replace(unit, blobs=plan.blobs, garbage=plan.garbage))
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


def same_body(body: bytes, state: PageState, seed: int) -> bool:
    """Say whether a body is that of the page's newest version (gate 0)."""
    return len(body) == state.body_size and state.last_seq > 0 and xxh3(body, seed) == state.body_xxh3
