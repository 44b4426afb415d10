"""The file of a backup: an incomplete or foreign file is refused with the reason."""

import hashlib
import io
import json
import tarfile

import pytest

from tests.backups import NOON, fill, pack
from tidings.errors import BackupError
from tidings.service.backup.backup import back_up
from tidings.service.backup.package import Package

BLOB = f"blobs/ab/ab/{'ab' * 32}.{'0' * 16}"


def manifest(**members) -> bytes:
    """Return a correct list of members."""
    listed = {name: [len(content), hashlib.sha256(content).hexdigest()] for name, content in members.items()}
    return json.dumps(
        {
            "format": "tidings-backup",
            "version": 1,
            "tidings": "1",
            "schema": "0006",
            "installation": "x",
            "at": 1,
            "members": listed,
        }
    ).encode()


def special(name: str, kind: bytes, target: str = "") -> tarfile.TarInfo:
    """Return a member that is not a plain file."""
    header = tarfile.TarInfo(name)
    header.type, header.linkname = kind, target
    return header


GOOD: dict[str, bytes | tarfile.TarInfo] = {"tidings.db": b"database", BLOB: b"body"}


def test_package_returns_its_members(tmp_path):
    """Members are found by name and verified by the list."""
    with Closing(Package(pack(tmp_path / "b.tar", {**GOOD, "manifest.json": manifest(**GOOD)}))) as package:
        held = io.BytesIO()
        package.copy("tidings.db", held)

        assert b"database" == held.getvalue()
        assert (1, 12) == (package.manifest.files, package.manifest.size)


class Closing:
    """Closes a package at the end."""

    def __init__(self, package):
        self.package = package

    def __enter__(self):
        return self.package

    def __exit__(self, *_):
        self.package.close()


HOSTILE: dict[str, tuple[dict[str, bytes | tarfile.TarInfo], str]] = {
    "a name that leads out (H-096)": ({"../../x": b"", **GOOD}, "'../../x', which does not belong there"),
    "an absolute name (H-099)": ({"/etc/passwd": b"", **GOOD}, "'/etc/passwd', which does not belong there"),
    "a name of Windows (H-096)": ({"C:\\x": b"", **GOOD}, "which does not belong there"),
    "a body that leads out": ({"blobs/../tidings.toml": b"", **GOOD}, "which does not belong there"),
    "a settings file, which is only under a passphrase": ({"tidings.toml": b"", **GOOD}, "which does not belong there"),
    "a link (H-097)": ({"tidings.db": special("tidings.db", tarfile.SYMTYPE, "/etc/passwd")}, "is not a plain file"),
    "a hard link": ({"tidings.db": special("tidings.db", tarfile.LNKTYPE, "/etc/passwd")}, "is not a plain file"),
    "a device": ({"tidings.db": special("tidings.db", tarfile.CHRTYPE)}, "is not a plain file"),
    "a folder": ({"tidings.db": special("tidings.db", tarfile.DIRTYPE)}, "is not a plain file"),
    "no list": (GOOD, "it has no list of its members"),
    "a list that is no JSON": ({**GOOD, "manifest.json": b"{"}, "cannot be read"),
    "a list without end": ({**GOOD, "manifest.json": b"[" * 100_000}, "cannot be read"),
    "a list of another program": ({**GOOD, "manifest.json": b'{"format": "x"}'}, "another program"),
    "a member that the list has not": (
        {**GOOD, "manifest.json": manifest(**{"tidings.db": b"database"})},
        "not in its list",
    ),
    "a member too few": ({"tidings.db": b"database", "manifest.json": manifest(**GOOD)}, "is not in it"),
    "no database": ({BLOB: b"body", "manifest.json": manifest(**{BLOB: b"body"})}, "it has no tidings.db"),
    "a member of another size": (
        {**GOOD, "tidings.db": b"data", "manifest.json": manifest(**GOOD)},
        "has 4 bytes, and 8",
    ),
    "something after the list": ({"manifest.json": manifest(**GOOD), **GOOD}, "comes after its end"),
}


@pytest.mark.parametrize("kind", HOSTILE)
def test_foreign_or_incomplete_package_is_refused(tmp_path, kind):
    """Nothing of it is written."""
    members, text = HOSTILE[kind]

    with pytest.raises(BackupError, match="is not a complete backup of Tidings") as raised:
        Package(pack(tmp_path / "b.tar", members))
    assert text in str(raised.value)


def test_repeated_member_is_refused(tmp_path):
    """The second one would overwrite the first."""
    path = tmp_path / "b.tar"
    with tarfile.open(path, "w") as tar:
        for _ in range(2):
            tar.addfile(tarfile.TarInfo("tidings.db"), io.BytesIO())

    with pytest.raises(BackupError, match="twice"):
        Package(path)


def test_altered_content_is_detected(tmp_path):
    """Bytes of a body have changed: its hash differs when it is read."""
    path = back_up(fill(tmp_path / "data", "one"), tmp_path / "b.tar", at=NOON).path
    with Closing(Package(path)) as package:
        name = next(n for n in package.manifest.members if n.startswith("blobs/"))
        offset = package._found[name].offset_data
    with path.open("r+b") as file:
        file.seek(offset + 10)
        file.write(b"\0\0\0\0")

    with Closing(Package(path)) as package, pytest.raises(BackupError, match="is damaged"):
        package.copy(name, None)


@pytest.mark.parametrize("share", [0.0, 0.01, 0.5, 0.9, 0.999])
def test_truncated_backup_is_refused(tmp_path, share):
    """The list at the end is missing."""
    path = back_up(fill(tmp_path / "data", "one"), tmp_path / "b.tar", at=NOON).path
    content = path.read_bytes().rstrip(b"\0")
    path.write_bytes(content[: int(len(content) * share)])

    with pytest.raises(BackupError):
        Package(path)


@pytest.mark.parametrize("content", [b"PK\x03\x04zip", b"\x1f\x8bgzip", b"text\n" * 400])
def test_file_of_another_format_is_refused(tmp_path, content):
    """The file is a zip, a gzip (which could grow) or a text. A missing file is an error too."""
    (tmp_path / "b").write_bytes(content)

    with pytest.raises(BackupError, match="is not a backup of Tidings, which is a tar file"):
        Package(tmp_path / "b")
    with pytest.raises(BackupError, match="there is no file"):
        Package(tmp_path / "c")
