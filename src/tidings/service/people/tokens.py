"""Tokens: created here, shown once, recognized by their hash.

A token is `td_`, 32 random bytes and a checksum, so that scanners for leaked secrets find it.
"""

from __future__ import annotations

import base64
import hashlib
import re
import secrets
import zlib
from typing import TYPE_CHECKING, Any, Final

from tidings.clock import HOUR
from tidings.errors import UsageError
from tidings.model.secret import Secret
from tidings.service.show.records import rfc3339
from tidings.storage.people import tokens
from tidings.storage.people.tokens import SCOPES, Scope, TokenRow
from tidings.storage.watches.events import OWNER

if TYPE_CHECKING:
    from tidings.model.interval import Instant
    from tidings.storage.db.connection import Connection

_PREFIX: Final = "td_"
_NAME: Final = re.compile(r"[\w.-]{1,64}")


def make() -> Secret:
    """Return a new token."""
    body = base64.urlsafe_b64encode(secrets.token_bytes(32)).decode().rstrip("=")
    return Secret(f"{_PREFIX}{body}{_checksum(body)}")


def is_token(text: str) -> bool:
    """Return whether a text has the form of a token, so that a lookup makes sense."""
    body = text.removeprefix(_PREFIX)
    return text.startswith(_PREFIX) and text.isascii() and _checksum(body[:-8]) == body[-8:]


def hash_of(text: str) -> str:
    """Return the stored hash of a token or session id: 256 random bits need no salt."""
    return hashlib.sha256(text.encode(errors="surrogatepass")).hexdigest()


def add(
    c: Connection,
    name: str,
    scope: str,
    *,
    owner_id: int = OWNER,
    at: Instant,
    expires_at: Instant | None = None,
) -> tuple[Secret, TokenRow]:
    """Create a token; return it, for the only time, and its row. Raises `UsageError`.

    Args:
        name: The name to revoke it by.
        scope: read, edit or admin.
        owner_id: Its owner; it sees what its owner sees.
        at: When it is created (µs).
        expires_at: When it expires (µs); None for never.
    """
    if not _NAME.fullmatch(name):
        raise UsageError("the name of a token has 1 to 64 letters, digits, dots, - and _")
    if scope not in SCOPES:
        raise UsageError(f"a token has no scope {scope!r}; it has {', '.join(SCOPES)}")
    token = make()
    wanted: Scope = scope
    hash_ = hash_of(token.reveal())
    return token, tokens.add(c, name=name, digest=hash_, scope=wanted, owner_id=owner_id, at=at, expires_at=expires_at)


def recognise(c: Connection, text: str, now: Instant) -> TokenRow | None:
    """Return the token with this text, None if there is none."""
    return tokens.by_hash(c, hash_of(text), now=now) if is_token(text) else None


def is_use_noted(row: TokenRow, now: Instant) -> bool:
    """Return whether a token's use was recorded within the last hour."""
    return row.used_at is not None and now - row.used_at < HOUR


def record(row: TokenRow, *, user: str = "") -> dict[str, Any]:
    """Return a token as a record, without its secret."""
    return {
        "record": "token",
        "name": row.name,
        "scope": row.scope,
        "user": user,
        "created_at": rfc3339(row.created_at),
        "expires_at": rfc3339(row.expires_at),
        "used_at": rfc3339(row.used_at),
    }


def _checksum(body: str) -> str:
    return f"{zlib.crc32(body.encode(errors='surrogatepass')):08x}"
