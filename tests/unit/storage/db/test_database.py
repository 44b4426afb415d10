from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.stores import World
from tidings.errors import StoreError, StoreMissingError, StoreNewerError
from tidings.settings import Settings, StoreSettings
from tidings.storage.db import database as database_module
from tidings.storage.db import schema
from tidings.storage.db.database import REVISIONS, open_database, quick_check
from tidings.storage.secrets import secrets
from tidings.storage.watches import sentinels

_NEXT = "9000"
_NEXT_STEP = "CREATE TABLE extra (\n  id BIGINT NOT NULL,\n  CONSTRAINT pk_extra PRIMARY KEY (id)\n);\n"


@pytest.fixture
def newer(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """Make this Tidings one that knows one more schema; return its step's file."""
    steps = tmp_path / "migrations"
    shutil.copytree(schema.FOLDER, steps)
    monkeypatch.setattr(schema, "FOLDER", steps)
    monkeypatch.setattr(database_module, "REVISIONS", (*REVISIONS, _NEXT))
    return steps / f"{_NEXT}_extra.sql"


def test_the_constant_is_the_newest_step():
    """`REVISIONS` names exactly the steps that are packed, in their order."""
    assert list(REVISIONS) == list(schema.steps())


def test_an_older_database_is_copied_then_migrated(world: World, newer: Path):
    """A migration keeps a copy of what was, under the old revision's name, and all data (F-13)."""
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


def test_a_migration_that_fails_leaves_the_old_database(world: World, newer: Path):
    """A step that fails leaves nothing of itself; the old Tidings can go on."""
    newer.write_text(_NEXT_STEP + "INSERT INTO nowhere VALUES (1);\n")
    world.watch("news")
    world.database.close()
    with pytest.raises(StoreError, match="nowhere"):
        open_database(world.settings)
    database_module.REVISIONS = REVISIONS  # the old Tidings again; monkeypatch puts it right
    old = open_database(world.settings)

    assert ["news"] == old.read(sentinels.names)
    assert not old._driver.has_table("extra")
    old.close()


def test_a_newer_database_is_left_untouched(world: World):
    """A revision that this Tidings does not know is refused with what helps, and no byte is written."""
    world.write(lambda c: c.execute("UPDATE alembic_version SET version_num = '9999'"))
    world.database.close()
    path = world.settings.data / "tidings.db"
    before = path.read_bytes()

    with pytest.raises(StoreNewerError, match=r"9999.*pip install"):
        open_database(world.settings)
    assert before == path.read_bytes()


def test_nothing_slow_is_in_the_way_of_queries(world: World):
    """Opening, reading and writing an up-to-date database imports neither asyncio nor the other product's library, nor reads the schema."""
    program = (
        "import sys; from pathlib import Path; from tidings.settings import Settings;"
        "from tidings.storage.watches import sentinels, changes; from tidings.storage.secrets import secrets; from tidings.storage.db.database import open_database;"
        "d = open_database(Settings(data=Path(sys.argv[1]))); d.read(sentinels.listing); d.write(secrets.put, 'a', 'b');"
        "print({'asyncio', 'psycopg', 'tidings.storage.db.schema'} & sys.modules.keys())"
    )
    command = [sys.executable, "-c", program, str(world.settings.data)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)

    assert "set()" == done.stdout.strip()


def test_a_url_must_be_one_of_postgresql(tmp_path: Path):
    """Another kind of URL is refused, without a word of its password."""
    with pytest.raises(StoreError, match="must begin with postgresql://") as caught:
        open_database(Settings(data=tmp_path, store=StoreSettings(url="mysql://u:hidden@h/d")))

    assert "hidden" not in str(caught.value)


def test_a_server_that_does_not_answer_says_so(tmp_path: Path):
    """An unreachable PostgreSQL is an error that names the setting and hides the password."""
    url = "postgresql://u:hidden@127.0.0.1:9/d"
    with pytest.raises(StoreError, match=r"store\.url") as caught:
        open_database(Settings(data=tmp_path, store=StoreSettings(url=url)))

    assert "hidden" not in str(caught.value)


def test_a_directory_with_an_empty_database_is_not_filled_unasked(world: World):
    """With `create` off an existing file without a schema is refused."""
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


def test_a_sound_database_has_no_findings(world: World):
    """`quick_check` finds nothing in a whole database, and an orphan row in one that lost its parent."""
    world.watch()
    assert [] == quick_check(world.database)
    world.database._driver._raw.execute("PRAGMA query_only = OFF")  # type: ignore[attr-defined]
    world.database._driver._raw.execute("PRAGMA foreign_keys = OFF")  # type: ignore[attr-defined]
    world.write(lambda c: c.execute("DELETE FROM sentinel"))

    assert any("a row of subscription names a row of sentinel" in fault for fault in quick_check(world.database))


def test_a_reader_of_the_output_who_stops_is_no_fault_of_the_database(world: World):
    """`tidings show NAME | head` prints while it reads: the command itself handles the broken pipe."""

    def print_row(connection: object) -> None:
        raise BrokenPipeError

    with pytest.raises(BrokenPipeError):
        world.database.read(print_row)


def test_a_missing_database_is_not_made_for_a_reader(tmp_path: Path):
    """A verb that only reads makes nothing."""
    with pytest.raises(StoreMissingError):
        open_database(Settings(data=tmp_path), create=False)
    assert [] == list(tmp_path.iterdir())


def test_secrets_of_one_database_are_not_in_another(world: World, tmp_path: Path):
    """Two data directories share nothing."""
    world.write(secrets.put, "a", "b")
    other = open_database(Settings(data=tmp_path / "other"))

    assert [] == other.read(secrets.names)
    other.close()


def test_processes_that_start_together_make_one_database(tmp_path: Path):
    """Three first uses at the same moment end with one database that all of them use."""
    program = (
        "import sys; from pathlib import Path; from tidings.settings import Settings; from tidings.storage.secrets import secrets;"
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


def test_a_directory_that_cannot_be_made_is_said_so(tmp_path: Path):
    """A path that is no directory is an error of the store that names it."""
    (tmp_path / "file").write_text("")

    with pytest.raises(StoreError, match="--data"):
        open_database(Settings(data=tmp_path / "file" / "data"))
