"""Texts that nothing prints: secrets by type, not by searching for them (R-19)."""

from __future__ import annotations

from typing import Final, Literal

from tidings.model.interval import Instant
from tidings.record import dataclass

SecretKind = Literal["text", "cookies", "signing", "hook", "address", "naming", "session"]
"""`text` is sent as it is, `cookies` is a jar of which only what fits is sent; `address` is where news go, written out in a statement;
`signing` signs webhooks, `hook` is the token with which an event may be told, `naming` names
addresses: these are sent to nobody.
`session` is what is kept of a login by a form."""
HIDDEN: Final = "***"


class Secret:
    """A text that shows itself only to whoever calls `reveal`: what prints, logs or formats it writes `***`."""

    __slots__ = ("_text",)

    def __init__(self, text: str) -> None:
        self._text = text

    def reveal(self) -> str:
        """Return the text, for the request that it leaves with."""
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
    """A cookie of a kept login (RFC 6265 §5.3). `expires_at` is None for one without an end; with `subdomains` it is for those too."""

    name: str
    value: Secret
    domain: str
    subdomains: bool = False
    path: str = "/"
    secure: bool = False
    expires_at: Instant | None = None
