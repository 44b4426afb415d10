"""The keys that encrypt secrets: `secrets.key` in the data directory, readable by its owner only
(contracts §11).

One key per line, the newest first. Usually there is one; during rotation there are two, so that a
crash at any moment leaves a key for every value. The file is left out of copies: a copy of the data
directory without it holds no secret.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import os
import secrets as chance
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Final

from tidings.errors import SecretError

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
        found: dict[str, bytes] = {}
        for line in text.splitlines():
            try:
                key = base64.b64decode(line, validate=True)
            except (binascii.Error, ValueError):
                key = b""
            if len(key) != KEY_BYTES:
                message = f"{self.path} is not what Tidings wrote (each line is a key); put your copy of it back"
                raise SecretError(message)
            found[key_id(key)] = key
        return found

    def add(self) -> str:
        """Create a key and put it first, durably; return its id."""
        key = chance.token_bytes(KEY_BYTES)
        self._write({key_id(key): key, **self.keys()})
        return key_id(key)

    def keep(self, ids: Iterable[str]) -> None:
        """Delete all keys but the newest and these."""
        known = self.keys()
        kept = {id_: key for place, (id_, key) in enumerate(known.items()) if place == 0 or id_ in {*ids}}
        if kept.keys() != known.keys():
            self._write(kept)

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
            _sync(self.path.parent)
        except OSError as error:
            part.unlink(missing_ok=True)
            message = f"{self.path} cannot be written: {error.strerror}; check free space, owner and rights"
            raise SecretError(message) from error


def key_id(key: bytes) -> str:
    """Return the id by which an encrypted value names its key; it reveals nothing of the key."""
    return hashlib.sha256(b"tidings key\0" + key).hexdigest()[:12]


def _sync(directory: Path) -> None:
    handle = os.open(directory, os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
