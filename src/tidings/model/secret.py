"""Texts that are never printed: secrets are marked by type, not found by searching (R-19)."""

from __future__ import annotations

from typing import Final, Literal

from tidings.model.interval import Instant
from tidings.record import dataclass

SecretKind = Literal["text", "cookies", "signing", "hook", "address", "naming", "session"]
"""`text` is sent as it is; `cookies` is a jar of which only matching cookies are sent; `address` is
an endpoint's address, written out in a statement. `signing` signs webhooks, `hook` is the token
that authorizes an event, `naming` names addresses: these are never sent. `session` is the stored
session of a form login.
"""
HIDDEN: Final = "***"


class Secret:
    """A text that only `reveal` returns: printing, logging or formatting it writes `***`."""

    __slots__ = ("_text",)

    def __init__(self, text: str) -> None:
        self._text = text

    def reveal(self) -> str:
        """Return the text, for the request that sends it."""
        return self._text

    def __repr__(self) -> str:
        return HIDDEN

    __str__ = __repr__

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Secret) and other._text == self._text

    def __hash__(self) -> int:
        return hash(self._text)


def reveal(text: str | Secret) -> str:
    """Return a text that may be a secret."""
    return text.reveal() if isinstance(text, Secret) else text


@dataclass(frozen=True, slots=True)
class Cookie:
    """A stored cookie of a login (RFC 6265 §5.3). `expires_at` is None for one without expiry;
    `subdomains` includes them.
    """

    name: str
    value: Secret
    domain: str
    subdomains: bool = False
    path: str = "/"
    secure: bool = False
    expires_at: Instant | None = None
