from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.stores import World
from tidings.errors import StoreError, StoreMissingError, StoreNewerError
from tidings.settings import Settings, StoreSettings
from tidings.storage import secrets
from tidings.storage.db import database as database_module
from tidings.storage.db import schema
from tidings.storage.db.database import REVISIONS, open_database, quick_check
from tidings.storage.watches import sentinels

_NEXT = "9000"
_NEXT_STEP = "CREATE TABLE extra (\n  id BIGINT NOT NULL,\n  CONSTRAINT pk_extra PRIMARY KEY (id)\n);\n"


@pytest.fixture
def newer(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """Make this version know one more step of the schema; return the step's file."""
    steps = tmp_path / "migrations"
    shutil.copytree(schema.FOLDER, steps)
    monkeypatch.setattr(schema, "FOLDER", steps)
    monkeypatch.setattr(database_module, "REVISIONS", (*REVISIONS, _NEXT))
    return steps / f"{_NEXT}_extra.sql"


def test_revisions_are_the_packed_steps():
    """`REVISIONS` names exactly the packed files, in their order."""
    assert list(REVISIONS) == list(schema.steps())


def test_older_database_is_copied_before_its_migration(world: World, newer: Path):
    """The copy is named after the old revision, and the migrated database has all data (F-13)."""
    newer.write_text(_NEXT_STEP)
    world.watch("news")
    world.database.close()
    migrated = open_database(world.settings)

    assert ["news"] == migrated.read(sentinels.names)
    assert 0 == migrated.read(lambda c: c.value("SELECT count(*) FROM extra"))
    assert _NEXT == migrated.read(lambda c: c.value("SELECT version_num FROM alembic_version"))
    migrated.close()
    copy = world.settings.data.with_name("copy")
    copy.mkdir()
    shutil.copy(world.settings.data / f"tidings.db.before-migration-from-{REVISIONS[-1]}", copy / "tidings.db")
    kept = open_database(Settings(data=copy))
    assert ["news"] == kept.read(sentinels.names)
    kept.close()


def test_failed_migration_leaves_the_old_database(world: World, newer: Path):
    """Nothing of the step remains, and the old version can go on."""
    newer.write_text(_NEXT_STEP + "INSERT INTO nowhere VALUES (1);\n")
    world.watch("news")
    world.database.close()
    with pytest.raises(StoreError, match="nowhere"):
        open_database(world.settings)
    database_module.REVISIONS = REVISIONS  # the old version again; monkeypatch restores it
    old = open_database(world.settings)

    assert ["news"] == old.read(sentinels.names)
    assert not old._driver.has_table("extra")
    old.close()


def test_newer_database_is_refused_unchanged(world: World):
    """The error says how to update Tidings; the file is equal byte for byte."""
    world.write(lambda c: c.execute("UPDATE alembic_version SET version_num = '9999'"))
    world.database.close()
    path = world.settings.data / "tidings.db"
    before = path.read_bytes()

    with pytest.raises(StoreNewerError, match=r"9999.*pip install"):
        open_database(world.settings)
    assert before == path.read_bytes()


def test_opening_a_database_imports_nothing_slow(world: World):
    """Opening, reading and writing an up-to-date database imports neither asyncio nor psycopg, and
    does not read the schema.
    """
    program = (
        "import sys; from pathlib import Path; from tidings.settings import Settings;"
        "from tidings.storage.watches import sentinels, changes; from tidings.storage import secrets; from tidings.storage.db.database import open_database;"
        "d = open_database(Settings(data=Path(sys.argv[1]))); d.read(sentinels.listing); d.write(secrets.put, 'a', 'b');"
        "print({'asyncio', 'psycopg', 'tidings.storage.db.schema'} & sys.modules.keys())"
    )
    command = [sys.executable, "-c", program, str(world.settings.data)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)

    assert "set()" == done.stdout.strip()


def test_url_of_another_product_is_refused(tmp_path: Path):
    """The error does not have the password."""
    with pytest.raises(StoreError, match="must begin with postgresql://") as caught:
        open_database(Settings(data=tmp_path, store=StoreSettings(url="mysql://u:hidden@h/d")))

    assert "hidden" not in str(caught.value)


def test_unreachable_server_is_an_error_that_names_the_setting(tmp_path: Path):
    """The error does not have the password."""
    url = "postgresql://u:hidden@127.0.0.1:9/d"
    with pytest.raises(StoreError, match=r"store\.url") as caught:
        open_database(Settings(data=tmp_path, store=StoreSettings(url=url)))

    assert "hidden" not in str(caught.value)


def test_empty_database_is_not_filled_without_create(world: World):
    """An existing file without a schema is refused."""
    path = world.settings.data / "tidings.db"
    world.database.close()
    empty = world.settings.data.with_name("empty")
    empty.mkdir()
    shutil.copy(path, empty / "tidings.db")
    driver = open_database(Settings(data=empty))
    driver.write(lambda c: c.execute("DROP TABLE alembic_version"))
    driver.close()

    with pytest.raises(StoreError, match="tidings doctor"):
        open_database(Settings(data=empty), create=False)


def test_quick_check_finds_an_orphaned_row(world: World):
    """In an intact database it finds nothing."""
    world.watch()
    assert [] == quick_check(world.database)
    world.database._driver._raw.execute("PRAGMA query_only = OFF")  # type: ignore[attr-defined]
    world.database._driver._raw.execute("PRAGMA foreign_keys = OFF")  # type: ignore[attr-defined]
    world.write(lambda c: c.execute("DELETE FROM sentinel"))

    assert any("a row of subscription names a row of sentinel" in fault for fault in quick_check(world.database))


def test_broken_pipe_in_a_read_is_not_a_database_error(world: World):
    """`tidings show NAME | head` prints while it reads: the command itself handles the broken pipe."""

    def print_row(connection: object) -> None:
        raise BrokenPipeError

    with pytest.raises(BrokenPipeError):
        world.database.read(print_row)


def test_reader_does_not_create_a_database(tmp_path: Path):
    """The directory stays empty."""
    with pytest.raises(StoreMissingError):
        open_database(Settings(data=tmp_path), create=False)
    assert [] == list(tmp_path.iterdir())


def test_data_directories_do_not_share_secrets(world: World, tmp_path: Path):
    """Each has its own database."""
    world.write(secrets.put, "a", "b")
    other = open_database(Settings(data=tmp_path / "other"))

    assert [] == other.read(secrets.names)
    other.close()


def test_concurrent_first_uses_create_one_database(tmp_path: Path):
    """Three processes that start together all use it."""
    program = (
        "import sys; from pathlib import Path; from tidings.settings import Settings; from tidings.storage import secrets;"
        "from tidings.storage.db.database import open_database; d = open_database(Settings(data=Path(sys.argv[1])));"
        "d.write(secrets.put, sys.argv[2], 'x'); d.close()"
    )
    data = tmp_path / "data"
    children = [
        subprocess.Popen([sys.executable, "-c", program, str(data), name], stderr=subprocess.PIPE, text=True)
        for name in "abc"
    ]
    assert [""] * 3 == [child.communicate(timeout=60)[1] for child in children]

    database = open_database(Settings(data=data))
    assert list("abc") == database.read(secrets.names)
    assert 1 == database.read(lambda c: c.value("SELECT count(*) FROM instance"))
    database.close()


def test_directory_that_cannot_be_made_is_an_error(tmp_path: Path):
    """The error names `--data`."""
    (tmp_path / "file").write_text("")

    with pytest.raises(StoreError, match="--data"):
        open_database(Settings(data=tmp_path / "file" / "data"))
