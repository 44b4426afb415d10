"""Plan the storage of a unit's new bodies beside their delta bases, and commit them with it.

Small bodies are rows, planned inside the commit. What may need a file is planned before, since a
file is written before the row that names it.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Sequence
from typing import TYPE_CHECKING

from tidings.archive.archive import WritePlan
from tidings.errors import BlobError
from tidings.record import replace
from tidings.storage.observed import versions
from tidings.storage.write import retention

if TYPE_CHECKING:
    from tidings.archive.archive import Archive
    from tidings.model.observed.unit import Unit
    from tidings.model.observed.version import Blob, NewBody
    from tidings.storage.db.connection import Connection
    from tidings.storage.write.commit import Keep
    from tidings.storage.write.store import Store

log = logging.getLogger("tidings.service.poll.keep")


class Keeper:
    """Stores bodies with their units; `commit` returns once a unit is durable."""

    def __init__(self, store: Store, archive: Archive, commit: Callable[[Unit], Awaitable[object]]) -> None:
        self._store = store
        self._archive = archive
        self._commit = commit

    async def keep(self, unit: Unit) -> None:
        """Commit a unit with its new bodies; meanwhile nobody else plans the storage of these and
        of those that depend on them.

        The bodies are a page's content, its member list, its picture, or withheld content; frames'
        bodies are stored by their own pages. A page has one writer, so that its earlier bodies
        still exist.
        """
        if not unit.bodies:
            await self._commit(unit)
            return
        names = {new.sha256 for new in unit.bodies} | {new.former for new in unit.bodies if new.former}
        async with self._archive.hold(*names):
            if all(self._archive.is_row(max(len(new.body), new.former_size)) for new in unit.bodies):
                await self._commit(unit)
            else:
                await self._keep_files(unit, await self._store.read(self._plan, unit.bodies))

    def _plan(self, connection: Connection, bodies: Sequence[NewBody]) -> WritePlan:
        plans = [plan_write(connection, self._archive, new) for new in bodies]
        return WritePlan(
            blobs=tuple(blob for plan in plans for blob in plan.blobs),
            garbage=tuple(name for plan in plans for name in plan.garbage),
            files=tuple(file for plan in plans for file in plan.files),
        )

    async def _keep_files(self, unit: Unit, plan: WritePlan) -> None:
        if plan.files:
            await asyncio.to_thread(self._archive.write_files, plan)
        await self._commit(replace(unit, bodies=(), blobs=plan.blobs, garbage=plan.garbage))
        if plan.garbage:
            self._archive.remove(plan.garbage)
            await self._store.write(retention.clear, plan.garbage)


def keeping(archive: Archive) -> Keep:
    """Return the planner of small bodies inside a commit. Garbage files are deleted at the next
    start.
    """

    def keep(connection: Connection, new: NewBody) -> tuple[Sequence[Blob], Sequence[str]]:
        plan = plan_write(connection, archive, new)
        if plan.files:
            message = f"the body {new.sha256} needs a file, which is written before the commit"
            raise ValueError(message)
        return plan.blobs, plan.garbage

    return keep


def plan_write(connection: Connection, archive: Archive, new: NewBody) -> WritePlan:
    """Return how to store a new body beside the former newest one."""

    def row(sha: str) -> Blob | None:
        return versions.blob(connection, sha)

    return archive.plan(new.body, new.sha256, _neighbour(archive, row, new.former), row(new.sha256))


def _neighbour(archive: Archive, row: Callable[[str], Blob | None], former: str) -> tuple[Blob, bytes] | None:
    """Return the newest body, to be stored as a delta from now on; None if it is damaged: a new
    body must be stored all the same.
    """
    held = row(former) if former else None
    if held is None:
        return None
    try:
        return held, archive.restore(held.sha256, row)
    except BlobError as error:
        log.error("%s; the next body of the page is stored whole", error)  # noqa: TRY400 - users can fix the disk
        return None
