"""Texts of strangers, made fit for people's screens: one line, no control characters, measured and cut.

Pages are hostile: their texts may steer a terminal, turn the writing direction or break a header (trust.md R-17, H-104, H-105, H-107).
"""

from __future__ import annotations

import unicodedata
from typing import Final

HARMLESS: Final = frozenset("\u00ad\u061c\u200c\u200d\u200e\u200f\u2060")
"""Format characters that scripts need and that turn nothing around: joiners, marks, the soft hyphen."""
SUBJECT_CHARACTERS: Final = 200
ELLIPSIS: Final = "…"


def one_line(text: str) -> str:
    """Return the text in one line; characters that steer a screen or turn the writing direction are spelled out."""
    line = " ".join(text.split())
    if line.isprintable():
        return line
    return "".join(c if c.isprintable() or not _steers(c) else _spell(c) for c in line)


def subject_line(text: str, *, most: int = SUBJECT_CHARACTERS) -> str:
    """Return a line for a subject: control and format characters are gone, not spelled. It may be empty."""
    kept = (" " if unicodedata.category(c) in {"Cc", "Zl", "Zp"} else c for c in text if not _unseen(c))
    return cut(" ".join("".join(kept).split()), most)


def _steers(character: str) -> bool:
    return character not in HARMLESS and unicodedata.category(character) in {"Cc", "Cf", "Cs"}


def _unseen(character: str) -> bool:
    return unicodedata.category(character) in {"Cf", "Cs"} and character not in "\u200c\u200d"


def _spell(character: str) -> str:
    return f"\\u{ord(character):04x}" if ord(character) <= 0xFFFF else f"\\U{ord(character):08x}"


def length(text: str) -> int:
    """Return how long services count a text: in units of UTF-16, so that an emoji is two."""
    return len(text) if text.isascii() else len(text.encode("utf-16-le", errors="surrogatepass")) // 2


def cut(text: str, most: int) -> str:
    """Return the text, or its beginning and an ellipsis, in at most `most` units of `length`."""
    if length(text) <= most:
        return text
    if most < 1:
        return ""
    kept = text[: most - 1]
    while length(kept) > most - 1:
        kept = kept[: len(kept) - max(1, (length(kept) - most) // 2)]
    return kept.rstrip() + ELLIPSIS
