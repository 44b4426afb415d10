from __future__ import annotations

import shutil
import stat

import pytest

from tests.stores import World
from tidings.errors import SecretError
from tidings.model.secret import Secret
from tidings.storage.secrets import secrets
from tidings.storage.secrets.vault import KeyFile, Vault


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


def test_what_is_put_away_is_given_back(filled: World, vault: Vault):
    """Any text, an empty one too; a name that is not set is None; when it was set is known."""
    first = filled.read(lambda c: vault.open(c, "token"))

    assert first is not None
    assert ("k3-canary-ü", "text", 7) == (first.value.reveal(), first.kind, first.set_at)
    assert ["", None] == [decrypt(filled, vault, name) for name in ("other", "none")]


def test_the_database_holds_only_what_is_sealed(filled: World, vault: Vault):
    """R-19: no byte of a value stands in the database's files, and equal values do not look equal."""
    put(filled, vault, "again", "k3-canary-ü")
    files = [path for path in filled.settings.data.iterdir() if path.name.startswith("tidings.db")]
    first, second = (filled.read(secrets.get, name) for name in ("token", "again"))

    assert files
    assert not [path.name for path in files if "k3-canary-ü".encode() in path.read_bytes()]
    assert first != second


def test_the_key_file_is_its_owners_alone_and_no_other_is_made(filled: World, vault: Vault):
    """0600 from the first byte; a second secret takes the same key; no half-written file is left."""
    path = filled.settings.data / "secrets.key"

    assert 0o600 == stat.S_IMODE(path.stat().st_mode)
    assert vault.key_file.is_private()
    assert 1 == len(path.read_text().splitlines())
    assert not list(filled.settings.data.glob("*.part"))


def test_a_value_opens_for_its_owner_kind_and_name_only(filled: World, vault: Vault):
    """A row that is copied under another name, kind or owner does not open, and says so without the value."""
    row = filled.read(secrets.row, "token")
    assert row is not None

    def copy_row(name: str, kind: str, owner_id: int) -> None:
        filled.write(lambda c: c.execute("INSERT INTO owner (id, name) VALUES (2, 'ann') ON CONFLICT DO NOTHING"))
        filled.write(secrets.put, name, row.value, owner_id=owner_id, kind=kind, key_id=row.key_id)

    for name, kind, owner_id in (("mine", "text", 1), ("token", "cookies", 1), ("token", "text", 2)):
        copy_row(name, kind, owner_id)
        with pytest.raises(SecretError, match=f"tidings secret set {name}") as caught:
            decrypt(filled, vault, name, owner_id=owner_id)
        assert "canary" not in str(caught.value)


def test_owners_have_secrets_of_their_own(filled: World, vault: Vault):
    """H-038: the same name is another secret for another owner."""
    filled.write(lambda c: c.execute("INSERT INTO owner (id, name) VALUES (2, 'ann')"))
    put(filled, vault, "token", "hers", owner_id=2)

    assert ["k3-canary-ü", "hers"] == [decrypt(filled, vault, "token", owner_id=owner) for owner in (1, 2)]


def test_a_lost_key_loses_the_secrets_and_nothing_else(filled: World, vault: Vault):
    """The error names the file and both ways out; a secret can be set anew, and the old key can be put back beside the new."""
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
def test_a_file_that_is_no_key_file_is_not_overwritten(filled: World, vault: Vault, content: bytes):
    """A file of another content is refused or adds nothing; what is there is never replaced by a key that opens nothing."""
    path = filled.settings.data / "secrets.key"
    path.write_bytes(content)
    with pytest.raises(SecretError):
        decrypt(filled, vault, "token")
    if content:
        with pytest.raises(SecretError, match="not in Tidings' format"):
            put(filled, vault, "token", "x")
        assert content == path.read_bytes()


def test_rotation_seals_everything_anew(filled: World, vault: Vault):
    """After it the old key opens nothing and is forgotten."""
    path = filled.settings.data / "secrets.key"
    old = path.read_bytes()

    assert 2 == filled.write(vault.rotate)
    assert path.read_bytes().endswith(old)
    filled.write(vault.forget)
    assert old not in path.read_bytes()
    assert 1 == len(path.read_bytes().splitlines())
    assert ["k3-canary-ü", ""] == [decrypt(filled, vault, name) for name in ("token", "other")]


def test_a_rotation_cut_off_anywhere_leaves_everything_open(filled: World, vault: Vault):
    """Killed after the new key, or after the commit: both keys are there, and the next rotation tidies up."""

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


def test_two_rotations_that_overlap_lose_nothing(filled: World):
    """One tidies up between the other's steps: what is encrypted keeps its key."""
    one, two = Vault(filled.settings.data), Vault(filled.settings.data)
    filled.write(one.rotate)
    filled.write(two.rotate)
    filled.write(one.forget)
    filled.write(two.forget)

    assert "k3-canary-ü" == decrypt(filled, one, "token")
    assert 1 == len(one.key_file.keys())


def test_a_rotation_with_a_secret_that_does_not_open_changes_nothing(filled: World, vault: Vault):
    """Nothing is encrypted by a new key unless everything can be."""
    filled.write(secrets.put, "broken", "AAAA", key_id="nokey")
    before = (filled.read(secrets.get, "token"), vault.key_file.path.read_bytes())
    with pytest.raises(SecretError, match="broken"):
        filled.write(vault.rotate)

    assert before == (filled.read(secrets.get, "token"), vault.key_file.path.read_bytes())


def test_values_from_before_are_read_and_sealed(filled: World, vault: Vault):
    """A plain value of an older schema opens; sealing it leaves nothing of it in the file."""
    filled.write(secrets.put, "webhook", "whsec_c4nary", kind="signing")
    filled.write(secrets.put, "long", "c4nary " * 60)
    assert "whsec_c4nary" == decrypt(filled, vault, "webhook")
    assert [2, 0] == [filled.write(vault.seal_plain), filled.write(vault.seal_plain)]
    filled.database.close()
    filled.reopen().close()

    assert b"c4nary" not in (filled.settings.data / "tidings.db").read_bytes()
    assert "whsec_c4nary" == decrypt(World(filled.settings), vault, "webhook")


@pytest.mark.parametrize("wrong", ["\n", "!", "====", "é"])
def test_what_is_no_sealed_value_is_damaged(filled: World, vault: Vault, wrong: str):
    """A sign that does not belong there is not passed over."""
    key_id = next(iter(vault.key_file.keys()))
    sealed = filled.read(secrets.get, "token")
    assert sealed is not None
    filled.write(secrets.put, "token", sealed[:8] + wrong + sealed[8:], key_id=key_id)

    with pytest.raises(SecretError, match="is damaged"):
        filled.read(vault.open, "token")


def test_a_copy_without_the_key_opens_nothing(filled: World):
    """A backup of the directory, made as it says (without `secrets.key`), gives no secret away."""
    copy = filled.settings.data.with_name("copy")
    shutil.copytree(filled.settings.data, copy, ignore=shutil.ignore_patterns("secrets.key"))

    with pytest.raises(SecretError, match="is missing"):
        filled.read(Vault(copy).open, "token")


def test_an_unreadable_key_file_is_an_error_that_says_so(filled: World, vault: Vault):
    """A directory in its place stands for rights that are missing: no new key is made."""
    vault.key_file.path.unlink()
    vault.key_file.path.mkdir()
    with pytest.raises(SecretError, match="cannot be read"):
        put(filled, vault, "token", "x")


def test_no_keys_without_a_file(world: World):
    """Looking makes no file."""
    assert {} == KeyFile(world.settings.data).keys()
    assert not (world.settings.data / "secrets.key").exists()
