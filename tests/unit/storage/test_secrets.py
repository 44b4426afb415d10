from __future__ import annotations

import base64
import errno
import os
import platform
import shutil
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.stores import Products, World
from tidings.clock import MINUTE
from tidings.errors import SecretError
from tidings.model.secret import Secret
from tidings.storage import secrets
from tidings.storage.db import lock
from tidings.storage.secrets import KeyFile, Vault


@pytest.fixture
def vault(world: World) -> Vault:
    return Vault(world.settings.data)


def put(world: World, vault: Vault, name: str, value: str, *, owner_id: int = 1) -> None:
    world.write(lambda c: vault.put(c, name, Secret(value), owner_id=owner_id, at=7))


def decrypt(world: World, vault: Vault, name: str, *, owner_id: int = 1) -> str | None:
    found = world.read(lambda c: vault.open(c, name, owner_id=owner_id))
    return None if found is None else found.value.reveal()


@pytest.fixture
def filled(world: World, vault: Vault) -> World:
    put(world, vault, "token", "k3-canary-ü")
    put(world, vault, "other", "")
    return world


def test_secret_round_trips(filled: World, vault: Vault):
    """This includes the empty text. A name that is not set gives None."""
    first = filled.read(lambda c: vault.open(c, "token"))

    assert first is not None
    assert ("k3-canary-ü", "text", 7) == (first.value.reveal(), first.kind, first.set_at)
    assert ["", None] == [decrypt(filled, vault, name) for name in ("other", "none")]


def test_database_has_only_encrypted_values(filled: World, vault: Vault):
    """R-19: no byte of a value is in the database's files, and equal values have different rows."""
    put(filled, vault, "again", "k3-canary-ü")
    files = [path for path in filled.settings.data.iterdir() if path.name.startswith("tidings.db")]
    first, second = (filled.read(secrets.get, name) for name in ("token", "again"))

    assert files
    assert not [path.name for path in files if "k3-canary-ü".encode() in path.read_bytes()]
    assert first != second


def test_key_file_is_private_and_made_once(filled: World, vault: Vault):
    """The file is 0600 from the first byte. A second secret uses the same key, and no partial file
    is left.
    """
    path = filled.settings.data / "secrets.key"

    assert 0o600 == stat.S_IMODE(path.stat().st_mode)
    assert vault.key_file.is_private()
    assert 1 == len(path.read_text().splitlines())
    assert not list(filled.settings.data.glob("*.part"))


def test_key_file_is_on_the_disk_before_a_value_is_encrypted(
    world: World, vault: Vault, monkeypatch: pytest.MonkeyPatch
):
    """Its folder is synced too: else a power loss could leave values without their key."""
    synced: list[bool] = []
    sync = os.fsync

    def note(handle: int) -> None:
        synced.append(stat.S_ISDIR(os.fstat(handle).st_mode))
        sync(handle)

    monkeypatch.setattr(os, "fsync", note)
    put(world, vault, "token", "k3")

    assert [False, True] == synced[:2]


def test_newest_key_and_those_in_use_are_kept(vault: Vault):
    """All others are deleted."""
    vault.key_file.path.unlink(missing_ok=True)
    oldest, _, newest = (vault.key_file.add() for _ in range(3))
    vault.key_file.keep([oldest])

    assert [newest, oldest] == list(vault.key_file.keys())

    vault.key_file.keep([])

    assert [newest] == list(vault.key_file.keys())


def test_key_file_with_a_damaged_line_is_refused(vault: Vault):
    """A key with a character too many could be another key."""
    vault.key_file.add()
    path = vault.key_file.path
    path.write_text("!" + path.read_text())

    with pytest.raises(SecretError, match="put your copy back"):
        vault.key_file.keys()


@pytest.mark.parametrize("call", ["open", "fsync"])
def test_key_that_cannot_be_written_is_not_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, call: str):
    """The error says what to check, and no partial file is left."""

    def refuse(*_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, call, refuse)

    with pytest.raises(SecretError, match="cannot be written: No space left on device; check free space"):
        KeyFile(tmp_path).add()
    assert [] == list(tmp_path.iterdir())


def test_folder_of_the_key_file_is_made(tmp_path: Path):
    """So is the one above. Only the owner may enter it."""
    made = KeyFile(tmp_path / "a" / "b")
    key = made.add()

    assert [key] == list(made.keys())
    assert 0o700 == stat.S_IMODE((tmp_path / "a" / "b").stat().st_mode)


def test_key_file_is_closed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """So is its folder."""
    opened, closed = [], []
    open_, close = os.open, os.close

    def note_open(*arguments: Any, **more: Any) -> int:
        opened.append(open_(*arguments, **more))
        return opened[-1]

    def note_close(handle: int) -> None:
        closed.append(handle)
        close(handle)

    monkeypatch.setattr(os, "open", note_open)
    monkeypatch.setattr(os, "close", note_close)
    KeyFile(tmp_path).add()

    assert 2 == len(opened)
    assert opened == closed


def test_value_opens_only_for_its_owner_kind_and_name(filled: World, vault: Vault):
    """A row copied to another name, kind or owner cannot be decrypted, and the error does not have
    the value.
    """
    row = filled.read(secrets.find_row, "token")
    assert row is not None

    def copy_row(name: str, kind: str, owner_id: int) -> None:
        filled.write(lambda c: c.execute("INSERT INTO owner (id, name) VALUES (2, 'ann') ON CONFLICT DO NOTHING"))
        filled.write(secrets.put, name, row.value, owner_id=owner_id, kind=kind, key_id=row.key_id)

    for name, kind, owner_id in (("mine", "text", 1), ("token", "cookies", 1), ("token", "text", 2)):
        copy_row(name, kind, owner_id)
        with pytest.raises(SecretError, match=f"tidings secret set {name}") as caught:
            decrypt(filled, vault, name, owner_id=owner_id)
        assert "canary" not in str(caught.value)


def test_owners_have_separate_secrets(filled: World, vault: Vault):
    """H-038: the same name is another secret for another owner."""
    filled.write(lambda c: c.execute("INSERT INTO owner (id, name) VALUES (2, 'ann')"))
    put(filled, vault, "token", "hers", owner_id=2)

    assert ["k3-canary-ü", "hers"] == [decrypt(filled, vault, "token", owner_id=owner) for owner in (1, 2)]


def test_lost_key_makes_only_its_secrets_unreadable(filled: World, vault: Vault):
    """The error names the file and both ways out: a secret can be set again, and the old key can be
    put back beside the new one.
    """
    path = filled.settings.data / "secrets.key"
    copy = path.read_bytes()
    path.unlink()
    with pytest.raises(SecretError, match=r"secrets\.key is missing.*tidings secret set token"):
        decrypt(filled, vault, "token")
    put(filled, vault, "token", "new")
    with pytest.raises(SecretError, match="does not have its key"):
        decrypt(filled, vault, "other")
    path.write_bytes(path.read_bytes() + copy)

    assert ["new", ""] == [decrypt(filled, vault, name) for name in ("token", "other")]


@pytest.mark.parametrize("content", [b"", b"hello\n", b"\x00\xff", b"YWJj\n"])
def test_invalid_key_file_is_not_overwritten(filled: World, vault: Vault, content: bytes):
    """A new key would not decrypt the present secrets."""
    path = filled.settings.data / "secrets.key"
    path.write_bytes(content)
    with pytest.raises(SecretError):
        decrypt(filled, vault, "token")
    if content:
        with pytest.raises(SecretError, match="not in Tidings' format"):
            put(filled, vault, "token", "x")
        assert content == path.read_bytes()


def test_rotation_encrypts_all_secrets_with_a_new_key(filled: World, vault: Vault):
    """After it, the old key decrypts nothing and is deleted."""
    path = filled.settings.data / "secrets.key"
    old = path.read_bytes()

    assert 2 == filled.write(vault.rotate)
    assert path.read_bytes().endswith(old)
    filled.write(vault.forget)
    assert old not in path.read_bytes()
    assert 1 == len(path.read_bytes().splitlines())
    assert ["k3-canary-ü", ""] == [decrypt(filled, vault, name) for name in ("token", "other")]


def test_interrupted_rotation_leaves_all_secrets_readable(filled: World, vault: Vault):
    """After a crash following the new key or the commit, both keys are in the file, and the next
    rotation deletes the old one.
    """

    class CutError(Exception):
        pass

    def cut(c: object) -> None:
        vault.rotate(c)  # type: ignore[arg-type]
        raise CutError

    with pytest.raises(CutError):
        filled.write(cut)
    assert "k3-canary-ü" == decrypt(filled, vault, "token")
    filled.write(vault.rotate)
    assert "k3-canary-ü" == decrypt(filled, vault, "token")
    assert 3 == len(vault.key_file.keys())
    filled.write(vault.rotate)
    filled.write(vault.forget)

    assert 1 == len(vault.key_file.keys())
    assert ["k3-canary-ü", ""] == [decrypt(filled, vault, name) for name in ("token", "other")]


def test_overlapping_rotations_lose_nothing(filled: World):
    """One rotation deletes old keys between the steps of the other: a key that is in use stays."""
    one, two = Vault(filled.settings.data), Vault(filled.settings.data)
    filled.write(one.rotate)
    filled.write(two.rotate)
    filled.write(one.forget)
    filled.write(two.forget)

    assert "k3-canary-ü" == decrypt(filled, one, "token")
    assert 1 == len(one.key_file.keys())


def test_rotation_with_an_unreadable_secret_changes_nothing(filled: World, vault: Vault):
    """A new key is used only if all secrets can be decrypted."""
    filled.write(secrets.put, "broken", "AAAA", key_id="nokey")
    before = (filled.read(secrets.get, "token"), vault.key_file.path.read_bytes())
    with pytest.raises(SecretError, match="broken"):
        filled.write(vault.rotate)

    assert before == (filled.read(secrets.get, "token"), vault.key_file.path.read_bytes())


@pytest.fixture
def shared(products: Products, tmp_path: Path) -> Iterator[World]:
    """Yield a database that several machines can use, with two secrets."""
    with products.fresh("postgresql", tmp_path / "data") as settings:
        world = World(settings)
        for name, value in (("token", "k3-canary-ü"), ("other", "")):
            put(world, Vault(settings.data), name, value)
        yield world
        world.database.close()


def enrol(world: World, holder: str, role: str = "web") -> None:
    world.write(lock.enrol, role, holder, length=MINUTE)


def test_key_is_changed_only_where_no_other_machine_needs_the_old_one(shared: World):
    """They could decrypt nothing. Processes of this machine read the same file."""
    vault = Vault(shared.settings.data)
    enrol(shared, f"{platform.node()}:1:a")
    enrol(shared, "poller-5:x", "poller")
    assert 2 == shared.write(vault.rotate)
    enrol(shared, "other:9:b", "notifier")
    before = vault.key_file.path.read_bytes()
    with pytest.raises(SecretError, match=r"works on other, .* stop it there"):
        shared.write(vault.rotate)

    assert before == vault.key_file.path.read_bytes()
    assert "k3-canary-ü" == decrypt(shared, vault, "token")


@pytest.mark.parametrize("own", [b"", base64.b64encode(b"k" * 32)])
def test_machine_without_the_key_makes_no_second_one(shared: World, tmp_path: Path, own: bytes):
    """The others could not read what it stores. Alone it may: the key is lost."""
    second = Vault(tmp_path / "second")
    second.key_file.path.parent.mkdir()
    second.key_file.path.write_bytes(own)
    enrol(shared, "other:9:b")
    with pytest.raises(SecretError, match=r"copy that file from other"):
        put(shared, second, "new", "x")
    assert own == second.key_file.path.read_bytes()

    shared.write(lock.retire, "other:9:b")
    put(shared, second, "new", "x")
    assert "x" == decrypt(shared, second, "new")


def test_value_is_encrypted_with_a_key_that_is_in_use(filled: World, vault: Vault):
    """Not with one that an interrupted rotation has left on this machine alone."""
    vault.key_file.add()
    put(filled, vault, "new", "x")

    assert 1 == len({row.key_id for row in filled.read(secrets.listing)})


def test_plain_values_of_older_schemas_are_read_and_encrypted(filled: World, vault: Vault):
    """After their encryption, nothing of them is in the file."""
    filled.write(secrets.put, "webhook", "whsec_c4nary", kind="signing")
    filled.write(secrets.put, "long", "c4nary " * 60)
    assert "whsec_c4nary" == decrypt(filled, vault, "webhook")
    assert [2, 0] == [filled.write(vault.seal_plain), filled.write(vault.seal_plain)]
    filled.database.close()
    filled.reopen().close()

    assert b"c4nary" not in (filled.settings.data / "tidings.db").read_bytes()
    assert "whsec_c4nary" == decrypt(World(filled.settings), vault, "webhook")


@pytest.mark.parametrize("wrong", ["\n", "!", "====", "é"])
def test_invalid_encrypted_value_is_damaged(filled: World, vault: Vault, wrong: str):
    """A character outside base64 is not skipped."""
    key_id = next(iter(vault.key_file.keys()))
    sealed = filled.read(secrets.get, "token")
    assert sealed is not None
    filled.write(secrets.put, "token", sealed[:8] + wrong + sealed[8:], key_id=key_id)

    with pytest.raises(SecretError, match="is damaged"):
        filled.read(vault.open, "token")


def test_copy_without_the_key_decrypts_nothing(filled: World):
    """A backup of the directory without `secrets.key` gives no secret away."""
    copy = filled.settings.data.with_name("copy")
    shutil.copytree(filled.settings.data, copy, ignore=shutil.ignore_patterns("secrets.key"))

    with pytest.raises(SecretError, match="is missing"):
        filled.read(Vault(copy).open, "token")


def test_unreadable_key_file_is_an_error(filled: World, vault: Vault):
    """A directory in its place has the same effect as missing rights: no new key is made."""
    vault.key_file.path.unlink()
    vault.key_file.path.mkdir()
    with pytest.raises(SecretError, match="cannot be read"):
        put(filled, vault, "token", "x")


def test_reading_keys_makes_no_file(world: World):
    """Without a file there are no keys."""
    assert {} == KeyFile(world.settings.data).keys()
    assert not (world.settings.data / "secrets.key").exists()
