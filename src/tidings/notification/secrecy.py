"""Addresses of services hold passwords and tokens: how one is shown where others may read it, and how a text is freed of it. Pure."""

from __future__ import annotations

import re
import zlib
from typing import Final
from urllib.parse import unquote

from tidings.model.watch.telling import secret_of

SHORTEST_SECRET: Final = 3
SHORTEST_WEB_SECRET: Final = 8


def shown(kind: str, address: str) -> str:
    """Return an address as it may stand in lists, events, logs and other people's messages.

    An address of Apprise or of a webhook is commonly itself the secret (Slack, Discord): the scheme stays, of a webhook the host too, and
    four digits to tell two apart. Of an address that is a secret its name is shown, as the language writes it.
    """
    if (name := secret_of(address)) is not None:
        return f'secret "{name}"'
    if kind not in {"apprise", "webhook", "url"}:
        return address
    digits = zlib.crc32(address.encode(errors="backslashreplace")) & 0xFFFF
    scheme, _, rest = address.partition("://")
    if kind == "apprise":
        return f"{scheme}://…{digits:04x}"
    host = re.split(r"[/?#]", rest, maxsplit=1)[0].rpartition("@")[2]
    return f"{scheme}://{host}/…{digits:04x}"


def redact(text: str, address: str) -> str:
    """Return a text in which no part of an Apprise address stands: any of them may be a password or a token.

    Of the address of a webhook its host stays, and short words of its path, which are none.
    """
    scheme, _, rest = address.partition("://")
    is_web = scheme.lower() in {"http", "https"}
    host = re.split(r"[/?#]", rest, maxsplit=1)[0].rpartition("@")[2] if is_web else ""
    parts = re.split(r"[/:@?&=,;#]+", rest.replace(host, "", 1) if host else rest)
    secrets = {address, *parts, *(unquote(part) for part in parts)}
    for secret in sorted(secrets, key=len, reverse=True):
        if len(secret) >= (SHORTEST_WEB_SECRET if is_web else SHORTEST_SECRET):
            text = text.replace(secret, "…")
    return text
