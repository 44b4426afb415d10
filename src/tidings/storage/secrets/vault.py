"""Secrets, encrypted when they are stored and decrypted when a request leaves (AES-256-GCM,
docs/decisions/0015).

The ciphertext is bound to owner, kind and name: a row copied to another name or owner does not
decrypt. The cipher's library is imported on first use.
"""

from __future__ import annotations

import base64
import binascii
import json
import os
from pathlib import Path
from typing import TYPE_CHECKING, Final, cast

from tidings.errors import SecretError
from tidings.model.secret import Secret
from tidings.record import dataclass
from tidings.storage.secrets import secrets
from tidings.storage.secrets.key_file import KeyFile

if TYPE_CHECKING:
    from tidings.model.interval import Instant
    from tidings.model.secret import SecretKind
    from tidings.storage.db.connection import Connection
    from tidings.storage.secrets.secrets import SecretRow

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
        row = secrets.row(c, name, owner_id=owner_id)
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
        is made at first use.

        Args:
            name: What users call the secret.
            value: The plain value.
            kind: Its purpose.
            owner_id: The owner.
            at: When it is set (µs).
        """
        key_id = next(iter(self.key_file.keys()), None) or self.key_file.add()
        self._put(c, key_id, secrets.SecretRow(owner_id, name, kind, key_id, value.reveal(), at))

    def seal_plain(self, c: Connection) -> int:
        """Encrypt the values from before there were keys; return how many there were."""
        rows = [row for row in secrets.listing(c) if not row.key_id]
        if rows and c.dialect == "sqlite":
            c.execute("PRAGMA secure_delete = ON")  # overwrite the plain value in the file
        for row in rows:
            opened = self.open_row(row)
            self.put(c, row.name, opened.value, kind=opened.kind, owner_id=row.owner_id, at=row.set_at)
        return len(rows)

    def rotate(self, c: Connection) -> int:
        """Encrypt every value with a new key; return how many. The old keys stay until `forget`,
        after the commit.

        Raises `SecretError` if one does not decrypt: then nothing is changed.
        """
        opened = [(row, self.open_row(row)) for row in secrets.listing(c)]
        key_id = self.key_file.add()
        for row, secret in opened:
            kept = secrets.SecretRow(row.owner_id, row.name, row.kind, key_id, secret.value.reveal(), row.set_at)
            self._put(c, key_id, kept)
        return len(opened)

    def forget(self, c: Connection) -> None:
        """Delete the keys that encrypt nothing any more, inside the caller's writing
        transaction.
        """
        self.key_file.keep(row.key_id for row in secrets.listing(c))

    def _put(self, c: Connection, key_id: str, row: SecretRow) -> None:
        sealed = _seal(self.key_file.keys()[key_id], row.value, _make_associated_data(row))
        secrets.put(c, row.name, sealed, owner_id=row.owner_id, kind=row.kind, key_id=key_id, at=row.set_at)

    def _decrypt(self, row: SecretRow) -> str:
        keys = self.key_file.keys()
        anew = f"set it anew with `tidings secret set {row.name}`"
        if not keys:
            message = f"the secret {row.name} cannot be opened: {self.key_file.path} is gone; put your copy of it back, or {anew}"
            raise SecretError(message)
        if row.key_id not in keys:
            message = (
                f"the secret {row.name} cannot be opened: {self.key_file.path} does not have its key ({row.key_id});"
                f" add the lines of your copy to it, or {anew}"
            )
            raise SecretError(message)
        try:
            return _open(keys[row.key_id], row.value, _make_associated_data(row))
        except ValueError as error:
            message = f"the secret {row.name} cannot be opened: what is stored is damaged or was moved; {anew}"
            raise SecretError(message) from error


def _make_associated_data(row: SecretRow) -> bytes:
    return json.dumps(["tidings secret", row.owner_id, row.kind, row.name]).encode()


def _seal(key: bytes, text: str, bound: bytes) -> str:
    from cryptography.hazmat.primitives.ciphers.aead import AESGCM

    nonce = os.urandom(_NONCE_BYTES)
    sealed = AESGCM(key).encrypt(nonce, text.encode("utf-8", "surrogatepass"), bound)
    return base64.b64encode(nonce + sealed).decode()


def _open(key: bytes, value: str, bound: bytes) -> str:
    """Return the plain text. Raise `ValueError` if it was encrypted otherwise."""
    from cryptography.exceptions import InvalidTag
    from cryptography.hazmat.primitives.ciphers.aead import AESGCM

    try:
        sealed = base64.b64decode(value, validate=True)
        return AESGCM(key).decrypt(sealed[:_NONCE_BYTES], sealed[_NONCE_BYTES:], bound).decode("utf-8", "surrogatepass")
    except (binascii.Error, InvalidTag) as error:
        message = "it does not open"
        raise ValueError(message) from error
