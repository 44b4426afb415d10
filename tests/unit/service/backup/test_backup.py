"""A backup is made during writes, and is complete or does not exist."""

import contextlib
import errno
import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.backups import BODIES, NOON, content, fill, put
from tidings.archive.archive import Archive
from tidings.clock import HOUR
from tidings.errors import BackupError, StoreBusyError, StoreFullError
from tidings.model.secret import Secret
from tidings.service.backup import backup
from tidings.service.backup.backup import back_up
from tidings.service.backup.restore import restore, verify
from tidings.settings import load
from tidings.storage.db.database import copy_to, open_database
from tidings.storage.observed import versions
from tidings.storage.secrets import Vault


def run_with_kills(kind, folder):
    """Run `backups.py`, which kills a backup or restore at each call, in its own process."""
    path = Path(__file__).parents[3] / "backups.py"
    ran = subprocess.run(
        [sys.executable, path, kind, folder],
        cwd=path.parents[1],
        env={"PYTHONPATH": "."},
        capture_output=True,
        check=True,
    )
    return json.loads(ran.stdout)


def test_kill_at_any_call_leaves_a_complete_backup_or_none(tmp_path):
    """The next backup deletes the remains."""
    found = run_with_kills("backup", tmp_path)

    assert [] == found["wrong"]
    assert found["kills"] > 10


def test_kill_at_any_call_of_a_restore_leaves_the_old_or_the_new_data(tmp_path):
    """The data is never a mixture, and the same restore can be repeated."""
    found = run_with_kills("restore", tmp_path)

    assert [] == found["wrong"]
    assert found["kills"] > 20
    assert {"old", "new"} == set(found["states"])


def test_writes_during_a_backup_do_not_affect_it(tmp_path, monkeypatch):
    """After the copy of the database, a version is added and a file that the copy names is removed:
    the backup still has the file.
    """
    settings = fill(tmp_path / "data", "one")

    def copy_and_go_on(database, path):
        copy_to(database, path)
        archive = Archive(tmp_path / "data" / "blobs", file_bytes=100, chain_length=10)
        names = database.read(versions.files)
        put(database, archive, b"new" * 1_000)
        archive.remove(names)
        assert not any((tmp_path / "data" / "blobs" / name).exists() for name in names)

    monkeypatch.setattr(backup, "copy_to", copy_and_go_on)
    made = back_up(settings, tmp_path / "b.tar", at=NOON)

    assert BODIES == made.manifest.files
    assert BODIES == verify(tmp_path / "b.tar", deep=True).bodies
    assert ["lock"] == [path.name for path in (tmp_path / "data/blobs/held").iterdir()]


def test_files_are_removed_at_once_without_a_backup(tmp_path):
    """Removed files are held only while a backup runs."""
    settings = fill(tmp_path / "data", "one")
    back_up(settings, tmp_path / "b.tar", at=NOON)
    with contextlib.closing(open_database(settings)) as database:
        names = sorted(database.read(versions.files))
    archive = Archive(tmp_path / "data" / "blobs", file_bytes=100, chain_length=10)
    archive.remove(names)

    assert ["lock"] == [path.name for path in (tmp_path / "data/blobs/held").iterdir()]


def test_second_concurrent_backup_is_refused(tmp_path):
    """The error says that another one is being made."""
    settings = fill(tmp_path / "data", "one")
    archive = Archive(tmp_path / "data" / "blobs", file_bytes=100, chain_length=10)
    with archive.hold_files(), pytest.raises(StoreBusyError, match="another backup"):
        back_up(settings, tmp_path / "b.tar", at=NOON)

    assert not (tmp_path / "b.tar").exists()


def test_backups_in_a_directory_are_named_by_time_and_old_ones_deleted(tmp_path):
    """Two in the same second have different names. Files of others are never deleted."""
    settings = fill(tmp_path / "data", "one")
    to = tmp_path / "to"
    to.mkdir()
    (to / "mine.tar").write_text("x")
    *_, made = [back_up(settings, to, at=NOON + hours * HOUR, keep=2) for hours in (0, 0, 1, 2)]

    assert ["mine.tar", "tidings-backup-2023-11-14-231320.tar", "tidings-backup-2023-11-15-001320.tar"] == sorted(
        path.name for path in to.iterdir()
    )
    assert ["tidings-backup-2023-11-14-221320-2.tar"] == [path.name for path in made.deleted]


@pytest.mark.parametrize("is_file", [True, False])
@pytest.mark.parametrize("check", [None, lambda path: verify(path, deep=True)])
def test_backup_with_a_damaged_body_deletes_no_older_one(tmp_path, check, is_file):
    """It says so, be the body a file or a row, verified or not; of the failed ones the last is
    kept, under another name.
    """
    settings = fill(tmp_path / "data", "one")
    to = tmp_path / "to"
    to.mkdir()
    older = back_up(settings, to, at=NOON).path
    if is_file:
        file = next((settings.data / "blobs").glob("??/??/*"))
        file.write_bytes(b"x" * file.stat().st_size)
    else:
        with contextlib.closing(open_database(settings)) as database:
            database.write(lambda c: c.execute("UPDATE blob SET frame = :x, file = NULL", x=b"x"))

    faults = []
    for night in range(1, 4):
        with pytest.raises(BackupError, match=r"is not made: .*cannot be given back") as caught:
            back_up(settings, to, at=NOON + night * HOUR, keep=1, check=check)
        faults.append(str(caught.value))

    assert {older, to / "tidings-backup-damaged.tar"} == set(to.iterdir())
    assert all(str(to / "tidings-backup-damaged.tar") in fault for fault in faults)
    assert not any(".tidings-backup-" in fault for fault in faults)


@pytest.mark.parametrize("check", [None, lambda path: verify(path, deep=True)])
def test_failed_backup_does_not_replace_a_good_file(tmp_path, check):
    """`--overwrite` replaces it only by one that passed its check."""
    settings, target = fill(tmp_path / "data", "one"), tmp_path / "to" / "good.tar"
    target.parent.mkdir()
    back_up(settings, target, at=NOON)
    with contextlib.closing(open_database(settings)) as database:
        database.write(lambda c: c.execute("UPDATE blob SET frame = :x, file = NULL", x=b"x"))
    for _ in range(2):
        with pytest.raises(BackupError, match=r"good\.damaged\.tar"):
            back_up(settings, target, at=NOON + HOUR, overwrite=True, check=check)

    assert BODIES == verify(target, deep=True).bodies
    assert {"good.tar", "good.damaged.tar"} == {path.name for path in target.parent.iterdir()}


def test_check_without_room_replaces_nothing(tmp_path):
    """The temporary folder is full: nobody knows whether the backup is good."""
    settings, target = fill(tmp_path / "data", "one"), tmp_path / "good.tar"
    before = back_up(settings, target, at=NOON).path.read_bytes()

    def check(path):
        raise OSError(errno.ENOSPC, "No space left on device")

    with pytest.raises(BackupError, match="cannot be checked: No space left"):
        back_up(settings, target, at=NOON + HOUR, overwrite=True, check=check)
    assert before == target.read_bytes()


@pytest.mark.parametrize("comes_first", [True, False])
def test_key_that_changes_during_a_backup_is_in_it(tmp_path, monkeypatch, comes_first):
    """`secret rotate` before or after the copy of the database: restored secrets are decrypted."""
    settings = fill(tmp_path / "data", "one")
    vault = Vault(settings.data)
    with contextlib.closing(open_database(settings)) as database:
        database.write(lambda c: vault.put(c, "token", Secret("c4nary"), at=NOON))

    def copy_and_rotate(database, path):
        with contextlib.closing(open_database(settings)) as other:
            steps = [lambda: (other.write(vault.rotate), other.write(vault.forget)), lambda: copy_to(database, path)]
            for step in steps if comes_first else reversed(steps):
                step()

    monkeypatch.setattr(backup, "copy_to", copy_and_rotate)
    passphrase = Secret("correct horse")
    made = back_up(settings, tmp_path / "b.tar", at=NOON, passphrase=passphrase)
    restore(load(tmp_path / "new", environment={}), made.path, at=NOON, ask=lambda: passphrase)

    assert (("secrets.key",), ()) == (made.secret_files, made.shut)
    with contextlib.closing(open_database(load(tmp_path / "new", environment={}))) as database:
        opened = database.read(Vault(tmp_path / "new").open, "token")
    assert opened is not None
    assert "c4nary" == opened.value.reveal()


def test_backup_names_what_it_cannot_decrypt(tmp_path):
    """The key was lost before; a backup without any secret file has no part for it."""
    settings, passphrase = fill(tmp_path / "data", "one"), Secret("correct horse")
    vault = Vault(settings.data)
    nothing = back_up(settings, tmp_path / "a.tar", at=NOON, passphrase=passphrase)
    with contextlib.closing(open_database(settings)) as database:
        database.write(lambda c: vault.put(c, "token", Secret("c4nary"), at=NOON))
    vault.key_file.path.unlink()
    lost = back_up(settings, tmp_path / "b.tar", at=NOON, passphrase=passphrase)
    vault.key_file.path.write_text("no key\n")
    damaged = back_up(settings, tmp_path / "c.tar", at=NOON, passphrase=passphrase)

    assert ((), (), False) == (nothing.secret_files, nothing.shut, nothing.manifest.has_secrets)
    assert ((), ("token",), False) == (lost.secret_files, lost.shut, lost.manifest.has_secrets)
    assert (("secrets.key",), ("token",)) == (damaged.secret_files, damaged.shut)


def test_settings_file_of_another_place_is_included(tmp_path):
    """`TIDINGS_CONFIG` names it; a file of the data directory that is not in use is left out."""
    fill(tmp_path / "data", "one")
    (tmp_path / "data" / "tidings.toml").write_text("[fetch]\nrobots = true\n")
    (tmp_path / "used.toml").write_text("[fetch]\nrobots = false\n")
    settings = load(tmp_path / "data", environment={"TIDINGS_CONFIG": str(tmp_path / "used.toml")})
    passphrase = Secret("correct horse")
    made = back_up(settings, tmp_path / "b.tar", at=NOON, passphrase=passphrase)
    restore(load(tmp_path / "new", environment={}), made.path, at=NOON, ask=lambda: passphrase)

    assert ("tidings.toml",) == made.secret_files
    assert not load(tmp_path / "new", environment={}).fetch.robots


def test_newest_backup_is_never_deleted(tmp_path):
    """A clock that was ahead has left one with a later name."""
    settings = fill(tmp_path / "data", "one")
    to = tmp_path / "to"
    to.mkdir()
    ahead = back_up(settings, to, at=NOON + HOUR).path
    made = back_up(settings, to, at=NOON, keep=1)

    assert made.path.exists()
    assert (ahead,) == made.deleted


def test_remains_of_an_interrupted_backup_are_deleted_by_the_next(tmp_path):
    """The next one has another name. Folders of others and of a running backup stay."""
    settings = fill(tmp_path / "data", "one")
    to = tmp_path / "to"
    to.mkdir()
    (to / ".mine").mkdir()
    with backup._work(to / "a.tar") as left, backup._work(to / "b.tar") as busy:
        assert left.exists()
        left.rename(to / f"{left.name}x")  # as after the death of its process
    (to / f"{left.name}x" / "part").write_bytes(b"x")
    with backup._work(to / "c.tar") as busy:
        made = back_up(settings, to, at=NOON)
        assert {made.path.name, ".mine", busy.name} == {path.name for path in to.iterdir()}


def test_full_disk_of_the_backup_is_named(tmp_path, monkeypatch):
    """The database's own disk is not full. Nothing is left behind."""
    settings = fill(tmp_path / "data", "one")

    def fail(database, path):
        path.write_bytes(b"half")
        message = "tidings.db cannot grow"
        raise StoreFullError(message)

    monkeypatch.setattr(backup, "copy_to", fail)
    with pytest.raises(BackupError, match=r"b\.tar cannot be written: No space left on device; no backup was made"):
        back_up(settings, tmp_path / "b.tar", at=NOON)
    assert ["data"] == [path.name for path in tmp_path.iterdir()]


def test_existing_file_is_not_overwritten_by_default(tmp_path):
    """The file may be the only good backup."""
    settings = fill(tmp_path / "data", "one")
    (tmp_path / "b.tar").write_text("precious")

    with pytest.raises(BackupError, match="already exists"):
        back_up(settings, tmp_path / "b.tar", at=NOON)
    assert "precious" == (tmp_path / "b.tar").read_text()
    back_up(settings, tmp_path / "b.tar", at=NOON, overwrite=True)
    assert 1 == verify(tmp_path / "b.tar").sentinels


def test_path_that_cannot_be_written_is_an_error(tmp_path):
    """The folder does not exist, or `--keep` is used without a directory."""
    settings = fill(tmp_path / "data", "one")

    with pytest.raises(BackupError, match="cannot be written: No such file or directory"):
        back_up(settings, tmp_path / "no" / "b.tar", at=NOON)
    with pytest.raises(BackupError, match="--keep needs a directory"):
        back_up(settings, tmp_path / "b.tar", at=NOON, keep=3)


def test_missing_body_fails_the_backup(tmp_path):
    """A backup without the body could not be restored."""
    settings = fill(tmp_path / "data", "one")
    next(path for path in (tmp_path / "data/blobs").rglob("*.*") if path.is_file()).unlink()

    with pytest.raises(Exception, match="cannot be read: No such file or directory; `tidings doctor`"):
        back_up(settings, tmp_path / "b.tar", at=NOON)
    assert ["data"] == [path.name for path in tmp_path.iterdir()]


def test_restored_data_equals_the_original(tmp_path):
    """A new directory gets the same sentinels and bodies, and can be backed up again."""
    back_up(fill(tmp_path / "data", "one"), tmp_path / "b.tar", at=NOON)
    again = load(tmp_path / "again", environment={})
    restore(again, tmp_path / "b.tar", at=NOON, ask=None)
    back_up(again, tmp_path / "c.tar", at=NOON)

    assert (["one"], BODIES) == content(tmp_path / "data") == content(tmp_path / "again")
    assert 0o600 == (tmp_path / "b.tar").stat().st_mode & 0o777
    assert BODIES == verify(tmp_path / "c.tar", deep=True).bodies
