"""The file format of a backup: an uncompressed tar with known member names and a list of their
hashes at its end.

    tidings.db         one state of the database; texts and small bodies in it are compressed
    blobs/ab/cd/…      the files that this state names
    secrets.locked     only if requested: the key of secrets and the settings, encrypted
    manifest.json      last: which installation, when, and of each member its size and hash

A file may come from anybody. So a member is accepted only if it is a plain file named as above,
occurs once, and matches the manifest. Nothing that could grow is unpacked, and no name becomes an
unchecked path (H-096 to H-099).

The key of `secrets.locked` is derived from the passphrase by scrypt (RFC 7914), with the salt in
front; the content is encrypted and authenticated by AES-256-GCM.
"""

from __future__ import annotations

import base64
import hashlib
import io
import json
import os
import tarfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import IO, Any, BinaryIO, Final

from tidings.archive.files import is_file_name
from tidings.errors import BackupError
from tidings.model.interval import Instant
from tidings.model.secret import Secret
from tidings.record import dataclass

FORMAT: Final = "tidings-backup"
FORMAT_VERSION: Final = 1
DATABASE: Final = "tidings.db"
LOCKED: Final = "secrets.locked"
MANIFEST: Final = "manifest.json"
BLOBS: Final = "blobs/"
MOST_MANIFEST: Final = 512 * 1024 * 1024
MOST_LOCKED: Final = 16 * 1024 * 1024
CHUNK: Final = 1024 * 1024


@dataclass(frozen=True, slots=True)
class PackageMember:
    """A member's size in bytes and its SHA-256."""

    size: int
    sha256: str


@dataclass(frozen=True, slots=True)
class Manifest:
    """A backup's description: the version of Tidings and of the schema, the installation, the
    instant, and its members.
    """

    tidings: str
    schema: str
    installation: str
    at: Instant
    members: dict[str, PackageMember]

    @property
    def size(self) -> int:
        """Return the total size of all members in bytes."""
        return sum(member.size for member in self.members.values())

    @property
    def files(self) -> int:
        """Return the number of body files."""
        return sum(name.startswith(BLOBS) for name in self.members)

    @property
    def has_secrets(self) -> bool:
        """Return whether it has a part under a passphrase."""
        return LOCKED in self.members

    def to_json(self) -> bytes:
        """Return its JSON form."""
        record = {
            "format": FORMAT,
            "version": FORMAT_VERSION,
            "tidings": self.tidings,
            "schema": self.schema,
            "installation": self.installation,
            "at": self.at,
            "members": {name: [member.size, member.sha256] for name, member in self.members.items()},
        }
        return json.dumps(record, indent=0).encode()


class PackageWriter:
    """Writes the members of a new backup in sequence."""

    def __init__(self, file: BinaryIO) -> None:
        self._tar = tarfile.open(fileobj=file, mode="w", format=tarfile.GNU_FORMAT)  # noqa: SIM115 - closed by `end`
        self.members: dict[str, PackageMember] = {}

    def add(self, name: str, source: BinaryIO) -> None:
        """Add an open file."""
        size = os.fstat(source.fileno()).st_size
        self._add(name, source, size)

    def add_bytes(self, name: str, content: bytes) -> None:
        """Add bytes from memory."""
        self._add(name, io.BytesIO(content), len(content))

    def end(self, manifest: Manifest) -> None:
        """Write the manifest and close the tar; the underlying file stays open."""
        content = manifest.to_json()
        self._tar.addfile(_header(MANIFEST, len(content)), io.BytesIO(content))
        self._tar.close()

    def _add(self, name: str, source: IO[bytes], size: int) -> None:
        hashing = _Hashing(source)
        self._tar.addfile(_header(name, size), hashing)
        self.members[name] = PackageMember(size, hashing.sha256.hexdigest())


class _Hashing(io.RawIOBase):
    """A source that hashes what is read from it."""

    def __init__(self, source: IO[bytes]) -> None:
        self._source = source
        self.sha256 = hashlib.sha256()

    def read(self, size: int = -1) -> bytes:
        """Read up to `size` bytes."""
        content = self._source.read(size)
        self.sha256.update(content)
        return content


def _header(name: str, size: int) -> tarfile.TarInfo:
    header = tarfile.TarInfo(name)
    header.size, header.mode = size, 0o600
    return header


class Package:
    """An open backup. Raises `BackupError` for anything that is not one of ours; `close` it when
    done.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        try:
            self._tar = tarfile.open(path, mode="r:")  # noqa: SIM115 - closed by `close`
        except FileNotFoundError as error:
            raise BackupError(f"there is no file {path}") from error
        except OSError as error:
            raise BackupError(f"{path} cannot be read: {error.strerror or error}") from error
        except tarfile.TarError as error:
            raise BackupError(f"{path} is not a backup of Tidings, which is a tar file: {error}") from error
        try:
            self._found = {header.name: header for header in self._headers()}
            self.manifest = self._read_manifest()
            self._compare()
        except BaseException:
            self._tar.close()
            raise

    def close(self) -> None:
        """Close the file."""
        self._tar.close()

    def copy(self, name: str, target: BinaryIO | None) -> None:
        """Copy a member, or only read it. Raises `BackupError` unless it matches the manifest."""
        sha256 = hashlib.sha256()
        for chunk in self._chunks(name):
            sha256.update(chunk)
            if target is not None:
                target.write(chunk)
        if sha256.hexdigest() != self.manifest.members[name].sha256:
            raise self._make_broken_error(f"{name} is damaged")

    def content(self, name: str) -> bytes:
        """Return a small member."""
        buffer = io.BytesIO()
        self.copy(name, buffer)
        return buffer.getvalue()

    def _chunks(self, name: str) -> Iterator[bytes]:
        source = self._tar.extractfile(self._found[name])
        try:
            while source is not None and (chunk := source.read(CHUNK)):
                yield chunk
        except (tarfile.TarError, OSError) as error:
            raise self._make_broken_error(f"{name} cannot be read: {error}") from error

    def _headers(self) -> Iterator[tarfile.TarInfo]:
        """Yield the headers, each checked before the next one is read."""
        seen: set[str] = set()
        try:
            for header in self._tar:
                if not _is_known(header.name):
                    raise self._make_broken_error(f"it has a member {header.name[:100]!r}, which does not belong there")
                if not header.isreg() or header.sparse is not None or header.pax_headers:
                    raise self._make_broken_error(f"{header.name} is not a plain file")
                if header.name in seen:
                    raise self._make_broken_error(f"it has {header.name} twice")
                if MANIFEST in seen:
                    raise self._make_broken_error(f"{header.name} comes after its end")
                seen.add(header.name)
                yield header
        except (tarfile.TarError, OSError, ValueError, OverflowError) as error:
            raise self._make_broken_error(f"it ends in the middle, or is damaged: {error}") from error

    def _read_manifest(self) -> Manifest:
        header = self._found.pop(MANIFEST, None)
        if header is None:
            raise self._make_broken_error("it has no list of its members at its end: it is incomplete, or not a backup")
        if header.size > MOST_MANIFEST:
            raise self._make_broken_error("the list of its members is too large")
        source = self._tar.extractfile(header)
        try:
            return _manifest(json.loads(source.read() if source is not None else b""))
        except (ValueError, TypeError, LookupError, RecursionError, OSError, tarfile.TarError) as error:
            raise self._make_broken_error(f"the list of its members cannot be read: {error}") from error

    def _compare(self) -> None:
        listed = self.manifest.members
        if DATABASE not in listed:
            raise self._make_broken_error(f"it has no {DATABASE}")
        for name in sorted(listed.keys() ^ self._found.keys()):
            raise self._make_broken_error(
                f"{name} is {'not in it' if name in listed else 'in it, but not in its list'}"
            )
        for name, header in self._found.items():
            if header.size != listed[name].size:
                raise self._make_broken_error(f"{name} has {header.size} bytes, and {listed[name].size} were written")
        if LOCKED in listed and listed[LOCKED].size > MOST_LOCKED:
            raise self._make_broken_error(f"{LOCKED} is too large")

    def _make_broken_error(self, what: str) -> BackupError:
        return BackupError(
            f"{self.path} is not a complete backup of Tidings: {what}. Nothing was changed; try another backup"
        )


def _is_known(name: str) -> bool:
    return name in {DATABASE, LOCKED, MANIFEST} or (name.startswith(BLOBS) and is_file_name(name.removeprefix(BLOBS)))


def _manifest(record: dict[str, Any]) -> Manifest:
    if record["format"] != FORMAT:
        raise ValueError("it is of another program")
    if record["version"] != FORMAT_VERSION:
        raise ValueError(f"it is of format {record['version']}, this Tidings knows {FORMAT_VERSION}; upgrade Tidings")
    members = {str(name): PackageMember(int(size), str(sha256)) for name, (size, sha256) in record["members"].items()}
    return Manifest(
        str(record["tidings"]), str(record["schema"]), str(record["installation"]), int(record["at"]), members
    )


KEYS: Final = "secrets.key"
SETTINGS: Final = "tidings.toml"
FILES: Final = (KEYS, SETTINGS)
LEAST_CHARACTERS: Final = 8
_MAGIC: Final = b"tidings-locked-1\n"
_SALT: Final = 16
_NONCE: Final = 12
_COST: Final = 2**15
"""32 MiB of memory and about a tenth of a second per guess."""


def lock(files: Mapping[str, bytes], passphrase: Secret) -> bytes:
    """Return secret files, encrypted."""
    if len(passphrase.reveal()) < LEAST_CHARACTERS:
        raise BackupError(f"the passphrase is shorter than {LEAST_CHARACTERS} characters")
    keys = {name: base64.b64encode(content).decode() for name, content in files.items()}
    salt, nonce = os.urandom(_SALT), os.urandom(_NONCE)
    from cryptography.hazmat.primitives.ciphers.aead import AESGCM

    content = AESGCM(_key(passphrase, salt)).encrypt(nonce, json.dumps(keys).encode(), _MAGIC)
    return _MAGIC + salt + nonce + content


def unlock(content: bytes, passphrase: Secret) -> dict[str, bytes]:
    """Return the files by name. Raises `BackupError` if the passphrase is wrong or the content was
    altered.
    """
    from cryptography.exceptions import InvalidTag
    from cryptography.hazmat.primitives.ciphers.aead import AESGCM

    if not content.startswith(_MAGIC):
        raise BackupError("the secrets of this backup have an unknown format; upgrade Tidings")
    rest = content[len(_MAGIC) :]
    salt, nonce, ciphertext = rest[:_SALT], rest[_SALT : _SALT + _NONCE], rest[_SALT + _NONCE :]
    try:
        plain = AESGCM(_key(passphrase, salt)).decrypt(nonce, ciphertext, _MAGIC)
    except (InvalidTag, ValueError) as error:
        raise BackupError(
            "the passphrase is wrong for the secrets of this backup; --without-secrets restores the rest"
        ) from error
    keys = json.loads(plain)
    return {name: base64.b64decode(keys[name]) for name in FILES if name in keys}


def _key(passphrase: Secret, salt: bytes) -> bytes:
    from cryptography.hazmat.primitives.kdf.scrypt import Scrypt

    return Scrypt(salt=salt, length=32, n=_COST, r=8, p=1).derive(passphrase.reveal().encode())
