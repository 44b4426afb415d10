"""A check's note for the next one: until when nothing is due unless the database is written to.

A check by cron mostly finds nothing to do. With the note it need not load the language, the
schedule and the network to know. The note is valid while the database file is unchanged bit for
bit, the settings are the same, and the clock is between the note's two instants. It is only a
shortcut and can be deleted without loss.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
from typing import TYPE_CHECKING, Any, Final

from tidings import __version__

if TYPE_CHECKING:
    from pathlib import Path

    from tidings.settings import Settings

FILE: Final = "nothing-due.json"
LONGEST: Final = 15 * 60 * 1_000_000
"""Longest validity of a note, in µs."""
DATABASE: Final = "tidings.db"
"""`storage.db.sqlite.FILE`, which is not imported: it loads the database library."""


def nothing_is_due(settings: Settings, now: int) -> bool:
    """Return whether the last check's note says that nothing is due at `now` (µs since 1970)."""
    try:
        note = json.loads((settings.data / FILE).read_bytes())
        return bool(note["at"] <= now < note["until"] and note["of"] == _state(settings))
    except (OSError, ValueError, KeyError, TypeError):
        return False


def note(settings: Settings, *, at: int, until: int | None) -> None:
    """Write the note after the database was closed: as of `at` nothing is due before `until` (None:
    ever).

    Not written while another process has the database open, or if the disk is full.
    """
    until = at + LONGEST if until is None else min(until, at + LONGEST)
    state = _state(settings)
    if until <= at or state is None:
        return
    new = settings.data / f"{FILE}.new"
    with contextlib.suppress(OSError):
        new.touch(mode=0o600)
        new.write_text(json.dumps({"at": at, "until": until, "of": state}), encoding="utf-8")
        new.replace(settings.data / FILE)


def forget(settings: Settings) -> None:
    """Delete the note: something may be due."""
    with contextlib.suppress(OSError):
        (settings.data / FILE).unlink(missing_ok=True)


def _state(settings: Settings) -> list[Any] | None:
    """Return what a note depends on: the version of Tidings, its settings and the database file;
    None while another process has it open, or there is none.
    """
    if settings.store.url or _is_there(settings.data / f"{DATABASE}-wal"):
        return None
    try:
        file = (settings.data / DATABASE).stat()
    except OSError:
        return None
    digest = hashlib.sha256(f"{__version__}\n{settings!r}".encode()).hexdigest()
    return [digest, file.st_ino, file.st_size, file.st_mtime_ns]


def _is_there(path: Path) -> bool:
    try:
        return path.stat().st_size > 0
    except FileNotFoundError:
        return False
    except OSError:
        return True
