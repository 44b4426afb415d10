"""Secrets: rows by owner and name (I-9), encrypted when they are stored and decrypted when a
request leaves (AES-256-GCM, docs/decisions/0015). Addresses of endpoints are among them.

The ciphertext is bound to owner, kind and name: a row copied to another name or owner does not
decrypt. The cipher's library is imported on first use.

The keys are in `secrets.key` in the data directory, readable by its owner only (contracts §11): one
per line, the newest first. Usually there is one; during rotation there are two, so that a crash at
any moment leaves a key for every value. The file is left out of copies: a copy of the data
directory without it holds no secret.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import json
import os
import platform
import secrets as chance
from collections.abc import Iterable, Mapping
from dataclasses import field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, cast

from tidings import disk
from tidings.errors import SecretError
from tidings.model.interval import Instant
from tidings.model.secret import Secret
from tidings.record import dataclass
from tidings.storage.db.connection import Connection
from tidings.storage.db.lock import list_machines

if TYPE_CHECKING:
    from tidings.model.secret import SecretKind

FILE: Final = "secrets.key"
KEY_BYTES: Final = 32
_OTHERS: Final = 0o077


class KeyFile:
    """The key file of a data directory. Writers hold the database's writing transaction, so there
    is one at a time.
    """

    def __init__(self, data: Path) -> None:
        self.path = data / FILE

    def keys(self) -> dict[str, bytes]:
        """Return all keys by their id, the newest first; none if there is no file. Raise
        `SecretError` if it cannot be read.
        """
        try:
            text = self.path.read_bytes()
        except FileNotFoundError:
            return {}
        except OSError as error:
            message = f"{self.path} cannot be read: {error.strerror}; check its owner and rights (chmod 600)"
            raise SecretError(message) from error
        try:
            return read_keys(text)
        except ValueError as error:
            message = f"{self.path} is not in Tidings' format (each line is a key); put your copy back"
            raise SecretError(message) from error

    def add(self) -> str:
        """Create a key and put it first, durably; return its id."""
        key = chance.token_bytes(KEY_BYTES)
        self._write({key_id(key): key, **self.keys()})
        return key_id(key)

    def keep(self, ids: Iterable[str]) -> None:
        """Delete all keys but the newest and these."""
        known = self.keys()
        known_keys = {id_: key for place, (id_, key) in enumerate(known.items()) if place == 0 or id_ in {*ids}}
        if known_keys.keys() != known.keys():
            self._write(known_keys)

    def is_private(self) -> bool:
        """Return whether only its owner may read it."""
        return not self.path.stat().st_mode & _OTHERS

    def _write(self, keys: Mapping[str, bytes]) -> None:
        """Replace the file atomically, never readable by others."""
        part = self.path.with_name(f"{FILE}.{chance.token_hex(4)}.part")
        text = b"".join(base64.b64encode(key) + b"\n" for key in keys.values())
        try:
            self.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            handle = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
            try:
                os.write(handle, text)
                os.fsync(handle)
            finally:
                os.close(handle)
            part.replace(self.path)
            disk.sync(self.path.parent)
        except OSError as error:
            part.unlink(missing_ok=True)
            message = f"{self.path} cannot be written: {error.strerror}; check free space, owner and permissions"
            raise SecretError(message) from error


def read_keys(text: bytes) -> dict[str, bytes]:
    """Return the keys of a key file by their id. Raise `ValueError` if a line is no key."""
    keys = [base64.b64decode(line, validate=True) for line in text.splitlines()]
    if any(len(key) != KEY_BYTES for key in keys):
        message = f"a key has {KEY_BYTES} bytes"
        raise ValueError(message)
    return {key_id(key): key for key in keys}


def key_id(key: bytes) -> str:
    """Return the id by which an encrypted value names its key; it reveals nothing of the key."""
    return hashlib.sha256(b"tidings key\0" + key).hexdigest()[:12]


SIGNING: Final = "webhook"
"""The secret that signs webhooks; it is made at first use."""
SESSION: Final = "session:"
"""Prefix of the names of stored sessions; no statement can contain it."""
_NONCE_BYTES = 12


@dataclass(frozen=True, slots=True)
class Opened:
    """A decrypted secret; `set_at` is when its value was set."""

    name: str
    kind: SecretKind
    set_at: Instant
    value: Secret


class Vault:
    """The secrets of an installation; `data` holds its key file, also if the database is a
    server's.
    """

    def __init__(self, data: Path) -> None:
        self.key_file = KeyFile(data)

    def open(self, c: Connection, name: str, *, owner_id: int = 1) -> Opened | None:
        """Return a decrypted secret, or None if it is not set. Raise `SecretError` if it cannot be
        decrypted.
        """
        row = find_row(c, name, owner_id=owner_id)
        return None if row is None else self.open_row(row)

    def open_row(self, row: SecretRow) -> Opened:
        """Return the decrypted secret of a row. Raise `SecretError` that says what to do."""
        text = self._decrypt(row) if row.key_id else row.value
        return Opened(row.name, cast("SecretKind", row.kind), row.set_at, Secret(text))

    def fault(self, row: SecretRow) -> str:
        """Return why the secret of a row cannot be decrypted, and what to do; empty if it can."""
        try:
            self.open_row(row)
        except SecretError as error:
            return str(error)
        return ""

    def put(
        self, c: Connection, name: str, value: Secret, *, kind: SecretKind = "text", owner_id: int = 1, at: Instant
    ) -> None:
        """Encrypt and store a value under a name, inside the caller's writing transaction; the key
        is made at first use. Raises `SecretError` if other machines have another key.

        Args:
            name: What users call the secret.
            value: The plain value.
            kind: Its purpose.
            owner_id: The owner.
            at: When it is set (µs).
        """
        keys, used = self.key_file.keys(), {row.key_id for row in listing(c)} - {""}
        if used and not used & keys.keys() and (others := _list_others(c)):
            message = (
                f"the stored secrets are encrypted with a key that {self.key_file.path} does not have: copy that file"
                f" from {' or '.join(others)}"
            )
            raise SecretError(message)
        key_id = next((id_ for id_ in keys if id_ in used), None) or next(iter(keys), None) or self.key_file.add()
        self._put(c, key_id, SecretRow(owner_id, name, kind, key_id, value.reveal(), at))

    def seal_plain(self, c: Connection) -> int:
        """Encrypt the values from before there were keys; return how many there were."""
        rows = [row for row in listing(c) if not row.key_id]
        for row in rows:
            opened = self.open_row(row)
            self.put(c, row.name, opened.value, kind=opened.kind, owner_id=row.owner_id, at=row.set_at)
        return len(rows)

    def rotate(self, c: Connection) -> int:
        """Encrypt every value with a new key; return how many. The old keys stay until `forget`,
        after the commit.

        Raises `SecretError` if one does not decrypt, or while other machines work with the old key:
        then nothing is changed.
        """
        if others := _list_others(c):
            message = (
                f"Tidings also works on {', '.join(others)}, which could not read the secrets any more: stop it there,"
                f" run this again, copy {self.key_file.path} there, and start it"
            )
            raise SecretError(message)
        opened = [(row, self.open_row(row)) for row in listing(c)]
        key_id = self.key_file.add()
        for row, secret in opened:
            fresh = SecretRow(row.owner_id, row.name, row.kind, key_id, secret.value.reveal(), row.set_at)
            self._put(c, key_id, fresh)
        return len(opened)

    def forget(self, c: Connection) -> None:
        """Delete the keys that encrypt nothing any more, inside the caller's writing
        transaction.
        """
        self.key_file.keep(row.key_id for row in listing(c))

    def _put(self, c: Connection, key_id: str, row: SecretRow) -> None:
        ciphertext = _encrypt(self.key_file.keys()[key_id], row.value, _make_associated_data(row))
        put(c, row.name, ciphertext, owner_id=row.owner_id, kind=row.kind, key_id=key_id, at=row.set_at)

    def _decrypt(self, row: SecretRow) -> str:
        keys = self.key_file.keys()
        anew = f"set it again with `tidings secret set {row.name}`"
        if not keys:
            message = (
                f"the secret {row.name} cannot be decrypted: {self.key_file.path} is missing; put your copy back, or "
                f"{anew}"
            )
            raise SecretError(message)
        if row.key_id not in keys:
            message = (
                f"the secret {row.name} cannot be decrypted: {self.key_file.path} does not have its key ({row.key_id});"
                f" add the lines of your copy to it, or {anew}"
            )
            raise SecretError(message)
        try:
            return _decrypt(keys[row.key_id], row.value, _make_associated_data(row))
        except ValueError as error:
            message = f"the secret {row.name} cannot be decrypted: the stored value is damaged or was moved; {anew}"
            raise SecretError(message) from error


def _list_others(c: Connection) -> list[str]:
    """Return the names of the other machines that work with the same secrets."""
    return sorted(list_machines(c) - {platform.node()})


def _make_associated_data(row: SecretRow) -> bytes:
    return json.dumps(["tidings secret", row.owner_id, row.kind, row.name]).encode()


def _encrypt(key: bytes, text: str, bound: bytes) -> str:
    from cryptography.hazmat.primitives.ciphers.aead import AESGCM

    nonce = os.urandom(_NONCE_BYTES)
    ciphertext = AESGCM(key).encrypt(nonce, text.encode("utf-8", "surrogatepass"), bound)
    return base64.b64encode(nonce + ciphertext).decode()


def _decrypt(key: bytes, value: str, bound: bytes) -> str:
    """Return the plain text. Raise `ValueError` if it was encrypted otherwise."""
    from cryptography.exceptions import InvalidTag
    from cryptography.hazmat.primitives.ciphers.aead import AESGCM

    try:
        ciphertext = base64.b64decode(value, validate=True)
        return (
            AESGCM(key)
            .decrypt(ciphertext[:_NONCE_BYTES], ciphertext[_NONCE_BYTES:], bound)
            .decode("utf-8", "surrogatepass")
        )
    except (binascii.Error, InvalidTag) as error:
        message = "it cannot be decrypted"
        raise ValueError(message) from error


_COLUMNS = "owner_id, name, kind, key_id, value, set_at"
_SELECT = f"SELECT {_COLUMNS} FROM secret"
_PUT = (
    f"INSERT INTO secret ({_COLUMNS}) VALUES (:owner_id, :name, :kind, :key_id, :value, :set_at)"
    " ON CONFLICT (owner_id, name) DO UPDATE SET kind = excluded.kind, key_id = excluded.key_id, value = excluded.value,"
    " set_at = excluded.set_at"
)


@dataclass(frozen=True, slots=True)
class SecretRow:
    """A stored secret. `value` is encrypted by the key `key_id`; an empty `key_id` marks a value
    from before there were keys.
    """

    owner_id: int
    name: str
    kind: str
    key_id: str
    value: str = field(repr=False)
    set_at: Instant


def find_row(c: Connection, name: str, *, owner_id: int = 1) -> SecretRow | None:
    """Return the row of that name, or None."""
    found = c.one(f"{_SELECT} WHERE owner_id = :owner_id AND name = :name", owner_id=owner_id, name=name)
    return None if found is None else SecretRow(*found)


def get(c: Connection, name: str, *, owner_id: int = 1) -> str | None:
    """Return the stored, encrypted value, or None."""
    found = find_row(c, name, owner_id=owner_id)
    return None if found is None else found.value


def put(
    c: Connection, name: str, value: str, *, owner_id: int = 1, kind: str = "text", key_id: str = "", at: Instant = 0
) -> None:
    """Store an encrypted value under a name, replacing an older one.

    Args:
        name: What users call the secret.
        value: The encrypted value, Base64.
        owner_id: The owner.
        kind: Its purpose.
        key_id: The key that encrypts it.
        at: When it is set (µs).
    """
    values: dict[str, Any] = {"kind": kind, "key_id": key_id, "value": value, "set_at": at}
    c.execute(_PUT, owner_id=owner_id, name=name, **values)


def drop(c: Connection, name: str, *, owner_id: int = 1) -> bool:
    """Delete a secret; return False if there is none of that name."""
    return c.execute("DELETE FROM secret WHERE owner_id = :owner_id AND name = :name", owner_id=owner_id, name=name) > 0


def listing(c: Connection, *, owner_id: int | None = None) -> list[SecretRow]:
    """Return the rows of one owner, or of all, by owner and name."""
    rows = [SecretRow(*found) for found in c.rows(f"{_SELECT} ORDER BY owner_id, name")]
    return [found for found in rows if owner_id in {None, found.owner_id}]


def names(c: Connection, *, owner_id: int = 1) -> list[str]:
    """Return the names, never the secrets."""
    return sorted(found.name for found in listing(c, owner_id=owner_id))
