"""Whether the database is intact, examined beside the service on a connection and a thread of its
own.

After a crash, the service waits for the examination, at most `FIRST_SECONDS`, before it serves
anything; the rest runs in the background. A database with a fault is not served.
"""

from __future__ import annotations

import asyncio
from typing import Final

from tidings.errors import StoreDamagedError, StoreError
from tidings.settings import Settings
from tidings.storage.db.database import Database, examine, interrupt, open_database
from tidings.storage.db.restored import PUT_BACK

FIRST_SECONDS: Final = 2.0
SHOWN: Final = 3
"""How many faults are named."""


class Soundness:
    """The examination of one database. Used from one event loop."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._task: asyncio.Task[StoreDamagedError | None] | None = None
        self._database: Database | None = None

    @property
    def is_known(self) -> bool:
        """Return whether an examination has finished, or none was begun."""
        return self._task is None or self._task.done()

    @property
    def is_whole(self) -> bool:
        """Return whether an examination has finished without a fault."""
        return self._task is not None and self._task.done() and self._task.result() is None

    @property
    def is_damaged(self) -> bool:
        """Return whether a fault was found."""
        return self._task is not None and self._task.done() and self._task.result() is not None

    def begin(self) -> None:
        """Begin an examination, if none is running."""
        if self.is_known:
            self._task = asyncio.create_task(asyncio.to_thread(self._examine))

    async def wait(self, seconds: float) -> None:
        """Wait for it for so long, then do as `insist` does."""
        if self._task is not None:
            await asyncio.wait({self._task}, timeout=seconds)
        self.insist()

    def insist(self) -> None:
        """Raise `StoreDamagedError` if a fault was found."""
        if self._task is not None and self._task.done() and (error := self._task.result()) is not None:
            raise error

    async def end(self, seconds: float) -> None:
        """Wait for a running examination for so long, then cancel it."""
        if self._task is None or self._task.done():
            return
        await asyncio.wait({self._task}, timeout=seconds)
        if not self._task.done() and self._database is not None:
            interrupt(self._database)
            await asyncio.wait({self._task})

    def _examine(self) -> StoreDamagedError | None:
        try:
            self._database = open_database(self._settings, create=False)
            try:
                faults = examine(self._database) or examine(self._database, deep=True)
            finally:
                self._database.close()
        except StoreDamagedError as error:
            return error
        except StoreError:
            return None  # unreadable now, or cancelled: that proves nothing
        if not faults:
            return None
        more = f", and {len(faults) - SHOWN} more" if len(faults) > SHOWN else ""
        return StoreDamagedError(describe_damage(self._settings, "; ".join(faults[:SHOWN]) + more))


def describe_damage(settings: Settings, what: str) -> str:
    """Return the message on a damaged database, with the way out."""
    where = (settings.store.url and "the database") or str(settings.data / "tidings.db")
    copy = "restore the server's own backup" if settings.store.url else f"`{PUT_BACK}`"
    return (
        f"{where} is damaged: {what}. Tidings does not use it; `tidings doctor` shows what can still be read."
        f" Put a backup back, with Tidings stopped: {copy}"
    )
