"""Detect that the database is an older copy of itself, put back (F-37, docs/decisions/0045).

Two files stand beside it. `place` is written once: a copy of the directory has a file created at
another instant, and the database stores the original's. With PostgreSQL the database is not in the
directory, and processes with other directories may use it: `place` says nothing. `numbers` holds
number and instant of the newest event, rewritten after each commit and made durable every 1,000
numbers: a database that is put back alone lacks that event.
"""

from __future__ import annotations

import contextlib
import os
import secrets as chance
from pathlib import Path
from typing import Final

from tidings.errors import StoreError
from tidings.model.event_type import EventType
from tidings.model.interval import Instant
from tidings.model.observed.unit import Event
from tidings.storage.db import instance
from tidings.storage.db.connection import Connection
from tidings.storage.watches import events

RESTORED: Final = EventType.DATA_RESTORED
BLOCK: Final = 1_000
"""events after which the file of numbers is made durable"""
_LINE: Final = 42
_FLAGS: Final = os.O_RDWR | os.O_CREAT | os.O_CLOEXEC


class Copies:
    """The two files of a data directory, for the polling process."""

    def __init__(self, data: Path) -> None:
        self._data = data
        self._file: int | None = None
        self._newest = 0

    def recognise(self, c: Connection, *, at: Instant) -> str:
        """Return why this is an older copy, "" if it is none; if so, raise the epoch. Called in a
        writing transaction at each start.

        Raises `StoreError` if the files cannot be used.
        """
        known = instance.place(c)
        try:
            place, (number, then) = self._place(), self._read_note()
        except OSError as error:
            raise StoreError(f"{self._data} cannot be written: {error.strerror}; check its owner and rights") from error
        self._newest, why = number, ""
        is_beside = c.dialect == "sqlite"
        if is_beside and known and place != known:
            why = "its directory was copied, or put back from a copy"
        elif number and self._lacks(c, number, then):
            why = f"event {number}, which was written, is not in it"
        if why:
            self._newest = 0
            instance.raise_epoch(c, chance.randbelow(2**31) + 1)
            events.append(c, [Event(type=RESTORED, at=at, data={"reason": why})])
        if is_beside and place != known:
            instance.set_place(c, place)
        return why

    @staticmethod
    def _lacks(c: Connection, number: int, then: Instant) -> bool:
        """Return whether an event that was written is not in a database. One that was deleted since
        because of its age was in it.
        """
        found = events.instant(c, number)
        return number > events.last_seq(c) if found is None else found != then

    def note(self, number: int, at: Instant) -> None:
        """Record an event after its commit, if it is the newest; synced to disk only once per
        block.

        The line has a constant length, so that it fits on a full disk. Failing to write it is
        harmless; it then records an older event.
        """
        if number <= self._newest:
            return
        with contextlib.suppress(OSError):
            handle = self._open()
            os.pwrite(handle, f"{number:>20} {at:>20}\n".encode(), 0)
            if number // BLOCK != self._newest // BLOCK:
                os.fdatasync(handle)
        self._newest = number

    def close(self) -> None:
        """Close the file."""
        if self._file is not None:
            os.close(self._file)
            self._file = None

    def _place(self) -> str:
        """Return what distinguishes this directory from its copies: the creation time of its file
        `place`, which copying does not preserve.
        """
        path = self._data / "place"
        with contextlib.suppress(OSError):
            os.close(os.open(path, os.O_RDONLY | os.O_CREAT | os.O_CLOEXEC, 0o600))
        return str(path.stat().st_ctime_ns)

    def _read_note(self) -> tuple[int, Instant]:
        """Return the last recorded (number, instant); (0, 0) if the line is incomplete, for example
        after a power cut.
        """
        words = os.pread(self._open(), _LINE, 0).split()
        if len(words) != 2 or not all(word.isdigit() for word in words):
            return 0, 0
        return int(words[0]), int(words[1])

    def _open(self) -> int:
        if self._file is None:
            self._file = os.open(self._data / "numbers", _FLAGS, 0o600)
        return self._file
