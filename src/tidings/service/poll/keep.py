"""Keep: the new bodies of a unit are planned beside those that they lean on, and are committed with it."""

from __future__ import annotations

import asyncio
import hashlib
import logging
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from tidings.archive.archive import WritePlan
from tidings.errors import BlobError
from tidings.storage.observed import versions
from tidings.storage.write import garbage

if TYPE_CHECKING:
    from tidings.archive.archive import Archive
    from tidings.model.observed.unit import Unit
    from tidings.model.observed.version import Blob
    from tidings.storage.db.connection import Connection
    from tidings.storage.write.store import Store

log = logging.getLogger("tidings.service.poll.keep")


class Keeper:
    """Keeps bodies with the units that bring them; `commit` returns once a unit is durable."""

    def __init__(self, store: Store, archive: Archive, commit: Callable[[Unit], Awaitable[object]]) -> None:
        self._store = store
        self._archive = archive
        self._commit = commit

    async def keep(self, unit: Unit, bodies: Sequence[tuple[bytes, str]]) -> None:
        """Plan how the new bodies of a unit are kept, and commit all together; nobody else replans these blobs meanwhile.

        Each body stands beside the hash of its former one, against which that is kept from now on ("": none, it leans on nothing). They are
        a page's body, the list of its members, its picture, or what is withheld; the bodies of frames are kept by their own pages. There is
        one writer a page, so that the former ones still are.
        """
        if not bodies:
            await self._commit(unit)
            return
        named = [(body, hashlib.sha256(body).hexdigest(), former) for body, former in bodies]
        async with self._archive.hold(*({sha for _, sha, _ in named} | {former for _, _, former in named if former})):
            plans = [await self._store.read(self._plan, former, body, sha) for body, sha, former in named]
            together = WritePlan(
                blobs=tuple(blob for plan in plans for blob in plan.blobs),
                garbage=tuple(name for plan in plans for name in plan.garbage),
                files=tuple(file for plan in plans for file in plan.files),
            )
            await self._carry_out(together, unit)

    async def _carry_out(self, plan: WritePlan, unit: Unit) -> None:
        if plan.files:
            await asyncio.to_thread(self._archive.write_files, plan)
        await self._commit(replace(unit, blobs=plan.blobs, garbage=plan.garbage))
        if plan.garbage:
            self._archive.remove(plan.garbage)
            await self._store.write(garbage.clear, plan.garbage)

    def _plan(self, connection: Connection, former: str, body: bytes, sha256: str) -> WritePlan:
        def row(sha: str) -> Blob | None:
            return versions.blob(connection, sha)

        return self._archive.plan(body, sha256, self._neighbour(row, former), row(sha256))

    def _neighbour(self, row: Callable[[str], Blob | None], former: str) -> tuple[Blob, bytes] | None:
        """Return the newest body, to be kept as a delta from now on; None if it is damaged: a new body must be stored all the same."""
        held = row(former) if former else None
        if held is None:
            return None
        try:
            return held, self._archive.restore(held.sha256, row)
        except BlobError as error:
            log.error("%s; the page goes on with a body that stands alone", error)  # noqa: TRY400 - told to people, who mend the disk
            return None
