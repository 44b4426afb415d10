"""The part of a backup under a passphrase: the key that decrypts secrets, and the settings file,
which may contain passwords.

The key is derived from the passphrase by scrypt (RFC 7914), with the salt in front; the content is
encrypted and authenticated by AES-256-GCM.
"""

from __future__ import annotations

import base64
import json
import os
from pathlib import Path
from typing import Final

from tidings.errors import BackupError
from tidings.model.secret import Secret

FILES: Final = ("secrets.key", "tidings.toml")
LEAST_CHARACTERS: Final = 8
_MAGIC: Final = b"tidings-locked-1\n"
_SALT: Final = 16
_NONCE: Final = 12
_COST: Final = 2**15
"""32 MiB of memory and about a tenth of a second per guess."""


def lock(data: Path, passphrase: Secret) -> bytes:
    """Return the secret files of a data directory, encrypted; missing files are skipped."""
    if len(passphrase.reveal()) < LEAST_CHARACTERS:
        raise BackupError(f"the passphrase is shorter than {LEAST_CHARACTERS} characters")
    held = {name: base64.b64encode((data / name).read_bytes()).decode() for name in FILES if (data / name).is_file()}
    salt, nonce = os.urandom(_SALT), os.urandom(_NONCE)
    from cryptography.hazmat.primitives.ciphers.aead import AESGCM

    content = AESGCM(_key(passphrase, salt)).encrypt(nonce, json.dumps(held).encode(), _MAGIC)
    return _MAGIC + salt + nonce + content


def unlock(content: bytes, passphrase: Secret) -> dict[str, bytes]:
    """Return the files by name. Raises `BackupError` if the passphrase is wrong or the content was
    altered.
    """
    from cryptography.exceptions import InvalidTag
    from cryptography.hazmat.primitives.ciphers.aead import AESGCM

    if not content.startswith(_MAGIC):
        raise BackupError("the secrets of this backup are in a form that this Tidings does not know; upgrade it")
    rest = content[len(_MAGIC) :]
    salt, nonce, sealed = rest[:_SALT], rest[_SALT : _SALT + _NONCE], rest[_SALT + _NONCE :]
    try:
        plain = AESGCM(_key(passphrase, salt)).decrypt(nonce, sealed, _MAGIC)
    except (InvalidTag, ValueError) as error:
        raise BackupError(
            "this passphrase does not open the secrets of the backup; --without-secrets restores the rest"
        ) from error
    held = json.loads(plain)
    return {name: base64.b64decode(held[name]) for name in FILES if name in held}


def _key(passphrase: Secret, salt: bytes) -> bytes:
    from cryptography.hazmat.primitives.kdf.scrypt import Scrypt

    return Scrypt(salt=salt, length=32, n=_COST, r=8, p=1).derive(passphrase.reveal().encode())
