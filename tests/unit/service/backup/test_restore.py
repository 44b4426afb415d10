"""A restore replaces everything or nothing, makes new ids, and pauses what reaches this machine."""

import contextlib
import os
import sqlite3
from dataclasses import replace

import pytest

from tests.backups import BODIES, NOON, content, fill
from tidings.errors import BackupError, PollerBusyError, TidingsError
from tidings.model.secret import Secret
from tidings.service.backup.backup import back_up
from tidings.service.backup.package import Manifest, PackageWriter
from tidings.service.backup.restore import restore
from tidings.service.sentinels import register
from tidings.settings import load
from tidings.storage.db import instance
from tidings.storage.db.database import open_database
from tidings.storage.db.lock import PollerLock
from tidings.storage.people import tokens
from tidings.storage.watches import outside, sentinels


def list_sentinels(settings):
    """Return state and reason of each sentinel."""
    with contextlib.closing(open_database(settings, create=False)) as database:
        return {row.name: (row.state, row.reason) for row in database.read(sentinels.listing)}


def epoch(settings):
    """Return the restore epoch, which is part of each id."""
    with contextlib.closing(open_database(settings, create=False)) as database:
        return database.read(instance.load).restore_epoch


def test_existing_data_is_moved_aside_only_on_request(tmp_path):
    """Nothing is deleted: the moved directory is a data directory."""
    back_up(fill(tmp_path / "new", "new"), tmp_path / "b.tar", at=NOON)
    settings = fill(tmp_path / "data", "old")

    with pytest.raises(BackupError, match="has data; --replace moves it aside"):
        restore(settings, tmp_path / "b.tar", at=NOON, ask=None)
    assert (["old"], BODIES) == content(settings.data)
    done = restore(settings, tmp_path / "b.tar", at=NOON, ask=None, replace=True)
    assert (["new"], BODIES) == content(settings.data)
    assert done.aside is not None
    (done.aside / "USED").write_text("used")
    assert (["old"], BODIES) == content(done.aside)


def test_searches_are_moved_aside_with_their_owners(tmp_path):
    """They name owners by numbers, which the restored accounts may have again."""
    back_up(fill(tmp_path / "new", "new"), tmp_path / "b.tar", at=NOON)
    settings = fill(tmp_path / "data", "old")
    names = {"searches.db", "searches.db-wal", "searches.db-shm", "searches.db-journal"}
    for name in names:
        (settings.data / name).write_text(name)
    done = restore(settings, tmp_path / "b.tar", at=NOON, ask=None, replace=True)

    assert done.aside is not None
    assert names == {path.name for path in done.aside.glob("searches.db*")}
    assert [] == list(settings.data.glob("searches.db*"))


def test_each_restore_has_its_own_epoch(tmp_path):
    """Two restores of one backup give no id twice."""
    back_up(fill(tmp_path / "new", "new"), tmp_path / "b.tar", at=NOON)
    one, two = (load(tmp_path / name, environment={}) for name in ("one", "two"))
    for settings in (one, two):
        restore(settings, tmp_path / "b.tar", at=NOON, ask=None)

    assert 3 == len({0, epoch(one), epoch(two)})


def test_restore_ends_all_sessions(tmp_path):
    """A session that was ended after the backup must not come back."""
    source = fill(tmp_path / "new", "new")
    with contextlib.closing(open_database(source)) as database:
        database.write(tokens.begin_session, "digest", 1, NOON)
    back_up(source, tmp_path / "b.tar", at=NOON)
    settings = load(tmp_path / "data", environment={})

    restore(settings, tmp_path / "b.tar", at=NOON, ask=None)

    with contextlib.closing(open_database(settings, create=False)) as database:
        assert database.read(tokens.find_session, "digest", NOON) is None


def test_restore_under_a_running_service_is_refused(tmp_path):
    """The service has the database open."""
    back_up(fill(tmp_path / "new", "new"), tmp_path / "b.tar", at=NOON)
    settings = fill(tmp_path / "data", "old")
    lock = PollerLock(settings.data)
    assert lock.acquire()
    try:
        with pytest.raises(PollerBusyError, match="stop it, then restore"):
            restore(settings, tmp_path / "b.tar", at=NOON, ask=None, replace=True)
    finally:
        lock.release()

    assert (["old"], BODIES) == content(settings.data)


def test_access_to_this_machine_is_paused_until_confirmed(tmp_path):
    """This includes sentinels with commands, files and private addresses, and event sources.
    `--trust` leaves them active.
    """
    environment = {
        "TIDINGS_FETCH_ALLOW_COMMANDS": "true",
        "TIDINGS_FETCH_ALLOW_FILES": "/srv",
        "TIDINGS_EVENTS_ALLOW_FILES": "/srv",
    }
    settings = load(tmp_path / "new", environment=environment)
    text = """Create Event flag Using file "/srv/flag" Every 1 hour
        Create Sentinel com Using command "df" "-h" Monitor all words
        Create Sentinel fil Using file:///srv/a.txt Monitor all words
        Create Sentinel pri Using http://192.168.1.1/ Monitor all words
        Create Sentinel nas Using http://nas/ Monitor all words
        Create Sentinel pub Using https://example.com/ Monitor all words"""
    with contextlib.closing(open_database(settings)) as database:
        register.register(database, text, settings=settings, now=NOON)
    back_up(settings, tmp_path / "b.tar", at=NOON)
    wary, trusting = (load(tmp_path / name, environment={}) for name in ("wary", "trusting"))
    done = restore(wary, tmp_path / "b.tar", at=NOON, ask=None)
    restore(trusting, tmp_path / "b.tar", at=NOON, ask=None, trust=True)

    assert ({"com", "fil", "pri", "nas"}, ("flag",)) == (set(done.paused), done.sources_paused)
    assert {"com", "fil", "pri", "nas"} == {
        name for name, (state, _) in list_sentinels(wary).items() if state == "disabled"
    }
    assert {"created"} == {state for state, _ in list_sentinels(trusting).values()}
    with contextlib.closing(open_database(wary)) as database:
        assert [None] == [row.due_at for row in database.read(outside.listing)]


def test_secrets_are_restored_only_with_the_passphrase(tmp_path):
    """Without it, all other data is restored. A wrong one restores nothing."""
    settings = fill(tmp_path / "new", "new")
    (tmp_path / "new" / "secrets.key").write_text("c4nary-key\n")
    (tmp_path / "new" / "tidings.toml").write_text("[notify]\nsmtp_password = 'c4nary-password'\n")
    plain = back_up(settings, tmp_path / "plain.tar", at=NOON)
    full = back_up(settings, tmp_path / "full.tar", at=NOON, passphrase=Secret("correct horse"))

    assert (False, True) == (plain.manifest.has_secrets, full.manifest.has_secrets)
    assert b"c4nary" not in (tmp_path / "plain.tar").read_bytes() + (tmp_path / "full.tar").read_bytes()
    one = load(tmp_path / "one", environment={})
    with pytest.raises(BackupError, match="the passphrase is wrong"):
        restore(one, tmp_path / "full.tar", at=NOON, ask=lambda: Secret("wrong horse"))
    assert not (one.data / "tidings.db").exists()
    assert not restore(one, tmp_path / "full.tar", at=NOON, ask=None).has_secrets
    assert not (one.data / "secrets.key").exists()
    two = load(tmp_path / "two", environment={})
    assert restore(two, tmp_path / "full.tar", at=NOON, ask=lambda: Secret("correct horse")).has_secrets
    assert "c4nary-key\n" == (two.data / "secrets.key").read_text()
    assert 0o600 == (two.data / "secrets.key").stat().st_mode & 0o777
    with pytest.raises(BackupError, match="shorter than 8"):
        back_up(settings, tmp_path / "x.tar", at=NOON, passphrase=Secret("short"))


def forge(path, database, bodies=()):
    """Write a package with a correct list around any database."""
    with path.open("wb") as file:
        writer = PackageWriter(file)
        writer.add_bytes("tidings.db", database)
        for name, body in bodies:
            writer.add_bytes(name, body)
        writer.end(Manifest("1", "0006", "x", NOON, writer.members))
    return path


HOSTILE = {
    "a trigger": "CREATE TRIGGER t AFTER INSERT ON event BEGIN SELECT 1; END",
    "a view": "CREATE VIEW v AS SELECT 1",
    "a virtual table": "CREATE VIRTUAL TABLE v USING fts5(a)",
    "a body of another place": "INSERT INTO blob (sha256, size, file) VALUES ('x', 1, '../../etc/passwd')",
    "a schema of tomorrow": "UPDATE alembic_version SET version_num = '9999'",
    "a row without its page": "UPDATE subscription SET page_id = 77",
}


@pytest.mark.parametrize("kind", HOSTILE)
def test_hostile_database_is_refused(tmp_path, kind):
    """The list of the package is correct; nothing is replaced."""
    settings = fill(tmp_path / "new", "new")
    with contextlib.closing(sqlite3.connect(settings.data / "tidings.db")) as raw:
        raw.execute("PRAGMA foreign_keys = OFF")
        raw.execute("PRAGMA journal_mode = DELETE")
        raw.execute("DELETE FROM blob")
        raw.execute(HOSTILE[kind])
        raw.commit()
    forged = forge(tmp_path / "b.tar", (settings.data / "tidings.db").read_bytes())
    victim = fill(tmp_path / "data", "old")

    with pytest.raises(TidingsError):
        restore(victim, forged, at=NOON, ask=None, replace=True)
    assert (["old"], BODIES) == content(victim.data)
    assert not (victim.data / "restoring").exists()


def test_invalid_database_is_refused(tmp_path):
    """The bytes are not SQLite."""
    victim = load(tmp_path / "data", environment={})

    with pytest.raises(TidingsError, match="is damaged"):
        restore(victim, forge(tmp_path / "b.tar", b"no database" * 100), at=NOON, ask=None)
    with pytest.raises(TidingsError, match="is damaged"):
        restore(victim, forge(tmp_path / "c.tar", os.urandom(5_000)), at=NOON, ask=None)


def test_postgresql_is_restored_by_its_own_tools(tmp_path):
    """The error names `pg_restore`."""
    settings = load(tmp_path / "data", environment={})
    settings = replace(settings, store=replace(settings.store, url="postgresql://x/y"))

    with pytest.raises(BackupError, match="pg_restore"):
        restore(settings, tmp_path / "b.tar", at=NOON, ask=None)
