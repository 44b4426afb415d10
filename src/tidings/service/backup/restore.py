"""Verify a backup: every byte is as written, its database is intact, and nothing that it names is
missing. Restore it: prepare and check everything beside the present data, then replace that
atomically (`storage.db.restored`).
"""

from __future__ import annotations

import contextlib
import ipaddress
import os
import secrets as chance
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, Final

from tidings.archive.archive import Archive
from tidings.errors import BackupError, BlobError, PollerBusyError
from tidings.fetching import files
from tidings.fetching.network_guard import Guard
from tidings.model.observed.unit import Event, SentinelMove
from tidings.model.url import split_url
from tidings.model.watch import asking
from tidings.record import dataclass
from tidings.service.backup.backup import at_rest
from tidings.service.backup.package import BLOBS, DATABASE, LOCKED, Manifest, Package, unlock
from tidings.service.watch.watchlist import read_meaning
from tidings.storage.db import instance
from tidings.storage.db.database import Database, check_is_plain, has_been_used, open_database, quick_check
from tidings.storage.db.lock import PollerLock
from tidings.storage.db.restored import PREPARED, decide, finish, mark_used
from tidings.storage.observed import versions
from tidings.storage.people import tokens
from tidings.storage.watches import events, outside, sentinels
from tidings.storage.write import invariants
from tidings.storage.write.copies import RESTORED

if TYPE_CHECKING:
    from collections.abc import Callable

    from tidings.model.interval import Instant
    from tidings.model.secret import Secret
    from tidings.model.watch.sentinel import Sentinel
    from tidings.settings import Settings
    from tidings.storage.db.connection import Connection

SHOWN: Final = 3


@dataclass(frozen=True, slots=True)
class Verified:
    """The content of a backup: its manifest, the numbers of living sentinels and bodies, and
    whether each body was restored.
    """

    manifest: Manifest
    sentinels: int
    bodies: int
    is_deep: bool


def verify(path: Path, *, deep: bool = False) -> Verified:
    """Raise `BackupError` unless a file can be restored; with `deep` every body is restored and
    verified by its hash, which needs disk space.
    """
    with contextlib.closing(Package(path)) as package, tempfile.TemporaryDirectory(prefix="tidings-verify-") as folder:
        where = Path(folder)
        for name in package.manifest.members:
            if deep or name == DATABASE:
                with new_file(where / name) as target:
                    package.copy(name, target)
            else:
                package.copy(name, None)
        with open_backup(package, where) as database:
            bodies = database.read(versions.blobs)
            if deep:
                _give_back(package, database, where)
            return Verified(package.manifest, len(database.read(sentinels.listing)), len(bodies), deep)


@contextlib.contextmanager
def open_backup(package: Package, where: Path) -> Iterator[Database]:
    """Open the database extracted from a backup after checks: no code in it, intact, and no named
    file missing.

    Raises `BackupError`; an older schema is migrated to the newest.
    """
    check_is_plain(where / DATABASE)
    mark_used(where)
    database = open_database(at_rest(where), create=False)
    try:
        faults = quick_check(database, deep=True) or database.read(invariants.check)
        named = {f"{BLOBS}{name}" for name in database.read(versions.files)}
        faults = faults or [f"{name} is missing" for name in sorted(named - package.manifest.members.keys())]
        if faults:
            more = f", and {len(faults) - SHOWN} more" if len(faults) > SHOWN else ""
            raise BackupError(
                f"{package.path}: its database is damaged: {'; '.join(faults[:SHOWN])}{more}. Try another backup"
            )
        yield database
    finally:
        database.close()


def new_file(path: Path) -> BinaryIO:
    """Create and open a new file, with its parent folders."""
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    return path.open("xb")


def _give_back(package: Package, database: Database, where: Path) -> None:
    archive = Archive(where / "blobs", file_bytes=None, chain_length=1)
    for blob in database.read(versions.blobs):
        try:
            archive.restore(blob.sha256, lambda name: database.read(versions.blob, name))
        except BlobError as error:
            raise BackupError(f"{package.path}: {error}") from error


PAUSED: Final = "restored from a backup, and uses this machine or its network"


@dataclass(frozen=True, slots=True)
class Restored:
    """The result of a restore: the backup's manifest, the number of living sentinels, the paused
    ones, and the folder with the former data.
    """

    manifest: Manifest
    sentinels: int
    paused: tuple[str, ...]
    sources_paused: tuple[str, ...]
    tokens: tuple[str, ...]
    """API tokens that are valid again, including those revoked since the backup."""
    has_secrets: bool
    aside: Path | None


def restore(
    settings: Settings,
    path: Path,
    *,
    at: Instant,
    ask: Callable[[], Secret] | None,
    replace: bool = False,
    trust: bool = False,
) -> Restored:
    """Restore a backup into the data directory, completely or not at all; ids of messages and
    changes get a new random epoch.

    Raises `BackupError` for a file that is not an intact backup, and for a directory in use unless
    `replace`; `PollerBusyError` while a process polls it.

    Args:
        settings: The settings in use; PostgreSQL is restored with its own programs.
        path: The backup.
        at: When (µs).
        ask: Asks for the passphrase, only if needed; None leaves the secrets out.
        replace: Whether a directory with data is replaced; its data is moved aside, not deleted.
        trust: Whether sentinels of commands, files and private addresses resume at once; else they
            are paused.
    """
    if settings.store.url:
        raise BackupError("store.url names PostgreSQL, which restores its own backups: pg_restore --clean --dbname=…")
    data = settings.data
    data.mkdir(mode=0o700, parents=True, exist_ok=True)
    finish(data)
    with contextlib.closing(Package(path)) as package:
        if has_been_used(data) and not replace:
            raise BackupError(f"{data} has data; --replace moves it aside first, --data DIR names another directory")
        lock = PollerLock(data)
        if not lock.acquire():
            raise PollerBusyError(f"a Tidings (process {lock.holder()}) runs on {data}; stop it, then restore")
        try:
            return _put_in_place(data, package, at=at, ask=ask, trust=trust)
        except OSError as error:
            raise BackupError(f"{data} cannot be written: {error.strerror or error}; nothing was changed") from error
        finally:
            lock.release()


def _put_in_place(
    data: Path, package: Package, *, at: Instant, ask: Callable[[], Secret] | None, trust: bool
) -> Restored:
    prepared = data / PREPARED
    shutil.rmtree(prepared, ignore_errors=True)
    prepared.mkdir(mode=0o700)
    try:
        has_secrets = _unpack(package, prepared, ask)
        with open_backup(package, prepared) as database:
            paused, sources = database.write(_begin_anew, at=at, trust=trust)
            count = len(database.read(sentinels.listing))
            names = tuple(row.name for row in database.read(tokens.listing))
        for name in ("USED", "lock"):
            (prepared / name).unlink(missing_ok=True)
        before = {entry.name for entry in data.iterdir()}
        decide(data)
    except BaseException:
        shutil.rmtree(prepared, ignore_errors=True)
        raise
    finish(data)
    new = sorted({entry.name for entry in data.iterdir()} - before - {PREPARED})
    aside = next((data / name for name in new if name.startswith("before-restore-")), None)
    return Restored(package.manifest, count, paused, sources, names, has_secrets, aside)


def _unpack(package: Package, where: Path, ask: Callable[[], Secret] | None) -> bool:
    """Copy the members, each checked against the manifest; return whether secrets came with it."""
    (where / "blobs").mkdir(mode=0o700)
    secret = {}
    if LOCKED in package.manifest.members and ask is not None:
        secret = unlock(package.content(LOCKED), ask())
    for name in package.manifest.members:
        if name != LOCKED:
            with new_file(where / name) as target:
                os.fchmod(target.fileno(), 0o600)
                package.copy(name, target)
    for name, content in secret.items():
        with new_file(where / name) as target:
            os.fchmod(target.fileno(), 0o600)
            target.write(content)
    os.sync()  # all files at once: one by one takes some hundredths of a second each
    return bool(secret)


def _begin_anew(connection: Connection, *, at: Instant, trust: bool) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Start new ids, and pause what accesses the machine; return the names of the sentinels and of
    the sources of events.
    """
    instance.raise_epoch(connection, chance.randbelow(2**31) + 1)
    instance.set_place(connection, "")
    tokens.clear_sessions(connection)  # sessions ended since the backup must stay ended
    events.append(connection, [Event(type=RESTORED, at=at, data={"reason": "it was restored from a backup"})])
    if trust:
        return (), ()
    paused = []
    for row in sentinels.listing(connection):
        if row.state in {"created", "waiting", "enabled"} and _reaches_inside(read_meaning(row)):
            sentinels.move(connection, SentinelMove(sentinel_id=row.id, state="disabled", at=at, reason=PAUSED))
            paused.append(row.name)
    sources = [row.name for row in outside.listing(connection) if row.due_at is not None]
    for name in sources:
        outside.pause(connection, name, why="it was restored from a backup: drop it and add it again")
    return tuple(paused), tuple(sources)


def _reaches_inside(sentinel: Sentinel) -> bool:
    """Return whether a sentinel runs a command, reads a file, or has a literal address that is not
    public.
    """
    return any(
        asking.is_command(page.url) or files.is_file(page.url) or _is_private(split_url(page.url).hostname or "")
        for page in sentinel.pages
    )


def _is_private(host: str) -> bool:
    with contextlib.suppress(ValueError):
        return not Guard().allows(ipaddress.ip_address(host))
    return "." not in host or host.endswith((".local", ".localhost", ".internal", ".lan", ".home.arpa"))
