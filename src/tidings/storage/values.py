"""How values of nouns become columns and come back: JSON, truths, texts that a page wrote."""

from __future__ import annotations

import json
from typing import Any

_encode = json.JSONEncoder(separators=(",", ":"), ensure_ascii=True, check_circular=False).encode

to_json = _encode
"""Return compact ASCII JSON; a lone surrogate and NUL pass unharmed."""

from_json = json.loads


def plain(text: str) -> str:
    """Return text that both databases take: NUL and lone surrogates become U+FFFD."""
    if text.isascii() and "\0" not in text:
        return text
    return text.replace("\0", "\ufffd").encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def to_bytes(text: str | None) -> bytes | None:
    """Return a header's value byte for byte (a surrogate stands for a byte that is no UTF-8)."""
    return None if text is None else text.encode("utf-8", "surrogatepass")


def from_bytes(value: Any) -> str | None:
    """Return what `to_bytes` was given."""
    return None if value is None else bytes(value).decode("utf-8", "surrogatepass")
