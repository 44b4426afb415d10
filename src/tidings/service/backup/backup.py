"""Write a backup while the service runs: one state of the database, then the files that it names
(`BlobFiles.hold`).
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import os
import re
import shutil
import tempfile
from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Final

from tidings import __version__, disk
from tidings.archive.archive import Archive
from tidings.clock import SECOND
from tidings.errors import BackupError, BlobError, StoreFullError
from tidings.model.interval import Instant
from tidings.model.secret import Secret
from tidings.record import dataclass, replace
from tidings.service.backup.package import BLOBS, DATABASE, KEYS, LOCKED, SETTINGS, Manifest, PackageWriter, lock
from tidings.settings import Settings, StoreSettings
from tidings.storage import secrets
from tidings.storage.db import instance
from tidings.storage.db.database import REVISIONS, Database, copy_to, open_database, quick_check
from tidings.storage.observed import versions
from tidings.storage.secrets import read_keys

if TYPE_CHECKING:
    from tidings.storage.db.connection import Connection

STEM: Final = "tidings-backup-"
_WORK: Final = f".{STEM}"
"""Prefix of the temporary folders of backups."""
_OURS: Final = re.compile(r"tidings-backup-(\d{4}-\d\d-\d\d-\d{6})(?:-(\d+))?\.tar")


@dataclass(frozen=True, slots=True)
class Made:
    """A finished backup: its path, manifest and size in bytes, and the older ones that were
    deleted; the secret files in it, and the names of secrets that they cannot decrypt.
    """

    path: Path
    manifest: Manifest
    size: int
    deleted: tuple[Path, ...] = ()
    secret_files: tuple[str, ...] = ()
    shut: tuple[str, ...] = ()


def back_up(
    settings: Settings,
    target: Path,
    *,
    at: Instant,
    passphrase: Secret | None = None,
    keep: int = 0,
    overwrite: bool = False,
    check: Callable[[Path], object] | None = None,
) -> Made:
    """Write a backup. The file appears complete or not at all, even if interrupted.

    Raises `BackupError` where the target cannot be written or exists, and after a backup with
    bodies that cannot be read or that fails its check: then all older ones stay, also the one that
    it would have replaced, and it is kept under another name, one at most. Raises `StoreError` for
    a database other than SQLite.

    Args:
        settings: The settings in use.
        target: A file, or a directory, in which the file is named after the time.
        at: Wall time (µs).
        passphrase: With it the key of secrets and the settings file are included, encrypted; None
            leaves them out.
        keep: In a directory, how many of the newest backups stay; older ones are deleted once the
            new one is there. 0: all.
        overwrite: Whether an existing file is replaced.
        check: Verifies the new backup before older ones are replaced or deleted; None: only its
            bodies are, if older ones are.
    """
    is_folder = target.is_dir()
    if keep and not is_folder:
        raise BackupError(f"--keep needs a directory, and {target} is not one; `mkdir -p {target}` makes one")
    path = _free_name(target, at) if is_folder else target
    damaged = target / f"{STEM}damaged.tar" if is_folder else path.with_name(f"{path.stem}.damaged{path.suffix}")
    replaces = bool(keep) or path.exists()
    if path.exists() and not overwrite:
        raise BackupError(f"{path} already exists; name another file, or use --overwrite")
    database = open_database(settings, create=False)
    try:
        archive = Archive(settings.data / "blobs", file_bytes=None, chain_length=1)
        with _work(path) as work, archive.hold_files():
            made = _write(settings, database, archive, work, at=at, passphrase=passphrase)
            fault = _find_fault(work, archive, check, replaces=replaces)
            (work / "part").replace(damaged if fault else path)
            disk.sync(path.parent)
    except OSError as error:
        raise BackupError(f"{path} cannot be written: {error.strerror or error}; no backup was made") from error
    finally:
        database.close()
    if fault:
        raise BackupError(f"{path} is not made: {fault}; what there is of it is {damaged}, and older backups are kept")
    return replace(made, path=path, deleted=_delete_older(path, keep) if keep else ())


def _find_fault(work: Path, archive: Archive, check: Callable[[Path], object] | None, *, replaces: bool) -> str:
    """Return why a written backup must not replace others, empty if it may."""
    if check is None:
        lost = _list_lost(work, archive) if replaces else []
        return f"it lacks {len(lost):,} of the stored bodies: {lost[0]}" if lost else ""
    try:
        check(work / "part")
    except BackupError as error:
        return str(error).removeprefix(f"{work / 'part'}: ").replace(str(work / "part"), "it")
    except OSError as error:
        return f"it cannot be checked: {error.strerror or error}"
    return ""


def _list_lost(work: Path, archive: Archive) -> list[str]:
    """Return why bodies of the copied database cannot be read, one line for each."""
    lost = []
    with contextlib.closing(open_database(at_rest(work), create=False)) as copied:
        for blob in copied.read(versions.blobs):
            try:
                archive.restore(blob.sha256, lambda name: copied.read(versions.blob, name))
            except BlobError as error:
                lost.append(str(error))
    return lost


def _write(
    settings: Settings, database: Database, archive: Archive, work: Path, *, at: Instant, passphrase: Secret | None
) -> Made:
    secret_files = {} if passphrase is None else _read_secret_files(settings)
    try:
        copy_to(database, work / DATABASE)
    except StoreFullError as error:  # it names the database, and means its copy
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC)) from error
    copied = open_database(at_rest(work), create=False)
    try:
        if faults := quick_check(copied):
            raise BackupError(
                f"the database is damaged, so no backup is made: {faults[0]}; `tidings doctor` shows details"
            )
        names, installation = sorted(copied.read(versions.files)), copied.read(instance.load).id
        if passphrase is not None:
            secret_files = _join(secret_files, _read_secret_files(settings))
        shut = [] if passphrase is None else copied.read(_list_shut, secret_files.get(KEYS, b""))
    finally:
        copied.close()
    with (work / "part").open("xb") as file:
        os.fchmod(file.fileno(), 0o600)
        package = PackageWriter(file)
        with (work / DATABASE).open("rb") as source:
            package.add(DATABASE, source)
        for name in names:
            with archive.open_file(name) as source:
                package.add(f"{BLOBS}{name}", source)
        if passphrase is not None:
            locked = lock(secret_files, passphrase)
            if secret_files:
                package.add_bytes(LOCKED, locked)
        manifest = Manifest(__version__, REVISIONS[-1], installation, at, package.members)
        package.end(manifest)
        file.flush()
        os.fsync(file.fileno())
        size = file.tell()
    return Made(work / "part", manifest, size, secret_files=tuple(secret_files), shut=tuple(shut))


def _read_secret_files(settings: Settings) -> dict[str, bytes]:
    """Return the key file and the settings in use, as far as there are any."""
    paths = {KEYS: settings.data / KEYS, SETTINGS: settings.file or settings.data / SETTINGS}
    return {name: path.read_bytes() for name, path in paths.items() if path.is_file()}


def _join(before: Mapping[str, bytes], after: Mapping[str, bytes]) -> dict[str, bytes]:
    """Return the secret files with the keys of both: the database may have been copied before or
    after a change of the key.
    """
    lines = dict.fromkeys(line for files in (after, before) for line in files.get(KEYS, b"").splitlines())
    keys = {KEYS: b"".join(line + b"\n" for line in lines)} if lines else {}
    return {**keys, **{name: content for name, content in {**before, **after}.items() if name != KEYS}}


def _list_shut(connection: Connection, keys: bytes) -> list[str]:
    """Return the names of the secrets that these keys cannot decrypt."""
    try:
        known = read_keys(keys)
    except ValueError:
        known = {}
    return sorted({row.name for row in secrets.listing(connection) if row.key_id and row.key_id not in known})


def at_rest(data: Path) -> Settings:
    """Return settings for a directory in which nothing runs."""
    return Settings(data=data, store=StoreSettings(url=""))


@contextlib.contextmanager
def _work(path: Path) -> Iterator[Path]:
    """Yield a temporary folder beside the file, on the same disk.

    Removes folders of interrupted backups there, of any file: in a directory each backup has its
    own name.
    """
    for left in path.parent.glob(f"{_WORK}*"):
        _remove_unless_locked(left)
    work, handle = _make_locked(path.parent)
    try:
        yield work
    finally:
        shutil.rmtree(work, ignore_errors=True)
        os.close(handle)


def _make_locked(parent: Path) -> tuple[Path, int]:
    """Create a locked folder; another backup may remove it before it is locked."""
    while True:
        work = Path(tempfile.mkdtemp(prefix=_WORK, dir=parent))
        with contextlib.suppress(FileNotFoundError):
            handle = os.open(work, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
            fcntl.flock(handle, fcntl.LOCK_EX)
            if work.is_dir():
                return work, handle
            os.close(handle)


def _remove_unless_locked(folder: Path) -> None:
    try:
        handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    except OSError:  # a file or link, another process's, or gone
        return
    try:
        if disk.lock(handle):
            shutil.rmtree(folder, ignore_errors=True)
    finally:
        os.close(handle)


def _free_name(folder: Path, at: Instant) -> Path:
    stem = f"{STEM}{datetime.fromtimestamp(at // SECOND, UTC):%Y-%m-%d-%H%M%S}"
    names = (f"{stem}.tar", *(f"{stem}-{number}.tar" for number in range(2, 1_000)))
    return next(folder / name for name in names if not (folder / name).exists())


def _delete_older(made: Path, keep: int) -> tuple[Path, ...]:
    """Delete all but the newest, never the one just made: the clock may have been ahead before."""
    found = [(match, path) for path in made.parent.iterdir() if (match := _OURS.fullmatch(path.name))]
    others = sorted((match[1], int(match[2] or 1), path) for match, path in found if path != made)
    older = tuple(path for _, _, path in others[: max(0, len(others) - (keep - 1))])
    for path in older:
        path.unlink(missing_ok=True)
    return older
