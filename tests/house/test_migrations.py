"""A schema that has landed stays as it is: databases of it exist."""

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


def test_a_migration_that_has_landed_is_never_edited():
    """Two databases that both say 0003 are alike: what a landed file would have to say besides goes into a new one."""
    found = {name: hashlib.sha256((STEPS / name).read_bytes()).hexdigest() for name in LANDED}

    assert LANDED == found


def test_every_migration_but_the_newest_has_landed():
    """Whoever adds a migration first notes the one before it in tests/stored/landed.sha256."""
    files = {path.name[:4]: path.name for path in STEPS.glob("0*.sql")}

    assert list(REVISIONS) == sorted(files)
    assert {files[revision] for revision in REVISIONS[:-1]} <= set(LANDED)
