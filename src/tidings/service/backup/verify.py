"""Verify a backup: every byte is as written, its database is intact, and nothing that it names is
missing.
"""

from __future__ import annotations

import contextlib
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO, Final

from tidings.archive.archive import Archive
from tidings.errors import BackupError, BlobError
from tidings.record import dataclass
from tidings.service.backup.backup import at_rest
from tidings.service.backup.package import BLOBS, DATABASE, Manifest, Package
from tidings.storage.db.database import Database, check_is_plain, open_database, quick_check
from tidings.storage.db.restored import mark_used
from tidings.storage.observed import versions
from tidings.storage.watches import sentinels
from tidings.storage.write import invariants

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
