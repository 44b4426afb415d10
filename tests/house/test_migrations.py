"""A landed migration never changes, since databases with it exist."""

from __future__ import annotations

import hashlib
from pathlib import Path

from tidings.storage.db.database import REVISIONS

REPOSITORY = Path(__file__).parents[2]
STEPS = REPOSITORY / "src/tidings/storage/migrations"
LANDED = {
    name: digest
    for digest, name in (
        line.split() for line in (REPOSITORY / "tests/stored/landed.sha256").read_text(encoding="utf-8").splitlines()
    )
}


def test_landed_migration_is_never_edited():
    """Two databases at 0003 must be alike: add a new file instead."""
    found = {name: hashlib.sha256((STEPS / name).read_bytes()).hexdigest() for name in LANDED}

    assert LANDED == found


def test_all_migrations_but_the_newest_are_recorded_as_landed():
    """When you add a migration, first add the one before it to tests/stored/landed.sha256."""
    files = {path.name[:4]: path.name for path in STEPS.glob("0*.sql")}

    assert list(REVISIONS) == sorted(files)
    assert {files[revision] for revision in REVISIONS[:-1]} <= set(LANDED)
